"""Membership of a group, as this version of librdkafka writes it."""

import struct

import pytest
from confluent_kafka import Consumer

from holdfast.errors import HoldfastError
from holdfast.kafka.group_member import Membership

MAGIC = b"CGMDv2:"


def written(generation: int, rest: bytes) -> bytes:
    return MAGIC + struct.pack("=i", generation) + rest


@pytest.mark.parametrize("instance", [None, "gate", "ü"])
def test_group_metadata_of_librdkafka_is_decoded(instance: str | None) -> None:
    named = {} if instance is None else {"group.instance.id": instance}
    consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "größe", "log_level": 0,
                         **named})  # fmt: skip
    try:
        found = Membership.read(consumer.consumer_group_metadata())
    finally:
        consumer.close()
    assert found == Membership("größe", -1, "", instance)


def test_group_metadata_has_the_written_generation_and_member() -> None:
    metadata = written(258, b"g\0gate-1234\0\0gate\0")
    assert Membership.read(metadata) == Membership("g", 258, "gate-1234", "gate")
    # A generation has bytes of every kind, zeros and ones among them.
    assert Membership.read(written(1, b"g\0m\0\1")).generation == 1
    assert Membership.read(written(2**31 - 1, b"g\0m\0\1")).generation == 2**31 - 1


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        MAGIC,
        MAGIC + b"\0\0\0",
        b"CGMDv3:" + b"\0\0\0\0g\0m\0\1",
        written(1, b""),
        written(1, b"g\0"),
        written(1, b"g\0m\0"),
        written(1, b"g\0m\0\2"),
        written(1, b"g\0m\0\1more"),
        written(1, b"g\0m\0\0"),
        written(1, b"g\0m\0\0gate"),
        written(1, b"g\0m\0\0gate\0more\0"),
        written(1, b"\xff\0m\0\1"),
        written(1, b"g\0m\0\0\xff\0"),
    ],
)
def test_unknown_metadata_format_is_an_error(metadata: bytes) -> None:
    with pytest.raises(HoldfastError, match="locked"):
        Membership.read(metadata)
