"""`holdfast.runs` for the pipeline: the requests for all flows, and their progress."""

from collections.abc import Callable
from threading import Lock

from holdfast.background import Background
from holdfast.client.compacted_topic import CompactedTopic
from holdfast.client.connection import Connection
from holdfast.client.producer import Producer
from holdfast.flows.runs import (
    RUNS_TOPIC,
    Run,
    RunBook,
    RunProgress,
    encode_progress,
    tombstones,
)

_DELIVERY_SECONDS = 30.0
_POLL_SECONDS = 1.0
"""A poll returns as soon as there is a record."""
_STOP_SECONDS = 5.0


class RunLog:
    """The runs of all flows. One thread polls it, that of `start` or another one; any thread may
    read and publish."""

    def __init__(self, connection: Connection) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._thread: Background | None = None
        self._book = RunBook()
        self._guard = Lock()
        self._topic = CompactedTopic(connection, RUNS_TOPIC, self._take)
        self._producer = Producer(connection, delivery_timeout=_DELIVERY_SECONDS)

    def poll(self, timeout: float) -> None:
        before = self._topic.complete, self._topic.next_offset
        self._topic.poll(timeout)
        if (self._topic.complete, self._topic.next_offset) != before:
            for listener in list(self._listeners):
                listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call it after each change, on the thread that polls. The first call starts a thread."""
        self._listeners.append(listener)
        with self._guard:
            if self._thread is not None:
                return
            self._thread = Background("runs", lambda: self.poll(_POLL_SECONDS))
        self._thread.start()

    def forget(self, listener: Callable[[], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def first(self, flow: str, kind: str) -> Run | None:
        """The first run of this flow and kind that has not ended."""
        if not self._topic.complete:
            return None  # a later record may end it
        with self._guard:
            for run in self._book:
                request = run.request
                if (request.flow, request.spec.name) == (flow, kind) and not run.state.ended:
                    return run
        return None

    def get(self, run_id: str) -> Run | None:
        with self._guard:
            return self._book.get(run_id)

    def publish(self, progress: RunProgress, *, confirmed: bool) -> None:
        """Writes the progress of a run. `confirmed`: returns once the broker has it."""
        key, value = encode_progress(progress)
        delivery = self._producer.send(RUNS_TOPIC, value, key)
        if confirmed:
            delivery.result()
        self._take(key, value)
        if progress.state.ended:
            self._remove_surplus(progress.id)

    def _remove_surplus(self, run_id: str) -> None:
        with self._guard:
            run = self._book.get(run_id)
            surplus = [] if run is None else self._book.surplus(run.request.flow)
        for key in (key for each in surplus for key in tombstones(each)):
            self._producer.send(RUNS_TOPIC, None, key)
            self._take(key, None)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.stop(_STOP_SECONDS)
        self._topic.close()
        self._producer.close()

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        with self._guard:
            self._book.take(key, value)
