"""examples/market_maker.cpp: the same program on a recording and live, where its orders reach a FIX session."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from market_test import metadata, record
from support import PATIENCE_S, fix

PROGRAM = os.environ["NFX_MARKET_MAKER"]
NANO = 10**9
START = 1_700_000_000 * NANO


def day(moves):
    """A market of two orders whose middle moves by a cent with each step, and trades that reach the maker's quotes."""
    content, order, middle = metadata(2), 1, 12000
    for step in range(moves):
        at = START + step * NANO
        middle += (1, 1, -1, 2, -3)[step % 5]
        for side, cents in (("B", middle - 10), ("A", middle + 10)):
            content += record("A", side, order, cents * NANO // 100, 20, time=at)
            order += 1
        # An order that crosses the quotes rests for a moment, and everything is gone again.
        cents, side = (middle - 5, "A") if step % 2 else (middle + 5, "B")
        content += record("A", side, order, cents * NANO // 100, 5, time=at + NANO // 2)
        content += record("C", side, order, cents * NANO // 100, 5, time=at + NANO // 2 + 1000)
        order += 1
        for gone in (order - 3, order - 2):
            content += record("C", "BA"[gone == order - 2], gone, 0, 20, time=at + NANO - 1)
    return content


class MarketMaker(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def backtest(self, content):
        file = self.folder / "day.dbn"
        file.write_bytes(content)
        return subprocess.run([PROGRAM, "--backtest", file, "7"], capture_output=True, text=True, timeout=PATIENCE_S,
                              check=False)

    def test_a_backtest_gives_the_same_orders_each_time(self):
        first, second = self.backtest(day(200)), self.backtest(day(200))
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        counts = dict(re.findall(r"nfx_orders_sent_total (\w+) (\d+)", first.stdout))
        self.assertGreater(int(counts["place"]), 10, first.stdout)
        position = int(re.search(r"position (-?\d+)", first.stdout).group(1))
        self.assertLessEqual(abs(position), 60, "the quoter stops at 50, with ten in each quote")
        self.assertNotIn("unknown_fills", first.stdout)

    def test_a_recording_that_ends_early_is_an_error(self):
        self.assertEqual(self.backtest(day(5)[:-1]).returncode, 1)

    def test_its_orders_reach_a_session(self):
        with socket.socket() as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as feed:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            listener.settimeout(PATIENCE_S)
            feed.bind(("127.0.0.1", 0))
            line = feed.getsockname()[1]
            feed.close()
            config = self.folder / "maker.toml"
            config.write_text(f"""
[[session]]
role = "initiator"
begin_string = "FIX.4.4"
sender_comp_id = "MAKER"
target_comp_id = "VENUE"
connect = "127.0.0.1:{listener.getsockname()[1]}"
store = "memory"
""")
            maker = subprocess.Popen([PROGRAM, config, f"127.0.0.1:{line}", "7", "ALFA"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            try:
                orders = self.orders_of(listener, line)
            finally:
                maker.send_signal(signal.SIGTERM)
                out, err = maker.communicate(timeout=PATIENCE_S)
            self.assertEqual(maker.returncode, 0, err)
            self.assertIn(b"\x0155=ALFA\x01", orders)
            # The middle of 119.90 and 120.10, moved towards the side whose newest order is not there yet.
            self.assertRegex(orders, rb"\x0144=0000(119\.9|120\.0)")
            self.assertIn("nfx_orders_sent_total place", out)

    def orders_of(self, listener, line):
        """Answers the Logon, and moves the market until an order comes."""
        session, _ = listener.accept()
        with session, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as feed:
            session.settimeout(PATIENCE_S)
            logon = session.recv(4096)
            self.assertIn(b"\x0135=A\x01", logon)
            now = time.strftime("%Y%m%d-%H:%M:%S.000", time.gmtime())
            session.sendall(fix([(35, "A"), (34, 1), (49, "VENUE"), (56, "MAKER"), (52, now), (98, 0), (108, 30)]))
            feed.sendto(metadata(2), ("127.0.0.1", line))
            received, order, session_end = b"", 1, time.monotonic() + PATIENCE_S
            session.settimeout(0.05)
            while b"\x0135=D\x01" not in received:
                self.assertLess(time.monotonic(), session_end, received)
                at = time.time_ns()
                records = b"".join(record("A", side, order + i, cents * NANO // 100, 20, time=at)
                                   for i, (side, cents) in enumerate((("B", 11990), ("A", 12010))))
                feed.sendto(records, ("127.0.0.1", line))
                order += 2
                try:
                    received += session.recv(65536)
                except TimeoutError:
                    continue
            return received


if __name__ == "__main__":
    unittest.main()
