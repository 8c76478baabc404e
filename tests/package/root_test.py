#!/usr/bin/env python3
"""The packages in a bare Debian root: installed, configured, an engine started and used, upgraded while it runs with its
journals, removed and purged. In namespaces of its own, so that nothing stays mounted or running. With --kind rpm the same
by the host's rpm with --root, without dependencies: the root's libraries are Debian's.

It needs root, mmdebstrap and a mirror of Debian; where one of them is missing it is skipped and says which. The bare root
is made once for a build and kept next to it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import packing
from packing import output, run

NAME = "FIX.4.4:VENUE->CLIENT"
CLIENT = """
[[session]]
role = "initiator"
sender_comp_id = "CLIENT"
target_comp_id = "VENUE"
connect = "127.0.0.1:9878"
"""
ORDER = "35=D|11=one|55=IBM|54=1|38=100|40=1|60=20240102-12:00:00\n"


class Root:
    """The unpacked root, with the host's devices and memory of its own in /dev/shm, /run and /proc."""

    def __init__(self, archive, folder):
        self.folder = folder
        self.engine = None
        folder.mkdir()
        output("tar", "-xf", archive, "-C", folder, "--exclude=./dev/*")
        packing.mount_devices(folder)

    def has(self, path):
        return (self.folder / path.lstrip("/")).exists()

    def do(self, *command, **options):
        return output("chroot", self.folder, *command, **options)

    def install(self, package):
        if package.endswith(".rpm"):
            return self.rpm("--upgrade", "--nodeps", "--replacepkgs", package)
        shutil.copy(package, self.folder / "package.deb")
        return self.do("dpkg", "--install", "/package.deb")

    def rpm(self, *words):
        return output("rpm", "--root", self.folder, "--dbpath", "/var/lib/rpm", *words)

    def as_user(self, *command):
        return ["chroot", "--userspec=nexusfix:nexusfix", str(self.folder), *command]

    def start(self):
        """As the unit does: the user, its folder in /run, and the check of the configuration first."""
        runtime = self.folder / "run/nexusfix"
        runtime.mkdir(mode=0o755, exist_ok=True)
        owner = (self.folder / "var/lib/nexusfix").stat()
        os.chown(runtime, owner.st_uid, owner.st_gid)
        output(*self.as_user("nfx", "config", "check", "/etc/nexusfix/engine.toml"))
        self.engine = subprocess.Popen(self.as_user("nfx", "serve", "/etc/nexusfix/engine.toml"),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        give_up = time.monotonic() + 600
        while run("chroot", self.folder, "nfx", "engine", "health", stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL).returncode != 0:
            assert self.engine.poll() is None, self.engine.stderr.read()
            assert time.monotonic() < give_up, "the engine does not answer"
            time.sleep(0.05)  # between two questions to a real process

    def stop(self):
        self.do("nfx", "engine", "stop")
        assert self.engine.wait(timeout=600) == 0, self.engine.stderr.read()

    def session(self):
        return json.loads(self.do("nfx", "session", "show", NAME, "--json"))

    def trade(self, *options):
        """One client logs on, sends an order and logs out."""
        return self.do("nfx", "connect", "/client.toml", "--wait", "0", "--no-reset", *options, input=ORDER)


def check(root, first, second, versions):
    """Everything that an operator does with the packages."""
    rpm = first.endswith(".rpm")

    def remove(purge=False):
        return root.rpm("--erase", "nexusfix") if rpm else root.do("dpkg", "--purge" if purge else "--remove", "nexusfix")

    root.install(first)
    assert root.do("nfx", "--version").startswith("nfx "), root.do("nfx", "--version")
    assert root.do("id", "--user", "--name", "nexusfix").strip() == "nexusfix"
    for folder in ("/etc/nexusfix", "/var/lib/nexusfix", "/var/log/nexusfix"):
        assert root.has(folder), folder
    print(f"installed {versions[0]}")

    root.do("nfx", "config", "init", "--defaults", "--sender", "VENUE", "--target", "CLIENT", "--store",
            "/var/lib/nexusfix/store", "--address", "127.0.0.1:9878", "--output", "/etc/nexusfix/engine.toml")
    (root.folder / "client.toml").write_text(CLIENT, encoding="utf-8")
    root.start()
    root.trade()
    before = root.session()
    assert before["counters"]["logons_total"] == 1 and before["next_in"] >= 4 and before["next_out"] >= 3, before
    root.do("nfx", "session", "set", NAME, "--next-out", str(before["next_out"] + 7), "--expect-out",
            str(before["next_out"]))
    print(f"used it: next in {before['next_in']}, next out {before['next_out']}, then set")

    pid = root.engine.pid
    said = root.install(second)
    assert versions[1] == (root.rpm("--query", "--queryformat", "%{VERSION}", "nexusfix") if rpm else
                           root.do("dpkg-query", "--show", "--showformat=${Version}", "nexusfix")), said
    assert root.engine.poll() is None, "an upgrade leaves the engine running"
    running = root.session()
    assert (running["next_in"], running["next_out"]) == (before["next_in"], before["next_out"] + 7), running
    assert json.loads(root.do("nfx", "engine", "show", "--json"))["state"] == "serving"
    root.stop()
    root.start()
    assert root.engine.pid != pid
    after = root.session()
    assert (after["next_in"], after["next_out"]) == (running["next_in"], running["next_out"]), (running, after)
    verified = root.do("nfx", "store", "verify", "/var/lib/nexusfix/store")
    print(f"upgraded to {versions[1]} while it ran; the next start goes on with the same numbers\n{verified.rstrip()}")
    root.stop()

    remove()
    assert not root.has("/usr/bin/nfx") and not root.has("/lib/systemd/system/nexusfix.service")
    assert root.has("/etc/nexusfix/engine.toml") and any((root.folder / "var/lib/nexusfix/store").iterdir())
    root.install(second)
    root.start()
    assert root.session()["next_out"] == after["next_out"], "a package that comes back finds the journals"
    root.stop()
    print("removed and installed again: configuration and journals are there")

    said = remove(purge=True)
    assert "is not empty and stays" in said, said
    assert root.has("/var/lib/nexusfix/store")
    for folder in ("var/lib/nexusfix/store", "var/log/nexusfix", "etc/nexusfix"):
        for entry in (root.folder / folder).iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    root.install(second)
    assert "stays" not in remove(purge=True)
    for folder in ("/etc/nexusfix", "/var/lib/nexusfix", "/var/log/nexusfix", "/usr/share/nexusfix"):
        assert not root.has(folder), folder
    assert rpm or root.do("dpkg", "--audit") == ""
    print("purged: records stay while there are any, and nothing without")


def main():
    args = packing.arguments()
    if os.environ.get("NFX_OWN_NAMESPACES") is None:
        why = packing.missing("cpack", "dpkg-deb", "mmdebstrap", "unshare", "chroot", *(["rpmbuild"] if args.kind == "rpm" else []))
        if why:
            print(f"skipped: {why}")
            return packing.SKIPPED
        args.scratch.mkdir(parents=True)
        versions = [args.version, args.version + "+upgrade1"]
        packages = [packing.packed(args.build, args.scratch, version, kind=args.kind) for version in versions]
        debian = packages[0] if args.kind == "deb" else packing.packed(args.build, args.scratch, args.version)
        archive, why = packing.bare_root(args.build, packing.needed_by(debian))
        if why:
            print(f"skipped: mmdebstrap cannot make a root: {why}")
            return packing.SKIPPED
        try:
            return packing.in_own_namespaces(NFX_PACKAGES=" ".join(map(str, packages)), NFX_VERSIONS=" ".join(versions),
                                             NFX_ARCHIVE=str(archive))
        finally:
            shutil.rmtree(args.scratch, ignore_errors=True)
    packing.prepare_namespaces()
    root = Root(pathlib.Path(os.environ["NFX_ARCHIVE"]), args.scratch / "root")
    check(root, *os.environ["NFX_PACKAGES"].split(), os.environ["NFX_VERSIONS"].split())
    return 0


if __name__ == "__main__":
    sys.exit(main())
