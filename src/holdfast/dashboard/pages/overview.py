"""Overview: every flow at a glance, alerts, recent commands."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.clock import duration_text
from holdfast.dashboard.commands import CommandRow, recent_commands, times_to_effective
from holdfast.dashboard.formats import clock, number
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.sparkline import Sparkline, sparkline
from holdfast.dashboard.state_styles import StateStyle, flow_style, pending_style
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import KeyState
from holdfast.views.flow_view import FlowSummary, FlowView
from holdfast.views.health import HealthState
from holdfast.views.keys import KeyQuery, KeyRow, KeySort
from holdfast.views.series import Sample

SOON_MS = 3_600_000
_LATE_MS = 5_000
"""Commands are usually effective within a second; one that takes this long raises an alert."""
_LATELY_MS = 600_000
"""The period of the rates: one slow start is not reported for ever."""
_COMMANDS = 7
_EXPIRING = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLine:
    """One flow in the table and in the side bar."""

    name: str
    topic: str
    """The topic that a guard reads; empty for a flow with a gate."""
    partitions: int
    style: StateStyle
    incoming: float
    outgoing: float
    held_events: int
    held_bytes: int
    held_keys: int
    draining_keys: int
    lag: int
    incoming_line: Sparkline
    outgoing_line: Sparkline
    held_line: Sparkline
    lag_line: Sparkline
    used: float
    """The used share of the flow's limit, from 0 to 100."""
    limit: int


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert: a state, a sentence, and a link."""

    flow: str
    style: StateStyle
    text: str
    link: str
    link_text: str
    severe: bool = False


@dataclass(frozen=True, slots=True)
class Expiring:
    """A key whose hold ends soon."""

    flow: str
    key: KeyName
    reason: str
    events: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """All flows together."""

    incoming: float
    outgoing: float
    held_keys: int
    draining_keys: int
    held_events: int
    held_bytes: int
    pending: int
    p99_ms: int | None
    """Time to effective of the commands of the last ten minutes; None if there were none."""
    commands: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    flows: tuple[FlowLine, ...]
    alerts: tuple[Alert, ...]
    totals: Totals
    commands: tuple[CommandRow, ...]
    expiring: tuple[Expiring, ...]

    def count(self, word: str) -> int:
        return sum(flow.style.word == word for flow in self.flows)

    @property
    def urgent(self) -> int:
        return sum(flow.style.urgent for flow in self.flows)


def overview(views: Sequence[FlowView], now: int) -> Overview:
    """All flows, worst first."""
    summaries = [(view, view.summary()) for view in views]
    commands = [row for view in views for row in recent_commands(view, now)]
    commands.sort(key=lambda row: row.at, reverse=True)
    expiring = sorted(
        (key for view in views for key in _expiring(view)), key=lambda key: key.expires_at
    )
    return Overview(
        flows=flow_lines(summaries),
        alerts=_alerts(summaries, commands, expiring, now),
        totals=_totals(
            [summary for _, summary in summaries],
            [row for row in commands if row.at >= now - _LATELY_MS],
        ),
        commands=tuple(commands[:_COMMANDS]),
        expiring=tuple(expiring[:_EXPIRING]),
    )


def flow_lines(summaries: Sequence[tuple[FlowView, FlowSummary]]) -> tuple[FlowLine, ...]:
    """The flows, worst first, then by name."""
    lines = [flow_line(view, summary) for view, summary in summaries]
    return tuple(sorted(lines, key=lambda line: (line.style.rank, line.name)))


def flow_line(view: FlowView, summary: FlowSummary) -> FlowLine:
    """One flow with its last minutes."""
    samples = view.series.samples()
    last = summary.now or Sample(at=0)
    limits = summary.definition.limits
    return FlowLine(
        name=view.name,
        topic=summary.definition.topic or "",
        partitions=summary.definition.partitions,
        style=flow_style(summary),
        incoming=last.incoming,
        outgoing=last.outgoing,
        held_events=summary.held_events,
        held_bytes=summary.held_bytes,
        held_keys=summary.held_keys,
        draining_keys=summary.draining_keys,
        lag=last.lag,
        incoming_line=sparkline([sample.incoming for sample in samples]),
        outgoing_line=sparkline([sample.outgoing for sample in samples]),
        held_line=sparkline([sample.held_events for sample in samples]),
        lag_line=sparkline([sample.lag for sample in samples]),
        used=used_share(summary),
        limit=limits.flow_events,
    )


def used_share(summary: FlowSummary) -> float:
    """The used share of the flow's limit, in per cent: events or bytes, the larger one."""
    limits = summary.definition.limits
    by_events = summary.held_events / limits.flow_events
    by_bytes = summary.held_bytes / limits.flow_bytes
    return min(100.0, 100 * max(by_events, by_bytes))


def _alerts(
    summaries: Sequence[tuple[FlowView, FlowSummary]],
    commands: Sequence[CommandRow],
    expiring: Sequence[Expiring],
    now: int,
) -> tuple[Alert, ...]:
    alerts = [alert for _, summary in summaries if (alert := _unwell(summary))]
    alerts.sort(key=lambda alert: alert.style.rank)
    alerts += [_late(row, now) for row in commands if row.pending and now - row.at > _LATE_MS]
    for view, summary in summaries:
        soon = [key for key in expiring if key.flow == view.name and key.expires_at - now < SOON_MS]
        if soon:
            alerts.append(_ends_soon(summary.definition, soon, now))
    return tuple(alerts[:8])


def _unwell(summary: FlowSummary) -> Alert | None:
    state = summary.health.state
    name = summary.definition.name
    style = flow_style(summary)
    link, health = f"/flows/{name}", "/health"
    lag = summary.now.lag if summary.now else 0
    match state:
        case HealthState.BLOCKED:
            limits = summary.definition.limits
            text = (
                f"takes no more events: {number(summary.held_events)} of "
                f"{number(limits.flow_events)} events are held, and the policy is "
                f"{summary.definition.overflow}. Nothing is lost; {number(lag)} wait."
            )
            keys = f"See the {number(summary.held_keys)} held keys"
            return Alert(name, style, text, link, keys, severe=True)
        case HealthState.FAILED | HealthState.STOPPED | HealthState.SILENT | HealthState.WAITING:
            why = summary.health.reason or "its pipeline does not run"
            text = f"takes no events: {why.rstrip('.')}. Nothing is lost; {number(lag)} wait."
            return Alert(name, style, text, link, "See the flow", severe=True)
        case HealthState.UNKNOWN if not summary.definition.is_guard:
            text = "has no pipeline: no event passes until one is started (holdfast up)."
            return Alert(name, style, text, health, "See its health")
    return None


def _late(row: CommandRow, now: int) -> Alert:
    whom = f"{number(row.keys)} keys" if row.keys > 1 or row.key is None else row.key.brief
    text = (
        f"{row.title.lower()} of {whom} was requested {duration_text(now - row.at)} ago "
        f"by {row.actor} and is not effective yet."
    )
    command = row.title.lower()
    return Alert(row.flow, pending_style(command), text, f"/audit?flow={row.flow}", "Follow")


def _ends_soon(flow: FlowDefinition, soon: Sequence[Expiring], now: int) -> Alert:
    holds = "hold expires" if len(soon) == 1 else "holds expire"
    text = (
        f"{len(soon)} {holds} within the hour and will then be released, the first, "
        f"{soon[0].key.brief}, at {clock(soon[0].expires_at, now)}."
    )
    link = f"/flows/{flow.name}?sort=expires&order=asc"
    style = StateStyle("held", "clock", "EXPIRING")
    return Alert(flow.name, style, text, link, "Review")


def _expiring(view: FlowView) -> list[Expiring]:
    query = KeyQuery(
        states=frozenset({KeyState.HELD}), sort=KeySort.EXPIRES, descending=False, limit=100
    )
    return [_expires(view.name, row) for row in view.keys(query).rows if row.expires_at]


def _expires(flow: str, row: KeyRow) -> Expiring:
    return Expiring(flow, KeyName(row.key), row.reason, row.events, row.expires_at or 0)


def _totals(summaries: Sequence[FlowSummary], commands: Sequence[CommandRow]) -> Totals:
    times = times_to_effective(commands)
    samples = [summary.now for summary in summaries if summary.now]
    return Totals(
        incoming=sum(sample.incoming for sample in samples),
        outgoing=sum(sample.outgoing for sample in samples),
        held_keys=sum(summary.held_keys for summary in summaries),
        draining_keys=sum(summary.draining_keys for summary in summaries),
        held_events=sum(summary.held_events for summary in summaries),
        held_bytes=sum(summary.held_bytes for summary in summaries),
        pending=sum(summary.pending_commands for summary in summaries),
        p99_ms=times[min(len(times) - 1, int(len(times) * 0.99))] if times else None,
        commands=len(times),
    )
