"""What the tests of packages share: packing from a finished build, bare roots, and namespaces to try them in."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import zlib

SKIPPED = 77
PACKAGES = {("tool", "deb"): "nexusfix_*.deb", ("develop", "deb"): "libnexusfix-dev_*.deb", ("tool", "rpm"): "nexusfix-[0-9]*.rpm",
            ("develop", "rpm"): "nexusfix-devel-*.rpm"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NAMESPACES = ("--mount", "--pid", "--net", "--fork")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, **options)


def output(*command, **options):
    done = run(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}"
    return done.stdout


def packed(build, scratch, version, component="tool", kind="deb"):
    """The package of a component from this build, with a version of its own, and none of debug symbols."""
    folder = scratch / f"{kind}-{component}-{version}"
    output("cpack", "-G", kind.upper(), "--config", build / "CPackConfig.cmake", "-B", folder, "-D", f"CPACK_COMPONENTS_ALL={component}",
           "-D", "CPACK_STRIP_FILES=ON", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", "-D", "CPACK_RPM_COMPRESSION_TYPE=gzip",
           "-D", f"CPACK_PACKAGE_VERSION={version}")
    (package,) = folder.glob(PACKAGES[component, kind])  # cpack adds an empty one of what the component depends on
    return package


def needed_by(package):
    """What it depends on, without versions; of alternatives the first."""
    depends = output("dpkg-deb", "--field", package, "Depends")
    return sorted({each.split("|")[0].split("(")[0].strip() for each in depends.split(",")})


def bare_root(build, packages):
    """The archive of a minimal root with these packages, made once for a build; and why it could not be made."""
    archive = build / f"bare-root-{zlib.crc32(' '.join(packages).encode()):08x}.tar"
    if archive.exists():
        return archive, ""
    release = output("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME").strip()
    begun = archive.with_suffix(".begun.tar")  # a run that is ended here leaves no archive to trust
    made = run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", release, begun,
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        begun.unlink(missing_ok=True)
        return archive, (made.stdout.strip().splitlines() or ["no reason given"])[-1]
    begun.rename(archive)
    return archive, ""


def missing(*tools):
    """What this host lacks for such a test; empty: nothing."""
    for tool in tools:
        if not shutil.which(tool):
            return f"{tool} is missing (./dev deps packagetest)"
    if os.geteuid() != 0:
        return "mounting and chroot need root"
    if run("unshare", *NAMESPACES, "true", stderr=subprocess.DEVNULL).returncode != 0:
        return "this host does not allow namespaces for mounts, processes and network"
    return ""


def in_own_namespaces(**environment):
    """Runs the program again where whatever it mounts or starts ends with it, and with an environment of its own: what
    chooses compilers, their flags or their cache on the host does not hold in a bare root."""
    return run("unshare", *NAMESPACES, "--kill-child", "--mount-proc", sys.executable, "-B", *sys.argv,
               env={"HOME": "/root", "PATH": PATH, "NFX_OWN_NAMESPACES": "yes"} | environment).returncode


def prepare_namespaces():
    output("mount", "--make-rprivate", "/")
    output("ip", "link", "set", "lo", "up")


def mount_devices(root):
    """Those that a program may use, and memory of its own."""
    output("mount", "-t", "tmpfs", "tmpfs", root / "dev")
    for device in ("null", "zero", "full", "random", "urandom", "tty"):
        (root / "dev" / device).touch()
        output("mount", "--bind", f"/dev/{device}", root / "dev" / device)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (root / "dev" / name).symlink_to(f"/proc/self/fd{target}")
    (root / "dev/shm").mkdir()
    for place in ("dev/shm", "run"):
        output("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / place)
    (root / "dev/pts").mkdir()
    output("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=0620", "devpts", root / "dev/pts")
    (root / "dev/ptmx").symlink_to("pts/ptmx")
    output("mount", "-t", "proc", "proc", root / "proc")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--kind", choices=("deb", "rpm"), default="deb")
    args = parser.parse_args()
    if os.environ.get("NFX_OWN_NAMESPACES") is None:
        shutil.rmtree(args.scratch, ignore_errors=True)
    return args
