"""The stage of an attack: nfx serve with a configuration, the innocent session, an attacker, and what each costs.

CPUs: on a host with two or more, the first poll thread runs on the first, the second poll thread, the innocent and the
attacker on the second, and the server's other threads on any. Poll threads and the innocent are scheduled before everything
else (SCHED_FIFO), so that neither an attacker that computes nor another program delays them; where that is not permitted
the attacker has the lowest priority instead.
"""
import fcntl
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import traceback

from support import ENVIRONMENT, PATIENCE_S, PROGRAM

INNOCENT = os.environ["NFX_ATTACK_INNOCENT"]
CPUS = sorted(os.sched_getaffinity(0))
MIB = 1 << 20
INNOCENT_SOURCE, PROBE_SOURCE = "127.1.0.1", "127.2.0.1"


def on_cpus(cpus, first=False, nice=0):
    """For a child before it runs: its CPUs, and its priority where that is permitted."""
    os.sched_setaffinity(0, cpus)
    try:
        if first:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        elif nice:
            os.nice(nice)
    except OSError:
        pass


def may_be_first():
    """Whether this user may have real-time priority."""
    reader = os.fork()
    if reader == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(reader, 0)[1] == 0


def size_of(folder):
    """Bytes that the files below a folder occupy, and how many there are. What disappears meanwhile is left out."""
    total = count = 0
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for each in entries:
                    try:
                        if each.is_dir(follow_symlinks=False):
                            folders.append(each.path)
                        else:
                            total += each.stat(follow_symlinks=False).st_blocks * 512
                            count += 1
                    except OSError:
                        pass
        except OSError:
            pass
    return total, count


class LineCounter:
    """Lines and bytes of files that grow, read once each."""

    def __init__(self):
        self.places = {}
        self.lines = 0
        self.size = 0

    def read(self, files):
        for file in files:
            try:
                with open(file, "rb") as opened:
                    opened.seek(self.places.get(file, 0))
                    while data := opened.read(1 << 20):
                        self.lines += data.count(b"\n")
                        self.size += len(data)
                    self.places[file] = opened.tell()
            except OSError:
                pass


class ServerFailure(Exception):
    """nfx serve did not start, or ended."""


class Server:
    """A running nfx serve with its files in folders of its own."""

    def __init__(self, folder, text, arguments=("--echo",), terminal="file"):
        self.folder = folder.path
        self.text = text
        config = self.folder / "serve.toml"
        config.write_text(text, encoding="utf-8")
        self.rings = folder.shm
        self.out = self.folder / "stdout.txt"
        self.err = self.folder / "stderr.txt"
        self.counter = LineCounter()
        self.terminal = terminal
        self.reader = None
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            writer = None
            if terminal != "file":
                self.reader, writer = os.pipe()
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
                os.set_blocking(self.reader, False)
            self.process = subprocess.Popen([PROGRAM, "serve", str(config), *arguments], stderr=err,
                                            stdout=out if writer is None else writer, stdin=subprocess.DEVNULL,
                                            env=ENVIRONMENT, preexec_fn=lambda: on_cpus(CPUS, nice=-5))
            if writer is not None:
                os.close(writer)

    @property
    def pid(self):
        return self.process.pid

    def text_of(self, file):
        return file.read_bytes().decode("utf-8", "replace")

    def port_of(self, listener):
        """The port of the first session that listens on this address, once it does."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.read_terminal()
            found = re.search(re.escape(f"listens on {listener}:") + r"(\d+)\n", self.text_of(self.out))
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                raise ServerFailure(f"nfx serve ended: {self.text_of(self.err).strip()[-300:]}")
            time.sleep(0.01)
        raise ServerFailure("nfx serve does not listen")

    def put_poll_threads_first(self):
        """Pins them, each to a CPU of its own where there are so many, with real-time priority where that is permitted."""
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            name = (task / "comm").read_text(encoding="ascii").strip()
            number = re.fullmatch(r"nfx-poll-(\d+)", name)
            index = 0 if int(task.name) == self.pid else int(number.group(1)) if number else None
            if index is not None:
                os.sched_setaffinity(int(task.name), {CPUS[index % len(CPUS)]})
                try:
                    os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(1))
                except OSError:
                    pass

    def read_terminal(self):
        """Copies what a pipe has by now to the file of standard output."""
        if self.reader is not None:
            try:
                with open(self.out, "ab") as out:
                    out.write(os.read(self.reader, 65536))
            except BlockingIOError:
                pass

    def let_terminal_go(self):
        """From now on a pipe is not read any more; a closed one has no reader either."""
        if self.reader is not None and self.terminal == "closed":
            os.close(self.reader)
            self.reader = None

    def event_files(self):
        return [each for each in (self.folder / "log").glob("*") if "event" in each.name]

    def wait_for_disk(self):
        """Until the first segments of the journals are allocated, which are larger than anything that an attack may cost."""
        end, last = time.monotonic() + 5, -1
        while time.monotonic() < end:
            now = size_of(self.folder)[0]
            if now - last < MIB and last >= 0:
                return
            last = now
            time.sleep(0.2)

    def open_files(self):
        """What each of its descriptors is now."""
        folder, names = f"/proc/{self.pid}/fd", []
        for each in os.listdir(folder):
            try:
                names.append(os.readlink(f"{folder}/{each}"))
            except FileNotFoundError:
                pass  # closed meanwhile
        return names

    def sample(self):
        """What the server occupies now."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        if "RssAnon" not in status:
            raise ServerFailure("it has no memory any more")
        disk = size_of(self.folder)[0]
        for each in (self.out, self.err):
            disk -= each.stat().st_blocks * 512
        times = pathlib.Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return {"memory": 1024 * int(re.search(r"RssAnon:\s+(\d+)", status).group(1)),
                "fds": len(os.listdir(f"/proc/{self.pid}/fd")), "disk": disk, "shm": size_of(self.rings)[0],
                "cpu": (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"), "time": time.monotonic()}

    def lines(self):
        """Lines on standard output, standard error and in the event log so far, and their bytes."""
        self.counter.read([self.out, self.err, *self.event_files()])
        return {"lines": self.counter.lines, "line_bytes": self.counter.size}

    def stop(self):
        """Exit code after SIGTERM; None when it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.reader is not None:
            os.close(self.reader)
            self.reader = None


class Innocent:
    """The process that measures; see innocent.cpp."""

    def __init__(self, host, port, cpus, tls=None, rate=1000):
        options = ["--host", host, "--port", str(port), "--from", INNOCENT_SOURCE, "--rate", str(rate)]
        if tls:
            options += ["--ca", tls.file("ca.pem"), "--cert", tls.file("innocent.crt"), "--key", tls.file("innocent.key")]
        self.process = subprocess.Popen([INNOCENT, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=ENVIRONMENT, text=True,
                                        preexec_fn=lambda: on_cpus(cpus, first=True))
        self.answer()

    def answer(self):
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            raise ServerFailure("the innocent session does not answer")
        line = self.process.stdout.readline()
        if not line:
            raise ServerFailure("the innocent session ended: " + self.process.stderr.read().strip())
        return json.loads(line)

    def phase(self):
        """Ends a phase; its statistics."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except OSError:
            pass
        return self.answer()

    def finish(self):
        """Empty, or what was wrong."""
        try:
            _, errors = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return "did not end"
        return errors.strip() if self.process.returncode else ""

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Child:
    """A function in a process of its own, and what it returns as JSON."""

    def __init__(self, function, *arguments, cpus=None, first=False, nice=0):
        self.reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.reader)
                for each in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(each, signal.SIG_DFL)
                on_cpus(cpus or CPUS, first, nice)
                made = function(*arguments) or {}
                used = resource.getrusage(resource.RUSAGE_SELF)
                made["cpu"] = used.ru_utime + used.ru_stime
                with os.fdopen(writer, "w", encoding="utf-8") as out:
                    json.dump(made, out)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writer)

    def result(self, patience):
        """What the function returned; killed, and empty, when it takes longer."""
        data = b""
        end = time.monotonic() + patience
        while True:
            ready = select.select([self.reader], [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                os.kill(self.pid, signal.SIGKILL)
                break
            more = os.read(self.reader, 65536)
            if not more:
                break
            data += more
        os.close(self.reader)
        os.waitpid(self.pid, 0)
        return json.loads(data) if data else {"broken": "the attacker did not end"}


class Sampler:
    """The most that the server occupied, sampled while an attack runs."""

    def __init__(self, server):
        self.server = server
        self.most = server.sample()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ended.wait(0.1):
            try:
                now = self.server.sample()
            except (OSError, ServerFailure):
                return
            for key, value in now.items():
                self.most[key] = max(self.most[key], value)

    def finish(self):
        self.ended.set()
        self.thread.join()
        return self.most


def burn(share, seconds):
    """Uses that share of a CPU and touches nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        while time.monotonic() - begin < 0.002 * share:
            pass
        time.sleep(0.002 * (1 - share))
    return {}


class Folder:
    """A scratch folder on disk, with the rings of the journals in shared memory."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="nfx-attack-"))
        self.shm = pathlib.Path(tempfile.mkdtemp(prefix="nfx-attack-", dir="/dev/shm"))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)
