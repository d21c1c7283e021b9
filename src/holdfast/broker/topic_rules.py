"""Rules for topics and requests about them, with Kafka's errors."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from holdfast.broker.topic_config import InvalidTopicConfig, TopicConfig
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode

MAX_PARTITIONS = 10_000
"""Maximum of one topic. Each is a directory: a typing error must not create a million."""

MOST_PARTITIONS = 50_000
"""Maximum of all topics. Each takes a few kB of memory, and time at every start."""

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class TopicError(Exception):
    """A refused request about a topic: Kafka's error code, and a message for the client."""

    def __init__(self, error_code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.message = message


class NewTopic(NamedTuple):
    """A topic to create."""

    name: str
    partitions: int
    overrides: Mapping[str, str]
    internal: bool = False


def folded(name: str) -> str:
    """The form in which names collide. Kafka refuses a name that differs from another one only in
    '.' and '_', because they are the same in its metric names. A topic here must fit there."""
    return name.replace(".", "_")


def check_name(name: str, taken: Mapping[str, str]) -> None:
    """`taken`: existing names by their folded form."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise TopicError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic name is invalid: {name!r} must be 1 to 249 of letters, digits, '.', '_' "
            "and '-', and neither '.' nor '..'.",
        )
    clash = taken.get(folded(name))
    if clash == name:
        raise being_changed(name)
    if clash is not None:
        raise TopicError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {clash}",
        )


def check_growth(name: str, count: int, total: int) -> None:
    if total <= count:
        raise TopicError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {name} currently has {count} partition(s); {total} would not be an "
            "increase.",
        )
    check_partitions(total)


def check_partitions(count: int) -> None:
    if not 1 <= count <= MAX_PARTITIONS:
        raise TopicError(
            ErrorCode.INVALID_PARTITIONS,
            f"Number of partitions must be 1 to {MAX_PARTITIONS}, not {count}.",
        )


def check_room(count: int, more: int) -> None:
    """`count`: existing partitions of all topics."""
    if count + more > MOST_PARTITIONS:
        raise TopicError(
            ErrorCode.POLICY_VIOLATION,
            f"This broker has {count} partitions, and {more} more would exceed its limit of "
            f"{MOST_PARTITIONS}. Delete topics, or use fewer partitions.",
        )


def config_of(overrides: Mapping[str, str]) -> TopicConfig:
    try:
        return TopicConfig.of(overrides)
    except InvalidTopicConfig as error:
        raise TopicError(ErrorCode.INVALID_CONFIG, str(error)) from None


def check_assignment(broker_ids: Sequence[int], node_id: int) -> None:
    """Refuses all replicas of a partition except a single one on this broker."""
    if list(broker_ids) != [node_id]:
        raise TopicError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Replicas on brokers {list(broker_ids)} cannot be created: there is only broker "
            f"{node_id}.",
        )


class _Named(Protocol):
    name: str


class _Setting(_Named, Protocol):
    value: str | None


N = TypeVar("N", bound=_Named)
T = TypeVar("T")


def check_each(
    topics: Sequence[N], check: Callable[[N], T]
) -> Work[tuple[dict[str, T], dict[str, TopicError]]]:
    """Checks each topic of a request. Returns results and errors by name. A name that appears twice
    is an error."""
    results: dict[str, T] = {}
    errors: dict[str, TopicError] = {}
    times = Counter(topic.name for topic in topics)
    for name, topic in {topic.name: topic for topic in topics}.items():
        try:
            if times[name] > 1:
                raise TopicError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            results[name] = check(topic)
        except TopicError as error:
            errors[name] = error
        yield None
    return results, errors


def value_of(setting: _Setting) -> str:
    if setting.value is None:
        raise TopicError(ErrorCode.INVALID_CONFIG, f"{setting.name} has no value.")
    return setting.value


def overrides_of(settings: Iterable[_Setting]) -> dict[str, str]:
    return {setting.name: value_of(setting) for setting in settings}


def unknown() -> TopicError:
    return TopicError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic.")


def being_changed(name: str) -> TopicError:
    return TopicError(
        ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' is being changed by another request."
    )
