#!/usr/bin/env python3
"""README's two commands on a machine that has nothing: a root made with mmdebstrap from this host's release and mirrors, with
git and ca-certificates alone, and this clone in it at its own path. Prints the minutes, and what was skipped and why.

The build folder there is a new one. Where the clone has no build/release, that of the root becomes it: a host with the same
packages then goes on with it and compiles nothing twice; --left prints which tests are left for it. Everything runs in
namespaces for mounts and processes, so that nothing stays mounted or running, however this ends. Exit code 0: both commands did
what README says; 1: one did not; 77: this host cannot have such a root, and which thing is missing is printed.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/package"))

import packing  # noqa: E402
from packing import output, run  # noqa: E402

COMMANDS = ("./dev demo", "./dev test")
PACKAGES = ("git", "ca-certificates")
NAMESPACES = ("--mount", "--pid", "--fork")  # the network is the host's: packages come from its mirrors
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
CONFIGURED = ("build.ninja", "CMakeCache.txt")  # which the host makes anew, with what it has
PASSED_THERE = "bare_root.xml"
LONGEST_EXPRESSION = 30_000  # ctest takes twice as much


def missing():
    """What this host lacks; empty: nothing."""
    if os.geteuid() != 0:
        return "mounting and chroot need root"
    for tool in ("mmdebstrap", "unshare", "chroot"):
        if not shutil.which(tool):
            return f"{tool} is missing (./dev deps bare)"
    if run("unshare", *NAMESPACES, "true", stderr=subprocess.DEVNULL).returncode != 0:
        return "this host does not allow namespaces for mounts and processes"
    return ""


def mirrors():
    """The distribution's own sources of this host, a line each, without those of others."""
    name = output("sh", "-c", ". /etc/os-release; echo $ID").strip()
    listed = output("apt-get", "indextargets", "--format", "$(ORIGIN)|$(SITE)|$(RELEASE)|$(COMPONENT)", "Created-By: Packages")
    components = collections.defaultdict(list)
    for line in listed.splitlines():
        origin, site, release, component = line.split("|")
        if origin.lower() == name and component not in components[site, release]:
            components[site, release].append(component)
    return "".join(f"deb {site} {release} {' '.join(names)}\n" for (site, release), names in components.items())


def download_options():
    """How this host's apt reaches its mirrors."""
    return [line for line in output("apt-config", "dump", "--format", "%F \"%v\";%n").splitlines()
            if re.match(r'Acquire::(http|https|Check-|Retries)\S* "[^"]', line)]


def make(root, more):
    release = output("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME").strip()
    options = download_options()
    sources = mirrors()
    output("mmdebstrap", "--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io", f"--include={','.join((*PACKAGES, *more))}",
           *(f"--aptopt={each.rstrip(';')}" for each in options), release, root, *(["-"] if sources else []), input=sources)
    (root / "etc/apt/apt.conf.d/99host").write_text("".join(each + "\n" for each in options), encoding="utf-8")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="utf-8")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    # The clone may belong to another user than root.
    (root / "etc/gitconfig").write_text(f'[safe]\n\tdirectory = {ROOT}\n', encoding="utf-8")


def bind(source, root, at=None):
    place = root / str(at or source).lstrip("/")
    place.mkdir(parents=True, exist_ok=True)
    output("mount", "--rbind", source, place)


def mount(root, cache):
    packing.mount_devices(root)
    bind("/sys", root)
    bind(ROOT, root)
    common = pathlib.Path(output("git", "-C", ROOT, "rev-parse", "--path-format=absolute", "--git-common-dir").strip())
    if ROOT not in common.parents:
        bind(common, root)  # a worktree's repository is elsewhere
    bind(ROOT / "build/bare", root, ROOT / "build")
    if cache:
        cache.mkdir(parents=True, exist_ok=True)  # nothing may have been compiled yet
        bind(cache, root, "/root/.cache/ccache")


def environment():
    kept = {name: os.environ[name] for each in PROXIES for name in (each, each.upper()) if name in os.environ}
    kept |= {name: value for name, value in os.environ.items() if name.startswith("CCACHE_")}
    if shutil.which("ccache"):  # what this host's cache has, the one in the root finds
        kept["CCACHE_BASEDIR"] = output("ccache", "--get-config", "base_dir").strip()
        if output("ccache", "--get-config", "hash_dir").strip() == "false":
            kept["CCACHE_NOHASHDIR"] = "1"
    return kept | {"HOME": "/root", "TERM": "dumb", "PATH": packing.PATH}


def do(root, command):
    """Its exit code and seconds; what it prints goes through."""
    begin = time.monotonic()
    code = run("chroot", root, "sh", "-c", f'cd "$0" && exec {command}', ROOT, env=environment(), stdin=subprocess.DEVNULL).returncode
    return code, time.monotonic() - begin


def cases(file):
    """Of each test in this JUnit file of ctest: its name, "run", "fail" or "notrun", and what it printed."""
    if file.is_file():
        for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
            yield case.get("name"), case.get("status"), case.findtext("system-out") or ""


def reason_for(said):
    """Why a test was skipped, as it says: GoogleTest and ours."""
    found = re.search(r"Skipped\n(.+)", said) or re.search(r"(?im)^skipped:? (.+)", said)
    return found.group(1).strip() if found else "no reason given"


def results(file):
    """Prints what failed, and what was skipped and why; the numbers of tests that passed, failed and were skipped."""
    passed, failed, reasons = 0, 0, collections.defaultdict(list)
    for name, status, said in cases(file):
        if status == "run":
            passed += 1
        elif status == "fail":
            failed += 1
            print(f"failed in the root: {name}")
        else:
            reasons[reason_for(said)].append(name)
    for reason, names in sorted(reasons.items(), key=lambda each: -len(each[1])):
        print(f"skipped {len(names):3d}  {reason}  ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})")
    return passed, failed, sum(map(len, reasons.values()))


def left_for_the_host(build):
    """A regular expression for ctest -R of the tests that the root did not pass, or not all of; "." are all tests."""
    passed = {name for name, status, said in cases(build / PASSED_THERE)
              if status == "run" and not re.search(r"(?i)skipped[:= ]", said)}
    listed = json.loads(run("ctest", "--test-dir", build, "--show-only=json-v1", stdout=subprocess.PIPE, check=True).stdout)["tests"]
    names = [each["name"] for each in listed if each["name"] not in passed]
    expression = f"^({'|'.join(re.escape(name) for name in names)})$"
    return expression if passed and len(expression) < LONGEST_EXPRESSION else "."


def hand_over():
    """The root's build folder becomes the clone's, if that has none."""
    made, wanted = ROOT / "build/bare/release", ROOT / "build/release"
    if made.is_dir() and not wanted.exists():
        for name in CONFIGURED:
            (made / name).unlink(missing_ok=True)
        if (made / "test.xml").is_file():
            (made / "test.xml").rename(made / PASSED_THERE)
        made.rename(wanted)
        print(f"{wanted} is the one of the bare root")
    shutil.rmtree(ROOT / "build/bare", ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ccache", metavar="FOLDER", type=pathlib.Path,
                        help="install ccache too, with this cache of the host")
    parser.add_argument("--left", metavar="BUILD", type=pathlib.Path,
                        help="print the regular expression of the tests in this build folder that the root did not pass")
    return parser.parse_args()


def inside(options, root):
    """In the namespaces."""
    output("mount", "--make-rprivate", "/")
    mount(root, options.ccache)
    codes, seconds = zip(*(do(root, command) for command in COMMANDS))
    passed, failed, skipped = results(ROOT / "build/bare/release/test.xml")
    for command, code in zip(COMMANDS, codes):
        passed += code == 0
        failed += code != 0
    for command, code, each in zip(COMMANDS, codes, seconds):
        print(f"{command}: {each / 60:.1f} minutes, exit code {code}")
    print(f"bare: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


def main():
    options = arguments()
    own = os.environ.get("NFX_BARE_ROOT")
    if own:
        return inside(options, pathlib.Path(own))
    if options.left:
        print(left_for_the_host(options.left))
        return 0
    why = missing()
    if why:
        print(f"skipped: {why}")
        return packing.SKIPPED
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nexusfix-bare-", dir="/var/tmp"))
    shutil.rmtree(ROOT / "build/bare", ignore_errors=True)
    (ROOT / "build/bare").mkdir(parents=True)
    try:
        root = scratch / "root"
        begin = time.monotonic()
        make(root, ["ccache"] if options.ccache else [])
        print(f"made a root with {' and '.join(PACKAGES)} in {time.monotonic() - begin:.0f} s", flush=True)
        return run("unshare", *NAMESPACES, "--kill-child", "--mount-proc", sys.executable, "-B", *sys.argv,
                   env=os.environ | {"NFX_BARE_ROOT": str(root)}).returncode
    finally:
        hand_over()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
