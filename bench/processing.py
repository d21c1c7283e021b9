"""Processing: the loop and its consumer against sentry-arroyo's, on a real broker, in one run.

    python -m bench.processing [--messages N] [--rounds N] [--broker apache|embedded]

`throughput`: how many times sentry-arroyo's rate of messages through RunTask and CommitOffsets ours
is, from the first message to the last, medians of rounds in which the two take turns, with the
configuration that Arroyo's own builder makes. `throughput_tuned`: the same with what makes
sentry-arroyo fastest: explicit commits and librdkafka's full queue, so that neither side waits for
anything but the processor. The rates themselves are beside them, in messages a second.
`pause_ms`, `resume_ms`: from the strategy's first refusal until everything is paused, and from the
moment it has room until it gets the message that it refused. `paused_cpu`: share of one core while
paused.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from arroyo.backends.kafka import KafkaPayload
from arroyo.processing.strategies import MessageRejected, ProcessingStrategy
from arroyo.types import Message, Topic
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker

from bench.load.messages import new_topic, produce
from bench.load.workers import SIDES, Factory, Make, configuration, throughput

PARTITIONS = 4
MESSAGE = b"x" * 200
SETTLE_SECONDS = 2.0
"""librdkafka fills its queues first, pause or no pause."""
PAUSED_SECONDS = 3.0


class Valve(ProcessingStrategy[KafkaPayload]):
    """Accepts a while, refuses until it is opened, and notes when what happened."""

    def __init__(self, accept: int) -> None:
        self.accept = accept
        self.open = False
        self.refused_at = self.opened_at = self.accepted_at = 0.0

    def poll(self) -> None:
        return

    def submit(self, message: Message[KafkaPayload]) -> None:
        if self.accept > 0:
            self.accept -= 1
        elif not self.open:
            self.refused_at = self.refused_at or time.perf_counter()
            raise MessageRejected
        elif not self.accepted_at:
            self.accepted_at = time.perf_counter()

    def close(self) -> None:
        return

    def terminate(self) -> None:
        return

    def join(self, timeout: float | None = None) -> None:
        return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--broker", choices=["apache", "embedded"], default="apache")
    parser.add_argument("--only", choices=list(SIDES), help="for a profile of one of the two")
    options = parser.parse_args()
    kind = ApacheKafka if options.broker == "apache" else EmbeddedBroker
    sides = {name: side for name, side in SIDES.items() if options.only in (None, name)}
    with tempfile.TemporaryDirectory() as directory, kind(Path(directory)) as broker:
        name = new_topic(broker.bootstrap, PARTITIONS)
        produce(broker.bootstrap, name, PARTITIONS, MESSAGE, options.messages)
        topic = Topic(name)
        as_built = rates(broker, topic, options, sides, tuned=False)
        tuned = rates(broker, topic, options, sides, tuned=True)
        pauses = {name: pause_and_resume(broker, topic, side) for name, side in sides.items()}
    for name, figures in pauses.items():
        print(f"{name:14} " + ", ".join(f"{k} {v:.3f}" for k, v in figures.items()))
    print(
        json.dumps(
            {
                **summary("throughput", as_built),
                **summary("throughput_tuned", tuned),
                **{k: round(v, 4) for k, v in pauses.get("holdfast", {}).items()},
            }
        )
    )


def rates(
    broker: BrokerProcess,
    topic: Topic,
    options: argparse.Namespace,
    sides: Mapping[str, Make],
    tuned: bool,
) -> dict[str, float]:
    """The median rate of each side, in rounds in which they take turns."""
    # As it is built, librdkafka's queue holds sentry-arroyo up: fewer messages say enough.
    messages = options.messages if tuned else options.messages // 4
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for round_number in range(options.rounds):
        for name, side in sides.items():
            rate = throughput(broker.bootstrap, topic, messages, side, tuned)
            measured[name].append(rate)
            kind = "tuned" if tuned else "as built"
            print(f"{kind}, round {round_number + 1}: {name:14} {rate:10,.0f} messages/s")
    return {name: statistics.median(values) for name, values in measured.items()}


def summary(name: str, medians: Mapping[str, float]) -> dict[str, float]:
    figures: dict[str, float] = {
        f"{name}_{side.replace('-', '_')}": round(rate) for side, rate in medians.items()
    }
    if len(medians) == len(SIDES):
        return {name: round(medians["holdfast"] / medians["sentry-arroyo"], 2), **figures}
    return figures


def pause_and_resume(broker: BrokerProcess, topic: Topic, side: Make) -> dict[str, float]:
    make_consumer, make_processor = side
    consumer = make_consumer(configuration(broker.bootstrap, tuned=True))
    valve = Valve(accept=1000)
    processor = make_processor(
        consumer=consumer, topic=topic, processor_factory=Factory(lambda _: valve)
    )
    running = threading.Thread(target=processor.run)
    running.start()
    while len(consumer.paused()) < PARTITIONS:
        time.sleep(0.0005)
    paused_at = time.perf_counter()
    time.sleep(SETTLE_SECONDS)
    start, start_cpu = time.perf_counter(), time.process_time()
    time.sleep(PAUSED_SECONDS)
    cpu = (time.process_time() - start_cpu) / (time.perf_counter() - start)
    valve.opened_at = time.perf_counter()
    valve.open = True
    while not valve.accepted_at:
        time.sleep(0.0005)
    processor.signal_shutdown()
    running.join()
    return {
        "pause_ms": (paused_at - valve.refused_at) * 1000,
        "resume_ms": (valve.accepted_at - valve.opened_at) * 1000,
        "paused_cpu": cpu,
    }


if __name__ == "__main__":
    main()
