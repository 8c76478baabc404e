"""nfx serve and nfx connect with a standard output that is never read, or closed: sessions continue as if it were read."""
import datetime
import fcntl
import os
import re
import select
import signal
import socket
import subprocess
import threading
import unittest

from support import ENVIRONMENT, PATIENCE_S, PROGRAM, FolderTest, fix, free_port

TOML = "".join(f'[[session]]\nsender_comp_id = "NEXUSFIX"\ntarget_comp_id = "{name}"\nlisten = "127.0.0.1:{{port}}"\n'
               'dictionary = "none"\nstore = "memory"\nmax_invalid_rate = 0\n' for name in ("GOOD", "BAD"))
ECHOES = 50
GARBAGE = b"".join(fix([(35, "D"), (34, 2), (49, "BAD"), (56, "NEXUSFIX"), (58, i)], sum_off=1)
                   for i in range(30_000))


class Peer:
    """One session of the server: logs on, sends orders, counts what comes back."""

    def __init__(self, port, name):
        self.name, self.seq, self.received = name, 0, b""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.send("A", (98, 0), (108, 30), (141, "Y"))
        self.wait_for(b"\x0135=A\x01")

    def send(self, kind, *fields):
        self.seq += 1
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H:%M:%S")
        self.socket.sendall(fix([(35, kind), (34, self.seq), (49, self.name), (56, "NEXUSFIX"), (52, now), *fields]))

    def wait_for(self, part):
        while part not in self.received:
            bytes_ = self.socket.recv(65536)
            if not bytes_:
                raise AssertionError(f"{self.name}: closed while waiting for {part!r}: {self.received[-300:]!r}")
            self.received += bytes_

    def order(self, number):
        self.send("D", (11, f"order{number}."), (55, "IBM"))
        self.wait_for(f"\x0111=order{number}.\x01".encode())


class SlowReader(FolderTest):
    def serve(self, *options, stdout):
        config = self.folder / "serve.toml"
        log = f'[log]\nmetrics_file = "{self.folder / "nfx.prom"}"\n'
        config.write_text(log + TOML.format(port=0), encoding="utf-8")
        return self.watch(subprocess.Popen([PROGRAM, "serve", str(config), "--echo", *options], stdout=stdout,
                                           stderr=subprocess.PIPE, env=ENVIRONMENT))

    def peer(self, port, name):
        peer = Peer(port, name)
        self.addCleanup(peer.socket.close)
        return peer

    def watch(self, process):
        """A test that waits for what never comes reads the end of the output instead."""
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        self.addCleanup(watchdog.cancel)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def small_pipe(self):
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        return reader, writer

    def trade_beside_garbage(self, ports):
        """Another peer's garbage makes lines while this one's orders are answered."""
        bad, good = self.peer(ports["BAD"], "BAD"), self.peer(ports["GOOD"], "GOOD")

        def flood():
            try:
                bad.socket.sendall(GARBAGE)
            except OSError:
                pass  # disconnected for it

        flooding = threading.Thread(target=flood)
        flooding.start()
        for number in range(ECHOES):
            good.order(number)
        bad.socket.shutdown(socket.SHUT_RDWR)
        flooding.join()
        return good

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=PATIENCE_S)[1].decode()
        self.assertEqual(process.returncode, 0, err)
        return err

    def wait_until_listening(self, reader):
        """The ports by session, which the first lines name. They fit into any pipe."""
        seen = b""
        while seen.count(b" listens on ") < 2 or not seen.endswith(b"\n"):
            self.assertTrue(select.select([reader], [], [], PATIENCE_S)[0], seen)
            seen += os.read(reader, 4096)
        return {name: int(port) for name, port in re.findall(r"->(\w+) listens on [\d.]+:(\d+)", seen.decode())}

    def test_every_echo_comes_while_no_process_reads_the_lines(self):
        reader, writer = self.small_pipe()
        process = self.serve("--messages", stdout=writer)
        os.close(writer)
        ports = self.wait_until_listening(reader)
        self.trade_beside_garbage(ports)
        # Still not read: it ends all the same, and reports what was not written.
        self.assertRegex(self.stop(process), r"^nfx: \d+ lines were not written: standard output was not read\n$")
        os.close(reader)

    def dropped_lines(self):
        metrics = (self.folder / "nfx.prom").read_text(encoding="utf-8")
        return {stream: int(count) for stream, count in
                re.findall(r'^nfx_lines_dropped_total\{stream="(\w+)"\} (\d+)$', metrics, re.MULTILINE)}

    def test_what_was_dropped_is_counted_where_it_is_missing(self):
        reader, writer = self.small_pipe()
        process = self.serve("--messages", stdout=writer)
        os.close(writer)
        ports = self.wait_until_listening(reader)
        good = self.trade_beside_garbage(ports)
        for number in range(ECHOES, ECHOES + 300):  # more than 1 MiB of lines, whatever became of the garbage
            good.send("D", (11, f"order{number}."), (58, "x" * 4000))
            good.wait_for(f"\x0111=order{number}.\x01".encode())
            good.received = b""
        lines, missing = [], None
        with os.fdopen(reader, "rb") as stream:
            for line in stream:
                lines.append(line)
                missing = missing or re.fullmatch(
                    rb"nfx: (\d+) lines are missing here: standard output was not read in time\n", line)
                if missing:
                    good.send("D", (11, "afterwards"))
                    good.wait_for(b"\x0111=afterwards\x01")
                    break
            self.assertGreater(int(missing[1]), 0)
            self.assertTrue(any(b"afterwards" in line for line in stream))
            process.send_signal(signal.SIGTERM)
            self.assertTrue(any(b"logged out" in line for line in stream))
        self.assertEqual(self.stop_quietly(process), "")
        self.assertTrue(all(re.match(rb"\d{8}-\d\d:\d\d:\d\d\.\d{3} ", line) for line in lines[:-1]))
        # Written once more at the end.
        self.assertEqual(self.dropped_lines(), {"stdout": int(missing[1]), "stderr": 0})

    def stop_quietly(self, process):
        err = process.communicate(timeout=PATIENCE_S)[1].decode()
        self.assertEqual(process.returncode, 0, err)
        return err

    def test_every_echo_comes_after_the_reader_of_the_lines_has_ended(self):
        reader, writer = os.pipe()
        process = self.serve("--messages", stdout=writer)
        os.close(writer)
        ports = self.wait_until_listening(reader)
        os.close(reader)  # as after: nfx serve ... | head -1
        self.trade_beside_garbage(ports)
        self.assertEqual(self.stop(process), "nfx: cannot write standard output: Broken pipe; lines are no longer printed\n")

    def test_a_standard_output_that_was_never_open_takes_no_lines_and_no_file_does(self):
        port = free_port()
        config = self.folder / "serve.toml"
        config.write_text(TOML.format(port=port).replace('store = "memory"\n', 'store_ring_directory = "rings"\n'),
                          encoding="utf-8")
        process = self.watch(subprocess.Popen(f'exec "{PROGRAM}" serve "{config}" --echo >&-', shell=True,
                                              stderr=subprocess.PIPE, env=ENVIRONMENT))
        self.assertEqual(process.stderr.readline(),
                         b"nfx: cannot write standard output: Bad file descriptor; lines are no longer printed\n")
        self.peer(port, "GOOD").order(1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.stop_quietly(process), "")
        for file in self.folder.rglob("*"):
            if file.is_file():
                self.assertNotIn(b" logged on, next in ", file.read_bytes(), file)

    def test_connect_ends_orderly_when_its_standard_output_is_closed(self):
        reader, writer = os.pipe()
        process = self.serve(stdout=writer)
        os.close(writer)
        port = self.wait_until_listening(reader)["GOOD"]
        config = self.folder / "connect.toml"
        config.write_text('[[session]]\nrole = "initiator"\nsender_comp_id = "GOOD"\ntarget_comp_id = "NEXUSFIX"\n'
                          f'connect = "127.0.0.1:{port}"\ndictionary = "none"\n', encoding="utf-8")
        out_reader, out_writer = os.pipe()
        client = subprocess.Popen([PROGRAM, "connect", str(config), "--wait", "1"], stdin=subprocess.PIPE,
                                  stdout=out_writer, stderr=subprocess.PIPE, env=ENVIRONMENT)
        os.close(out_writer)
        os.close(out_reader)
        err = client.communicate(b"35=D|11=a|55=IBM\n" * 50, timeout=PATIENCE_S)[1].decode()
        self.assertEqual(client.returncode, 1, err)
        self.assertIn("nfx: cannot write standard output: Broken pipe; lines are no longer printed\n", err)
        self.assertIn("GOOD->NEXUSFIX logged out", err)
        process.send_signal(signal.SIGTERM)
        with os.fdopen(reader, "rb") as stream:
            self.assertTrue(any(b"logged out" in line for line in stream))
        self.assertEqual(self.stop_quietly(process), "")


if __name__ == "__main__":
    unittest.main()
