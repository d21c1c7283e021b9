"""Parts come, change, fail and go with their flows. No Spark: parts here only say what they see."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from queue import Queue
from threading import Event

import pytest
from tests.clients import wait_until

from holdfast.flows.registry import FlowDefinition, Limits
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.parts.part import Part
from holdfast.pipeline.process import runner
from holdfast.pipeline.process.application import Application

WAIT_S = 10.0

Said = tuple[str, ...]


class Parts:
    """Parts that record the calls they get, and fail on request."""

    def __init__(self) -> None:
        self.said: Queue[Said] = Queue()
        self.failures: dict[tuple[str, str], Exception] = {}
        self.unsettled: set[tuple[str, str]] = set()
        self.troubles: dict[tuple[str, str], str] = {}
        self.refusals: dict[tuple[str, str], list[Exception]] = {}
        self.stuck: dict[tuple[str, str], Event] = {}

    def kind(self, kind: str) -> Callable[[FlowDefinition], Part]:
        return lambda flow: _Part(self, kind, flow)

    def next(self, count: int = 1) -> list[Said]:
        """The next records, sorted: parts run independently of each other."""
        return sorted(self.said.get(timeout=WAIT_S) for _ in range(count))


class _Part:
    def __init__(self, parts: Parts, kind: str, flow: FlowDefinition) -> None:
        self._parts, self._me = parts, (flow.name, kind)
        self._failed = False

    def start(self) -> None:
        refusals = self._parts.refusals.get(self._me)
        if refusals:
            raise refusals.pop(0)
        self._say("start")

    def change(self, flow: FlowDefinition) -> None:
        if self._me in self._parts.stuck:
            assert self._parts.stuck[self._me].wait(WAIT_S)
        self._say("change", str(flow.limits.key_events))

    def failure(self) -> Exception | None:
        return self._parts.failures.pop(self._me, None)

    def settled(self) -> bool:
        return self._me not in self._parts.unsettled

    def trouble(self) -> str | None:
        return self._parts.troubles.get(self._me)

    def measure(self) -> None:
        pass

    def stop(self) -> None:
        self._say("stop")

    def _say(self, *words: str) -> None:
        self._parts.said.put((*self._me, *words))


@pytest.fixture
def parts() -> Parts:
    return Parts()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def application(
    parts: Parts, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Application]:
    monkeypatch.setattr(runner, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(runner, "_WATCH_SECONDS", 0.001)
    made = Application({"gate": parts.kind("gate"), "lake": parts.kind("lake")}, metrics)
    yield made
    made.stop(WAIT_S)


def flow(name: str, created_at: int = 0) -> FlowDefinition:
    return FlowDefinition(name=name, partitions=1, created_at=created_at)


def follow(application: Application, *flows: FlowDefinition) -> None:
    application.follow({each.name: each for each in flows})


def test_each_flow_gets_one_part_of_each_kind_started_in_order(
    application: Application, parts: Parts
) -> None:
    follow(application, flow("a"))
    assert [*parts.next(), *parts.next()] == [("a", "gate", "start"), ("a", "lake", "start")]


def test_the_second_part_waits_for_the_first_with_a_limit(
    application: Application, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts.unsettled |= {("a", "gate"), ("b", "gate")}
    follow(application, flow("a"))
    assert parts.next() == [("a", "gate", "start")]
    assert application.health()["a"]["lake"]["state"] == "starting"
    parts.unsettled.remove(("a", "gate"))
    assert parts.next() == [("a", "lake", "start")]
    monkeypatch.setattr(runner, "FIRST_COME_SECONDS", 0.01)
    follow(application, flow("a"), flow("b"))
    assert [*parts.next(), *parts.next()] == [("b", "gate", "start"), ("b", "lake", "start")]


def test_a_part_that_cannot_be_created_is_reported_and_retried(
    parts: Parts, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE_SECONDS", 0.001)
    refusals = [ValueError("planted"), ValueError("planted")]

    def make(flow: FlowDefinition) -> Part:
        if refusals:
            raise refusals.pop()
        return parts.kind("gate")(flow)

    application = Application({"gate": make}, metrics)
    follow(application, flow("a"))
    assert parts.next() == [("a", "gate", "start")]
    application.stop(WAIT_S)


def test_a_new_flow_starts_while_others_keep_running(
    application: Application, parts: Parts
) -> None:
    follow(application, flow("a"))
    parts.next(2)
    follow(application, flow("a"), flow("b"))
    assert parts.next(2) == [("b", "gate", "start"), ("b", "lake", "start")]
    assert parts.said.empty()


def test_parts_and_metrics_of_a_deleted_flow_are_removed(
    application: Application, parts: Parts, metrics: Metrics
) -> None:
    follow(application, flow("a"), flow("b"))
    parts.next(4)
    follow(application, flow("b"))
    assert parts.next(2) == [("a", "gate", "stop"), ("a", "lake", "stop")]
    application.stop(WAIT_S)
    follow(application)
    for kind in ("gate", "lake"):
        labels = {"flow": "a", "part": kind}
        assert metrics.registry.get_sample_value("holdfast_part_up", labels) is None
    assert application.health() == {}


def test_a_changed_definition_reaches_running_parts(application: Application, parts: Parts) -> None:
    follow(application, flow("a"))
    parts.next(2)
    follow(application, replace(flow("a"), limits=Limits(key_events=5)))
    assert parts.next(2) == [("a", "gate", "change", "5"), ("a", "lake", "change", "5")]
    follow(application, replace(flow("a"), limits=Limits(key_events=5)))
    assert parts.said.empty()


def test_a_flow_that_was_created_again_gets_new_parts(
    application: Application, parts: Parts
) -> None:
    follow(application, flow("a"))
    parts.next(2)
    follow(application, flow("a", created_at=1))
    assert parts.next(2) == [("a", "gate", "stop"), ("a", "lake", "stop")]
    while parts.said.empty():  # it begins once the old one has ended
        follow(application, flow("a", created_at=1))
    assert parts.next(2) == [("a", "gate", "start"), ("a", "lake", "start")]


def test_a_part_that_cannot_take_a_change_yet_delays_no_other_flow(
    application: Application, parts: Parts
) -> None:
    follow(application, flow("a"), flow("b"))
    parts.next(4)
    over = parts.stuck["a", "gate"] = Event()
    changed = [replace(flow(name), limits=Limits(key_events=5)) for name in ("a", "b")]
    follow(application, *changed, flow("c"))
    others: list[Said] = [("a", "lake", "change", "5"), ("b", "gate", "change", "5")]
    others += [("b", "lake", "change", "5"), ("c", "gate", "start"), ("c", "lake", "start")]
    assert parts.next(5) == others
    over.set()
    assert parts.next() == [("a", "gate", "change", "5")]


def test_a_failed_part_restarts_while_others_keep_running(
    application: Application, parts: Parts, metrics: Metrics
) -> None:
    follow(application, flow("a"), flow("b"))
    parts.next(4)
    parts.failures["a", "gate"] = RuntimeError("the disk is full")
    assert [*parts.next(), *parts.next()] == [("a", "gate", "stop"), ("a", "gate", "start")]
    assert parts.said.empty()
    labels = {"flow": "a", "part": "gate"}
    assert metrics.registry.get_sample_value("holdfast_part_failures_total", labels) == 1


def test_a_part_that_cannot_start_reports_the_reason_until_it_can(
    application: Application, parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    parts.refusals["a", "gate"] = [RuntimeError("no such topic"), RuntimeError("no such topic")]
    with caplog.at_level("INFO"):
        follow(application, flow("a"))
        said = parts.next(4)
    assert said.count(("a", "gate", "stop")) == 2
    assert ("a", "gate", "start") in said
    logged = [record for record in caplog.records if "no such topic" in record.message]
    assert [record.levelname for record in logged] == ["ERROR", "INFO"], "repeated: no error"
    assert vars(logged[0])["flow"] == "a"


def test_a_running_part_without_progress_reports_the_reason(
    application: Application, parts: Parts
) -> None:
    follow(application, flow("a"))
    parts.next(2)

    def gate() -> dict[str, str]:
        return application.health()["a"]["gate"]

    parts.troubles["a", "gate"] = "the control log cannot be read"
    wait_until(lambda: gate()["state"] == "waiting", "waiting")
    assert gate()["reason"] == "the control log cannot be read"
    parts.troubles.clear()
    wait_until(lambda: gate() == {"state": "running", "reason": ""}, "running")
    assert parts.said.empty(), "it is left alone"


def test_stop_stops_all_parts(application: Application, parts: Parts) -> None:
    follow(application, flow("a"))
    parts.next(2)
    application.stop(WAIT_S)
    assert parts.next(2) == [("a", "gate", "stop"), ("a", "lake", "stop")]
