"""Keys that a producer has chosen with care change no verdict."""

import struct
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from tests.brokers import BrokerProcess
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, gate_of

from holdfast.pipeline.audit.verify import VerifyOptions, verify

pytestmark = pytest.mark.spark

MASK = 2**64 - 1
P1, P2, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
SPARKS_SEED = 42


def rotated(number: int, bits: int) -> int:
    return (number << bits | number >> (64 - bits)) & MASK


def mixed(word: int) -> int:
    return rotated(word * P2 & MASK, 31) * P1 & MASK


def unmixed(number: int) -> int:
    word = rotated(number * pow(P1, -1, 2**64) & MASK, 64 - 31)
    return word * pow(P2, -1, 2**64) & MASK


def after_first(word: int) -> int:
    """The state of xxHash64 after the first of two words."""
    return (rotated((SPARKS_SEED + P5 + 16) & MASK ^ mixed(word), 27) * P1 + P4) & MASK


def key_like(key: bytes, first: int) -> bytes:
    """Another key of 16 bytes with the same xxHash64."""
    one, two = struct.unpack("<QQ", key)
    other = unmixed(after_first(one) ^ after_first(first) ^ mixed(two))
    return struct.pack("<QQ", first, other)


def test_keys_whose_fast_hashes_are_equal_are_not_taken_for_one(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    held = b"customer-7000001"
    twin = key_like(held, 4711)
    rows = spark.createDataFrame([(bytearray(key),) for key in (held, twin)], "key BINARY")
    assert rows.select(sql.xxhash64("key").alias("hash")).distinct().count() == 1
    world = World(kafka, partitions=1)
    world.flow.hold(held)
    world.send(held, b"1")
    world.send(twin, b"2")
    world.send(held, b"3")
    with gate_of(world) as gate:
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"2"]
    options = VerifyOptions(lake=str(tmp_path), raw_zone=False, full=True)
    found = verify(spark, world.connection, world.flow.describe(), options)
    assert [check.found for check in found.checks if check.found] == []
    assert found.clean
