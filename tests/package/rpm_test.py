#!/usr/bin/env python3
"""Packs for RPM from a finished build and checks names, files, modes, scripts and dependencies; the debug symbols; and that
rpmlint, where there is one, finds no error."""

import re
import shutil
import subprocess
import sys

import packing
from packing import output, run

FILES = ("/usr/bin/nfx", "/usr/lib/systemd/system/nexusfix.service", "/usr/share/man/man1/nfx.1.gz",
         "/usr/share/bash-completion/completions/nfx", "/usr/share/zsh/site-functions/_nfx",
         "/usr/share/fish/vendor_completions.d/nfx.fish", "/usr/share/nexusfix/dictionaries/FIX44.xml",
         "/usr/share/licenses/nexusfix/LICENSE", "/usr/share/nexusfix/monitoring/prometheus/alerts.yml",
         "/usr/share/doc/nexusfix/docs/monitoring.md", "/usr/share/doc/nexusfix/examples/desk.cpp")


def asked(package, *what):
    return output("rpm", "--query", *what, "--package", package).splitlines()


def symbols_are_in_a_package_of_their_own(args, tool, symbols):
    folder = args.scratch / "extracted"
    for package in (tool, symbols):
        folder.mkdir(exist_ok=True)
        subprocess.run(f"rpm2cpio {package} | cpio --extract --quiet --make-directories", shell=True, check=True, cwd=folder)
    program = folder / "usr/bin/nfx"
    (build_id,) = re.findall(r"Build ID: ([0-9a-f]+)", output("readelf", "--notes", program))
    file = folder / "usr/lib/debug/.build-id" / build_id[:2] / f"{build_id[2:]}.debug"
    assert ".debug_line" in output("readelf", "--sections", "--wide", file)
    assert ".symtab" not in output("readelf", "--sections", "--wide", program)


def main():
    args = packing.arguments()
    for tool in ("cpack", "rpmbuild", "rpm2cpio", "cpio", "readelf"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is missing (./dev deps packagetest)")
            return packing.SKIPPED
    args.scratch.mkdir(parents=True)
    output("cpack", "-G", "RPM", "--config", args.build / "CPackConfig.cmake", "-B", args.scratch,
           "-D", "CPACK_RPM_COMPRESSION_TYPE=gzip")
    packages = {each.name.rsplit("-", 2)[0]: each for each in args.scratch.glob("*.rpm")}
    assert set(packages) == {"nexusfix", "nexusfix-devel", "nexusfix-debuginfo"}, packages
    tool, develop, symbols = (packages[f"nexusfix{end}"] for end in ("", "-devel", "-debuginfo"))
    for package in packages.values():
        assert asked(package, "--queryformat", "%{VERSION} %{LICENSE}") == [f"{args.version} MIT"], package
        for row in asked(package, "--queryformat", "[%{FILEMODES:perms} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\n]"):
            mode, owner, name = row.split(" ", 2)
            wanted = {"l": "lrwxrwxrwx", "d": "drwxr-xr-x"}.get(mode[0], "-rwxr-xr-x" if "/bin/" in name else "-rw-r--r--")
            assert (mode, owner) == (wanted, "root:root"), row
        assert "digests OK" in output("rpm", "--checksig", package)
    listed = asked(tool, "--list")
    assert not set(FILES) - set(listed), set(FILES) - set(listed)
    assert not [name for name in listed if name.endswith((".a", ".hpp", ".debug")) and "/examples/" not in name], listed
    # Folders that the system has belong to other packages.
    assert not {"/usr/bin", "/usr/lib/systemd", "/usr/lib/systemd/system", "/usr/share/man/man1"} & set(listed), listed
    needed = asked(tool, "--requires")
    for name in ("libssl.so.3()(64bit)", "libpugixml.so.1()(64bit)", "/usr/sbin/useradd"):
        assert name in needed, (name, needed)
    scripts = "\n".join(asked(tool, "--scripts"))
    for text in ("postinstall scriptlet", "preuninstall scriptlet", "postuninstall scriptlet", "useradd --system"):
        assert text in scripts, scripts
    needed = asked(develop, "--requires")
    for name in (f"nexusfix = {args.version}", "pkgconfig(hwloc)", "pkgconfig(libssl)", "pkgconfig(pugixml)", "pkgconfig(absl_time)"):
        assert name in needed, (name, needed)
    assert f"pkgconfig(nexusfix-engine) = {args.version}" in asked(develop, "--provides")
    assert f"nexusfix = {args.version}" in asked(symbols, "--requires")
    symbols_are_in_a_package_of_their_own(args, tool, symbols)
    said = "rpmlint is missing"
    if shutil.which("rpmlint"):
        done = run("rpmlint", tool, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = "rpmlint: no error"
        # Who publishes the packages signs them.
        assert not re.findall(r": E: (?!no-signature)", done.stdout), done.stdout
    shutil.rmtree(args.scratch)
    print(f"nexusfix {len(listed)} files and folders; {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
