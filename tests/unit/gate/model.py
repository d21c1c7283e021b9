"""The naive model: a list per key, and the promises. It knows no offsets of held, no counts, no
entries; it sees what was committed, in order, and says whether that was allowed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.unit.gate.kafka import Event, Kafka, Transaction

from holdfast.flows.commands import Command, DeadLetter, Hold, Release, Void
from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.keys import partition_of
from holdfast.flows.registry import Limits
from holdfast.flows.status import KeyState
from holdfast.gate import GateSettings, PartitionState, Verdict

_HOMES: dict[tuple[bytes, int], int] = {}


def home_of(key: bytes, partitions: int) -> int:
    home = _HOMES.get((key, partitions))
    if home is None:
        home = _HOMES[key, partitions] = partition_of(key, partitions)
    return home


@dataclass(slots=True)
class Key:
    """A key that is not ACTIVE in one partition."""

    rows: list[int] = field(default_factory=list)
    dead: int = 0
    """So many rows in front go to the dead letters."""
    bytes: int = 0
    draining: bool = False
    expires_at: int | None = None
    pace: float | None = None
    released_at: int = 0
    paced_out: int = 0


class Model:
    def __init__(self, kafka: Kafka, settings: GateSettings) -> None:
        self.kafka = kafka
        self.settings = settings
        self.keys: list[dict[bytes, Key]] = [{} for _ in range(kafka.partitions)]
        self.offsets = [0] * kafka.partitions
        self.controls = [0] * kafka.partitions

    # what was asked

    def effective(self, end: int) -> Iterator[tuple[int, Command]]:
        """The commands below `end` that have an effect: an id's first."""
        seen = set()
        for offset, command in enumerate(self.kafka.control[:end]):
            if command is not None and command.id not in seen:
                seen.add(command.id)
                yield offset, command

    def unreadable(self, end: int) -> bool:
        """Whether a record below `end` cannot be read, and no `void` below `end` names it."""
        voided = {
            command.offset
            for offset, command in self.effective(end)
            if isinstance(command, Void) and command.offset < offset
        }
        return any(
            command is None and offset not in voided
            for offset, command in enumerate(self.kafka.control[:end])
        )

    # what is held

    def flow_is_over(self, limits: Limits) -> bool:
        keys = [key for partition in self.keys for key in partition.values()]
        events = sum(len(key.rows) for key in keys)
        return events >= limits.flow_events or sum(k.bytes for k in keys) >= limits.flow_bytes

    def key_is_over(self, key: Key, limits: Limits) -> bool:
        return len(key.rows) >= limits.key_events or key.bytes >= limits.key_bytes

    def blocked(self) -> bool:
        limits = self.settings.limits
        return self.settings.overflow == "block" and (
            self.flow_is_over(limits)
            or any(self.key_is_over(key, limits) for keys in self.keys for key in keys.values())
        )

    # what a committed step may do

    def committed(self, t: Transaction) -> None:
        p, keys = t.partition, self.keys[t.partition]
        assert t.start == self.offsets[p] <= t.end, "events skipped or taken twice"
        assert t.control == self.controls[p] <= t.through, "commands skipped or taken twice"
        assert not self.unreadable(t.through), "passed what cannot be read"
        self.offsets[p], self.controls[p] = t.end, t.through
        effective = list(self.effective(t.through))
        over = {key for key, each in keys.items() if self.key_is_over(each, self.settings.limits)}
        self._commands(p, effective, t)
        self._expire(p, t.now)
        self._events(p, t, over, dict(self._intents(effective)))
        self._drained(p, t)
        for key in [key for key, each in keys.items() if each.draining and not each.rows]:
            del keys[key]

    def _commands(self, p: int, effective: list[tuple[int, Command]], t: Transaction) -> None:
        keys = self.keys[p]
        switches: dict[bytes, Hold | Release] = {}
        for offset, command in effective:
            if offset < t.control or isinstance(command, Void):
                continue
            if isinstance(command, DeadLetter):
                if command.key in keys:
                    keys[command.key].dead = len(keys[command.key].rows)
            elif command.key in keys or home_of(command.key, self.kafka.partitions) == p:
                switches[command.key] = command
        for key, command in switches.items():
            if isinstance(command, Hold):
                each = keys.setdefault(key, Key())
                each.draining, each.expires_at, each.pace = False, command.expires_at, None
            elif key in keys:
                each = keys[key]
                if not each.draining or each.pace != command.pace:
                    each.pace, each.released_at, each.paced_out = command.pace, t.now, 0
                each.draining, each.expires_at = True, None
                if not each.rows:
                    del keys[key]

    def _expire(self, p: int, now: int) -> None:
        for key, each in list(self.keys[p].items()):
            if not each.draining and each.expires_at is not None and each.expires_at <= now:
                each.draining, each.pace = True, None
                if not each.rows:
                    del self.keys[p][key]

    def _intents(self, effective: list[tuple[int, Command]]) -> Iterator[tuple[bytes, Command]]:
        for _, command in effective:
            if isinstance(command, Hold | Release):
                yield command.key, command

    def _events(
        self, p: int, t: Transaction, over: set[bytes], intents: dict[bytes, Command]
    ) -> None:
        keys, log = self.keys[p], self.kafka.events[p]
        passed: list[int] = []
        held: list[int] = []
        dead: list[int] = []
        invalid: list[int] = []
        for offset in range(t.start, t.end):
            event = log[offset]
            if event is None:
                continue
            assert t.through >= event.asked, "a hold was acknowledged before, and not looked at"
            if not event.valid:
                invalid.append(offset)
                continue
            key = event.key
            if key is not None and key not in keys and self._is_held_elsewhere(p, key, intents, t):
                keys[key] = Key(expires_at=intents[key].expires_at)  # type: ignore[union-attr]
            if key is None or key not in keys:
                passed.append(offset)
            elif self.settings.overflow == "dead-letter" and (t.over or key in over):
                dead.append(offset)
            else:
                held.append(offset)
                keys[key].rows.append(offset)
                keys[key].bytes += event.size
        given, expected = (t.passed, t.held, t.dead, t.invalid), (passed, held, dead, invalid)
        assert given == expected, f"passed, held, dead, invalid: {given}, and not {expected}"

    def _is_held_elsewhere(
        self, p: int, key: bytes, intents: dict[bytes, Command], t: Transaction
    ) -> bool:
        command = intents.get(key)
        return (
            isinstance(command, Hold)
            and home_of(key, self.kafka.partitions) != p
            and (command.expires_at is None or command.expires_at > t.now)
        )

    def _drained(self, p: int, t: Transaction) -> None:
        paced: dict[bytes, int] = {}
        for drained in t.drained:
            each = self.keys[p][drained.key]
            source = each.rows.pop(0)
            assert source == drained.row.source, "out of order"
            event = self.kafka.events[p][source]
            assert event is not None
            each.bytes -= event.size
            if each.dead:
                each.dead -= 1
                assert drained.verdict is Verdict.DEAD, "a dead letter came out"
                continue
            assert drained.verdict is Verdict.PASS, "an event that was not given up is dead"
            assert each.draining, "a held event came out"
            if each.pace is not None:
                each.paced_out += 1
                paced[drained.key] = paced.get(drained.key, 0) + 1
                assert each.paced_out <= each.pace * (t.now - each.released_at) / 1000, "too fast"
                assert paced[drained.key] <= max(1, each.pace), "saved up more than a second"

    # what the state must come to

    def agrees_with(self, state: PartitionState) -> None:
        keys = self.keys[state.partition]
        assert state.entries.keys() == keys.keys(), "other keys have entries"
        for key, each in keys.items():
            entry = state.entries[key]
            assert (entry.state is KeyState.DRAINING) == each.draining, f"{key!r}: {entry.state}"
            counts = (len(each.rows), each.bytes)
            assert (entry.events, entry.bytes) == counts, f"{entry} does not count {counts}"
            assert entry.foreign == (home_of(key, self.kafka.partitions) != state.partition)
            if each.rows:
                first = self.kafka.events[state.partition][each.rows[0]]
                assert first is not None
                assert entry.drained_through < each.rows[0]
                assert entry.counted_through == each.rows[-1]
        assert state.events == sum(len(each.rows) for each in keys.values())
        assert state.bytes == sum(each.bytes for each in keys.values())


def check_exactly_once_in_order(kafka: Kafka, model: Model) -> None:
    """G1 and G2: each event below the position is in one place, and each key came out in order."""
    for p in range(kafka.partitions):
        held = [row for key in model.keys[p].values() for row in key.rows]
        places = sorted([*kafka.processed[p], *kafka.dlq[p], *held])
        expected = [o for o, e in enumerate(kafka.events[p][: model.offsets[p]]) if e is not None]
        assert places == expected, f"partition {p}: lost or doubled"
        last: dict[bytes, int] = {}
        for source in kafka.processed[p]:
            event = kafka.events[p][source]
            assert event is not None
            if event.key is not None:
                assert last.get(event.key, -1) < source, f"partition {p}: out of order"
                last[event.key] = source


class Explained:
    """G6: where each event of a partition must be, by events, control and journal alone."""

    def __init__(self, kafka: Kafka, p: int) -> None:
        self.kafka = kafka
        self.p = p
        self.policies = [(r.cut, r.settings) for r in kafka.journal[p] if r.settings]

    def check(self) -> None:
        self._every_command_is_answered_once()
        sent_to_held = self._through_held()
        held_rows = {row.source for _, row in self.kafka.held[self.p]}
        position = self.kafka.committed[self.p]
        assert position is not None
        trimmed = self.kafka.status[self.p][-1].trim  # type: ignore[union-attr]
        for offset, event in enumerate(self.kafka.events[self.p][: position.offset]):
            if event is not None and event.valid:
                expected = offset in sent_to_held
                assert (offset in held_rows) <= expected, f"{offset} was held without a hold"
                if expected and not trimmed:
                    assert offset in held_rows, f"{offset} was not held"
        self._dead_letters(sent_to_held)

    def check_nothing_is_open(self) -> None:
        """Every hold and every overflow that the journal says has begun has also ended."""
        keys = {record.key for record in self.kafka.journal[self.p]}
        for key in keys:
            for begin, end in (
                (Outcome.HELD, Outcome.DRAINED),
                (Outcome.OVERFLOW_BEGUN, Outcome.OVERFLOW_ENDED),
            ):
                assert all(e < 1 << 62 for _, e in self._intervals(key, begin, end)), (key, begin)

    def _every_command_is_answered_once(self) -> None:
        position = self.kafka.committed[self.p]
        assert position is not None
        answers = [
            r.command.offset
            for r in self.kafka.journal[self.p]
            if r.command is not None and r.outcome is not Outcome.EXPIRED
        ]
        for offset, command in enumerate(self.kafka.control[: position.control]):
            key = getattr(command, "key", None)
            home = 0 if key is None else home_of(key, self.kafka.partitions)
            if home == self.p:
                assert answers.count(offset) == 1, f"command {offset} is not answered once"

    def _through_held(self) -> set[int]:
        """Events between a hold's cut and the end of its drain, but for overflow."""
        through: set[int] = set()
        for key in {event.key for event in self._events() if event.key is not None}:
            for start, end in self._intervals(key, Outcome.HELD, Outcome.DRAINED):
                through.update(
                    offset
                    for offset, event in enumerate(self.kafka.events[self.p])
                    if event is not None
                    and event.valid
                    and event.key == key
                    and start <= offset < end
                    and not self._overflows(key, offset)
                )
        return through

    def _events(self) -> Iterator[Event]:
        return (event for event in self.kafka.events[self.p] if event is not None)

    def _overflows(self, key: bytes, offset: int) -> bool:
        policy = [settings for cut, settings in self.policies if cut <= offset][-1]
        return '"overflow":"dead-letter"' in policy and any(
            start <= offset < end
            for who in (key, None)
            for start, end in self._intervals(who, Outcome.OVERFLOW_BEGUN, Outcome.OVERFLOW_ENDED)
        )

    def _intervals(
        self, key: bytes | None, begin: Outcome, end: Outcome
    ) -> Iterator[tuple[int, int]]:
        start: int | None = None
        for record in self.kafka.journal[self.p]:
            if record.key != key:
                continue
            if record.outcome is begin and start is None:
                start = record.cut
            elif record.outcome is end and start is not None:
                yield start, record.cut
                start = None
        if start is not None:
            yield start, 1 << 62

    def _dead_letters(self, sent_to_held: set[int]) -> None:
        given_up = {
            offset
            for record in self.kafka.journal[self.p]
            if record.outcome is Outcome.DEAD_LETTERED
            for offset in sent_to_held
            if self._is_given_up(record, offset)
        }
        for offset in sent_to_held.intersection(self.kafka.dlq[self.p]):
            assert offset in given_up, f"{offset} is a dead letter without a reason"
        out = given_up.intersection(self.kafka.processed[self.p])
        assert not out, f"{out} were given up, and came out"

    def _is_given_up(self, record: JournalRecord, offset: int) -> bool:
        event = self.kafka.events[self.p][offset]
        assert event is not None
        assert record.drained_through is not None
        return event.key == record.key and record.drained_through < offset < record.cut
