"""Workers that come, go, and differ."""

from typing import Any

import pytest
from tests.integration.guard.stage import IN_PLACE, ON_EMBEDDED, Stage, until


@pytest.mark.parametrize("stage", [4], indirect=True)
@pytest.mark.parametrize("strategy", ["cooperative-sticky", "range"])
def test_from_one_worker_to_four_and_back_under_load(stage: Stage, strategy: str) -> None:
    kafka = {"partition.assignment.strategy": strategy}
    stage.send("broken", "fail-twice", count=2)
    stage.send("slow", "sleep:2", count=2)
    workers = [stage.start(kafka=kafka)]
    stage.send_background(100)
    until(lambda: len(stage.out()) > 20)
    workers += [stage.start(kafka=kafka) for _ in range(3)]
    handling = {workers[0].pid}

    def all_work() -> bool:
        stage.send_background(20, keys=40)
        handling.update(pid for pid, *_ in stage.calls())
        return len(handling) == 4

    until(all_work, "each of the four handles events")
    for worker in workers[:-1]:
        worker.terminate()
        stage.send_background(60)
    until(stage.is_done)
    stage.check()
    assert [worker.wait(30) for worker in workers[:-1]] == [0, 0, 0]
    assert workers[-1].poll() is None


def test_step_whose_answer_is_lost_is_not_repeated(stage: Stage) -> None:
    stage.send("broken", "fail-twice", count=2)
    stage.send_background(100)
    stage.start(lost_answers=[3, 4, 5])  # after those of the take-overs
    until(stage.is_done)
    stage.check()
    assert stage.worker_log().count("lost an answer") == 3
    assert stage.worker_log().count("Took over partitions") == 1, "it goes on as the owner"
    calls = [(n, attempt) for _, _, n, attempt in stage.calls()]
    assert len(calls) == len(set(calls)), "a handler ran again"


def test_attempts_are_counted_over_crashes_and_rebalances(stage: Stage) -> None:
    n = stage.send("broken", "fail")
    settings: dict[str, Any] = {"policy": {"attempts": 4, "backoff": "2s..2s"}, "kafka": IN_PLACE}

    def attempts() -> int:
        held = stage.held()
        return held["broken"].entries[0][1].attempts if "broken" in held else 0

    first = stage.start(**settings)
    until(lambda: attempts() >= 2)
    first.kill()
    first.wait()
    second = stage.start(**settings)
    until(lambda: attempts() >= 3)
    second.terminate()
    assert second.wait(60) == 0
    stage.start(**settings)
    until(lambda: attempts() == 4 and stage.held()["broken"].entries[0][1].expires_at is None)
    made = [attempt for _, _, m, attempt in stage.calls() if m == n]
    # An attempt whose step was not committed is made again.
    assert made == sorted(made)
    assert set(made) == {1, 2, 3, 4}
    assert made.count(1) == 1
    stage.check(waiting=1)


def test_two_versions_of_the_handler_share_the_work_during_a_deployment(stage: Stage) -> None:
    policy = {"attempts": 100, "backoff": "0.1s..0.3s"}
    old = stage.start(version=1, policy=policy)
    for i in range(6):
        stage.send(f"new-{i}", "needs-version:2")
        stage.send(f"new-{i}", count=2)
    stage.send_background(50)
    until(lambda: len(stage.out()) == 50 and len(stage.held()) == 6)
    stage.start(version=2, policy=policy)
    until(lambda: len(stage.held()) < 6, "the new version has a partition")
    stage.send_background(50)
    old.terminate()
    until(stage.is_done)
    stage.check()


@ON_EMBEDDED
def test_every_event_is_poison_from_the_first_on(stage: Stage) -> None:
    for i in range(40):
        stage.send(f"key-{i}", "fail", count=2)
    stage.start(policy={"attempts": 1})
    until(lambda: len(stage.held()) == 40 and stage.waiting() == 80)
    stage.check(waiting=80)
    assert len(stage.calls()) == 40, "the second event of a key is not tried before the first"
    for i in range(40):
        stage.flow.dead_letter(f"key-{i}")
    until(stage.is_done)
    stage.check()
