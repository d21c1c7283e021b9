"""How fast records become readable, watched without reading them.

A consumer that reads everything would take a good part of one of two cores from what is measured.
So the last stable offset is asked for, which is how far a read_committed consumer could read; what
stands before it is read and checked afterwards.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

INTERVAL_S = 0.02
QUIET_S = 3.0
"""Without any more records for so long, the last one has come (or the check will say otherwise)."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How many offsets were readable at a time. Markers of transactions have offsets too."""

    at: float
    offsets: int


class Readable:
    """The offsets that a read_committed consumer of a topic can read."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap})
        self._asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in range(partitions)}

    def offsets(self) -> int:
        answers = self._admin.list_offsets(
            self._asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=30
        )
        return sum(answer.result().offset for answer in answers.values())


def watch(
    readable: Readable, expected: int, check: Callable[[], None], timeout: float
) -> list[Sample]:
    """Samples until the expected records are there and no more come; `check` may raise before."""
    samples = [Sample(time.monotonic(), readable.offsets())]
    end = samples[0].at + timeout
    while True:
        time.sleep(INTERVAL_S)
        offsets, now = readable.offsets(), time.monotonic()
        if offsets != samples[-1].offsets:
            samples.append(Sample(now, offsets))
        elif offsets >= expected and now > samples[-1].at + QUIET_S:
            return samples
        if now > end:
            raise TimeoutError(f"{offsets:,} of {expected:,} records after {timeout:.0f} s")
        check()


def rate(samples: list[Sample], events: int, warm_up: float) -> float:
    """Events a second, from the moment at which a share of them, the warm-up, was through.

    What was already there at that moment does not count: a system that commits in large pieces
    would else be paid for its first one twice.
    """
    last = samples[-1]
    first = next(s for s in samples if s.offsets > last.offsets * warm_up)
    share = (last.offsets - first.offsets) / last.offsets
    return events * share / (last.at - first.at)
