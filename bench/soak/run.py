"""One soak: the system is started and warmed up, its peak is found, and then it is only watched."""

import json
import math
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
import psutil
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample as MetricSample
from tests.brokers import free_ports
from tests.clients import wait_until
from tests.stack import Up

import holdfast
from bench.load.child import Child
from bench.load.events import EVENT_BYTES, Load, fill
from bench.load.systems import Holdfast
from bench.soak.arrivals import Arrivals, latency_figures
from bench.soak.resources import SparkJvm, SparkWorkers, Watched, disk_figures, spark_jvm
from bench.soak.tabs import Follower, open_tabs
from bench.soak.traffic import LOAD
from bench.soak.verdict import AT
from bench.soak.worker import GROUP
from holdfast.flows.commands import Hold, Release
from holdfast.flows.names import FlowNames
from holdfast.views.audit import WINDOW
from holdfast.views.changes import RING

FLOWS = ["orders", "payments"]
PARTITIONS = 3
WARM_UP_EVENTS = 150_000
PEAK_EVENTS = 400_000
"""Of each flow."""
STARTED_WITHIN_S = 240.0
TAKEN_WITHIN_S = 300.0
"""Deadlines, not measures."""
KEPT_AT_LEAST_S = 180.0
"""The raw zone may be minutes behind on a busy machine, and must find its events. So in a run of
less than eighteen minutes the topics are not full after a third: disk and handles grow then."""
RECORD_BYTES = EVENT_BYTES + 60
"""With key, header and its share of a batch."""

Say = Callable[[str], None]


class LostEventsError(Exception):
    """The output differs from the input. No figure of such a run counts."""


@dataclass(slots=True)
class Soak:
    """The samples of a run so far."""

    rate: float = 0.0
    """Events a second, of all flows together."""
    peak: float | None = None
    """None: the rate was given."""
    sent: int = 0
    samples: list[dict[str, float]] = field(default_factory=list)


class System:
    """`holdfast up`, a worker behind its first flow, and where to find everything."""

    def __init__(self, folder: Path) -> None:
        broker, metrics, web = free_ports(3)
        self.data = folder / "holdfast-data"
        self.bootstrap = f"127.0.0.1:{broker}"
        self.dashboard = f"http://127.0.0.1:{web}"
        self.folder = folder
        self._metrics = f"http://127.0.0.1:{metrics}/metrics"
        self.up = Up(
            folder, "--broker-port", str(broker), "--metrics-port", str(metrics),
            "--web-port", str(web),
        )  # fmt: skip
        self.gate = Holdfast(self.bootstrap, folder, PARTITIONS)
        self.worker = Child(
            [
                sys.executable, "-m", "bench.soak.worker",
                self.bootstrap, FlowNames(FLOWS[0]).processed,
            ],
            folder / "worker.log",
        )  # fmt: skip
        self.sent = dict.fromkeys(FLOWS, 0)

    def start(self) -> None:
        """All parts run, and every flow has been taken up, when this returns."""
        self.up.wait_for(r"\| is up: ")
        for flow in FLOWS:
            self.gate.create(flow)
        self.worker.start()
        wait_until(
            lambda: all(self.gate.taken(flow) >= 0 for flow in FLOWS),
            "a position of every gate",
            STARTED_WITHIN_S,
        )

    def fill_windows(self) -> None:
        """Ask for as many commands as the web process remembers at most, of each flow: what it
        grows by afterwards, it grows by for ever."""
        keys = LOAD.held_keys
        at = round(time.time() * 1000)
        with holdfast.connect(self.bootstrap) as client:
            for flow in map(client.flow, FLOWS):
                for number in range(max(WINDOW, RING) // 2):
                    key = keys[number % len(keys)]
                    hold = Hold(id=f"hold-{number}", actor="soak", at=at, key=key)
                    release = Release(id=f"release-{number}", actor="soak", at=at, key=key)
                    flow.append([hold, release])
                flow.release(keys[0]).wait(TAKEN_WITHIN_S)

    def burst(self, events: int) -> float:
        """So many events of each flow as fast as can be. -> events a second, until all are out and
        in the raw zone: the peak of the whole system is that of its slowest part"""
        load = Load(events, LOAD.keys, held=0)
        begun = time.monotonic()
        senders = [
            threading.Thread(
                target=fill,
                args=(self.bootstrap, FlowNames(flow).events, load.cycle, events, PARTITIONS),
            )
            for flow in FLOWS
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.wait_until_taken(dict.fromkeys(FLOWS, events))
        self.wait_until_landed()
        return events * len(FLOWS) / (time.monotonic() - begun)

    def wait_until_taken(self, more: Mapping[str, int]) -> None:
        """Until the gate has taken all that was sent before, and these."""
        for flow, events in more.items():
            self.sent[flow] += events
        wait_until(
            lambda: all(self.gate.taken(flow) >= sent for flow, sent in self.sent.items()),
            f"all of {self.sent} taken",
            TAKEN_WITHIN_S,
        )

    def lag_figures(self) -> dict[str, float]:
        """The longest of all flows, of the gate and of the raw zone."""
        lags: dict[str, float] = {}
        for series in self._series("holdfast_lag_seconds"):
            line = f"{series.labels['part']}.lag_s"
            lags[line] = max(lags.get(line, 0.0), series.value)
        return lags

    def wait_until_landed(self) -> None:
        """Until the raw zone, too, has all that was sent."""
        sent = sum(self.sent.values())
        wait_until(
            lambda: sum(s.value for s in self._series("holdfast_events_landed_total")) >= sent,
            f"{sent:,} events in the raw zone",
            TAKEN_WITHIN_S,
        )

    def _series(self, name: str) -> list[MetricSample]:
        families = text_string_to_metric_families(httpx.get(self._metrics).text)
        return [sample for family in families for sample in family.samples if sample.name == name]

    def bound_topics(self, rate: float, seconds: float) -> None:
        """Keep records for this many seconds, as one would where disks are not endless."""
        kept = math.ceil(rate / len(FLOWS) / PARTITIONS * RECORD_BYTES * seconds)
        bounds = {"retention.bytes": str(kept), "segment.bytes": str(max(kept // 5, 1 << 20))}
        with holdfast.connect(self.bootstrap) as client:
            for flow in FLOWS:
                for topic in (FlowNames(flow).events, FlowNames(flow).processed):
                    client.topics.set_config(topic, bounds)

    def worker_is_at_the_end(self) -> bool:
        """Returns True at the end. The last marker of each partition is never committed."""
        with holdfast.connect(self.bootstrap) as client:
            lag = client.groups.describe(GROUP).lag
        return len(lag) == PARTITIONS and all(
            one.committed is not None and one.end - one.committed <= 1 for one in lag
        )

    def watched(self) -> list[Watched]:
        driver = self.up.child("pipeline")
        jvm = spark_jvm(driver)
        return [
            Watched("broker", [self.up.child("broker")]),
            Watched("driver", [driver]),
            SparkJvm(jvm),
            SparkWorkers(jvm),
            Watched("web", [self.up.child("web")]),
            Watched("worker", [psutil.Process(self.worker.pid)]),
        ]

    def end(self) -> None:
        self.worker.kill()
        self.up.kill()


@contextmanager
def system(folder: Path) -> Iterator[System]:
    made = System(folder)
    try:
        made.start()
        yield made
    finally:
        made.end()


def run(
    folder: Path, found: Soak, seconds: float, every: float, rate: float | None, say: Say
) -> None:
    """Do it all in that folder. `rate`: events a second; half of the peak unless given."""
    with system(folder) as made:
        say("all parts run; warming up")
        made.fill_windows()
        made.burst(WARM_UP_EVENTS if rate is None else 1_000)
        if rate is None:
            found.peak = made.burst(PEAK_EVENTS)
            say(f"peak: {found.peak:,.0f} events/s, from the first sent to the last landed")
            rate = found.peak / 2
        found.rate = rate
        # A sixth: the topics are as full as they will be before the first third is over.
        made.bound_topics(rate, max(KEPT_AT_LEAST_S, seconds / 6))
        say(f"soaking at {rate:,.0f} events/s for {seconds / 60:g} minutes")
        _watch(made, found, seconds, every, say)


def _watch(made: System, found: Soak, seconds: float, every: float, say: Say) -> None:
    arrivals = [
        Arrivals(made.bootstrap, FlowNames(flow).processed, LOAD, PARTITIONS) for flow in FLOWS
    ]
    for reader in arrivals:
        reader.start()
    wait_until(lambda: all(reader.ready.is_set() for reader in arrivals), "readers")
    tabs = open_tabs(made.dashboard, FLOWS)
    traffic = Child(
        [sys.executable, "-m", "bench.soak.traffic", made.bootstrap, str(found.rate), *FLOWS],
        made.folder / "traffic.log",
    )
    with traffic:
        traffic.wait_for("^Traffic flows$", STARTED_WITHIN_S)
        _sample(made, found.samples, arrivals, seconds, every, traffic.check, say)
        traffic.stop()
    sent: dict[str, int] = json.loads(re.findall(r"^\{.*\}$", traffic.said(), re.MULTILINE)[-1])
    found.sent = sum(sent.values())
    _check_all_came_out(made, sent, arrivals)
    _check_tabs(tabs)
    for tab in tabs:
        tab.stopping.set()
    for reader in arrivals:
        reader.stopping.set()
        reader.join()


def _sample(
    made: System,
    samples: list[dict[str, float]],
    arrivals: list[Arrivals],
    seconds: float,
    every: float,
    check: Callable[[], None],
    say: Say,
) -> None:
    watched = made.watched()
    folders = [made.data / part for part in ("broker", "pipeline", "lake")]
    begun = time.monotonic()
    while (at := time.monotonic() - begun) < seconds:
        check()
        sample = {AT: at}
        for one in watched:
            sample |= one.figures()
        sample |= disk_figures(folders) | made.lag_figures()
        sample |= latency_figures(np.concatenate([a.take_seconds() for a in arrivals]))
        samples.append(sample)
        if len(samples) % 12 == 0:
            say(_progress(sample))
        time.sleep(max(0.0, begun + len(samples) * every - time.monotonic()))


def _progress(sample: Mapping[str, float]) -> str:
    memory = "  ".join(
        f"{line.removesuffix('.memory_mb')} {value:,.0f}"
        for line, value in sample.items()
        if line.endswith(".memory_mb")
    )
    p50, p99 = (sample.get(f"latency.{p}_ms", math.nan) for p in ("p50", "p99"))
    return f"{sample[AT]:6.0f} s: p50 {p50:.0f} ms, p99 {p99:.0f} ms; MB: {memory}"


def _check_all_came_out(made: System, sent: Mapping[str, int], arrivals: list[Arrivals]) -> None:
    """All keys are released: each event comes out once, and the worker has taken them, too."""
    made.wait_until_taken(sent)

    def out() -> dict[str, int]:
        return {flow: reader.count for flow, reader in zip(FLOWS, arrivals, strict=True)}

    try:
        wait_until(lambda: out() == dict(sent), "everything out", TAKEN_WITHIN_S)
    except AssertionError:
        raise LostEventsError(f"sent {sent}, out {out()}") from None
    wait_until(made.worker_is_at_the_end, "the worker at the end", TAKEN_WITHIN_S)


def _check_tabs(tabs: list[Follower]) -> None:
    silent = [tab.name for tab in tabs if tab.told == 0]
    if silent:
        raise RuntimeError(f"nothing was told to {', '.join(silent)}")
