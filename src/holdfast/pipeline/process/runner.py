"""Keeps one part of one flow running: starts it, watches it, and restarts it after a failure."""

import logging
from dataclasses import dataclass
from threading import Event, Thread
from typing import Literal

from holdfast.backoff import Backoff
from holdfast.errors import HoldfastError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.parts.part import MakePart, Part
from holdfast.pipeline.spark.errors import root_cause

log = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
STEADY_SECONDS = 60.0
"""After this time without a failure, the next failure counts as the first."""
FIRST_COME_SECONDS = 30.0
"""How long a part waits for the one before it to start: together both would start slowly."""
_WATCH_SECONDS = 1.0

State = Literal["starting", "running", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a part, with a reason if something is wrong."""

    state: State
    reason: str = ""


class Runner:
    """Keeps a part running on its own thread until `request_stop`.

    A failure of one part does not affect other parts.
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
        """`after`: an event to wait for (with a limit) before the start, so that not all parts
        start at once."""
        self.kind = kind
        self.health = Health("starting")
        self.settled = Event()
        """Set once the first start has failed or the part has settled."""
        self._flow = flow
        self._make = make
        self._after = after
        self._up = metrics.part_up.labels(flow.name, kind)
        self._failures = metrics.part_failures.labels(flow.name, kind)
        self._marks = {"flow": flow.name, "part": kind}
        self._given = flow
        """The definition that the part has."""
        self._news = Event()
        """The flow has changed, or the part is to be stopped."""
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=f"{flow.name}.{kind}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def change(self, flow: FlowDefinition) -> None:
        """The flow's definition has changed. Does not wait: a part takes a change between its
        steps, and one that cannot take a step must not delay others."""
        self._flow = flow
        self._news.set()

    def request_stop(self) -> None:
        self._stopping.set()
        self._news.set()

    def join(self, timeout: float) -> bool:
        """Wait for the thread. Returns True if it has ended."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        if self._after is not None:
            self._after.wait(FIRST_COME_SECONDS)
        backoff = Backoff(FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, steady=STEADY_SECONDS)
        while not self._stopping.is_set():
            failure = self._run_once()
            if failure is None:
                break
            pause = backoff.next()
            self._report(failure, pause)
            self._stopping.wait(pause)
        self.health = Health("stopped")

    def _run_once(self) -> Exception | None:
        """Run a part to its end. Returns its failure; None if it was stopped."""
        part: Part | None = None
        try:
            self._given = self._flow
            part = self._make(self._given)
            part.start()
            self.health = Health("running")
            self._up.set(1)
            log.info("The %s of %s is running", self.kind, self._flow.name, extra=self._marks)
            return self._watch(part)
        except Exception as error:
            return error
        finally:
            self.settled.set()
            self._up.set(0)
            if part is not None:
                self._stop(part)

    def _watch(self, part: Part) -> Exception | None:
        while True:
            self._news.clear()  # before it is looked for, so that none is missed
            if self._stopping.is_set():
                return None
            if self._flow != self._given:
                self._given = self._flow
                part.change(self._given)
            failure = part.failure()
            if failure is not None:
                return failure
            if part.settled():
                self.settled.set()
            trouble = part.trouble()
            self.health = Health("waiting", trouble) if trouble else Health("running")
            self._measure(part)
            self._news.wait(_WATCH_SECONDS)

    def _measure(self, part: Part) -> None:
        try:
            part.measure()
        except HoldfastError as error:  # a missing measurement is not a failure of the part
            log.debug("Measuring the %s of %s: %s", self.kind, self._flow.name, error)

    def _stop(self, part: Part) -> None:
        try:
            part.stop()
        except Exception as error:
            log.warning("Stopping the %s of %s failed: %s", self.kind, self._flow.name,
                        root_cause(error), extra=self._marks)  # fmt: skip

    def _report(self, failure: Exception, pause: float) -> None:
        reason = root_cause(failure)
        self._failures.inc()
        repeated = self.health.reason == reason
        self.health = Health("failed", reason)
        log.log(
            logging.INFO if repeated else logging.ERROR,
            "The %s of %s has failed: %s It restarts in %.0f s.",
            self.kind, self._flow.name, reason if reason.endswith(".") else f"{reason}.", pause,
            extra=self._marks, exc_info=failure if log.isEnabledFor(logging.DEBUG) else None,
        )  # fmt: skip
