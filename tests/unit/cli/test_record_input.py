"""Records are cut out of a stream where their delimiters are, whatever arrives at once."""

import io
import os
import threading

import pytest

from holdfast.cli.record_input import split, split_key


@pytest.mark.parametrize(
    ("text", "delimiter", "pieces"),
    [
        (b"a\nb\n", b"\n", [b"a", b"b"]),
        (b"a\n\nb", b"\n", [b"a", b"", b"b"]),
        (b"aXXbXXXc", b"XX", [b"a", b"b", b"Xc"]),
        (b"", b"\n", []),
        (b"\n", b"\n", [b""]),
    ],
)
def test_pieces(text: bytes, delimiter: bytes, pieces: list[bytes]) -> None:
    assert list(split(io.BytesIO(text), delimiter)) == pieces


def test_a_piece_longer_than_a_block_stays_whole() -> None:
    long = b"x" * 200_000
    assert list(split(io.BytesIO(long + b"||" + long), b"||")) == [long, long]


def test_a_piece_is_there_before_the_stream_ends() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", 0) as pipe:
        pieces = split(stream, b"||")
        pipe.write(b"first|")
        threading.Timer(0, pipe.write, [b"|se"]).start()
        assert next(pieces) == b"first"
        pipe.write(b"cond||")
        assert next(pieces) == b"second"


def test_keys() -> None:
    assert split_key(b"k::v::w", b"::") == (b"k", b"v::w")
    assert split_key(b":v", b":") == (b"", b"v")
    assert split_key(b"v", b":") == (None, b"v")
