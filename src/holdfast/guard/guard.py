"""`holdfast.Guard`: a handler for a keyed stream, behind a gate."""

import inspect
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from threading import current_thread, main_thread
from typing import Any, TypeVar

from holdfast.client.client import Client, connect
from holdfast.client.connection import Connection
from holdfast.clock import parse_duration
from holdfast.errors import ConfigError, ConflictError, NotFoundError
from holdfast.flows.registry import FlowDefinition
from holdfast.guard.circuit import CircuitSettings
from holdfast.guard.event import Event
from holdfast.guard.policy import Policy
from holdfast.guard.pool import Pool, TaskPool, ThreadPool
from holdfast.guard.shared import WorkerSettings
from holdfast.guard.worker import Worker

Handler = Callable[[Event], Any]
AnyHandler = TypeVar("AnyHandler", bound=Handler)

AT_ONCE = 64


class Guard:
    """A worker that gives each event of a topic to a handler, in the order of its key.

    An event that fails is tried again after a pause, and everything later of its key waits for it.
    No other key waits. After the last attempt the key is held, and a person decides.

    >>> guard = holdfast.Guard("billing", topic="orders.processed")     # doctest: +SKIP
    >>> @guard.handler(attempts=5, backoff="1s..10m", then="hold")      # doctest: +SKIP
    ... def charge(event):
    ...     provider.charge(event.json(), idempotency_key=event.id)
    >>> guard.run()                                                     # doctest: +SKIP

    A handler is called at least once for each event: after a crash it may run again. Records that
    it sends with `event.send` are there exactly once.
    """

    def __init__(
        self,
        name: str,
        *,
        topic: str | None = None,
        bootstrap: str | None = None,
        kafka: Mapping[str, Any] | None = None,
        settings: WorkerSettings | None = None,
        circuit: CircuitSettings | None = None,
        http: str | None = None,
    ) -> None:
        """`topic`: what it reads; the guard is created with it, unless it exists. `bootstrap`: as
        for `connect`. `kafka`: more settings for librdkafka's consumer, e.g.
        `session.timeout.ms`. `http`: where to serve `/metrics` and `/healthz`, `host:port`; needs
        the extra `guard`."""
        self.name = name
        self.topic = topic
        self._bootstrap = bootstrap
        self._kafka = kafka
        self._settings = settings
        self._circuit = circuit
        self.http = http
        self._handler: Handler | None = None
        self._options: dict[str, Any] = {}
        self._worker: Worker | None = None
        self._stopped = False

    def handler(
        self,
        attempts: int | None = None,
        backoff: str | None = None,
        then: str | None = None,
        timeout: str | None = None,
        at_once: int = AT_ONCE,
    ) -> Callable[[AnyHandler], AnyHandler]:
        """Marks the function that handles events: a plain one, which runs in threads, or a
        coroutine function.

        `attempts`, `backoff` (as `1s..10m`) and `then` (`hold`, `dead-letter` or `stop`): if not
        given, as the guard was created. `timeout`: a coroutine that takes longer has failed; a
        thread cannot be ended, so it is reported as stuck, and its key waits. `at_once`: events
        that are handled side by side in this process, each of another key.
        """

        def mark(function: AnyHandler) -> AnyHandler:
            self._handler = function
            self._options = {
                "attempts": attempts, "backoff": backoff, "then": then, "timeout": timeout,
                "at_once": at_once,
            }  # fmt: skip
            return function

        return mark

    def run(self, client: Client | None = None) -> None:
        """Handle events until `stop`, or a signal to end (SIGTERM, SIGINT). `client`: instead of
        one of its own."""
        if self._handler is None:
            raise ConfigError(f"{self.name!r} has no handler: mark one with @guard.handler.")
        with client or connect(self._bootstrap) as client:
            flow = self._definition(client)
            worker = self._make_worker(client.connection, flow, self._handler)
            self._worker = worker
            if self._stopped:
                return
            if current_thread() is main_thread():
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, lambda *_: worker.stop())
            with self._serve_metrics(worker):
                worker.run()

    def stop(self) -> None:
        """End `run`: the steps that run are committed first. From any thread."""
        self._stopped = True
        if self._worker is not None:
            self._worker.stop()

    def _serve_metrics(self, worker: Worker) -> AbstractContextManager[object]:
        if self.http is None:
            return nullcontext()
        from holdfast.guard.http import GuardHttp  # only metrics need the Prometheus library

        return GuardHttp(self.http, worker)

    def _definition(self, client: Client) -> FlowDefinition:
        """The guard as it is registered; it is created if need be."""
        flow = client.flow(self.name)
        try:
            definition = flow.describe()
        except NotFoundError:
            if self.topic is None:
                raise
            return flow.create_guard(self.topic).describe()
        if self.topic is not None and definition.topic != self.topic:
            reads = f"reads {definition.topic}" if definition.is_guard else "is a flow with a gate"
            raise ConflictError(f"{self.name!r} {reads}, and not {self.topic}.")
        if not definition.is_guard:
            raise ConflictError(f"{self.name!r} is a flow with a gate, and no guard.")
        return definition

    def _make_worker(
        self, connection: Connection, flow: FlowDefinition, handler: Handler
    ) -> Worker:
        options = self._options
        policy = Policy.of(flow, options["attempts"], options["backoff"], options["then"])
        limit = options["timeout"]
        timeout = None if limit is None else parse_duration(limit).total_seconds()
        kind: Callable[..., Pool] = TaskPool if inspect.iscoroutinefunction(handler) else ThreadPool
        pool = kind(handler, options["at_once"], timeout)
        return Worker(
            connection,
            flow,
            policy,
            pool,
            settings=self._settings,
            circuit=self._circuit,
            kafka=self._kafka,
        )
