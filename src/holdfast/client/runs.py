"""Runs: request a replay, a backfill or a redrive, follow it, cancel it.

Requests go to the topic `holdfast.runs`. A running pipeline executes them; without one they wait.
"""

import uuid
from collections.abc import Callable, Iterator
from time import monotonic

from holdfast.client.compacted_topic import CompactedTopic
from holdfast.client.connection import Connection
from holdfast.client.flow import user_name
from holdfast.client.flow_registry import list_flows
from holdfast.client.planned_topics import make_table
from holdfast.client.producer import Producer
from holdfast.clock import now_ms
from holdfast.errors import (
    ConflictError,
    NotFoundError,
    TimedOutError,
)
from holdfast.flows.quality import QUALITY_TOPIC, QualityReport, encode_quality
from holdfast.flows.run_specs import RunSpec
from holdfast.flows.runs import (
    RUNS_TOPIC,
    Run,
    RunBook,
    RunCancel,
    RunRequest,
    encode_cancel,
    encode_request,
)

_TURN_SECONDS = 0.2


class Runs:
    """The runs of a cluster.

    >>> from holdfast.flows.run_specs import Replay
    >>> _ = client.flow(flow_name).create(partitions=1)
    >>> run = client.runs.ask(flow_name, Replay(keys=(b"customer-7",)), run_id=flow_name)
    >>> run.state, client.runs.ask(flow_name, run.request.spec, run_id=flow_name) == run
    (<RunState.REQUESTED: 'requested'>, True)
    """

    def __init__(self, connection: Connection, producer: Callable[[], Producer]) -> None:
        self._connection = connection
        self._producer = producer

    def ask(
        self, flow: str, spec: RunSpec, *, actor: str | None = None, run_id: str | None = None
    ) -> Run:
        """Request a run of a flow. Returns once the request is acknowledged.

        The same `run_id` with the same spec is the same run, in whatever state it is now. With
        another spec it is a ConflictError.
        """
        request = RunRequest(
            id=run_id or f"{spec.name}-{uuid.uuid4().hex[:12]}",
            flow=flow,
            actor=actor or user_name(),
            at=now_ms(),
            spec=spec,
        )
        flows = {found.name: found for found in list_flows(self._connection)}
        if flow not in flows:
            raise NotFoundError(f"There is no flow {flow!r}.")
        if flows[flow].is_guard:
            raise ConflictError(
                f"{flow!r} is a guard, which no pipeline runs. A {spec.name} needs a flow with a "
                "gate."
            )
        make_table(self._connection, RUNS_TOPIC)
        known = self._read().get(request.id) if run_id else None
        if known is None:
            key, value = encode_request(request)
            self._producer().send(RUNS_TOPIC, value, key).result()
            return Run(request)
        if (known.request.flow, known.request.spec) != (flow, spec):
            raise ConflictError(
                f"There is a run {request.id!r} already, with other options. Use another "
                "id, or none."
            )
        return known

    def cancel(self, run_id: str, *, actor: str | None = None) -> Run:
        """Request that a run stops. Events that it has processed stay processed.

        For a run that has ended, nothing happens.
        """
        run = self.get(run_id)
        if run.state.ended or run.cancel is not None:
            return run
        cancel = RunCancel(id=run_id, actor=actor or user_name(), at=now_ms())
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
        """Yields the run as it is now, and after each change, until it has ended.

        `timeout`: seconds after which TimedOutError is raised; the run continues anyway.
        `every`: seconds after which an unchanged run is yielded again.
        """
        self.get(run_id)
        deadline = None if timeout is None else monotonic() + timeout
        book = RunBook()
        topic = CompactedTopic(self._connection, RUNS_TOPIC, book.take)
        shown: Run | None = None
        shown_at = monotonic()
        try:
            while True:
                topic.poll(_TURN_SECONDS)
                run = book.get(run_id) if topic.complete else None
                due = every is not None and monotonic() - shown_at >= every
                if run is not None and (run != shown or due):
                    shown, shown_at = run, monotonic()
                    yield run
                    if run.state.ended:
                        return
                if deadline is not None and monotonic() > deadline:
                    raise TimedOutError(
                        f"The run {run_id} has not ended within {timeout:.0f} s. It continues; "
                        f"'holdfast run follow {run_id}' shows its progress."
                    )
        finally:
            topic.close()

    def wait(self, run_id: str, *, timeout: float | None = None) -> Run:
        """The run, once it has ended."""
        *_, last = self.follow(run_id, timeout=timeout)
        return last

    def _read(self) -> RunBook:
        book = RunBook()
        CompactedTopic(self._connection, RUNS_TOPIC, book.take).read_to_end()
        return book


def store_report(connection: Connection, report: QualityReport) -> None:
    """Replace the flow's last report. Returns once the broker has it."""
    make_table(connection, QUALITY_TOPIC)
    key, value = encode_quality(report)
    with Producer(connection) as producer:
        producer.send(QUALITY_TOPIC, value, key).result()
