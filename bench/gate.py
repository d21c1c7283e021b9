"""The gate against Kafka Streams doing the same job on the same Kafka: alternating, medians.

    python -m bench.gate                   # all of it, about half an hour
    python -m bench.gate --quick           # fewer rounds and events: to see that it works
    python -m bench.gate --part latency    # one part (may be given more than once)
    python -m bench.gate --only streams    # one of the two: its own figures, no ratios
    python -m bench.gate --rounds 5        # medians of more rounds than three

What comes out is read back and checked in every round: each event that is not held once and in
order, no held one. A wrong record ends the benchmark.

The last line printed is one line of JSON. `throughput`, `latency_p50` and `latency_p99` are ours
over Kafka Streams'; `held_10000` is our throughput with 10,000 held keys over that with 1,000; the
others are seconds.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from bench.load.commands import hold_seconds, release_seconds
from bench.load.events import Load, check_output, fill
from bench.load.make_run import up_seconds
from bench.load.paced import latencies
from bench.load.progress import Readable, rate, watch
from bench.load.systems import Holdfast, Streams, System
from bench.peers.kafka import ProductionKafka
from bench.peers.streams import Guarantee

PARTITIONS = 6
PER_SECOND = 1_000
WARM_UP = 1 / 2
"""Share of the events that are through before the time is taken: both are JVMs, as Kafka is, and
start cold. Their compilers are busy for twenty seconds, and would be what is measured."""
OUTPUT_DEADLINE_S = 600.0

PARTS = ["throughput", "latency", "hold", "release", "up"]

Figures = dict[str, float]


class Bench:
    """Rounds over the systems, each in a flow of its own."""

    def __init__(self, quick: bool, rounds: int | None = None) -> None:
        self.rounds = rounds or (1 if quick else 3)
        self.events = 600_000 if quick else 6_000_000
        self.seconds = 10 if quick else 60
        self.warm_up_seconds = 5 if quick else 30
        self.holds = 20 if quick else 200
        self.others_held = 100_000 if quick else 1_000_000
        self._flows = 0

    def alternating(
        self, measures: Mapping[str, Callable[[], Figures]], what: str
    ) -> dict[str, Figures]:
        """The medians of all that is measured, in rounds in which the measures take turns."""
        found: dict[str, list[Figures]] = {name: [] for name in measures}
        for number in range(self.rounds):
            for name in measures if number % 2 == 0 else reversed(list(measures)):
                figures = measures[name]()
                found[name].append(figures)
                shown = "  ".join(f"{figure} {value:,.4g}" for figure, value in figures.items())
                print(f"  {what} {number + 1}/{self.rounds}: {name}: {shown}", flush=True)
        return {
            name: {k: statistics.median(figures[k] for figures in rounds) for k in rounds[0]}
            for name, rounds in found.items()
        }

    def throughput(self, system: System, held: int) -> Figures:
        """Events a second at which the gate goes through a full topic, held ones included."""
        load = Load(self.events, keys=100_000, held=held)
        flow = self._new_flow(system, load.held_keys)
        fill(system.bootstrap, system.events(flow), load.cycle, load.count, PARTITIONS)
        readable = Readable(system.bootstrap, system.processed(flow), PARTITIONS)
        with system.running(flow) as process:
            samples = watch(readable, len(load.passing()), process.check, OUTPUT_DEADLINE_S)
        check_output(system.bootstrap, system.processed(flow), load, PARTITIONS)
        system.drop(flow)
        return {"events_s": rate(samples, load.count, WARM_UP)}

    def latency(self, system: System) -> Figures:
        """Milliseconds from sending to receiving, at a steady pace."""
        load = self._paced_load()
        flow = self._new_flow(system, load.held_keys)
        topics = system.events(flow), system.processed(flow)
        with system.running(flow):
            times = latencies(system.bootstrap, *topics, load, PER_SECOND, PARTITIONS)
        system.drop(flow)
        warm = self.warm_up_seconds * PER_SECOND
        counted = [seconds * 1000 for number, seconds in times.items() if number >= warm]
        p50, p99 = np.percentile(counted, [50, 99])
        return {"p50_ms": float(p50), "p99_ms": float(p99)}

    def hold(self, system: Holdfast) -> Figures:
        """Seconds from a hold's acknowledgement until it is effective, at a steady pace."""
        load = self._paced_load()
        flow = self._new_flow(system, load.held_keys)
        seconds = hold_seconds(system, flow, load, PER_SECOND, self.holds, self.warm_up_seconds)
        system.drop(flow)
        p50, p99 = np.percentile(seconds, [50, 99])
        print(f"  hold to effective: p50 {p50:.3f} s  p99 {p99:.3f} s", flush=True)
        return {"hold_effective_p99_s": float(p99)}

    def release(self, system: Holdfast) -> Figures:
        """Seconds from asking for a release to the last of 10,000 events, others being held."""
        flow = self._new_flow(system, [])
        seconds = release_seconds(system, flow, self.others_held, released_keys=self.rounds)
        system.drop(flow)
        print("  release: " + "  ".join(f"{each:.2f} s" for each in seconds), flush=True)
        return {"release_s": statistics.median(seconds)}

    def _paced_load(self) -> Load:
        seconds = self.warm_up_seconds + self.seconds
        return Load(seconds * PER_SECOND, keys=5_000, held=100)

    def _new_flow(self, system: System, held: list[bytes]) -> str:
        self._flows += 1
        flow = f"bench-{system.name}-{self._flows}"
        system.create(flow)
        system.hold(flow, held)
        return flow


def streams_and_holdfast(bench: Bench, systems: dict[str, System], parts: set[str]) -> Figures:
    """Measurements of both systems: ratios where both have a figure, else the figure of one."""
    found: Figures = {}
    if "throughput" in parts:
        measures = {n: partial(bench.throughput, s, 1_000) for n, s in systems.items()}
        if "holdfast" in systems:
            measures["holdfast, 10,000 held"] = partial(
                bench.throughput, systems["holdfast"], 10_000
            )
        medians = bench.alternating(measures, "throughput")
        found |= ratios(medians, {"throughput": "events_s"})
        if "holdfast" in systems:
            many = medians["holdfast, 10,000 held"]["events_s"]
            found["held_10000"] = many / medians["holdfast"]["events_s"]
    if "latency" in parts:
        medians = bench.alternating(
            {n: partial(bench.latency, s) for n, s in systems.items()}, "latency"
        )
        found |= ratios(medians, {"latency_p50": "p50_ms", "latency_p99": "p99_ms"})
    return found


def ratios(medians: dict[str, Figures], names: dict[str, str]) -> Figures:
    for system, figures in medians.items():
        print(f"  median of {system}: " + "  ".join(f"{k} {v:,.4g}" for k, v in figures.items()))
    if {"streams", "holdfast"} <= medians.keys():
        ours, theirs = medians["holdfast"], medians["streams"]
        return {name: ours[figure] / theirs[figure] for name, figure in names.items()}
    (figures, *_) = medians.values()
    return {figure: figures[figure] for figure in names.values()}


def holdfast_alone(bench: Bench, system: Holdfast, parts: set[str]) -> Figures:
    """Measurements of Holdfast alone."""
    found: Figures = {}
    if "hold" in parts:
        found |= bench.hold(system)
    if "release" in parts:
        found |= bench.release(system)
    return found


def up(bench: Bench, folder: Path) -> Figures:
    """How long `make run` takes, with nothing else running."""
    seconds = []
    for number in range(bench.rounds):
        seconds.append(up_seconds(folder / f"up-{number}"))
        print(f"  up {number + 1}/{bench.rounds}: {seconds[-1]:.1f} s", flush=True)
    return {"up_s": statistics.median(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and events")
    parser.add_argument("--rounds", type=int, help="number of rounds instead of three")
    parser.add_argument("--part", action="append", choices=PARTS, help="all unless given")
    parser.add_argument("--only", choices=["streams", "holdfast"], help="one of the two")
    parser.add_argument("--guarantee", choices=get_args(Guarantee), default="exactly_once_v2",
                        help="of Kafka Streams")  # fmt: skip
    options = parser.parse_args()
    parts = set(options.part or PARTS)
    bench = Bench(options.quick, options.rounds)
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        if parts - {"up"}:
            with ProductionKafka(folder / "kafka") as kafka:
                made: dict[str, System] = {}
                place = kafka.bootstrap, folder, PARTITIONS
                if options.only != "holdfast":
                    made["streams"] = Streams(*place, guarantee=options.guarantee)
                if options.only != "streams":
                    made["holdfast"] = Holdfast(*place)
                found |= streams_and_holdfast(bench, made, parts)
                if isinstance(ours := made.get("holdfast"), Holdfast):
                    found |= holdfast_alone(bench, ours, parts)
        if "up" in parts and options.only != "streams":
            found |= up(bench, folder)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))


if __name__ == "__main__":
    main()
