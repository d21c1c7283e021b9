"""One flow's view: what is pending, what is effective, what is held, from the records alone."""

from dataclasses import replace
from time import time

import pytest

from holdfast.flows.commands import Command, Hold, Release, encode_command
from holdfast.flows.holds import GUARD, StandingHold
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome, encode_journal
from holdfast.flows.keys import partition_of
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import Report, decode_report, encode_report
from holdfast.flows.status import Active, Entry, KeyState, Position, ScopeStatus
from holdfast.views.audit import AuditQuery, AuditWindow, effective, requested
from holdfast.views.changes import ChangeKind
from holdfast.views.flow_view import FlowView
from holdfast.views.follower import with_arrival_time
from holdfast.views.health import SILENT_AFTER_MS, HealthState, health_of
from holdfast.views.keys import KeyQuery

KEY = b"customer-7"
HOME = partition_of(KEY, 3)
HOLD = Hold(id="h1", actor="ana", at=1_000, key=KEY, reason="disputed")


def a_view() -> FlowView:
    view = FlowView(FlowDefinition(name="orders", partitions=3, created_at=1))
    view.go_live()
    return view


def ask(view: FlowView, command: Command, offset: int = 0) -> None:
    view.take_audit(requested(offset, command.at, *encode_command(command)))


def answer(view: FlowView, outcome: Outcome, command: Command, at: int, offset: int = 0) -> None:
    record = JournalRecord(
        outcome=outcome, cut=41, step=1, at=at, key=KEY,
        command=CommandReference(command.id, command.name, at),
    )  # fmt: skip
    view.take_audit(effective(HOME, offset, 2_000, *encode_journal(record)))


def position(control: int) -> Position:
    return Position(offset=41, control=control, step=1, owner="o")


def held_entry(**fields: object) -> Entry:
    entry = Entry(
        key=KEY, state=KeyState.HELD, command_id="h1", command_offset=0, actor="ana",
        reason="disputed", since=2_000, cut=41, held_from=0, drained_through=40,
    )  # fmt: skip
    return entry._replace(**fields)  # type: ignore[arg-type]


def test_command_is_pending_until_its_partition_has_applied_it() -> None:
    view = a_view()
    ask(view, HOLD, offset=5)
    [row] = view.keys(KeyQuery()).rows
    assert (row.state, row.pending) == (KeyState.ACTIVE, ("hold",))
    view.take_status((HOME + 1) % 3, position(control=6))
    view.take_status(HOME, position(control=5))
    assert view.key(KEY).row.pending == ("hold",)
    view.take_status(HOME, held_entry())
    view.take_status(HOME, position(control=6))
    row = view.key(KEY).row
    assert (row.state, row.pending, row.reason) == (KeyState.HELD, (), "disputed")
    assert view.summary().pending_commands == 0


def test_command_that_was_applied_before_it_is_read_is_not_pending() -> None:
    view = a_view()
    view.take_status(HOME, position(control=6))
    ask(view, HOLD, offset=5)
    assert view.keys(KeyQuery()).rows == ()
    ask(view, HOLD, offset=6)
    assert view.keys(KeyQuery()).total == 1


def test_key_leaves_the_list_when_its_last_entry_goes() -> None:
    view = a_view()
    view.take_status(0, held_entry(events=2))
    view.take_status(1, held_entry(events=3, foreign=True))
    assert view.summary().held_events == 5
    view.take_status(0, Active(KEY))
    assert view.keys(KeyQuery()).total == 1
    view.take_status(1, Active(KEY))
    assert view.keys(KeyQuery()).total == 0
    assert view.key(KEY).row.state is KeyState.ACTIVE


def test_history_joins_commands_with_their_outcomes() -> None:
    view = a_view()
    release = Release(id="r1", actor="bo", at=3_000, key=KEY)
    ask(view, HOLD, offset=0)
    answer(view, Outcome.HELD, HOLD, at=0)
    ask(view, release, offset=1)
    newest, oldest = view.key(KEY).history
    assert newest.requested is not None
    assert newest.requested.command == "release"
    assert newest.pending
    assert [row.outcome for row in oldest.effective] == [Outcome.HELD]
    assert oldest.effective[0].actor == "ana"
    assert oldest.effective[0].cut == 41


@pytest.mark.parametrize("swapped", [False, True])
async def test_waiter_gets_the_outcome_of_the_first_command_with_its_id(
    swapped: bool,
) -> None:
    view = a_view()
    ask(view, HOLD, offset=0)
    async with view.waiting(["h1"], control_end=2) as waiting:
        outcomes = [(Outcome.HELD, 0), (Outcome.DUPLICATE, 1)]
        for outcome, number in reversed(outcomes) if swapped else outcomes:
            answer(view, outcome, HOLD, at=number, offset=number)
        assert not await waiting.wait(within=0.01)
        ask(view, HOLD, offset=1)
        assert await waiting.wait(within=5)
    assert waiting.outcomes["h1"].outcome is Outcome.HELD


async def test_known_outcome_is_returned_without_waiting() -> None:
    view = a_view()
    ask(view, HOLD, offset=0)
    answer(view, Outcome.HELD, HOLD, at=0)
    async with view.waiting(["h1"], control_end=1) as waiting:
        assert await waiting.wait(within=5)


def test_changes_list_keys_commands_and_outcomes_in_their_order() -> None:
    view = a_view()
    ask(view, HOLD, offset=0)
    answer(view, Outcome.HELD, HOLD, at=0)
    view.take_status(HOME, held_entry())
    view.take_status(HOME, held_entry())
    kinds = [change.kind for change in view.changes.since(0).changes]
    assert kinds == [ChangeKind.REQUESTED, ChangeKind.KEY, ChangeKind.EFFECTIVE, ChangeKind.KEY]


def test_unreadable_command_is_shown_and_not_hidden() -> None:
    view = a_view()
    view.take_audit(requested(3, 1_000, b"k", b"not a command"))
    [row] = view.audit(AuditQuery()).rows
    assert "cannot be read" in row.note


@pytest.mark.parametrize(
    ("query", "logs"),
    [
        (AuditQuery(), ["journal", "control"]),
        (AuditQuery(log="control"), ["control"]),
        (AuditQuery(outcome=Outcome.HELD), ["journal"]),
        (AuditQuery(actor="ana"), ["journal", "control"]),
        (AuditQuery(actor="bo"), []),
        (AuditQuery(search="DISPUTED"), ["journal", "control"]),
        (AuditQuery(key=b"other"), []),
        (AuditQuery(since=1_500), ["journal"]),
        (AuditQuery(until=1_500), ["control"]),
        (AuditQuery(command="release"), []),
        (AuditQuery(command_id="h1", limit=1), ["journal"]),
    ],
)
def test_audit_is_filtered_newest_first(query: AuditQuery, logs: list[str]) -> None:
    view = a_view()
    ask(view, HOLD, offset=0)
    record = JournalRecord(
        outcome=Outcome.HELD, cut=41, step=1, at=2_000, key=KEY,
        command=CommandReference("h1", "hold", 0),
    )  # fmt: skip
    view.take_audit(effective(HOME, 0, 2_000, *encode_journal(record)))
    page = view.audit(query)
    assert [row.log for row in page.rows] == logs
    assert (page.cursor is not None) is (query.limit == 1)


def test_window_is_bounded_and_names_the_time_from_which_it_is_complete() -> None:
    window = AuditWindow(capacity=3)
    for offset in range(5):
        command = Hold(id=f"h{offset}", actor="ana", at=1_000 + offset, key=b"k%d" % offset)
        window.append(requested(offset, command.at, *encode_command(command)))
    assert [row.offset for row in window.rows()] == [2, 3, 4]
    assert window.floor == 1_001
    assert window.of_key(b"k0") == []
    assert window.of_command("h1") == []


def report(**fields: object) -> Report:
    given = {"flow": "orders", "part": "gate", "state": "running", "at": 1_000, "process": "p"}
    return Report(**{**given, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reports", "now", "state"),
    [
        ({}, 1_000, HealthState.UNKNOWN),
        ({"gate": report()}, 1_000, HealthState.RUNNING),
        ({"gate": report()}, 1_001 + SILENT_AFTER_MS, HealthState.SILENT),
        ({"gate": report(state="stopped")}, 1_001 + SILENT_AFTER_MS, HealthState.STOPPED),
        ({"gate": report(state="failed", reason="why")}, 1_000, HealthState.FAILED),
        ({"gate": report(state="waiting", blocked=True)}, 1_000, HealthState.BLOCKED),
        (
            {"gate": report(), "raw-zone": report(part="raw-zone", state="failed", reason="disk")},
            1_000,
            HealthState.FAILED,
        ),
    ],
)
def test_health_follows_from_reports_and_from_missing_ones(
    reports: dict[str, Report], now: int, state: HealthState
) -> None:
    assert health_of(reports, now=now).state is state


def test_health_is_published_once_per_change() -> None:
    view = a_view()
    assert view.changed_health() is not None
    view.take_report(report(state="failed", reason="disk full"))
    told = view.changed_health()
    assert told is not None
    assert told.state is HealthState.SILENT  # a report of long ago
    assert view.changed_health() is None
    kinds = [change.kind for change in view.changes.since(0).changes]
    assert kinds == [ChangeKind.HEALTH, ChangeKind.HEALTH]


def test_report_comes_back_as_it_was_written() -> None:
    told = report(state="failed", reason="disk", blocked=True, taken=7, batch_seconds=0.25)
    assert decode_report(*encode_report(told)) == told


@pytest.mark.parametrize("wrong", [-3_600_000, 3_600_000])
def test_missing_reports_are_detected_by_arrival_time_and_not_by_the_pipelines_clock(
    wrong: int,
) -> None:
    now = round(time() * 1000)
    live = with_arrival_time(report(at=now + wrong), live=True)
    assert health_of({"gate": live}, now=now).state is HealthState.RUNNING
    later = now + SILENT_AFTER_MS + 60_000
    assert health_of({"gate": live}, now=later).state is HealthState.SILENT


def test_older_report_keeps_its_time_unless_it_is_in_the_future() -> None:
    now = round(time() * 1000)
    assert with_arrival_time(report(at=1_000), live=False).at == 1_000
    assert with_arrival_time(report(at=now + 3_600_000), live=False).at < now + 60_000


def scope(prefix: bytes, name: str) -> ScopeStatus:
    hold = StandingHold("h1", 0, name, "broken", None, name, prefix)
    return ScopeStatus(prefix, (hold,), since=1_000, cut=41)


def test_a_paused_flow_says_so_until_its_last_partition_has_resumed() -> None:
    view = a_view()
    now = int(time() * 1000)
    view.take_report(Report(flow="orders", part="gate", state="running", at=now, process="p"))
    for partition in range(3):
        view.take_status(partition, scope(b"", "ana"))
    assert view.health().state is HealthState.PAUSED
    assert "ana" in view.health().reason
    for partition in range(3):
        assert view.summary().pauses
        view.take_status(partition, ScopeStatus(b""))
    assert view.summary().pauses == ()
    assert view.health().state is HealthState.RUNNING


def test_a_key_of_a_held_prefix_is_held_before_its_first_event() -> None:
    view = a_view()
    view.take_status(0, scope(b"customer-", "ana"))
    row = view.key(KEY).row
    assert (row.state, row.reason, [hold.prefix for hold in row.holds]) == (
        KeyState.HELD,
        "broken",
        [b"customer-"],
    )
    [shown] = view.prefixes()
    assert (shown.prefix, shown.keys) == (b"customer-", 0)
    view.take_status(0, held_entry().with_holds(row.holds))
    assert view.prefixes()[0].keys == 1
    view.take_status(0, ScopeStatus(b"customer-"))
    assert view.prefixes() == ()


def test_guard_shows_failing_keys_their_next_try_and_its_circuit() -> None:
    view = FlowView(FlowDefinition(name="billing", partitions=3, created_at=1, topic="orders"))
    view.take_status(HOME, held_entry(name=GUARD, expires_at=9_000, attempts=2, error="E: no"))
    view.take_status(HOME, position(control=1))
    row = view.key(KEY).row
    assert (row.attempts, row.next_try, row.error) == (2, 9_000, "E: no")
    summary = view.summary()
    assert (summary.failing_keys, summary.circuit_open) == (1, False)
    assert view.health().state is HealthState.UNKNOWN
    view.take_status(HOME, replace(position(control=1), circuit=True))
    assert view.summary().circuit_open
    assert view.health().state is HealthState.WAITING
    assert "circuit is open" in view.health().reason
