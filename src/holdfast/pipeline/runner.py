"""One part of one flow, kept running: started, watched, and started again after a failure."""

import logging
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic
from typing import Literal

from holdfast.errors import HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.parts import MakePart, Part
from holdfast.pipeline.query_errors import said_by

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
STEADY_S = 60.0
"""A part that has run for so long is taken as well: its next failure is the first again."""
FIRST_COME_S = 30.0
"""How long a part lets the one before it start: together both would be slow."""
_WATCH_S = 0.2
_MEASURE_S = 1.0

State = Literal["starting", "running", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Health:
    """How a part is, and why if it is not well."""

    state: State
    reason: str = ""


class Runner:
    """Keeps a part running on a thread of its own, until it is told to stop.

    What one part does, or fails to do, touches no other part.
    """

    def __init__(
        self,
        kind: str,
        flow: FlowDefinition,
        make: MakePart,
        metrics: Metrics,
        *,
        after: Event | None = None,
    ) -> None:
        """`after`: what to let happen first, for a while, so that not all start at once."""
        self.kind = kind
        self.health = Health("starting")
        self.settled = Event()
        """The first start is over: it has failed, or the part has settled."""
        self._flow = flow
        self._make = make
        self._after = after
        self._up = metrics.part_up.labels(flow.name, kind)
        self._failures = metrics.part_failures.labels(flow.name, kind)
        self._marks = {"flow": flow.name, "part": kind}
        self._part: Part | None = None
        self._guard = Lock()  # between a change and the making of a part
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=f"{flow.name}.{kind}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def change(self, flow: FlowDefinition) -> None:
        """The flow's definition is another from now on."""
        with self._guard:
            self._flow = flow
            part = self._part
        if part is not None:
            part.change(flow)

    def ask_to_stop(self) -> None:
        self._stopping.set()

    def join(self, timeout: float) -> bool:
        """Wait for its end. -> whether it has ended"""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        if self._after is not None:
            self._after.wait(FIRST_COME_S)
        pause = FIRST_PAUSE_S
        while not self._stopping.is_set():
            began = monotonic()
            failure = self._run_once()
            if failure is None:
                break
            if monotonic() - began > STEADY_S:
                pause = FIRST_PAUSE_S
            self._report(failure, pause)
            self._stopping.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
        self.health = Health("stopped")

    def _run_once(self) -> Exception | None:
        """Run a part to its end. -> why it failed; None if it was told to stop"""
        with self._guard:
            part = self._part = self._make(self._flow)
        try:
            part.start()
            self.health = Health("running")
            self._up.set(1)
            log.info("The %s of %s runs", self.kind, self._flow.name, extra=self._marks)
            return self._watch(part)
        except Exception as error:
            return error
        finally:
            self.settled.set()
            self._up.set(0)
            self._part = None
            self._stop(part)

    def _watch(self, part: Part) -> Exception | None:
        measure_at = 0.0
        while not self._stopping.wait(_WATCH_S):
            failure = part.failure()
            if failure is not None:
                return failure
            if part.settled():
                self.settled.set()
            trouble = part.trouble()
            self.health = Health("waiting", trouble) if trouble else Health("running")
            if monotonic() >= measure_at:
                self._measure(part)
                measure_at = monotonic() + _MEASURE_S
        return None

    def _measure(self, part: Part) -> None:
        try:
            part.measure()
        except HoldfastError as error:  # a figure that cannot be had now is no failure of the part
            log.debug("Measuring the %s of %s: %s", self.kind, self._flow.name, error)

    def _stop(self, part: Part) -> None:
        try:
            part.stop()
        except Exception as error:
            log.warning("The %s of %s did not stop well: %s", self.kind, self._flow.name,
                        said_by(error), extra=self._marks)  # fmt: skip

    def _report(self, failure: Exception, pause: float) -> None:
        reason = said_by(failure)
        self._failures.inc()
        known = self.health.reason == reason
        self.health = Health("failed", reason)
        log.log(
            logging.INFO if known else logging.ERROR,
            "The %s of %s has failed: %s It is tried again in %.0f s.",
            self.kind, self._flow.name, reason if reason.endswith(".") else f"{reason}.", pause,
            extra=self._marks, exc_info=failure if log.isEnabledFor(logging.DEBUG) else None,
        )  # fmt: skip
