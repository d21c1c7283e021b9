"""How soon commands act: holds under traffic, and the release of one key among many."""

import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException

import holdfast
from bench.load.child import Child
from bench.load.events import (
    Load,
    WrongOutputError,
    decode_event,
    fill,
    read_partitions,
)
from bench.load.paced import live_consumer, traffic
from bench.load.systems import Holdfast
from holdfast.flows.journal import Outcome

EFFECT_DEADLINE_S = 60.0
HOLDING_DEADLINE_S = 600.0
RELEASED_EVENTS = 10_000
OTHER_KEYS = 1_000


def hold_seconds(
    system: Holdfast, flow: str, load: Load, per_second: float, holds: int, warm_up: float
) -> list[float]:
    """From the acknowledgement of each hold until its effect is known, while traffic flows.

    Afterwards the output is read: an event that was sent after the acknowledgement is not there.
    """
    keys = [key for key in load.cycle if key not in set(load.held_keys)][:holds]
    endless = Load(10**9, load.keys, load.held)
    acknowledged = dict.fromkeys(load.held_keys, 0)
    seconds = []
    with system.running(flow) as pipeline, holdfast.connect(system.bootstrap) as client:
        with traffic(system.bootstrap, system.events(flow), endless, per_second) as source:
            time.sleep(warm_up)
            for key in keys:
                receipt = client.flow(flow).hold(key, reason="bench")
                acknowledged[key] = time.monotonic_ns()
                effect = receipt.wait(EFFECT_DEADLINE_S)
                seconds.append((time.monotonic_ns() - acknowledged[key]) / 1e9)
                if effect.outcome is not Outcome.HELD:
                    raise WrongOutputError(f"a hold came to {effect.outcome}")
        system.wait_until_taken(flow, source.sent, pipeline, EFFECT_DEADLINE_S)
    _check_held(system, flow, acknowledged)
    return seconds


def _numbers(consumer: Consumer, timeout: float) -> list[int]:
    messages = consumer.consume(RELEASED_EVENTS, timeout)
    for message in messages:
        if message.error() is not None:
            raise KafkaException(message.error())
    return [decode_event(message.value())[0] for message in messages]


def _check_held(system: Holdfast, flow: str, acknowledged: dict[bytes, int]) -> None:
    for messages in read_partitions(system.bootstrap, system.processed(flow), system.partitions):
        for message in messages:
            _, sent_at = decode_event(message.value())
            if sent_at > acknowledged.get(message.key() or b"", sent_at):
                raise WrongOutputError(f"an event of {message.key()!r} came out after its hold")


def release_seconds(
    system: Holdfast, flow: str, others_held: int, released_keys: int
) -> list[float]:
    """From asking for each release to the last of the key's events, while others stay held."""
    others = [b"other-%04d" % number for number in range(OTHER_KEYS)]
    released = [b"released-%d" % number for number in range(released_keys)]
    rounds = others_held // OTHER_KEYS
    cycle = _interleaved(others, released, RELEASED_EVENTS // rounds)
    system.hold(flow, [*others, *released])
    count = len(cycle) * rounds
    fill(system.bootstrap, system.events(flow), cycle, count, system.partitions)
    with system.running(flow) as pipeline:
        system.wait_until_taken(flow, count, pipeline, HOLDING_DEADLINE_S)
        return [_release(system, flow, key, cycle, count, pipeline) for key in released]


def _interleaved(others: Sequence[bytes], released: Sequence[bytes], times: int) -> list[bytes]:
    """Events of the released keys lie all over those of the others, where a drain has to look."""
    stretch = len(others) // times
    cycle: list[bytes] = []
    for start in range(0, len(others), stretch):
        cycle += [*others[start : start + stretch], *released]
    return cycle


def _release(
    system: Holdfast, flow: str, key: bytes, cycle: list[bytes], count: int, pipeline: Child
) -> float:
    expected = [number for number in range(count) if cycle[number % len(cycle)] == key]
    found: list[int] = []
    with (
        holdfast.connect(system.bootstrap) as client,
        live_consumer(system.bootstrap, system.processed(flow), system.partitions) as consumer,
    ):
        started = time.monotonic()
        client.flow(flow).release(key)
        while len(found) < len(expected) and time.monotonic() < started + EFFECT_DEADLINE_S:
            pipeline.check()
            found += _numbers(consumer, 0.01)
        seconds = time.monotonic() - started
        found += _numbers(consumer, 1.0)  # one more than expected would be wrong
    if found != expected:
        raise WrongOutputError(f"{len(found):,} of {len(expected):,} events, or not in order")
    return seconds
