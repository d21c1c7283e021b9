"""How each kind of fault is inflicted, and how it is over again."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil
from tests.bombs import any_bomb, explode, metadata
from tests.chaos.system.history import Inflicted
from tests.chaos.system.load import Sender
from tests.chaos.system.machine import Machine
from tests.chaos.system.plan import Kind, Planned
from tests.chaos.system.processes import REQUEST_TIMEOUT_S

from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError
from holdfast.flows.names import FlowNames
from holdfast.kafka.producer import TransactionalProducer

Heal = Callable[[], object]
"""Ends a fault; False says that nothing came of it."""

BOMBED = "bombed"
BOMBS = 5
REPLACED_WITHIN_S = 120.0
"""How long a second pipeline may take to run, and a first one to see that it was replaced."""


@dataclass(slots=True)
class _Underway:
    """A fault that is not over."""

    kind: Kind
    began: float
    detail: str
    over: Callable[[], bool]
    heal: Heal


class Faults:
    """Inflicts what is planned on a machine. For the machine's thread."""

    def __init__(self, machine: Machine, senders: Sequence[Sender], seed: int) -> None:
        self._machine = machine
        self._senders = senders
        self._dice = random.Random(f"{seed} faults")
        self._underway: list[_Underway] = []
        self._waiting: Planned | None = None
        """Faults that are due, but whose target is down or has the fault already."""
        self.skipped: list[str] = []
        """Faults that had no target until the next one was due."""
        self._ways: dict[Kind, Callable[[Planned], bool]] = {
            Kind.BROKER_KILLED: self._kill_broker,
            Kind.BROKER_RESTARTED: self._restart_broker,
            Kind.BROKER_STOPPED: self._stop_broker,
            Kind.BROKER_STOPPED_LONG: self._stop_broker,
            Kind.BROKER_CLOCK: self._set_broker_clock,
            Kind.BROKER_BOMBED: self._bomb_broker,
            Kind.DISK_FULL: self._fill_disk,
            Kind.DRIVER_KILLED: self._kill_driver,
            Kind.SPARK_KILLED: self._kill_spark,
            Kind.TASK_KILLED: self._kill_task,
            Kind.TASK_FAILED: self._fail_task,
            Kind.OVERSIZED: self._send_oversized,
            Kind.DRIVER_STOPPED: self._stop_pipeline,
            Kind.PIPELINE_STOPPED: self._stop_pipeline,
            Kind.PIPELINE_REPLACED: self._replace_pipeline,
            Kind.PIPELINE_CLOCK: self._set_pipeline_clock,
            Kind.PIPELINE_CLOCK_AHEAD: self._be_ahead_for_a_moment,
            Kind.WORKER_KILLED: self._kill_worker,
            Kind.WORKER_STOPPED: self._stop_worker,
            Kind.WORKER_STOPPED_LONG: self._stop_worker,
        }

    def possible(self) -> set[Kind]:
        """The kinds that can be inflicted on this machine."""
        kinds = set(Kind)
        if not self._machine.own_disk:
            kinds -= {Kind.DISK_FULL}
        if not self._machine.broker_clock.can_jump:
            kinds -= {Kind.BROKER_CLOCK, Kind.PIPELINE_CLOCK, Kind.PIPELINE_CLOCK_AHEAD}
        return kinds

    def inflict(self, fault: Planned) -> None:
        """Begin it, now or as soon as it can be."""
        if self._waiting is not None:
            self.skipped.append(self._waiting.kind)
        self._waiting = fault
        self.take_turn()

    def take_turn(self) -> None:
        """End what has lasted long enough, and begin what waits."""
        for each in [each for each in self._underway if each.over()]:
            self._end(each)
        if self._waiting is not None and self._ways[self._waiting.kind](self._waiting):
            self._waiting = None

    def heal(self) -> None:
        """End all that is under way, and set the clocks right."""
        if self._waiting is not None:
            self.skipped.append(self._waiting.kind)
            self._waiting = None
        for each in list(self._underway):
            self._end(each)
        self._machine.broker_clock.set(0.0)
        self._machine.set_pipeline_clock(0.0)

    def _end(self, each: _Underway) -> None:
        self._underway.remove(each)
        if each.heal() is False:
            self.skipped.append(each.kind)
        else:
            self._note(each.kind, each.began, each.detail)

    def _note(self, kind: Kind, began: float, detail: str = "") -> bool:
        self._machine.history.faults.append(Inflicted(kind, began, time.monotonic(), detail))
        return True

    def _lasting(
        self, fault: Planned, heal: Heal, detail: str = "", over: Callable[[], bool] | None = None
    ) -> bool:
        now = time.monotonic()
        passed = over or (lambda: time.monotonic() >= now + fault.seconds)
        self._underway.append(_Underway(fault.kind, now, detail, passed, heal))
        return True

    def _has(self, *kinds: Kind) -> bool:
        return any(each.kind in kinds for each in self._underway)

    # -- the broker

    def _kill_broker(self, fault: Planned) -> bool:
        if not self._machine.broker.running:
            return False
        self._machine.broker.kill()
        return self._note(fault.kind, time.monotonic())

    def _restart_broker(self, fault: Planned) -> bool:
        """SIGTERM; who looks after the machine starts it again when it has ended."""
        if not self._machine.broker.running or self._broker_is_stopped():
            return False
        self._machine.broker.terminate()
        return self._note(fault.kind, time.monotonic())

    def _stop_broker(self, fault: Planned) -> bool:
        broker = self._machine.broker
        if not broker.running or self._broker_is_stopped():
            return False
        process = psutil.Process(broker.pid)
        process.suspend()

        def go_on() -> None:
            with suppress(psutil.NoSuchProcess):
                process.resume()

        return self._lasting(fault, go_on, f"{fault.seconds:.1f} s")

    def _broker_is_stopped(self) -> bool:
        return self._has(Kind.BROKER_STOPPED, Kind.BROKER_STOPPED_LONG)

    def _set_broker_clock(self, fault: Planned) -> bool:
        self._machine.broker_clock.set(fault.ahead)
        return self._note(fault.kind, time.monotonic(), f"{fault.ahead:+.0f} s")

    def _bomb_broker(self, fault: Planned) -> bool:
        """Requests that cost the broker much, from a client of no flow. All others go on. Counted
        if the broker has answered one of them, or has closed the connection because of it."""
        broker = self._machine.broker
        if not broker.running or self._broker_is_stopped():
            return False
        bombs = [any_bomb(self._dice, BOMBED) for _ in range(BOMBS)]
        exploded: list[bytes] = []

        def throw() -> None:
            with suppress(OSError):  # the broker may be killed meanwhile
                explode(broker.port, metadata([BOMBED]))
                for bomb in bombs:
                    explode(broker.port, bomb)
                    exploded.append(bomb)

        thrower = threading.Thread(target=throw, daemon=True)
        thrower.start()
        return self._lasting(fault, lambda: bool(exploded), over=lambda: not thrower.is_alive())

    def _fill_disk(self, fault: Planned) -> bool:
        if self._has(Kind.DISK_FULL):
            return False
        self._machine.fill_disk()
        return self._lasting(fault, self._machine.empty_disk, f"{fault.seconds:.1f} s")

    # -- the pipeline

    def _kill_driver(self, fault: Planned) -> bool:
        pipeline = self._machine.pipeline
        if pipeline.exit_code is not None:
            return False
        pipeline.kill()
        return self._note(fault.kind, time.monotonic(), f"pipeline {pipeline.number}")

    def _kill_spark(self, fault: Planned) -> bool:
        found = self._machine.pipeline.kill_spark()
        return bool(found) and self._note(fault.kind, time.monotonic(), found)

    def _kill_task(self, fault: Planned) -> bool:
        """A burst of events first, so that there are tasks; then, soon, one of their workers."""
        if not self._machine.pipeline.runs:
            return False
        self._dice.choice(self._senders).burst()
        position = self._dice.random()
        return self._lasting(fault, lambda: bool(self._machine.pipeline.kill_task(position)))

    def _fail_task(self, fault: Planned) -> bool:
        """A burst of events first; then, soon, the task of one of its partitions is fenced, while
        those of the others go on."""
        if not self._machine.pipeline.runs:
            return False
        sender = self._dice.choice(self._senders)
        sender.burst()
        partition = self._dice.randrange(sender.flow.partitions)
        identity = FlowNames(sender.flow.name).task_transactional_id(partition)
        return self._lasting(fault, lambda: self._fence(identity), identity)

    def _fence(self, transactional_id: str) -> bool:
        settings = ClientSettings(
            bootstrap=self._machine.broker.bootstrap, request_timeout=REQUEST_TIMEOUT_S
        )
        transactions = TransactionalProducer(settings, transactional_id, 100_000)
        try:
            transactions.renew()
        except HoldfastError:
            return False  # the broker is away
        finally:
            transactions.close()
        return True

    def _send_oversized(self, fault: Planned) -> bool:
        sender = self._dice.choice(self._senders)
        sender.oversized()
        return self._note(fault.kind, time.monotonic(), sender.flow.name)

    def _stop_pipeline(self, fault: Planned) -> bool:
        pipeline = self._machine.pipeline
        if pipeline.exit_code is not None or self._pipeline_is_stopped():
            return False
        pipeline.stop(whole=fault.kind is Kind.PIPELINE_STOPPED)
        return self._lasting(fault, pipeline.go_on, f"{fault.seconds:.1f} s")

    def _pipeline_is_stopped(self) -> bool:
        return self._has(Kind.DRIVER_STOPPED, Kind.PIPELINE_STOPPED)

    def _replace_pipeline(self, fault: Planned) -> bool:
        """Stopped, while a second one is started; when that runs the first one goes on, and must
        see by itself that it is not wanted any more."""
        machine = self._machine
        first = machine.pipeline
        if not first.runs or first.exit_code is not None or self._pipeline_is_stopped():
            return False
        if self._has(Kind.PIPELINE_REPLACED) or len(machine.pipelines) > 1:
            return False
        first.stop(whole=True)
        machine.start_pipeline()
        began = time.monotonic()
        ready: list[float] = []

        def over() -> bool:
            if machine.pipeline.runs:
                ready.append(time.monotonic())
            waited = time.monotonic() - began > REPLACED_WITHIN_S
            return waited or (bool(ready) and time.monotonic() > ready[0] + fault.seconds)

        return self._lasting(fault, first.go_on, f"pipeline {first.number}", over)

    def _set_pipeline_clock(self, fault: Planned) -> bool:
        self._machine.set_pipeline_clock(fault.ahead)
        return self._note(fault.kind, time.monotonic(), f"{fault.ahead:+.0f} s")

    def _be_ahead_for_a_moment(self, fault: Planned) -> bool:
        """Far ahead, and right again soon."""
        if self._has(Kind.PIPELINE_CLOCK_AHEAD):
            return False
        self._machine.set_pipeline_clock(fault.ahead)
        detail = f"{fault.ahead:+.0f} s for {fault.seconds:.1f} s"
        return self._lasting(fault, lambda: self._machine.set_pipeline_clock(0.0), detail)

    # -- the worker

    def _kill_worker(self, fault: Planned) -> bool:
        worker = self._machine.worker
        if worker is None or worker.exit_code is not None:
            return False
        worker.kill()
        return self._note(fault.kind, time.monotonic())

    def _stop_worker(self, fault: Planned) -> bool:
        worker = self._machine.worker
        if worker is None or worker.exit_code is not None:
            return False
        if self._has(Kind.WORKER_STOPPED, Kind.WORKER_STOPPED_LONG):
            return False
        worker.stop(whole=False)
        return self._lasting(fault, worker.go_on, f"{fault.seconds:.1f} s")
