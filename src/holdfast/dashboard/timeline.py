"""A key's history as a picture: its states, its events, its cuts; every x in per cent.

The journal has exactly which events were held: those from a hold's cut up to the cut from which the
ended drain lets them pass. Only the course of a drain between its two ends is unknown; it is drawn
as a straight line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.clock import from_ms
from holdfast.dashboard.commands import TRIES
from holdfast.dashboard.formats import clock, number
from holdfast.flows.holds import GUARD
from holdfast.flows.journal import Outcome
from holdfast.flows.status import KeyState, combined_state
from holdfast.views.audit import AuditRow, HistoryItem

HOUR_MS = 3_600_000
SPANS = {
    "5m": HOUR_MS // 12,
    "15m": HOUR_MS // 4,
    "1h": HOUR_MS,
    "6h": 6 * HOUR_MS,
    "24h": 24 * HOUR_MS,
}
_NOW_AT = 0.88
"""The share of the past; the future, such as an expiry, has the rest of the width."""
_MOST_TICKS = 400
_LABEL_GAP = 9.0
"""Per cent; labels of closer flags would overlap."""
_LETTER = 0.85
"""The width of a letter, in per cent of the narrowest picture."""
_NARROW = 6.0
"""Per cent; a narrower band has no room for its word."""
_GRID_STEPS_MS = tuple(
    minutes * 60_000 for minutes in (1, 2, 5, 10, 30, 60, 120, 240, 720, 1440, 10080)
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event of the key: its time and its coordinate."""

    at: int
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Band:
    """A period in one state."""

    style: str
    x: float
    width: float
    label: str


@dataclass(frozen=True, slots=True)
class Tick:
    style: str
    x: float


@dataclass(frozen=True, slots=True)
class Flag:
    """A line across the picture: something became effective."""

    x: float
    title: str
    text: str
    labelled: bool
    left: bool
    """True if its label is on the left, for lack of room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    now: float
    now_label: str
    bands: tuple[Band, ...]
    arriving: tuple[Tick, ...]
    processed: tuple[Tick, ...]
    drains: tuple[Band, ...]
    buffered: str
    """Path of the area, in a box of 1000 by 36."""
    peak: int
    flags: tuple[Flag, ...]
    grid: tuple[tuple[float, str], ...]
    summary: str
    """A summary in words."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """One state over a period; `until` None: until now."""

    state: KeyState
    since: int
    until: int | None
    reason: str = ""
    stopped_after: int | None = None
    """Of a drain that a hold has stopped: the last source offset that was drained."""


class _Window:
    """Times to per cent of the width."""

    def __init__(self, start: int, now: int) -> None:
        self.start, self.now = start, now
        self.end = start + round((now - start) / _NOW_AT)

    def x(self, at: float) -> float:
        share = (at - self.start) / max(1, self.end - self.start)
        return round(100 * min(1.0, max(0.0, share)), 2)


def timeline(
    history: Sequence[HistoryItem],
    arrivals: Sequence[Arrival],
    *,
    span: str,
    now: int,
    expires_at: int | None,
    buffered: int = 0,
) -> Timeline:
    """The picture of the last `span`: one of SPANS, or `all` for the whole known history.
    `buffered` is the present number of held events."""
    outcomes = sorted(
        (row for item in history for row in item.effective if row.outcome),
        key=lambda row: row.sort_key,
    )
    window = _Window(_start(span, now, outcomes, arrivals), now)
    stretches = _stretches(outcomes)
    held = _held_ranges(outcomes)
    shown = [arrival for arrival in arrivals if window.start <= arrival.at <= now][-_MOST_TICKS:]
    kept = {arrival for arrival in shown if _is_held(arrival, held)}
    drains = [s for s in stretches if s.state is KeyState.DRAINING]
    path, peak = _buffered(window, sorted(kept, key=lambda a: a.at), stretches, buffered)
    return Timeline(
        now=window.x(now),
        now_label=clock(now, now)[:5],
        bands=_bands(window, stretches, expires_at),
        arriving=tuple(Tick("h" if a in kept else "", window.x(a.at)) for a in shown),
        processed=tuple(Tick("", window.x(a.at)) for a in shown if a not in kept),
        drains=tuple(_drain(window, stretch) for stretch in drains if _seen(window, stretch)),
        buffered=path,
        peak=peak,
        flags=_flags(window, outcomes),
        grid=_grid(window),
        summary=_summary(stretches, now, peak),
    )


def held_since(history: Sequence[HistoryItem]) -> int | None:
    """The start of the present hold or drain; None if there is none."""
    began: dict[int, int] = {}
    rows = (row for item in history for row in item.effective)
    for row in sorted(rows, key=lambda row: row.sort_key):
        if row.outcome is Outcome.HELD:
            began.setdefault(row.partition, row.at)
        elif row.outcome is Outcome.DRAINED:
            began.pop(row.partition, None)
    return min(began.values(), default=None)


def fitting_span(since: int | None, now: int) -> str:
    """The shortest span that shows a key since it was put on hold."""
    if since is None:
        return "1h"
    return next((name for name, span in SPANS.items() if (now - since) * 1.1 <= span), "all")


def was_held(history: Sequence[HistoryItem], arrival: Arrival) -> bool:
    """Returns True if the event was held when it came."""
    rows = [row for item in history for row in item.effective if row.outcome]
    return bool(rows) and _is_held(arrival, _held_ranges(sorted(rows, key=lambda r: r.sort_key)))


def _start(span: str, now: int, outcomes: Sequence[AuditRow], arrivals: Sequence[Arrival]) -> int:
    if span in SPANS:
        return now - SPANS[span]
    first = [row.at for row in outcomes[:1]] + [arrival.at for arrival in arrivals[:1]]
    oldest = min(first, default=now - HOUR_MS)
    return min(oldest - max(60_000, (now - oldest) // 20), now - 10 * 60_000)


def _stretches(outcomes: Iterable[AuditRow]) -> list[_Stretch]:
    """The key's states over time. Partitions may differ: HELD in one is HELD, as in the view."""
    states: dict[int, KeyState] = {}
    found: list[_Stretch] = []
    for row in outcomes:
        match row.outcome:
            case Outcome.HELD:
                states[row.partition] = KeyState.HELD
            case Outcome.RELEASED | Outcome.EXPIRED:
                states[row.partition] = KeyState.DRAINING
            case Outcome.DRAINED:
                states[row.partition] = KeyState.ACTIVE
            case _:
                continue
        state = combined_state(states.values())
        if found and found[-1].state is state:
            continue
        if found:
            last = found[-1]
            stopped = row.drained_through if state is KeyState.HELD else None
            found[-1] = _Stretch(last.state, last.since, row.at, last.reason, stopped)
        found.append(_Stretch(state, row.at, None, row.reason))
    return found


def _held_ranges(outcomes: Iterable[AuditRow]) -> list[tuple[int, int, int | None]]:
    """Partition, first and end offset of held events; no end: they are still held."""
    began: dict[int, int] = {}
    ranges: list[tuple[int, int, int | None]] = []
    for row in outcomes:
        if row.cut is None:
            continue
        if row.outcome is Outcome.HELD:
            began.setdefault(row.partition, row.cut)
        elif row.outcome is Outcome.DRAINED and row.partition in began:
            ranges.append((row.partition, began.pop(row.partition), row.cut))
    return ranges + [(partition, first, None) for partition, first in began.items()]


def _is_held(arrival: Arrival, ranges: Iterable[tuple[int, int, int | None]]) -> bool:
    return any(
        partition == arrival.partition
        and arrival.offset >= first
        and (end is None or arrival.offset < end)
        for partition, first, end in ranges
    )


def _bands(
    window: _Window, stretches: Sequence[_Stretch], expires_at: int | None
) -> tuple[Band, ...]:
    first = stretches[0].since if stretches else window.now
    bands = [_band(window, _Stretch(KeyState.ACTIVE, window.start, first))]
    bands += [_band(window, stretch) for stretch in stretches]
    if stretches and stretches[-1].state is KeyState.HELD and expires_at is not None:
        x = window.x(window.now)
        width = round(window.x(expires_at) - x, 2)
        label = f"until {clock(expires_at, window.now)[:5]}" if width >= _NARROW else ""
        bands.append(Band("next", x, width, label))
    return tuple(band for band in bands if band.width > 0)


def _band(window: _Window, stretch: _Stretch) -> Band:
    x = window.x(stretch.since)
    width = round(window.x(window.now if stretch.until is None else stretch.until) - x, 2)
    style = {"ACTIVE": "active", "HELD": "held", "DRAINING": "drain"}[stretch.state.value]
    label = stretch.state.value if width >= _NARROW else ""
    room = int(width / _LETTER) - len(label) - 4
    if label and stretch.reason and stretch.state is KeyState.HELD and room > 8:
        reason = stretch.reason
        label += f": {reason if len(reason) <= room else reason[: room - 1] + '…'}"
    return Band(style, x, width, label)


def _seen(window: _Window, stretch: _Stretch) -> bool:
    return stretch.until is None or stretch.until > window.start


def _drain(window: _Window, stretch: _Stretch) -> Band:
    x = window.x(stretch.since)
    end = window.x(window.now if stretch.until is None else stretch.until)
    return Band("d", x, max(0.3, round(end - x, 2)), "")


def _buffered(
    window: _Window, kept: Sequence[Arrival], stretches: Sequence[_Stretch], held_now: int
) -> tuple[str, int]:
    """The area under the number of held events, and its highest value."""
    points: list[tuple[float, float]] = [(window.start, 0)]
    drains = [s for s in stretches if s.state is KeyState.DRAINING and _seen(window, s)]
    level, waiting = 0, list(kept)
    if stretches and not drains:
        # Held events that did not arrive within the picture were there before.
        level = max(0, held_now - len(kept))
        began = max(window.start, min(stretches[-1].since, kept[0].at if kept else window.now))
        points += [(began, 0), (began, level)]
    for drain in drains:
        until = window.now if drain.until is None else drain.until
        level = _rise(points, [a for a in waiting if a.at <= drain.since], level)
        waiting = [a for a in waiting if a.at > drain.since]
        behind = [a for a in waiting if a.at <= until]
        waiting = [a for a in waiting if a.at > until]
        if drain.until is None:  # present events were there before, or have come since
            level = max(level, held_now - len(behind))
        left = held_now if drain.until is None else _left(drain, kept, until)
        if until > window.start:
            points += [(max(drain.since, window.start), level), (until, left)]
        level = left
    level = _rise(points, waiting, level)
    points.append((window.now, level))
    peak = max(1.0, *(height for _, height in points))
    body = "L".join(f"{10 * window.x(at):.1f},{34 - 30 * h / peak:.1f}" for at, h in points)
    end = 10 * window.x(window.now)
    return f"M0,34L{body}L{end:.1f},34Z", round(peak) if any(h for _, h in points) else 0


def _left(drain: _Stretch, kept: Sequence[Arrival], until: int) -> int:
    """The number of events left at the end of a drain."""
    if drain.stopped_after is None:
        return 0
    return sum(a.at <= until and a.offset > drain.stopped_after for a in kept)


def _rise(points: list[tuple[float, float]], arrivals: Iterable[Arrival], level: int) -> int:
    for arrival in arrivals:
        points += [(arrival.at, level), (arrival.at, level + 1)]
        level += 1
    return level


_TITLES = {
    Outcome.HELD: "Held", Outcome.RELEASED: "Released", Outcome.EXPIRED: "Expired",
    Outcome.DRAINED: "Drained", Outcome.DEAD_LETTERED: "Dead-lettered",
}  # fmt: skip


def _title(row: AuditRow) -> str | None:
    if row.outcome is None:
        return None
    if row.name == GUARD and not row.command:
        return TRIES.get(row.outcome)
    return _TITLES.get(row.outcome)


def _flags(window: _Window, outcomes: Iterable[AuditRow]) -> tuple[Flag, ...]:
    flags: list[Flag] = []
    last = -100.0
    for row in outcomes:
        title = _title(row)
        if title is None or row.at < window.start:
            continue
        x = window.x(row.at)
        # The label of "now" stands to the left of its line, and takes as much room.
        left = x > 100 * _NOW_AT - 2 * _LABEL_GAP
        free = x - last >= (2 * _LABEL_GAP if left else _LABEL_GAP)
        labelled = free and x <= 100 * _NOW_AT - _LABEL_GAP
        if labelled:
            last = x
        moment = clock(row.at, window.now)[:5]
        text = "" if row.cut is None else f"cut {row.partition} : {number(row.cut)}"
        flags.append(Flag(x, f"{title} {moment}", text, labelled, left))
    return tuple(flags)


def _grid(window: _Window) -> tuple[tuple[float, str], ...]:
    span = window.end - window.start
    step = next((step for step in _GRID_STEPS_MS if span / step <= 8), _GRID_STEPS_MS[-1])
    first = -(-window.start // step) * step
    days = step >= _GRID_STEPS_MS[-2]
    lines = []
    for at in range(first, window.end, step):
        moment = from_ms(at)
        x = window.x(at)
        if 2 <= x <= 98:
            lines.append((x, f"{moment.day} {moment:%b}" if days else f"{moment:%H:%M}"))
    return tuple(lines)


def _summary(stretches: Sequence[_Stretch], now: int, peak: int) -> str:
    if not stretches:
        return "Never held, as far as is known."
    periods = [f"{s.state.value} since {clock(s.since, now)}" for s in stretches[-6:]]
    return "; ".join(periods) + f"; at most {number(peak)} events buffered."
