"""The three lanes of a flow: what arrives, what is held, what comes out."""

from typing import Any

from holdfast.api.browsing import Seen, TopicRole
from holdfast.api.tailing import LATEST
from holdfast.client.source import source_of
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.timeline import Arrival, was_held
from holdfast.dashboard.values import label_of
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowView, KeyView

LANES: tuple[TopicRole, ...] = ("events", "held", "processed")
LANE_ROWS = LATEST
"""Rows of a lane: it opens with the latest records of its topic."""


def lane_row(view: FlowView, lane: str, seen: Seen) -> dict[str, Any]:
    """A record as a row: its key, what it is, where it came from, and how it goes on."""
    record = seen.record
    partition, offset = source_of(record.headers) or (record.partition, record.offset)
    if lane == "events":
        partition, offset = record.partition, record.offset
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
    """`held`, `drained`, or empty for what simply passes."""
    if lane == "held":
        return "held"
    if key is None:
        return ""
    found = view.key(key)
    if lane == "events":
        return "held" if _waits(found, arrival) else ""
    return "drained" if was_held(found.history, arrival) else ""


def _waits(found: KeyView, arrival: Arrival) -> bool:
    """Whether the event waits now. What came before the hold does not, nor what has left held."""
    entry = dict(found.entries).get(arrival.partition)
    if entry is None:  # a partition that murmur2 does not give makes its entry with its first event
        return found.row.state is not KeyState.ACTIVE
    return arrival.offset > entry.drained_through
