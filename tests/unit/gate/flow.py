"""One flow to tell a story with: no lag, no crash but those asked for; the model watches."""

import random
from typing import TYPE_CHECKING, Any, TypeVar

from tests.unit.gate.driver import Crash, Driver
from tests.unit.gate.kafka import Kafka
from tests.unit.gate.model import Model, check_exactly_once_in_order, home_of

from holdfast.flows.commands import Command, DeadLetter, Hold, Release, Void
from holdfast.flows.journal import JournalRecord
from holdfast.flows.registry import Limits, Overflow
from holdfast.flows.status import Entry
from holdfast.gate import GateSettings, Now

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

T = TypeVar("T")


class Steady(random.Random):
    """Chance that always takes the first choice: no lag, nothing published, nothing trimmed."""

    def choice(self, seq: "SupportsLenAndGetItem[T]") -> T:
        return seq[0]

    def random(self) -> float:
        return 1.0


class Flow:
    def __init__(self, *, partitions: int = 1, overflow: Overflow = "block",
                 **limits: int) -> None:  # fmt: skip
        self.time = Now(1_000_000, 5_000)
        self.kafka = Kafka(partitions, wire=True)
        self.settings = GateSettings(Limits(**limits), overflow)
        self.model = Model(self.kafka, self.settings)
        self.owner = 0
        self.driver = self._driver()
        self.driver.begin(self.time)

    def _driver(self) -> Driver:
        self.owner += 1
        return Driver(
            self.kafka, f"driver-{self.owner}", self.settings,
            now=self.time, rng=Steady(), observe=self.model.committed,
        )  # fmt: skip

    # the clocks

    @property
    def now(self) -> int:
        """The wall clock. To add to it is to let time pass, on both clocks."""
        return self.time.wall

    @now.setter
    def now(self, wall: int) -> None:
        self.time = Now(wall, self.time.monotonic + wall - self.time.wall)

    def set_clock(self, wall: int) -> None:
        """The wall clock jumps. No time passes."""
        self.time = self.time._replace(wall=wall)

    # producers and operators

    def send(self, key: bytes | None, count: int = 1, *, partition: int | None = None,
             **fields: Any) -> list[int]:  # fmt: skip
        if partition is None:
            partition = 0 if key is None else home_of(key, self.kafka.partitions)
        return [self.kafka.send(partition, key, **fields) for _ in range(count)]

    def ask(self, command: Command | None) -> int:
        return self.kafka.ask(command)

    def _identity(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"c{len(self.kafka.control)}", "actor": "ana", "at": self.now, **fields}

    def hold(self, key: bytes, **fields: Any) -> int:
        return self.ask(Hold(key=key, **self._identity(fields)))

    def release(self, key: bytes, **fields: Any) -> int:
        return self.ask(Release(key=key, **self._identity(fields)))

    def dead_letter(self, key: bytes, **fields: Any) -> int:
        return self.ask(DeadLetter(key=key, **self._identity(fields)))

    def void(self, offset: int, **fields: Any) -> int:
        return self.ask(Void(offset=offset, **self._identity(fields)))

    def change(self, *, overflow: Overflow = "block", **limits: int) -> None:
        self.settings = GateSettings(Limits(**limits), overflow)
        self.driver.settings = self.model.settings = self.settings

    # the pipeline

    def batch(self, *, crash: Crash = Crash.NEVER, task: bool = False, chunk: int = 1_000) -> bool:
        ends = {p: len(log) for p, log in enumerate(self.kafka.events)}
        taken = self.driver.batch(ends, self.time, chunk=chunk, task=task, crash=crash)
        self.check()
        return taken

    def keep(self, times: int = 1, *, crash: Crash = Crash.NEVER, rows: int = 50) -> None:
        for _ in range(times):
            self.driver.keep(self.time, crash=crash, rows=rows)
            self.check()

    def restart(self) -> None:
        self.driver = self._driver()
        self.driver.begin(self.time)
        self.check()

    # what came of it

    def check(self) -> None:
        check_exactly_once_in_order(self.kafka, self.model)
        for state in self.driver.states:
            committed = self.kafka.committed[state.partition]
            if committed is not None and committed.step == state.position.step:
                self.model.agrees_with(state)

    def entry(self, key: bytes, partition: int = 0) -> Entry | None:
        return self.driver.states[partition].entries.get(key)

    def processed(self, partition: int = 0) -> list[int]:
        return self.kafka.processed[partition]

    def dlq(self, partition: int = 0) -> list[int]:
        return self.kafka.dlq[partition]

    def held(self, partition: int = 0) -> list[int]:
        return [row.source for _, row in self.kafka.held[partition]]

    def journal(self, partition: int = 0) -> list[JournalRecord]:
        """But for the first record, which says the settings that the flow began with."""
        return self.kafka.journal[partition][1:]

    def outcomes(self, partition: int = 0) -> list[str]:
        return [record.outcome.value for record in self.journal(partition)]
