"""Back pressure: what the loop pauses, what it resumes, and what becomes of the carried message."""

from arroyo.errors import TransportError
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


@fails_on_sentry_arroyo(AssertionError, "consumer unpaused itself")
def test_external_resume_while_paused_is_not_an_error_and_loses_nothing(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.script(lambda: loop.consumer.resume([P0]))
    loop.turn(5)
    assert loop.submitted(P0) == [0, 1, 2]
    loop.open_up()
    loop.expect_all_submitted(P0)


@fails_on_sentry_arroyo(AssertionError, "consumer unpaused itself")
def test_partial_resume_of_two_of_three_partitions_loses_nothing(loop: Loop) -> None:
    loop.start(P0, P1, P2)
    loop.run_into_backpressure(accept=4)
    loop.script(lambda: loop.consumer.resume([P1, P2]))
    loop.turn(5)
    assert {*loop.consumer.paused()} == {P0, P1, P2}, "what was resumed is paused again"
    loop.open_up()
    loop.expect_all_submitted(P0, P1, P2)
    assert loop.consumer.paused() == []


@fails_on_sentry_arroyo(PromiseBrokenError, "another owner's pause was ended")
def test_a_pause_by_another_owner_stays(loop: Loop) -> None:
    loop.start(P0, P1)
    loop.turn()
    loop.consumer.pause([P1])
    before = len(loop.submitted(P1))
    loop.run_into_backpressure()
    loop.open_up()
    loop.expect_all_submitted(P0)
    if P1 not in loop.consumer.paused() or len(loop.submitted(P1)) > before:
        raise PromiseBrokenError("another owner's pause was ended")
    loop.consumer.resume([P1])
    loop.expect_all_submitted(P1)


@fails_on_sentry_arroyo(PromiseBrokenError, "resumed although another still pauses it")
def test_a_partition_paused_by_two_owners_stays_paused_until_both_resume(loop: Loop) -> None:
    loop.start(P0, P1, consumer=OwnedScriptedConsumer)
    loop.run_into_backpressure(accept=2)
    loop.consumer.pause([P1])
    loop.open_up()
    loop.expect_all_submitted(P0)
    if P1 not in loop.consumer.paused():
        raise PromiseBrokenError("resumed although another still pauses it")
    loop.consumer.resume([P1])
    loop.expect_all_submitted(P1)


@fails_on_sentry_arroyo(AssertionError, "consumer unpaused itself")
def test_a_resume_by_the_other_owner_does_not_end_our_pause(loop: Loop) -> None:
    loop.start(P0, P1, consumer=OwnedScriptedConsumer)
    loop.run_into_backpressure(accept=2)
    loop.consumer.pause([P1])
    loop.consumer.resume([P1])
    loop.turn(3)
    assert {*loop.consumer.paused()} == {P0, P1}
    loop.open_up()
    loop.expect_all_submitted(P0, P1)


@fails_on_sentry_arroyo(TransportError, "away")
def test_transport_error_in_the_paused_poll_is_retried(loop: Loop) -> None:
    def fail() -> None:
        raise TransportError("the broker is away")

    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.script(fail, fail)
    loop.turn(4)
    loop.open_up()
    loop.expect_all_submitted(P0)


@holds_on_both
def test_transport_error_in_an_idle_poll_is_retried(loop: Loop) -> None:
    def fail() -> None:
        raise TransportError("the broker is away")

    loop.start(P0)
    loop.script(fail, fail)
    loop.expect_all_submitted(P0)


@holds_on_both
def test_invalid_message_while_paused_releases_the_pause(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.factory.invalid.add((P0, 3))
    loop.open_up()
    loop.expect_submitted(P0, [0, 1, 2, 4, 5, 6, 7, 8, 9])
    assert loop.consumer.paused() == []


@fails_on_sentry_arroyo(PromiseBrokenError, r"p0: lost \[4, 5, 6, 7, 8, 9\]")
def test_carried_message_found_invalid_by_the_strategys_poll_releases_the_pause(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.factory.invalid_in_poll.append((P0, 3))
    loop.open_up()
    loop.expect_submitted(P0, [0, 1, 2, 4, 5, 6, 7, 8, 9])


@holds_on_both
def test_invalid_message_other_than_the_carried_one_keeps_the_carried_one(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure(accept=3)
    loop.factory.invalid_in_poll.append((P0, 1))
    loop.turn(2)
    loop.open_up()
    loop.expect_all_submitted(P0)


@holds_on_both
def test_polling_continues_while_paused(loop: Loop) -> None:
    loop.start(P0)
    loop.run_into_backpressure()
    polls: list[int] = []
    loop.script(*[lambda: polls.append(1)] * 20)
    loop.turn(20)
    assert len(polls) == 20
