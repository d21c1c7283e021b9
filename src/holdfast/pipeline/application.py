"""The pipeline's process: one Spark application, and in it the parts of every registered flow."""

import logging
import os
import signal
from collections.abc import Mapping
from threading import Event, Thread
from time import monotonic
from typing import Any

import pyarrow as pa
from prometheus_client import disable_created_metrics
from pyspark.sql import SparkSession

from holdfast.client.connection import Connection
from holdfast.client.flow_registry import FlowRegistry
from holdfast.client.settings import ClientSettings
from holdfast.flows.registry import FlowDefinition
from holdfast.logs import log_to_stderr
from holdfast.pipeline.exits import START_AGAIN, end_process
from holdfast.pipeline.gate_part import GatePart
from holdfast.pipeline.http import HttpServer
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.parts import MakePart
from holdfast.pipeline.raw_zone import RawZone, RawZoneSettings
from holdfast.pipeline.reporter import Reporter
from holdfast.pipeline.runner import Health, Runner
from holdfast.pipeline.runs.part import RunsPart
from holdfast.pipeline.session import SparkEndedError, create_session
from holdfast.pipeline.settings import PipelineSettings
from holdfast.pipeline.ticket import Ticket

log = logging.getLogger(__name__)

STOP_S = 30.0
"""How long parts may take to end what they are at."""
_TURN_S = 0.5


def run(settings: PipelineSettings, client: ClientSettings) -> int:
    """Run until SIGTERM or Ctrl-C. Ends the process with a code of `exits` where it must."""
    log_to_stderr(form=settings.log_format)
    _quieten()
    disable_created_metrics()  # type: ignore[no-untyped-call]
    # The driver's batches are a few megabytes. Arrow's own allocator backs what each of its threads
    # once had with huge pages, and keeps them: six times as much.
    pa.set_memory_pool(pa.system_memory_pool())
    connection = Connection(client)
    metrics = Metrics()
    stopping = Event()
    _stop_on_signals(stopping)
    with HttpServer(settings.http, metrics) as http:
        try:
            session = create_session(
                settings.data_dir.resolve(),
                master=settings.spark_master,
                driver_memory=settings.spark_memory,
                ui_port=settings.spark_ui_port,
                log_format=settings.log_format,
            )
        except SparkEndedError as error:
            end_process(START_AGAIN, str(error))
        _stop_on_signals(stopping)  # Spark has put a handler of its own there
        _end_with_spark(session, stopping)
        application = Application(_kinds(settings, session, connection, metrics), metrics)
        http.show(application.health)
        reporter = Reporter(connection, metrics, application.parts)
        reporter.start()
        print(f"Pipeline running on {connection}", flush=True)
        registry = FlowRegistry(connection)
        while not stopping.is_set():
            http.beat()
            registry.poll(_TURN_S)
            if registry.complete:
                application.follow(registry.flows)
        registry.close()
        application.stop(STOP_S)
        reporter.stop()
        session.stop()
    log.info("The pipeline has ended")
    return 0


def _stop_on_signals(stopping: Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())


def _quieten() -> None:
    """What py4j and librdkafka say of a failure is said again, in context, by who has it."""
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.CRITICAL)
    for handler in logging.getLogger().handlers:
        # Py4j speaks through the root logger, so its lines are told by where they come from.
        handler.addFilter(lambda record: f"{os.sep}py4j{os.sep}" not in record.pathname)


def _end_with_spark(session: SparkSession, stopping: Event) -> None:
    """When Spark's process ends by itself, so does this one, before each part tells of it."""
    process: Any = session.sparkContext._gateway.proc  # type: ignore[union-attr]

    def watch() -> None:
        process.wait()
        if not stopping.is_set():
            end_process(START_AGAIN, "Spark's process has ended: nothing goes on without it")

    Thread(target=watch, name="spark", daemon=True).start()


def _kinds(
    settings: PipelineSettings, session: SparkSession, connection: Connection, metrics: Metrics
) -> dict[str, MakePart]:
    raw_zone = RawZoneSettings(
        lake=settings.lake_root,
        checkpoints=settings.checkpoint_root,
        seconds=settings.raw_zone_seconds,
        max_offsets_per_trigger=settings.raw_zone_max_offsets,
        loss_accepted=settings.loss_accepted,
    )
    checkpoints = settings.checkpoint_root
    kinds: dict[str, MakePart] = {}
    if settings.gate:
        ticket = Ticket(connection.settings)
        kinds["gate"] = lambda flow: GatePart(
            session,
            connection,
            flow,
            checkpoints,
            metrics,
            ticket,
            accept_loss=flow.name in settings.loss_accepted,
        )
    if settings.raw_zone:
        zones: dict[str, RawZone] = {}

        def make_zone(flow: FlowDefinition) -> RawZone:
            zones[flow.name] = RawZone(session, connection, flow, raw_zone, metrics)
            return zones[flow.name]

        kinds["raw-zone"] = make_zone
        # Beside the raw zone, because one process writes its table: a backfill goes through it.
        kinds["runs"] = lambda flow: RunsPart(
            session, connection, flow, raw_zone.lake, lambda: zones.get(flow.name)
        )
    return kinds


class Application:
    """Runs one part of each kind for each flow, as flows come, change and go."""

    def __init__(self, kinds: Mapping[str, MakePart], metrics: Metrics) -> None:
        self._kinds = kinds
        self._metrics = metrics
        self._running: dict[str, tuple[FlowDefinition, list[Runner]]] = {}
        self._leaving: dict[str, list[Runner]] = {}

    def follow(self, flows: Mapping[str, FlowDefinition]) -> None:
        """Make what runs fit these flows. Does not wait for anything."""
        for name in self._running.keys() - flows.keys():
            log.info("Flow %s is not registered any more", name, extra={"flow": name})
            self._leave(name)
        for name, flow in flows.items():
            known = self._running.get(name)
            if known is not None and known[0].created_at != flow.created_at:
                self._leave(name)  # deleted and made anew: another flow by the same name
            elif known is not None and known[0] != flow:
                self._change(flow, known[1])
        self._forget_the_left()
        for name, flow in flows.items():
            if name not in self._running and name not in self._leaving:
                self._enter(flow)

    def stop(self, timeout: float) -> None:
        """Stop all parts, and wait for their end."""
        log.info("Stopping: each part ends what it is at")
        for name in list(self._running):
            self._leave(name)
        deadline = monotonic() + timeout
        for name, runners in self._leaving.items():
            for runner in runners:
                if not runner.join(max(0.0, deadline - monotonic())):
                    log.warning("The %s of %s did not end in time", runner.kind, name)

    def health(self) -> dict[str, dict[str, dict[str, str]]]:
        """The state of each part, by flow and kind."""
        return {
            name: {
                kind: {"state": health.state, "reason": health.reason}
                for kind, health in parts.items()
            }
            for name, parts in self.parts().items()
        }

    def parts(self) -> dict[str, dict[str, Health]]:
        """The same, as it is."""
        return {
            name: {runner.kind: runner.health for runner in runners}
            for name, (_, runners) in sorted(self._running.copy().items())
        }

    def _enter(self, flow: FlowDefinition) -> None:
        log.info("Flow %s begins", flow.name, extra={"flow": flow.name})
        runners: list[Runner] = []
        for kind, make in self._kinds.items():
            before = runners[-1].settled if runners else None
            runner = Runner(kind, flow, make, self._metrics, after=before)
            runners.append(runner)
            runner.start()
        self._running[flow.name] = flow, runners

    def _change(self, flow: FlowDefinition, runners: list[Runner]) -> None:
        log.info("Flow %s has changed", flow.name, extra={"flow": flow.name})
        self._running[flow.name] = flow, runners
        for runner in runners:
            runner.change(flow)

    def _leave(self, name: str) -> None:
        _, runners = self._running.pop(name)
        for runner in runners:
            runner.ask_to_stop()
        self._leaving[name] = runners

    def _forget_the_left(self) -> None:
        for name, runners in list(self._leaving.items()):
            if all(runner.join(0) for runner in runners):
                del self._leaving[name]
                self._metrics.forget(name)
