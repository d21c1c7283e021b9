"""The code of the guide for those who move here does what the guide says, as it stands there."""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import run_in_shell, wait_until
from tests.conftest import unique_name

import holdfast
from holdfast.client.record import Record
from holdfast.flows.keys import partition_of
from holdfast.flows.status import Entry, KeyState, encode_entry

GUIDE = Path(__file__).parents[2] / "docs/guides/moving.md"
DEADLINE_S = 60.0
PARTITIONS = 12

Block = Callable[[str], str]


@pytest.fixture
def block(embedded_broker: EmbeddedBroker) -> Block:
    """The block of code that has these words, for this broker and with flows of this test."""
    stem = unique_name("moving").lower()
    blocks = re.findall(r"^( *)```(?:python)?\n(.*?)^\1```", GUIDE.read_text(), re.M | re.DOTALL)

    def find(words: str) -> str:
        (found,) = [textwrap.dedent(text) for _, text in blocks if words in text]
        found = found.replace("localhost:9092", embedded_broker.bootstrap)
        return re.sub(r"\borders\b", f"{stem}-orders", found)

    return find


def flow_of(text: str) -> str:
    found = re.search(r"moving\S*?-orders", text)
    assert found is not None
    return found[0]


def read(client: holdfast.Client, topic: str) -> list[Record]:
    with client.consumer(topic) as consumer:
        return list(consumer.records(until="end"))


def by_key(records: list[Record]) -> dict[bytes | None, list[bytes | None]]:
    found: dict[bytes | None, list[bytes | None]] = {}
    for record in records:
        found.setdefault(record.key, []).append(record.value)
    return found


def hold(client: holdfast.Client, flow: str, key: bytes) -> None:
    """As the gate would write it down; none runs here."""
    entry = Entry(
        key=key,
        state=KeyState.HELD,
        command_id="1",
        command_offset=0,
        actor="ana",
        reason="",
        since=1,
        cut=0,
        expires_at=None,
        held_from=0,
        drained_through=-1,
        events=1,
        bytes=1,
        oldest=1,
    )
    record_key, value = encode_entry(entry)
    client.send(f"{flow}.status", value, record_key, partition=0)


def test_trial_gets_a_copy_with_every_key_where_java_would_send_it(
    embedded_broker: EmbeddedBroker, block: Block
) -> None:
    copy = block("orders-trial-copy")
    flow = flow_of(copy)
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.topics.create(f"{flow}-input", partitions=PARTITIONS)
        client.flow(f"{flow}-trial").create(partitions=PARTITIONS)
        for number in range(200):
            client.send(f"{flow}-input", str(number), f"key-{number % 20}", {"n": str(number)})
    exec(copy, {})
    with holdfast.connect(embedded_broker.bootstrap) as client:
        source, copied = read(client, f"{flow}-input"), read(client, f"{flow}-trial.events")
    assert by_key(copied) == by_key(source)
    assert all(r.partition == partition_of(r.key or b"", PARTITIONS) for r in copied)
    assert sorted(r.headers for r in copied) == sorted(r.headers for r in source)


def test_stored_events_are_sent_after_the_hold_of_their_key(
    embedded_broker: EmbeddedBroker, block: Block
) -> None:
    move = block("def move")
    flow = flow_of(move)
    scope: dict[str, Any] = {}
    exec(move, scope)
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.flow(flow).create(partitions=2)
        scope["move"](client, "customer-7", ["first", "second"])
    with holdfast.connect(embedded_broker.bootstrap) as client:
        (asked,) = read(client, f"{flow}.control")
        events = read(client, f"{flow}.events")
    assert asked.key == b"customer-7"
    assert [event.value for event in events] == [b"first", b"second"]
    assert asked.timestamp <= events[0].timestamp  # type: ignore[operator]


def test_all_held_keys_are_released_at_once(embedded_broker: EmbeddedBroker, block: Block) -> None:
    release_all = block("holdfast release")
    flow = flow_of(release_all)
    keys = [b"customer-7", b"customer-8"]
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.flow(flow).create(partitions=1)
        for key in keys:
            hold(client, flow, key)
    ran = run_in_shell(embedded_broker, release_all)
    assert ran.returncode == 0, ran.stderr
    with holdfast.connect(embedded_broker.bootstrap) as client:
        asked = read(client, f"{flow}.control")
    assert sorted((r.key, r.json()["command"]) for r in asked) == [(k, "release") for k in keys]


def test_worker_holds_a_key_instead_of_rejecting_its_events(
    embedded_broker: EmbeddedBroker, block: Block
) -> None:
    worker = block("def handle")
    flow = flow_of(worker)
    with holdfast.connect(embedded_broker.bootstrap) as client:
        client.flow(flow).create(partitions=2)
        client.send(f"{flow}.processed", "to an unknown address", "customer-7")
        client.send(f"{flow}.processed", "to a known one", "customer-8")
    scope: dict[str, Any] = {}
    running = Thread(target=exec, args=(worker, scope), name="worker")
    running.start()
    try:
        with holdfast.connect(embedded_broker.bootstrap) as client:
            wait_until(lambda: read(client, f"{flow}.control"), "a hold", DEADLINE_S)
            wait_until(
                lambda: client.groups.describe(f"{flow}-worker").total_lag == 0,
                "all committed",
                DEADLINE_S,
            )
            (asked,) = read(client, f"{flow}.control")
    finally:
        wait_until(lambda: "processor" in scope, "a processor", DEADLINE_S)
        scope["processor"].signal_shutdown()
        running.join(DEADLINE_S)
        scope["client"].close()
    assert not running.is_alive()
    assert (asked.key, asked.json()["reason"]) == (b"customer-7", "unknown address")
