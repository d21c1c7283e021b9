"""The audit as lines, with their state."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from urllib.parse import urlencode

from holdfast.control.audit import FlowRow, FlowsPage, audit_of_flows
from holdfast.control.filters import FilterError
from holdfast.control.key_paths import key_from_path
from holdfast.control.spans import Span
from holdfast.dashboard.commands import note_of
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.state_styles import StateStyle, outcome_style, pending_style
from holdfast.errors import HoldfastError
from holdfast.flows.journal import Outcome
from holdfast.views.audit import COMMANDS, AuditQuery, AuditRow

_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """The filter of the audit, as in the page's address."""

    flow: str = ""
    """Empty: all flows."""
    text: str = ""
    key: str = ""
    """As in addresses of keys."""
    actor: str = ""
    command: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""
    zone: str = ""

    def address(self, **changes: str) -> str:
        """The query string with some values changed; empty ones are left out."""
        values = {each.name: getattr(self, each.name) for each in fields(self)} | changes
        return urlencode({name: value for name, value in values.items() if value})

    def query(self, limit: int = _PAGE) -> AuditQuery:
        """The query, or FilterError."""
        if self.command and self.command not in COMMANDS:
            raise FilterError("command", f"There is no command {self.command!r}.")
        if self.outcome and self.outcome not in set(Outcome):
            raise FilterError("outcome", f"There is no outcome {self.outcome!r}.")
        span = Span.parse(self.since, self.until, zone=self.zone)
        return AuditQuery(
            key=self.key_bytes(),
            actor=self.actor,
            command=self.command,
            outcome=Outcome(self.outcome) if self.outcome else None,
            search=self.text,
            since=span.since,
            until=span.until,
            limit=limit,
        )

    def key_bytes(self) -> bytes | None:
        try:
            return key_from_path(self.key) if self.key else None
        except HoldfastError as error:
            raise FilterError("key", str(error)) from None

    @property
    def key_text(self) -> str:
        """The key as people read it, for the form's field."""
        try:
            key = self.key_bytes()
        except FilterError:
            return self.key
        return "" if key is None else KeyName(key).text


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One record of control log or journal."""

    flow: str
    row: AuditRow
    key: KeyName | None
    style: StateStyle

    @property
    def note(self) -> str:
        return note_of(self.row)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLines:
    lines: tuple[AuditLine, ...] = ()
    cursor: str | None = None
    stopped_early: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the filter, by its field."""


async def audit_lines(request: PageRequest, chosen: AuditFilter, cursor: str) -> AuditLines:
    try:
        query = chosen.query()
    except FilterError as error:
        return AuditLines(errors={error.field: str(error)})
    page = await audit_rows(request, chosen, replace(query, cursor=cursor or None))
    return AuditLines(
        lines=tuple(map(_line, page.rows)), cursor=page.cursor, stopped_early=page.stopped_early
    )


async def audit_rows(request: PageRequest, chosen: AuditFilter, query: AuditQuery) -> FlowsPage:
    """A page of the filter's flow, or of all."""
    views = [request.flow(chosen.flow)] if chosen.flow else request.flows()
    return await audit_of_flows(request.services, views, query, request.actor)


def _line(found: FlowRow) -> AuditLine:
    row = found.row
    key = None if row.key is None else KeyName(row.key)
    if row.outcome is not None:
        return AuditLine(found.flow, row, key, outcome_style(row.outcome, row.command))
    if row.log == "control" and row.command:
        return AuditLine(found.flow, row, key, pending_style(row.command))
    return AuditLine(found.flow, row, key, outcome_style(Outcome.UNREADABLE))
