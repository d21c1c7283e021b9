"""The cost of Holdfast at rest and with many small flows, and the time of an audit and a start.

    python -m bench.rest                    # all of it, about an hour, on an idle machine
    python -m bench.rest --quick            # shorter pauses and fewer flows: to see that it works
    python -m bench.rest --part idle        # one part (may be given more than once)

The last line printed is one line of JSON. `*_cores` are processors that all processes of
`holdfast up` take on average, `small_vs_streams` is the processor time of the pipeline over that of
Kafka Streams doing the same, and `*_s` are seconds.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from deltalake import DeltaTable

import holdfast
from bench.load.at_rest import Up, by_process, cores, create_flows, even_traffic
from bench.load.child import Child
from bench.load.events import decode_event, fill
from bench.load.make_run import up_seconds
from bench.load.memory import resident_mb
from bench.load.paced import live_consumer
from bench.load.systems import Holdfast, Streams, System
from bench.peers.kafka import ProductionKafka
from holdfast.flows.names import FlowNames

PARTITIONS = 3
SMALL = ("small-1", "small-2", "small-3")
DEADLINE_S = 300.0

Figures = dict[str, float]


class Rest:
    """The parts, each with processes of its own."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self._folder = folder
        self._settle_s = 20.0 if quick else 120.0
        self._window_s = 20.0 if quick else 60.0
        self._ten_minutes_s = 60.0 if quick else 600.0
        self._many = 20 if quick else 100
        self._most = 50 if quick else 500
        self._holds = 20 if quick else 100

    def idle(self) -> Figures:
        """Three flows without events: processors, and how soon a hold is effective."""
        with Up(self._folder / "idle") as up:
            up.wait_until_up()
            create_flows(up.bootstrap, SMALL, PARTITIONS)
            up.wait_for_gates(len(SMALL))
            time.sleep(self._settle_s)
            used = self._cores(up, "idle")
            return {"idle_cores": used, "hold_effective_p99_s": self._hold(up, SMALL[0])}

    def demo(self) -> Figures:
        """The demo flows and their traffic, the raw zone on; `verify` beside it."""
        with Up(self._folder / "demo", "--demo") as up:
            up.wait_until_up()
            began = time.monotonic()
            time.sleep(self._settle_s)
            found = {"demo_cores": self._cores(up, "demo"), **self._verify(up)}
            time.sleep(max(0.0, began + self._ten_minutes_s - time.monotonic()))
            return {**found, "rss_mb": resident_mb(up.pid)}

    def up(self) -> Figures:
        return {"up_s": up_seconds(self._folder / "up")}

    def flows(self) -> Figures:
        """A hundred flows without events, and with ten events a second each."""
        names = [f"flow-{number:03}" for number in range(self._many)]
        with Up(self._folder / "flows") as up:
            up.wait_until_up()
            create_flows(up.bootstrap, names, PARTITIONS)
            up.wait_for_gates(len(names))
            time.sleep(self._settle_s)
            count = self._many
            found = {f"flows_{count}_idle_cores": self._cores(up, f"{count} flows, idle")}
            topics = [FlowNames(name).events for name in names]
            with even_traffic(up.bootstrap, topics, 10):
                time.sleep(self._settle_s)
                found[f"flows_{count}_cores"] = self._cores(up, f"{count} flows, 10 events/s each")
                found[f"flows_{count}_p50_ms"] = self._p50_ms(up, names[0])
                found[f"flows_{count}_hold_effective_p99_s"] = self._hold(up, names[1])
            return found

    def start(self) -> Figures:
        """From the start of everything to 500 running gates. The flows are there before."""
        names = [f"flow-{number:03}" for number in range(self._most)]
        folder = self._folder / "start"
        with Up(folder) as up:
            up.wait_until_up()
            create_flows(up.bootstrap, names, PARTITIONS)
            up.wait_for_gates(len(names))
        began = time.monotonic()
        with Up(folder) as up:
            up.wait_for_gates(len(names))
            return {f"flows_{self._most}_start_s": time.monotonic() - began}

    def small(self) -> Figures:
        """Three flows at 45 events a second in all, beside Kafka Streams on the same Kafka."""
        with ProductionKafka(self._folder / "kafka") as kafka:
            place = kafka.bootstrap, self._folder, PARTITIONS
            used = {
                system.name: self._of_system(system)
                for system in (Streams(*place), Holdfast(*place))
            }
        print(f"  small: {used}", flush=True)
        return {"small_vs_streams": used["holdfast"] / used["streams"]}

    def _of_system(self, system: System) -> float:
        flows = [f"{system.name}-{name}" for name in SMALL]
        for flow in flows:
            system.create(flow)
            system.hold(flow, [b"key-1", b"key-2"])
        with ExitStack() as stack:
            processes: list[Child] = []
            if isinstance(system, Holdfast):
                processes = [stack.enter_context(system.running(flows[0]))]
            else:
                processes = [stack.enter_context(system.running(flow)) for flow in flows]
            topics = [system.events(flow) for flow in flows]
            stack.enter_context(even_traffic(system.bootstrap, topics, 15))
            time.sleep(self._settle_s)
            began = [cores(process.pid, self._window_s) for process in processes[1:]]
            found = cores(processes[0].pid, self._window_s) + sum(began)
        for flow in flows:
            system.drop(flow)
        return found

    def _cores(self, up: Up, what: str) -> float:
        each = by_process(up.pid, self._window_s)
        shown = "  ".join(f"{name} {used:.3f}" for name, used in each.items())
        print(f"  {what}: {shown}", flush=True)
        return sum(each.values())

    def _hold(self, up: Up, flow: str) -> float:
        """Seconds from a hold's acknowledgement until it is effective, 99th percentile."""
        seconds = []
        with holdfast.connect(up.bootstrap) as client:
            for number in range(self._holds):
                receipt = client.flow(flow).hold(f"held-{number}", reason="bench")
                acknowledged = time.monotonic()
                receipt.wait(60)
                seconds.append(time.monotonic() - acknowledged)
                time.sleep(0.05)
        p50, p99 = np.percentile(seconds, [50, 99])
        print(f"  hold to effective: p50 {p50:.3f} s  p99 {p99:.3f} s", flush=True)
        return float(p99)

    def _p50_ms(self, up: Up, flow: str) -> float:
        found: list[float] = []
        end = time.monotonic() + self._window_s
        processed = FlowNames(flow).processed
        with live_consumer(up.bootstrap, processed, PARTITIONS) as consumer:
            while time.monotonic() < end:
                message = consumer.poll(0.1)
                if message is not None and message.error() is None:
                    sent = decode_event(message.value())[1]
                    found.append((time.monotonic_ns() - sent) / 1e6)
        return float(np.percentile(found, 50))

    def _verify(self, up: Up) -> Figures:
        flow, count = "audited", 2_000
        create_flows(up.bootstrap, [flow], PARTITIONS)
        keys = [b"key-%d" % number for number in range(100)]
        fill(up.bootstrap, FlowNames(flow).events, keys, count, PARTITIONS)
        self._wait_until_landed(flow, count)
        return {name: _verify_seconds(up, flow) for name in ("verify_first_s", "verify_again_s")}

    def _wait_until_landed(self, flow: str, count: int) -> None:
        table, end = str(self._folder / "demo" / "data" / "lake" / "raw" / flow), time.monotonic()
        while _rows(table) < count:
            if time.monotonic() > end + DEADLINE_S:
                raise TimeoutError(f"{_rows(table)} of {count} events have landed")
            time.sleep(0.5)


def _rows(table: str) -> int:
    if not DeltaTable.is_deltatable(table):
        return 0
    return sum(DeltaTable(table).get_add_actions(flatten=True)["num_records"].to_pylist())


def _verify_seconds(up: Up, flow: str) -> float:
    command = [sys.executable, "-m", "holdfast.cli", "verify", flow, "--run"]
    began = time.monotonic()
    ended = subprocess.run(
        [*command, "--bootstrap", up.bootstrap], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise RuntimeError(f"verify ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="shorter pauses and fewer flows")
    parts = ["idle", "demo", "up", "small", "flows", "start"]
    parser.add_argument("--part", action="append", choices=parts, help="all unless given")
    options = parser.parse_args()
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        rest = Rest(Path(name), options.quick)
        for part in options.part or parts:
            measure: Callable[[], Figures] = getattr(rest, part)
            figures = measure()
            print(f"  {part}: {figures}", flush=True)
            found |= figures
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))


if __name__ == "__main__":
    main()
