"""nfx market publish, live and replay: a subscriber's books are the venue's, and every replay of its recording has the
same books after every some events. One process each, over sockets of this host: ITCH by multicast with lost packets, a
websocket with and without TLS, and a FIX session."""
import json
import os
import re
import shutil
import socket
import subprocess
import unittest

from support import PROGRAM, FolderTest, Running, expect, run

REPLAYS = 20
BOOKS = re.compile(r"books ([0-9a-f]{16})")


class Venue(Running):
    def __init__(self, *options):
        super().__init__(PROGRAM, "market", "publish", *options)

    def books(self):
        return BOOKS.search(self.line_with("published; books")).group(1)


class Subscriber(Running):
    """nfx market live, whose output is read line by line."""

    def __init__(self, *options):  # pylint: disable=super-init-not-called
        self.process = subprocess.Popen([PROGRAM, "market", "live", *map(str, options)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = []

    def wait_for_books(self, books):
        """All lines up to the one with them: line_with() fails at the end of the output."""
        while not self.lines or not re.search(f", (live|ended): books {books}", self.lines[-1]):
            self.lines.append(self.line_with(""))


def hashes(text):
    """After every thousand events."""
    return re.findall(r"^(\d+) events: books ([0-9a-f]{16})$", text, re.MULTILINE)


class Live(FolderTest):
    def venue(self, *options):
        venue = Venue(*options)
        self.addCleanup(venue.end)
        return venue

    def subscriber(self, *options):
        subscriber = Subscriber(*options, "--record", self.folder / "recording", "--ring-directory", self.folder,
                                "--every", "1000", "--max-lag-ms", "0")
        self.addCleanup(subscriber.end)
        return subscriber

    def check(self, feed, venue, subscriber):
        """Both have the same books, and so has every replay."""
        books = venue.books()
        subscriber.wait_for_books(books)
        out, _ = expect(subscriber.stop())
        self.assertEqual(venue.stop()[0], 0)
        live = hashes("".join(subscriber.lines) + out)
        self.assertGreater(len(live), 3)
        at_end = BOOKS.findall(out)[-1]
        for _ in range(REPLAYS):
            replayed, _ = expect(run("market", "replay", str(self.folder / "recording"), "--ring-directory",
                                      str(self.folder), "--feed", feed, "--every", "1000"))
            self.assertEqual(hashes(replayed), live)
            self.assertEqual(BOOKS.findall(replayed)[-1], at_end)
        return out

    def itch_lines(self):
        """Two groups with ports that are free now, by a receiver that ends at once."""
        groups = {name: f"239.254.{os.getpid() % 250 + 1}.{number}" for number, name in enumerate("AB", 1)}
        probe = Subscriber("--feed", "itch", *[word for name, group in groups.items()
                                               for word in ("--line", f"{name}={group}:0@lo")])
        try:
            ports = [re.search(r":(\d+)@lo", probe.line_with(f"line {name} listens on")).group(1) for name in "AB"]
        finally:
            probe.end()
        return [f"{name}={groups[name]}:{port}@lo" for name, port in zip("AB", ports)]

    def test_itch_with_lost_repeated_and_reordered_packets(self):
        lines = self.itch_lines()
        venue = self.venue("--feed", "itch", "--line", lines[0], "--line", lines[1], "--messages", "30000", "--names",
                           "20", "--rate", "15000", "--lost", "500", "--duplicated", "100", "--reordered", "100")
        snapshots = re.search(r":(\d+)$", venue.line_with("snapshots: listens on").strip()).group(1)
        subscriber = self.subscriber("--feed", "itch", "--line", lines[0], "--line", lines[1], "--rerequest",
                                     f"127.0.0.1:{venue.port}", "--snapshot", f"127.0.0.1:{snapshots}", "--metrics",
                                     self.folder / "metrics")
        self.check("itch", venue, subscriber)
        metrics = (self.folder / "metrics").read_text(encoding="utf-8")
        self.assertRegex(metrics, r'nfx_mold_messages_total\{feed="itch"\} [1-9]')
        self.assertRegex(metrics, r'nfx_udp_datagrams_total\{feed="itch",line="B"\} [1-9]')
        self.assertRegex(metrics, r'nfx_recording_records_total\{feed="itch"\} [1-9]')

    def websocket(self, *venue_options, scheme="ws", options=()):
        venue = self.venue("--feed", "ws", "--messages", "4000", "--rate", "4000", *venue_options)
        names = venue.first_line.split("names:")[1].split()
        url = f"{scheme}://localhost:{venue.port}"
        chosen = [word for name in names for word in ("--name", name)]
        subscriber = self.subscriber("--feed", "ws", "--url", url, *chosen, *options)
        return self.check("ws", venue, subscriber)

    def test_websocket(self):
        out = self.websocket()
        # What was recorded is published again: another subscriber gets the same books.
        venue = self.venue("--feed", "ws", "--recording", str(self.folder / "recording"), "--ring-directory",
                           str(self.folder), "--rate", "4000")
        names = venue.first_line.split("names:")[1].split()
        chosen = [word for name in names for word in ("--name", name)]
        again = Subscriber("--feed", "ws", "--url", f"ws://localhost:{venue.port}", *chosen, "--max-lag-ms", "0")
        self.addCleanup(again.end)
        again.line_with(f"live: books {BOOKS.findall(out)[-1]}")
        self.assertEqual(again.stop()[0], 0)

    def test_websocket_subscribed_by_a_message(self):
        self.websocket(options=("--subscribe", "--metrics", self.folder / "metrics"))
        metrics = (self.folder / "metrics").read_text(encoding="utf-8")
        self.assertIn('nfx_json_feed_messages_total{feed="ws",kind="answer"} 1\n', metrics)
        self.assertIn('nfx_json_feed_messages_total{feed="ws",kind="refusal"} 0\n', metrics)

    def test_websocket_with_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("the openssl command is missing")
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        self.websocket("--certificate", str(certificate), "--key", str(key), scheme="wss",
                       options=("--ca", certificate))

    def test_fix(self):
        venue = self.venue("--feed", "fix", "--messages", "4000", "--rate", "4000")
        names = venue.first_line.split("names:")[1].split()
        chosen = [word for name in names for word in ("--name", name)]
        subscriber = self.subscriber("--feed", "fix", "--url", f"127.0.0.1:{venue.port}", *chosen)
        self.check("fix", venue, subscriber)

    def test_after_a_kill_the_recording_has_the_books_up_to_there(self):
        venue = self.venue("--feed", "fix", "--messages", "1000000", "--rate", "5000")
        names = venue.first_line.split("names:")[1].split()
        chosen = [word for name in names for word in ("--name", name)]
        subscriber = self.subscriber("--feed", "fix", "--url", f"127.0.0.1:{venue.port}", *chosen)
        subscriber.lines.append(subscriber.line_with("5000 events: books"))
        subscriber.process.kill()
        out, _ = subscriber.process.communicate()
        live = hashes("".join(subscriber.lines) + out)
        replayed = run("market", "replay", str(self.folder / "recording"), "--ring-directory", str(self.folder),
                       "--feed", "fix", "--every", "1000")
        self.assertEqual(replayed[0], 0, replayed[1] + replayed[2])
        self.assertIn("was killed", replayed[1])
        # An input is recorded before it is used.
        self.assertEqual([each for each in hashes(replayed[1]) if each in live], live)

    def test_json_has_states_counters_and_best_prices(self):
        venue = self.venue("--feed", "fix", "--messages", "500", "--rate", "5000")
        names = venue.first_line.split("names:")[1].split()
        chosen = [word for name in names for word in ("--name", name)]
        subscriber = Subscriber("--feed", "fix", "--url", f"127.0.0.1:{venue.port}", *chosen, "--json")
        self.addCleanup(subscriber.end)
        books = venue.books()
        subscriber.error_with(f"live: books {books}")
        out, _ = expect(subscriber.stop())
        document = json.loads(out)
        self.assertEqual(document["feed"], "fix")
        counters = {entry["name"]: entry["value"] for entry in document["counters"]}
        self.assertGreater(counters["nfx_feed_events_total"], 0)
        self.assertEqual(counters["nfx_feed_misfits_total"], 0)
        self.assertEqual(set(document["instruments"]), set(names))
        self.assertEqual(venue.stop()[0], 0)

    def test_a_venue_prints_where_it_listens(self):
        for feed in ("ws", "fix"):
            venue = self.venue("--feed", feed, "--listen", "localhost:0")
            self.assertIn(f"listens on localhost:{venue.port}; names:", venue.first_line)
            venue.stop()

    def test_a_venue_ends_although_a_subscriber_does_not_read(self):
        venue = self.venue("--feed", "ws", "--messages", "40000", "--rate", "60000", "--names", "1")
        name = venue.first_line.split("names:")[1].strip().lower()
        with socket.socket() as subscriber:
            subscriber.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            subscriber.connect(("127.0.0.1", venue.port))
            subscriber.sendall(f"GET /stream?streams={name}@depth/{name}@trade HTTP/1.1\r\nHost: venue\r\n"
                               "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
            venue.books()
            code, out, err = venue.stop()
        self.assertEqual(code, 0, out + err)
        self.assertIn("1 subscribers, 0 of them too slow", out)

    def test_names_wrong_options_with_the_fix(self):
        def refused(expected, *options):
            expect(run("market", *options), code=2, err=expected)

        refused("one or two lines", "live", "--feed", "itch")
        refused("has no name", "live", "--feed", "itch", "--line", "127.0.0.1:0")
        refused('duplicate name "A"', "live", "--feed", "itch", "--line", "A=127.0.0.1:0", "--line",
                "A=127.0.0.1:0")
        refused("--url wss://", "live", "--feed", "ws", "--name", "A")
        refused("is not an address", "live", "--feed", "ws", "--name", "A", "--url", "http://localhost")
        refused("--name", "live", "--feed", "fix", "--url", "127.0.0.1:1")
        refused("HOST:PORT", "live", "--feed", "fix", "--name", "A", "--url", "here")
        for feed, url in (("fix", "127.0.0.1:1"), ("ws", "ws://127.0.0.1:1")):
            refused('duplicate symbol "B"', "live", "--feed", feed, "--name", "A", "--name", "B", "--name",
                    "B", "--url", url)
            refused("longer than 31 characters", "live", "--feed", feed, "--name", "A" * 32, "--url", url)
        refused("one or two lines", "publish", "--feed", "itch")


if __name__ == "__main__":
    unittest.main()
