"""docs/monitoring: dashboards and alert rules ask for series that a run has."""
import json
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
MONITORING = TOP / "docs" / "monitoring"
UNITS = {"s": "_seconds", "By": "_bytes", "1": "_ratio"}


def grafana_queries():
    board = json.loads((MONITORING / "grafana.json").read_text())
    return {panel["title"]: [target["expr"] for target in panel["targets"]] for panel in board["panels"]}


def names_of_series():
    """The names that Prometheus makes of the series of otlp_series.def."""
    table = (TOP / "src" / "format" / "otlp_series.def").read_text()
    found = set()
    for name, unit, form in re.findall(r'^(?:SERIES|(?:FOR_)?EACH)\(\w+, "([^"]+)", "([^"]*)", (\w+),', table, re.M):
        found.add(name.replace(".", "_") + UNITS.get(unit, "") + ("_total" if form == "SUM" else ""))
    return found


def test_the_dashboards_of_perses_and_grafana_ask_the_same_queries():
    board = json.loads((MONITORING / "perses.json").read_text())["spec"]
    asked = {panel["spec"]["display"]["name"]: [query["spec"]["plugin"]["spec"]["query"] for query in panel["spec"]["queries"]]
             for panel in board["panels"].values()}
    assert asked == grafana_queries()
    shown = [item["content"]["$ref"] for layout in board["layouts"] for item in layout["spec"]["items"]]
    assert sorted(shown) == sorted(f"#/spec/panels/{key}" for key in board["panels"])


def test_each_series_of_dashboards_rules_and_page_exists():
    texts = [query for queries in grafana_queries().values() for query in queries]
    texts.append((MONITORING / "alerts.yml").read_text())
    texts += re.findall(r"^```promql\n(.*?)^```", (TOP / "docs" / "OTLP.md").read_text(), re.M | re.S)
    asked = set(re.findall(r"\b(?:process|resource_tracker|system)_\w+(?=[{\[\s)])", "\n".join(texts)))
    assert len(asked) >= 10 and asked <= names_of_series()
