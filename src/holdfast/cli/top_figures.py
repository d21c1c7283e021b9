"""The data of `holdfast top`, taken from the live views at one moment."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from holdfast.flows.keys import key_to_json
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowView
from holdfast.views.keys import KeyQuery, KeyRow, KeySort
from holdfast.views.views import Views

MOST_KEYS = 500
"""Keys of a flow: far more than a screen has lines."""
_NEVER = 2**63
_NOT_ACTIVE = frozenset({KeyState.HELD, KeyState.DRAINING})


class SortOrder(StrEnum):
    """The order of the held keys; the most pressing come first."""

    EVENTS = "events"
    BYTES = "bytes"
    OLDEST = "oldest"
    SINCE = "since"
    KEY = "key"

    @property
    def next(self) -> "SortOrder":
        orders = list(SortOrder)
        return orders[(orders.index(self) + 1) % len(orders)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFigures:
    """One flow. Rates are events a second; times are milliseconds since 1970."""

    flow: str
    health: str
    reason: str
    """The reason if it is unhealthy; otherwise empty."""
    in_per_second: float
    out_per_second: float
    held_per_second: float
    lag: int | None
    """None before it was measured."""
    held_keys: int
    held_events: int
    held_bytes: int
    oldest: int | None
    """The timestamp of the oldest held event."""
    guard: bool = False
    failing_keys: int = 0
    """Of a guard: keys whose first event has failed."""
    circuit_open: bool = False
    """Of a guard: what is behind its handler is down."""


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """One key that is held or draining."""

    flow: str
    row: KeyRow


@dataclass(frozen=True, slots=True)
class Figures:
    """All flows, and the first keys in the given order."""

    flows: tuple[FlowFigures, ...]
    keys: tuple[KeyFigures, ...]
    trouble: str = ""
    """Why the figures are stale; empty if they are not."""


def take_figures(views: Views, order: SortOrder, *, only: str | None = None) -> Figures:
    """The present figures; `only` limits the keys to one flow."""
    flows = views.flows()
    oldest_first = order in (SortOrder.OLDEST, SortOrder.SINCE, SortOrder.KEY)
    keys = [
        KeyFigures(flow.name, row)
        for flow in flows
        if only in (None, flow.name)
        for row in flow.keys(
            KeyQuery(
                states=_NOT_ACTIVE,
                sort=KeySort(order.value),
                descending=not oldest_first,
                limit=MOST_KEYS,
            )
        ).rows
    ]
    keys.sort(key=lambda key: _rank(key, order))
    return Figures(tuple(map(_flow, flows)), tuple(keys), views.trouble)


_SHOWN = (
    "state",
    "events",
    "bytes",
    "oldest",
    "since",
    "expires_at",
    "actor",
    "reason",
    "attempts",
)


def as_document(figures: Figures) -> dict[str, Any]:
    return {
        "flows": [asdict(flow) for flow in figures.flows],
        "keys": [
            {"flow": k.flow, **key_to_json(k.row.key), **{n: getattr(k.row, n) for n in _SHOWN}}
            for k in figures.keys
        ],
    }


def _flow(view: FlowView) -> FlowFigures:
    summary = view.summary()
    now = summary.now
    first = view.keys(KeyQuery(states=_NOT_ACTIVE, sort=KeySort.OLDEST, descending=False, limit=1))
    return FlowFigures(
        flow=view.name,
        health=summary.health.state.value,
        reason="" if summary.health.well else summary.health.reason,
        in_per_second=now.incoming if now else 0.0,
        out_per_second=now.outgoing if now else 0.0,
        held_per_second=now.held if now else 0.0,
        lag=now.lag if now else None,
        held_keys=summary.held_keys + summary.draining_keys,
        held_events=summary.held_events,
        held_bytes=summary.held_bytes,
        oldest=first.rows[0].oldest if first.rows else None,
        guard=summary.definition.is_guard,
        failing_keys=summary.failing_keys,
        circuit_open=summary.circuit_open,
    )


def _rank(key: KeyFigures, order: SortOrder) -> tuple[Any, ...]:
    value = getattr(key.row, order.value)
    if order in (SortOrder.EVENTS, SortOrder.BYTES):
        value = -value
    return _NEVER if value is None else value, key.flow, key.row.key
