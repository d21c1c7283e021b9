"""Events through the gate: Holdfast beside Kafka Streams, each in one warm process.

Of every point the topic is full before the system takes it up, and what comes out is read back and
checked. The share of events that are held is the same along every axis but `held`, whose further
held keys have one held event each and no traffic.
"""

import contextlib
from collections.abc import Mapping

from bench.load.events import Load, check_output, fill
from bench.load.progress import Readable, rate, watch
from bench.load.systems import Holdfast, Serving, Streams, System
from bench.peers.kafka import ProductionKafka
from bench.results.kept import Figures, Point
from bench.sweeps.axes import Settings, along, each
from bench.sweeps.plan import Plan
from bench.sweeps.sweep import sweep

BASE = {"partitions": 6, "keys": 100_000, "held": 1_000, "size": 100}
HELD_SHARE = 0.01
"""Of the keys that have traffic."""
EVENTS = 4_500_000
BYTES = 1_500_000_000
MANY_HELD, EVENTS_WITH_MANY_HELD = 1_000_000, 900_000
"""Fewer events: holding more takes minutes."""
WARM_UP = 1 / 3
"""Share of the events that are through before the time is taken: a query and an application begin
slowly, warm as their processes are."""
DEADLINE_S = 900.0


def gate(plan: Plan) -> None:
    """About twenty minutes with one round."""
    with ProductionKafka(plan.folder / "kafka") as kafka:
        place = kafka.bootstrap, plan.folder, BASE["partitions"]
        systems: dict[str, System] = {"streams": Streams(*place), "holdfast": Holdfast(*place)}
        with contextlib.ExitStack() as stack:
            sides = {name: Side(system, stack) for name, system in systems.items()}
            for name, side in sides.items():  # not counted: the compilers of two JVMs are busy
                print(f"  warming up {name}", flush=True)
                side.events_a_second(_events(plan, BASE), BASE)

            def measure(point: Point, system: str) -> Figures:
                count = _events(plan, point.settings)
                return {"events_s": sides[system].events_a_second(count, point.settings)}

            sweep(plan.kept, _points(plan), list(sides), measure, plan.rounds)


def _points(plan: Plan) -> list[Point]:
    return along(
        BASE,
        {
            "partitions": each("partitions", *plan.of((1, 3, 6, 12, 24))),
            "keys": [
                {"keys": keys, "held": round(keys * HELD_SHARE)}
                for keys in plan.of((1_000, 10_000, 100_000, 1_000_000))
            ],
            # Not a million in a quick run: it takes minutes until they are held.
            "held": each(
                "held", *plan.of((0, 1_000, 10_000)), *(() if plan.quick else (100_000, MANY_HELD))
            ),
            "size": each("size", *plan.of((100, 1_000, 10_000, 100_000))),
        },
    )


def _events(plan: Plan, settings: Mapping[str, int]) -> int:
    events = EVENTS_WITH_MANY_HELD if settings["held"] >= MANY_HELD else EVENTS
    return min(events, BYTES // settings["size"]) // (10 if plan.quick else 1)


class Side:
    """A system in a process that serves point after point; one that has failed is restarted."""

    def __init__(self, system: System, stack: contextlib.ExitStack) -> None:
        self._system = system
        self._stack = stack
        self._serving: Serving | None = None
        self._flows = 0

    def events_a_second(self, count: int, settings: Mapping[str, int]) -> float:
        self._flows += 1
        flow = f"growth-{self._system.name}-{self._flows}"
        try:
            return self._through(flow, count, dict(settings))
        except BaseException:
            if self._serving is not None:
                self._serving.process.kill()
                self._serving = None
            raise
        finally:
            self._system.drop(flow)

    def _through(self, flow: str, count: int, settings: Settings) -> float:
        system, partitions, size = self._system, settings["partitions"], settings["size"]
        keys, held = settings["keys"], settings["held"]
        load = Load(count, keys, held=min(held, round(keys * HELD_SHARE)))
        quiet = [b"quiet-%07d" % number for number in range(held - load.held)]
        place = system.bootstrap, system.events(flow)
        system.partitions = partitions
        system.make_topics(flow)
        system.hold(flow, [*load.held_keys, *quiet])
        if quiet:
            fill(*place, quiet, len(quiet), partitions, first=count, size=size)
        fill(*place, load.cycle, count, partitions, size=size)
        serving = self._served()
        readable = Readable(system.bootstrap, system.processed(flow), partitions)
        serving.begin(flow)
        samples = watch(readable, len(load.passing()), serving.process.check, DEADLINE_S)
        serving.end(flow)
        check_output(system.bootstrap, system.processed(flow), load, partitions)
        return rate(samples, count, WARM_UP)

    def _served(self) -> Serving:
        if self._serving is None:
            self._serving = self._stack.enter_context(self._system.serving())
        return self._serving
