"""What people do to keys of a guard while it works on them."""

from pathlib import Path

from tests.integration.guard.stage import ON_EMBEDDED, Stage, until

from holdfast.flows.registry import Limits


def test_release_of_a_key_that_waits_for_its_next_try_tries_it_now(
    stage: Stage, tmp_path: Path
) -> None:
    fixed = tmp_path / "fixed"
    n = stage.send("broken", f"until:{fixed}")
    stage.send("broken", count=2)
    stage.start(policy={"attempts": 5, "backoff": "1h..2h"})
    until(lambda: stage.waits("broken"))
    fixed.touch()
    stage.flow.release("broken").wait(60)
    until(stage.is_done)
    stage.check()
    assert [attempt for _, _, m, attempt in stage.calls() if m == n] == [1, 1]


def test_first_event_that_fails_while_it_is_dead_lettered_is_dead_and_the_others_go_on(
    stage: Stage, tmp_path: Path
) -> None:
    fixed, gate = tmp_path / "never", tmp_path / "open"
    bad = stage.send("broken", f"slow-until:{gate}:{fixed}")
    stage.send("broken", count=2)
    stage.start(policy={"attempts": 9, "backoff": "0.1s..0.1s"}, worker={"step_seconds": 0.2})
    until(lambda: len(stage.calls()) == 2, "the second try runs")
    stage.flow.dead_letter("broken", first=True).wait(60)
    gate.touch()
    until(stage.is_done)
    stage.check()
    assert stage.dead() == [bad]


def test_drain_that_fails_in_the_middle_parks_the_key_there(stage: Stage, tmp_path: Path) -> None:
    fixed, later = tmp_path / "fixed", tmp_path / "later"
    stage.send("broken", f"until:{fixed}")
    stage.send("broken", count=5)
    second = stage.send("broken", f"until:{later}")
    stage.send("broken", count=5)
    stage.start(policy={"attempts": 50, "backoff": "0.1s..0.2s"})
    until(lambda: stage.waits("broken"))
    fixed.touch()
    until(lambda: len(stage.out()) == 6 and stage.waits("broken"))
    stage.check(waiting=6)
    assert second not in stage.out()
    later.touch()
    until(stage.is_done)
    stage.check()


@ON_EMBEDDED
def test_limit_of_a_key_sends_what_would_wait_to_the_dead_letters(stage: Stage) -> None:
    stage.client.flow(stage.name).create_guard(
        stage.topic, overflow="dead-letter", limits=Limits(key_events=3)
    )
    stage.send("broken", "fail")
    stage.start(policy={"attempts": 1})
    until(lambda: stage.waits("broken"))
    stage.send("broken", count=2)
    until(lambda: stage.held()["broken"].events == 3)
    stage.send_background(10)
    until(lambda: len(stage.out()) == 10)
    late = stage.send("broken")
    until(lambda: stage.dead() == [late])
    stage.check(waiting=3)
