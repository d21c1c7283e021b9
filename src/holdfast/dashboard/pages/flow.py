"""Flow: its rates, three live lanes, its keys, and its recent commands."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from holdfast.dashboard.commands import CommandRow, recent_commands, times_to_effective
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.pages.overview import FlowLine, flow_line
from holdfast.dashboard.state_styles import StateStyle, key_styles
from holdfast.flows.holds import describe_hold
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import KeyState
from holdfast.gate.unreadable import Offsets, offsets_to_skip
from holdfast.views.audit import MAX_PAGE as MAX_ROWS
from holdfast.views.audit import AuditQuery
from holdfast.views.flow_view import FlowSummary, FlowView, PrefixView
from holdfast.views.keys import KeyQuery, KeyRow, KeySort

PAGE = 25
SOON_MS = 3_600_000
_NEAR_LIMIT = 0.5
"""A key shows a meter from this share of its limit on."""
_ACTIVITY = 8

COLUMNS = (
    ("key", "Key", ""),
    ("state", "State", ""),
    ("reason", "Reason", ""),
    ("actor", "Actor", ""),
    ("since", "Since", ""),
    ("expires", "Expires", ""),
    ("attempts", "Attempts", "num"),
    ("events", "Events", "num"),
    ("bytes", "Bytes", "num"),
    ("oldest", "Oldest", "num"),
)
_FILTERS = {
    "all": KeyQuery(),
    "held": KeyQuery(states=frozenset({KeyState.HELD})),
    "draining": KeyQuery(states=frozenset({KeyState.DRAINING})),
    "pending": KeyQuery(pending=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFilter:
    """The filter of the table, as in the page's address."""

    show: str = "all"
    search: str = ""
    sort: KeySort = KeySort.SINCE
    descending: bool = True
    cursor: str | None = None

    def query(self, limit: int = PAGE) -> KeyQuery:
        """The view's query."""
        chosen = _FILTERS.get(self.show, _FILTERS["all"])
        return KeyQuery(
            states=chosen.states,
            pending=chosen.pending,
            search=self.search,
            sort=self.sort,
            descending=self.descending,
            limit=limit,
            cursor=self.cursor,
        )

    def at(self, cursor: str | None) -> "KeyFilter":
        return replace(self, cursor=cursor)

    def address(self, **changes: str | None) -> str:
        """The query string with some values changed; defaults are left out."""
        values: dict[str, str | None] = {
            "show": None if self.show == "all" else self.show,
            "text": self.search or None,
            "sort": None if self.sort is KeySort.SINCE else self.sort.value,
            "order": None if self.descending else "asc",
            "cursor": self.cursor,
            **changes,
        }
        return urlencode({name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True, slots=True)
class KeyLine:
    name: KeyName
    row: KeyRow
    styles: tuple[StateStyle, ...]
    used: float
    """The used share of the key's limit, from 0 to 100; 0 while it is small."""


@dataclass(frozen=True, slots=True)
class SortLink:
    """The head of a column."""

    title: str
    style: str
    address: str
    direction: str
    """`ascending`, `descending`, or empty if another column sorts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTable:
    filter: KeyFilter
    lines: tuple[KeyLine, ...]
    total: int
    counts: tuple[tuple[str, str, int], ...]
    """Filter, title, number of keys."""
    columns: tuple[SortLink, ...]
    first: str | None
    """The address of the first page, unless this is it."""
    previous: str | None
    next: str | None
    is_guard: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowGlance:
    """The flow's state and rates."""

    definition: FlowDefinition
    line: FlowLine
    summary: FlowSummary
    unreadable: int | None
    """The offset of the unreadable command that the gate has stopped at."""
    to_skip: Offsets | None
    """The unreadable events that the gate has stopped at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPage(FlowGlance):
    """The page without its table."""

    activity: tuple[CommandRow, ...]
    usual_ms: int | None
    """The usual time until a command is effective."""


@dataclass(frozen=True, slots=True)
class PrefixLine:
    """A held prefix in the list."""

    name: KeyName
    held: PrefixView
    ends: str
    """When its last hold ends, and why it is held, for people."""


def prefix_lines(view: FlowView) -> tuple[PrefixLine, ...]:
    return tuple(
        PrefixLine(KeyName(each.prefix), each, "; ".join(map(describe_hold, each.holds)))
        for each in view.prefixes()
    )


def flow_glance(view: FlowView) -> FlowGlance:
    """The parts that change every second."""
    summary = view.summary()
    return FlowGlance(
        definition=view.definition,
        line=flow_line(view, summary),
        summary=summary,
        unreadable=None if summary.health.well else _unreadable(view),
        to_skip=None if summary.health.well else offsets_to_skip(summary.health.reason),
    )


def flow_page(view: FlowView, now: int) -> FlowPage:
    glance = flow_glance(view)
    commands = recent_commands(view, now)
    times = times_to_effective(commands)
    return FlowPage(
        definition=glance.definition,
        line=glance.line,
        summary=glance.summary,
        unreadable=glance.unreadable,
        to_skip=glance.to_skip,
        activity=tuple(commands[:_ACTIVITY]),
        usual_ms=times[len(times) // 2] if times else None,
    )


def _unreadable(view: FlowView) -> int | None:
    """The first unreadable command that no partition has passed."""
    passed = min((position.control for position in view.positions().values()), default=0)
    rows = view.audit(AuditQuery(log="control", limit=MAX_ROWS)).rows
    return min((r.offset for r in rows if not r.command and r.offset >= passed), default=None)


def key_table(view: FlowView, chosen: KeyFilter) -> KeyTable:
    """The keys of the filter; InvalidArgumentError for an invalid cursor."""
    page = view.keys(chosen.query())
    if not page.rows and page.total:  # all keys after the cursor are gone
        chosen = chosen.at(None)
        page = view.keys(chosen.query())
    return KeyTable(
        filter=chosen,
        lines=key_lines(view, page.rows),
        total=page.total,
        counts=_counts(view),
        columns=tuple(
            _column(chosen, *column)
            for column in COLUMNS
            if view.definition.is_guard or column[0] != KeySort.ATTEMPTS.value
        ),
        first=chosen.address(cursor=None) if page.previous else None,
        previous=chosen.address(cursor=page.previous) if page.previous else None,
        next=chosen.address(cursor=page.cursor) if page.cursor else None,
        is_guard=view.definition.is_guard,
    )


def key_lines(view: FlowView, rows: Sequence[KeyRow]) -> tuple[KeyLine, ...]:
    limits = view.definition.limits
    return tuple(
        _line(row, max(row.events / limits.key_events, row.bytes / limits.key_bytes))
        for row in rows
    )


def _line(row: KeyRow, share: float) -> KeyLine:
    used = min(100.0, 100 * share) if share >= _NEAR_LIMIT or row.overflow else 0.0
    return KeyLine(KeyName(row.key), row, key_styles(row), used)


def _counts(view: FlowView) -> tuple[tuple[str, str, int], ...]:
    """The number of keys of each filter. Most keys are held, so they are counted, never sorted."""
    summary = view.summary()
    pending = view.keys(KeyQuery(states=frozenset({KeyState.ACTIVE}), limit=1)).total
    counts = {
        "all": summary.held_keys + summary.draining_keys + pending,
        "held": summary.held_keys,
        "draining": summary.draining_keys,
        "pending": view.keys(_FILTERS["pending"]).total,
    }
    return tuple((name, name.capitalize(), counts[name]) for name in _FILTERS)


def _column(chosen: KeyFilter, name: str, title: str, style: str) -> SortLink:
    sorted_by = chosen.sort.value == name
    # The first click on a column of numbers or times shows the most, the newest first.
    falls = not chosen.descending if sorted_by else name not in ("key", "state", "reason", "actor")
    address = chosen.address(
        sort=None if name == KeySort.SINCE.value else name,
        order=None if falls else "asc",
        cursor=None,
    )
    direction = ("descending" if chosen.descending else "ascending") if sorted_by else ""
    return SortLink(title, style, address, direction)
