"""Several holds on one key: nobody's hold ends by accident, and the last end releases the key."""

from tests.unit.gate.flow import Flow
from tests.unit.gate.model import home_of

from holdfast.flows.commands import decode_command, encode_command
from holdfast.flows.holds import MAX_HOLDS
from holdfast.flows.journal import Outcome
from holdfast.flows.status import Entry, decode_status

K = b"customer-7"


def names(flow: Flow, partition: int = 0) -> list[str]:
    entry = flow.entry(K, partition)
    return [] if entry is None else sorted(hold.name for hold in entry.holds)


def test_a_second_hold_changes_neither_reason_nor_expiry_of_the_first() -> None:
    flow = Flow()
    flow.hold(K, hold_name="fraud", reason="do not release")
    kept = flow.send(K)
    flow.batch()
    flow.hold(K, hold_name="support", reason="asked", expires_at=flow.now + 10)
    flow.keep()
    entry = flow.entry(K)
    assert entry is not None
    assert {(h.name, h.reason, h.expires_at) for h in entry.holds} == {
        ("fraud", "do not release", None), ("support", "asked", flow.now + 10),
    }  # fmt: skip
    flow.now += 20
    flow.keep(2)
    assert flow.outcomes() == ["held", "added", "hold-expired"]
    assert (flow.held(), flow.processed(), names(flow)) == (kept, [], ["fraud"])


def test_a_hold_of_the_same_name_updates_that_hold_only() -> None:
    flow = Flow()
    flow.hold(K, hold_name="fraud", reason="first")
    flow.hold(K, hold_name="support", reason="asked")
    flow.hold(K, hold_name="fraud", reason="second", expires_at=flow.now + 10)
    flow.keep()
    assert flow.outcomes() == ["held", "added", "updated"]
    entry = flow.entry(K)
    assert entry is not None
    assert [(h.name, h.reason) for h in entry.holds] == [("fraud", "second"), ("support", "asked")]


def test_a_release_ends_the_holds_that_it_names_and_its_record_says_which_remain() -> None:
    flow = Flow()
    for name in ("fraud", "support", "legal"):
        flow.hold(K, hold_name=name, reason=f"of {name}")
    kept = flow.send(K)
    flow.batch()
    flow.release(K, holds=("support", "unknown"))
    flow.keep(2)
    record = flow.journal()[-1]
    assert (record.outcome, record.ended) == (Outcome.HOLD_RELEASED, ("support",))
    assert sorted((h.name, h.reason) for h in record.others) == [
        ("fraud", "of fraud"), ("legal", "of legal"),
    ]  # fmt: skip
    assert flow.held() == kept
    flow.release(K, holds=("support",))
    flow.keep(2)
    assert flow.outcomes()[-1] == "nothing-to-do"
    assert len(flow.journal()[-1].others) == 2
    flow.release(K, holds=("fraud", "legal"))
    flow.keep(2)
    assert flow.outcomes()[-2:] == ["released", "drained"]
    assert flow.processed() == kept


def test_a_release_of_every_hold_leaves_none() -> None:
    flow = Flow()
    flow.hold(K, hold_name="fraud")
    flow.hold(K)
    kept = flow.send(K)
    flow.batch()
    flow.release(K, every=True, reason="mistake")
    flow.keep(2)
    assert (flow.processed(), flow.entry(K)) == (kept, None)


def test_cut_of_a_release_is_where_the_last_hold_ended() -> None:
    flow = Flow()
    flow.hold(K, hold_name="fraud")
    flow.hold(K, hold_name="support", expires_at=flow.now + 10)
    kept = flow.send(K, 2)
    flow.batch()
    flow.release(K, holds=("fraud",))
    later = flow.send(K, 3)
    flow.batch()
    flow.now += 20
    flow.keep(4)
    expired = next(r for r in flow.journal() if r.outcome is Outcome.EXPIRED)
    assert (expired.cut, expired.name) == (later[-1] + 1, "support")
    assert flow.processed() == kept + later


def test_two_holds_that_expire_at_once_are_journalled_one_after_the_other() -> None:
    flow = Flow()
    flow.hold(K, hold_name="fraud", expires_at=flow.now + 20)
    flow.hold(K, hold_name="support", expires_at=flow.now + 10)
    kept = flow.send(K)
    flow.batch()
    flow.now += 30
    flow.keep(2)
    assert flow.outcomes() == ["held", "added", "hold-expired", "expired", "drained"]
    assert flow.processed() == kept


def test_a_key_has_a_bounded_number_of_holds_and_the_refused_one_changes_nothing() -> None:
    flow = Flow()
    for number in range(MAX_HOLDS):
        flow.hold(K, hold_name=f"n{number}", expires_at=flow.now + 10 if number else None)
    flow.keep()
    assert len(names(flow)) == MAX_HOLDS
    before = flow.entry(K)
    flow.hold(K, hold_name="one too many")
    flow.keep()
    assert flow.outcomes()[-1] == "refused"
    assert "at most" in flow.journal()[-1].note
    assert flow.entry(K) == before
    assert len(flow.driver.holds.get(K)) == MAX_HOLDS
    flow.hold(K, hold_name="n3", reason="an update is not one more")
    flow.keep()
    assert flow.outcomes()[-1] == "updated"
    flow.now += 20
    flow.keep()
    flow.hold(K, hold_name="there is room again")
    flow.keep()
    assert names(flow) == ["n0", "n3", "there is room again"]
    assert {hold.name for hold in flow.driver.holds.get(K)} == set(names(flow))


def test_events_in_a_foreign_partition_wait_for_every_hold_of_their_key() -> None:
    flow = Flow(partitions=2)
    home = home_of(K, 2)
    flow.hold(K, hold_name="fraud")
    flow.hold(K, hold_name="support")
    foreign = flow.send(K, partition=1 - home)
    flow.batch()
    assert names(flow, 1 - home) == ["fraud", "support"]
    flow.release(K, holds=("support",))
    flow.keep(2)
    assert (flow.held(1 - home), flow.processed(1 - home)) == (foreign, [])
    flow.restart()
    later = flow.send(K, partition=1 - home)
    flow.batch()
    flow.release(K, holds=("fraud",))
    flow.keep(3)
    assert flow.processed(1 - home) == foreign + later


def test_holds_survive_a_restart() -> None:
    flow = Flow()
    flow.hold(K, hold_name="fraud", reason="do not release")
    flow.hold(K, hold_name="support", expires_at=flow.now + 10)
    kept = flow.send(K)
    flow.batch()
    flow.restart()
    assert names(flow) == ["fraud", "support"]
    flow.now += 20
    flow.keep(2)
    assert (flow.held(), names(flow)) == (kept, ["fraud"])


OLD_CONTROL = (
    b'{"version":1,"command":"hold","id":"h1","key":"customer-7","actor":"ana","at":1000,'
    b'"reason":"disputed"}',
    b'{"version":1,"command":"hold","id":"h2","key":"customer-7","actor":"ben","at":1001,'
    b'"expires_at":9000000}',
    b'{"version":1,"command":"release","id":"r1","key":"customer-7","actor":"eve","at":1002,'
    b'"pace":5.0}',
)
"""Commands as they were written before holds had names."""
OLD_ENTRY = (
    b'{"version":1,"state":"HELD","key":"customer-7","command_id":"h2","command_offset":1,'
    b'"actor":"ben","reason":"disputed","since":1000000,"cut":0,"expires_at":9000000,"held_from":0,'
    b'"drained_through":-1,"dead_through":-1,"events":1,"bytes":10,"oldest":3,"counted_through":0}'
)


def test_an_old_control_log_acts_as_before() -> None:
    flow = Flow()
    flow.ask(decode_command(K, OLD_CONTROL[0]))
    kept = flow.send(K)
    flow.batch()
    flow.ask(decode_command(K, OLD_CONTROL[1]))
    flow.keep()
    entry = flow.entry(K)
    assert entry is not None
    assert [(h.name, h.actor, h.label, h.expires_at) for h in entry.holds] == [
        ("", "ben", "ben", 9_000_000)
    ]
    flow.ask(decode_command(K, OLD_CONTROL[2]))
    flow.keep()
    flow.now += 1_000
    flow.keep()
    assert flow.outcomes() == ["held", "updated", "released", "drained"]
    assert flow.processed() == kept


def test_old_commands_are_written_as_before() -> None:
    again = [encode_command(decode_command(K, value))[1] for value in OLD_CONTROL]
    assert again == [*OLD_CONTROL]


def test_an_old_status_entry_is_one_hold_without_a_name() -> None:
    entry = decode_status(b"k" + K, OLD_ENTRY)
    assert isinstance(entry, Entry)
    assert [(h.id, h.offset, h.name, h.reason, h.expires_at) for h in entry.holds] == [
        ("h2", 1, "", "disputed", 9_000_000)
    ]
