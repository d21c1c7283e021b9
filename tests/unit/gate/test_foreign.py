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


def test_its_own_cut_is_where_its_step_began() -> None:
    flow = Flow(partitions=2)
    flow.send(K, 3, partition=AWAY)
    flow.batch()
    flow.hold(K)
    flow.keep()
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.journal(AWAY)[-1].cut == kept[0]


def test_the_keys_commands_act_there_from_then_on() -> None:
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


def test_without_an_event_there_the_other_partition_says_nothing() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.keep()
    flow.release(K)
    flow.keep()
    assert flow.outcomes(AWAY) == []


def test_it_expires_there_too() -> None:
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


def test_a_new_process_knows_the_holds_of_all_partitions() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.keep()
    flow.restart()
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.held(AWAY) == kept


def test_a_hold_that_its_own_partition_has_not_taken_yet_counts_all_the_same() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    moment = flow.driver.moment(flow.now)
    kept = flow.send(K, partition=AWAY)
    flow.driver.step(AWAY, moment, end=1)
    assert flow.held(AWAY) == kept


def test_nor_does_a_restart_between_the_partitions_steps_lose_it() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.driver.step(AWAY, flow.driver.moment(flow.now))
    flow.restart()
    kept = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.held(AWAY) == kept


def test_a_draining_key_does_not_hold_elsewhere() -> None:
    flow = Flow(partitions=2)
    flow.hold(K)
    flow.send(K)
    flow.batch()
    flow.release(K, pace=0.001)
    flow.keep()
    passed = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.processed(AWAY) == passed


def test_an_overflow_there_is_explained_by_an_entry() -> None:
    flow = Flow(partitions=2, overflow="dead-letter", flow_events=1)
    flow.hold(K)
    flow.send(K)
    flow.batch()
    beyond = flow.send(K, partition=AWAY)
    flow.batch()
    assert flow.dlq(AWAY) == beyond
    assert flow.outcomes(AWAY) == ["overflow-begun", "held"]
