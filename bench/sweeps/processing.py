"""Messages through RunTask and CommitOffsets: our run loop beside sentry-arroyo's."""

from arroyo.types import Topic

from bench.load.messages import drop_topic, new_topic, produce
from bench.load.workers import SIDES, throughput
from bench.peers.kafka import ProductionKafka
from bench.results.kept import Figures, Point
from bench.sweeps.axes import along, each
from bench.sweeps.plan import Plan
from bench.sweeps.sweep import sweep

BASE = {"partitions": 6, "size": 100}
MESSAGES = 200_000
MESSAGES_OF_A_PARTITION = 40_000
"""As it is built: librdkafka's queue of a partition, which is full at first, holds 10,000."""
BYTES = 800_000_000
# Joining a group must not take the three seconds in which Kafka waits for more members.
SETTINGS = {"group.initial.rebalance.delay.ms": 0}


def processing(plan: Plan) -> None:
    """About five minutes with three rounds."""
    points = along(
        BASE,
        {
            "partitions": each("partitions", *plan.of((1, 3, 6, 12, 24))),
            "size": each("size", *plan.of((100, 1_000, 10_000, 100_000))),
        },
    )
    with ProductionKafka(plan.folder / "kafka", SETTINGS) as kafka:

        def measure(point: Point, system: str) -> Figures:
            return _rates(kafka.bootstrap, system, plan.quick, **point.settings)

        for system in SIDES:  # a turn that does not count, to warm Kafka up
            _rates(kafka.bootstrap, system, quick=True, **BASE)
        sweep(plan.kept, points, list(SIDES), measure, plan.rounds)


def _rates(bootstrap: str, system: str, quick: bool, partitions: int, size: int) -> Figures:
    least, most = MESSAGES_OF_A_PARTITION * partitions, BYTES // size
    count = min(max(MESSAGES, least), most) // (10 if quick else 1)
    name = new_topic(bootstrap, partitions)
    try:
        produce(bootstrap, name, partitions, b"x" * size, count)
        topic, side = Topic(name), SIDES[system]
        return {
            "as_built": throughput(bootstrap, topic, min(count, least), side, tuned=False),
            "tuned": throughput(bootstrap, topic, count, side, tuned=True),
        }
    finally:
        drop_topic(bootstrap, name)
