"""The step protocols under Spin: each model keeps its promises, and every way of breaking it shows.

    python -m model.check            # all of it, minutes
    python -m model.check --short    # small bounds, as in the tests

Needs `spin` and a C compiler (`make spin`).
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

TOOLS = ("spin", "gcc")
MEMORY_MB = 6_000
DEPTH = 1_000_000

EXHAUSTIVE = ("-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEMORY_MB}")
SAMPLED = ("-DSAFETY", "-DBITSTATE", "-DT_RAND", "-DP_RAND", f"-DMEMLIM={MEMORY_MB}")
"""A few bits a state in a table of fixed size, in random order, for some minutes: a part of a space
that is too large to keep."""
SAMPLED_SEARCH = ("-w32", "-k3", "-RS1", "-Q2")


class Bounds(Protocol):
    """A model, and how much of everything there is in it."""

    file: ClassVar[str]

    def defines(self) -> list[str]:
        """Options of Spin's preprocessor."""


@dataclass(frozen=True, slots=True)
class GateBounds:
    """Of the gate's protocol."""

    file: ClassVar[str] = "step.pml"
    events: int = 2
    commands: int = 2
    drivers: int = 1
    tasks: int = 1
    faults: int = 0

    def defines(self) -> list[str]:
        return [
            f"-DEVENTS={self.events}",
            f"-DCOMMANDS={self.commands}",
            f"-DDRIVERS={self.drivers}",
            f"-DTASKS={self.tasks}",
            f"-DFAULTS={self.faults}",
        ]

    def __str__(self) -> str:
        return (
            f"{self.events} events, {self.commands} commands, {self.drivers} drivers, "
            f"{self.tasks} attempts, {self.faults} faults"
        )


@dataclass(frozen=True, slots=True)
class GuardBounds:
    """Of the guard's protocol."""

    file: ClassVar[str] = "guard.pml"
    events: int = 2
    owners: int = 2
    faults: int = 1
    failures: int = 1
    spills: int = 1

    def defines(self) -> list[str]:
        return [
            f"-DEVENTS={self.events}",
            f"-DOWNERS={self.owners}",
            f"-DFAULTS={self.faults}",
            f"-DFAILURES={self.failures}",
            f"-DSPILLS={self.spills}",
        ]

    def __str__(self) -> str:
        return (
            f"{self.events} events, {self.owners} owners, {self.faults} lost answers, "
            f"{self.failures} failures, {self.spills} spills"
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One run of Spin, and what must come of it."""

    name: str
    bounds: Bounds
    flag: str | None = None
    """Faults that are added, or the way in which the protocol is broken; None: as it is."""
    finds: str | None = None
    """The assertion that must fail; None: all must hold."""
    checks: str | None = None
    """The one promise that is looked at; None: all."""
    sampled: bool = False

    def defines(self) -> list[str]:
        defines = self.bounds.defines()
        if self.flag is not None:
            defines += [f"-D{flag}" for flag in self.flag.split()]
        if self.checks is not None:
            defines.append(f"-DCHECK={self.checks}")
        return defines


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Spin says."""

    violated: str | None
    complete: bool
    """True if the search has seen every state within the bounds."""
    states: int
    seconds: float
    text: str

    def fits(self, case: Case) -> bool:
        if case.finds is None:
            return self.violated is None and (self.complete or case.sampled)
        return self.violated == case.finds

    def words(self) -> str:
        if self.violated is not None:
            return f"refuted: {self.violated}"
        return "holds" if self.complete else "none found"


class SpinFailed(Exception):
    """Spin or the C compiler does not take the model."""


HOLDS = (
    Case("one driver: keeper, batches, a task", GateBounds()),
    Case("one driver: a task is tried again", GateBounds(events=1, tasks=2, faults=1)),
    Case("two drivers and a task", GateBounds(events=1, commands=1, drivers=2)),
    Case(
        "late EndTxn, transaction version 2",
        GateBounds(events=2, commands=0, tasks=0, faults=1),
        "LATE_END",
    ),
    Case("a guard: handlers fail", GuardBounds(faults=0, spills=0)),
    Case("a guard: handlers run on", GuardBounds(faults=0, failures=0)),
    Case("a guard: an answer is lost", GuardBounds(events=1)),
)
"""Small enough for the tests."""

BROKEN = (
    Case(
        "control end read before the ranges", GateBounds(), "CONTROL_END_FIRST", "G3_passed_a_hold"
    ),
    Case("no owner", GateBounds(drivers=2), "NO_OWNER", "G1_twice"),
    Case(
        "committed offset read before init",
        GateBounds(tasks=2, faults=1),
        "READ_BEFORE_INIT",
        "G1_twice",
    ),
    Case(
        "state trusted without comparing the step",
        GateBounds(tasks=2, faults=1),
        "TRUST_STATE",
        "G1_twice",
    ),
    Case(
        "a drain that ends at the log's end",
        GateBounds(),
        "DRAIN_TO_LOG_END",
        "G4_overtook_held",
        checks="G4",
    ),
    Case("the same: its rows", GateBounds(), "DRAIN_TO_LOG_END", "G1_lost"),
    Case("a trim outside the lock", GateBounds(), "TRIM_WITHOUT_LOCK", "G1_lost"),
    Case(
        "late EndTxn, transaction version 1",
        GateBounds(events=2, commands=0, tasks=0, faults=1),
        "LATE_END_VERSION_1",
        "G1_lost",
    ),
    Case("a guard: no epoch", GuardBounds(), "NO_EPOCH", "G1_twice"),
    Case(
        "a guard: committed offset read before init", GuardBounds(), "READ_BEFORE_INIT", "G1_twice"
    ),
    Case("a guard: no comparison after a lost answer", GuardBounds(), "TRUST_STATE", "G1_twice"),
    Case("a guard: spilled event without a row", GuardBounds(), "SPILL_WITHOUT_ROW", "G1_lost"),
    Case(
        "a guard: start behind a running event",
        GuardBounds(),
        "START_BEHIND_RUNNING",
        "G2_started_early",
    ),
    Case(
        "a guard: a drain that ends at the log's end", GuardBounds(), "DRAIN_TO_LOG_END", "G1_lost"
    ),
)

REACHED = (
    Case(
        "reached: a driver drains what another held",
        GateBounds(events=1, drivers=2, tasks=0),
        "SHOW_DRAIN_AFTER_TAKEOVER",
        "came_here",
    ),
    Case(
        "reached: an attempt finds what an earlier one committed",
        GateBounds(tasks=2, faults=1),
        "SHOW_SECOND_ATTEMPT",
        "came_here",
    ),
    Case(
        "reached: an owner takes over while a handler runs",
        GuardBounds(),
        "SHOW_RUNNING_TAKEN_OVER",
        "came_here",
    ),
    Case(
        "reached: the handlers of two owners run at once",
        GuardBounds(),
        "SHOW_TWO_HANDLERS",
        "came_here",
    ),
)
"""That the model holds means little unless it comes this far."""

LARGE = (
    Case("one driver: a task is tried again, two events", GateBounds(tasks=2, faults=1)),
    Case("one driver: hold, release, hold", GateBounds(commands=3, faults=1)),
    Case("two drivers: hold and release", GateBounds(events=1, drivers=2)),
    Case("two drivers: something gets lost", GateBounds(events=1, commands=1, drivers=2, faults=1)),
    Case(
        "late EndTxn, transaction version 2: tasks and holds",
        GateBounds(tasks=2, faults=2),
        "LATE_END",
    ),
    Case("a guard: everything once", GuardBounds()),
    Case("a guard: three owners", GuardBounds(events=1, owners=3)),
    Case("a guard: two failures", GuardBounds(faults=0, failures=2)),
    Case("a guard: replaced owners have left the group", GuardBounds(), "ALL_LEAVE"),
    Case("a guard: the same, without an epoch", GuardBounds(), "ALL_LEAVE NO_EPOCH"),
    Case("two drivers: all at once", GateBounds(drivers=2, tasks=2, faults=2), sampled=True),
)


def run(case: Case) -> Outcome:
    """Let Spin write the search, compile it, and search."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="holdfast-model-") as folder:
        model = Path(__file__).with_name(case.bounds.file)
        _call(["spin", "-a", *case.defines(), str(model)], folder)
        options = SAMPLED if case.sampled else EXHAUSTIVE
        _call(["gcc", "-O1", "-w", *options, "-o", "pan", "pan.c"], folder)
        # -E: a process that waits for ever is a crashed one, and no error.
        search = ["./pan", "-E", f"-m{DEPTH}", *(SAMPLED_SEARCH if case.sampled else ())]
        done = subprocess.run(search, check=False, cwd=folder, capture_output=True, text=True)
    return _outcome(done.stdout, time.perf_counter() - started)


def _call(command: list[str], folder: str) -> None:
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SpinFailed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _outcome(text: str, seconds: float) -> Outcome:
    violation = re.search(r"assertion violated +!\((\w+)\)", text)
    states = re.search(r"^ *([\d.e+]+) states, stored", text, re.MULTILINE)
    unfinished = ("Search not completed", "depth too small", "out of memory", "assertion violated")
    if states is None or ("assertion violated" in text and violation is None):
        raise SpinFailed(text)
    return Outcome(
        violation[1] if violation else None,
        not any(words in text for words in unfinished),
        int(float(states[1])),
        seconds,
        text,
    )


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def cases(short: bool) -> Iterator[Case]:
    yield from HOLDS
    if not short:
        yield from LARGE
    yield from REACHED
    yield from BROKEN


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="small bounds only")
    options = parser.parse_args()
    if missing := missing_tools():
        print(f"Missing: {', '.join(missing)}. Run `make spin`.", file=sys.stderr)
        return 1
    failed = 0
    print(f"{'case':58} {'states':>12} {'seconds':>8}  result")
    for case in cases(options.short):
        outcome = run(case)
        fits = outcome.fits(case)
        failed += not fits
        verdict = outcome.words() + (" (sampled)" if case.sampled else "")
        print(
            f"{case.name:58} {outcome.states:12,} {outcome.seconds:8.1f}  {verdict}"
            f"{'' if fits else '   <- NOT AS IT MUST BE'}",
            flush=True,
        )
        print(f"    {case.bounds}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
