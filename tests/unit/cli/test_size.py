"""`holdfast size`."""

import json
from dataclasses import replace

import pytest

from holdfast.cli import USAGE, main
from holdfast.cli.size_estimate import Figure, Stream, estimate

SMALL = Stream(5_000)


def by_name(stream: Stream) -> dict[str, Figure]:
    return {figure.resource: figure for figure in estimate(stream)}


def test_small_stream_fits_the_embedded_broker_and_nothing_is_extrapolated() -> None:
    figures = by_name(SMALL)
    assert figures["brokers (embedded)"].amount == 1
    assert figures["cores of the pipeline"].amount == 1
    assert not any(figure.extrapolated for figure in figures.values())


def test_million_events_a_second_need_a_cluster_and_are_extrapolated() -> None:
    figures = by_name(Stream(1_000_000, event_bytes=500))
    assert figures["brokers (Apache Kafka)"].amount >= 3
    assert figures["brokers (Apache Kafka)"].extrapolated
    assert figures["cores of the pipeline"].amount > 2
    assert figures["cores of the pipeline"].extrapolated


def test_measured_rate_needs_the_measured_cores_with_headroom() -> None:
    half = by_name(Stream(145_000 / 2, event_bytes=1_000))
    alone = 2 + 145_000 / 340_000 * 2
    assert half["cores of the pipeline"].amount == -(-alone // 1)


@pytest.mark.parametrize(
    "more",
    [
        {"events_per_second": 500_000},
        {"event_bytes": 200_000},
        {"keys": 10_000_000, "events_per_second": 200_000},
        {"held_keys": 2_000_000, "events_per_second": 200_000},
        {"held_events": 10**9},
        {"retention_days": 70},
        {"raw_zone_days": 3_650},
    ],
)
def test_more_of_anything_never_needs_less(more: dict[str, float]) -> None:
    base = replace(SMALL, events_per_second=max(100_000, more.get("events_per_second", 0)) / 2)
    grown = replace(base, **{"events_per_second": base.events_per_second, **more})  # type: ignore[arg-type]
    before, after = by_name(base), by_name(grown)
    assert all(after[name].amount >= before[name].amount for name in before)
    assert any(after[name].amount > before[name].amount for name in before)


def test_each_figure_names_its_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "--events-per-second", "5000", "-o", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"resource", "amount", "unit", "basis", "extrapolated"} == set(rows[0])
    assert all(row["basis"] for row in rows)


@pytest.mark.parametrize("rate", ["0", "-5", "nan", "many"])
def test_rate_that_is_no_rate_is_refused(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "--events-per-second", rate]) == USAGE
    assert "events-per-second" in capsys.readouterr().err
