"""The pipeline process: one Spark session and the parts of every registered flow."""

import logging
import os
import signal
from collections.abc import Mapping
from datetime import timedelta
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
from holdfast.kafka.watch import Watches
from holdfast.logs import log_to_stderr
from holdfast.pipeline.gate.part import GatePart
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.parts.part import MakePart
from holdfast.pipeline.parts.ticket import START_AGAIN, Ticket, end_process
from holdfast.pipeline.process.http import HttpServer
from holdfast.pipeline.process.reporter import Reporter
from holdfast.pipeline.process.runner import Health, Runner
from holdfast.pipeline.process.settings import PipelineSettings
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings
from holdfast.pipeline.runs.part import RunsPart
from holdfast.pipeline.runs.run_log import RunLog
from holdfast.pipeline.spark.session import SparkEndedError, create_session

log = logging.getLogger(__name__)

STOP_SECONDS = 30.0
"""How long parts may take to finish their current work."""
_TURN_SECONDS = 0.5


def run(settings: PipelineSettings, client: ClientSettings) -> int:
    """Run until SIGTERM or Ctrl-C. May exit the process with REPLACED or START_AGAIN."""
    log_to_stderr(form=settings.log_format)
    _quieten()
    disable_created_metrics()  # type: ignore[no-untyped-call]
    # The driver's batches are a few megabytes. Arrow's own allocator backs the memory of each of
    # its threads with huge pages and never returns them: six times as much.
    pa.set_memory_pool(pa.system_memory_pool())
    connection = Connection(client)
    metrics = Metrics()
    clock = PipelineClock()
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
        _stop_on_signals(stopping)  # again: Spark has installed its own handler
        _end_with_spark(session, stopping)
        watches, runs = Watches(client), RunLog(connection)
        kinds = _kinds(settings, session, connection, metrics, clock, watches, runs)
        application = Application(kinds, metrics)
        http.show(application.health)
        reporter = Reporter(connection, metrics, application.parts, clock)
        reporter.start()
        print(f"Pipeline running on {connection}", flush=True)
        registry = FlowRegistry(connection)
        while not stopping.is_set():
            http.beat()
            clock()  # detects jumps also while no gate runs
            registry.poll(_TURN_SECONDS)
            if registry.complete:
                gates = {name: flow for name, flow in registry.flows.items() if not flow.is_guard}
                application.follow(gates)
        registry.close()
        application.stop(STOP_SECONDS)
        reporter.stop()
        watches.stop()
        runs.close()
        session.stop()
    log.info("The pipeline has ended")
    return 0


def _stop_on_signals(stopping: Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())


def _quieten() -> None:
    """Silence py4j and librdkafka: our own code logs the same failures, with context."""
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.CRITICAL)
    for handler in logging.getLogger().handlers:
        # Py4j logs to the root logger, so its lines are recognised by their file.
        handler.addFilter(lambda record: f"{os.sep}py4j{os.sep}" not in record.pathname)


def _end_with_spark(session: SparkSession, stopping: Event) -> None:
    """Exit as soon as Spark's process ends by itself, before every part fails on its own."""
    process: Any = session.sparkContext._gateway.proc  # type: ignore[union-attr]

    def watch() -> None:
        process.wait()
        if not stopping.is_set():
            end_process(START_AGAIN, "Spark's process has ended. The pipeline needs it")

    Thread(target=watch, name="spark", daemon=True).start()


def _kinds(
    settings: PipelineSettings,
    session: SparkSession,
    connection: Connection,
    metrics: Metrics,
    clock: PipelineClock,
    watches: Watches,
    runs: RunLog,
) -> dict[str, MakePart]:
    raw_zone = RawZoneSettings(
        lake=settings.lake_root,
        seconds=settings.raw_zone_seconds,
        history=timedelta(hours=settings.raw_zone_history_hours),
        loss_accepted=settings.loss_accepted,
    )
    kinds: dict[str, MakePart] = {}
    if settings.gate:
        ticket = Ticket(connection.settings)
        kinds["gate"] = lambda flow: GatePart(
            session,
            connection,
            flow,
            metrics,
            ticket,
            clock,
            watches,
            accept_loss=flow.name in settings.loss_accepted,
        )
    if settings.raw_zone:
        zones: dict[str, RawZone] = {}

        def make_zone(flow: FlowDefinition) -> RawZone:
            zones[flow.name] = RawZone(session, connection, flow, raw_zone, metrics, watches.events)
            return zones[flow.name]

        kinds["raw-zone"] = make_zone
        # Needs the raw zone in this process: only one process writes its table, and backfills do.
        kinds["runs"] = lambda flow: RunsPart(
            session, connection, flow, raw_zone.lake, lambda: zones.get(flow.name), runs
        )
    return kinds


class Application:
    """Runs one part of each kind for each flow; follows new, changed and deleted flows."""

    def __init__(self, kinds: Mapping[str, MakePart], metrics: Metrics) -> None:
        self._kinds = kinds
        self._metrics = metrics
        self._running: dict[str, tuple[FlowDefinition, list[Runner]]] = {}
        self._stopping: dict[str, list[Runner]] = {}

    def follow(self, flows: Mapping[str, FlowDefinition]) -> None:
        """Start, change and stop parts so that they match these flows. Does not wait."""
        for name in self._running.keys() - flows.keys():
            log.info("Flow %s is not registered any more", name, extra={"flow": name})
            self._stop_flow(name)
        for name, flow in flows.items():
            current = self._running.get(name)
            if current is not None and current[0].created_at != flow.created_at:
                self._stop_flow(name)  # deleted and created again: another flow of the same name
            elif current is not None and current[0] != flow:
                self._change(flow, current[1])
        self._reap_stopped()
        for name, flow in flows.items():
            if name not in self._running and name not in self._stopping:
                self._start_flow(flow)

    def stop(self, timeout: float) -> None:
        """Stop all parts and wait for them."""
        log.info("Stopping: each part finishes its current work")
        for name in list(self._running):
            self._stop_flow(name)
        deadline = monotonic() + timeout
        for name, runners in self._stopping.items():
            for runner in runners:
                if not runner.join(max(0.0, deadline - monotonic())):
                    log.warning("The %s of %s did not stop in time", runner.kind, name)

    def health(self) -> dict[str, dict[str, dict[str, str]]]:
        """The state of each part as JSON values, by flow and kind."""
        return {
            name: {
                kind: {"state": health.state, "reason": health.reason}
                for kind, health in parts.items()
            }
            for name, parts in self.parts().items()
        }

    def parts(self) -> dict[str, dict[str, Health]]:
        """The state of each part, by flow and kind."""
        return {
            name: {runner.kind: runner.health for runner in runners}
            for name, (_, runners) in sorted(self._running.copy().items())
        }

    def _start_flow(self, flow: FlowDefinition) -> None:
        log.info("Starting flow %s", flow.name, extra={"flow": flow.name})
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

    def _stop_flow(self, name: str) -> None:
        _, runners = self._running.pop(name)
        for runner in runners:
            runner.request_stop()
        self._stopping[name] = runners

    def _reap_stopped(self) -> None:
        for name, runners in list(self._stopping.items()):
            if all(runner.join(0) for runner in runners):
                del self._stopping[name]
                self._metrics.forget(name)
