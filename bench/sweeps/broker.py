"""Produce and consume: the embedded broker beside Apache Kafka, over partitions and sizes."""

from contextlib import ExitStack

from tests.brokers import EmbeddedBroker

from bench.load.messages import consume, drop_topic, new_topic, produce
from bench.peers.kafka import ProductionKafka
from bench.results.kept import Figures, Point
from bench.sweeps.axes import along, each
from bench.sweeps.plan import Plan
from bench.sweeps.sweep import sweep

BASE = {"partitions": 6, "size": 100}
MESSAGES = 500_000
BYTES = 500_000_000
"""Fewer of larger messages, so that neither disk nor page cache is measured."""
# `os` leaves syncing to the system, as Apache Kafka does.
SYSTEMS = ["kafka", "os", "sync"]


def broker(plan: Plan) -> None:
    """About six minutes with five rounds."""
    points = along(
        BASE,
        {
            "partitions": each("partitions", *plan.of((1, 3, 6, 12, 24))),
            "size": each("size", *plan.of((100, 1_000, 10_000, 100_000))),
        },
    )
    with ExitStack() as stack:
        running = {
            "kafka": stack.enter_context(ProductionKafka(plan.folder / "kafka")),
            "os": stack.enter_context(EmbeddedBroker(plan.folder / "os", {"flush": "os"})),
            "sync": stack.enter_context(EmbeddedBroker(plan.folder / "sync")),
        }

        def measure(point: Point, system: str) -> Figures:
            return _there_and_back(running[system].bootstrap, plan.quick, **point.settings)

        for system in SYSTEMS:  # a turn that does not count, to warm them up
            _there_and_back(running[system].bootstrap, plan.quick, **BASE)
        sweep(plan.kept, points, SYSTEMS, measure, plan.rounds)


def _there_and_back(bootstrap: str, quick: bool, partitions: int, size: int) -> Figures:
    count = min(MESSAGES, BYTES // size) // (10 if quick else 1)
    topic = new_topic(bootstrap, partitions)
    try:
        produced = produce(bootstrap, topic, partitions, b"x" * size, count)
        return {"produce": produced, "consume": consume(bootstrap, topic, partitions, count)}
    finally:
        drop_topic(bootstrap, topic)
