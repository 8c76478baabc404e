"""monitoring/: every metric that alerts and dashboard read is documented, the rules pass promtool, and the dashboard has the
form that Grafana's documentation of its dashboard JSON and panel model gives."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import rules

PATIENCE_S = 600
PROMTOOL = unittest.skipUnless(shutil.which("promtool"), "promtool is missing (package prometheus)")

# Of Grafana's panel model, the kinds of panels that are used and the units that they may have.
KINDS = {"row", "stat", "timeseries"}
UNITS = {"none", "s", "mps", "ops"}
OPTIONS = {"stat": {"reduceOptions", "colorMode", "graphMode", "textMode", "orientation", "justifyMode"},
           "timeseries": {"legend", "tooltip"}}


def promtool(*arguments):
    result = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_S,
                            check=False)
    return result.returncode, result.stdout + result.stderr


class Metrics(unittest.TestCase):
    def setUp(self):
        self.documented = set(re.findall(r"`(nfx_\w+)`", (rules.ROOT / "docs/metrics.md").read_text(encoding="utf-8")))

    def assert_documented(self, expression, where):
        for metric in rules.metrics_in(expression):
            self.assertTrue(metric in self.documented, f"{where}: docs/metrics.md has no {metric}")

    def test_of_alerts_exist(self):
        for name, expression in rules.alerts().items():
            self.assert_documented(expression, name)

    def test_of_the_dashboard_exist(self):
        dashboard = rules.dashboard()
        for title, expression in rules.queries(dashboard["panels"]):
            self.assert_documented(expression, title)
        for variable in dashboard["templating"]["list"]:
            self.assert_documented(str(variable["query"]), variable["name"])

    def test_that_do_not_exist_are_found(self):
        with self.assertRaises(AssertionError):
            self.assert_documented("rate(nfx_no_such_thing_total[5m])", "a planted mistake")


class Alerts(unittest.TestCase):
    def test_are_all_read_by_these_tests(self):
        text = rules.ALERTS.read_text(encoding="utf-8")
        self.assertEqual(len(rules.alerts()), text.count("- alert:"))
        self.assertGreaterEqual(len(rules.alerts()), 10)

    def test_each_has_a_unit_test_that_fires_it_and_one_that_does_not(self):
        text = rules.ALERT_TESTS.read_text(encoding="utf-8")
        for name in rules.alerts():
            self.assertIn(f"- name: {name} fires\n", text)
            self.assertIn(f"- name: {name} stays quiet\n", text)

    def test_each_is_documented(self):
        page = (rules.ROOT / "docs/monitoring.md").read_text(encoding="utf-8")
        for name in rules.alerts():
            self.assertIn(f"| `{name}` |", page)

    @PROMTOOL
    def test_pass_promtool(self):
        code, out = promtool("check", "rules", rules.ALERTS)
        self.assertEqual(code, 0, out)
        self.assertIn(f"{len(rules.alerts())} rules found", out)
        code, out = promtool("test", "rules", rules.ALERT_TESTS)
        self.assertEqual(code, 0, out)

    @PROMTOOL
    def test_their_unit_tests_can_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = rules.ALERTS.read_text(encoding="utf-8").replace("nfx_store_condition >= 2", "nfx_store_condition >= 4")
            (pathlib.Path(folder) / "alerts.yml").write_text(broken, encoding="utf-8")
            tests = pathlib.Path(folder) / "alerts_test.yml"
            shutil.copy(rules.ALERT_TESTS, tests)
            code, out = promtool("test", "rules", tests)
        self.assertNotEqual(code, 0)
        self.assertIn("NexusfixStoreTrouble", out)

    @PROMTOOL
    def test_the_example_configuration_is_good(self):
        with tempfile.TemporaryDirectory() as folder:
            text = (rules.ROOT / "monitoring/prometheus/prometheus.yml").read_text(encoding="utf-8")
            token = pathlib.Path(folder) / "token"
            token.write_text("x", encoding="utf-8")
            file = pathlib.Path(folder) / "prometheus.yml"
            file.write_text(text.replace("/etc/prometheus/nexusfix.token", str(token)), encoding="utf-8")
            shutil.copy(rules.ALERTS, folder)
            code, out = promtool("check", "config", file)
        self.assertEqual(code, 0, out)


def problems_of(dashboard):
    """What Grafana would not take or show, as sentences."""
    found = []

    def require(condition, text):
        if not condition:
            found.append(text)

    for key, kind in (("title", str), ("uid", str), ("schemaVersion", int), ("panels", list), ("templating", dict),
                      ("time", dict), ("timezone", str), ("refresh", str), ("tags", list), ("annotations", dict)):
        require(isinstance(dashboard.get(key), kind), f"{key}: expected {kind.__name__}")
    if found:
        return found
    require(len(dashboard["uid"]) <= 40, "uid: at most 40 characters")
    variables = {each["name"]: each for each in dashboard["templating"]["list"]}
    for name, variable in variables.items():
        require(variable["type"] in ("datasource", "query"), f"variable {name}: type")
        if variable["type"] == "query":
            require(variable["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, f"variable {name}: datasource")
    identities, places = set(), {}
    for panel in dashboard["panels"]:
        name = panel.get("title") or "(no title)"
        require(panel.get("type") in KINDS, f"{name}: type {panel.get('type')}")
        require(panel.get("id") not in identities and isinstance(panel.get("id"), int), f"{name}: id is missing or twice")
        identities.add(panel.get("id"))
        require(bool(panel.get("title")), "a panel without a title")
        place = panel.get("gridPos", {})
        require(set(place) == {"x", "y", "w", "h"} and all(isinstance(v, int) and v >= 0 for v in place.values()),
                f"{name}: gridPos")
        if set(place) != {"x", "y", "w", "h"}:
            continue
        require(place["w"] > 0 and place["h"] > 0 and place["x"] + place["w"] <= 24, f"{name}: beyond the 24 columns")
        for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])):
            require(cell not in places, f"{name}: over {places.get(cell)}")
            places[cell] = name
        if panel.get("type") == "row":
            continue
        require(bool(panel.get("description")), f"{name}: no description")
        require(set(panel.get("options", {})) == OPTIONS.get(panel.get("type")), f"{name}: options of another kind of panel")
        defaults = panel.get("fieldConfig", {}).get("defaults", {})
        require(defaults.get("unit") in UNITS, f"{name}: unit {defaults.get('unit')}")
        require(isinstance(panel.get("fieldConfig", {}).get("overrides"), list), f"{name}: fieldConfig.overrides")
        for step in defaults.get("thresholds", {}).get("steps", [])[:1]:
            require(step["value"] is None, f"{name}: the first threshold has a value")
        references = [target.get("refId") for target in panel.get("targets", [])]
        require(references and len(set(references)) == len(references), f"{name}: refId is missing or twice")
        for target in panel.get("targets", []):
            require(target.get("datasource") == panel.get("datasource") == {"type": "prometheus", "uid": "${datasource}"},
                    f"{name}: datasource")
            for used in re.findall(r"\$(\w+)", target.get("expr", "")):
                require(used in variables or used == "__rate_interval", f"{name}: no variable {used}")
            for label in re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")):
                require(re.search(rf"\b{label}\b", target["expr"]) or label in ("session", "thread", "instance"),
                        f"{name}: no label {label}")
    return found


class Ports(unittest.TestCase):
    """Prometheus itself listens on 9090: an engine with that port could not be started next to it."""

    def test_no_example_gives_the_engine_the_port_of_prometheus(self):
        files = [rules.ROOT / "README.md"]
        for folder in ("docs", "examples", "monitoring", "packaging", "src/engine/config"):
            files += [each for each in (rules.ROOT / folder).rglob("*") if each.is_file()]
        self.assertGreater(len(files), 50)
        wrong = [each.name for each in files if re.search(rb"(?:127\.0\.0\.1|localhost|\[::1\]):9090\b", each.read_bytes())]
        self.assertEqual(wrong, [])


class Dashboard(unittest.TestCase):
    def test_has_the_form_that_grafana_documents(self):
        self.assertEqual(problems_of(rules.dashboard()), [])
        self.assertGreaterEqual(len(rules.queries(rules.dashboard()["panels"])), 12)

    def test_mistakes_are_found(self):
        def broken(change):
            dashboard = rules.dashboard()
            change(dashboard, next(panel for panel in dashboard["panels"] if panel["type"] == "timeseries"))
            return problems_of(dashboard)

        mistakes = [lambda board, panel: board.pop("uid"), lambda board, panel: panel.update(id=1),
                    lambda board, panel: panel.update(type="graph"), lambda board, panel: panel["gridPos"].update(w=25),
                    lambda board, panel: panel["gridPos"].update(x=0, y=0), lambda board, panel: panel["targets"].clear(),
                    lambda board, panel: panel["targets"][0].update(expr="up{job=\"$nobody\"}"),
                    lambda board, panel: panel["fieldConfig"]["defaults"].update(unit="seconds"),
                    lambda board, panel: panel["targets"][0].update(datasource=None)]
        for number, mistake in enumerate(mistakes):
            with self.subTest(mistake=number):
                self.assertNotEqual(broken(mistake), [])

    @PROMTOOL
    def test_prometheus_can_parse_every_query(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "queries.yml"
            text = "groups:\n  - name: queries\n    rules:\n"
            for number, (_, expression) in enumerate(rules.queries(rules.dashboard()["panels"])):
                text += f"      - record: query{number}\n        expr: {rules.filled_in(expression)}\n"
            file.write_text(text, encoding="utf-8")
            code, out = promtool("check", "rules", file)
        self.assertEqual(code, 0, out)


if __name__ == "__main__":
    unittest.main()
