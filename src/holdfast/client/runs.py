"""Runs: ask for a replay, a backfill or a redrive, follow it, end it.

All that is here reads and writes `holdfast.runs`. A running pipeline carries runs out; without one
they wait.
"""

import logging
import uuid
from collections.abc import Callable, Iterator
from time import monotonic, time

from holdfast.client.actor import user_name
from holdfast.client.connection import Connection
from holdfast.client.consumer import Consumer
from holdfast.client.flow import list_flows
from holdfast.client.planned_topics import make_table
from holdfast.client.producer import Producer
from holdfast.client.table import Table
from holdfast.errors import (
    ConflictError,
    InvalidRecordError,
    NotFoundError,
    TimedOutError,
)
from holdfast.flows.runs import (
    RUNS_TOPIC,
    Run,
    RunBook,
    RunCancel,
    RunRequest,
    encode_cancel,
    encode_request,
)
from holdfast.flows.work import Work

log = logging.getLogger("holdfast.client")

_TURN_S = 0.2


class Runs:
    """The runs of a cluster.

    >>> from holdfast.flows.work import Replay
    >>> _ = client.flow(flow_name).create(partitions=1)
    >>> run = client.runs.ask(flow_name, Replay(keys=(b"customer-7",)), run_id=flow_name)
    >>> run.state, client.runs.ask(flow_name, run.request.work, run_id=flow_name) == run
    (<RunState.REQUESTED: 'requested'>, True)
    """

    def __init__(self, connection: Connection, producer: Callable[[], Producer]) -> None:
        self._connection = connection
        self._producer = producer

    def ask(
        self, flow: str, work: Work, *, actor: str | None = None, run_id: str | None = None
    ) -> Run:
        """Ask for work on a flow. Returns once the request is acknowledged.

        The same `run_id` with the same work again is the same run, wherever it stands by now; with
        other work it is a ConflictError.
        """
        request = RunRequest(
            id=run_id or f"{work.name}-{uuid.uuid4().hex[:12]}",
            flow=flow,
            actor=actor or user_name(),
            at=_now(),
            work=work,
        )
        if flow not in {found.name for found in list_flows(self._connection)}:
            raise NotFoundError(f"There is no flow {flow!r}.")
        make_table(self._connection, RUNS_TOPIC)
        known = self._read().get(request.id) if run_id else None
        if known is None:
            key, value = encode_request(request)
            self._producer().send(RUNS_TOPIC, value, key).result()
            return Run(request)
        if (known.request.flow, known.request.work) != (flow, work):
            raise ConflictError(
                f"There is a run {request.id!r} already, which does something else. Take another "
                "id, or none."
            )
        return known

    def cancel(self, run_id: str, *, actor: str | None = None) -> Run:
        """Ask for a run to end where it is. What it has done stays done.

        A run that has ended stays as it is: nothing happens.
        """
        run = self.get(run_id)
        if run.state.ended or run.cancel is not None:
            return run
        cancel = RunCancel(id=run_id, actor=actor or user_name(), at=_now())
        key, value = encode_cancel(cancel)
        self._producer().send(RUNS_TOPIC, value, key).result()
        return Run(run.request, cancel, run.progress)

    def get(self, run_id: str) -> Run:
        """The run of that id, or NotFoundError."""
        run = self._read().get(run_id)
        if run is None:
            raise NotFoundError(f"There is no run {run_id!r}.")
        return run

    def list(self, flow: str | None = None) -> list[Run]:
        """All runs, or those of a flow; the newest first."""
        runs = [run for run in self._read() if flow in (None, run.request.flow)]
        return runs[::-1]

    def follow(
        self, run_id: str, *, timeout: float | None = None, every: float | None = None
    ) -> Iterator[Run]:
        """The run as it is now, and whenever that changes, until it has ended.

        `timeout`: seconds after which TimedOutError is raised; the run goes on all the same.
        `every`: seconds after which the run is given again although it has not changed.
        """
        self.get(run_id)
        deadline = None if timeout is None else monotonic() + timeout
        book = RunBook()
        table = Table(self._connection, RUNS_TOPIC, book.take)
        shown: Run | None = None
        shown_at = monotonic()
        try:
            while True:
                table.poll(_TURN_S)
                run = book.get(run_id) if table.complete else None
                due = every is not None and monotonic() - shown_at >= every
                if run is not None and (run != shown or due):
                    shown, shown_at = run, monotonic()
                    yield run
                    if run.state.ended:
                        return
                if deadline is not None and monotonic() > deadline:
                    raise TimedOutError(
                        f"The run {run_id} has not ended within {timeout:.0f} s. It goes on; "
                        f"'holdfast run follow {run_id}' shows how far it is."
                    )
        finally:
            table.close()

    def wait(self, run_id: str, *, timeout: float | None = None) -> Run:
        """The run, once it has ended."""
        *_, last = self.follow(run_id, timeout=timeout)
        return last

    def _read(self) -> RunBook:
        book = RunBook()
        try:
            consumer = Consumer(self._connection, [RUNS_TOPIC], group=None)
        except NotFoundError:
            return book
        with consumer:
            for record in consumer.records(until="end"):
                try:
                    book.take(record.key, record.value)
                except InvalidRecordError as error:  # one bad record must not hide all others
                    log.warning("%s at %s: %s", RUNS_TOPIC, record.offset, error)
        return book


def _now() -> int:
    return round(time() * 1000)
