#!/usr/bin/env python3
"""The OCI image: packaging/oci/Containerfile with the package of this build, on a bare root in place of a registry's
image; then the image as an operator runs it, as a user who is not root, with a read-only root and folders of its own.

It needs root, buildah, mmdebstrap and a mirror of Debian; where one of them is missing it is skipped and says which.
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

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CONFIG = """
[control]
socket = "/run/nexusfix/control.sock"
audit = "/var/log/nexusfix/control-audit.log"
[[session]]
sender_comp_id = "VENUE"
target_comp_id = "CLIENT"
listen = "127.0.0.1:9878"
store_directory = "/var/lib/nexusfix/store"
"""


def image(args, package, archive):
    """Builds the image with storage of its own, and returns its configuration and the folder with its root."""
    buildah = ["buildah", "--root", args.scratch / "storage", "--runroot", args.scratch / "run", "--storage-driver", "vfs"]
    base = output(*buildah, "from", "scratch").strip()
    output(*buildah, "add", "--quiet", base, archive, "/")
    output(*buildah, "commit", "--quiet", base, "localhost/bare-debian")
    packages = args.scratch / "packages"
    packages.mkdir()
    shutil.copy(package, packages)
    empty = args.scratch / "empty"
    empty.mkdir()
    output(*buildah, "build", "--isolation", "chroot", "--build-arg", "DEBIAN=localhost/bare-debian", "--build-context",
           f"packages={packages}", "--file", SOURCE / "packaging/oci/Containerfile", "--tag", "localhost/nexusfix", empty)
    facts = json.loads(output(*buildah, "inspect", "--type", "image", "localhost/nexusfix"))
    made = output(*buildah, "from", "localhost/nexusfix").strip()
    return facts["OCIv1"]["config"], pathlib.Path(output(*buildah, "mount", made).strip())


def check(config, root):
    """As 'podman run --read-only' with a volume for each folder of VOLUME."""
    user, group = config["User"].split(":")
    assert user != "0" and config["Entrypoint"] == ["/usr/bin/nfx"], config
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert not path.stat().st_mode & 0o6000 or path.name in SET_USER, f"{path} runs as another user"
    for tool in ("g++", "cmake", "ninja"):
        assert not (root / "usr/bin" / tool).exists(), tool
    (root / "etc/nexusfix/engine.toml").write_text(CONFIG, encoding="utf-8")
    output("mount", "--bind", root, root)
    packing.mount_devices(root)
    (root / "run/nexusfix").mkdir()
    for folder in config["Volumes"]:
        place = root / folder.lstrip("/")
        output("mount", "-t", "tmpfs", "-o", f"mode=0750,uid={user},gid={group}", "tmpfs", place)
    output("mount", "-o", "remount,bind,ro", root)
    inside = ["chroot", f"--userspec={user}:{group}", str(root), "env", *config["Env"]]
    assert run(*inside, "touch", "/etc/nexusfix/x", stderr=subprocess.DEVNULL).returncode != 0, "the root is read-only"
    engine = subprocess.Popen([*inside, *config["Entrypoint"], *config["Cmd"]], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    give_up = time.monotonic() + 600
    while run(*inside, "nfx", "engine", "health", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        assert engine.poll() is None, engine.stderr.read()
        assert time.monotonic() < give_up, "the engine does not answer"
        time.sleep(0.05)  # between two questions to a real process
    sessions = json.loads(output(*inside, "nfx", "session", "list", "--json"))["sessions"]
    assert [each["name"] for each in sessions] == ["FIX.4.4:VENUE->CLIENT"], sessions
    assert any((root / "var/lib/nexusfix/store").iterdir()), "its journal is in the volume"
    engine.terminate()  # STOPSIGNAL
    assert config["StopSignal"] == "SIGTERM" and engine.wait(timeout=600) == 0, engine.stderr.read()
    print(f"the image serves as {config['User']} with a read-only root, and ends with SIGTERM")


# Of the base image.
SET_USER = {"chage", "chfn", "chsh", "expiry", "gpasswd", "mount", "newgrp", "passwd", "su", "umount", "unix_chkpwd",
            "dotlockfile", "wall", "write", "crontab"}


def main():
    args = packing.arguments()
    if os.environ.get("NFX_OWN_NAMESPACES") is None:
        why = packing.missing("cpack", "dpkg-deb", "mmdebstrap", "unshare", "chroot", "buildah")
        if why:
            print(f"skipped: {why}")
            return packing.SKIPPED
        args.scratch.mkdir(parents=True)
        package = packing.packed(args.build, args.scratch, args.version)
        archive, why = packing.bare_root(args.build, packing.needed_by(package))
        if why:
            print(f"skipped: mmdebstrap cannot make a root: {why}")
            return packing.SKIPPED
        try:
            config, root = image(args, package, archive)
            return packing.in_own_namespaces(NFX_IMAGE=json.dumps(config), NFX_ROOT=str(root))
        finally:
            shutil.rmtree(args.scratch, ignore_errors=True)
    packing.prepare_namespaces()
    check(json.loads(os.environ["NFX_IMAGE"]), pathlib.Path(os.environ["NFX_ROOT"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
