"""Reading records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from time import monotonic
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Message, TopicPartition

from holdfast.client.connection import Connection
from holdfast.client.dead_letters import DeadLetters
from holdfast.client.failure import FailurePolicy, handle
from holdfast.client.feed import Feed
from holdfast.client.positions import Offsets, Partition, Where
from holdfast.client.record import Record, records_of
from holdfast.client.topics import Topics
from holdfast.errors import InvalidArgumentError, NotFoundError

Bound = Where | Mapping[int, int]
"""A place in every partition, or an offset for each partition by number."""


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

    At least once, by construction: asking for the next record says that the one before is done,
    and what is committed is always the offset after the last record that is done. A record on
    which the loop was left (`break`, an error) is not done, and comes again; `commit()` in the
    loop says that it is.

    Commits go out in batches (`commit_interval` seconds or `commit_count` records), before a
    partition is given up, and on close. With `auto_commit=False` only `commit` commits.
    Not for use by several threads at once, but for `stop`.
    """

    def __init__(
        self,
        connection: Connection,
        topics: Sequence[str],
        *,
        group: str | None,
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
            "group.id": group or "holdfast.reader",
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
        self.feed = Feed(
            connection,
            config,
            topics=topics,
            commits=self.auto_commit,
            commit_interval=commit_interval,
            commit_count=commit_count,
        )
        if group is None:
            self.feed.assign(self._resolve(start, self._partitions))
        else:
            self.feed.subscribe()

    def __iter__(self) -> Iterator[Record]:
        return self.records()

    def records(self, *, until: Bound | None = None, limit: int | None = None) -> Iterator[Record]:
        """The records from here on; with a bound, those before it, and then the iteration ends.

        `until` is an offset, a time, `"end"` (of what is there now), or a mapping from partition
        to offset; `limit` is a number of records.
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

        An error of the handler is transient (a broker or a store is away: `policy.is_transient`),
        and the record is tried again, with growing pauses, as long as it takes; or it is terminal,
        and the record goes to the topic `dead_letter`, confirmed, before its offset moves. Without
        `dead_letter` a terminal error ends the run. `stop()` ends it, too.
        """
        policy = policy or FailurePolicy()
        feed = self.feed
        letters = None if dead_letter is None else DeadLetters(self._connection, dead_letter)
        for record in self.records(until=until, limit=limit):
            handled = handle(record, handler, policy, letters, feed.idle)
            if feed.stopped:
                if not handled:
                    return  # the record stays in hand, so it is not done
                feed.cut()
            elif monotonic() >= feed.serve_at:
                feed.cut()

    def stop(self) -> None:
        """End the iteration for good, within moments. May be called by any thread.

        `run` ends after the record in hand; a loop may be given a few records more.
        """
        self.feed.stop()

    def seek(self, where: Where, *, topic: str | None = None, partition: int | None = None) -> None:
        """Go on from an offset, a time, a duration ago, `"start"` or `"end"`.

        In all partitions assigned to this consumer, or in the one that is named.
        """
        if self._group is not None:
            self.feed.wait_for_assignment(self._connection.settings.request_timeout * 2)
        chosen = [
            p
            for p in self.feed.assigned
            if (topic is None or p.topic == topic) and (partition is None or p.number == partition)
        ]
        if not chosen:
            raise InvalidArgumentError("No such partition is assigned to this consumer.")
        self._seek(self._resolve(where, chosen))

    def rewind(self) -> None:
        """Go back to what is committed, as after an aborted transaction; else to the start."""
        places = self.feed.kafka.committed(
            [p.at(-1) for p in self.feed.assigned], self._connection.settings.request_timeout
        )
        committed = {Partition(p.topic, p.partition): p.offset for p in places if p.offset >= 0}
        rest = [p for p in self.feed.assigned if p not in committed]
        self._seek({**committed, **self._offsets.starts(rest)})

    def commit(self) -> None:
        """Commit everything handed out so far, the record in hand included, and wait for it."""
        if self._group is None:
            raise InvalidArgumentError(
                "This consumer is in no group, so there is nothing to commit to."
            )
        self.feed.commit()

    def handed_out(self) -> tuple[list[TopicPartition], Any]:
        """Offsets and group metadata, for `Transaction.send_offsets`."""
        offsets = self.feed.handed_out()
        return [p.at(o) for p, o in offsets.items()], self.feed.kafka.consumer_group_metadata()

    @property
    def assignment(self) -> set[tuple[str, int]]:
        """Topic and number of the partitions that this consumer reads now."""
        return set(self.feed.assigned)

    def bound(self, until: Bound | None) -> None:
        """Where the records that are handed out from here on end."""
        self.feed.bound(None if until is None else self._ends(until))

    def close(self) -> None:
        """Commit what is done and leave the group."""
        self.feed.close()

    def _chunks(self, limit: int | None) -> Iterator[Iterator[Message]]:
        feed, left = self.feed, limit
        while left is None or left > 0:
            messages = feed.more(left)
            if messages is None:
                return
            yield messages
            if left is not None:
                left -= feed.handed
        feed.settle()

    def _seek(self, positions: dict[Partition, int]) -> None:
        self.feed.seek(
            positions,
            grouped=self._group is not None,
            timeout=self._connection.settings.request_timeout,
        )

    def _chosen(self, topics: Sequence[str], numbers: Sequence[int] | None) -> list[Partition]:
        """The partitions of the topics; NotFoundError if there is none of a topic or number."""
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
        """An offset for several partitions means, in a shorter one, its end."""
        return self._offsets.resolve(partitions, where, clamp=len(partitions) > 1)

    def _ends(self, until: Bound) -> dict[Partition, int]:
        if isinstance(until, Mapping):
            return {p: until[p.number] for p in self._partitions if p.number in until}
        return self._offsets.resolve(self._partitions, until, clamp=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _reset(group: str | None, start: Where) -> str:
    """librdkafka's name for where to begin without a committed offset."""
    if group is None:
        return "error"  # it begins where it was told to; if that is gone, it says so
    resets = {"start": "earliest", "end": "latest"}
    if not isinstance(start, str) or start not in resets:
        raise InvalidArgumentError(
            "A group begins at its committed offsets, else at 'start' or 'end'. To begin "
            "elsewhere, seek, or reset the group."
        )
    return resets[start]
