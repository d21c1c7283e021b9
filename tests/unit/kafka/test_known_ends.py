"""The ends of a topic, as a listener of the log watch knows them."""

from holdfast.kafka.watch import KnownEnds


def test_known_ends_never_go_back_until_they_begin_again() -> None:
    ends = KnownEnds()
    ends.begin({0: 5})
    ends.advance({0: 9})
    ends.advance({0: 7, 1: 3})
    assert ends.current() == {0: 9, 1: 3}
    ends.begin({0: 2})
    assert ends.current() == {0: 2}


def test_current_ends_are_a_copy() -> None:
    ends = KnownEnds()
    ends.begin({0: 5})
    ends.current()[0] = 7
    assert ends.current() == {0: 5}
