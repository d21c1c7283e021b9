"""What the partitions of one worker share."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic_ns
from uuid import uuid4

from holdfast.client.connection import Connection
from holdfast.clock import now_ms
from holdfast.flows.registry import FlowDefinition
from holdfast.gate import Clock, Now
from holdfast.guard.circuit import Allowance, Circuit
from holdfast.guard.control import ControlTail
from holdfast.guard.outputs import TopicLimits
from holdfast.guard.policy import Decision, Failure, Policy
from holdfast.guard.pool import Pool
from holdfast.guard.schedule import Job


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The sizes of steps."""

    step_seconds: float = 1.0
    """A step waits this long for its handlers. Then events that still run are spilled."""
    step_events: int = 5_000
    step_bytes: int = 16 * 1024**2
    revoke_seconds: float = 5.0
    """How long a partition that is given up waits for its handlers."""


class SharedClock:
    """The gate's clock for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._clock = Clock(now_ms(), monotonic_ms())

    @property
    def jumps(self) -> int:
        """How often the wall clock was set to another time."""
        return self._clock.jumps

    def __call__(self) -> Now:
        with self._lock:
            return self._clock.read(now_ms(), monotonic_ms())


class SharedCircuit:
    """The circuit for several threads. Handlers that decide by `Hold` and `Skip` have worked."""

    def __init__(self, circuit: Circuit) -> None:
        self._lock = Lock()
        self._circuit = circuit

    @property
    def is_open(self) -> bool:
        return self._circuit.is_open

    def record(self, job: Job) -> None:
        worked = job.failure is None or job.failure.fate is not None
        with self._lock:
            self._circuit.record(job.key, worked, monotonic_ms())

    def allows(self) -> Allowance:
        with self._lock:
            return self._circuit.allows(monotonic_ms())

    def give_back(self) -> None:
        with self._lock:
            self._circuit.give_back()

    def seconds_to_probe(self) -> float | None:
        with self._lock:
            at = self._circuit.next_probe()
        return None if at is None else max(0.0, (at - monotonic_ms()) / 1000)


def monotonic_ms() -> int:
    return monotonic_ns() // 1_000_000


@dataclass(slots=True)
class Shared:
    """Of one worker."""

    connection: Connection
    flow: FlowDefinition
    policy: Policy
    pool: Pool
    circuit: SharedCircuit
    control: ControlTail
    limits: TopicLimits
    group_metadata: Callable[[], object]
    fail: Callable[[Exception], None]
    """A partition cannot go on."""
    settings: WorkerSettings = field(default_factory=WorkerSettings)
    owner: str = field(default_factory=lambda: str(uuid4()))
    clock: SharedClock = field(default_factory=SharedClock)
    chance: random.Random = field(default_factory=random.Random)

    def decide(self, now: int, failed: int, failure: Failure) -> Decision:
        """The fate of a failed event. During an outage no key is to blame."""
        return self.policy.decide(failed, failure, now=now, chance=self.chance.random())
