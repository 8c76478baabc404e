"""examples/market_maker.cpp: one program live at the demonstration's venue, by FIX, and on what it recorded there."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

from market_live_test import Venue
from support import PATIENCE_S, FolderTest

PROGRAM = os.environ["NFX_MARKET_MAKER"]
EXAMPLE = (pathlib.Path(__file__).parents[2] / "examples/market_maker.toml").read_text()
ORDER = re.compile(r"^\d+ (?:place|replace|cancel) (?:bid|ask|none) -?\d+ x \d+$", re.MULTILINE)


class MarketMaker(FolderTest):
    def trade(self):
        """What it prints after 3,000 steps of the venue, which it records."""
        venue = Venue("--feed", "fix", "--messages", "3000", "--rate", "3000")
        self.addCleanup(venue.end)
        config = self.folder / "maker.toml"
        config.write_text(EXAMPLE.replace("9880", str(venue.port)))
        maker = subprocess.Popen([PROGRAM, config, "ALFA", self.folder / "day"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        try:
            venue.books()
        finally:
            maker.send_signal(signal.SIGTERM)
            out, err = maker.communicate(timeout=PATIENCE_S)
        self.assertEqual(maker.returncode, 0, out + err)
        return out

    def backtest(self, folder):
        return subprocess.run([PROGRAM, "--backtest", folder, "ALFA"], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)

    def test_trades_and_backtests_what_it_recorded(self):
        live = self.trade()
        self.assertGreater(len(ORDER.findall(live)), 20, live)
        self.assertNotIn("unknown orders", live)
        position = int(re.search(r"position (-?\d+)", live).group(1))
        self.assertLessEqual(abs(position), 60, "the quoter stops at 50, with ten in each quote")
        first, second = self.backtest(self.folder / "day"), self.backtest(self.folder / "day")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        self.assertGreater(len(ORDER.findall(first.stdout)), 20, first.stdout)
        self.assertIn("the recorder ended in order", first.stdout)

    def test_a_configuration_of_two_sessions_is_an_error(self):
        config = self.folder / "two.toml"
        config.write_text(EXAMPLE + EXAMPLE.replace("MAKER", "OTHER"))
        refused = subprocess.run([PROGRAM, config, "ALFA"], capture_output=True, text=True, timeout=PATIENCE_S,
                                 check=False)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("the configuration has 2", refused.stderr)

    def test_a_folder_without_a_recording_is_an_error(self):
        self.assertEqual(self.backtest(self.folder / "nothing").returncode, 1)


if __name__ == "__main__":
    unittest.main()
