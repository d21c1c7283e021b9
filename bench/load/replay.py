"""A replay of a whole raw zone, without a limit of its rate."""

import statistics
import time

import numpy as np

import holdfast
from bench.load.events import Load, WrongOutputError, decode_event, fill, read_partitions
from bench.load.stage import PARTITIONS, Figures, Stage
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Replay
from holdfast.flows.runs import RunState
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings
from holdfast.pipeline.runs.part import RunsPart
from holdfast.pipeline.runs.run_log import RunLog

DEADLINE_S = 600.0


def replay(stage: Stage) -> Figures:
    """Events a second from the moment a run is taken up to its end, planning included."""
    load = Load(300_000 if stage.quick else 2_000_000, keys=100_000, held=0)
    rounds = 1 if stage.quick else 2
    with holdfast.connect(stage.bootstrap) as client:
        flow = client.flow("bench-replay").create(partitions=PARTITIONS).describe()
        fill(stage.bootstrap, flow.names.events, load.cycle, load.count, PARTITIONS)
        _land(stage, flow, load.count)
        log = RunLog(stage.connection)
        part = RunsPart(stage.session, stage.connection, flow, stage.lake, lambda: None, log)
        part.start()
        try:
            rates = []
            for number in range(-1, rounds):  # the first is to warm up
                run = client.runs.ask(flow.name, Replay())
                ended = client.runs.wait(run.id, timeout=DEADLINE_S)
                progress = ended.progress
                if progress is None or ended.state is not RunState.DONE:
                    raise RuntimeError(f"the replay did not end well: {ended}")
                assert progress.ended_at is not None
                rate = 1000 * progress.done / (progress.ended_at - progress.started_at)
                print(f"  replay {number + 1}/{rounds}: {rate:,.0f} events/s", flush=True)
                rates.append(rate)
        finally:
            part.stop()
            log.close()
    _check(stage, flow, load, times=rounds + 2)
    return {"replay_eps": statistics.median(rates[1:])}


def _land(stage: Stage, flow: FlowDefinition, count: int) -> None:
    metrics = Metrics()
    settings = RawZoneSettings(lake=stage.lake, seconds=0.0)
    zone = RawZone(stage.session, stage.connection, flow, settings, metrics)
    landed = metrics.events_landed.labels(flow.name)
    deadline = time.monotonic() + DEADLINE_S
    zone.start()
    try:
        while landed._value.get() < count:
            failure = zone.failure()
            if failure is not None:
                raise failure
            if time.monotonic() > deadline:
                raise TimeoutError(f"{landed._value.get():,.0f} of {count:,} landed")
            time.sleep(0.05)
    finally:
        zone.stop()


def _check(stage: Stage, flow: FlowDefinition, load: Load, times: int) -> None:
    """Each event is there once from its producer, and once from each replay."""
    found = np.concatenate(
        [
            np.fromiter((decode_event(message.value())[0] for message in messages), np.int64)
            for messages in read_partitions(stage.bootstrap, flow.names.events, PARTITIONS)
        ]
    )
    counts = np.bincount(found, minlength=load.count)
    if len(counts) != load.count or (counts != times).any():
        raise WrongOutputError(f"some of {load.count:,} events are not there {times} times")
