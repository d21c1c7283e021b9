"""How large records may be, and how large they are: known before anything is sent.

A topic's limit (`max.message.bytes`) is on batches as they are sent. A producer may have compressed
an event below the limit of `events`; the gate writes uncompressed, so the same event can be too
large for `processed`. A record alone in its batch is the smallest batch that it can be in: if that
is over the limit, the record is too large, whatever else is written beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from confluent_kafka import KafkaError

from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError, StaleStateError
from holdfast.flows.names import FlowNames
from holdfast.gate import Verdict
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.errors import Refused
from holdfast.kafka.record_size import LARGEST_REQUEST

FRAMING = 192
"""More than a batch takes beside the key, the value and the headers of its only record, and beside
the header that the gate adds."""

LARGEST_REASON = 4_096
"""More than the reason of a dead letter takes."""

MOST_ATTEMPTS = 16
"""Attempts at one transaction while limits turn out lower than known: halving takes no more."""

_LARGEST_RECORD = LARGEST_REQUEST - 64 * 1024
_LARGEST_BATCH = 256 * 1024
"""A batch that fits in the processor's cache is made, sent and taken with a sixth less work than
one of a megabyte, and the first is on its way sooner."""
_SMALLEST_BATCH = 1_024
_BATCH_OVERHEAD = 1_024
"""How much larger a batch may be on the wire than the records in it."""
_LIMIT = "max.message.bytes"


class OutputLimits(NamedTuple):
    """The limits of the topics that events are written to."""

    processed: int
    held: int
    dlq: int

    @property
    def lowest(self) -> int:
        """No event up to it is too large, also as a dead letter with its reason."""
        return min(self.processed, self.held, self._largest_letter)

    def shortens(self, size: int) -> bool:
        """Returns True if the dead letter of an event of this size may lack parts."""
        return size > self._largest_letter

    @property
    def _largest_letter(self) -> int:
        return max(self.dlq - LARGEST_REASON, self.dlq // 2)

    def refuses(self, verdict: int, size: int) -> bool:
        """Returns True if an event of this size is too large for where it should go. A dead letter
        never is: what does not fit is left out of it."""
        if verdict == Verdict.PASS:
            return size > self.processed
        return verdict == Verdict.HOLD and size > self.held


class SizeLimits:
    """The limits of some topics, and the size of a batch that fits all of them.

    They are as the broker describes them. Where it refuses records all the same, they are as low
    as it has shown, until it describes another limit. For one thread at a time.
    """

    def __init__(self, settings: ClientSettings, topics: Sequence[str]) -> None:
        self._cluster = ClusterClient(settings)
        self._topics = topics
        self._batch_bytes = 0
        self._described: dict[str, int] = {}
        self._learned: dict[str, int] = {}

    @classmethod
    def of_flow(cls, settings: ClientSettings, names: FlowNames) -> "SizeLimits":
        topics = (names.processed, names.held, names.dlq, names.journal, names.status)
        return cls(settings, topics)

    @property
    def batch_bytes(self) -> int:
        """Bytes of records in a batch. A limit is on batches, so a full one must stay below the
        lowest limit, or innocent records are refused together with a large one."""
        if not self._described:
            self.refresh()
        return self._batch_bytes

    def of(self, topic: str) -> int:
        if not self._described:
            self.refresh()
        return self._learned.get(topic, self._described[topic])

    def outputs(self, names: FlowNames) -> OutputLimits:
        return OutputLimits(*map(self.of, (names.processed, names.held, names.dlq)))

    def refresh(self) -> bool:
        """Read the limits again. Returns True if one was changed."""
        try:
            described = self._describe()
        finally:
            self._cluster.forget()  # used too rarely to keep a connection
        changed = {
            topic for topic in self._topics if described[topic] != self._described.get(topic)
        }
        if changed:
            self._described = described
            self._learned = {t: size for t, size in self._learned.items() if t not in changed}
            fitting = min(described.values()) - _BATCH_OVERHEAD
            self._batch_bytes = max(1, min(_LARGEST_BATCH, fitting))
        return bool(changed)

    def adapt(
        self,
        refused: Iterable[Refused],
        large: Iterable[tuple[bytes | None, bytes | None, int]],
    ) -> bool:
        """Find the limits after records were refused for their size. Returns True if another try is
        worth it. `large`: key, value and size of each record that is larger than a batch.

        A refused record is known by key and value only. The largest record with these was refused
        for sure. One that is no larger than a batch may have been in one.
        """
        if self.refresh():
            return True
        alone: dict[tuple[bytes | None, bytes | None], int] = {}
        for key, value, size in large:
            alone[key, value] = max(size, alone.get((key, value), 0))
        sizes: dict[str, int] = {}
        for topic, key, value in refused:
            size = alone.get((key, value), 0)
            sizes[topic] = min(size, sizes.get(topic, size))
        return self.learn(sizes)

    def learn(self, refused: Mapping[str, int]) -> bool:
        """The broker has refused records for their size, though it describes the same limits as
        before. Returns True if it is worth another try.

        `refused`: for each topic the size of the smallest record that was refused. One that is
        larger than a batch was refused alone, so the limit is below it. Else a whole batch was
        refused, and batches must be smaller.
        """
        batch, learned = self._batch_bytes, dict(self._learned)
        for topic, size in refused.items():
            if size > batch:
                self._learned[topic] = min(self.of(topic), size - 1)
            else:
                self._batch_bytes = min(batch, max(_SMALLEST_BATCH, batch // 2))
        return (batch, learned) != (self._batch_bytes, self._learned)

    def _describe(self) -> dict[str, int]:
        found = {}
        for result in self._cluster.describe_configs(self._topics, [_LIMIT]):
            if result.error_code:
                raise _undescribed(result.resource_name, result.error_code)
            (limit,) = [each.value for each in result.configs if each.name == _LIMIT]
            found[result.resource_name] = min(int(limit or 0), _LARGEST_RECORD)
        return found


def limits_keep_changing() -> StaleStateError:
    return StaleStateError("The size limits of the topics keep changing. The step is tried again.")


def _undescribed(topic: str, code: int) -> HoldfastError:
    return translate(KafkaError(code), f"Reading {_LIMIT} of {topic}")
