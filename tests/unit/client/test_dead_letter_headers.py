"""Which headers are ours: those that gate and worker append, never those that an event brought."""

import pytest
from confluent_kafka import Message

from holdfast.client.dead_letters import BY_GATE, BY_WORKER, letter_headers, split_headers
from holdfast.client.record import Record
from holdfast.client.source import Header, source_of
from holdfast.pipeline.gate.writer import reason_headers

RECORD = Record.of(Message("t", 3, 7, b"k", b"v"))
GATE: list[Header] = [("holdfast-source", b"0:9"), *reason_headers("invalid", "no")]
WORKER: list[Header] = [*letter_headers(RECORD, ValueError("no"), 2)]


def test_gate_and_worker_append_their_headers_in_a_fixed_order() -> None:
    assert tuple(name for name, _ in GATE) == BY_GATE
    assert tuple(name for name, _ in WORKER) == BY_WORKER


@pytest.mark.parametrize("appended", [GATE, WORKER], ids=["gate", "worker"])
@pytest.mark.parametrize("own", [[], GATE, WORKER, WORKER[::-1], [("a", None), *WORKER, *GATE]])
def test_only_the_headers_that_were_appended_are_split_off(
    own: list[Header], appended: list[Header]
) -> None:
    assert split_headers([*own, *appended]) == (own, appended)


def test_record_without_our_headers_has_none_split_off() -> None:
    assert split_headers([("a", b"1")]) == ([("a", b"1")], [])
    assert split_headers([]) == ([], [])


@pytest.mark.parametrize(
    "value", [b"", b"x", b"1", b"1:", b":1", b"1:x", b"-1:2", b"1:2:3", b"1:" + b"9" * 19, None]
)
def test_invalid_source_header_is_ignored(value: bytes | None) -> None:
    assert source_of([("holdfast-source", value)]) is None
    assert source_of([("holdfast-source", value), ("holdfast-source", b"1:2")]) == (1, 2)
