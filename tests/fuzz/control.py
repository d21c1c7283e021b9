"""Records on the control log that nobody meant: mutated, mistyped, random.

Each is either read as a command, and then acts as that command and no other, or reported as
unreadable, and then nothing passes until it is voided. The model of the gate's own tests watches.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.fuzz.mutations import mutated
from tests.unit.gate.flow import Flow

from holdfast.errors import InvalidRecordError
from holdfast.flows.commands import (
    NO_TIME,
    Command,
    DeadLetter,
    Hold,
    Release,
    Void,
    decode_command,
    encode_command,
)
from holdfast.gate import ControlLog, UnreadableCommandError

KEYS = (b"a", b"b", b"\xff\x00")
ACTIONS = 25
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 10**30, 1.5, 1e308, float("nan"), float("inf"), "",
    "x" * 5_000, "\ud800", "hold", "void", [], {}, [[]], {"key": "a"},
)  # fmt: skip
RAW = (
    b"",
    b"null",
    b"{}",
    b"[]",
    b"\x00",
    b"\xff\xfe",
    b"[" * 50_000,
    b'{"version":1}',
    b"9" * 6_000,
)

Record = tuple[bytes | None, bytes | None]


class ControlBroken(AssertionError):
    """The gate broke a promise. The message names the seed and the round that led there."""


class ControlAttack:
    """Rounds against a gate without Kafka. The same seed writes the same records."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._number = 0
        self.rounds: Counter[str] = Counter()
        """Records by what became of them."""

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.round()

    def round(self) -> None:
        self._number += 1
        try:
            _Round(random.Random(f"{self._seed} {self._number}"), self.rounds).run()
        except Exception as error:
            where = f"seed {self._seed}, round {self._number}"
            raise ControlBroken(f"{type(error).__name__}: {error} ({where})") from error


class _Round:
    """One flow, and what is done to it."""

    def __init__(self, source: random.Random, counts: Counter[str]) -> None:
        self._source = source
        self._counts = counts
        self._flow = Flow(partitions=2)
        self._log = ControlLog(2)
        self._voids = 0

    def run(self) -> None:
        actions = (self._write, self._write, self._send, self._send, self._batch, self._keep)
        for _ in range(ACTIONS):
            self._source.choice((*actions, self._wait, self._restart))()
        self._wind_up()

    def _write(self) -> None:
        key, value = self._record()
        self._log.append(self._log.end, key, value, NO_TIME)  # readable or not
        try:
            command = decode_command(key, value)
        except InvalidRecordError:
            self._flow.ask(None)
            self._counts["control records unreadable"] += 1
            return
        assert decode_command(*encode_command(command)) == command, "it is written as another"
        self._flow.ask(command)
        self._counts["control records read"] += 1

    def _send(self) -> None:
        self._flow.send(self._source.choice((*KEYS, None)), self._source.randint(1, 4))

    def _batch(self) -> None:
        self._act(self._flow.batch)

    def _keep(self) -> None:
        self._act(self._flow.keep)

    def _restart(self) -> None:
        self._act(self._flow.restart)

    def _wait(self) -> None:
        self._flow.now += self._source.choice((1, 1_000, 100_000))

    def _act(self, act: Callable[[], object]) -> None:
        """Do it; where a record cannot be read, see that nothing moved, void it, and try again."""
        while True:
            before = list(self._flow.kafka.committed)
            try:
                act()
            except UnreadableCommandError as error:
                stopped_at = error.offset
            else:
                end = len(self._flow.kafka.control)
                assert not self._flow.model.unreadable(end), "an unreadable record was passed"
                return
            assert self._flow.kafka.control[stopped_at] is None, "it could be read"
            assert self._flow.kafka.committed == before, "something passed"
            self._voids += 1
            self._flow.void(stopped_at, id=f"fuzz-void-{self._voids}")

    def _wind_up(self) -> None:
        """Releases everything: each event must then have come out once, in order."""
        flow = self._flow
        self._act(flow.batch)
        self._act(flow.keep)  # what was asked last has come to every partition then
        held = {key for state in flow.driver.states for key in state.entries}
        for verb in (flow.hold, flow.release):  # a hold first: it ends drains at a crawl
            for key in sorted(held):
                verb(key, id=f"fuzz-{verb.__name__}-{key.hex()}")
            self._act(lambda: flow.keep(times=20))
        self._act(flow.batch)
        assert not any(state.entries for state in flow.driver.states), "a key is still held"
        for partition, events in enumerate(flow.kafka.events):
            came_out = [*flow.processed(partition), *flow.dlq(partition)]
            assert sorted(came_out) == list(range(len(events))), "an event is lost or doubled"

    def _record(self) -> Record:
        key, value = encode_command(self._command())
        spoil: Callable[[bytes | None, bytes], Record] = self._source.choice(
            (_as_it_is, _as_it_is, self._mutated, self._rekeyed, self._mistyped, self._mistyped,
             self._raw)
        )  # fmt: skip
        return spoil(key, value)

    def _command(self) -> Command:
        source, now = self._source, self._flow.now
        end = len(self._flow.kafka.control)
        signed: dict[str, Any] = {
            "id": f"c{source.choice((end, end, end, max(0, end - 2)))}", "actor": "ana", "at": now,
        }  # fmt: skip
        key = source.choice(KEYS)
        match source.randrange(4):
            case 0:
                expires = source.choice((None, now + 1, now + 5_000))
                return Hold(**signed, key=key, expires_at=expires, reason="fuzz")
            case 1:
                return Release(**signed, key=key, pace=source.choice((None, 0.001, 50.0)))
            case 2:
                return DeadLetter(**signed, key=key)
        return Void(**signed, offset=source.randint(0, end + 1))

    def _mutated(self, key: bytes | None, value: bytes) -> Record:
        return key, mutated(value, self._source)

    def _rekeyed(self, key: bytes | None, value: bytes) -> Record:
        return self._source.choice((None, b"", b"other", mutated(key or b"k", self._source))), value

    def _mistyped(self, key: bytes | None, value: bytes) -> Record:
        """A field left out, added, or of another kind."""
        fields: dict[str, Any] = json.loads(value)
        name = self._source.choice((*fields, "more"))
        odd = self._source.choice((*ODD, "left out"))
        if odd == "left out":
            fields.pop(name, None)
        else:
            fields[name] = odd
        return key, json.dumps(fields).encode()

    def _raw(self, key: bytes | None, value: bytes) -> Record:
        source = self._source
        return key, source.choice((None, *RAW, source.randbytes(source.randint(0, 80))))


def _as_it_is(key: bytes | None, value: bytes) -> Record:
    return key, value
