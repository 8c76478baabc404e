"""examples/custom_dictionary: the lines of its comment by nfx connect, and messages that its dictionary does not allow."""
import re
import unittest

from examples_support import EXAMPLES, ExampleTest, values
from peer import Peer
from support import expect, run

FOLDER = "custom_dictionary"
SOURCE = (EXAMPLES / FOLDER / "custom_dictionary.cpp").read_text(encoding="utf-8")
ORDER = [(11, "a"), (55, "ALFA"), (54, 1), (38, 100), (40, 1), (60, "20240102-12:00:00")]


class CustomDictionary(ExampleTest):
    def setUp(self):
        super().setUp()
        (self.folder / "venue.xml").write_text((EXAMPLES / FOLDER / "venue.xml").read_text(encoding="utf-8"), encoding="utf-8")
        self.venue = self.serve(f"{FOLDER}/{FOLDER}", self.config(f"{FOLDER}/venue.toml", 0))

    def client(self):
        client = Peer(self.venue.port, "TRADER", "VENUE")
        self.addCleanup(client.close)
        client.log_on()
        return client

    def test_the_lines_of_its_comment(self):
        lines = "\n".join(re.findall(r"^//     (35=.*)$", SOURCE, re.MULTILINE)) + "\n"
        config = self.config(f"{FOLDER}/trader.toml", self.venue.port)
        out, _ = expect(run("connect", str(config), "--wait", "1", data=lines.encode()))
        self.assertRegex(out, r"ClOrdID=first .*OrdStatus=0\(NEW\)")
        self.assertRegex(out, r"PauseReport .*PauseAction=1\(PAUSE\) OrdersSoFar=1")
        self.assertRegex(out, r"ClOrdID=second .*OrdStatus=8\(REJECTED\)")
        self.assertRegex(out, r"ClOrdID=third .*OrdStatus=0\(NEW\).*OrderUrgency=H\(HIGH\)")
        self.stop(self.venue)

    def test_what_is_on_the_wire(self):
        client = self.client()
        client.send("U1", (9002, 1))
        report = client.receive()
        self.assertEqual(values(report, "35", "9002", "9003"), ["U2", "1", "0"])
        for urgency, status in (([(9001, "N")], "8"), ([(9001, "H")], "0"), ([], "8")):
            client.send("D", *ORDER, *urgency)
            report = client.receive()
            self.assertEqual([report["35"], report["39"], report.get("58"), report.get("9001")],
                             ["8", status, "orders are paused" if status == "8" else None, urgency[0][1] if urgency else None])
        client.send("U1", (9002, 2))
        self.assertEqual(client.receive()["9003"], "3")

    def test_the_dictionary_rejects(self):
        client = self.client()
        for kind, fields, tag, reason in (("U1", [], "9002", "1"), ("U1", [(9002, 3)], "9002", "5"),
                                          ("D", [*ORDER, (9001, "X")], "9001", "5")):
            client.send(kind, *fields)
            reject = client.receive()
            self.assertEqual(values(reject, "35", "371", "373"), ["3", tag, reason])
        client.send("U3")  # a type that is not in it
        self.assertEqual(values(client.receive(), "35", "372", "373"), ["3", "U3", "11"])


if __name__ == "__main__":
    unittest.main()
