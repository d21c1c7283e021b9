"""Bytes that are no message raise MalformedMessage and nothing else, and cost little."""

import random
import subprocess
import sys
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.wire.protocol.samples import Sampler, codec
from tools.codec_generator.definitions import Message
from tools.generate_codecs import messages

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.generated import (
    fetch_request,
    list_offsets_request,
    metadata_request,
    offset_commit_key,
    offset_commit_value,
    produce_request,
)
from holdfast.wire.protocol.primitives import MOST_REQUESTED, MOST_TAGS, skip_tagged_fields

CASES = [(message, version) for message in messages() for version in message.versions]
IDS = [f"{message.module}-{version}" for message, version in CASES]


def decode_or_refuse(message: Message, version: int, raw: bytes) -> bool:
    """Returns True if it was decoded. Any error except MalformedMessage fails the test."""
    try:
        codec(message).decode(version, raw)
    except MalformedMessage:
        return False
    return True


@pytest.mark.parametrize(("message", "version"), CASES, ids=IDS)
def test_a_message_cut_short_is_refused_at_every_length(message: Message, version: int) -> None:
    module = codec(message)
    raw = b"".join(module.encode(version, Sampler(message, version, "cut").message()))
    cuts = range(len(raw)) if len(raw) < 200 else [*range(100), *range(len(raw) - 100, len(raw))]
    for cut in cuts:
        assert not decode_or_refuse(message, version, raw[:cut]), f"cut at {cut} of {len(raw)}"


@pytest.mark.parametrize(("message", "version"), CASES, ids=IDS)
def test_changed_bytes_are_decoded_or_refused(message: Message, version: int) -> None:
    module = codec(message)
    source = random.Random(f"{message.name} {version}")
    for seed in range(4):
        raw = bytearray(b"".join(module.encode(version, Sampler(message, version, seed).message())))
        for _ in range(60):
            changed = bytearray(raw)
            for _ in range(source.randint(1, 4)):
                if changed:
                    changed[source.randrange(len(changed))] = source.choice((0, 1, 127, 128, 255))
            decode_or_refuse(message, version, bytes(changed))


@given(st.sampled_from(CASES), st.binary(max_size=300))
@settings(max_examples=3000, deadline=None)
def test_garbage_is_decoded_or_refused(case: tuple[Message, int], raw: bytes) -> None:
    decode_or_refuse(*case, raw)


@given(st.sampled_from(CASES), st.randoms(use_true_random=False), st.data())
@settings(max_examples=1500, deadline=None)
def test_spliced_messages_are_decoded_or_refused(
    case: tuple[Message, int], source: random.Random, data: st.DataObject
) -> None:
    message, version = case
    sample = Sampler(message, version, source.random()).message()
    raw = b"".join(codec(message).encode(version, sample))
    start = data.draw(st.integers(0, len(raw)))
    stop = data.draw(st.integers(start, len(raw)))
    decode_or_refuse(message, version, raw[:start] + data.draw(st.binary(max_size=12)) + raw[stop:])


# In a process of its own: CPython can crash where tracemalloc stops while other threads allocate.
DECODE_AND_MEASURE = """
import sys, tracemalloc
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.generated import produce_request

produce_request.ProduceRequest()
version, raw = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
tracemalloc.start()
try:
    produce_request.decode(version, raw)
except MalformedMessage as refused:
    print(tracemalloc.get_traced_memory()[1], refused)
"""


@pytest.mark.parametrize(
    ("version", "raw"),
    [
        (3, b"\xff\xff" + b"\0\0" + b"\0\0\0\0" + b"\x7f\xff\xff\xff"),
        (9, b"\0" + b"\0\0" + b"\0\0\0\0" + b"\xff\xff\xff\xff\x0f"),
    ],
    ids=["array", "compact array"],
)
def test_a_huge_count_is_refused_before_anything_is_allocated(version: int, raw: bytes) -> None:
    command = (sys.executable, "-c", DECODE_AND_MEASURE, str(version), (raw + b"\0" * 64).hex())
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    most_bytes, _, refused = done.stdout.partition(" ")
    assert "topic_data" in refused
    assert int(most_bytes) < 100_000


def test_more_elements_than_any_request_needs_are_refused() -> None:
    """They would fit the frame, but not the memory, and the broker would do nothing else."""
    topics = [metadata_request.MetadataRequestTopic(name="")] * (MOST_REQUESTED + 1)
    most = b"".join(metadata_request.encode(0, metadata_request.MetadataRequest(topics[1:])))
    assert len(metadata_request.decode(0, most).topics or []) == MOST_REQUESTED
    more = b"".join(metadata_request.encode(0, metadata_request.MetadataRequest(topics)))
    with pytest.raises(MalformedMessage, match="topics"):
        metadata_request.decode(0, more)


def test_elements_of_inner_arrays_count_together() -> None:
    topic = list_offsets_request.ListOffsetsTopic(
        "t", [list_offsets_request.ListOffsetsPartition()] * (MOST_REQUESTED // 2)
    )
    request = list_offsets_request.ListOffsetsRequest(topics=[topic, topic])
    raw = b"".join(list_offsets_request.encode(7, request))
    with pytest.raises(MalformedMessage, match="partitions"):
        list_offsets_request.decode(7, raw)


@pytest.mark.parametrize(
    ("module", "version", "message"),
    [
        (produce_request, 9, produce_request.ProduceRequest()),
        (fetch_request, 12, fetch_request.FetchRequest()),
    ],
    ids=["none known", "some known"],
)
def test_more_tagged_fields_than_any_message_has_are_refused(
    module: ModuleType, version: int, message: object
) -> None:
    raw = b"".join(module.encode(version, message))[:-1]
    most = raw + bytes((MOST_TAGS,)) + b"\x60\x00" * MOST_TAGS
    assert module.decode(version, most) == message
    more = raw + bytes((MOST_TAGS + 1,)) + b"\x60\x00" * (MOST_TAGS + 1)
    with pytest.raises(MalformedMessage, match="tagged fields"):
        module.decode(version, more)


def test_null_is_refused_where_a_version_has_no_null() -> None:
    with pytest.raises(MalformedMessage, match="topics"):
        metadata_request.decode(0, b"\xff\xff\xff\xff")
    assert metadata_request.decode(1, b"\xff\xff\xff\xff").topics is None


def test_a_version_that_is_not_served_is_refused() -> None:
    for version in (-1, 2, 13, 32767):
        with pytest.raises(MalformedMessage, match=f"no version {version}"):
            produce_request.decode(version, b"\0" * 64)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="utf-8"):
        produce_request.decode(3, b"\0\x02\xc3\x28" + b"\0" * 10)


def test_a_string_longer_than_kafka_allows_is_refused() -> None:
    # A compact length could say more, but no older version could then carry the string on.
    for length, accepted in ((32_767, True), (32_768, False)):
        size = length + 1
        prefix = bytes((size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14))
        raw = prefix + b"x" * length + b"\0" * 6 + b"\x01\0"
        if accepted:
            assert produce_request.decode(9, raw).transactional_id == "x" * length
        else:
            with pytest.raises(MalformedMessage, match="longer than 32767"):
                produce_request.decode(9, raw)


def test_a_varint_longer_than_32_bits_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="varint"):
        produce_request.decode(9, b"\xff\xff\xff\xff\xff\xff\xff\x01")


def test_unknown_tagged_fields_are_skipped() -> None:
    plain = produce_request.ProduceRequest(acks=-1, timeout_ms=30_000)
    raw = b"".join(produce_request.encode(9, plain))
    assert raw.endswith(b"\0")
    tagged = raw[:-1] + b"\x02" + b"\x07\x03abc" + b"\x85\x01\x00"
    assert produce_request.decode(9, tagged) == plain


def test_a_tagged_field_with_a_wrong_size_is_refused() -> None:
    request = fetch_request.FetchRequest(replica_state=fetch_request.ReplicaState(3, 9))
    raw = b"".join(fetch_request.encode(15, request))
    assert fetch_request.decode(15, raw) == request
    # Tag 1, 13 bytes: an int32, an int64, and no tagged fields of its own.
    at = raw.rindex(b"\x01\x0d")
    for size in (b"\x0c", b"\x0e"):
        with pytest.raises(MalformedMessage, match="tagged field"):
            fetch_request.decode(15, raw[: at + 1] + size + raw[at + 2 :] + b"\0")


def test_a_tag_section_that_ends_early_is_refused() -> None:
    for raw in (b"", b"\x01", b"\x01\x00", b"\x01\x00\x05abc", b"\xff\xff\xff\xff\x0f\x00\x00"):
        with pytest.raises(MalformedMessage):
            skip_tagged_fields(memoryview(raw), 0)
    assert skip_tagged_fields(memoryview(b"..\x01\x00\x05abcde!"), 2) == 10


def test_bytes_after_a_message_are_ignored() -> None:
    """Apache Kafka ignores them too."""
    request = produce_request.ProduceRequest(acks=1)
    raw = b"".join(produce_request.encode(9, request))
    assert produce_request.decode(9, raw + b"more") == request


def test_coordinator_records_start_with_their_type_or_version() -> None:
    key = offset_commit_key.OffsetCommitKey("g", "t", 3)
    assert offset_commit_key.unpack(offset_commit_key.pack(key)) == key
    with pytest.raises(MalformedMessage, match="OffsetCommitKey"):
        offset_commit_key.unpack(b"\x00\x02" + offset_commit_key.pack(key)[2:])
    value = offset_commit_value.OffsetCommitValue(offset=7, metadata="m", commit_timestamp=5)
    assert offset_commit_value.unpack(offset_commit_value.pack(3, value)) == (3, value)
    for raw in (b"", b"\0", b"\x7f\xff\0\0", b"\0\x03\0"):
        with pytest.raises(MalformedMessage):
            offset_commit_value.unpack(raw)
