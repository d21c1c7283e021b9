"""The consumer of `holdfast kcat`: where it begins and ends, and how it prints records."""

import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from holdfast.cli.kcat import Options, delimiter_of, metadata, topic_of
from holdfast.cli.record_format import compile_format
from holdfast.client.kafka_errors import translate
from holdfast.client.record import Record
from holdfast.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from holdfast.client.connection import Connection

Place = tuple[str, int]
"""Topic and partition."""

_TAIL = -2000
"""librdkafka takes this minus N as the offset of the last N records."""
_POLL_SECONDS = 0.1
_LOOK_UP_SECONDS = 15.0
_BATCH = 500
_TIMESTAMPS = {TIMESTAMP_CREATE_TIME: "create", TIMESTAMP_LOG_APPEND_TIME: "logappend"}
_CONTROL = re.compile(rb'["\\\x00-\x1f]')
_SHORT = {b'"': rb"\"", b"\\": rb"\\", b"\n": rb"\n", b"\r": rb"\r", b"\t": rb"\t",
          b"\b": rb"\b", b"\f": rb"\f"}  # fmt: skip


def consume(connection: "Connection", options: Options) -> None:
    """Prints records until the limit, the end with -e, or Ctrl-C."""
    grouped = options["G"] is not None
    start, stop = _bounds(options["o"])
    config: dict[str, Any] = {"group.id": options["G"] or "kcat", "enable.partition.eof": True}
    if not grouped:
        config["enable.auto.commit"] = False
    render = _renderer(connection, options)
    kafka = connection.make(Consumer, {**config, **connection.settings.kafka})
    printer = _Printer(kafka, options, render, stop)
    try:
        if grouped:
            printer.subscribe(options["rest"] or [topic_of(options)], start)
        else:
            numbers = _partitions(connection, options)
            printer.assign(
                _at(kafka, [TopicPartition(topic_of(options), n) for n in numbers], start)
            )
        printer.run()
    finally:
        sys.stdout.buffer.flush()
        kafka.close()


def _bounds(texts: list[str]) -> tuple[int | str | None, int | None]:
    """Where to begin: an offset of librdkafka, or `s@MS`; and the time to stop at, if any."""
    start: int | str | None = None
    stop = None
    for text in texts:
        if text.startswith("e@"):
            stop = _milliseconds(text)
        elif text.startswith("s@"):
            _milliseconds(text)
            start = text
        elif text in ("beginning", "end"):
            start = OFFSET_BEGINNING if text == "beginning" else OFFSET_END
        elif re.fullmatch(r"-?\d+", text):
            start = int(text) if int(text) >= 0 else _TAIL + int(text)
        else:
            raise InvalidArgumentError(
                f"-o {text} cannot be used: give beginning, end, an offset, -N, s@MS or e@MS. "
                "Stored offsets belong to a group: use -G."
            )
    return start, stop


def _milliseconds(text: str) -> int:
    try:
        return int(text[2:])
    except ValueError:
        raise InvalidArgumentError(f"-o {text} is not a time in milliseconds.") from None


def _partitions(connection: "Connection", options: Options) -> list[int]:
    name = topic_of(options)
    topic = metadata(connection, name).topics[name]
    if topic.error:
        raise translate(topic.error, f"Reading {name!r}")
    numbers = list(topic.partitions)
    if options["p"] is None:
        return numbers
    if options["p"] not in numbers:
        raise NotFoundError(f"There is no partition {options['p']} in {name!r}.")
    return [options["p"]]


def _at(
    kafka: Consumer, partitions: list[TopicPartition], start: int | str | None
) -> list[TopicPartition]:
    """The partitions with the offsets to begin at."""
    if isinstance(start, str):
        start_at = _milliseconds(start)
        timed = [TopicPartition(each.topic, each.partition, start_at) for each in partitions]
        try:
            return list(kafka.offsets_for_times(timed, _LOOK_UP_SECONDS))
        except KafkaException as error:
            raise translate(error, "Looking offsets up") from None
    offset = OFFSET_BEGINNING if start is None else start
    return [TopicPartition(each.topic, each.partition, offset) for each in partitions]


class _Printer:
    """Reads with one consumer, and writes what kcat would write."""

    def __init__(
        self,
        kafka: Consumer,
        options: Options,
        render: Callable[[Message], bytes],
        stop: int | None,
    ) -> None:
        self._kafka = kafka
        self._render = render
        self._limit: int | None = options["c"]
        self._until_end = options["e"]
        self._quiet = options["q"]
        self._at_once = options["u"] or sys.stdout.isatty()
        self._group = options["G"]
        self._stop = stop
        self._start: int | str | None = None
        self._assigned: set[Place] = set()
        self._ended: set[Place] = set()

    def assign(self, positions: list[TopicPartition]) -> None:
        self._assigned = {(each.topic, each.partition) for each in positions}
        self._kafka.assign(positions)

    def subscribe(self, topics: list[str], start: int | str | None) -> None:
        """Join the group. Without `start` it continues at the group's offsets."""
        self._start = start
        self._say("Waiting for group rebalance")
        self._kafka.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke)

    def run(self) -> None:
        count, out = 0, sys.stdout.buffer
        while self._limit is None or count < self._limit:
            wanted = _BATCH if self._limit is None else min(_BATCH, self._limit - count)
            messages = self._kafka.consume(wanted, 0) or self._wait()
            for message in messages:
                if self._is_record(message):
                    out.write(self._render(message))
                    count += 1
                    if self._at_once:
                        out.flush()
            if self._assigned and self._assigned == self._ended:
                return
            if not messages:
                out.flush()

    def _wait(self) -> list[Message]:
        message = self._kafka.poll(_POLL_SECONDS)
        return [] if message is None else [message]

    def _is_record(self, message: Message) -> bool:
        """Returns True for a record to print; takes note of the end of a partition."""
        place = message.topic() or "", message.partition() or 0
        error = message.error()
        if error is None:
            if self._stop is None:
                return True
            if message.timestamp()[1] >= self._stop and place not in self._ended:
                self._kafka.pause([TopicPartition(*place)])
                self._end(place, "stop timestamp for", message.offset())
            return place not in self._ended
        if error.code() != KafkaError._PARTITION_EOF:
            raise translate(error, "Reading")
        if self._until_end and place not in self._ended:
            self._end(place, "end of", message.offset())
        elif not self._until_end:
            self._say(_reached("end of", place, message.offset()))
        return False

    def _end(self, place: Place, what: str, offset: int | None) -> None:
        self._ended.add(place)
        last = self._assigned == self._ended
        self._say(_reached(what, place, offset) + (": exiting" if last else ""))

    def _on_assign(self, kafka: Consumer, positions: list[TopicPartition]) -> None:
        self._tell_rebalance("assigned", positions)
        if self._start is None:
            self._assigned = {(each.topic, each.partition) for each in positions}
        else:
            self.assign(_at(kafka, positions, self._start))

    def _on_revoke(self, kafka: Consumer, positions: list[TopicPartition]) -> None:
        places = {(each.topic, each.partition) for each in positions}
        self._assigned -= places
        self._ended -= places
        self._tell_rebalance("revoked", positions)

    def _tell_rebalance(self, what: str, positions: list[TopicPartition]) -> None:
        named = ", ".join(f"{each.topic} [{each.partition}]" for each in positions)
        self._say(
            f"Group {self._group} rebalanced (memberid {self._kafka.memberid()}): {what}: {named}"
        )

    def _say(self, text: str) -> None:
        if not self._quiet:
            sys.stdout.flush()
            print(f"% {text}", file=sys.stderr, flush=True)


def _reached(what: str, place: Place, offset: int | None) -> str:
    return f"Reached {what} topic {place[0]} [{place[1]}] at offset {offset}"


def _renderer(connection: "Connection", options: Options) -> Callable[[Message], bytes]:
    null = b"NULL" if options["Z"] else b""
    if options["J"]:
        leaders = {
            (topic.topic or "", p.id): p.leader
            for topic in metadata(connection).topics.values()
            for p in topic.partitions.values()
        }
        return lambda message: _envelope(message, leaders)
    if options["f"] is not None:
        try:
            render = compile_format(options["f"], null)
        except ValueError as error:
            raise InvalidArgumentError(f"-f: {error}.") from None
        return lambda message: render(Record.of(message))
    delimiter = delimiter_of(options, "D") or b"\n"
    between = delimiter_of(options, "K")

    def plain(message: Message) -> bytes:
        key, value = message.key(), message.value()
        before = b"" if between is None else (null if key is None else key) + between
        return before + (null if value is None else value) + delimiter

    return plain


def _envelope(message: Message, leaders: Mapping[Place, int]) -> bytes:
    kind, milliseconds = message.timestamp()
    place = message.topic() or "", message.partition() or 0
    headers = [
        part for name, value in Record.of(message).headers for part in (name.encode(), value)
    ]
    fields = {
        "topic": _string(place[0].encode()),
        "partition": b"%d" % place[1],
        "offset": b"%d" % (message.offset() or 0),
        "tstype": _string(_TIMESTAMPS.get(kind, "unknown").encode()),
        "ts": b"%d" % milliseconds,
        "broker": b"%d" % leaders.get(place, -1),
        **({"headers": b"[" + b",".join(map(_string, headers)) + b"]"} if headers else {}),
        "key": _string(message.key()),
        "payload": _string(message.value()),
    }
    return b"{" + b",".join(b'"%s":%s' % (n.encode(), v) for n, v in fields.items()) + b"}\n"


def _string(value: bytes | None) -> bytes:
    """A string of JSON, with bytes that are not UTF-8 as they are."""
    return b"null" if value is None else b'"' + _CONTROL.sub(_escape, value) + b'"'


def _escape(match: "re.Match[bytes]") -> bytes:
    return _SHORT.get(match[0]) or b"\\u%04X" % match[0][0]
