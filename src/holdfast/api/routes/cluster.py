"""`/topics`, `/groups`, `/cluster`, `/me`: what is around the flows."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from holdfast.api.models import Model
from holdfast.api.parameters import ServicesOf, Viewer
from holdfast.api.problems import problems
from holdfast.api.services import Services
from holdfast.client.groups import Group, Lag
from holdfast.client.positions import Offsets, Partition
from holdfast.client.topics import Topic

router = APIRouter(tags=["cluster"])


class TopicOut(Model):
    name: str = Field(examples=["orders.events"])
    partitions: int = Field(examples=[6])
    replication: int
    records: int = Field(
        description="At most so many: compaction and transactions leave gaps.", examples=[41_807]
    )
    flow: str | None = Field(description="The flow that it belongs to.", examples=["orders"])
    role: str | None = Field(description="What it is for in that flow.", examples=["events"])


class TopicsOut(Model):
    topics: list[TopicOut]


class RangeOut(Model):
    """The offsets that one partition holds: from `start` up to, and without, `end`."""

    partition: int
    start: int
    end: int
    leader: int = Field(description="The broker that leads it; -1 if none does.")


class SettingOut(Model):
    name: str
    value: str
    changed: bool = Field(description="Set for this topic, and not the default.")


class TopicDetail(TopicOut):
    ranges: list[RangeOut]
    settings: list[SettingOut]


class LagOut(Model):
    topic: str
    partition: int
    committed: int | None
    end: int
    records: int | None = Field(description="From the committed offset to the end.")
    seconds: float | None = Field(description="Age of the first of them; null if not known.")


class GroupOut(Model):
    name: str = Field(examples=["holdfast.orders"])
    state: str = Field(examples=["stable"])
    lag: int = Field(description="Records that it has yet to take, in all.", examples=[0])


class GroupsOut(Model):
    groups: list[GroupOut]


class MemberOut(Model):
    id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: list[str]


class GroupDetail(GroupOut):
    assignor: str
    coordinator: str
    members: list[MemberOut]
    partitions: list[LagOut]


class BrokerOut(Model):
    id: int
    host: str
    port: int


class ClusterOut(Model):
    id: str
    controller: int | None
    brokers: list[BrokerOut]
    trouble: str = Field(description="Why views do not move just now; empty if they do.")


class MeOut(Model):
    name: str = Field(examples=["ana"])
    role: str = Field(examples=["operator"])


@router.get("/me", summary="Who is asking")
def me(actor: Viewer) -> MeOut:
    return MeOut(name=actor.name, role=actor.role.label)


@router.get("/cluster", summary="The cluster and its brokers")
async def cluster(services: ServicesOf, _: Viewer) -> ClusterOut:
    found = await asyncio.to_thread(services.client.cluster)
    return ClusterOut(
        id=found.id,
        controller=found.controller,
        brokers=[BrokerOut(id=b.id, host=b.host, port=b.port) for b in found.brokers],
        trouble=services.views.trouble,
    )


@router.get("/topics", summary="List topics")
async def list_topics(services: ServicesOf, _: Viewer) -> TopicsOut:
    """All but Kafka's own."""
    return await asyncio.to_thread(_topics, services)


@router.get("/topics/{topic}", summary="Show a topic", responses=problems(404))
async def show_topic(
    topic: Annotated[str, Path(max_length=249, examples=["orders.events"])],
    services: ServicesOf,
    _: Viewer,
) -> TopicDetail:
    """Its partitions, the offsets that they hold, and its settings."""
    return await asyncio.to_thread(_topic, services, topic)


@router.get("/groups", summary="List consumer groups")
async def list_groups(services: ServicesOf, _: Viewer) -> GroupsOut:
    """With the lag of each."""
    return await asyncio.to_thread(_groups, services)


@router.get("/groups/{group}", summary="Show a consumer group", responses=problems(404))
async def show_group(
    group: Annotated[str, Path(max_length=249, examples=["holdfast.orders"])],
    services: ServicesOf,
    _: Viewer,
) -> GroupDetail:
    """Its members, and its lag in every partition."""
    found = await asyncio.to_thread(services.client.groups.describe, group)
    return _group_detail(found)


def _topics(services: Services) -> TopicsOut:
    topics = services.client.topics.list()
    places = [Partition(t.name, n) for t in topics for n in range(t.partitions)]
    offsets = Offsets(services.connection, committed_only=False)
    starts, ends = offsets.starts(places), offsets.ends(places)
    records = {topic.name: 0 for topic in topics}
    for place in places:
        records[place.topic] += ends[place] - starts[place]
    return TopicsOut(topics=[_topic_out(services, t, records[t.name]) for t in topics])


def _topic_out(services: Services, topic: Topic, records: int) -> TopicOut:
    flow, role = _role_of(services, topic.name)
    return TopicOut(
        name=topic.name,
        partitions=topic.partitions,
        replication=topic.replication,
        records=records,
        flow=flow,
        role=role,
    )


def _role_of(services: Services, topic: str) -> tuple[str | None, str | None]:
    name, _, role = topic.rpartition(".")
    known = any(view.name == name for view in services.views.flows())
    roles = ("events", "control", "journal", "status", "held", "processed", "dlq")
    return (name, role) if known and role in roles else (None, None)


def _topic(services: Services, name: str) -> TopicDetail:
    topics = services.client.topics
    topic, ranges, settings = topics.describe(name), topics.ranges(name), topics.config(name)
    described = _topic_out(services, topic, sum(r.records for r in ranges))
    return TopicDetail(
        **dict(described),
        ranges=[
            RangeOut(
                partition=r.partition, start=r.start, end=r.end, leader=topic.leaders[r.partition]
            )
            for r in ranges
        ],
        settings=[
            SettingOut(name=s.name, value=s.value, changed=s.changed) for s in settings.values()
        ],
    )


def _groups(services: Services) -> GroupsOut:
    groups = services.client.groups
    listed = groups.list()
    lags = groups.total_lags([group.name for group in listed])
    return GroupsOut(
        groups=[GroupOut(name=g.name, state=g.state, lag=lags[g.name]) for g in listed]
    )


def _group_detail(group: Group) -> GroupDetail:
    return GroupDetail(
        name=group.name,
        state=group.state,
        lag=group.total_lag,
        assignor=group.assignor,
        coordinator=group.coordinator,
        members=[
            MemberOut(
                id=m.id,
                client_id=m.client_id,
                host=m.host,
                instance_id=m.instance_id,
                partitions=[str(partition) for partition in m.partitions],
            )
            for m in group.members
        ],
        partitions=[_lag_out(lag) for lag in group.lag],
    )


def _lag_out(lag: Lag) -> LagOut:
    return LagOut(
        topic=lag.topic,
        partition=lag.partition,
        committed=lag.committed,
        end=lag.end,
        records=lag.records,
        seconds=lag.seconds,
    )
