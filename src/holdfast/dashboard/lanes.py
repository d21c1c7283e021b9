"""The three lanes of a flow: incoming, held and processed events."""

from typing import Any

from holdfast.client.source import source_of
from holdfast.control.live_tail import LATEST
from holdfast.control.records import Seen, TopicRole
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.timeline import Arrival, was_held
from holdfast.dashboard.values import label_of
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowView, KeyView

LANES: tuple[TopicRole, ...] = ("events", "held", "processed")
LANE_ROWS = LATEST
"""Rows of a lane. A lane opens with the newest records of its topic."""


def lane_row(view: FlowView, lane: str, seen: Seen) -> dict[str, Any]:
    """A record as a row: its key, its label, its coordinate, and its way through the gate."""
    record = seen.record
    partition, offset = record.partition, record.offset
    if lane != "events":
        partition, offset = source_of(record.headers) or (partition, offset)
    key = record.key
    name = None if key is None else KeyName(key)
    return {
        "key": "" if name is None else name.brief,
        "path": "" if name is None else name.path(view.name),
        "label": label_of(seen.value),
        "at": f"{partition}:{offset}",
        "state": _state(view, lane, key, Arrival(seen.time, partition, offset)),
    }


def _state(view: FlowView, lane: str, key: bytes | None, arrival: Arrival) -> str:
    """`held`, `drained`, or empty for an event that passes."""
    if lane == "held":
        return "held"
    if key is None:
        return ""
    detail = view.key(key)
    if lane == "events":
        return "held" if _waits(detail, arrival) else ""
    return "drained" if was_held(detail.history, arrival) else ""


def _waits(found: KeyView, arrival: Arrival) -> bool:
    """Returns True if the event is held now: it came after the hold's cut and has not left held."""
    entry = dict(found.entries).get(arrival.partition)
    if entry is None:  # a partition other than murmur2's gets its entry with its first event
        return found.row.state is not KeyState.ACTIVE
    return arrival.offset > entry.drained_through
