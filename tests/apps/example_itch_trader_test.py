"""examples/itch_trader.cpp: a publisher's multicast in, orders to an acceptor out, and what is open canceled at the end."""
import os
import socket
import struct
import unittest

from examples_support import ExampleTest, Venue
from support import PATIENCE_S, PROGRAM, Process


def loopback_takes_multicast(group):
    """Not in every container."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        try:
            receiver.bind((group, 0))
            receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                                struct.pack("4s4s", socket.inet_aton(group), socket.inet_aton("127.0.0.1")))
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            receiver.settimeout(5)
            sender.sendto(b"x", (group, receiver.getsockname()[1]))
            return receiver.recv(1) == b"x"
        except OSError:
            return False


class ItchTrader(ExampleTest):
    def test_orders_follow_the_multicast_and_are_canceled_at_the_end(self):
        group = f"239.254.{os.getpid() % 250 + 1}"
        if not loopback_takes_multicast(group + ".3"):
            self.skipTest("the loopback interface of this host takes no multicast")
        lines = [f"{name}={group}.{number}:{20000 + os.getpid() % 10000}@lo" for number, name in enumerate("AB", 1)]
        desk = Venue("DESK", "TRADER")
        self.addCleanup(desk.close)
        trader = self.start("itch_trader", self.config("trader.toml", desk.port), "AAAA", *lines)
        peer = desk.accept()
        self.addCleanup(peer.close)
        publisher = Process(PROGRAM, "market", "publish", "--feed", "itch", "--line", lines[0], "--line", lines[1],
                            "--names", "3", "--messages", "1000000", "--rate", "3000")
        self.addCleanup(publisher.end)
        order = peer.receive_kind("D")
        self.assertEqual((order["55"], order["38"]), ("AAAA", "0000001"))
        peer.send("8", (37, 1), (17, 1), (150, 0), (39, 0), (11, order["11"]), (55, "AAAA"), (54, order["54"]),
                  (151, 1), (14, 0), (6, 0))
        trader.process.terminate()
        cancel = peer.receive_kind("F")
        self.assertEqual(cancel["41"], order["11"])
        peer.send("8", (37, 1), (17, 2), (150, 4), (39, 4), (11, cancel["11"]), (41, order["11"]), (55, "AAAA"),
                  (54, order["54"]), (151, 0), (14, 0), (6, 0))
        peer.receive_kind("5")
        peer.send("5")
        out, err = trader.process.communicate(timeout=PATIENCE_S)
        self.assertEqual(trader.process.returncode, 0, out + err)
        self.assertIn("orders: 1 new, 0 replaced, 1 canceled", out)


if __name__ == "__main__":
    unittest.main()
