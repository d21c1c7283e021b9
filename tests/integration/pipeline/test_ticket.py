"""Two pipelines at once: the one that was started last stays, whoever came to a flow last."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.brokers import BrokerProcess
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.test_bulk import settings_of
from tests.integration.pipeline.world import Ended, World, end_by_exception

from holdfast.pipeline.exits import REPLACED, START_AGAIN
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.ticket import Ticket


def started(kafka: BrokerProcess, seconds: float = 30.0) -> Ticket:
    ticket = Ticket(settings_of(kafka, seconds), end=end_by_exception)
    assert ticket.take()
    return ticket


@contextmanager
def code_of_end() -> Iterator[list[int]]:
    codes: list[int] = []
    with pytest.raises(Ended) as ended:
        yield codes
    codes.append(ended.value.code)


def test_the_last_one_stays(kafka: BrokerProcess) -> None:
    first, second = started(kafka), started(kafka)
    for _ in range(2):
        second.check()
        with code_of_end() as codes:
            first.check()
        assert codes == [REPLACED]
    with code_of_end() as codes:
        started(kafka).end(REPLACED, "A flow is lost.")
    assert codes == [START_AGAIN]
    with code_of_end() as codes:
        second.end(REPLACED, "A flow is lost.")
    assert codes == [REPLACED]


def test_an_answer_that_was_lost_changes_nothing(kafka: BrokerProcess) -> None:
    ticket = started(kafka)
    before = ticket._epochs._producer
    ticket.check()
    ticket._epochs._producer = before  # as if Kafka had said nothing of the new one
    ticket.check()
    ticket.check()


def test_without_a_broker_nobody_is_replaced(fresh_kafka: BrokerProcess) -> None:
    ticket = started(fresh_kafka, seconds=1.0)
    fresh_kafka.kill()
    ticket.check()
    with code_of_end() as codes:
        ticket.end(REPLACED, "A flow is lost.")
    assert codes == [START_AGAIN]
    with code_of_end() as codes:
        ticket.end(START_AGAIN, "The place in the group is lost.")
    assert codes == [START_AGAIN]
    late = Ticket(settings_of(fresh_kafka, 1.0), end=end_by_exception)
    assert not late.take()
    fresh_kafka.start()
    assert late.take()
    late.check()
    with code_of_end() as codes:
        ticket.check()
    assert codes == [REPLACED]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_of_two_that_replace_each_other_the_later_one_comes_back(kafka: BrokerProcess) -> None:
    worlds = [World(kafka, partitions=1), World(kafka, partitions=1)]
    gates: list[FlowGate] = []

    def join(world: World, ticket: Ticket) -> FlowGate:
        gate = FlowGate(world.connection, world.flow.describe(), end=ticket.end)
        gates.append(gate)
        gate.start()
        return gate

    def lost(world: World, gate: FlowGate) -> int:
        world.send(b"k", b"v")
        with code_of_end() as codes:
            Feeder(world.connection, gate).batch()
        return codes[0]

    first, second = worlds
    older, newer = started(kafka), started(kafka)
    older_there = join(first, older)
    join(first, newer)
    newer_there = join(second, newer)
    older_here = join(second, older)  # it was slow, and comes last
    assert lost(first, older_there) == REPLACED
    assert lost(second, newer_there) == START_AGAIN

    again = started(kafka)
    gates_now = [join(world, again) for world in worlds]
    assert lost(second, older_here) == REPLACED
    for world, gate in zip(worlds, gates_now, strict=True):
        world.send(b"k", b"last")
        Feeder(world.connection, gate).batch()
        assert world.processed()[-1] == b"last"
        world.check_each_event_once()
    for gate in gates:
        gate.close()
