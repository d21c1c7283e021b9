"""`/topics`, `/groups`, `/cluster`, `/me`: the surroundings of flows."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import AliasChoices, BeforeValidator, Field

from holdfast.api.models import Model
from holdfast.api.parameters import ServicesOf, Viewer
from holdfast.client.positions import Offsets
from holdfast.client.topics import Topic
from holdfast.control.problems import problems
from holdfast.control.records import ROLES
from holdfast.control.services import Services

router = APIRouter(tags=["cluster"])


class TopicOut(Model):
    name: str = Field(examples=["orders.events"])
    partitions: int = Field(examples=[6])
    replication: int
    records: int = Field(
        description="An upper bound: compaction and transactions leave gaps.", examples=[41_807]
    )
    flow: str | None = Field(description="The flow that it belongs to.", examples=["orders"])
    role: str | None = Field(description="What it is for in that flow.", examples=["events"])


class TopicsOut(Model):
    topics: list[TopicOut]


class RangeOut(Model):
    """The offsets of one partition: from `start` up to, but not including, `end`."""

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
    protocol: str = Field(
        description="`classic`, or `consumer` for a group of Kafka 4, whose partitions the broker "
        "assigns.",
        examples=["classic"],
    )
    lag: int | None = Field(
        validation_alias=AliasChoices("total_lag", "lag"),
        description="Records yet to take, in all partitions of which it has committed an offset; "
        "null if it has committed none.",
        examples=[0],
    )


class GroupsOut(Model):
    groups: list[GroupOut]


class MemberOut(Model):
    id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: list[Annotated[str, BeforeValidator(str)]]


class GroupDetail(GroupOut):
    assignor: str
    coordinator: str
    members: list[MemberOut]
    partitions: list[LagOut] = Field(validation_alias=AliasChoices("partitions", "lag"))


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
    description = await asyncio.to_thread(services.client.cluster)
    return ClusterOut(**asdict(description), trouble=services.views.trouble)


@router.get("/topics", summary="List topics")
async def list_topics(services: ServicesOf, _: Viewer) -> TopicsOut:
    """All topics except Kafka's internal ones."""
    return await asyncio.to_thread(_topics, services)


@router.get("/topics/{topic}", summary="Show a topic", responses=problems(404))
async def show_topic(
    topic: Annotated[str, Path(max_length=249, examples=["orders.events"])],
    services: ServicesOf,
    _: Viewer,
) -> TopicDetail:
    """Its partitions, their offsets, and its settings."""
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
    description = await asyncio.to_thread(services.client.groups.describe, group)
    return GroupDetail.model_validate(description)


def _topics(services: Services) -> TopicsOut:
    topics = services.client.topics.list()
    offsets = Offsets(services.connection, committed_only=False)
    sizes = offsets.sizes({topic.name: topic.partitions for topic in topics})
    return TopicsOut(topics=[_topic_out(services, t, sizes[t.name][0]) for t in topics])


def _topic_out(services: Services, topic: Topic, records: int) -> TopicOut:
    flow, role = _role_of(services, topic.name)
    known = {name: getattr(topic, name) for name in ("name", "partitions", "replication")}
    return TopicOut(**known, records=records, flow=flow, role=role)


def _role_of(services: Services, topic: str) -> tuple[str | None, str | None]:
    name, _, role = topic.rpartition(".")
    known = any(view.name == name for view in services.views.flows())
    return (name, role) if known and role in ROLES else (None, None)


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
        settings=[SettingOut.model_validate(setting) for setting in settings.values()],
    )


def _groups(services: Services) -> GroupsOut:
    groups = services.client.groups
    listed = groups.list()
    lags = groups.total_lags([group.name for group in listed])
    return GroupsOut(
        groups=[
            GroupOut(name=g.name, state=g.state, protocol=g.protocol, lag=lags[g.name])
            for g in listed
        ]
    )
