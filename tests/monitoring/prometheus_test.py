"""A real Prometheus scrapes a real nfx serve over loopback. A fault is planted for each alert, which then fires; the 99th
percentile is that of the session; and every query of the dashboard is answered."""
import json
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "apps"))
# pylint: disable=wrong-import-position
from peer import Peer
from support import Server, free_port, run
import rules

# For one state of a process on a loaded machine; nothing waits for it to pass.
PATIENCE_S = 600
TOKEN = "t" * 40
# SLOW's peer does not read, so the buffers of sockets are small: those that share an address share these too.
SESSIONS = ("GOOD", "ABSENT", "CLOSED", "BAD", "FLAPPING", "SLOW", "STORED")
SETTINGS = """[engine]
max_message_size = 16384
[control]
http = "127.0.0.1:{http}"
tokens = "tokens"
socket = "control.sock"
audit = "audit.log"
[log]
metrics_file = "nexusfix.prom"
metrics_period_s = 1
[defaults]
sender_comp_id = "NEXUSFIX"
listen = "127.0.0.1:0"
socket_send_buffer = 4096
max_invalid_rate = 0
store_ring_directory = "rings"
"""
SESSION = '[[session]]\ntarget_comp_id = "{name}"\n{more}'
# CLOSED is open for an hour of the day that begins in twelve.
CLOSED_FROM = (int(time.time()) // 3600 + 12) % 24
MORE = {"CLOSED": f'store = "memory"\nstart_time = "{CLOSED_FROM:02}:00:00"\nend_time = "{(CLOSED_FROM + 1) % 24:02}:00:00"\n',
        "SLOW": 'store = "memory"\ndictionary = "none"\n',
        "GOOD": 'store = "memory"\ndictionary = "none"\n',
        "STORED": 'store_directory = "store"\nsegment_size = 65536\nring_size = 65536\ndictionary = "none"\n'}


def config_of(http):
    return SETTINGS.format(http=http) + "".join(
        SESSION.format(name=name, more=MORE.get(name, 'store = "memory"\n')) for name in SESSIONS)


def session(name):
    return f"FIX.4.4:NEXUSFIX->{name}"


def get(url):
    """The JSON of an answer; None while there is none."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return json.loads(answer.read())
    except (OSError, urllib.error.URLError):
        return None


def until(what, condition):
    """The first true value of the condition, which is asked again and again."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)  # between two questions to another process
    raise AssertionError(f"{what}: not within {PATIENCE_S} s")


def problems_of_file(text):
    """What promtool does not take of a file of metrics; empty: nothing."""
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                            timeout=PATIENCE_S, check=False)
    return "" if result.returncode == 0 else result.stdout + result.stderr + "\n" + text


class Prometheus:
    """On a port of its own, with the real rules whose waiting times are short."""

    def __init__(self, folder, engine_port):
        self.folder = folder
        self.port = free_port()
        text = rules.ALERTS.read_text(encoding="utf-8")
        short, count = re.subn(r"^(        for:) \S+$", r"\1 1s", text, flags=re.MULTILINE)
        assert count == len(rules.alerts()), "an alert has no line with its waiting time"
        (folder / "alerts.yml").write_text(short, encoding="utf-8")
        (folder / "token").write_text(TOKEN, encoding="utf-8")
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [alerts.yml]\n"
            "scrape_configs:\n  - job_name: nexusfix\n    authorization: {credentials_file: token}\n"
            f'    static_configs: [{{targets: ["127.0.0.1:{engine_port}"]}}]\n', encoding="utf-8")
        with open(folder / "prometheus.log", "wb") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)

    def end(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return (self.folder / "prometheus.log").read_text(encoding="utf-8", errors="replace")[-3000:]

    def query(self, expression):
        """The samples, as pairs of labels and value."""
        if self.process.poll() is not None:
            raise AssertionError("Prometheus has ended: " + self.log())
        answer = get(f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        if answer is None:
            return []
        assert answer["status"] == "success", answer
        return [(sample["metric"], float(sample["value"][1])) for sample in answer["data"]["result"]]

    def fires(self, alert, **labels):
        """Whether it does for these labels now."""
        names = "".join(f',{name}="{value}"' for name, value in labels.items())
        return self.query(f'ALERTS{{alertname="{alert}",alertstate="firing"{names}}}')


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "prometheus").mkdir()
        tokens = self.folder / "tokens"
        tokens.write_text(f"viewer prometheus {TOKEN}\n", encoding="utf-8")
        tokens.chmod(0o600)
        self.http = free_port()
        # A write beyond a limit of the file's size is to be an error, as on a full disk, and not a signal.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.server = Server(self.folder, "--echo", "--messages", settings=config_of(self.http),
                             inherit_ignored_signals=True)
        self.addCleanup(self.server.end)
        self.prometheus = Prometheus(self.folder / "prometheus", self.http)
        self.addCleanup(self.prometheus.end)
        self.fired = set()

    def peer(self, name, **options):
        peer = Peer(self.server.port, sender=name, **options)
        self.addCleanup(peer.close)
        return peer

    def logged_on(self, name, **options):
        peer = self.peer(name, **options)
        self.assertIsNotNone(peer.log_on(), name)
        return peer

    def shown(self, name):
        code, out, err = run("session", "show", session(name), "--json", "--socket", str(self.folder / "control.sock"))
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def expect(self, alert, **labels):
        try:
            until(f"{alert} {labels} fires", lambda: self.prometheus.fires(alert, **labels))
        except AssertionError as error:
            metrics = sorted(rules.metrics_in(rules.alerts()[alert]) or {"up"})
            raise AssertionError(f"{error}; {[self.prometheus.query(metric) for metric in metrics]}; "
                                 f"{self.prometheus.log()}") from None
        self.fired.add(alert)

    def talk(self, peer, count, size):
        """So many orders, each answered before the next."""
        for number in range(count):
            peer.send("D", (11, number), (58, "x" * size))
            self.assertEqual(peer.receive_kind("D")["11"], str(number))

    def plant_slow_answers(self):
        """The peer reads nothing until answers wait in the engine, so that they leave late."""
        slow = self.logged_on("SLOW", receive_buffer=4096)
        sent = 0
        began = time.monotonic()

        def answers_wait():
            nonlocal sent
            if sent < 60:
                slow.send("D", (11, sent), (58, "x" * 4000))
                sent += 1
                return False
            return self.shown("SLOW")["pending_bytes"] > 50_000 and time.monotonic() - began > 0.1
        until("answers of SLOW wait", answers_wait)
        for number in range(sent):
            self.assertEqual(slow.receive_kind("D")["11"], str(number))

    def plant_bad_messages(self):
        bad = self.logged_on("BAD")
        for _ in range(10):
            bad.send("D", (11, "an order without what it must have"))
            self.assertEqual(bad.receive_kind("3")["35"], "3")
        bad.socket.sendall(bad.message("0", number=bad.next, sum_off=1))
        bad.send("0", number=bad.next + 5)
        self.assertEqual(bad.receive_kind("2")["7"], str(bad.next))

    def plant_refused_logons(self):
        for _ in range(10):
            stranger = self.peer("NOBODY")
            stranger.send("A", (98, 0), (108, 30))
            self.assertIsNone(stranger.receive())

    def plant_flapping(self):
        for number in range(6):
            peer = self.peer("FLAPPING")
            peer.send("A", (98, 0), (108, 30), (141, "Y"))
            self.assertIsNotNone(peer.receive_kind("A"), number)
            peer.close()
            until("the connection has ended", lambda: not self.shown("FLAPPING")["connected"])

    def plant_full_disk(self):
        """No file of the engine can grow beyond this any more."""
        stored = self.logged_on("STORED")
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
        sent = 0

        def in_trouble():
            nonlocal sent
            if sent < 200:
                stored.send("D", (11, sent), (58, "x" * 4000))
                sent += 1
            return self.shown("STORED")["store"] in ("full", "failed") if sent % 20 == 0 else False
        until("the journal of STORED is in trouble", in_trouble)

    def test_each_alert_fires_for_its_fault(self):
        good = self.logged_on("GOOD")
        # What grows is seen as growth after the first values.
        until("Prometheus has scraped twice", lambda: self.prometheus.query("count_over_time(nfx_garbled_total[1m]) >= 2"))
        self.assertEqual(self.prometheus.query('up{job="nexusfix"}')[0][1], 1)
        self.talk(good, 100, 100)
        self.plant_bad_messages()
        self.plant_refused_logons()
        self.plant_flapping()
        self.plant_slow_answers()
        # Nobody reads the engine's standard output any more: 1 MiB waits, then lines are dropped.
        self.talk(good, 150, 10_000)
        self.plant_full_disk()

        self.expect("NexusfixSessionDown", session=session("ABSENT"))
        self.assertEqual(self.prometheus.query(f'nfx_session_within_schedule{{session="{session("CLOSED")}"}}')[0][1], 0)
        self.assertEqual(self.prometheus.fires("NexusfixSessionDown", session=session("CLOSED")), [],
                         "a session outside its hours does not fire the alert")
        for alert in ("NexusfixSequenceGap", "NexusfixGarbledMessages", "NexusfixRejects"):
            self.expect(alert, session=session("BAD"))
        self.expect("NexusfixLogonsRefused", reason="unknown_session")
        self.expect("NexusfixSessionFlapping", session=session("FLAPPING"))
        ended = {labels["session"]: labels["reason"] for labels, _ in
                 self.prometheus.query("time() - nfx_session_last_end_timestamp_seconds < 600")}
        self.assertEqual(ended[session("FLAPPING")], "connection_lost")
        self.expect("NexusfixSlowAnswers", session=session("SLOW"))
        self.expect("NexusfixLinesDropped", stream="stdout")
        self.expect("NexusfixStoreTrouble", session=session("STORED"))
        for alert in ("NexusfixSessionDown", "NexusfixSequenceGap", "NexusfixGarbledMessages", "NexusfixRejects",
                      "NexusfixSessionFlapping", "NexusfixStoreTrouble"):
            self.assertEqual(self.prometheus.fires(alert, session=session("GOOD")), [], alert)
        self.assertEqual(self.prometheus.fires("NexusfixDown"), [])
        self.check_percentiles()
        self.check_dashboard()
        self.check_file()

        self.server.process.kill()
        self.expect("NexusfixDown", job="nexusfix")
        self.assertEqual(self.fired, set(rules.alerts()))

    def check_percentiles(self):
        quantile = ('histogram_quantile(0.99, sum by (session, le) '
                    '(rate(nfx_session_stage_seconds_bucket{stage="request_to_answer"}[5m])))')
        values = {labels["session"]: value for labels, value in self.prometheus.query(quantile)}
        self.assertIn(session("GOOD"), values)
        self.assertGreater(values[session("GOOD")], 0)
        self.assertGreater(values[session("SLOW")], 0.01)
        # The page's own percentile of the same stage, over the last minute, is of the same size: buckets are 2.5 wide.
        counts = {labels["session"]: value for labels, value in
                  self.prometheus.query('nfx_session_stage_seconds_count{stage="request_to_answer"}')}
        self.assertEqual(counts[session("GOOD")], 250)
        self.assertNotIn(session("ABSENT"), counts)

    def check_file(self):
        """After traffic of at least a minute: the file has everything that a page can have."""
        file = self.folder / "nexusfix.prom"
        text = until("percentiles of the last minute are in the metrics file", lambda: next(
            (text for text in [file.read_text(encoding="utf-8")] if "nfx_session_latency_seconds{" in text), None))
        self.assertEqual(problems_of_file(text), "")
        self.assertNotEqual(problems_of_file(text.replace("percentile=", "quantile=")), "")

    def check_dashboard(self):
        # Of these there is nothing in a healthy moment without [placement] and without journals that were synced.
        may_be_empty = {"Interruptions of poll threads"}
        for title, expression in rules.queries(rules.dashboard()["panels"]):
            found = self.prometheus.query(rules.filled_in(expression))
            if title not in may_be_empty:
                self.assertNotEqual(found, [], f"{title}: {expression}")


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        print("skipped: prometheus is missing (package prometheus)")
        sys.exit(77)
    unittest.main()
