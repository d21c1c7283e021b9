"""A replay at a rate, of many more events than the tests send.

`python -m tests.chaos replay --events 1000000 --rate 50000` fills a raw zone, replays it, and looks
at the topic's ends meanwhile. What must hold: the rate is never exceeded (but for what the run is
late by, of which it makes up for two seconds at most), every event is sent exactly once, and the
order of each key is that of the original.
"""

import argparse
import json
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from deltalake import DeltaTable
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker
from tests.clients import wait_until
from tests.integration.runs.lake import KEYS, Lake, running

from holdfast.client.positions import Offsets, Partition
from holdfast.flows.run_specs import Replay
from holdfast.flows.runs import RunState
from holdfast.pipeline.spark.session import create_session

BROKERS = {"apache": ApacheKafka, "embedded": EmbeddedBroker}
PATIENCE_S = 600.0
LATE_S = 2.0
"""The longest delay that a late run catches up."""
TURN_S = 0.25
"""Events are sent in portions that last this long."""
LOOK_S = 0.1


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=50_000.0, help="events a second")
    parser.add_argument("--broker", choices=BROKERS, default="embedded")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="holdfast-replay-") as name:
        folder = Path(name)
        session = create_session(folder / "spark", master="local[2]")
        try:
            with (
                BROKERS[options.broker](folder / "broker") as broker,
                running(broker, session, folder) as flow,
            ):
                faults = _replay(flow, broker, options.events, options.rate)
        finally:
            session.stop()
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


def _replay(flow: Lake, broker: BrokerProcess, events: int, rate: float) -> list[str]:
    flow.send((KEYS[n % len(KEYS)], b'{"n":%d}' % n) for n in range(events))
    wait_until(lambda: _landed(flow) >= events, "all events landed", PATIENCE_S)
    run = flow.ask(Replay(rate=rate))
    ends = list(_ends(flow, run.id))
    ended = flow.finish(run)
    progress = ended.progress
    assert ended.state is RunState.DONE
    assert progress is not None
    assert progress.ended_at is not None
    seconds = (progress.ended_at - progress.started_at) / 1000
    first = next(each for each in ends if each[1] > ends[0][1])
    last = next(each for each in ends if each[1] == ends[-1][1])
    print(
        json.dumps(
            {
                "broker": broker.kind,
                "events": progress.done,
                "limit": rate,
                "seconds": round(seconds, 2),
                "rate": round(progress.done / seconds),
                "rate_while_sending": round((last[1] - first[1]) / max(0.1, last[0] - first[0])),
            }
        )
    )
    return [*_too_quick(ends, rate), *_wrong(flow, run.id, events)]


def _landed(flow: Lake) -> int:
    if not DeltaTable.is_deltatable(flow.location):
        return 0
    actions = DeltaTable(flow.location).get_add_actions(flatten=True)
    return sum(actions["num_records"].to_pylist())


def _ends(flow: Lake, run_id: str) -> Iterator[tuple[float, int]]:
    """How many records the topic has, again and again until the run has ended."""
    places = [Partition(flow.names.events, p) for p in range(flow.definition.partitions)]
    offsets = Offsets(flow.connection, committed_only=False)
    looked_at = 0.0
    while True:
        yield time.monotonic(), sum(offsets.ends(places).values())
        time.sleep(LOOK_S)
        if time.monotonic() - looked_at > 1.0:
            looked_at = time.monotonic()
            if flow.client.runs.get(run_id).state.ended:
                return


def _too_quick(ends: list[tuple[float, int]], rate: float) -> Iterator[str]:
    """Of any time that was looked at, more records than the rate allows. Markers of transactions
    are records as well: one for each portion."""
    seen: deque[tuple[float, int]] = deque()
    for at, end in ends:
        seen.append((at, end))
        while seen[0][0] < at - 5.0:
            seen.popleft()
        began, first = seen[0]
        allowed = rate * (at - began + LATE_S + TURN_S) * 1.05 + 100
        if end - first > allowed:
            yield f"{end - first:,} records in {at - began:.2f} s, at a rate of {rate:,.0f}"


def _wrong(flow: Lake, run_id: str, events: int) -> Iterator[str]:
    """Events that are not there once, or not in the order of their key."""
    last: dict[bytes | None, int] = {}
    sent = 0
    with flow.client.consumer(flow.names.events) as consumer:
        for record in consumer.records(until="end"):
            if record.header("holdfast-replay-run") != run_id.encode():
                continue
            sent += 1
            number = int((record.value or b"")[5:-1])
            expected = last.get(record.key, number % len(KEYS) - len(KEYS)) + len(KEYS)
            if number != expected:
                yield f"{record.key!r} is at {number:,}, and {expected:,} was next"
            last[record.key] = number
    if sent != events:
        yield f"{sent:,} of {events:,} events were sent"
