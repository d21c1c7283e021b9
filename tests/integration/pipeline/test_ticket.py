"""Two pipelines at once: the one that was started last stays, whoever came to a flow last."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.test_kafka_client import settings_of
from tests.integration.pipeline.world import Ended, World, end_by_exception

from holdfast.errors import TransientError
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.parts.ticket import REPLACED, START_AGAIN, Ticket


def started(kafka: BrokerProcess, seconds: float = 30.0) -> Ticket:
    ticket = Ticket(settings_of(kafka, seconds), end=end_by_exception)
    ticket.take()
    return ticket


def code_of(ticket: Ticket, wanted: int = REPLACED) -> int:
    """The code that a process ends with after it has lost a flow."""
    with pytest.raises(Ended) as ended:
        ticket.end(wanted, "A flow is lost.")
    return ended.value.code


def test_newest_pipeline_returns_and_others_give_way(kafka: BrokerProcess) -> None:
    first, second = started(kafka), started(kafka)
    second.take()
    first.take()  # one each, however many flows there are
    for _ in range(2):
        assert (code_of(first), code_of(second)) == (REPLACED, START_AGAIN)
    third = started(kafka)
    assert [code_of(each) for each in (first, second, third)] == [REPLACED, REPLACED, START_AGAIN]
    assert code_of(first, START_AGAIN) == START_AGAIN


def test_lost_response_changes_nothing(kafka: BrokerProcess) -> None:
    ticket = started(kafka)
    before = ticket._epochs._producer
    assert code_of(ticket) == START_AGAIN
    ticket._epochs._producer = before  # as if Kafka had said nothing of the new one
    assert code_of(ticket) == code_of(ticket) == START_AGAIN


def test_ticket_needs_a_broker_and_replaces_no_one_without_it(
    fresh_kafka: BrokerProcess,
) -> None:
    ticket = started(fresh_kafka, seconds=1.0)
    fresh_kafka.kill()
    assert code_of(ticket) == START_AGAIN
    late = Ticket(settings_of(fresh_kafka, 1.0), end=end_by_exception)
    with pytest.raises(TransientError):
        late.take()
    fresh_kafka.start()
    late.take()
    assert (code_of(ticket), code_of(late)) == (REPLACED, START_AGAIN)


def test_broker_that_returns_in_time_is_used(fresh_kafka: BrokerProcess) -> None:
    """A replaced pipeline must not return after a broken connection."""
    older = started(fresh_kafka)
    started(fresh_kafka)
    fresh_kafka.kill()
    with ThreadPoolExecutor(1) as pool:
        code = pool.submit(code_of, older)
        fresh_kafka.start()
        assert code.result(DEADLINE_S) == REPLACED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_later_of_two_competing_pipelines_returns(kafka: BrokerProcess) -> None:
    worlds = [World(kafka, partitions=1), World(kafka, partitions=1)]
    gates: list[FlowGate] = []

    def join(world: World, ticket: Ticket) -> FlowGate:
        gate = FlowGate(world.connection, world.flow.describe(), end=ticket.end)
        gates.append(gate)
        gate.start()
        return gate

    def lost(world: World, gate: FlowGate) -> int:
        world.send(b"k", b"v")
        with pytest.raises(Ended) as ended:
            Feeder(world.connection, gate).batch()
        return ended.value.code

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
