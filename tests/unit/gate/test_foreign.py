"""Events of a held key in a partition that murmur2 does not give."""

from tests.unit.gate.flow import Flow
from tests.unit.gate.model import home_of

from holdfast.flows.journal import CommandReference, Outcome

K = b"customer-7"
HOME = home_of(K, 2)
AWAY = 1 - HOME


def test_a_held_keys_event_is_held_where_it_is_found() -> None:
    flow = Flow(partitions=2)
    offset = flow.hold(K, id="h1", reason="disputed")
    there, here = flow.send(K, 2, partition=AWAY), flow.send(K)
    flow.batch()
    assert (flow.held(AWAY), flow.held(HOME)) == (there, here)
    (record,) = flow.journal(AWAY)
    assert (record.outcome, record.cut) == (Outcome.HELD, 0)
    assert record.command == CommandReference("h1", "hold", offset)
    entry = flow.entry(K, AWAY)
    assert entry is not None
    assert (entry.foreign, entry.reason) == (True, "disputed")


def test_a_foreign_partition_journals_its_own_cut() -> None:
    flow = Flow(partitions=2)
    flow.send(K, 3, partition=AWAY)
    flow.batch()
    flow.hold(K)
    flow.keep()
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.journal(AWAY)[-1].cut == kept[0]


def test_later_commands_of_the_key_act_in_the_foreign_partition() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    kept = flow.send(K, 2, partition=AWAY)
    flow.batch()
    flow.hold(K, reason="again")
    flow.keep()
    flow.dead_letter(K)
    flow.keep()
    later = flow.send(K, partition=AWAY)
    flow.batch()
    flow.release(K)
    flow.keep(3)
    assert (flow.dlq(AWAY), flow.processed(AWAY)) == (kept, later)
    assert flow.outcomes(AWAY) == ["held", "updated", "dead-lettered", "released", "drained"]


def test_a_partition_without_events_of_the_key_journals_nothing() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.keep()
    flow.release(K)
    flow.keep()
    assert flow.outcomes(AWAY) == []


def test_a_hold_expires_in_the_foreign_partition_too() -> None:
    flow = Flow(partitions=2)
    flow.hold(K, expires_at=flow.now + 10)
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    flow.now += 10
    flow.keep(2)
    assert flow.processed(AWAY) == kept
    after = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.processed(AWAY) == kept + after


def test_a_restarted_process_knows_the_holds_of_all_partitions() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.keep()
    flow.restart()
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.held(AWAY) == kept


def test_a_hold_counts_before_its_home_partition_has_taken_it() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    context = flow.driver.context(flow.time)
    kept = flow.send(K, partition=AWAY)
    flow.driver.step(AWAY, context, end=1)
    assert flow.held(AWAY) == kept


def test_a_restart_between_partition_steps_keeps_the_hold() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.driver.step(AWAY, flow.driver.context(flow.time))
    flow.restart()
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.held(AWAY) == kept


def test_a_draining_key_is_not_held_in_other_partitions() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.send(K)
    flow.batch()
    flow.release(K, pace=0.001)
    flow.keep()
    passed = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.processed(AWAY) == passed


def test_an_overflow_in_a_foreign_partition_has_an_entry() -> None:
    flow = Flow(partitions=2, overflow="dead-letter", flow_events=1)
    flow.hold(K)
    flow.send(K)
    flow.batch()
    beyond = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.dlq(AWAY) == beyond
    assert flow.outcomes(AWAY) == ["overflow-begun", "held"]
