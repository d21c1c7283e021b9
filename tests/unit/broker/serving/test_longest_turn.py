"""The longest step of the event loop, as `/metrics` shows it."""

from holdfast.broker.metrics import LongestTurn


def test_longest_turn_of_the_last_one_to_two_minutes_is_shown() -> None:
    now = [0.0]
    turn = LongestTurn(lambda: now[0])
    turn.note(0.5)
    turn.note(0.1)
    assert turn.seconds == 0.5
    now[0] = 61.0
    turn.note(0.2)
    assert turn.seconds == 0.5, "the minute before still counts"
    now[0] = 400.0
    turn.note(0.3)
    assert turn.seconds == 0.3, "a shorter turn counts once the longer ones are old"
