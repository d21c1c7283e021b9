"""The page of the benchmarks says what was measured: where we lose, too."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from bench.page.comparison import Comparison
from bench.record import keep
from bench.report import DOCS, write
from bench.results import FOLDER

RECORDED = Path(__file__).parent / "recorded"
ORIGIN = {
    "measured": "2026-11-15T12:00+00:00",
    "commit": "abc1234",
    "machine": {"processor": "2 cores"},
    "quick": False,
}


def page_of(folder: Path, **results: dict[str, Any]) -> str:
    """The page of these results, whose underscores are dashes in file names."""
    for name, content in results.items():
        file = folder / f"{name.replace('_', '-')}.json"
        file.write_text(json.dumps(ORIGIN | content))
    return write(folder, folder / "docs").read_text()


def bench(**figures: float) -> dict[str, Any]:
    return {"command": "python -m bench.x", "figures": figures}


def gate(*points: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"rounds": 1, "points": list(points)} | more


def point(partitions: int, **events: float) -> dict[str, Any]:
    found = {system: {"events_s": [rate]} for system, rate in events.items()}
    name = f"partitions {partitions}"
    return {"name": name, "on": {"partitions": partitions}, "found": found, "failed": {}}


def losses(page: str) -> str:
    return page.partition("## Where Holdfast loses\n")[2].partition("\n## ")[0]


def test_slower_rate_and_longer_time_are_listed_as_losses(tmp_path: Path) -> None:
    page = page_of(tmp_path, broker=bench(produce_os=1.3, consume=0.87, latency_sync=1.9))
    assert "Holdfast loses: consume, 0.87 of Apache Kafka's." in losses(page)
    assert (
        "Holdfast loses: latency of one message, only Holdfast syncs, 1.90 times Apache Kafka's."
        in losses(page)
    )
    assert "produce" not in losses(page)


def test_report_without_losses_lists_none(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        broker=bench(consume=1.0, latency_os=0.5),
        growth_gate=gate(point(1, streams=100, holdfast=100.4)),
    )
    assert losses(page).strip() == "Holdfast is not behind in any measurement."
    assert "Holdfast is not behind Kafka Streams at any point." in page
    assert "loses:" not in page


def test_losses_along_an_axis_are_listed_with_point_and_factor(tmp_path: Path) -> None:
    points = (
        point(1, streams=200, holdfast=300),
        point(24, streams=300, holdfast=150),
        point(12, streams=300, holdfast=240),
    )
    page = page_of(tmp_path, growth_gate=gate(*points))
    expected = "throughput with 12 and 24 partitions, 0.8 and 0.5 of Kafka Streams'."
    assert losses(page).strip() == f"- Holdfast loses: {expected}"
    assert "| 24 | 300 | 150 | **0.5** |" in page
    assert "| 1 | 200 | 300 | 1.50 |" in page
    assert "changed by a factor of 0.5 with Holdfast and 1.50 with Kafka Streams" in page


def test_median_of_the_rounds_counts(tmp_path: Path) -> None:
    measured = point(6, streams=1)
    measured["found"] = {
        "streams": {"events_s": [10.0, 10.0]},
        "holdfast": {"events_s": [1, 20, 9]},
    }
    page = page_of(tmp_path, growth_gate=gate(measured, rounds=3))
    assert "0.9 of Kafka Streams'" in losses(page)
    assert "20 times at most" in page


def test_point_that_holdfast_fails_is_a_loss(tmp_path: Path) -> None:
    failed = point(24, streams=300) | {"failed": {"holdfast": "TimeoutError: 5 of 9 records"}}
    page = page_of(tmp_path, growth_gate=gate(point(1, streams=1, holdfast=2), failed))
    assert "Holdfast fails where Kafka Streams does not: partitions 24." in losses(page)
    assert "Holdfast failed at partitions 24: TimeoutError: 5 of 9 records" in page
    assert "| 24 | 300 | failed |" in page


def test_more_memory_and_a_longer_start_are_losses(tmp_path: Path) -> None:
    measured = {
        "name": "gate", "on": {}, "failed": {},
        "found": {"streams": {"seconds": [4.0]}, "holdfast": {"seconds": [20.0]}},
    }  # fmt: skip
    page = page_of(tmp_path, growth_start={"rounds": 1, "points": [measured]})
    said = "Holdfast loses: gate, time from start to the first event, 5.00 times Kafka Streams'."
    assert said in losses(page)
    assert "| Kafka Streams: 4 s | 20 s | **5.00** |" in page


def test_missing_results_are_shown_as_not_measured(tmp_path: Path) -> None:
    page = page_of(tmp_path, growth_gate=gate(point(1, streams=1, holdfast=2)))
    _, _, missing = page.partition("## Not measured yet\n")
    assert "`python -m bench.growth --part broker`" in missing
    assert "`python -m bench.record gate`" in missing
    assert "`python -m bench.growth --part gate`" not in missing
    assert losses(page_of(tmp_path / "docs")).strip() == "Not measured yet."


def test_quick_run_is_not_stored_as_a_measurement(tmp_path: Path) -> None:
    quick = gate(point(1, streams=1, holdfast=2), quick=True)
    assert "A quick run" in page_of(tmp_path, growth_gate=quick)


@pytest.mark.parametrize(
    ("better", "ratio", "aim"),
    [
        ("more", 1.5, "≥ 1.5: reached"),
        ("more", 1.1, "≥ 1.5: **not reached**"),
        ("less", 1.4, "≤ 1.5: reached"),
        ("less", 1.6, "≤ 1.5: **not reached**"),
    ],
)
def test_report_states_each_goal_and_if_it_is_met(better: Any, ratio: float, aim: str) -> None:
    assert Comparison(what="x", peer="y", better=better, ratio=ratio, goal=1.5).aim == aim


def test_recorded_results_make_a_page_with_its_pictures(tmp_path: Path) -> None:
    page = write(RECORDED, tmp_path)
    pictures = sorted(file.name for file in (tmp_path / "img").iterdir())
    assert pictures == ["bench-broker.svg", "bench-gate.svg", "bench-processing.svg"]
    for name in pictures:
        assert f"(img/{name})" in page.read_text()
        ElementTree.parse(tmp_path / "img" / name)


def test_published_page_is_that_of_the_kept_results(tmp_path: Path) -> None:
    page = write(FOLDER, tmp_path)
    again = "`python -m bench.report` writes it again"
    assert page.read_text() == (DOCS / "benchmarks.md").read_text(), again
    for picture in (tmp_path / "img").iterdir():
        assert picture.read_text() == (DOCS / "img" / picture.name).read_text(), again


def test_result_of_a_benchmark_is_stored_with_its_machine(tmp_path: Path) -> None:
    printed = 'some\nprogress\n{"produce_os": 1.2, "bars": {"a": 1}, "met": true}\n'
    part = '{"start": 0.1}\n'
    file = keep(tmp_path, "broker", ["--only", "start"], datetime.now(UTC), [printed, part])
    kept = json.loads(file.read_text())
    assert kept["figures"] == {"produce_os": 1.2, "start": 0.1}
    assert kept["command"] == "python -m bench.broker --only start"
    assert kept["machine"]["Python"]
