"""ConsumerGroupHeartbeat: makes a client a member of a consumer group, and gives it partitions."""

from functools import partial
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.consumer.requests import ConsumerHeartbeat
from holdfast.broker.security.acls import Operation, ResourceType
from holdfast.wire.protocol.generated.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from holdfast.wire.protocol.generated.consumer_group_heartbeat_response import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

OWN_IDS_SINCE = 1
"""Clients make their member ids themselves."""


async def handle(
    broker: "Broker", request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse:
    access = None if context.session is None else context.session.access
    owned = request.topic_partitions
    reply = await broker.groups.consumer_heartbeat(
        request.group_id,
        ConsumerHeartbeat(
            member_id=request.member_id,
            epoch=request.member_epoch,
            instance_id=request.instance_id,
            rack_id=request.rack_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            topics=request.subscribed_topic_names,
            pattern=request.subscribed_topic_regex,
            assignor=request.server_assignor,
            owned=None
            if owned is None
            else {each.topic_id: frozenset(each.partitions) for each in owned},
            client_id=context.client_id,
            client_host=f"/{context.client_host}",  # the form that Kafka's tools expect
            must_have_id=context.version >= OWN_IDS_SINCE,
            may_see=None
            if access is None
            else partial(access.to, Operation.DESCRIBE, ResourceType.TOPIC),
        ),
    )
    assignment = None
    if reply.assignment is not None:
        assignment = Assignment(
            [TopicPartitions(topic, sorted(p)) for topic, p in reply.assignment.items()]
        )
    return ConsumerGroupHeartbeatResponse(
        error_code=reply.error,
        error_message=reply.message,
        member_id=reply.member_id,
        member_epoch=reply.epoch,
        heartbeat_interval_ms=broker.groups.settings.heartbeat_interval_ms(request.group_id)
        if not reply.error and reply.epoch >= 0
        else 0,
        assignment=assignment,
    )
