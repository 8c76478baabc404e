"""examples/threads.cpp with desk.cpp: results of what three threads submit, also while nobody is logged on."""
import re
import subprocess
import unittest

from examples_support import BUILT, ExampleTest, Venue
from support import PATIENCE_S


class Threads(ExampleTest):
    def test_every_thread_gets_its_results(self):
        desk = self.serve("desk", self.config("desk.toml", 0))
        traders = self.connect("threads", "trader.toml", desk.port)
        seen, ticket_of, sent, confirmed = "", {}, set(), set()
        # A thread may be preempted between submit() and its line, so that "confirmed" comes first.
        complete = set()
        while {order[0] for order in complete} != {"1", "2", "3"}:
            line = traders.line_with("")
            seen += line
            self.assertLess(seen.count("\n"), 3000, seen)
            if match := re.fullmatch(r"ticket (\d+) is order (\d-\d+)\n", line):
                ticket_of[match[2]] = match[1]
            elif match := re.fullmatch(r"ticket (\d+) sent as message \d+\n", line):
                sent.add(match[1])
            elif match := re.fullmatch(r"confirmed (\d-\d+)\n", line):
                confirmed.add(match[1])
            else:
                self.assertRegex(line, r"^(logged on|order \d-\d+ refused: .*)\n$")
            complete = {order for order in confirmed if ticket_of.get(order) in sent}
        self.stop(traders)
        self.stop(desk)

    def test_orders_are_refused_while_nobody_is_logged_on_and_sent_afterwards(self):
        venue = Venue("DESK", "TRADER")
        self.addCleanup(venue.close)
        traders = self.connect("threads", "trader.toml", venue.port)
        traders.line_with("refused: the session is not logged on")
        peer = venue.accept()
        self.addCleanup(peer.close)
        orders = {int(order["34"]): order["11"] for order in (peer.receive_kind("D") for _ in range(12))}
        self.assertEqual(sorted(orders), list(orders), "one sequence for all threads")
        self.assertEqual(len(set(orders.values())), 12)
        venue.close()
        peer.close()
        traders.line_with("ended: ")
        traders.line_with("refused: the session is not logged on")
        self.stop(traders)

    def test_errors_are_one_line(self):
        for arguments, line in (([], "usage: threads CONFIG"), (["missing.toml"], "threads: .*missing.toml.*")):
            done = subprocess.run([BUILT / "threads", *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"^{line}\n$")


if __name__ == "__main__":
    unittest.main()
