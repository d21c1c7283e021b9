"""Which faults come when: all of it follows from the seed."""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """A kind of fault. The value is its name in reports."""

    BROKER_KILLED = "broker killed"
    BROKER_RESTARTED = "broker restarted"
    BROKER_STOPPED = "broker stopped"
    BROKER_STOPPED_LONG = "broker stopped for long"
    BROKER_CLOCK = "broker's clock jumped"
    BROKER_BOMBED = "broker bombed"
    DISK_FULL = "disk full"
    DRIVER_KILLED = "driver killed"
    SPARK_KILLED = "Spark killed"
    TASK_KILLED = "task's worker killed"
    TASK_FAILED = "task failed"
    DRIVER_STOPPED = "driver stopped"
    PIPELINE_STOPPED = "pipeline stopped"
    PIPELINE_REPLACED = "pipeline replaced while stopped"
    PIPELINE_CLOCK = "pipeline's clock jumped"
    PIPELINE_CLOCK_AHEAD = "pipeline's clock ahead for a moment"
    OVERSIZED = "oversized event"
    WORKER_KILLED = "worker killed"
    WORKER_STOPPED = "worker stopped"
    WORKER_STOPPED_LONG = "worker stopped for long"


@dataclass(frozen=True, slots=True)
class _Habit:
    """How often a kind comes, relative to the others, and between which durations (seconds)."""

    weight: int
    shortest: float = 0.0
    longest: float = 0.0


# A pipeline takes 15 to 25 s to be back, all else a second or two: what costs a start of Spark is
# rare, so that the rest meets a system that works.
_HABITS = {
    Kind.BROKER_KILLED: _Habit(18),
    Kind.BROKER_RESTARTED: _Habit(9),
    Kind.BROKER_STOPPED: _Habit(12, 0.3, 3.0),
    # Longer than clients wait for a request (5 s here).
    Kind.BROKER_STOPPED_LONG: _Habit(2, 7.0, 10.0),
    Kind.BROKER_CLOCK: _Habit(5),
    Kind.BROKER_BOMBED: _Habit(6),
    Kind.DISK_FULL: _Habit(8, 0.5, 5.0),
    Kind.DRIVER_KILLED: _Habit(3),
    Kind.SPARK_KILLED: _Habit(2),
    # How long after a burst of events, which is what tasks are run for.
    Kind.TASK_KILLED: _Habit(11, 0.2, 1.5),
    Kind.TASK_FAILED: _Habit(6, 0.2, 1.5),
    Kind.OVERSIZED: _Habit(8),
    Kind.DRIVER_STOPPED: _Habit(5, 0.3, 6.0),
    Kind.PIPELINE_STOPPED: _Habit(4, 0.3, 8.0),
    # How long the first goes on being stopped once the second runs.
    Kind.PIPELINE_REPLACED: _Habit(2, 0.0, 4.0),
    Kind.PIPELINE_CLOCK: _Habit(5),
    # Shorter than the gate takes to believe it: it must end no hold.
    Kind.PIPELINE_CLOCK_AHEAD: _Habit(5, 1.0, 3.0),
    Kind.WORKER_KILLED: _Habit(8),
    Kind.WORKER_STOPPED: _Habit(4, 0.3, 3.0),
    # Longer than its session (6 s).
    Kind.WORKER_STOPPED_LONG: _Habit(2, 7.0, 9.0),
}

LARGEST_JUMP_S = 3600.0
"""Of the broker's clock. Longer ones would rightly end what is kept for days, such as events."""
PIPELINE_JUMP_S = 3 * 3600.0
"""Of the pipeline's clock. Kafka refuses timestamps that are more than an hour ahead."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A fault to come."""

    at: float
    """Seconds after the load began."""
    kind: Kind
    seconds: float = 0.0
    """How long it lasts."""
    ahead: float = 0.0
    """Of a clock that jumps: how far it is ahead of the true one afterwards."""


def make_plan(
    seed: int, seconds: float, per_minute: float, kinds: Collection[Kind] = tuple(Kind)
) -> tuple[Planned, ...]:
    """Faults for so long, the first of which comes soon."""
    return tuple(_plan(random.Random(seed), seconds, 60.0 / per_minute, sorted(kinds)))


def _plan(
    dice: random.Random, seconds: float, spacing: float, kinds: list[Kind]
) -> Iterator[Planned]:
    weights = [_HABITS[kind].weight for kind in kinds]
    at = dice.uniform(0.2, 0.8) * spacing
    while at < seconds:
        (kind,) = dice.choices(kinds, weights)
        habit = _HABITS[kind]
        yield Planned(
            at=round(at, 3),
            kind=kind,
            seconds=round(dice.uniform(habit.shortest, habit.longest), 3),
            ahead=_jump(dice, kind),
        )
        at += dice.uniform(0.5, 1.5) * spacing


def _jump(dice: random.Random, kind: Kind) -> float:
    """As often by seconds as by an hour; one in four or five sets the clock right again."""
    if kind is Kind.PIPELINE_CLOCK_AHEAD:
        return dice.choice([50 * 60.0, PIPELINE_JUMP_S])
    sizes = [0.0, 2.0, 60.0, LARGEST_JUMP_S]
    if kind is Kind.PIPELINE_CLOCK:
        sizes.append(PIPELINE_JUMP_S)
    elif kind is not Kind.BROKER_CLOCK:
        return 0.0
    return round(dice.choice([-1, 1]) * dice.choice(sizes) * dice.uniform(0.5, 1.0), 3)
