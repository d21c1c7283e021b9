"""Record batches as columns, against the plain codec."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from holdfast.kafka import unpacking
from holdfast.kafka.unpacking import SCHEMA, UnreadableBatch, unpack
from holdfast.wire.protocol.generated.fetch_response import AbortedTransaction
from holdfast.wire.records import compression
from holdfast.wire.records.batch import (
    HEADER,
    HEADER_SIZE,
    build_batch,
    control_batch,
    header_of,
    iterate_batches,
    records_of,
    seal,
    stamp_append_time,
)
from holdfast.wire.records.compression import Compression, UndecodableRecords
from holdfast.wire.records.record import Record, unpack_headers

NOW = 1_700_000_000_000
ALL = 2**62


@pytest.fixture(params=range(8))
def chance(request: pytest.FixtureRequest) -> random.Random:
    seed = random.randrange(2**32) + request.param
    print("seed", seed)
    return random.Random(seed)


def some_bytes(chance: random.Random) -> bytes | None:
    size = chance.choice([None, 0, 1, 5, 63, 64, 200, 200, 9_000])
    return None if size is None else chance.choice([b"x" * size, chance.randbytes(size)])


def some_record(chance: random.Random, offset: int) -> Record:
    headers = chance.choice([0, 0, 0, 1, 3, 63, 64, 75])
    return Record(
        offset,
        NOW + chance.choice([0, 1, -70, 5_000, -(2**40)]),
        some_bytes(chance),
        some_bytes(chance),
        tuple((b"n" * (i % 3), chance.choice([None, b"", b"v"])) for i in range(headers)),
    )


@dataclass(slots=True)
class Log:
    """Batches of a log, and the records that a reader of committed records sees."""

    chance: random.Random
    batches: list[tuple[int, bytes]] = field(default_factory=list)
    """Each with its last offset."""
    visible: list[Record] = field(default_factory=list)
    aborted: list[tuple[int, AbortedTransaction]] = field(default_factory=list)
    """Each with the offset of its marker."""
    end: int = 0

    def fill(self, turns: int) -> None:
        """Producers amid each other, in transactions and not; all of these are over in the end."""
        first: dict[int, int] = {}
        commits: dict[int, bool] = {}
        for _ in range(turns):
            producer = self.chance.randrange(4)
            if producer == 0:
                self.append(-1, visible=True)
            elif producer in first and self.chance.random() < 0.4:
                self.mark(producer, first.pop(producer), commits.pop(producer))
            else:
                commits.setdefault(producer, self.chance.random() < 0.5)
                first.setdefault(producer, self.end)
                self.append(producer, visible=commits[producer])
            self.end += self.chance.choice([0, 0, 0, 1, 7])  # compaction, or a marker that is gone
        for producer in list(first):
            self.mark(producer, first.pop(producer), commits.pop(producer))

    def append(self, producer: int, *, visible: bool) -> None:
        chance, base = self.chance, self.end
        records = [some_record(chance, base + i) for i in range(chance.choice([1, 1, 3, 20]))]
        batch = build_batch(
            records, base_offset=base, timestamp=NOW, producer_id=producer, producer_epoch=0,
            transactional=producer >= 0, compression=chance.choice(list(Compression)),
        )  # fmt: skip
        if chance.random() < 0.3:
            stamp_append_time(memoryview(batch), header_of(batch).attributes, NOW + 99)
            records = [record._replace(timestamp=NOW + 99) for record in records]
        assert list(records_of(batch)) == records
        self.end += len(records)
        self.batches.append((self.end - 1, bytes(batch)))
        if visible:
            self.visible += records

    def mark(self, producer: int, first: int, commit: bool) -> None:
        marker = control_batch(producer, 0, commit, 0, NOW)
        HEADER.pack_into(marker, 0, *header_of(marker)._replace(base_offset=self.end))
        if not commit:
            self.aborted.append((self.end, AbortedTransaction(producer, first)))
        self.batches.append((self.end, bytes(marker)))
        self.end += 1

    def fetch(self, start: int, size: int) -> bytearray:
        """From the batch with this offset on, cut where it is enough; the first one is whole."""
        left = [batch for last, batch in self.batches if last >= start]
        return bytearray(b"".join(left)[: max(size, len(left[0]))] if left else b"")

    def read(self, start: int, end: int, size: int) -> list[Record]:
        """As a reader goes through a range, answer by answer."""
        found: list[Record] = []
        while start < end:
            data = self.fetch(start, size)
            # A broker leaves out those that are over before.
            aborted = [each for last, each in self.aborted if last >= start]
            rows, after = unpack(data, start=start, end=end, aborted=aborted)
            assert start < after <= end
            assert rows.schema == SCHEMA
            found += records_in(rows)
            start = after
        return found


def records_in(rows: pa.RecordBatch) -> list[Record]:
    return [
        Record(
            row["offset"], row["timestamp"], row["key"], row["value"],
            () if row["headers"] is None else unpack_headers(row["headers"]),
        )
        for row in rows.to_pylist()
    ]  # fmt: skip


@pytest.fixture
def log(chance: random.Random) -> Log:
    made = Log(chance)
    made.fill(40)
    return made


def test_all_committed_records_of_a_log_are_there(log: Log) -> None:
    assert log.read(0, log.batches[-1][0] + 1, 10**9) == log.visible


def test_any_range_in_answers_of_any_size_gives_the_records_between(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = log.batches[-1][0] + 1
    for _ in range(6):
        start = log.chance.randrange(last)
        end = log.chance.randrange(start, last) + 1
        size = log.chance.choice([1, 500, 5_000, 50_000])
        monkeypatch.setattr(unpacking, "_MOST_UNFOLDED", log.chance.choice([1, 3_000, 10**8]))
        found = log.read(start, end, size)
        assert found == [r for r in log.visible if start <= r.offset < end], (start, end, size)


@pytest.mark.parametrize("codec", list(Compression))
@pytest.mark.parametrize("size", [8_192, 2_500_000])
def test_records_with_long_lengths_are_read(codec: Compression, size: int) -> None:
    records = [Record(i, NOW, b"k", b"v" * (size if i == 1 else 10), ()) for i in range(3)]
    batch = build_batch(records, timestamp=NOW, compression=codec)
    rows, after = unpack(batch, start=0, end=ALL)
    assert (records_in(rows), after) == (records, 3)


def test_repetitive_events_do_not_fill_the_memory() -> None:
    """Answer by answer, however much they shrink."""
    data = bytearray()
    for base in range(0, 80, 10):
        records = [Record(base + i, NOW, None, bytes(2_000_000), ()) for i in range(10)]
        data += build_batch(records, base_offset=base, timestamp=NOW, compression=Compression.ZSTD)
    assert len(data) < 100_000
    rows, after = unpack(data, start=0, end=80)
    assert (rows.num_rows, after) == (40, 40)


def test_empty_and_truncated_data_yield_no_rows() -> None:
    batch = build_batch([(b"k", b"v")], base_offset=7, timestamp=NOW)
    for size in (0, 5, HEADER_SIZE - 1, HEADER_SIZE, len(batch) - 1):
        rows, after = unpack(batch[:size], start=7, end=9)
        assert (rows.num_rows, after) == (0, 7)
        assert rows.schema == SCHEMA


def test_a_batch_that_compaction_has_emptied_is_passed() -> None:
    empty = build_batch([], base_offset=5, timestamp=NOW)
    header = header_of(empty)._replace(last_offset_delta=3)
    HEADER.pack_into(empty, 0, *header)
    seal(empty)
    rows, after = unpack(empty, start=5, end=ALL)
    assert (rows.num_rows, after) == (0, 9)


def test_offsets_with_gaps_inside_a_batch_are_kept() -> None:
    records = [Record(10, NOW, b"a", b"1", ()), Record(14, NOW, b"b", b"2", ())]
    batch = build_batch([(b"a", b"1")], base_offset=10, timestamp=NOW)
    body = bytearray(batch[HEADER_SIZE:])
    body += build_batch([(b"b", b"2")], timestamp=NOW)[HEADER_SIZE:]
    body[len(batch) - HEADER_SIZE + 3] = 8  # the second one's offset: 4 behind the first
    header = header_of(batch)._replace(
        batch_length=HEADER_SIZE - 12 + len(body), last_offset_delta=6, record_count=2
    )
    batch = bytearray(HEADER.pack(*header)) + body
    seal(batch)
    assert list(records_of(batch)) == records
    rows, after = unpack(batch, start=11, end=ALL)
    assert (records_in(rows), after) == (records[1:], 17)


def test_whose_a_timestamp_is_can_be_asked_for() -> None:
    data = bytearray()
    for number, by_broker in enumerate((True, False, True)):
        batch = build_batch([(b"a", b"1")] * 2, base_offset=2 * number, timestamp=NOW)
        if by_broker:
            stamp_append_time(memoryview(batch), header_of(batch).attributes, NOW + 99)
        data += batch
    rows, _ = unpack(data, start=1, end=5, by_broker=True)
    assert rows["by_broker"].to_pylist() == [True, False, False, True]
    assert rows["timestamp"].to_pylist() == [NOW + 99, NOW, NOW, NOW + 99]
    nothing, _ = unpack(bytearray(), start=0, end=1, by_broker=True)
    assert nothing.schema == rows.schema


def some_batch(chance: random.Random) -> bytearray:
    records = [some_record(chance, i) for i in range(chance.randrange(1, 6))]
    codec = chance.choice([Compression.NONE, Compression.NONE, *Compression])
    return build_batch(records, timestamp=NOW, compression=codec)


def test_a_batch_with_a_damaged_byte_is_refused(chance: random.Random) -> None:
    for _ in range(40):
        batch = some_batch(chance)
        at = chance.randrange(16, len(batch))  # what is before is not covered by the CRC
        batch[at] ^= chance.randrange(1, 256)
        with pytest.raises(UndecodableRecords):
            unpack(batch, start=0, end=ALL)


def mutations(chance: random.Random) -> Iterator[bytearray]:
    """Batches with a CRC that fits, and insides that may not."""
    for _ in range(150):
        batch = some_batch(chance)
        for _ in range(chance.choice([1, 1, 2, 5])):
            batch[chance.randrange(HEADER_SIZE, len(batch))] = chance.choice(
                [0, 1, 2, 0x7F, 0x80, 0xFF, chance.randrange(256)]
            )
        if chance.random() < 0.3:
            count = chance.choice([-1, -(2**31), 0, 1, 7, 2**31 - 1])
            HEADER.pack_into(batch, 0, *header_of(batch)._replace(record_count=count))
        seal(batch)
        yield batch


def test_a_batch_that_is_wrong_inside_gives_no_other_rows_than_the_plain_codec(
    chance: random.Random,
) -> None:
    refused = 0
    for batch in mutations(chance):
        try:
            expected = list(records_of(batch))
        except UndecodableRecords:
            expected = None
        try:
            found = records_in(unpack(batch, start=-ALL, end=ALL)[0])
        except UndecodableRecords:
            refused += 1
        else:
            assert found == expected, batch.hex()
    assert refused


def test_garbage_is_refused_and_ends(chance: random.Random) -> None:
    for _ in range(200):
        data = bytearray(chance.randbytes(chance.randrange(300)))
        if len(data) >= HEADER_SIZE and chance.random() < 0.7:
            data[16] = 2
            data[8:12] = chance.choice([-12, -100, 0, 48, 49, 60]).to_bytes(4, "big", signed=True)
            data[17:21] = bytes(4)
        try:
            unpack(data, start=0, end=ALL)
        except UndecodableRecords:
            pass


def test_a_batch_of_length_zero_does_not_loop_forever() -> None:
    data = bytearray(HEADER_SIZE)
    data[16] = 2
    data[8:12] = (-12).to_bytes(4, "big", signed=True)  # whose CRC is that of nothing
    with pytest.raises(UndecodableRecords):
        unpack(data, start=0, end=ALL)


def test_a_batch_with_a_negative_count_is_refused() -> None:
    batch = build_batch([], timestamp=NOW)
    HEADER.pack_into(batch, 0, *header_of(batch)._replace(record_count=-5))
    seal(batch)
    with pytest.raises(UndecodableRecords):
        unpack(batch, start=0, end=ALL)


def test_a_field_does_not_reach_into_the_next_batch() -> None:
    batch = build_batch([(None, bytes(10))], timestamp=NOW)
    assert batch[-12] == 2 * 10
    batch[-12] = 2 * 63  # its headers would be counted by the low byte of the next one's epoch
    seal(batch)
    behind = build_batch([(b"k", b"x")], base_offset=1, timestamp=NOW, producer_epoch=2)
    with pytest.raises(UndecodableRecords):
        unpack(batch + behind, start=0, end=ALL)


def test_records_that_do_not_fill_their_batch_or_are_too_many_are_refused() -> None:
    batch = build_batch([(b"k", b"v"), (b"k", b"w")], timestamp=NOW)
    behind = build_batch([(b"k", b"x")], base_offset=2, timestamp=NOW)
    for count in (1, 3):
        wrong = bytearray(batch)
        HEADER.pack_into(wrong, 0, *header_of(wrong)._replace(record_count=count))
        seal(wrong)
        with pytest.raises(UndecodableRecords):
            unpack(wrong + behind, start=0, end=ALL)
    assert len(list(iterate_batches(batch + behind))) == 2


def garbage(batch: bytes | bytearray) -> bytearray:
    """The batch, with a CRC that fits and insides that make no sense."""
    spoilt = bytearray(batch)
    spoilt[HEADER_SIZE:] = b"\xff" * (len(batch) - HEADER_SIZE)
    seal(spoilt)
    return spoilt


def of_unknown_magic(batch: bytes | bytearray) -> bytearray:
    spoilt = bytearray(batch)
    spoilt[16] = 7
    return spoilt


def of_unknown_codec(batch: bytes | bytearray) -> bytearray:
    spoilt = bytearray(batch)
    HEADER.pack_into(spoilt, 0, *header_of(batch)._replace(attributes=6))
    seal(spoilt)
    return spoilt


def with_wrong_crc(batch: bytes | bytearray) -> bytearray:
    spoilt = bytearray(batch)
    spoilt[-1] ^= 1
    return spoilt


def with_count(batch: bytes | bytearray, count: int) -> bytearray:
    spoilt = bytearray(batch)
    HEADER.pack_into(spoilt, 0, *header_of(batch)._replace(record_count=count))
    seal(spoilt)
    return spoilt


def with_broken_headers(batch: bytes | bytearray) -> bytearray:
    """Its last record ends with one header; the length of the header's name is wrong."""
    spoilt = bytearray(batch)
    spoilt[-4] += 20
    seal(spoilt)
    return spoilt


def bomb(batch: bytes | bytearray) -> bytearray:
    header = header_of(batch)
    huge = [Record(header.base_offset, NOW, None, bytes(5_000_000), ())]
    made = build_batch(
        huge, base_offset=header.base_offset, timestamp=NOW, compression=Compression.GZIP
    )
    HEADER.pack_into(made, 0, *header_of(made)._replace(last_offset_delta=header.last_offset_delta))
    seal(made)
    return made


SPOILERS = {
    "garbage": garbage,
    "codec": of_unknown_codec,
    "too few": lambda batch: with_count(batch, 1),
    "too many": lambda batch: with_count(batch, 9),
    "none": lambda batch: with_count(batch, 0),
    "negative": lambda batch: with_count(batch, -1),
    "headers": with_broken_headers,
    "bomb": bomb,
}
SPOILERS_THAT_HIDE_THE_END = {"crc": with_wrong_crc, "magic": of_unknown_magic}


@pytest.mark.parametrize("kind", [*SPOILERS, *SPOILERS_THAT_HIDE_THE_END])
def test_records_before_an_unreadable_batch_are_given_and_then_its_offsets_named(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression.decompress, "__defaults__", (1_000_000,))
    records = [Record(i, NOW, b"k", b"v", ((b"n", b"w"),)) for i in range(9)]
    first, second, third = (
        build_batch(records[at : at + 3], base_offset=at, timestamp=NOW) for at in (0, 3, 6)
    )
    spoil = {**SPOILERS, **SPOILERS_THAT_HIDE_THE_END}[kind]
    data = first + spoil(second) + third
    rows, after = unpack(data, start=1, end=ALL)
    assert (records_in(rows), after) == (records[1:3], 3)
    for start in (3, 4):
        with pytest.raises(UnreadableBatch) as caught:
            unpack(data[len(first) :], start=start, end=ALL)
        assert (caught.value.start, str(caught.value) != "") == (start, True)
        assert caught.value.end == (6 if kind in SPOILERS else None)
    assert records_in(unpack(third, start=6, end=ALL)[0]) == records[6:]


def test_unreadable_control_batch_is_reported_with_its_offsets() -> None:
    marker = control_batch(1, 0, commit=False, coordinator_epoch=0, timestamp=NOW)
    HEADER.pack_into(marker, 0, *header_of(marker)._replace(base_offset=5))
    with pytest.raises(UnreadableBatch) as caught:
        unpack(garbage(marker), start=5, end=ALL)
    assert (caught.value.start, caught.value.end) == (5, 6)
    before = build_batch([(b"k", b"v")], base_offset=4, timestamp=NOW)
    rows, after = unpack(before + garbage(marker), start=4, end=ALL)
    assert (rows.num_rows, after) == (1, 5)


def test_batch_with_any_content_is_read_or_refused(chance: random.Random) -> None:
    """Random bytes behind a header that fits: no other error, and headers that can be taken
    apart."""
    for _ in range(300):
        batch = some_batch(chance)
        for _ in range(chance.choice([1, 2, 30])):
            batch[chance.randrange(HEADER_SIZE, len(batch))] = chance.choice(
                [0, 1, 0x80, 0xFF, chance.randrange(256)]
            )
        seal(batch)
        try:
            rows, _ = unpack(batch, start=0, end=ALL)
        except UndecodableRecords:
            continue
        records_in(rows)
