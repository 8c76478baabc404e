"""Alert rules and dashboard as the tests need them."""
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALERTS = ROOT / "monitoring/prometheus/alerts.yml"
ALERT_TESTS = ROOT / "monitoring/prometheus/alerts_test.yml"
DASHBOARD = ROOT / "monitoring/grafana/nexusfix.json"


def alerts():
    """The expression of each alert, by name."""
    found = re.findall(r"^      - alert: (\w+)\n        expr: (.+)$", ALERTS.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(found)


def dashboard():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def queries(panels):
    """Every expression of a dashboard with its panel's title."""
    return [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", [])]


def filled_in(expression):
    """As Grafana sends it, with every engine and session chosen."""
    for name, value in (("$instance", ".*"), ("$session", ".*"), ("$__rate_interval", "1m")):
        expression = expression.replace(name, value)
    assert "$" not in expression, expression
    return expression


def metrics_in(expression):
    """The metrics that it reads, without what a histogram adds to its name."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\bnfx_\w+", expression)}
