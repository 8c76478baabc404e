"""nfx market record and replay: what is recorded is replayed, also after the recorder was killed at random.

NFX_RECORDER_KILLS is the number of kills (default 5); 500 take some minutes.
"""
import os
import pathlib
import random
import re
import signal
import socket
import struct
import tempfile
import threading
import time
import unittest

from support import PATIENCE_S, PROGRAM, Running, expect, run

KILLS = int(os.environ.get("NFX_RECORDER_KILLS", "5"))
SEED = int(os.environ.get("NFX_RECORDER_SEED", "20260105"))


class Recorder(Running):
    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        super().__init__(PROGRAM, "market", "record", "--line", "A=127.0.0.1:0", "--to", self.folder / "recording",
                         "--ring-directory", self.folder / "ring", *options)


class Sender(threading.Thread):
    """Sends numbered datagrams until nobody receives them."""

    def __init__(self, port, enough):
        super().__init__(daemon=True)
        self.port = port
        self.sent = 0
        self.enough = enough
        self.reached = threading.Event()  # so many are sent

    def run(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
            to.connect(("127.0.0.1", self.port))
            while self.sent < 2 * self.enough:
                try:
                    to.send(datagram(self.sent))
                except ConnectionRefusedError:
                    return  # killed
                self.sent += 1
                if self.sent == self.enough:
                    self.reached.set()


def datagram(number):
    return f"{number}:".encode() + b"x" * (number * 37 % 1400)


def itch_adds(first, count):
    """A MoldUDP64 packet of ITCH: messages `first` and later, each an order of one of three stocks."""
    packet = b"SESSION001" + struct.pack(">QH", first, count)
    for number in range(first, first + count):
        message = (b"A" + struct.pack(">HH", number % 3 + 1, 0) + (34_200_000_000_000 + number).to_bytes(6, "big") +
                   struct.pack(">Q", number) + (b"B" if number % 2 else b"S") + struct.pack(">I", 100 + number) +
                   f"STOCK{number % 3}".ljust(8).encode() + struct.pack(">I", 1_000_000 + number % 2 * -500))
        packet += struct.pack(">H", len(message)) + message
    return packet


def replay(folder, *options):
    folder = pathlib.Path(folder)
    return run("market", "replay", str(folder / "recording"), "--ring-directory", str(folder / "ring"), *options)


def listed(folder):
    """The payloads of all datagrams, and the line that states the end."""
    code, out, err = replay(folder, "--list")
    assert code == 0, out[-500:] + err
    lines = out.splitlines()
    numbers = [int(line.split(" ", 1)[0]) for line in lines[:-1]]
    assert numbers == list(range(1, len(numbers) + 1)), "records are missing"
    datagrams = [bytes.fromhex(line.split(" ")[-1]) for line in lines[:-1] if " datagram " in line]
    return datagrams, lines[-1]


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, *options):
        recorder = Recorder(self.folder, *options)
        self.addCleanup(recorder.end)
        return recorder

    def send(self, port, count, first=0):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
            for number in range(first, first + count):
                to.sendto(datagram(number), ("127.0.0.1", port))

    def wait_for(self, recorder, count):
        """Until so many datagrams are in the files."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            datagrams, _ = listed(self.folder)
            if len(datagrams) >= count:
                return
        raise AssertionError("the recorder does not write what it received")

    def test_records_until_it_is_stopped_and_prints_what_it_does_and_did(self):
        recorder = self.record()
        self.assertIn("receive buffer", recorder.first_line)
        self.assertIn("recording to", recorder.line_with("recording to"))
        self.send(recorder.port, 100)
        self.wait_for(recorder, 100)
        datagrams, end = listed(self.folder)
        self.assertIn("is recording", end)
        expect(recorder.stop(), out=["line A: 100 datagrams", "100 kernel", "dropped 0; records 1 to 101"])
        datagrams, end = listed(self.folder)
        self.assertEqual(datagrams, [datagram(number) for number in range(100)])
        self.assertIn("ended in order", end)
        _, again, _ = replay(self.folder)
        self.assertRegex(again, r"line 0 A 127\.0\.0\.1:\d+: 100 packets")
        self.assertIn("0 packets dropped by the recorder, 0 records missing; 1 recorders, 0 of them killed", again)
        self.assertEqual(replay(self.folder)[1], again)

    def test_ends_after_its_seconds(self):
        expect(run("market", "record", "--line", "A=127.0.0.1:0", "--to", self.folder + "/recording",
                   "--ring-directory", self.folder + "/ring", "--seconds", "0"),
               out="recorded 0 packets")

    def test_sends_a_recording_again_to_another_recorder(self):
        recorder = self.record()
        self.send(recorder.port, 50)
        self.wait_for(recorder, 50)
        recorder.stop()
        with tempfile.TemporaryDirectory() as other:
            second = Recorder(other)
            self.addCleanup(second.end)
            expect(replay(self.folder, "--to", f"A=127.0.0.1:{second.port}", "--speed", "max"),
                   out="sent 50 datagrams; 0 were refused; 0 packets were left out")
            until = time.monotonic() + PATIENCE_S
            while len(listed(other)[0]) < 50 and time.monotonic() < until:
                continue
            second.stop()
            self.assertEqual(listed(other)[0], listed(self.folder)[0])
        code, out, _ = replay(self.folder, "--to", "127.0.0.1:9", "--speed", "1000")
        self.assertIn("datagrams", out)

    def books_of(self, packets):
        """What a replay of these packets to ITCH books prints."""
        with tempfile.TemporaryDirectory() as folder:
            self.folder = folder
            recorder = self.record()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
                for packet in packets:
                    to.sendto(packet, ("127.0.0.1", recorder.port))
            self.wait_for(recorder, len(packets))
            self.assertEqual(recorder.stop()[0], 0)
            out, _ = expect(replay(folder, "--feed", "itch", "--every", "50"))
            self.assertEqual(replay(folder, "--feed", "itch", "--every", "50")[1], out, "each replay is the same")
            return out

    def test_replays_to_the_same_books_whatever_order_the_packets_came_in(self):
        packets = [itch_adds(first, 10) for first in range(1, 101, 10)]
        in_order = self.books_of(packets)
        self.assertRegex(in_order, r"(?m)^50 events: books [0-9a-f]{16}$")
        self.assertRegex(in_order, r"(?m)^100 events of 3 instruments, 0 packets left out; the feed is live; books ")
        mixed = self.books_of([packets[0], packets[2], packets[1], packets[1], *packets[3:]])
        books = re.compile(r"books ([0-9a-f]{16})")
        self.assertEqual(books.findall(mixed), books.findall(in_order))
        other = self.books_of([*packets[:-1], itch_adds(91, 9)])
        self.assertNotEqual(books.findall(other)[-1], books.findall(in_order)[-1])

    def test_a_generated_day_is_replayed_to_the_same_books_every_time(self):
        day = pathlib.Path(self.folder) / "day.itch"
        self.assertEqual(run("market", "generate", str(day), "--names", "50", "--messages", "20000")[0], 0)
        content, at, messages = day.read_bytes(), 0, []
        while at < len(content):
            size = 2 + int.from_bytes(content[at:at + 2], "big")
            messages.append(content[at:at + size])
            at += size
        packets = [b"SESSION001" + struct.pack(">QH", 1 + at, len(messages[at:at + 40])) + b"".join(messages[at:at + 40])
                   for at in range(0, len(messages), 40)]
        recorder = self.record()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
            for each in packets:
                to.sendto(each, ("127.0.0.1", recorder.port))
        self.wait_for(recorder, len(packets))
        self.assertEqual(recorder.stop()[0], 0)
        first, _ = expect(replay(self.folder, "--feed", "itch", "--every", "1000"))
        self.assertGreater(len(set(re.findall(r"(?m)^\d+ events: books ([0-9a-f]{16})$", first))), 15)
        self.assertIn("of 51 instruments, 0 packets left out; the feed is live; books ", first)
        for again in range(1, 20):
            self.assertEqual(replay(self.folder, "--feed", "itch", "--every", "1000")[1], first, f"replay {again}")

    def test_names_wrong_options_with_the_fix(self):
        def refused(expected, *options):
            expect(run("market", *options), code=2, err=expected)

        to = ("--to", self.folder + "/r", "--ring-directory", self.folder)
        refused("has no name", "record", "--line", "127.0.0.1:0", *to)
        refused('duplicate name "A"', "record", "--line", "A=127.0.0.1:0", "--line", "A=127.0.0.1:0", *to)
        refused("write ADDRESS:PORT", "record", "--line", "A=localhost", *to)
        refused("not a multicast group", "record", "--line", "A=127.0.0.1:0@lo", *to)
        refused("has no interface", "record", "--line", "A=239.1.1.1:0@nosuch0", *to)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            refused("Address already in use", "record", "--line", f"A=127.0.0.1:{taken.getsockname()[1]}", *to)
        refused("is not a speed", "replay", self.folder, "--to", "127.0.0.1:9", "--speed", "fast")
        expect(run("market", "replay", self.folder + "/nothing"), code=1, err="nothing")

    def test_the_folder_of_a_running_recorder_is_refused_with_its_pid(self):
        recorder = self.record()
        expect(run("market", "record", "--line", "A=127.0.0.1:0", "--to", self.folder + "/recording",
                   "--ring-directory", self.folder + "/ring"),
               code=1, err=str(recorder.process.pid))

    def test_a_recording_passes_the_check_of_the_store(self):
        recorder = self.record()
        self.send(recorder.port, 20)
        self.wait_for(recorder, 20)
        recorder.stop()
        expect(run("store", "verify", self.folder + "/recording"))

    def test_kills_at_random_lose_nothing_that_was_recorded(self):
        chance = random.Random(SEED)
        for kill in range(KILLS):
            with self.subTest(seed=SEED, kill=kill), tempfile.TemporaryDirectory() as folder:
                self.kill_once(folder, chance)

    def kill_once(self, folder, chance):
        recorder = Recorder(folder)
        sender = Sender(recorder.port, chance.randint(1, 1500))
        try:
            sender.start()
            self.assertTrue(sender.reached.wait(PATIENCE_S))
            live, _ = listed(folder) if chance.random() < 0.5 else ([], "")
            recorder.process.send_signal(signal.SIGKILL)
            recorder.process.wait(PATIENCE_S)
        finally:
            sender.join()
            recorder.end()
        killed, end = listed(folder)
        # A prefix without a hole: the first datagram, and each one after it.
        self.assertEqual(killed, [datagram(number) for number in range(len(killed))])
        self.assertLessEqual(len(killed), sender.sent)
        self.assertGreaterEqual(len(killed), len(live))
        self.assertIn("was killed", end)
        # The next recorder has the same, and continues.
        second = Recorder(folder)
        try:
            last = int(re.search(r"after record (\d+)", end).group(1))
            self.assertIn(f"from record {last + 1} on", second.line_with("recording to"))
            expect(second.stop())
        finally:
            second.end()
        again, end = listed(folder)
        self.assertEqual(again, killed)
        self.assertIn("ended in order", end)
        expect(run("store", "verify", folder + "/recording"))


if __name__ == "__main__":
    unittest.main()
