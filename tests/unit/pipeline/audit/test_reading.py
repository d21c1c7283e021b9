"""Which damage counts as a fault."""

from typing import Any, cast

from holdfast.flows.names import FlowNames
from holdfast.flows.status import Position
from holdfast.pipeline.audit.bounds import Bounds, LogRange
from holdfast.pipeline.audit.reading import LogReading
from holdfast.pipeline.audit.verification import Fault


def test_skipped_and_untaken_events_are_not_findings() -> None:
    names = FlowNames("orders")
    events = {(0, 5, 8): "skipped", (0, 20, 22): "taken", (0, 40, 42): "not taken yet"}
    damage = {names.events: events, names.held: {(1, 3, 4): "broken"}}
    nothing = cast("Any", None)
    reading = LogReading(nothing, nothing, names, damage)
    empty = LogRange({}, {})
    bounds = Bounds(
        positions={0: Position(offset=30, control=0, step=1, owner="o")}, events=empty,
        control=empty, journal=empty, status=empty, held=empty, processed=empty, dlq=empty,
        held_since={}, settled={},
    )  # fmt: skip
    unknown = reading.unknown_events(bounds, [(0, 4, 8)])
    assert unknown == [(0, 20, 22)]
    found = reading.found(unknown, 10)[Fault.DAMAGED]
    assert [str(example) for example in found.examples] == [
        "events[0]@20 (up to offset 21: taken)",
        "held[1]@3 (up to offset 3: broken)",
    ]
    assert LogReading(nothing, nothing, names).found((), 10) == {}
