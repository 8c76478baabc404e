"""examples/initiator.cpp against a venue that fills, rejects, disconnects, and misses an order; and against desk.cpp."""
import unittest

from examples_support import ExampleTest, Venue, values
from support import free_port


class Initiator(ExampleTest):
    def trade(self, *lines):
        """The venue's connection and the order that it has received."""
        self.venue = Venue("DESK", "TRADER")
        self.addCleanup(self.venue.close)
        self.trader = self.connect("initiator", "initiator.toml", self.venue.port, *lines)
        peer = self.accept()
        order = peer.receive_kind("D")
        self.line = f"order {order['11']}: "
        return peer, order

    def accept(self, number=1):
        peer = self.venue.accept(number)
        self.addCleanup(peer.close)
        return peer

    @staticmethod
    def report(peer, order, kind, status, filled):
        peer.send("8", (37, "v1"), (17, f"e{peer.next}"), (150, kind), (39, status), (11, order["11"]), (55, "ALFA"), (54, 1),
                  (151, 100 - filled), (14, filled), (6, 0))

    def kinds_until(self, peer, kind):
        kinds = []
        while not kinds or kinds[-1] != kind:
            kinds.append(peer.receive()["35"])
        return kinds

    def test_the_order_is_followed_to_its_end(self):
        peer, order = self.trade()
        self.assertEqual(values(order, "34", "55", "54", "38", "40", "44"), ["2", "ALFA", "1", "100", "2", "12.50"])
        for kind, status, filled, text in (("0", 0, 0, "NEW, filled 0"), ("F", 1, 40, "PARTIALLY_FILLED, filled 40"),
                                           ("F", 2, 100, "FILLED, filled 100"), ("F", 2, 100, "not an open order of ours")):
            self.report(peer, order, kind, status, filled)
            self.trader.line_with(self.line + text)

    def refuse(self, kind, *fields):
        peer, order = self.trade()
        peer.send(kind, (45, order["34"]), (58, "no such price"), *fields)
        self.trader.line_with(self.line + "refused: no such price")
        peer.close()
        self.trader.line_with("order all: 0 open")
        again = self.accept(peer.next)
        again.send("1", (112, "nothing is asked"))
        self.assertEqual(self.kinds_until(again, "0"), ["0"])

    def test_a_reject_ends_the_order_that_it_names(self):
        self.refuse("3", (373, 5), (371, 44))

    def test_a_business_reject_ends_the_order_that_it_names(self):
        self.refuse("j", (372, "D"), (380, 2))

    def test_a_reject_of_another_message_leaves_the_order_open(self):
        peer, order = self.trade()
        self.report(peer, order, "0", 0, 0)
        self.trader.line_with("NEW")
        peer.send("j", (45, order["34"]), (372, "D"), (380, 0), (58, "too late"))
        self.trader.line_with("order none: a message was refused: too late")
        self.report(peer, order, "F", 2, 100)
        self.trader.line_with(self.line + "FILLED")

    def test_after_a_disconnect_it_asks_for_the_state(self):
        peer, order = self.trade()
        self.report(peer, order, "0", 0, 0)
        self.trader.line_with("NEW")
        peer.close()
        self.trader.line_with("order all: 1 open, session ended")
        again = self.accept(peer.next)
        self.assertEqual(again.logon["34"], "3")
        self.assertNotIn("141", again.logon)
        request = again.receive_kind("H")
        self.assertEqual(values(request, "11", "55", "54"), [order["11"], "ALFA", "1"])
        self.report(again, order, "I", 1, 60)
        self.trader.line_with(self.line + "PARTIALLY_FILLED, filled 60")
        again.send("1", (112, "bought once"))
        self.assertEqual(self.kinds_until(again, "0"), ["0"])

    def test_an_order_that_the_venue_missed_is_not_sent_late(self):
        peer, order = self.trade()
        peer.close()
        again = self.accept(peer.next)
        again.receive_kind("H")
        again.send("2", (7, 2), (16, 0))  # it never got the order
        self.trader.line_with(self.line + "missed by the venue, and not sent again")
        self.assertEqual(self.kinds_until(again, "H"), ["4", "H"])
        self.report(again, order, "I", 8, 0)
        self.trader.line_with(self.line + "not an open order of ours")
        again.close()
        self.trader.line_with("order all: 0 open")

    def test_a_connection_that_stays_lost_is_an_alarm(self):
        peer, _ = self.trade("cancel_delay_ms = 20")
        self.venue.close()
        peer.close()
        self.trader.line_with(self.line + "cannot be cancelled from here")

    def test_the_commands_of_its_comment(self):
        port = free_port()
        desk = self.serve("desk", self.config("desk.toml", port))
        trader = self.connect("initiator", "initiator.toml", port)
        trader.line_with("NEW, filled 0")
        self.stop(desk)
        trader.line_with("order all: 1 open")
        desk = self.serve("desk", self.folder / "desk.toml")
        trader.line_with("state requested")
        trader.line_with("order none: a message was refused: this program does not take messages of this type")
        self.stop(trader)
        self.stop(desk)


if __name__ == "__main__":
    unittest.main()
