"""The end of a loop: by a signal, or by an error."""

import threading

import pytest
from arroyo.commit import ONCE_PER_SECOND
from arroyo.errors import ConsumerError
from tests.unit.processing.scripted import P0, P1, Loop, holds_on_both

from holdfast.processing.stall import watch_for_stall


@holds_on_both
def test_shutdown_finishes_and_commits_accepted_messages(loop: Loop) -> None:
    loop.start(P0, commit_policy=ONCE_PER_SECOND)
    loop.factory.finishes_at_once = False
    loop.until(lambda: len(loop.submitted(P0)) == 10, "all submitted")
    loop.processor.signal_shutdown()
    loop.processor.run()
    assert loop.consumer.committed[P0] == 10
    assert loop.consumer.closed
    assert loop.factory.shut_down
    assert len(loop.factory.strategies) == 1, "no strategy is made while shutting down"


@holds_on_both
def test_shutdown_with_a_carried_message_leaves_it_to_the_next_owner(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.processor.signal_shutdown()
    loop.processor.run()
    assert loop.submitted(P0) == [0, 1, 2]
    assert loop.consumer.committed[P0] == 3
    assert loop.consumer.closed


@holds_on_both
def test_unfinished_work_is_not_committed_at_shutdown(loop: Loop) -> None:
    loop.start(P0)
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.until(lambda: len(loop.submitted(P0)) == 10, "all submitted")
    loop.processor.signal_shutdown()
    loop.processor.run()
    assert loop.consumer.committed[P0] == 0


@holds_on_both
def test_an_error_terminates_the_strategy_and_closes_the_consumer(loop: Loop) -> None:
    def fail() -> None:
        raise ConsumerError("unrecoverable")

    loop.start(P0, P1)
    loop.script(lambda: None, fail)
    with pytest.raises(ConsumerError, match="unrecoverable"):
        loop.processor.run()
    (strategy,) = loop.factory.strategies
    assert strategy.terminated
    assert not strategy.joined
    assert loop.consumer.closed
    assert loop.factory.shut_down


@holds_on_both
def test_an_error_raised_by_the_factory_in_a_rebalance_ends_the_loop(loop: Loop) -> None:
    def fail(*_: object) -> None:
        raise ValueError("cannot make one")

    loop.start(P0)
    loop.factory.create_with_partitions = fail  # type: ignore[assignment]
    with pytest.raises(ValueError, match="cannot make one"):
        loop.processor.run()
    assert loop.consumer.closed


@holds_on_both
def test_a_message_without_an_assignment_is_an_error(loop: Loop) -> None:
    loop.start(P0)
    loop.consumer.script.clear()
    loop.consumer.positions[P0] = 0
    with pytest.raises(RuntimeError, match=r"without active|no partition is assigned"):
        loop.turn()


def test_a_stuck_turn_is_reported_with_all_stacks(caplog: pytest.LogCaptureFixture) -> None:
    watch_for_stall(5, last_turn_ago=lambda: 6.0, ended=lambda: False)
    for thread in threading.enumerate():
        if thread.name == "stuck-detector":
            thread.join(10)
    assert "stuck for more than 5 seconds" in caplog.text
    assert "test_a_stuck_turn" in caplog.text
