"""The naive model: a list per key, and the promises. It knows no offsets of held, no counts, no
entries; it sees what was committed, in order, and says whether that was allowed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.unit.gate.kafka import Event, Kafka, Transaction

from holdfast.flows.commands import (
    Command,
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    ScopeCommand,
    Skip,
    Void,
)
from holdfast.flows.holds import MAX_HOLDS, MAX_PREFIX_HOLDS, StandingHold
from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.keys import MAX_KEY_BYTES, partition_of
from holdfast.flows.registry import Limits
from holdfast.flows.status import KeyState
from holdfast.gate import GateSettings, Now, PartitionState, Verdict

_HOMES: dict[tuple[bytes, int], int] = {}


def home_of(key: bytes, partitions: int) -> int:
    home = _HOMES.get((key, partitions))
    if home is None:
        home = _HOMES[key, partitions] = partition_of(key, partitions)
    return home


HoldName = tuple[bytes, str]
"""The prefix of a hold (empty: it is of one key) and its name."""
Holds = dict[HoldName, tuple[int, int | None]]
"""The holds of a key by name: control offset and expiry of each."""


def is_ended(command: Release | PrefixRelease | Resume, name: HoldName) -> bool:
    return command.ends(StandingHold("", 0, "", prefix=name[0], name=name[1]))


@dataclass(slots=True)
class Key:
    """A key that is not ACTIVE in one partition."""

    rows: list[int] = field(default_factory=list)
    dead: int = 0
    """So many rows in front go to the dead letters."""
    bytes: int = 0
    draining: bool = False
    holds: Holds = field(default_factory=dict)
    """The holds that stand; none of a draining key."""
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
        self.expired: set[int] = set()
        """Control offsets of the holds that their keys' own partitions have expired."""
        self.prefixes: list[Holds] = [{} for _ in range(kafka.partitions)]
        """Holds of prefixes in each partition."""

    # what was asked

    def effective(self, end: int) -> Iterator[tuple[int, Command]]:
        """The commands below `end` that have an effect: an id's first."""
        seen = set()
        for offset, command in enumerate(self.kafka.control[:end]):
            if command is not None and command.id not in seen:
                seen.add(command.id)
                yield offset, command

    def unreadable(self, end: int) -> bool:
        """Returns True if a record below `end` is unreadable and no `void` below `end` names it."""
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

    def paused(self, end: int) -> bool:
        """Returns True if a pause stands, by the control log up to `end`."""
        pauses: set[str] = set()
        for _, command in self.effective(end):
            if isinstance(command, Pause):
                pauses.add(command.hold_name)
            elif isinstance(command, Resume):
                pauses = {name for name in pauses if not is_ended(command, (b"", name))}
        return bool(pauses)

    def _of_prefixes(self, p: int, key: bytes) -> Holds:
        if len(key) > MAX_KEY_BYTES:
            return {}
        return {n: hold for n, hold in self.prefixes[p].items() if key.startswith(n[0])}

    # what a committed step may do

    def committed(self, t: Transaction) -> None:
        p, keys = t.partition, self.keys[t.partition]
        assert t.start == self.offsets[p] <= t.end, "events skipped or taken twice"
        assert t.control == self.controls[p] <= t.through, "commands skipped or taken twice"
        assert not self.unreadable(t.through), "passed what cannot be read"
        self.offsets[p], self.controls[p] = t.end, t.through
        effective = list(self.effective(t.through))
        over = {key for key, each in keys.items() if self.key_is_over(each, self.settings.limits)}
        if self.paused(t.through):
            assert t.start == t.end, "a paused flow took events"
            assert all(d.verdict is Verdict.DEAD for d in t.drained), "came out of a paused flow"
        self._commands(p, effective, t)
        self._expire(p, t.now.wall)
        self._events(p, t, over, self._standing(effective))
        self._drained(p, t)
        for key in [key for key, each in keys.items() if each.draining and not each.rows]:
            del keys[key]

    def _commands(self, p: int, effective: list[tuple[int, Command]], t: Transaction) -> None:
        for offset, command in effective:
            if offset < t.control or isinstance(command, Void):
                continue
            assert not isinstance(command, Skip), "the model has no unreadable events"
            if isinstance(command, ScopeCommand):
                self._scope(p, offset, command, t.now)
                continue
            each = self.keys[p].get(command.key)
            if isinstance(command, Hold):
                if each is None and home_of(command.key, self.kafka.partitions) == p:
                    each = self.keys[p][command.key] = Key(holds=self._of_prefixes(p, command.key))
                if each is not None:
                    self._hold(p, each, offset, command)
            elif each is None:
                continue
            elif isinstance(command, DeadLetter):
                each.dead = len(each.rows)
            else:
                self._release(each, command, t.now)
                if each.draining and not each.rows:
                    del self.keys[p][command.key]

    def _scope(self, p: int, offset: int, command: ScopeCommand, now: Now) -> None:
        """A prefix is held or released: so is each of its keys that is not ACTIVE."""
        if isinstance(command, PrefixHold):
            name = command.prefix, command.hold_name
            most = MAX_PREFIX_HOLDS if p == 0 else 2 * MAX_PREFIX_HOLDS
            if name not in self.prefixes[p] and len(self.prefixes[p]) >= most:
                return
            self.prefixes[p][name] = offset, command.expires_at
            for key, each in self.keys[p].items():
                if key.startswith(command.prefix):
                    each.draining, each.pace = False, None
                    each.holds[name] = offset, command.expires_at
        elif isinstance(command, PrefixRelease):
            for name in [name for name in self.prefixes[p] if is_ended(command, name)]:
                del self.prefixes[p][name]
            for key, each in list(self.keys[p].items()):
                if any(is_ended(command, name) for name in each.holds):
                    self._release(each, command, now)
                    if each.draining and not each.rows:
                        del self.keys[p][key]

    def _hold(self, p: int, each: Key, offset: int, command: Hold) -> None:
        each.draining, each.pace = False, None
        at_home = home_of(command.key, self.kafka.partitions) == p
        most = MAX_HOLDS if at_home else 2 * MAX_HOLDS
        name, own = (b"", command.hold_name), sum(not prefix for prefix, _ in each.holds)
        if name in each.holds or own < most:
            each.holds[name] = offset, command.expires_at

    def _release(self, each: Key, command: Release | PrefixRelease, now: Now) -> None:
        if not each.draining:
            ended = [name for name in each.holds if is_ended(command, name)]
            for name in ended:
                del each.holds[name]
            if not ended or each.holds:
                return
        if not each.draining or each.pace != command.pace:
            each.pace, each.released_at, each.paced_out = command.pace, now.monotonic, 0
        each.draining = True

    def _expire(self, p: int, now: int) -> None:
        for name, (_, until) in list(self.prefixes[p].items()):
            if until is not None and until <= now:
                del self.prefixes[p][name]
        for key, each in list(self.keys[p].items()):
            due = [n for n, (_, until) in each.holds.items() if until is not None and until <= now]
            for name in due:
                offset, _ = each.holds.pop(name)
                if not name[0] and home_of(key, self.kafka.partitions) == p:
                    self.expired.add(offset)
            if due and not each.holds:
                each.draining, each.pace = True, None
                if not each.rows:
                    del self.keys[p][key]

    def _standing(self, effective: list[tuple[int, Command]]) -> dict[bytes, Holds]:
        """The holds of all keys by the control log, but for those that have expired where the key
        lives."""
        standing: dict[bytes, Holds] = {}
        for offset, command in effective:
            if isinstance(command, Hold):
                holds = standing.setdefault(command.key, {})
                holds[b"", command.hold_name] = offset, command.expires_at
            elif isinstance(command, Release):
                holds = standing.get(command.key, {})
                for name in [name for name in holds if is_ended(command, name)]:
                    del holds[name]
        return {
            key: {name: hold for name, hold in holds.items() if hold[0] not in self.expired}
            for key, holds in standing.items()
        }

    def _events(
        self, p: int, t: Transaction, over: set[bytes], standing: dict[bytes, Holds]
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
            if key is not None and key not in keys:
                found = self._held_elsewhere(p, key, standing, t) | self._of_prefixes(p, key)
                if found:
                    keys[key] = Key(holds=found)
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

    def _held_elsewhere(
        self, p: int, key: bytes, standing: dict[bytes, Holds], t: Transaction
    ) -> Holds:
        """The holds of a key that lives in another partition, by the clock as it is now."""
        if home_of(key, self.kafka.partitions) == p:
            return {}
        return {
            name: (offset, until)
            for name, (offset, until) in standing.get(key, {}).items()
            if until is None or until > t.now.wall
        }

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
                assert each.paced_out <= each.pace * self._seconds(t.now, each), "too fast"
                assert paced[drained.key] <= max(1, each.pace), "saved up more than a second"

    def _seconds(self, now: Now, each: Key) -> float:
        """Since its release, whatever the wall clock says."""
        return (now.monotonic - each.released_at) / 1000

    # what the state must come to

    def agrees_with(self, state: PartitionState) -> None:
        keys = self.keys[state.partition]
        assert state.entries.keys() == keys.keys(), "other keys have entries"
        for key, each in keys.items():
            entry = state.entries[key]
            assert (entry.state is KeyState.DRAINING) == each.draining, f"{key!r}: {entry.state}"
            holds = {(h.prefix, h.name): (h.offset, h.expires_at) for h in entry.holds}
            assert holds == each.holds, f"{key!r}: {holds}, and not {each.holds}"
            counts = (len(each.rows), each.bytes)
            assert (entry.events, entry.bytes) == counts, f"{entry} does not count {counts}"
            assert entry.foreign == (home_of(key, self.kafka.partitions) != state.partition)
            if each.rows:
                first = self.kafka.events[state.partition][each.rows[0]]
                assert first is not None
                assert entry.drained_through < each.rows[0]
                assert entry.counted_through == each.rows[-1]
        prefixes = {
            (hold.prefix, hold.name): (hold.offset, hold.expires_at)
            for scope, status in state.scopes.items()
            if scope
            for hold in status.holds
        }
        assert prefixes == self.prefixes[state.partition], f"{prefixes} are held"
        assert bool(state.pauses) == self.paused(state.position.control)
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
        self._nothing_ends_the_hold_of_another()
        self._prefixes_are_held(sent_to_held)
        self._nothing_is_taken_while_paused()

    def check_nothing_is_open(self) -> None:
        """Every hold and every overflow that the journal says has begun has also ended."""
        keys = {record.key for record in self.kafka.journal[self.p]}
        for key in keys:
            for begin, end in (
                (Outcome.HELD, Outcome.DRAINED),
                (Outcome.OVERFLOW_BEGUN, Outcome.OVERFLOW_ENDED),
            ):
                if key is None and begin is Outcome.HELD:
                    continue  # of a prefix, which does not drain
                assert all(e < 1 << 62 for _, e in self._intervals(key, begin, end)), (key, begin)

    def _every_command_is_answered_once(self) -> None:
        position = self.kafka.committed[self.p]
        assert position is not None
        commands = self.kafka.control
        answers = [
            r.command.offset
            for r in self.kafka.journal[self.p]
            if r.command is not None
            and r.outcome not in (Outcome.EXPIRED, Outcome.HOLD_EXPIRED)
            and (r.key is None or not isinstance(commands[r.command.offset], ScopeCommand))
        ]
        ids = [command.id if command is not None else None for command in commands]
        for offset, command in enumerate(self.kafka.control[: position.control]):
            key = getattr(command, "key", None)
            home = 0 if key is None else home_of(key, self.kafka.partitions)
            everywhere = isinstance(command, ScopeCommand) and ids.index(command.id) == offset
            if home == self.p or everywhere:
                assert answers.count(offset) == 1, f"command {offset} is not answered once"

    def _nothing_ends_the_hold_of_another(self) -> None:
        """G5: by the names in the journal alone, a key drains when its last hold ends, not before,
        and what a release ended is what its command names."""
        standing: dict[tuple[bytes | None, bytes], set[HoldName]] = {}
        begins = (Hold.name, PrefixHold.name, Pause.name)
        for record in self.kafka.journal[self.p]:
            about = record.key, b"" if record.key is not None else record.prefix
            holds, outcome = standing.setdefault(about, set()), record.outcome
            name = record.prefix, record.name
            ended = {(record.prefix, each) for each in record.ended}
            if ended:
                assert record.command is not None
                command = self.kafka.control[record.command.offset]
                assert isinstance(command, Release | PrefixRelease | Resume)
                assert all(is_ended(command, each) for each in ended), "ended another's hold"
            match outcome:
                case Outcome.HELD | Outcome.PAUSED:
                    assert not holds, f"{record} begins a hold of a held key"
                    holds |= {name, *((hold.prefix, hold.name) for hold in record.others)}
                case Outcome.ADDED | Outcome.UPDATED if record.command.name in begins:  # type: ignore[union-attr]
                    assert (name in holds) is (outcome is Outcome.UPDATED)
                    holds.add(name)
                case Outcome.RELEASED | Outcome.HOLD_RELEASED | Outcome.RESUMED:
                    holds -= ended
                    assert bool(holds) is (outcome is Outcome.HOLD_RELEASED), f"{record}: {holds}"
                case Outcome.EXPIRED | Outcome.HOLD_EXPIRED:
                    holds.discard(name)
                    assert bool(holds) is (outcome is Outcome.HOLD_EXPIRED), f"{record}: {holds}"

    def _prefixes_are_held(self, sent_to_held: set[int]) -> None:
        """By the records of prefixes alone, each event of their keys went to held meanwhile."""
        since: dict[bytes, int] = {}
        for record in self.kafka.journal[self.p]:
            if record.key is not None or not record.prefix:
                continue
            if record.outcome is Outcome.HELD:
                since[record.prefix] = record.cut
            elif record.outcome in (Outcome.RELEASED, Outcome.EXPIRED):
                start = since.pop(record.prefix)
                for offset in range(start, record.cut):
                    event = self.kafka.events[self.p][offset]
                    if event is None or event.key is None or not event.valid:
                        continue
                    if event.key.startswith(record.prefix):
                        held = offset in sent_to_held or self._overflows(event.key, offset)
                        assert held, f"{offset} passed although {record.prefix!r} was held"

    def _nothing_is_taken_while_paused(self) -> None:
        cut: int | None = None
        for record in self.kafka.journal[self.p]:
            assert cut is None or record.cut == cut, f"{record} while paused at {cut}"
            if record.outcome is Outcome.PAUSED:
                cut = record.cut
            elif record.outcome is Outcome.RESUMED:
                cut = None

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
