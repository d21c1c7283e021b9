"""A key's picture says what the journal says."""

from dataclasses import replace
from itertools import pairwise

from holdfast.dashboard.sparkline import HEIGHT, sparkline
from holdfast.dashboard.timeline import (
    Arrival,
    Timeline,
    fitting_span,
    held_since,
    timeline,
    was_held,
)
from holdfast.flows.holds import GUARD
from holdfast.flows.journal import Outcome
from holdfast.views.audit import AuditRow, HistoryItem

NOW = 1_767_225_600_000
MINUTE = 60_000


def effective(minutes_ago: float, outcome: Outcome, cut: int, partition: int = 0) -> HistoryItem:
    row = AuditRow(
        log="journal",
        partition=partition,
        offset=0,
        at=round(NOW - minutes_ago * MINUTE),
        key=b"k",
        outcome=outcome,
        cut=cut,
    )
    return HistoryItem(None, (row,))


HISTORY = (
    effective(5, Outcome.HELD, 300),
    effective(10, Outcome.DRAINED, 200),
    effective(20, Outcome.RELEASED, 150),
    effective(40, Outcome.HELD, 100),
)
ARRIVALS = [
    Arrival(NOW - minutes * MINUTE, 0, offset)
    for minutes, offset in ((50, 99), (39, 100), (15, 160), (8, 200), (4, 301))
]


def drawn(span: str = "1h", expires_at: int | None = None) -> Timeline:
    return timeline(HISTORY, ARRIVALS, span=span, now=NOW, expires_at=expires_at)


def test_bands_of_states_have_no_gaps() -> None:
    bands = drawn().bands
    assert [band.style for band in bands] == ["active", "held", "drain", "active", "held"]
    for before, after in pairwise(bands):
        assert abs(before.x + before.width - after.x) < 0.02
    assert abs(bands[-1].x + bands[-1].width - drawn().now) < 0.02


def test_events_are_held_from_the_cut_to_the_cut_of_the_ended_drain() -> None:
    assert [tick.style for tick in drawn().arriving] == ["", "h", "h", "", "h"]
    assert len(drawn().processed) == 2
    assert was_held(HISTORY, Arrival(0, 0, 199))
    assert not was_held(HISTORY, Arrival(0, 0, 200))
    assert not was_held(HISTORY, Arrival(0, 1, 150)), "another partition has cuts of its own"


def test_expiry_lies_ahead_of_now() -> None:
    *_, last = drawn(expires_at=NOW + 2 * MINUTE).bands
    assert last.style == "next"
    assert last.x == drawn().now


def test_earlier_bands_start_at_the_left_edge() -> None:
    bands = drawn("15m").bands
    assert bands[0].style == "drain"
    assert bands[0].x == 0
    assert len(drawn("15m").arriving) == 3


def test_hold_in_one_partition_is_a_hold_of_the_key() -> None:
    history = (
        effective(1, Outcome.DRAINED, 9, partition=1),
        effective(2, Outcome.RELEASED, 8, partition=1),
        effective(3, Outcome.HELD, 7, partition=1),
        effective(4, Outcome.HELD, 5, partition=0),
    )
    bands = timeline(history, [], span="15m", now=NOW, expires_at=None).bands
    assert [band.style for band in bands] == ["active", "held"]


def test_release_that_changes_the_pace_leaves_the_key_draining() -> None:
    history = (effective(1, Outcome.UPDATED, 9), effective(2, Outcome.RELEASED, 8), HISTORY[-1])
    bands = timeline(history, [], span="15m", now=NOW, expires_at=None).bands
    assert bands[-1].style == "drain"


def test_hold_that_stops_a_drain_leaves_the_rest_buffered() -> None:
    held = effective(5, Outcome.HELD, 200)
    stopped = HistoryItem(None, (replace(held.effective[0], drained_through=100),))
    history = (stopped, *HISTORY[2:])
    arrivals = [arrival for arrival in ARRIVALS if arrival.offset in (100, 160)]
    picture = timeline(history, arrivals, span="1h", now=NOW, expires_at=None)
    heights = [float(p.split(",")[1]) for p in picture.buffered[1:-1].split("L")]
    assert heights[-2] < 34, "one of two is still there"


def levels(picture: Timeline) -> list[float]:
    """Heights of the area from left to right, as a share of its highest."""
    points = picture.buffered[1:-1].split("L")[1:-1]
    return [round((34 - float(point.split(",")[1])) / 30, 2) for point in points]


def test_events_held_before_the_chart_starts_are_in_it() -> None:
    history = (effective(40, Outcome.HELD, 100),)
    arrivals = [Arrival(NOW - minutes * MINUTE, 0, 200 - minutes) for minutes in (4, 3)]
    shown = timeline(history, arrivals, span="15m", now=NOW, expires_at=None, buffered=8)
    assert shown.peak == 8
    assert levels(shown)[2] == 0.75, "six of eight came before"
    assert levels(shown)[-1] == 1


def test_chart_of_a_running_drain_ends_at_the_held_count() -> None:
    arrivals = [Arrival(NOW - minutes * MINUTE, 0, 140 - minutes) for minutes in (35, 30, 25, 22)]
    shown = timeline(HISTORY[2:], arrivals, span="1h", now=NOW, expires_at=None, buffered=1)
    assert shown.peak == 4
    assert levels(shown)[-1] == 0.25
    later = timeline(HISTORY[2:], [], span="5m", now=NOW, expires_at=None, buffered=3)
    assert (later.peak, levels(later)[-1]) == (3, 1), "it began before the picture does"


def test_timeline_starts_at_the_hold_that_still_drains() -> None:
    assert held_since(HISTORY[2:]) == NOW - 40 * MINUTE
    assert held_since(HISTORY) == NOW - 5 * MINUTE
    assert held_since(HISTORY[1:]) is None


def test_timeline_span_fits_the_hold() -> None:
    assert fitting_span(None, NOW) == "1h"
    assert fitting_span(NOW - MINUTE, NOW) == "5m"
    assert fitting_span(NOW - 100 * MINUTE, NOW) == "6h"
    assert fitting_span(NOW - 10_000 * MINUTE, NOW) == "all"


def test_key_without_history_has_a_picture() -> None:
    empty = timeline([], [], span="all", now=NOW, expires_at=None)
    assert [band.style for band in empty.bands] == ["active"]
    assert not empty.flags


def test_sparkline_stays_in_its_box_and_is_thinned() -> None:
    line = sparkline([float(n % 7) for n in range(600)]).line
    points = [tuple(map(float, point.split(","))) for point in line.removeprefix("M").split("L")]
    assert len(points) == 60
    assert all(0 <= y <= HEIGHT for _, y in points)
    assert sparkline([]).line.startswith("M0.0,")


def test_tries_of_a_guard_are_flags() -> None:
    failed, tried = effective(30, Outcome.HELD, 100), effective(20, Outcome.EXPIRED, 100)
    history = [
        HistoryItem(None, (replace(item.effective[0], name=GUARD),)) for item in (failed, tried)
    ]
    flags = timeline(history, (), span="1h", now=NOW, expires_at=None).flags
    assert [flag.title.startswith(("Failed", "Tried again")) for flag in flags] == [True, True]
