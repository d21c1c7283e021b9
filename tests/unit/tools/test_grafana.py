"""The Grafana dashboards ask for series and labels that exist, and can be loaded."""

import json
import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tools.reference.metrics import processes, series_of

FILES = sorted((Path(__file__).parents[3] / "docs/grafana").glob("*.json"))
_SERIES = re.compile(r"\b(holdfast_\w+)(?:\{([^}]*)\})?")
_GROUPED = re.compile(r"\b(?:by|without) \(([^)]*)\)")
_SUFFIX = re.compile(r"_(bucket|sum|count)$")


@cache
def labels() -> dict[str, set[str]]:
    """The labels of each series that a query can name."""
    found: dict[str, set[str]] = {}
    for _, _, registry in processes():
        for one in series_of(registry):
            if one.kind == "histogram":
                found[f"{one.name}_bucket"] = {*one.labels, "le"}
                found[f"{one.name}_sum"] = found[f"{one.name}_count"] = set(one.labels)
            else:
                found[one.name] = set(one.labels)
    return found


def mistakes(expression: str, legend: str) -> list[str]:
    """What is wrong with a query of a panel."""
    found = _SERIES.findall(expression)
    if not found:
        return [f"no series in {expression!r}"]
    unknown = [name for name, _ in found if name not in labels()]
    if unknown:
        return [f"nobody serves {name}" for name in unknown]
    known = set.intersection(*(labels()[name] for name, _ in found))
    matched = {m for _, matchers in found for m in re.findall(r"(\w+)(?:=|!)", matchers)}
    grouped = {label.strip() for each in _GROUPED.findall(expression) for label in each.split(",")}
    shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
    kept = (grouped if grouped else known) - {"le"}
    return [f"{name} is not a label" for name in (matched | grouped) - known] + [
        f"{name} is not in the result" for name in shown - kept
    ]


def test_linter_finds_mistakes() -> None:
    assert mistakes("rate(holdfast_nothing_total[5m])", "")
    assert mistakes('holdfast_lag_records{topic="x"}', "")
    assert mistakes("sum by (topic) (holdfast_lag_records)", "")
    assert mistakes("sum by (flow) (holdfast_lag_records)", "{{part}}")
    assert mistakes("holdfast_batch_duration_seconds", "")
    assert mistakes("up", "")
    assert not mistakes('sum by (flow) (holdfast_lag_records{flow=~"$flow"})', "{{flow}} lag")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_panel_asks_for_series_and_labels_that_exist(file: Path) -> None:
    board = json.loads(file.read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            assert not mistakes(target["expr"], target["legendFormat"]), panel["title"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_dashboard_can_be_loaded_into_any_grafana(file: Path) -> None:
    board = json.loads(file.read_text())
    variables = {each["name"]: each for each in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)\}?", file.read_text()))
    assert {name for name in used if not name.startswith("__")} == set(variables)
    assert board["uid"] == f"holdfast-{file.stem}"
    assert "id" not in board  # the number of another Grafana would replace a dashboard there
    sources = re.findall(r'"uid": "([^"]+)"', json.dumps([board["panels"], board["templating"]]))
    assert set(sources) == {"${datasource}"}
    for query in (each["query"] for each in variables.values() if each["type"] == "query"):
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()  # type: ignore[union-attr]
        assert label in labels()[name]
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for one, other in combinations(panels, 2):
        assert not _overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])
    assert all(panel["title"] and panel["description"] for panel in panels)


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(
        one["x"] < other["x"] + other["w"]
        and other["x"] < one["x"] + one["w"]
        and one["y"] < other["y"] + other["h"]
        and other["y"] < one["y"] + one["h"]
    )


def test_there_are_dashboards() -> None:
    assert [file.stem for file in FILES] == ["broker-and-web", "flows"]
