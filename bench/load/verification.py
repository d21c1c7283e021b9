"""`holdfast verify` over millions of events, as a user runs it: a process of its own."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from deltalake import DeltaTable

import holdfast
from bench.load.child import Child
from bench.load.events import Load, bulk_producer, fill, flush
from bench.load.stage import PARTITIONS, Figures, Stage
from bench.load.systems import Holdfast
from holdfast.flows.commands import Release, encode_command
from holdfast.flows.names import FlowNames

DEADLINE_S = 600.0


def verify(stage: Stage) -> Figures:
    """Seconds for three million events, start of Spark included; and how they grow."""
    count = 300_000 if stage.quick else 3_000_000
    system = Holdfast(stage.bootstrap, stage.folder / "verify", PARTITIONS)
    flows = {1: "bench-verify", 2: "bench-verify-twice"}
    for factor, flow in flows.items():
        prepare(stage, system, flow, Load(factor * count, keys=100_000, held=1_000))
    seconds: dict[int, list[tuple[float, float]]] = {factor: [] for factor in flows}
    rounds = 1 if stage.quick else 3
    for number in range(rounds):
        for factor, flow in flows.items():
            wall, job = run(stage, flow, factor * count)
            seconds[factor].append((wall, job))
            print(f"  verify {number + 1}/{rounds}: {factor * count:,} events: {wall:.1f} s, "
                  f"of which the job {job:.1f} s", flush=True)  # fmt: skip
    for flow in flows.values():
        system.drop(flow)
    jobs = {factor: statistics.median(job for _, job in each) for factor, each in seconds.items()}
    return {
        "verify_s": statistics.median(wall for wall, _ in seconds[1]),
        "verify_growth": jobs[2] / jobs[1],
    }


def prepare(stage: Stage, system: Holdfast, flow: str, load: Load) -> None:
    """A flow whose gate has taken and whose raw zone has landed all events; half of the held keys
    are released."""
    system.create(flow)
    system.hold(flow, load.held_keys)
    fill(stage.bootstrap, system.events(flow), load.cycle, load.count, PARTITIONS)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
    command = [
        sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", stage.bootstrap,
        "--data-dir", str(stage.folder / f"{flow}-data"), "--lake", stage.lake,
    ]  # fmt: skip
    log = stage.folder / f"{flow}.log"
    with Child(command, log, folder=stage.folder, environment=environment) as pipeline:
        system.wait_until_taken(flow, load.count, pipeline, DEADLINE_S)
        release(stage.bootstrap, flow, load.held_keys[::2])
        _wait_until_landed(Path(stage.lake) / "raw" / flow, load.count, pipeline)
        _wait_until_released(stage, flow, len(load.held_keys) // 2, pipeline)


def release(bootstrap: str, flow: str, keys: Iterable[bytes]) -> None:
    producer = bulk_producer(bootstrap)
    at = round(time.time() * 1000)
    for key in keys:
        command = Release(id=f"release-{key.decode()}", actor="bench", at=at, key=key)
        name, value = encode_command(command)
        producer.produce(FlowNames(flow).control, value, name)
    flush(producer)


def run(stage: Stage, flow: str, count: int) -> tuple[float, float]:
    """Verify all of it. -> seconds of the process, and of the job in it"""
    command = [
        sys.executable, "-m", "holdfast.cli", "verify", flow, "--full", "-o", "json",
        "--bootstrap", stage.bootstrap, "--lake", stage.lake,
    ]  # fmt: skip
    began = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if ended.returncode:
        raise RuntimeError(f"verify ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
    found = json.loads(ended.stdout)
    if found["events"] != count:
        raise RuntimeError(f"{found['events']:,} of {count:,} events were verified")
    return seconds, found["seconds"]


def _wait_until_landed(table: Path, count: int, pipeline: Child) -> None:
    def landed() -> int:
        if not DeltaTable.is_deltatable(str(table)):
            return 0
        return sum(DeltaTable(str(table)).get_add_actions(flatten=True)["num_records"].to_pylist())

    _wait(lambda: landed() >= count, "all events landed", pipeline)


def _wait_until_released(stage: Stage, flow: str, left: int, pipeline: Child) -> None:
    with holdfast.connect(stage.bootstrap) as client:
        _wait(lambda: len(client.flow(flow).held()) == left, "half of the keys active", pipeline)


def _wait(condition: Callable[[], bool], what: str, pipeline: Child) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        pipeline.check()
        if time.monotonic() > end:
            raise TimeoutError(f"not within {DEADLINE_S:.0f} s: {what}")
        time.sleep(0.5)
