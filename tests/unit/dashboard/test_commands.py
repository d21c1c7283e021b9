"""Commands as rows: pending until effective; those that were asked for together are one."""

from dataclasses import replace

from holdfast.dashboard.commands import command_row, note_of, times_to_effective, together
from holdfast.dashboard.live import drain_rate
from holdfast.dashboard.state_styles import key_styles
from holdfast.flows.journal import Outcome
from holdfast.flows.status import KeyState
from holdfast.gate.settings import GateSettings
from holdfast.views.audit import AuditRow, HistoryItem, history_of
from holdfast.views.keys import KeyRow
from holdfast.views.series import Sample

NOW = 1_767_225_600_000


def asked(key: bytes, at: int = NOW, command: str = "hold", reason: str = "") -> AuditRow:
    return AuditRow(
        log="control", partition=0, offset=7, at=at, key=key, command=command, command_id="c",
        command_offset=7, actor="ana", reason=reason,
    )  # fmt: skip


def came(key: bytes, at: int, outcome: Outcome, partition: int = 0) -> AuditRow:
    return AuditRow(
        log="journal", partition=partition, offset=0, at=at, key=key, command="hold",
        command_id="c", command_offset=7, actor="ana", outcome=outcome, cut=40 + partition,
    )  # fmt: skip


def test_command_is_pending_until_the_journal_has_it() -> None:
    request = asked(b"k", reason="disputed")
    pending = command_row("orders", HistoryItem(request, ()), NOW)
    assert pending.pending
    assert pending.style.word == "Hold requested"
    assert not pending.cuts
    done = HistoryItem(request, (came(b"k", NOW + 200, Outcome.HELD),))
    row = command_row("orders", done, NOW)
    assert not row.pending
    assert row.style.word == "HELD"
    assert row.what == "disputed"
    assert [(cut.partition, cut.offset) for cut in row.cuts] == [(0, 40)]
    assert times_to_effective([row, pending]) == [200]


def test_changed_settings_are_described_in_words() -> None:
    settings = GateSettings(overflow="dead-letter", schema="id BIGINT")
    row = replace(came(b"", NOW, Outcome.CHANGED), key=None, note=settings.document)
    assert note_of(row) == (
        "at most 1.0M events or 1.0 GiB a key, 10M events or 10.0 GiB in all; "
        "at the limit: dead-letter; schema: id BIGINT"
    )
    assert note_of(replace(row, note="not JSON")) == "not JSON"
    assert note_of(replace(row, outcome=Outcome.HELD, note="as it is")) == "as it is"


def test_commands_of_one_request_are_one_row() -> None:
    rows = [
        command_row(
            "orders",
            HistoryItem(asked(key, NOW + n), (came(key, NOW + 100 + n, Outcome.HELD, n),)),
            NOW,
        )
        for n, key in enumerate((b"a", b"b", b"c"))
    ]
    other = command_row("orders", HistoryItem(asked(b"d", NOW - 60_000), ()), NOW)
    grouped = together([*rows, other])
    assert [row.keys for row in grouped] == [3, 1]
    assert grouped[0].at == NOW
    assert grouped[0].effective_at == NOW + 102
    assert len(grouped[0].cuts) == 3


def test_change_without_a_command_is_not_pending() -> None:
    row = AuditRow(
        log="journal", partition=0, offset=0, at=NOW, key=b"k", outcome=Outcome.DRAINED, cut=9
    )
    shown = command_row("orders", HistoryItem(None, (row,)), NOW)
    assert not shown.pending
    assert not shown.asked
    assert shown.title == "Drained"


def test_expiry_is_not_an_outcome_of_the_hold() -> None:
    rows = [
        asked(b"k"),
        came(b"k", NOW + 200, Outcome.HELD),
        came(b"k", NOW + 9000, Outcome.EXPIRED),
    ]
    expired, held = [command_row("orders", item, NOW) for item in history_of(rows)]
    assert (expired.title, expired.asked, expired.actor) == ("Expired", False, "")
    assert (held.title, held.style.word) == ("Hold", "HELD")
    assert times_to_effective([expired, held]) == [200]


def test_key_shows_its_state_and_pending_commands() -> None:
    held = KeyRow(key=b"k", state=KeyState.HELD, pending=("release",))
    assert [style.word for style in key_styles(held)] == ["HELD", "Release requested"]
    new = KeyRow(key=b"k", pending=("hold",))
    assert [style.word for style in key_styles(new)] == ["Hold requested"]


def test_drain_rate_is_the_arrivals_minus_the_growth_of_held() -> None:
    filling = [Sample(at=n * 1000, held=10, held_events=10 * n) for n in range(6)]
    assert drain_rate(filling) == 0
    draining = [Sample(at=n * 1000, held=10, held_events=500 - 15 * n) for n in range(6)]
    assert drain_rate(draining) == 25
    assert drain_rate(draining[:1]) == 0
