"""Reading records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from time import monotonic
from typing import Any, Self, TypedDict

from confluent_kafka import Message, TopicPartition

from holdfast.client.connection import NO_GROUP, Connection
from holdfast.client.consumer_engine import ConsumerEngine
from holdfast.client.dead_letters import DeadLetters
from holdfast.client.failure import FailurePolicy, handle
from holdfast.client.positions import Offsets, Partition, Where
from holdfast.client.record import Record, records_of
from holdfast.client.topics import Topics
from holdfast.errors import ConflictError, InvalidArgumentError, NotFoundError

Bound = Where | Mapping[int, int]
"""A position in all partitions, or offsets by the number of the partition."""


class ConsumerOptions(TypedDict, total=False):
    """Options of a `Consumer`."""

    group: str | None
    start: Where
    partitions: Sequence[int] | None
    auto_commit: bool
    commit_interval: float
    commit_count: int
    kafka: Mapping[str, Any] | None


class Consumer:
    """Reads records; in a group, commits those that are done.

    >>> for i in range(3):
    ...     _ = client.send(topic, {"n": i}).result()
    >>> with client.consumer(topic, group="readme") as consumer:
    ...     for record in consumer.records(until="end"):
    ...         print(record.offset, record.json())
    0 {'n': 0}
    1 {'n': 1}
    2 {'n': 2}

    At least once, by construction: the next iteration marks the previous record as done, and the
    committed offset is always the one after the last record that is done. If the loop is left
    (`break`, an error), its current record is not done and is read again; `commit()` in the loop
    marks it as done.

    Commits go out in batches (`commit_interval` seconds or `commit_count` records), before a
    partition is given up, and on close. With `auto_commit=False` only `commit` commits.
    Only `stop` may be called by several threads at once.
    """

    def __init__(
        self,
        connection: Connection,
        topics: Sequence[str],
        *,
        group: str | None = None,
        start: Where = "start",
        partitions: Sequence[int] | None = None,
        auto_commit: bool = True,
        commit_interval: float = 5.0,
        commit_count: int = 100_000,
        kafka: Mapping[str, Any] | None = None,
    ) -> None:
        if commit_count < 1 or commit_interval < 0:
            raise InvalidArgumentError(
                "Commits need a count of 1 or more and an interval of 0 s or more."
            )
        self.auto_commit = auto_commit and group is not None
        self._connection = connection
        self._group = group
        config = {
            "group.id": group or NO_GROUP,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "partition.assignment.strategy": "cooperative-sticky",
            # librdkafka's own 1000 ms leave a quick reader without records for most of that time.
            "fetch.queue.backoff.ms": 10,
            # A bounded read learns that it is at the end from a fetch that found nothing.
            "fetch.wait.max.ms": 100,
            "auto.offset.reset": _reset(group, start),
            **(kafka or {}),
        }
        committed_only = config.get("isolation.level", "read_committed") == "read_committed"
        self._offsets = Offsets(connection, committed_only=committed_only)
        self._partitions = self._chosen(topics, partitions)
        self.engine = ConsumerEngine(
            connection,
            config,
            topics=topics,
            commits=self.auto_commit,
            commit_interval=commit_interval,
            commit_count=commit_count,
        )
        if group is None:
            self.engine.assign(self._resolve(start, self._partitions))
        else:
            self.engine.subscribe()

    def __iter__(self) -> Iterator[Record]:
        return self.records()

    def records(self, *, until: Bound | None = None, limit: int | None = None) -> Iterator[Record]:
        """The records from here on, up to a bound if there is one.

        `until` is an offset, a time, `"end"` (the present one), or a mapping from partition to
        offset; `limit` is a number of records.
        """
        self.bound(until)
        return records_of(self._chunks(limit))

    def run(
        self,
        handler: Callable[[Record], object],
        *,
        dead_letter: str | None = None,
        policy: FailurePolicy | None = None,
        until: Bound | None = None,
        limit: int | None = None,
    ) -> None:
        """Call `handler` with each record; a record is done once its handler has returned.

        After a transient error of the handler (`policy.is_transient`: a broker or a store is away),
        the record is tried again, with growing pauses, without limit. After a terminal error, the
        record goes to the topic `dead_letter`, confirmed, before its offset is committed. Without
        `dead_letter` a terminal error ends the run. `stop()` ends it, too.
        """
        policy = policy or FailurePolicy()
        engine = self.engine
        letters = None if dead_letter is None else DeadLetters(self._connection, dead_letter)
        for record in self.records(until=until, limit=limit):
            handled = handle(record, handler, policy, letters, engine.idle)
            if engine.stopped:
                if not handled:
                    return  # the record is not done
                engine.cut()
            elif monotonic() >= engine.serve_at:
                engine.cut()

    def stop(self) -> None:
        """End the iteration permanently, within moments. May be called by any thread.

        `run` ends after its current record; a loop may get a few more records.
        """
        self.engine.stop()

    def seek(self, where: Where, *, topic: str | None = None, partition: int | None = None) -> None:
        """Continue at an offset, a time, a duration ago, `"start"` or `"end"`.

        In all partitions assigned to this consumer, or in the named one.
        """
        if self._group is not None:
            self.engine.wait_for_assignment(self._connection.settings.request_timeout * 2)
        chosen = [
            p
            for p in self.engine.assigned
            if (topic is None or p.topic == topic) and (partition is None or p.number == partition)
        ]
        if not chosen:
            raise InvalidArgumentError("No such partition is assigned to this consumer.")
        self._seek(self._resolve(where, chosen))

    def rewind(self) -> None:
        """Go back to the committed offsets, or to the start if there are none."""
        positions = self.engine.kafka.committed(
            [p.at(-1) for p in self.engine.assigned], self._connection.settings.request_timeout
        )
        committed = {Partition(p.topic, p.partition): p.offset for p in positions if p.offset >= 0}
        rest = [p for p in self.engine.assigned if p not in committed]
        self._seek({**committed, **self._offsets.starts(rest)})

    def commit(self) -> None:
        """Commit all records that were handed out, the current one included, and wait for it."""
        if self._group is None:
            raise InvalidArgumentError(
                "This consumer is in no group, so there is nothing to commit to."
            )
        self.engine.commit()

    def handed_out(self) -> tuple[list[TopicPartition], Any]:
        """Offsets and group metadata, for `Transaction.send_offsets`."""
        if self.auto_commit:
            raise ConflictError(
                "The offsets of a consumer that commits by itself cannot be part of a transaction: "
                "make it with auto_commit=False."
            )
        offsets = self.engine.handed_out()
        return [p.at(o) for p, o in offsets.items()], self.engine.kafka.consumer_group_metadata()

    @property
    def assignment(self) -> set[tuple[str, int]]:
        """Topic and number of the partitions that this consumer reads now."""
        return set(self.engine.assigned)

    def bound(self, until: Bound | None) -> None:
        """Set the end of the records that are handed out from here on."""
        self.engine.bound(None if until is None else self._ends(until))

    def close(self) -> None:
        """Commit the records that are done and leave the group."""
        self.engine.close()

    def _chunks(self, limit: int | None) -> Iterator[Iterator[Message]]:
        engine, left = self.engine, limit
        while left is None or left > 0:
            messages = engine.more(left)
            if messages is None:
                return
            yield messages
            if left is not None:
                left -= engine.handed
        engine.settle()

    def _seek(self, positions: dict[Partition, int]) -> None:
        self.engine.seek(
            positions,
            grouped=self._group is not None,
            timeout=self._connection.settings.request_timeout,
        )

    def _chosen(self, topics: Sequence[str], numbers: Sequence[int] | None) -> list[Partition]:
        """The partitions of the topics; NotFoundError for an unknown topic or number."""
        described = Topics(self._connection).describe_all(topics)
        if numbers is None:
            return [Partition(t.name, n) for t in described for n in range(t.partitions)]
        if self._group is not None:
            raise InvalidArgumentError("In a group, the group chooses the partitions.")
        for topic, number in product(described, numbers):
            if not 0 <= number < topic.partitions:
                raise NotFoundError(
                    f"There is no partition {number} in {topic.name!r}: it has {topic.partitions}."
                )
        return [Partition(topic.name, number) for topic, number in product(described, numbers)]

    def _resolve(self, where: Where, partitions: list[Partition]) -> dict[Partition, int]:
        """The offsets of `where`; one for several partitions means the end of shorter ones."""
        return self._offsets.resolve(partitions, where, clamp=len(partitions) > 1)

    def _ends(self, until: Bound) -> dict[Partition, int]:
        if isinstance(until, Mapping):
            return {p: until[p.number] for p in self._partitions if p.number in until}
        return self._offsets.resolve(self._partitions, until, clamp=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reset(group: str | None, start: Where) -> str:
    """librdkafka's policy for a missing offset."""
    if group is None:
        return "error"  # deleted records must not be skipped silently
    resets = {"start": "earliest", "end": "latest"}
    if not isinstance(start, str) or start not in resets:
        raise InvalidArgumentError(
            "A group begins at its committed offsets, else at 'start' or 'end'. To begin "
            "elsewhere, seek, or reset the group."
        )
    return resets[start]
