"""examples/signed_logon.cpp: both sides as processes, with HMAC-SHA256 and Ed25519; a relay between them changes one bit of
what is signed."""
import os
import shutil
import sys
import tempfile
import unittest

from signed_logon_support import Sides, flip
from support import PATIENCE_S


class SignedLogon(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sides = Sides(os.environ["NFX_SIGNED_LOGON"], folder.name)
        self.addCleanup(self.sides.end)

    def test_both_sides_agree(self):
        for kind in ("hmac", "ed25519"):
            with self.subTest(kind):
                venue, trader = self.sides.both(kind)
                self.assertEqual(self.sides.line(trader.stdout, trader), "TRADER: logged on\n")
                self.assertEqual(self.sides.line(venue.stdout, venue), "VENUE: logged on\n")
                trader.kill()
                venue.kill()
                venue.wait()

    def test_one_bit_is_enough_to_be_refused(self):
        for kind in ("hmac", "ed25519"):
            for name, field in (("signature", b"\x0196="), ("SendingTime", b"\x0152=")):
                with self.subTest(kind, field=name):
                    venue, trader = self.sides.both(kind, lambda logon, field=field: flip(logon, field))
                    self.assertIn("refused by the application", self.sides.line(venue.stderr, venue))
                    trader.kill()
                    venue.kill()
                    venue.wait()

    def test_a_public_key_cannot_sign(self):
        public, _ = self.sides.keys("ed25519")
        trader = self.sides.start("initiator", "TRADER", "VENUE", f'connect = "127.0.0.1:{self.sides.port}"', public)
        self.sides.start("acceptor", "VENUE", "TRADER", f'listen = "127.0.0.1:{self.sides.port}"', public)
        self.assertEqual(self.sides.line(trader.stdout, trader), "TRADER: the Logon cannot be signed with this key\n")

    def test_a_file_without_a_key_is_an_error(self):
        empty = self.sides.folder / "empty"
        empty.touch()
        process = self.sides.start("initiator", "TRADER", "VENUE", 'connect = "127.0.0.1:1"', empty)
        self.assertIn("no key in this file", process.communicate(timeout=PATIENCE_S)[1])
        self.assertEqual(process.returncode, 2)


if __name__ == "__main__":
    if not shutil.which("openssl"):
        print("skipped: the command openssl (package openssl) is not here")
        sys.exit(77)
    unittest.main()
