"""examples/groups.cpp: both ends with each other, each end's messages on the wire, and groups that are wrong."""
import unittest

from examples_support import ExampleTest, Venue, values
from peer import Peer

ORDER = [(11, "a"), (54, "B"), (60, "20240102-12:00:00"), (40, 1), (38, 10)]


def body(fields):
    """Without the header, the time and the trailer."""
    return [field for field in fields if field.split("=")[0] not in ("8", "9", "35", "34", "49", "56", "52", "60", "10")]


class Groups(ExampleTest):
    def client(self):
        acceptor = self.serve("groups", self.config("desk.toml", 0))
        client = Peer(acceptor.port, "TRADER", "DESK")
        self.addCleanup(client.close)
        client.log_on()
        return acceptor, client

    def test_both_ends(self):
        acceptor = self.serve("groups", self.config("desk.toml", 0))
        initiator = self.connect("groups", "trader.toml", acceptor.port)
        for line in ("ALFA BID 9.95", "ALFA OFFER 10.05", "BETA BID 20.10", "BETA OFFER 20.20"):
            self.assertEqual(initiator.line_with(""), line + "\n")
        for line in ("ALFA side 1, ratio 1", "  7 for pension", "  3 for growth", "  cleared by CLEARER", "BETA side 2, ratio 1",
                     "  7 for pension", "  3 for growth", "  cleared by CLEARER"):
            self.assertEqual(acceptor.line_with(""), line + "\n")
        self.assertEqual(initiator.line_with(""), "confirmed: spread-1\n")
        self.stop(initiator)
        self.stop(acceptor)

    def test_what_the_initiator_sends(self):
        venue = Venue("DESK", "TRADER")
        self.addCleanup(venue.close)
        self.connect("groups", "trader.toml", venue.port)
        peer = venue.accept()
        self.addCleanup(peer.close)
        self.assertEqual(body(peer.receive_fields()), ["262=1", "263=0", "264=1", "267=2", "269=0", "269=1", "146=2", "55=ALFA",
                                                       "55=BETA"])
        peer.send("W", (262, 1), (55, "BETA"), (268, 2), (269, 0), (270, "1.5"), (271, 7), (269, 1), (270, "1.6"))
        allocs = ["670=2", "671=pension", "673=7", "671=growth", "673=3", "539=1", "524=CLEARER", "525=D", "538=4"]
        self.assertEqual(body(peer.receive_fields()),
                         ["11=spread-1", "54=B", "40=1", "38=10", "555=2", "600=ALFA", "623=1", "624=1", *allocs, "600=BETA",
                          "623=1", "624=2", *allocs])

    def test_what_the_acceptor_sends(self):
        _, client = self.client()
        client.send("V", (262, "r"), (263, 0), (264, 1), (267, 1), (269, 1), (146, 2), (55, "NONE"), (55, "BETA"))
        reject = client.receive_fields()
        self.assertIn("35=Y", reject)
        self.assertEqual(body(reject), ["262=r", "281=0", "58=NONE"])
        self.assertEqual(body(client.receive_fields()), ["262=r", "55=BETA", "268=1", "269=1", "270=20.20"])

    def test_a_wrong_count_is_rejected_also_of_a_group_in_a_group(self):
        acceptor, client = self.client()
        client.send("AB", *ORDER, (555, 2), (600, "A"), (624, 1))
        self.assertEqual(values(client.receive(), "35", "371", "373"), ["3", "555", "16"])
        client.send("AB", *ORDER, (555, 1), (600, "A"), (670, 3), (671, "x"), (671, "y"))
        self.assertEqual(values(client.receive(), "35", "371", "373"), ["3", "670", "16"])
        client.send("AB", *ORDER, (555, 1), (600, "A"), (624, 1))
        self.assertEqual(client.receive()["11"], "a")
        self.assertEqual(acceptor.line_with(""), "A side 1, ratio none\n")


if __name__ == "__main__":
    unittest.main()
