"""A seeded random history: producers, operators, batches, the keeper, crashes anywhere."""

import random
from collections.abc import Callable

from tests.unit.gate.driver import Crash, Driver
from tests.unit.gate.kafka import Kafka
from tests.unit.gate.model import (
    Explained,
    Model,
    check_exactly_once_in_order,
    home_of,
)

from holdfast.flows.commands import (
    Command,
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    Void,
)
from holdfast.flows.registry import Limits
from holdfast.gate import GateSettings, Now, UnreadableCommandError

NAMES = ("", "ana", "ben")
"""Names of holds; the empty one is that of commands from before holds had names."""
KEYS = (b"a", b"ab", b"b", b"\xff")
PREFIXES = (b"a", b"ab", b"\xff")
# One key gets most of what happens: histories that are short must still be dense.
_OFTEN = (b"a", b"a", b"a", b"ab", b"b", b"\xff")
_BOOTED = 10_000_000
"""The true time when the monotonic clock was 0."""
_CRASHES = (Crash.NEVER,) * 4 + (Crash.BEFORE_COMMIT, Crash.AFTER_COMMIT)


class History:
    """A random history. It depends only on the seed and the plan; `log` describes it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.time = Now(_BOOTED + 5_000, 5_000)
        self.log: list[str] = []
        self.kafka = Kafka(self.rng.choice((1, 2, 2)), wire=seed % 25 == 0)
        self.settings = self._settings()
        self.model = Model(self.kafka, self.settings)
        self.owners = 0
        self.driver = self._new_driver()

    def run(self, plan: "Plan") -> None:
        """Each action has a seed of its own, so that the others stay the same without it."""
        for action, seed in plan:
            self.rng.seed(seed)
            action(self)
            self._check()
        self.rng.seed(0)
        self._wind_up()

    @property
    def now(self) -> int:
        """The true time, which operators go by. The pipeline's clock may show another."""
        return _BOOTED + self.time.monotonic

    def pass_time(self, milliseconds: int) -> None:
        self.time = Now(*(clock + milliseconds for clock in self.time))

    def _tell(self, what: str) -> None:
        self.log.append(f"{self.now}: {what}")

    # what producers and operators do

    def hold_often(self) -> None:
        command = Hold(id=f"c{len(self.kafka.control)}", actor="ana", at=self.now, key=_OFTEN[0])
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def release_often(self) -> None:
        identity, pace = f"c{len(self.kafka.control)}", self.rng.choice((None, None, 2.5))
        command = Release(id=identity, actor="ana", at=self.now, key=_OFTEN[0], pace=pace)
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def send(self) -> None:
        rng = self.rng
        for _ in range(rng.randint(1, 6)):
            key = rng.choice((*_OFTEN, None))
            home = 0 if key is None else home_of(key, self.kafka.partitions)
            p = rng.randrange(self.kafka.partitions) if rng.random() < 0.2 else home
            if rng.random() < 0.1:
                self.kafka.skip(p)
            valid = rng.random() > 0.05
            offset = self.kafka.send(
                p, key, size=rng.randint(0, 3), time=rng.randint(0, 9), valid=valid
            )
            self._tell(f"event {p}:{offset} of {key!r}{'' if valid else ', invalid'}")

    def ask(self) -> None:
        for _ in range(self.rng.choice((1, 1, 1, 1, 2, 3))):
            command = self._command()
            offset = self.kafka.ask(command)
            self._tell(f"control {offset}: {command}")

    def _command(self) -> Command:
        rng = self.rng
        key, at = rng.choice(_OFTEN), self.now
        number, identity = len(self.kafka.control), self._identity()
        kind = rng.random()
        if kind < 0.48:
            expires = at + rng.choice((1, 500, 3_000)) if rng.random() < 0.3 else None
            name = rng.choice(NAMES)
            return Hold(
                id=identity, actor="ana", at=at, key=key, expires_at=expires, hold_name=name
            )
        if kind < 0.82:
            pace = rng.choice((None, None, 0.5, 2.5, 9.0))
            holds, every = rng.choice(((NAMES[0],), (NAMES[1],), NAMES)), rng.random() < 0.3
            return Release(
                id=identity, actor="ben", at=at, key=key, pace=pace, holds=holds, every=every
            )
        if kind < 0.98 or not number:
            return DeadLetter(id=identity, actor="ana", at=at, key=key)
        return Void(id=identity, actor="ana", at=at, offset=rng.randrange(number))

    def hold_prefix(self) -> None:
        rng, at = self.rng, self.now
        expires = at + rng.choice((1, 500, 3_000)) if rng.random() < 0.3 else None
        command = PrefixHold(
            id=self._identity(), actor="ana", at=at, prefix=rng.choice(PREFIXES),
            expires_at=expires, hold_name=rng.choice(NAMES),
        )  # fmt: skip
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def release_prefix(self) -> None:
        rng = self.rng
        command = PrefixRelease(
            id=self._identity(), actor="ben", at=self.now, prefix=rng.choice(PREFIXES),
            pace=rng.choice((None, None, 2.5)), holds=rng.choice((NAMES[:1], NAMES[1:2], NAMES)),
            every=rng.random() < 0.3,
        )  # fmt: skip
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def pause(self) -> None:
        name = self.rng.choice(NAMES)
        command = Pause(id=self._identity(), actor="ana", at=self.now, hold_name=name)
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def resume(self) -> None:
        holds, every = self.rng.choice((NAMES[:1], NAMES[1:2])), self.rng.random() < 0.6
        command = Resume(id=self._identity(), actor="ben", at=self.now, holds=holds, every=every)
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def _identity(self) -> str:
        number = len(self.kafka.control)
        return f"c{self.rng.randrange(number) if number and self.rng.random() < 0.07 else number}"

    def spoil(self) -> None:
        """Something unreadable comes onto the control log; nothing moves until it is voided."""
        offset = self.kafka.ask(None)
        self._tell(f"control {offset}: unreadable")
        before = list(self.kafka.committed)
        self._refused(lambda: self.driver.keep(self.time))
        self._refused(lambda: self.driver.batch(self._ends(), self.time, chunk=9, task=False,
                                                crash=Crash.NEVER))  # fmt: skip
        assert self.kafka.committed == before
        void = Void(id=f"c{offset + 1}", actor="ana", at=self.now, offset=offset)
        self._tell(f"control {self.kafka.ask(void)}: {void}")

    def _refused(self, act: Callable[[], object]) -> None:
        try:
            result = act()
        except UnreadableCommandError:
            return
        assert result is False, "the gate passed a record that it could not read"

    def change_settings(self) -> None:
        """The change takes effect at a step's boundary, in a step without events here."""
        self.settings = self.driver.settings = self._settings()
        self._tell(f"settings: {self.settings}")
        self.model.settings = self.settings

    def _settings(self) -> GateSettings:
        rng = self.rng
        few = rng.random() < 0.3
        limits = Limits(
            key_events=rng.choice((1, 3, 5)) if few else 100,
            key_bytes=rng.choice((2, 9)) if few else 100,
            flow_events=rng.choice((2, 6)) if few else 100,
        )
        return GateSettings(limits, rng.choice(("block", "dead-letter")))

    # what the pipeline does

    def wait(self) -> None:
        self.pass_time(self.rng.choice((1, 100, 300, 700, 2_500)))

    def set_clock(self) -> None:
        """The wall clock jumps, a little or for longer than any hold lasts; or is right again."""
        ahead = self.rng.choice((-3_000_000, -2_000, -400, 0, 0, 0, 400, 2_000, 3_000_000))
        self.time = self.time._replace(wall=self.now + ahead)
        self._tell(f"the pipeline's clock is set to {self.time.wall}, {ahead:+d} ms off")

    def be_ahead_for_a_moment(self) -> None:
        """Run with a wrong clock, which may fail; afterwards the clock is right again."""
        self.time = self.time._replace(wall=self.now + 3_000_000)
        self._tell("the pipeline's clock is 50 minutes ahead for a moment")
        if self.rng.random() < 0.7:
            self.rng.choice((self.keep, self.batch))()
        self.time = self.time._replace(wall=self.now)
        if self.rng.random() < 0.7:
            self.hold_for_a_while()

    def hold_for_a_while(self) -> None:
        identity, expires = f"c{len(self.kafka.control)}", self.now + self.rng.choice((700, 60_000))
        command = Hold(
            id=identity, actor="ana", at=self.now, key=_OFTEN[0], expires_at=expires,
            hold_name=self.rng.choice(NAMES),
        )  # fmt: skip
        self._tell(f"control {self.kafka.ask(command)}: {command}")

    def batch(self) -> None:
        rng = self.rng
        chunk, task, crash = rng.choice((2, 4, 50)), rng.random() < 0.1, rng.choice(_CRASHES)
        ends = self._ends()
        blocked = self.model.blocked()
        self._tell(f"batch to {ends} by {chunk}{' in tasks' if task else ''}, {crash.name}")
        taken = self.driver.batch(ends, self.time, chunk=chunk, task=task, crash=crash)
        assert taken != blocked or self.model.paused(len(self.kafka.control))

    def _ends(self) -> dict[int, int]:
        """Spark's plan: up to somewhere in the log, which may have been taken already."""
        whole = self.rng.random() < 0.7
        return {
            p: len(log) if whole else self.rng.randint(self.model.offsets[p], len(log))
            for p, log in enumerate(self.kafka.events)
        }

    def keep(self) -> None:
        crash, rows = self.rng.choice(_CRASHES), self.rng.choice((1, 1, 2, 50))
        self._tell(f"keeper, {rows} rows, {crash.name}")
        for _ in range(self.rng.choice((1, 1, 3))):
            self.driver.keep(self.time, crash=crash, rows=rows)
        self.pass_time(self.rng.choice((0, 0, 500)))

    def restart(self) -> None:
        self._tell("killed; another process starts")
        if self.rng.random() < 0.2:
            self.kafka.committed = [None] * self.kafka.partitions
            self._tell("the group's offsets are gone")
        self.driver = self._new_driver()

    def _new_driver(self) -> Driver:
        self.owners += 1
        driver = Driver(
            self.kafka, f"driver-{self.owners}", self.settings,
            now=self.time, rng=self.rng, observe=self.model.committed,
        )  # fmt: skip
        driver.begin(self.time)
        return driver

    # what must be true

    def _check(self) -> None:
        for p, state in enumerate(self.driver.states):
            committed = self.kafka.committed[p]
            assert committed is not None
            if state.position.step == committed.step:
                self.model.agrees_with(state)

    def _wind_up(self) -> None:
        """Releases everything: each event must then have come out once, in order."""
        check_exactly_once_in_order(self.kafka, self.model)
        self.settings = self.driver.settings = self.model.settings = GateSettings()
        for key in KEYS:
            identity = f"end{key.hex()}"
            self.kafka.ask(Release(id=identity, actor="end", at=self.now, key=key, every=True))
        for prefix in PREFIXES:
            self.kafka.ask(
                PrefixRelease(
                    id=f"endp{prefix.hex()}", actor="end", at=self.now, prefix=prefix, every=True
                )
            )
        self.kafka.ask(Resume(id="resume", actor="end", at=self.now, every=True))
        self._tell("everything is released")
        everything = {p: len(log) for p, log in enumerate(self.kafka.events)}
        self.driver.batch(everything, self.time, chunk=50, task=False, crash=Crash.NEVER)
        for _ in range(200):
            if not any(state.entries for state in self.driver.states):
                break
            self.driver.keep(self.time)
            self._check()
        self.driver.keep(self.time)  # what ended with the last row is journalled by the next step
        assert not any(self.model.keys), "a drain does not end"
        assert self.model.offsets == [len(log) for log in self.kafka.events]
        check_exactly_once_in_order(self.kafka, self.model)
        for p in range(self.kafka.partitions):
            explained = Explained(self.kafka, p)
            explained.check()
            explained.check_nothing_is_open()


Action = Callable[[History], None]
Plan = list[tuple[Action, int]]

_ACTIONS: tuple[Action, ...] = (
    *(History.send,) * 12,
    *(History.ask,) * 5,
    *(History.hold_often,) * 2,
    *(History.release_often,) * 2,
    *(History.hold_prefix,) * 2,
    *(History.release_prefix,) * 2,
    History.pause,
    *(History.resume,) * 2,
    *(History.batch,) * 13,
    *(History.keep,) * 11,
    *(History.wait,) * 5,
    *(History.set_clock,) * 2,
    *(History.be_ahead_for_a_moment,) * 2,
    History.hold_for_a_while,
    *(History.restart,) * 4,
    *(History.change_settings,) * 2,
    History.spoil,
)


def plan_of(seed: int) -> Plan:
    rng = random.Random(-seed - 1)
    begin = [History.hold_often, History.send, History.batch] if rng.random() < 0.7 else []
    actions = begin + rng.choices(_ACTIONS, k=rng.randint(8, 22))
    return [(action, rng.getrandbits(32)) for action in actions]


def run_history(seed: int) -> None:
    """Run it; a failure names the seed, and tells the shortest story that still fails."""
    plan = plan_of(seed)
    if _failure(seed, plan) is None:
        return
    for step in reversed(plan):
        shorter = [each for each in plan if each is not step]
        if _failure(seed, shorter) is not None:
            plan = shorter
    story, error = _failure(seed, plan) or ("", None)
    raise AssertionError(f"seed {seed}: {error!r}\n{story}") from error


def _failure(seed: int, plan: Plan) -> tuple[str, Exception] | None:
    history = History(seed)
    try:
        history.run(plan)
    except Exception as error:
        return "\n".join(history.log), error
    return None
