"""The layouts are Kafka's: these bytes were taken from its definitions, field by field."""

from collections.abc import Callable

import pytest

from holdfast.broker.groups.records import (
    CommittedOffset,
    GroupKey,
    GroupRecord,
    MemberRecord,
    OffsetKey,
    TopicPartition,
    UnreadableRecord,
    decode_group,
    decode_key,
    decode_offset,
    encode_group,
    encode_group_key,
    encode_offset,
    encode_offset_key,
)
from holdfast.broker.groups.roster import subscribed_topics

OFFSET_KEY = b"\x00\x01" + b"\x00\x01g" + b"\x00\x02ev" + b"\x00\x00\x00\x07"
GROUP_KEY = b"\x00\x02" + b"\x00\x01g"
OFFSET = b"\x00\x03" + (5).to_bytes(8) + (2).to_bytes(4) + b"\x00\x01m" + (99).to_bytes(8)
OFFSET_WITH_EXPIRY = (
    b"\x00\x01" + (5).to_bytes(8) + b"\x00\x01m" + (99).to_bytes(8) + (100).to_bytes(8)
)
GROUP = (
    b"\x00\x03"
    b"\x00\x08consumer"
    b"\x00\x00\x00\x04"
    b"\x00\x05range"
    b"\x00\x01a"
    + (77).to_bytes(8)
    + b"\x00\x00\x00\x01"
    + b"\x00\x01a"
    + b"\xff\xff"
    + b"\x00\x03cli"
    + b"\x00\x05/host"
    + (60_000).to_bytes(4)
    + (30_000).to_bytes(4)
    + b"\x00\x00\x00\x03sub"
    + b"\x00\x00\x00\x00"
)
RECORD = GroupRecord(
    protocol_type="consumer",
    generation=4,
    protocol="range",
    leader="a",
    since_ms=77,
    members=(
        MemberRecord(
            member_id="a",
            instance_id=None,
            client_id="cli",
            client_host="/host",
            rebalance_timeout_ms=60_000,
            session_timeout_ms=30_000,
            subscription=b"sub",
            assignment=b"",
        ),
    ),
)


def test_keys() -> None:
    assert encode_offset_key("g", TopicPartition("ev", 7)) == OFFSET_KEY
    assert decode_key(OFFSET_KEY) == OffsetKey("g", TopicPartition("ev", 7))
    assert encode_group_key("g") == GROUP_KEY
    assert decode_key(GROUP_KEY) == GroupKey("g")


def test_offsets() -> None:
    assert encode_offset(CommittedOffset(5, 2, "m", 99)) == OFFSET
    assert decode_offset(OFFSET) == CommittedOffset(5, 2, "m", 99)
    assert encode_offset(CommittedOffset(5, -1, "m", 99, 100)) == OFFSET_WITH_EXPIRY
    assert decode_offset(OFFSET_WITH_EXPIRY) == CommittedOffset(5, -1, "m", 99, 100)


def test_groups() -> None:
    assert encode_group(RECORD) == GROUP
    assert decode_group(GROUP) == RECORD


def test_empty_group_has_neither_protocol_nor_leader() -> None:
    empty = GroupRecord(
        protocol_type="consumer", generation=5, protocol=None, leader=None, since_ms=78, members=()
    )
    assert decode_group(encode_group(empty)) == empty


def test_key_of_an_unknown_kind_is_ignored() -> None:
    assert decode_key(b"\x00\x03whatever") is None


@pytest.mark.parametrize("value", [GROUP, OFFSET])
def test_value_cut_short_is_unreadable(value: bytes) -> None:
    decode = decode_group if value is GROUP else decode_offset
    for end in range(len(value)):
        with pytest.raises(UnreadableRecord):
            decode(value[:end])


@pytest.mark.parametrize("decode", [decode_group, decode_offset])
def test_value_in_another_version_is_unreadable(decode: Callable[[bytes], object]) -> None:
    with pytest.raises(UnreadableRecord):
        decode(b"\x00\x09")


@pytest.mark.parametrize(
    ("metadata", "topics"),
    [
        (b"\x00\x03\x00\x00\x00\x02\x00\x01a\x00\x02bb" + b"rest", {"a", "bb"}),
        (b"\x00\x00\x00\x00\x00\x00", set()),
        (b"", None),
        (b"\x00\x00\xff\xff\xff\xff", None),
        (b"\x00\x00\x7f\xff\xff\xff\x00\x01a", None),
        (b"\x00\x00\x00\x00\x00\x01\x00\x09abc", None),
        (b"\x00\x00\x00\x00\x00\x01\x00\x01\xff", None),
    ],
)
def test_topics_are_found_in_a_subscription_and_nowhere_else(
    metadata: bytes, topics: set[str] | None
) -> None:
    assert subscribed_topics(metadata) == topics
