#!/usr/bin/env python3
"""Packs the component of the tool from a finished build and checks name, version, files, modes and dependencies."""

import argparse
import pathlib
import shutil
import subprocess
import sys

FILES = ("usr/bin/nfx", "lib/systemd/system/nexusfix.service", "usr/share/man/man1/nfx.1.gz",
         "usr/share/bash-completion/completions/nfx", "usr/share/zsh/vendor-completions/_nfx",
         "usr/share/fish/vendor_completions.d/nfx.fish", "usr/share/nexusfix/dictionaries/FIX44.xml",
         "usr/share/doc/nexusfix/copyright", "usr/share/doc/nexusfix/changelog.gz")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is missing (packages cmake, dpkg, dpkg-dev)")
            return 77
    shutil.rmtree(args.scratch, ignore_errors=True)
    output("cpack", "-G", "DEB", "--config", str(args.build / "CPackConfig.cmake"), "-B", str(args.scratch),
           "-D", "CPACK_COMPONENTS_ALL=tool", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    packages = list(args.scratch.glob("*.deb"))
    assert len(packages) == 1, packages
    package = str(packages[0])
    fields = output("dpkg-deb", "--field", package)
    for line in ("Package: nexusfix", f"Version: {args.version}"):
        assert line in fields.splitlines(), fields
    depends = output("dpkg-deb", "--field", package, "Depends")
    for needed in ("adduser", "libc6 (", "libssl3", "libpugixml"):
        assert needed in depends, (needed, depends)
    listed = {}
    for row in output("dpkg-deb", "--contents", package).splitlines():
        mode, owner, _, _, _, name = row.split(None, 5)
        name = name.removeprefix("./")
        listed[name] = mode
        assert owner == "root/root", row
        wanted = "drwxr-xr-x" if mode[0] == "d" else "-rwxr-xr-x" if name.startswith("usr/bin/") else "-rw-r--r--"
        assert mode == wanted, row
    assert not set(FILES) - set(listed), set(FILES) - set(listed)
    assert not [name for name in listed if name.endswith((".a", ".hpp", ".debug"))], listed
    output("dpkg-deb", "--raw-extract", package, str(args.scratch / "extracted"))
    root = args.scratch / "extracted"
    for script in ("postinst", "prerm", "postrm"):
        assert (root / "DEBIAN" / script).stat().st_mode & 0o777 == 0o755, script
    unit = (root / "lib/systemd/system/nexusfix.service").read_text()
    assert "ExecStart=/usr/bin/nfx serve" in unit, unit
    # Without the program: its assertions name their source files.
    for path in root.rglob("*"):
        if path.is_file() and path.name != "nfx" or path.parent.name == "completions":
            assert str(args.build).encode() not in path.read_bytes(), path
    shutil.rmtree(args.scratch)
    print(f"{package}: {len(listed)} files and folders")
    return 0


if __name__ == "__main__":
    sys.exit(main())
