"""Consumers with the protocol of Kafka 4, in the world of `world`."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from tests.unit.broker.groups.world import GROUP, World

from holdfast.broker.groups.consumer.assignment import Assignment
from holdfast.broker.groups.consumer.group import ConsumerGroup
from holdfast.broker.groups.consumer.requests import ConsumerHeartbeat, HeartbeatReply

Places = set[tuple[str, int]]


@dataclass
class NewConsumer:
    """A process that follows the rules: it joins, gives up what it loses, and says what it has."""

    member_id: str
    topics: tuple[str, ...] = ("events",)
    pattern: str | None = None
    instance_id: str | None = None
    assignor: str | None = None
    rebalance_ms: int = 60_000
    epoch: int = 0
    owned: Assignment = field(default_factory=dict)

    def request(self, **changes: Any) -> ConsumerHeartbeat:
        fields: dict[str, Any] = {
            "member_id": self.member_id,
            "epoch": self.epoch,
            "instance_id": self.instance_id,
            "owned": self.owned,
        }
        if self.epoch == 0:
            fields |= {
                "topics": self.topics,
                "pattern": self.pattern,
                "rebalance_timeout_ms": self.rebalance_ms,
                "assignor": self.assignor,
                "owned": {},
            }
        return ConsumerHeartbeat(**fields | changes)

    def hear(self, reply: HeartbeatReply) -> None:
        assert not reply.error, reply
        self.epoch = reply.epoch
        if reply.assignment is not None:
            self.owned = reply.assignment


def begin_beat(
    world: World, consumer: NewConsumer, **changes: Any
) -> "asyncio.Task[HeartbeatReply]":
    return world.ask(world.groups.consumer_heartbeat(GROUP, consumer.request(**changes)))


def beat(world: World, consumer: NewConsumer, **changes: Any) -> HeartbeatReply:
    """A heartbeat and its reply, which the consumer follows if there is no error."""
    task = begin_beat(world, consumer, **changes)
    if not task.done():
        world.sync_log()
    reply = task.result()
    if not reply.error:
        consumer.hear(reply)
    return reply


def settle(world: World, *consumers: NewConsumer, rounds: int = 6) -> None:
    """All send heartbeats until nothing moves."""
    for _ in range(rounds):
        for consumer in consumers:
            reply = beat(world, consumer)
            assert not reply.error, reply
        world.threads.finish()
        world.sync_log()


def places(world: World, assignment: Assignment) -> Places:
    """Topic names and partitions."""
    found = set()
    for topic_id, partitions in assignment.items():
        topic = world.topics.by_id(topic_id)
        found |= {(topic.name if topic else str(topic_id), p) for p in partitions}
    return found


def group_of(world: World) -> ConsumerGroup:
    group = world.groups.get(GROUP)
    assert isinstance(group, ConsumerGroup)
    return group
