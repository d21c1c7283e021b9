"""What `holdfast top` shows, as data: taken from the live views at one moment."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from holdfast.flows.keys import key_to_json
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowView
from holdfast.views.keys import KeyQuery, KeyRow, KeySort
from holdfast.views.views import Views

MOST_KEYS = 500
"""Of a flow: far more than a screen has lines."""
_NOT_ACTIVE = frozenset({KeyState.HELD, KeyState.DRAINING})


class Order(StrEnum):
    """What the held keys are sorted by; the most pressing come first."""

    EVENTS = "events"
    BYTES = "bytes"
    OLDEST = "oldest"
    SINCE = "since"
    KEY = "key"

    @property
    def next(self) -> "Order":
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowFigures:
    """One flow. Rates are events a second; times are milliseconds since 1970."""

    name: str
    health: str
    reason: str
    """Why it is not well; empty if it is."""
    incoming: float
    outgoing: float
    held: float
    lag: int
    held_keys: int
    held_events: int
    held_bytes: int
    oldest: int | None
    """The timestamp of the oldest event that is held."""


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """One key that is held or draining."""

    flow: str
    row: KeyRow


@dataclass(frozen=True, slots=True)
class Figures:
    """All flows, and the keys that matter most by the order that was asked for."""

    flows: tuple[FlowFigures, ...]
    keys: tuple[KeyFigures, ...]
    trouble: str = ""
    """Why figures do not move just now."""


def take_figures(views: Views, order: Order, *, only: str | None = None) -> Figures:
    """The figures now; `only`: the keys of this flow alone."""
    flows = views.flows()
    oldest_first = order in (Order.OLDEST, Order.SINCE, Order.KEY)
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


def as_document(figures: Figures) -> dict[str, Any]:
    """The figures for scripts."""
    return {
        "flows": [
            {
                "flow": f.name,
                "health": f.health,
                "reason": f.reason,
                "in_per_second": f.incoming,
                "out_per_second": f.outgoing,
                "held_per_second": f.held,
                "lag": f.lag,
                "held_keys": f.held_keys,
                "held_events": f.held_events,
                "held_bytes": f.held_bytes,
                "oldest": f.oldest,
            }
            for f in figures.flows
        ],
        "keys": [
            {
                "flow": k.flow,
                **key_to_json(k.row.key),
                "state": k.row.state.value,
                "events": k.row.events,
                "bytes": k.row.bytes,
                "oldest": k.row.oldest,
                "since": k.row.since,
                "expires_at": k.row.expires_at,
                "actor": k.row.actor,
                "reason": k.row.reason,
            }
            for k in figures.keys
        ],
    }


def _flow(view: FlowView) -> FlowFigures:
    summary = view.summary()
    now = summary.now
    first = view.keys(KeyQuery(states=_NOT_ACTIVE, sort=KeySort.OLDEST, descending=False, limit=1))
    return FlowFigures(
        name=view.name,
        health=summary.health.state.value,
        reason="" if summary.health.well else summary.health.reason,
        incoming=now.incoming if now else 0.0,
        outgoing=now.outgoing if now else 0.0,
        held=now.held if now else 0.0,
        lag=now.lag if now else 0,
        held_keys=summary.held_keys + summary.draining_keys,
        held_events=summary.held_events,
        held_bytes=summary.held_bytes,
        oldest=first.rows[0].oldest if first.rows else None,
    )


def _rank(key: KeyFigures, order: Order) -> tuple[Any, ...]:
    row = key.row
    never = 2**63
    match order:
        case Order.EVENTS:
            first: Any = -row.events
        case Order.BYTES:
            first = -row.bytes
        case Order.OLDEST:
            first = never if row.oldest is None else row.oldest
        case Order.SINCE:
            first = never if row.since is None else row.since
        case Order.KEY:
            first = row.key
    return first, key.flow, row.key
