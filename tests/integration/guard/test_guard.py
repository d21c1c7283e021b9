"""The guard's promises, with workers that are killed, stopped and raced, on both brokers."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.integration.guard.stage import IN_PLACE, ON_EMBEDDED, Stage, until

from holdfast.flows.status import KeyState


def test_failed_event_is_tried_again_and_only_its_key_waits(stage: Stage) -> None:
    stage.send("broken", "fail-twice")
    stage.send("broken", count=3)
    stage.send_background(200)
    stage.start()
    until(stage.is_done, "all handled")
    stage.check()
    attempts = [attempt for _, key, n, attempt in stage.calls() if (key, n) == ("broken", 0)]
    assert attempts == [1, 2, 3]


@ON_EMBEDDED
def test_after_the_last_attempt_a_person_decides(stage: Stage) -> None:
    bad = stage.send("broken", "fail")
    stage.send("broken", count=2)
    stage.send("review", "hold")
    stage.send_background(50)
    stage.start()
    until(lambda: stage.waits("broken") and stage.held()["broken"].entries[0][1].attempts == 3)
    until(lambda: stage.waits("review") and len(stage.out()) == 50)
    stage.check(waiting=4)
    entry = stage.held()["broken"].entries[0][1]
    assert entry.expires_at is None
    assert f"ValueError: no to {bad}" in entry.error
    stage.flow.dead_letter("broken", first=True).wait(30)
    until(lambda: "broken" not in stage.held())
    stage.flow.dead_letter("review").wait(30)
    until(stage.is_done)
    stage.check()
    assert bad in stage.dead()


@ON_EMBEDDED
def test_release_means_try_again_now_from_the_first_attempt(stage: Stage, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed"
    n = stage.send("broken", f"until:{fixed}")
    stage.start(policy={"attempts": 2})
    until(lambda: stage.waits("broken") and stage.held()["broken"].entries[0][1].attempts == 2)
    fixed.touch()
    stage.flow.release("broken").wait(30)
    until(stage.is_done)
    stage.check()
    assert [attempt for *_, m, attempt in stage.calls() if m == n] == [1, 2, 1]


def test_persons_hold_stands_beside_the_guards(stage: Stage, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed"
    stage.send("broken", f"until:{fixed}")
    stage.start(policy={"attempts": 50, "backoff": "0.2s..0.4s"})
    until(lambda: stage.waits("broken"))
    stage.flow.hold("broken", actor="ana").wait(30)
    until(lambda: stage.waits("broken", "ana") and not stage.waits("broken"))
    tries = len(stage.calls())
    fixed.touch()
    stage.send_background(20)
    until(lambda: len(stage.out()) == 20)
    assert len(stage.calls()) == tries + 20, "the guard tries nothing while a person holds"
    stage.flow.release("broken", actor="ana").wait(30)
    until(stage.is_done)
    stage.check()


@ON_EMBEDDED
def test_skip_and_dead_letter_policy_bury_the_event_and_the_key_goes_on(stage: Stage) -> None:
    skipped = stage.send("a", "skip")
    stage.send("a", count=2)
    failed = stage.send("b", "fail")
    stage.send("b", count=2)
    stage.start(policy={"then": "dead-letter", "attempts": 2})
    until(stage.is_done)
    stage.check()
    assert sorted(stage.dead()) == [skipped, failed]


@ON_EMBEDDED
def test_stop_ends_the_worker_and_the_next_one_tries_the_event_first(
    stage: Stage, tmp_path: Path
) -> None:
    fixed = tmp_path / "fixed"
    stage.send("broken", f"until:{fixed}")
    stage.send("broken")
    worker = stage.start(policy={"then": "stop", "attempts": 1})
    assert worker.wait(60) != 0
    fixed.touch()
    stage.start(policy={"then": "stop", "attempts": 1})
    until(stage.is_done)
    stage.check()


def test_slow_event_is_spilled_and_delays_no_other_key(stage: Stage, tmp_path: Path) -> None:
    gate = tmp_path / "open"
    stage.send("slow", f"wait:{gate}")
    stage.send("slow", count=3)
    stage.send_background(100)
    stage.start(policy={"timeout": "1s"})
    until(lambda: len(stage.out()) == 100)
    until(lambda: stage.held()["slow"].entries[0][1].error)
    entry = stage.held()["slow"].entries[0][1]
    assert entry.state is KeyState.DRAINING
    assert entry.events == 4
    assert "app.py" in entry.error, "the stack of the stuck handler"
    gate.touch()
    until(stage.is_done)
    stage.check()
    assert len([call for call in stage.calls() if call[1] == "slow"]) == 4


def test_person_dead_letters_an_event_while_it_is_tried(stage: Stage, tmp_path: Path) -> None:
    gate = tmp_path / "open"
    first = stage.send("slow", f"wait:{gate}")
    rest = stage.send("slow")
    stage.start(worker={"step_seconds": 0.2})
    until(lambda: "slow" in stage.held())
    stage.flow.dead_letter("slow").wait(30)
    gate.touch()
    until(stage.is_done)
    stage.check()
    assert stage.out() == [first], "the handler has succeeded, so the event is handled"
    assert stage.dead() == [rest]


@ON_EMBEDDED
def test_async_handlers_run_side_by_side_and_time_out(stage: Stage) -> None:
    late = stage.send("late", "sleep:30")
    for i in range(40):
        stage.send(f"k{i}", "sleep:0.5")
    stage.start(use_async=True, policy={"timeout": "2s", "attempts": 1})
    until(lambda: len(stage.out()) == 40)
    until(lambda: stage.waits("late"))
    stage.check(waiting=1)
    assert "more than 2 s" in stage.held()["late"].entries[0][1].error
    assert late not in stage.out()


def test_send_that_is_too_large_or_to_a_missing_topic_fails_its_event_alone(stage: Stage) -> None:
    stage.send("large", "too-large")
    stage.send("missing", "missing-topic")
    stage.send_background(50)
    stage.start(policy={"attempts": 1})
    until(lambda: len(stage.out()) == 50 and stage.waits("large") and stage.waits("missing"))
    stage.check(waiting=2)
    assert "too large" in stage.held()["large"].entries[0][1].error


POINTS = {
    "taken-over": 1,
    "before-handlers": 2,
    "after-handlers": 1,
    "before-begin": 4,
    "mid-produce": 4,
    "before-offsets": 4,
    "before-commit": 4,
    "after-commit": 4,
}
"""Of a step, and at which of its steps the worker is killed there."""


@pytest.mark.parametrize("point", POINTS)
def test_worker_killed_at_any_point_loses_nothing(stage: Stage, tmp_path: Path, point: str) -> None:
    stage.send("broken", "fail-twice", count=2)
    stage.send("broken", count=3)
    stage.send("buried", "skip")
    stage.send_background(200)
    reached = tmp_path / "reached"
    worker = stage.start(fault=f"{point}@{POINTS[point]}={reached}", kafka=IN_PLACE)
    until(lambda: reached.exists() and reached.read_text(), point)
    worker.kill()
    worker.wait()
    stage.start(kafka=IN_PLACE)
    until(stage.is_done)
    stage.check()


def worker_ends_or_parks(stage: Stage, worker: subprocess.Popen[bytes]) -> bool:
    """Returns True if the worker has parked the key, and lives."""
    until(lambda: worker.poll() is not None or stage.waits("poison"))
    return worker.poll() is None


def test_slow_event_that_ends_its_process_has_failed_once(stage: Stage) -> None:
    stage.send("poison", "exit-later")
    stage.send_background(30)
    settings: dict[str, Any] = {
        "policy": {"attempts": 2},
        "worker": {"step_seconds": 0.2},
        "kafka": IN_PLACE,
    }
    stage.start(**settings).wait(60)
    until(lambda: len(stage.out()) == 30)
    stage.start(**settings).wait(60)
    stage.start(**settings)
    until(lambda: stage.waits("poison") and stage.held()["poison"].entries[0][1].attempts == 2)
    stage.check(waiting=1)


@pytest.mark.parametrize(
    ("kafka", "end"), [("embedded", "exit"), ("apache", "crash")], indirect=["kafka"]
)
def test_event_that_ends_its_process_is_parked_after_some_crashes(stage: Stage, end: str) -> None:
    bad = stage.send("poison", end)
    stage.send("poison", count=2)
    stage.send_background(30)
    for _ in range(10):
        worker = stage.start(kafka=IN_PLACE)
        if worker_ends_or_parks(stage, worker):
            break
    until(lambda: len(stage.out()) == 30)
    stage.check(waiting=3)
    assert "process has ended" in stage.held()["poison"].entries[0][1].error
    assert [n for _, key, n, _ in stage.calls() if key == "poison"] == [bad] * 5
    assert not [key for key in stage.held() if key != "poison"]


def test_zombie_commits_nothing_after_its_partitions_were_given_away(
    stage: Stage, tmp_path: Path
) -> None:
    stage.send_background(50)
    stage.send("broken", "fail-twice")
    reached = tmp_path / "reached"
    zombie = stage.start(fault=f"before-commit@4={reached}")
    until(lambda: reached.exists() and reached.read_text())
    zombie.send_signal(signal.SIGSTOP)
    stage.start()
    until(stage.is_done)
    stage.check()
    reached.write_text("")
    zombie.send_signal(signal.SIGCONT)
    stage.send_background(100)
    until(stage.is_done)
    stage.check()


@pytest.mark.parametrize("strategy", ["cooperative-sticky", "range"])
def test_rebalances_under_load_keep_order_and_lose_nothing(stage: Stage, strategy: str) -> None:
    kafka = {"partition.assignment.strategy": strategy}
    stage.send("broken", "fail-twice", count=2)
    stage.send("slow", "sleep:2", count=2)
    first = stage.start(kafka=kafka)
    stage.send_background(300)
    until(lambda: len(stage.out()) > 50)
    second = stage.start(kafka=kafka)
    for _ in range(10):
        stage.send_background(60)
    until(lambda: {pid for pid, *_ in stage.calls()} >= {first.pid, second.pid} or stage.is_done())
    first.terminate()
    stage.send_background(200)
    until(stage.is_done)
    stage.check()
    assert first.wait(30) == 0


@ON_EMBEDDED
def test_outage_opens_the_circuit_and_parks_few_keys(stage: Stage, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed"
    for i in range(300):
        stage.send(f"key-{i}", f"until:{fixed}")
    circuit = {"keys": 20, "first_pause_ms": 200, "longest_pause_ms": 500}
    stage.start(circuit=circuit, policy={"at_once": 4, "backoff": "0.2s..0.5s"})
    until(lambda: len(stage.held()) >= 20)
    until(lambda: len(stage.calls()) >= 30)
    assert len(stage.held()) < 100
    fixed.touch()
    until(stage.is_done)
    stage.check()
    outcomes = [
        record.json()["outcome"]
        for record in stage.client.consumer(f"{stage.name}.journal").records(until="end")
    ]
    assert {"circuit-opened", "circuit-closed"} <= set(outcomes)
