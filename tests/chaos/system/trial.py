"""One run: start, load, faults, healing, quiet, and the verdict."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from tests.chaos.system.checker import check
from tests.chaos.system.faults import REPLACED_WITHIN_S, Faults
from tests.chaos.system.flows import FLOWS, ChaosFlow
from tests.chaos.system.history import History
from tests.chaos.system.load import Operator, Part, Reader, Sender, Transactor
from tests.chaos.system.machine import Machine, machine
from tests.chaos.system.outcome import Outcome, read_outcome
from tests.chaos.system.plan import Kind, make_plan
from tests.chaos.system.report import Report, make_report
from tests.chaos.system.rest import Rest, all_is_handled, all_is_read

import holdfast
from holdfast.errors import HoldfastError

FIRST_OUT_WITHIN_S = 240.0
LOAD_ENDS_WITHIN_S = 300.0
QUIET_WITHIN_S = 600.0
"""Deadlines, not measures."""

Say = Callable[[str], None]
Verify = Callable[[Machine, ChaosFlow], str]
"""Audits a flow. -> what is wrong, in words; empty if nothing is"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run."""

    seed: int
    seconds: float
    faults_per_minute: float
    flows: Sequence[ChaosFlow] = FLOWS
    """The first is the one that is read downstream."""
    kinds: Collection[Kind] = tuple(Kind)


def run(settings: Settings, folder: Path, verify: Verify, say: Say = print) -> Report:
    """Do it all in that folder, which must be empty. The history is left there."""
    history = History(settings.seed)
    downstream = settings.flows[0].name
    began = time.monotonic()
    with machine(folder, f"{downstream}.processed", history) as made:
        trial = _Trial(settings, made, history, say)
        try:
            trial.start()
            trial.break_things()
            outcomes = trial.come_to_rest()
        finally:
            trial.stop_load()
            history.worker += trial.worker_lines()
            history.save(folder / "history.jsonl")
        findings = check(history, outcomes, downstream)
        say(f"quiet: {findings.counts.total()} breaches; verifying")
        verified = {flow.name: verify(made, flow) for flow in settings.flows}
        if findings.counts or any(verified.values()):
            made.keep_data()
    seconds = time.monotonic() - began
    return make_report(history, outcomes, trial.skipped, findings, verified, seconds)


class _Trial:
    """The parts of a run, in their order."""

    def __init__(self, settings: Settings, made: Machine, history: History, say: Say) -> None:
        self._settings = settings
        self._machine = made
        self._history = history
        self._say = say
        self._readers: list[Reader] = []
        self._senders: list[Sender] = []
        self._others: list[Part] = []
        self.skipped: Counter[str] = Counter()

    def start(self) -> None:
        """All processes run, and every flow has let something out, when this returns."""
        self._machine.start()
        with holdfast.connect(self._machine.broker.bootstrap) as client:
            for flow in self._settings.flows:
                flow.create(client)
        self._machine.start_pipeline()
        self._machine.start_worker()
        bootstrap, seed, flows = self._machine.broker.bootstrap, self._history.seed, self._flows
        self._readers = [Reader(flow, bootstrap, self._history) for flow in flows]
        self._senders = [Sender(flow, bootstrap, self._history, seed) for flow in flows]
        self._others = [
            Transactor(flows[0], bootstrap, self._history, seed),
            *(Operator(flow, bootstrap, self._history, seed) for flow in flows),
        ]
        for part in self._load:
            part.start()
        self._machine.run_until(
            lambda: all(self._history.polls[flow.name] for flow in flows),
            "an event out of every flow",
            FIRST_OUT_WITHIN_S,
        )
        self._say("all flows run: faults begin")

    def break_things(self) -> None:
        faults = Faults(self._machine, self._senders, self._settings.seed)
        wanted, possible = set(self._settings.kinds), faults.possible()
        for kind in sorted(wanted - possible):
            self._say(f"cannot be done here, and is left out: {kind}")
        seconds = self._settings.seconds
        rate, kinds = self._settings.faults_per_minute, wanted & possible
        began = time.monotonic()
        for fault in make_plan(self._settings.seed, seconds, rate, kinds):
            self._pass_time(faults, began + fault.at)
            self._say(f"{fault.at:7.1f} s: {fault.kind} ({self._progress()})")
            faults.inflict(fault)
        self._pass_time(faults, began + seconds)
        faults.heal()
        self.skipped = Counter(faults.skipped)

    def come_to_rest(self) -> list[Outcome]:
        """Producers end, all keys are released, everything has come out and is read. -> that"""
        self._say("healed: waiting for quiet")
        users = [*self._senders, *self._others]
        for part in users:
            part.stopping.set()
        self._wait(lambda: not any(p.is_alive() for p in users), "load over", LOAD_ENDS_WITHIN_S)
        made = self._machine
        rest = Rest(made.broker, self._flows, made.folder / "lake", self._history)
        try:
            self._wait(rest.is_quiet, "quiet", QUIET_WITHIN_S)
        except TimeoutError as error:
            raise TimeoutError(f"{error} ({'; '.join(rest.missing)})") from None
        self._wait(lambda: len(made.pipelines) == 1, "one pipeline alone", REPLACED_WITHIN_S)
        outcomes = [read_outcome(made.broker, flow) for flow in self._flows]
        self._wait(
            lambda: (
                all_is_read(outcomes, self._history)
                and all_is_handled(outcomes[0], self.worker_lines())
            ),
            "all read",
            QUIET_WITHIN_S,
        )
        self.stop_load()
        made.end_well()
        return outcomes

    def stop_load(self) -> None:
        for part in self._load:
            part.stopping.set()
        for part in self._load:
            if part.is_alive():
                part.join(60)

    def worker_lines(self) -> list[str]:
        file = self._machine.folder / "worker.txt"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def _flows(self) -> Sequence[ChaosFlow]:
        return self._settings.flows

    @property
    def _load(self) -> list[Part]:
        return [*self._readers, *self._senders, *self._others]

    def _pass_time(self, faults: Faults, until: float) -> None:
        while time.monotonic() < until:
            faults.take_turn()
            self._machine.run_for(0.05)

    def _wait(self, condition: Callable[[], bool], what: str, timeout: float) -> None:
        """Until it holds; that the broker is not there for a moment is no end."""

        def holds() -> bool:
            try:
                return condition()
            except (HoldfastError, KafkaException):
                return False

        self._machine.run_until(holds, what, timeout)

    def _progress(self) -> str:
        polled = sum(map(len, self._history.polls.values()))
        return f"{len(self._history.sends):,} sent, {polled:,} out"
