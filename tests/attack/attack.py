#!/usr/bin/env python3
"""Attacks a running nfx serve over loopback next to an innocent session, and compares what that costs with limits.

Each attack has a server, an innocent session and an attacker of its own, and five phases: the innocent alone, the attack,
the time after it, and the innocent next to a process that burns as much of the attacker's CPU but touches nothing. What is
measured: the innocent's latencies, and the server's private memory, disk, shared memory, descriptors and lines.

A latency above its limit is measured again, up to --tries times, and the best counts: other processes of the host only
ever add to it. Everything else counts the first time. Exit code 0: all passed; 1: some failed; 2: wrong usage.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "apps"))
if __name__ == "__main__":
    own = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                  prog="./dev attack")
    own.add_argument("--seconds", type=float, default=5, help="length of each attack (5)")
    own.add_argument("--seed", type=int, help="of the random choices (another each time)")
    own.add_argument("--only", action="append", metavar="NAME", help="this attack, or all of a category; may be repeated")
    own.add_argument("--variants", default="", help="of the server, separated by commas: plain, uring, threads, tls, all")
    own.add_argument("--mutations", type=int, default=100, help="damaged stores that are repaired (100)")
    own.add_argument("--tries", type=int, default=5, help="measurements of a latency above its limit (5)")
    own.add_argument("--quick", action="store_true",
                     help="a selection: half a second, one variant, one try, and a coarse limit on latency")
    own.add_argument("--json", metavar="FILE", help="write all measurements there")
    own.add_argument("--list", action="store_true", help="show the table and end")
    own.add_argument("--program", default=os.environ.get("NFX_PROGRAM"), help="the nfx binary")
    own.add_argument("--innocent", default=os.environ.get("NFX_ATTACK_INNOCENT"), help="the binary attack_innocent")
    own.add_argument("--keep", action="store_true", help="leave the folders of failed attacks")
    options = own.parse_args()
    os.environ["NFX_PROGRAM"] = options.program or "nfx"
    os.environ["NFX_ATTACK_INNOCENT"] = options.innocent or "attack_innocent"

from attacks import ATTACKS  # noqa: E402
from beside import Beside  # noqa: E402
from control_attacks import CONTROL_ATTACKS  # noqa: E402
from file_attacks import FILE_ATTACKS  # noqa: E402
from further_attacks import FURTHER_ATTACKS  # noqa: E402
from https_attacks import HTTPS_ATTACKS  # noqa: E402
from judge import judge  # noqa: E402
from stranger_attacks import STRANGER_ATTACKS  # noqa: E402
from table import ANY, VARIANTS, Limits  # noqa: E402
from tampering_attacks import TAMPERING_ATTACKS  # noqa: E402
from tls_support import Certificates, ssl  # noqa: E402


def all_attacks():
    return ATTACKS + FURTHER_ATTACKS + CONTROL_ATTACKS + HTTPS_ATTACKS + FILE_ATTACKS + STRANGER_ATTACKS + \
        TAMPERING_ATTACKS


class Stage:
    """What an attack without an innocent gets."""

    def __init__(self, rng, mutations):
        self.rng = rng
        self.mutations = mutations
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def make_certificates():
    made = Certificates("Attack CA")
    for name in ("innocent", "c1", "c2"):
        made.issue(name, f"DNS:{name}.example")
    for name in ("operator", "viewer", "stranger"):  # of the control plane
        made.issue(name, f"DNS:{name}.example")
    made.issue_by_another("foreign", "DNS:operator.example")
    return made


def run_one(attack, variant, arguments, seed, tls):
    """An attack, until its latency is within its limit, or no try is left."""
    best = None
    for attempt in range(arguments.tries):
        made = Beside(attack, variant, arguments.seconds, seed + attempt, tls).run(arguments.keep)
        slow, failures = judge(attack, made, arguments.seconds, arguments.quick)
        made["failures"], made["slow"], made["tries"] = failures, slow, attempt + 1
        if best is None or len(failures) + bool(slow) < len(best["failures"]) + bool(best["slow"]):
            best = made
        if failures or not slow:
            break
    best["failures"] += best["slow"]
    return best


def print_row(attack, variant, made):
    verdict = "FAIL" if made["failures"] else "PASS"
    phases, cost = made.get("phases", {}), made.get("cost")
    line = f"{verdict}  {attack.name:20} {variant:8}"
    if cost:
        latency = "/".join(f"{phases[each]['p99_us']:.0f}" for each in ("alone", "attack", "after", "control"))
        line += (f" p50 {phases['alone']['p50_us']:.0f}/{phases['attack']['p50_us']:.0f} p99 {latency}"
                 f" p99.9 {phases['alone']['p999_us']:.0f}/{phases['attack']['p999_us']:.0f} us ({made['ratio']:.2f}x)"
                 f"  memory {cost['memory_mb']:+.1f} disk {cost['disk_mb']:+.1f} shm {cost['shm_mb']:+.1f} MB"
                 f"  fds {cost['fds']:+d}  lines {cost['lines']:+.0f}  units {made['result'].get('units', 0)}"
                 f"  ({made['took_s']:.1f} s)")
    print(line + "".join(f"  {each}" for each in made.get("notes", [])), flush=True)
    for each in made["failures"]:
        print(f"      {each}", flush=True)


def show_table(attacks):
    print(f"{'name':20} {'category':10} {'variants':28} intensity, and what it does")
    for each in attacks:
        variants = "alone" if each.alone else "any" if each.variants == ANY else ",".join(each.variants)
        print(f"{each.name:20} {each.category:10} {variants:28} {each.rate}: {each.about}")
    print("\nlimits that differ from the usual ones: " + " ".join(f"{key}={value}" for key, value in vars(Limits()).items()))
    for each in attacks:
        differ = [f"{key}={value}" for key, value in vars(each.limits).items() if value != getattr(Limits(), key)]
        if differ:
            print(f"{each.name:20} {' '.join(differ)}")


def chosen(attacks, only):
    known = {each.name for each in attacks} | {each.category for each in attacks}
    for name in only or []:
        if name not in known:
            sys.exit(f"attack: no attack or category {name!r}; --list shows them")
    return [each for each in attacks if not only or each.name in only or each.category in only]


def main(arguments):
    attacks = chosen(all_attacks(), arguments.only)
    if arguments.list:
        show_table(attacks)
        return 0
    for binary in (arguments.program, arguments.innocent):
        if not binary or not os.access(binary, os.X_OK):
            print(f"attack: no program {binary}; run ./dev attack, which builds it", file=sys.stderr)
            return 2
    wanted = [each for each in arguments.variants.split(",") if each]
    if any(each not in VARIANTS for each in wanted):
        print(f"attack: --variants takes {', '.join(VARIANTS)}", file=sys.stderr)
        return 2
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    if arguments.quick:
        arguments.seconds, arguments.tries = min(arguments.seconds, 0.5), 1
        attacks = [each for each in attacks if each.quick or arguments.only]
    print(f"attack --seed {seed} --seconds {arguments.seconds:g}: p99 alone/attack/after/with a busy process", flush=True)
    if ssl is None or not shutil.which("openssl"):
        print("attack: needs Python's module ssl (package python3) and the command openssl (package openssl)", file=sys.stderr)
        return 2
    tls = make_certificates()
    passed = failed = 0
    everything = []
    for number, attack in enumerate(attacks):
        if attack.alone:
            stage = Stage(random.Random(seed), min(8, arguments.mutations) if arguments.quick else arguments.mutations)
            variants, made = ["alone"], {"notes": stage.notes}
            try:
                made["failures"] = attack.run(stage)
            except (AssertionError, OSError) as failure:
                made["failures"] = [f"the attack itself failed: {failure}"]
        else:
            variants = [each for each in attack.variants if not wanted or each in wanted]
            if arguments.quick and variants:
                variants = [variants[(number + seed) % len(variants)]]
        for variant in variants:
            if not attack.alone:
                made = run_one(attack, variant, arguments, seed, tls)
            print_row(attack, variant, made)
            everything.append({"name": attack.name, "variant": variant, **made})
            failed += bool(made["failures"])
            passed += not made["failures"]
    tls.folder.cleanup()
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"seed": seed, "seconds": arguments.seconds, "attacks": everything},
                                                           indent=1), encoding="utf-8")
    print(f"attack: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that servers end and folders go
    sys.exit(main(options))
