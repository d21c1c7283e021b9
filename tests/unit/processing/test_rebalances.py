"""Rebalances in the middle of things: nothing lost, nothing out of order, nothing left paused."""

from collections.abc import Callable

from arroyo.types import Partition
from tests.unit.processing.scripted import (
    P0,
    P1,
    P2,
    Loop,
    OwnedScriptedConsumer,
    PromiseBrokenError,
    fails_on_sentry_arroyo,
    holds_on_both,
)


def in_turn(*steps: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for step in steps:
            step()

    return run


def eager_rebalance(loop: Loop, *partitions: Partition) -> None:
    loop.consumer.revoke(*loop.consumer.positions)
    loop.consumer.assign(*partitions)


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[3\]")
def test_eager_rebalance_inside_the_paused_poll_with_a_message_returned(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.script(in_turn(lambda: eager_rebalance(loop, P0), loop.open_up))
    loop.expect_all_submitted(P0)


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[2, 3, 4")
def test_incremental_assign_while_paused_gives_unfinished_messages_to_the_next_strategy(
    loop: Loop,
) -> None:
    loop.start(P0, P1, assigned=[P0])
    loop.factory.finishes_at_once = False
    loop.run_into_backpressure(accept=3)
    loop.factory.strategies[0].in_flight.rotate(-2)  # 2, 0, 1
    unfinished = loop.factory.strategies[0].in_flight.popleft()
    loop.factory.strategies[0].finish()  # commits 0 and 1
    loop.factory.strategies[0].in_flight.append(unfinished)
    loop.factory.finishes_in_join = False
    loop.factory.submitted.clear()
    loop.script(in_turn(lambda: loop.consumer.assign(P1), loop.open_up))
    loop.expect_all_submitted(P0, first=2)
    loop.expect_all_submitted(P1)
    assert loop.factory.created[-1] == {P0: 2, P1: 0}


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[0, 1, 2\]")
def test_incremental_assign_without_back_pressure_gives_unfinished_messages_to_the_next_strategy(
    loop: Loop,
) -> None:
    loop.start(P0, P1, assigned=[P0], messages=3)
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.expect_all_submitted(P0)
    loop.factory.submitted.clear()
    loop.script(lambda: loop.consumer.assign(P1))
    loop.expect_all_submitted(P0, P1)


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[3")
def test_incremental_assign_while_paused_keeps_the_carried_message(loop: Loop) -> None:
    loop.start(P0, P1, assigned=[P0])
    loop.run_into_backpressure(accept=3)
    loop.script(lambda: loop.consumer.assign(P1))
    loop.turn(3)
    loop.open_up()
    loop.expect_all_submitted(P0, P1)
    assert loop.consumer.paused() == []
    assert loop.factory.created[-1] == {P0: 3, P1: 0}, "where the strategy's first messages are"


@fails_on_sentry_arroyo(PromiseBrokenError, r"p1: lost \[\d")
def test_incremental_revoke_of_the_carried_messages_partition_resumes_the_others(
    loop: Loop,
) -> None:
    loop.start(P0, P1)
    loop.run_into_backpressure()
    carried = P0 if loop.consumer.positions[P0] > 0 else P1
    other = P1 if carried == P0 else P0
    assert (carried, other) == (P0, P1)
    loop.script(in_turn(lambda: loop.consumer.revoke(P0), loop.open_up))
    loop.expect_all_submitted(P1)
    assert loop.submitted(P0) == [], "a message of a revoked partition is not processed"
    assert loop.consumer.paused() == []


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[0, ")
def test_incremental_revoke_of_another_partition_keeps_the_carried_message(loop: Loop) -> None:
    loop.start(P0, P1)
    loop.run_into_backpressure()
    assert loop.consumer.positions == {P0: 1, P1: 0}, "P0's first message is carried"
    loop.script(in_turn(lambda: loop.consumer.revoke(P1), loop.open_up))
    loop.expect_all_submitted(P0)
    assert loop.submitted(P1) == []
    assert loop.consumer.paused() == []


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[0, 1, ")
def test_revoke_of_another_partition_with_unfinished_work_seeks_the_retained_one_back(
    loop: Loop,
) -> None:
    loop.start(P0, P1)
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.consumer.logs[P1] = []
    loop.run_into_backpressure(accept=4)
    loop.factory.submitted.clear()
    loop.script(in_turn(lambda: loop.consumer.revoke(P1), loop.open_up))
    loop.expect_submitted(P0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])


@holds_on_both
def test_revoked_while_paused_then_assigned_again_starts_at_the_committed_offset(
    loop: Loop,
) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.script(lambda: loop.consumer.revoke(P0))
    loop.turn(2)
    assert loop.consumer.positions == {}
    loop.open_up()
    loop.script(lambda: loop.consumer.assign(P0))
    loop.expect_all_submitted(P0)
    assert loop.consumer.paused() == []


@fails_on_sentry_arroyo(PromiseBrokenError, "p1: lost")
def test_one_partition_revoked_while_paused_and_assigned_again(loop: Loop) -> None:
    loop.start(P0, P1)
    loop.run_into_backpressure(accept=2)
    loop.script(
        lambda: loop.consumer.revoke(P0), in_turn(lambda: loop.consumer.assign(P0), loop.open_up)
    )
    loop.expect_all_submitted(P0, P1)
    assert loop.consumer.paused() == []


@fails_on_sentry_arroyo(PromiseBrokenError, "p0: lost")
def test_a_pause_by_others_after_a_new_assignment_is_not_ours(loop: Loop) -> None:
    loop.start(P0, P1)
    loop.run_into_backpressure(accept=2)
    loop.script(
        lambda: loop.consumer.revoke(P1),
        in_turn(lambda: loop.consumer.assign(P1), lambda: loop.consumer.pause([P1])),
    )
    loop.until(lambda: not loop.consumer.script, "the script is played")
    loop.open_up()
    loop.expect_all_submitted(P0)
    if P1 not in loop.consumer.paused():
        raise PromiseBrokenError("another owner's pause was ended")


@holds_on_both
def test_carried_message_of_an_eagerly_revoked_partition_is_not_processed(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.script(lambda: loop.consumer.revoke(P0))
    loop.open_up()
    loop.factory.room = 0
    loop.turn()
    loop.open_up()
    loop.turn(5)
    assert loop.submitted(P0) == [0, 1, 2]


@fails_on_sentry_arroyo(PromiseBrokenError, "a closed strategy committed")
def test_late_commit_of_a_closed_strategy_is_ignored(loop: Loop) -> None:
    loop.start(P0, P1, assigned=[P0])
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.until(lambda: len(loop.submitted(P0)) == 10, "all submitted")
    loop.script(lambda: loop.consumer.assign(P1))
    loop.turn(2)
    loop.factory.strategies[0].commit({P0: 10}, force=True)
    if loop.consumer.committed[P0] != 0:
        raise PromiseBrokenError("a closed strategy committed")


@fails_on_sentry_arroyo(PromiseBrokenError, "p0: lost")
def test_newly_assigned_partitions_are_paused_while_a_message_is_carried(loop: Loop) -> None:
    loop.start(P0, P1, P2, consumer=OwnedScriptedConsumer, assigned=[P0])
    loop.run_into_backpressure(accept=3)
    loop.script(lambda: loop.consumer.assign(P1, P2))
    loop.turn(3)
    assert loop.submitted(P1) == loop.submitted(P2) == []
    loop.open_up()
    loop.expect_all_submitted(P0, P1, P2)


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[7, 8, 20\]")
def test_seeking_back_crosses_gaps_between_offsets(loop: Loop) -> None:
    loop.start(P0, P1, assigned=[P0], messages=0)
    loop.consumer.logs[P0] = [3, 7, 8, 20]
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.expect_all_submitted(P0)
    loop.factory.strategies[0].commit({P0: 4})
    loop.factory.submitted.clear()
    loop.script(lambda: loop.consumer.assign(P1))
    loop.expect_submitted(P0, [7, 8, 20])


@holds_on_both
def test_offsets_with_gaps_are_submitted_and_committed(loop: Loop) -> None:
    loop.start(P0)
    loop.consumer.logs[P0] = [3, 7, 8, 20]
    loop.expect_all_submitted(P0)
    loop.turn()
    assert loop.consumer.committed[P0] == 21
