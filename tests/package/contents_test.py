#!/usr/bin/env python3
"""Packs the component of the tool from a finished build and checks name, version, files, modes and dependencies."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

FILES = ("usr/bin/nfx", "lib/systemd/system/nexusfix.service", "usr/share/man/man1/nfx.1.gz",
         "usr/share/bash-completion/completions/nfx", "usr/share/zsh/vendor-completions/_nfx",
         "usr/share/fish/vendor_completions.d/nfx.fish", "usr/share/nexusfix/dictionaries/FIX44.xml",
         "usr/share/doc/nexusfix/copyright", "usr/share/doc/nexusfix/changelog.gz",
         "usr/share/nexusfix/monitoring/prometheus/alerts.yml", "usr/share/nexusfix/monitoring/grafana/nexusfix.json",
         "usr/share/doc/nexusfix/docs/monitoring.md", "usr/share/doc/nexusfix/docs/control-openapi.json",
         "usr/share/doc/nexusfix/examples/desk.toml", "usr/share/doc/nexusfix/examples/desk.cpp",
         "usr/share/doc/nexusfix/examples/README.md", "usr/share/doc/nexusfix/examples/custom_dictionary/venue.xml")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def debug_symbols_are_in_a_package_of_their_own(scratch: pathlib.Path, version: str, program: pathlib.Path) -> None:
    """The package has the symbols of this program, where debuggers look for them by its build ID, and the program none."""
    (package,) = scratch.glob("*.ddeb")
    fields = output("dpkg-deb", "--field", str(package))
    for line in ("Package: nexusfix-dbgsym", f"Version: {version}", f"Depends: nexusfix (= {version})", "Section: debug"):
        assert line in fields.splitlines(), fields
    (build_id,) = re.findall(r"Build ID: ([0-9a-f]+)", output("readelf", "--notes", str(program)))
    assert f"Build-Ids: {build_id}" in fields.splitlines(), (build_id, fields)
    output("dpkg-deb", "--extract", str(package), str(scratch / "symbols"))
    symbols = scratch / "symbols/usr/lib/debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    assert ".debug_line" in output("readelf", "--sections", "--wide", str(symbols))
    sections = output("readelf", "--sections", "--wide", str(program))
    assert ".debug_line" not in sections and ".symtab" not in sections, sections


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "readelf"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is missing (packages cmake, dpkg, dpkg-dev, binutils)")
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
        link, program = " -> " in name, name.startswith("usr/bin/")
        wanted = ("lrwxrwxrwx" if link else "drwxr-xr-x" if mode[0] == "d" else "-rwxr-xr-x" if program else "-rw-r--r--")
        assert mode == wanted, row
    assert not set(FILES) - set(listed), set(FILES) - set(listed)
    development = [name for name in listed if name.endswith((".a", ".hpp", ".debug")) and "/examples/" not in name]
    assert not development, development
    output("dpkg-deb", "--raw-extract", package, str(args.scratch / "extracted"))
    root = args.scratch / "extracted"
    for script in ("postinst", "prerm", "postrm"):
        assert (root / "DEBIAN" / script).stat().st_mode & 0o777 == 0o755, script
    unit = (root / "lib/systemd/system/nexusfix.service").read_text()
    assert "ExecStart=/usr/bin/nfx serve" in unit, unit
    assert (root / "usr/share/doc/nexusfix/monitoring/prometheus/alerts.yml").exists(), "the link of the documentation"
    debug_symbols_are_in_a_package_of_their_own(args.scratch, args.version, root / "usr/bin/nfx")
    # Without the program: its assertions name their source files.
    for path in root.rglob("*"):
        if path.is_file() and path.name != "nfx" or path.parent.name == "completions":
            assert str(args.build).encode() not in path.read_bytes(), path
    shutil.rmtree(args.scratch)
    print(f"{package}: {len(listed)} files and folders")
    return 0


if __name__ == "__main__":
    sys.exit(main())
