"""A virtual machine for host tests: a kernel, an initial RAM file system, and QEMU on a serial line."""
import gzip
import os
import re
import selectors
import shutil
import stat
import subprocess
import time

QEMU = "qemu-system-x86_64"
BOOT_PATIENCE_S = 300


class Missing(Exception):
    """Something that this host lacks; the text names the package."""


def busybox():
    """A statically linked busybox: it has to run without the host's libraries."""
    path = shutil.which("busybox")
    if path:
        with open(path, "rb") as file:
            # A program with an interpreter is dynamically linked, and then it needs a loader by this name.
            if b"/lib64/ld-linux" not in file.read(4096):
                return path
    raise Missing("a static busybox is missing: install the package busybox-static")


def qemu():
    path = shutil.which(QEMU)
    if not path:
        raise Missing(f"{QEMU} is missing: install the package qemu-system-x86")
    return path


def kernel(cache, flavour="cloud"):
    """Debian's newest kernel of a flavour, unpacked once below `cache`."""
    cache = os.path.join(cache, flavour)
    os.makedirs(cache, exist_ok=True)
    found = kernel_in(cache)
    if found:
        return found
    for tool in ("apt-cache", "apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise Missing(f"no kernel in {cache}, and no {tool} to get linux-image-{flavour}-amd64 with")
    for package in kernel_packages(flavour):
        for old in os.listdir(cache):
            if old.endswith(".deb"):
                os.remove(os.path.join(cache, old))
        try:
            subprocess.run(["apt-get", "download", package], cwd=cache, capture_output=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            raise Missing(f"the kernel is missing: {package} did not arrive within five minutes") from None
        for file in os.listdir(cache):
            if file.endswith(".deb"):
                subprocess.run(["dpkg-deb", "-x", file, "unpacked"], cwd=cache, timeout=300, check=True)
                os.remove(os.path.join(cache, file))
        found = kernel_in(cache)
        if found:
            return found
    raise Missing(f"the kernel is missing: no package source has linux-image-{flavour}-amd64 (apt-get update?)")


def kernel_in(cache):
    boot = os.path.join(cache, "unpacked", "boot")
    names = sorted(os.listdir(boot)) if os.path.isdir(boot) else []
    kernels = [name for name in names if name.startswith("vmlinuz-")]
    return os.path.join(boot, kernels[-1]) if kernels else None


def module(kernel_image, name):
    """A module of this kernel, such as net/tls/tls.ko."""
    release = os.path.basename(kernel_image).removeprefix("vmlinuz-")
    path = os.path.join(os.path.dirname(os.path.dirname(kernel_image)), "lib", "modules", release, "kernel", name)
    if not os.path.exists(path):
        raise Missing(f"{path} is missing: this kernel's package has no such module")
    return path


def kernel_packages(flavour):
    """What the package of the flavour's kernel depends on, then the other kernels that the index knows, newest first.
    Real-time kernels are taken newest first: that of Debian 12 is older than Linux 6.2."""
    depends = subprocess.run(["apt-cache", "depends", f"linux-image-{flavour}-amd64"], capture_output=True, text=True,
                             check=False).stdout
    search = subprocess.run(["apt-cache", "search", "--names-only", f"^linux-image-[0-9].*-{flavour}-amd64$"],
                            capture_output=True, text=True, check=False).stdout
    pattern = rf"linux-image-[0-9][0-9a-z.+-]*-{flavour}-amd64\b(?!-)"
    others = sorted(re.findall(pattern, search), key=lambda name: [int(n) for n in re.findall(r"\d+", name)],
                    reverse=True)
    return list(dict.fromkeys(others if flavour == "rt" else re.findall(pattern, depends) + others))


def libraries(program):
    """The shared libraries of a program, and the loader, by their paths."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", text)


class Archive:
    """Files for the kernel's initial RAM file system, in cpio's newc format."""

    def __init__(self):
        self.entries = {}

    def directory(self, path):
        path = path.strip("/")
        if path and path not in self.entries:
            self.directory(os.path.dirname(path))
            self.entries[path] = (stat.S_IFDIR | 0o755, b"")

    def file(self, path, content, mode=0o644):
        self.directory(os.path.dirname(path))
        self.entries[path.strip("/")] = (stat.S_IFREG | mode, content)

    def copy(self, path, source, mode=0o755):
        with open(source, "rb") as file:
            self.file(path, file.read(), mode)

    def pack(self):
        out = bytearray()
        for number, (name, (mode, content)) in enumerate([*self.entries.items(), ("TRAILER!!!", (0, b""))], 1):
            spelled = name.encode() + b"\0"
            fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(spelled), 0]
            out += b"070701" + b"".join(b"%08x" % field for field in fields) + spelled
            out += b"\0" * (-len(out) % 4) + content
            out += b"\0" * (-len(out) % 4)
        return gzip.compress(bytes(out), 1)


def accelerator():
    """Emulation, which is the same everywhere and boots in seconds; NFX_VM_ACCEL=kvm requests KVM, which not every
    machine with a /dev/kvm can really use."""
    return os.environ.get("NFX_VM_ACCEL", "tcg")


def qemu_command(kernel_image, initrd, disks, arguments, accel):
    command = [qemu(), "-nographic", "-nodefaults", "-no-user-config", "-no-reboot", "-serial", "stdio",
               "-monitor", "none", "-m", "1G", "-net", "none", "-cpu", "Skylake-Server-v1",
               "-accel", "tcg,thread=multi" if accel == "tcg" else accel,
               "-smp", "8,sockets=2,cores=2,threads=2",
               "-object", "memory-backend-ram,id=memory0,size=512M", "-object", "memory-backend-ram,id=memory1,size=512M",
               "-numa", "node,nodeid=0,memdev=memory0,cpus=0-3", "-numa", "node,nodeid=1,memdev=memory1,cpus=4-7"]
    for number, (path, queues) in enumerate(disks):
        command += ["-drive", f"file={path},if=none,id=disk{number},format=raw",
                    "-device", f"nvme,drive=disk{number},serial=nexusfix{number},max_ioqpairs={queues}"]
    return command + ["-kernel", kernel_image, "-initrd", initrd,
                      "-append", f"console=ttyS0 quiet loglevel=1 panic=-1 {arguments}"]


class Boot:
    """One boot: what the machine printed, cut into the sections between its markers."""

    def __init__(self, text, seconds):
        self.text = text
        self.seconds = seconds
        self.output = {}
        self.exit = {}
        pattern = r"^@@begin (\S+)\n(.*?)^@@end \1 (\d+)$"
        for name, output, code in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
            self.output[name] = output
            self.exit[name] = int(code)


def run(command):
    """Runs QEMU until the machine reports that it is done, or until patience ends; always ends the process."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        received = bytearray()
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                while b"@@done" not in received:
                    left = BOOT_PATIENCE_S - (time.monotonic() - begin)
                    if left <= 0:
                        raise AssertionError(f"no end after {BOOT_PATIENCE_S} s; the machine's last words:\n" +
                                             received[-3000:].decode("utf-8", "replace"))
                    if not selector.select(left):
                        continue
                    chunk = os.read(process.stdout.fileno(), 1 << 16)
                    if not chunk:
                        break
                    received += chunk
        finally:
            process.kill()
        errors = process.stderr.read().decode("utf-8", "replace")
    text = received.decode("utf-8", "replace").replace("\r\n", "\n")
    if "@@done" not in text:
        raise AssertionError(f"the machine stopped early:\n{text[-3000:]}\n{errors[-3000:]}")
    return Boot(text, time.monotonic() - begin)
