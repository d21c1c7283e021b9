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

from holdfast.flows.commands import Command, DeadLetter, Hold, Release, Void
from holdfast.flows.registry import Limits
from holdfast.gate import GateSettings, UnreadableCommandError

KEYS = (b"a", b"b", b"\xff")
# One key gets most of what happens: histories that are short must still be dense.
_OFTEN = (b"a", b"a", b"a", b"b", b"\xff")
_CRASHES = (Crash.NEVER,) * 4 + (Crash.BEFORE_COMMIT, Crash.AFTER_COMMIT)


class History:
    """What happens in it follows from the seed and the plan alone; `log` tells it in words."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.now = 1_000_000
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
        number = len(self.kafka.control)
        identity = f"c{rng.randrange(number) if number and rng.random() < 0.07 else number}"
        kind = rng.random()
        if kind < 0.48:
            expires = at + rng.choice((1, 500, 3_000)) if rng.random() < 0.3 else None
            return Hold(id=identity, actor="ana", at=at, key=key, expires_at=expires)
        if kind < 0.82:
            pace = rng.choice((None, None, 0.5, 2.5, 9.0))
            return Release(id=identity, actor="ben", at=at, key=key, pace=pace)
        if kind < 0.98 or not number:
            return DeadLetter(id=identity, actor="ana", at=at, key=key)
        return Void(id=identity, actor="ana", at=at, offset=rng.randrange(number))

    def spoil(self) -> None:
        """Something unreadable comes onto the control log; nothing moves until it is voided."""
        offset = self.kafka.ask(None)
        self._tell(f"control {offset}: unreadable")
        before = list(self.kafka.committed)
        self._refused(lambda: self.driver.keep(self.now))
        self._refused(lambda: self.driver.batch(self._ends(), self.now, chunk=9, task=False,
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
        """The clock may also be set back; within a process the gate's time stays."""
        self.now += self.rng.choice((1, 100, 300, 700, 2_500, -400))

    def batch(self) -> None:
        rng = self.rng
        chunk, task, crash = rng.choice((2, 4, 50)), rng.random() < 0.1, rng.choice(_CRASHES)
        ends = self._ends()
        blocked = self.model.blocked()
        self._tell(f"batch to {ends} by {chunk}{' in tasks' if task else ''}, {crash.name}")
        taken = self.driver.batch(ends, self.now, chunk=chunk, task=task, crash=crash)
        assert taken != blocked

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
            self.driver.keep(self.now, crash=crash, rows=rows)
        self.now += self.rng.choice((0, 0, 500))

    def restart(self) -> None:
        self._tell("killed; another process starts")
        if self.rng.random() < 0.2:
            self.kafka.committed = [None] * self.kafka.partitions
            self._tell("the group's offsets are gone")
        self.now = max(self.now, self.driver.holds.now)
        self.driver = self._new_driver()

    def _new_driver(self) -> Driver:
        self.owners += 1
        driver = Driver(
            self.kafka, f"driver-{self.owners}", self.settings,
            now=self.now, rng=self.rng, observe=self.model.committed,
        )  # fmt: skip
        driver.begin(self.now)
        return driver

    # what must be true

    def _check(self) -> None:
        for p, state in enumerate(self.driver.states):
            committed = self.kafka.committed[p]
            assert committed is not None
            if state.position.step == committed.step:
                self.model.agrees_with(state)

    def _wind_up(self) -> None:
        """Everything is let go; in the end each event has come out, once, in order."""
        check_exactly_once_in_order(self.kafka, self.model)
        self.settings = self.driver.settings = self.model.settings = GateSettings()
        for key in KEYS:
            identity = f"end{key.hex()}"
            self.kafka.ask(Release(id=identity, actor="end", at=self.now, key=key))
        self._tell("everything is released")
        everything = {p: len(log) for p, log in enumerate(self.kafka.events)}
        self.driver.batch(everything, self.now, chunk=50, task=False, crash=Crash.NEVER)
        for _ in range(200):
            if not any(state.entries for state in self.driver.states):
                break
            self.driver.keep(self.now)
            self._check()
        self.driver.keep(self.now)  # what ended with the last row is journalled by the next step
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
    *(History.batch,) * 13,
    *(History.keep,) * 11,
    *(History.wait,) * 5,
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
