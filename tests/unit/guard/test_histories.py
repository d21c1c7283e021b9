"""Random histories of a guard, with crashes at every point of a step, against a naive model."""

import random

import pytest
from tests.unit.guard.world import SETTINGS, Logs, Model, Worker, commands_for

from holdfast.flows.commands import Release, Resume
from holdfast.gate import Now

KEYS = [b"a", b"b", b"c", b"d", b"e"]
HOUR = 3_600_000


def run_history(seed: int, turns: int = 120) -> None:
    rng = random.Random(seed)
    logs = Logs()
    model = Model(logs)
    now = Now(1_000 * HOUR, 0)
    settings = SETTINGS[seed % len(SETTINGS)]
    worker = Worker(logs, model, "worker-0", now, rng, settings)
    for turn in range(turns):
        elapsed = rng.choice((1, 10, 600, 2_500))
        jump = 0 if rng.random() < 0.95 else rng.choice((-HOUR, HOUR))
        now = Now(now.wall + elapsed + jump, now.monotonic + elapsed)
        for _ in range(rng.choice((0, 1, 4))):
            logs.keys.append(rng.choice(KEYS))
            source = len(logs.keys) - 1
            if rng.random() < 0.25:
                worker.broken.add(source)
            if rng.random() < 0.15:
                worker.slow.add(source)
        if rng.random() < 0.2:
            logs.commands.extend(commands_for(rng, KEYS, now.wall))
        if rng.random() < 0.2:
            worker.broken = {source for source in worker.broken if rng.random() < 0.5}
        if rng.random() < 0.3:
            worker.wake_slow()
        crash = rng.choice(("", "", "", "", "before", "after"))
        worker.turn(now, most=8, crash=crash, jumped=bool(jump))
        if crash:
            broken, slow = worker.broken, worker.slow
            worker = Worker(logs, model, f"worker-{turn + 1}", now, rng, settings)
            worker.broken, worker.slow = broken, slow
    finish(logs, worker, now)


def finish(logs: Logs, worker: Worker, now: Now) -> None:
    """Nothing fails any more and everybody releases: all events are handled or dead."""
    worker.broken.clear()
    worker.slow.clear()
    logs.commands.append(Resume(id="go", actor="ana", at=now.wall, every=True, reason="end"))
    for number, key in enumerate(KEYS):
        logs.commands.append(
            Release(id=f"end{number}", actor="ana", at=now.wall, key=key, every=True, reason="end")
        )
    for _ in range(400):
        worker.wake_slow()
        now = Now(now.wall + 5_000, now.monotonic + 5_000)
        worker.turn(now, most=20)
        if not worker.state.entries and worker.state.position.offset == len(logs.keys):
            break
    assert worker.state.entries == {}
    assert sorted([*logs.handled, *logs.dead]) == list(range(len(logs.keys)))


@pytest.mark.parametrize("chunk", range(10))
def test_no_event_is_lost_or_overtaken_in_random_histories(chunk: int) -> None:
    for seed in range(8 * chunk, 8 * chunk + 8):
        try:
            run_history(seed)
        except BaseException as error:
            raise AssertionError(f"seed {seed}") from error
