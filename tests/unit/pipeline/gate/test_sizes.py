"""Sizes of records, limits that turn out lower, and dead letters that fit."""

import json
import random
from base64 import b64encode

import pyarrow as pa
import pytest

from holdfast.client.settings import ClientSettings
from holdfast.gate import Verdict
from holdfast.kafka.record_size import wire_size
from holdfast.pipeline.gate.events import INVALID, TOO_LARGE, Events, Flaw
from holdfast.pipeline.gate.sizes import OutputLimits, SizeLimits
from holdfast.pipeline.gate.writer import OVERSIZED, dead_letter
from holdfast.wire.records.batch import HEADER
from holdfast.wire.records.record import Record, encode_record, pack_headers

Headers = list[tuple[bytes, bytes | None]]


def some_bytes(chance: random.Random) -> bytes | None:
    sizes = (None, 0, 1, 62, 63, 64, 65, 8_190, 8_192, 70_000)
    size = chance.choice(sizes)
    return None if size is None else bytes(size)


def some_headers(chance: random.Random) -> Headers:
    names = (b"", b"n", "ü".encode(), b'"\n', b"x" * 200)
    return [(chance.choice(names), some_bytes(chance)) for _ in range(chance.choice((0, 1, 2, 70)))]


@pytest.mark.parametrize("seed", range(20))
def test_the_size_of_a_record_is_the_size_of_its_batch_on_the_wire(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        key, value, headers = some_bytes(chance), some_bytes(chance), some_headers(chance)
        output = bytearray()
        encode_record(output, Record(0, 5, key, value, tuple(headers)), 0, 5)
        assert wire_size(key, value, headers) == HEADER.size + len(output)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("form", ["text", "packed"])
def test_the_weight_of_an_event_is_an_upper_bound_of_its_size(seed: int, form: str) -> None:
    chance = random.Random(seed)
    found = [(some_bytes(chance), some_bytes(chance), some_headers(chance)) for _ in range(30)]
    headers = [_text(own) if form == "text" else _packed(own) for *_, own in found]
    rows = pa.RecordBatch.from_pydict(
        {
            "offset": pa.array([2**62 + i for i in range(30)], pa.int64()),
            "timestamp": pa.array([7] * 30, pa.int64()),
            "key": pa.array([key for key, *_ in found], pa.binary()),
            "value": pa.array([value for _, value, _ in found], pa.binary()),
            "headers": pa.array(headers, pa.string() if form == "text" else pa.binary()),
        }
    )
    events = Events(rows)
    sizes = [events.wire_size(i, 99_999) for i in range(30)]
    assert all(size <= weight for size, weight in zip(sizes, events.weights.tolist(), strict=True))
    for limit in (0, 200, 70_000, 200_000):
        expected = [(i, size) for i, size in enumerate(sizes) if size > limit]
        assert events.larger_than(limit, 99_999) == expected


def _text(headers: Headers) -> str | None:
    """As Spark gives them: a null is left out, other than ASCII stands as it is."""
    pairs = [
        {"key": name.decode()} | ({} if value is None else {"value": b64encode(value).decode()})
        for name, value in headers
    ]
    return json.dumps(pairs, ensure_ascii=False, separators=(",", ":")) if pairs else None


def _packed(headers: Headers) -> bytes | None:
    return pack_headers(headers) if headers else None


def test_the_limit_is_that_of_the_topic_to_which_an_event_goes() -> None:
    limits = OutputLimits(processed=100, held=200, dlq=50)
    assert limits.lowest == 25, "a dead letter has its reason, too"
    assert [limits.refuses(v, 150) for v in Verdict] == [True, False, False]
    assert [limits.refuses(v, 201) for v in Verdict] == [True, True, False]
    assert not limits.refuses(Verdict.PASS, 100)


SOURCE = ("holdfast-source", b"0:7")


@pytest.mark.parametrize(
    ("key", "value", "own", "kept"),
    [
        (b"k", b"v" * 500, [("h", b"x")], (b"k", b"v" * 500, [("h", b"x")])),
        (b"k", b"v" * 2_000, [("h", b"x")], (b"k", None, [("h", b"x")])),
        (b"k", b"v", [("h", b"x" * 2_000)], (b"k", None, [])),
        (b"k" * 2_000, None, [("h", b"x")], (None, None, [])),
        (b"k" * 2_000, None, [("h", b"x" * 2_000)], (None, None, [])),
    ],
)
def test_dead_letter_keeps_what_fits_and_always_its_source_headers(
    key: bytes, value: bytes | None, own: list[tuple[str, bytes]], kept: tuple[object, ...]
) -> None:
    letter = dead_letter(1_200, key, value, [*own, SOURCE], Flaw(INVALID, "why"))
    assert (letter.key, letter.value, [*letter.headers]) == (*kept[:2], [*kept[2], SOURCE])  # type: ignore[misc]
    assert wire_size(letter.key, letter.value, [*letter.headers, *letter.reason]) <= 1_200
    reason = dict(letter.reason)
    if letter.value is None:
        assert reason["holdfast-error"] == TOO_LARGE.encode()
        assert b"'invalid': why" in reason["holdfast-error-message"]


def test_the_dead_letter_of_a_too_large_event_omits_the_value_even_if_it_fits() -> None:
    letter = dead_letter(10**6, b"k", b"v", [SOURCE], OVERSIZED)
    assert (letter.key, letter.value, letter.headers) == (b"k", None, [SOURCE])


class Described(SizeLimits):
    """Limits of two topics, without a broker."""

    def __init__(self, **limits: int) -> None:
        super().__init__(ClientSettings(bootstrap="127.0.0.1:1"), list(limits))
        self.described = limits

    def _describe(self) -> dict[str, int]:
        return dict(self.described)


def test_a_full_batch_stays_below_the_lowest_limit() -> None:
    assert Described(a=2_000_000, b=10_000_000).batch_bytes == 256 * 1024
    assert Described(a=20_000, b=10_000_000).batch_bytes == 20_000 - 1_024
    assert Described(a=10, b=10_000_000).batch_bytes == 1


def test_a_single_refused_record_lowers_the_limit_of_its_topic_permanently() -> None:
    limits = Described(a=1_000_000, b=1_000_000)
    limits.refresh()
    assert limits.learn({"a": 500_000})
    assert (limits.of("a"), limits.of("b")) == (499_999, 1_000_000)
    assert limits.batch_bytes == 256 * 1024
    assert not limits.refresh()
    assert limits.of("a") == 499_999
    assert not limits.learn({"a": 500_000}), "it is refused although it is known: a record of ours"
    limits.described["a"] = 2_000_000
    assert limits.refresh()
    assert limits.of("a") == 2_000_000


def test_refused_batches_are_halved_until_they_fit() -> None:
    limits = Described(a=1_000_000)
    limits.refresh()
    sizes = []
    while limits.learn({"a": 10}):
        sizes.append(limits.batch_bytes)
    assert sizes == [2**n * 1_024 for n in range(7, -1, -1)]
    assert limits.of("a") == 1_000_000
