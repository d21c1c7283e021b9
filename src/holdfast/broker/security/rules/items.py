"""Rules for the parts of a request, each of which is permitted or refused on its own."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from holdfast.broker.security.acls import CLUSTER_NAME, Operation, ResourceType
from holdfast.broker.security.guard import Check, Denied, Finish
from holdfast.wire.protocol.errors import ErrorCode

T = TypeVar("T")

FAILED = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
TOPIC_FAILED = FAILED[ResourceType.TOPIC]
GROUP_FAILED = FAILED[ResourceType.GROUP]
CLUSTER_FAILED = FAILED[ResourceType.CLUSTER]
ID_FAILED = FAILED[ResourceType.TRANSACTIONAL_ID]


def may_cluster(check: Check, operation: Operation) -> bool:
    return check.access.to(operation, ResourceType.CLUSTER, CLUSTER_NAME)


def may_topic(check: Check, operation: Operation, name: str) -> bool:
    return check.access.to(operation, ResourceType.TOPIC, name)


def may_group(check: Check, operation: Operation, name: str) -> bool:
    return check.access.to(operation, ResourceType.GROUP, name)


def may_id(check: Check, operation: Operation, name: str) -> bool:
    return check.access.to(operation, ResourceType.TRANSACTIONAL_ID, name)


def split(items: Iterable[T], is_permitted: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """The items that are permitted, and the others."""
    permitted: list[T] = []
    refused: list[T] = []
    for item in items:
        (permitted if is_permitted(item) else refused).append(item)
    return permitted, refused


def each(
    check: Check,
    items: str,
    is_permitted: Callable[[Any], bool],
    response: Callable[..., Any],
    answers: str,
    refuse: Callable[[Any], Any],
) -> Finish | None:
    """Takes refused items from the field `items` of the request, and adds an answer for each to the
    field `answers` of the response. Without any permitted item the handler is not called: to some
    of them an empty list means everything."""
    permitted, refused = split(getattr(check.request, items), is_permitted)
    if not refused:
        return None
    refusals = [refuse(item) for item in refused]
    if not permitted:
        raise Denied(response(**{answers: refusals}))
    setattr(check.request, items, permitted)
    check.broker.metrics.denied_requests += 1

    def finish(answer: Any) -> None:
        getattr(answer, answers).extend(refusals)

    return finish


def filtered(answers: str, is_visible: Callable[[Any], bool]) -> Finish:
    """Removes from the field `answers` of the response what the client may not see."""

    def finish(answer: Any) -> None:
        setattr(answer, answers, [item for item in getattr(answer, answers) if is_visible(item)])

    return finish
