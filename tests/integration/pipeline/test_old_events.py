"""Events keep their time: what is released late is old where it arrives, and stays all the same."""

import time

from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import World, eventually, running

from holdfast.client.positions import Offsets, Partition
from holdfast.flows.journal import Outcome

EIGHT_DAYS_AGO = round(time.time() * 1000) - 8 * 24 * 60 * 60 * 1000


def test_event_released_after_eight_days_is_not_deleted_by_retention(
    kafka: BrokerProcess,
) -> None:
    world = World(kafka, partitions=1)
    # The check comes round in a second here: it must not take the events before the gate does.
    world.client.topics.set_config(world.names.events, {"retention.ms": "-1"})
    witness = f"{world.flow.name}.witness"
    world.client.topics.create(witness, config={"retention.ms": str(7 * 24 * 60 * 60 * 1000)})
    with running(world):
        for key in ("released", "given-up", "held"):
            world.flow.hold(key).wait(DEADLINE_S)
            world.send(key.encode(), b"1", b"2", timestamp=EIGHT_DAYS_AGO)
        world.wait_until_taken()
        world.flow.release("released").wait(DEADLINE_S)
        world.flow.dead_letter("given-up").wait(DEADLINE_S)
        world.wait_for(Outcome.DRAINED, b"released")
        eventually(lambda: len(world.read(world.names.dlq)) == 2, "the dead letters")
        let_the_check_come_round(world, witness)
        let_the_check_come_round(world, witness)
    for topic, count in ((world.names.processed, 2), (world.names.dlq, 2), (world.names.held, 6)):
        out = world.out(topic)
        assert len(out) == count, topic
        assert {o.timestamp for o in out} == {EIGHT_DAYS_AGO}, topic
    world.check_each_event_once()


def let_the_check_come_round(world: World, witness: str) -> None:
    """A topic with seven days of retention loses what is as old: then the check has been there."""
    place = Partition(witness, 0)
    world.producer.produce(witness, b"old", timestamp=EIGHT_DAYS_AGO)
    assert world.producer.flush(DEADLINE_S) == 0
    offsets = Offsets(world.connection)
    end = offsets.ends([place])[place]
    eventually(lambda: offsets.starts([place])[place] == end, "the check of retention", 60)
