"""Which dead letters a redrive means, and what an event had of its own."""

from holdfast.flows.work import Coordinate, Redrive
from holdfast.pipeline.runs.dead_letters import Letter, is_meant
from holdfast.pipeline.runs.execution import RecentRate
from holdfast.pipeline.runs.slices import keeps_from


def letter(*headers: tuple[str, bytes | None], key: bytes | None = b"k") -> Letter:
    return Letter(Coordinate(0, 7), key, b"v", 1, headers)


def test_what_was_added_on_the_way_is_taken_off_and_nothing_else() -> None:
    own = ("trace", b"1"), ("holdfast-source", b"3:4"), ("trace", None)
    added = ("holdfast-source", b"0:9"), ("holdfast-error", b"invalid"), ("holdfast-attempt", b"2")
    found = letter(*own, *added)
    assert found.own_headers() == list(own), "one of another flow's gate stays"
    assert (found.reason, found.attempt) == ("invalid", 2)


def test_a_letter_that_was_never_redriven_is_the_first_attempt() -> None:
    assert letter().attempt == 1
    assert letter(("holdfast-attempt", b"many")).attempt == 1
    assert letter().reason == ""


def test_all_that_was_said_of_a_letter_must_hold() -> None:
    invalid = letter(("holdfast-error", b"invalid"))
    assert is_meant(invalid, Redrive(everything=True))
    assert is_meant(invalid, Redrive(reason="invalid", keys=(b"a", b"k")))
    assert is_meant(invalid, Redrive(letters=(Coordinate(0, 7),)))
    assert not is_meant(invalid, Redrive(reason="overflow"))
    assert not is_meant(invalid, Redrive(reason="invalid", keys=(b"a",)))
    assert not is_meant(invalid, Redrive(letters=(Coordinate(1, 7),)))


def test_a_time_is_kept_if_the_topic_keeps_it_long_enough() -> None:
    assert keeps_from(-1, 10_000) == 0
    assert keeps_from(1_000, 10_000) == 9_500


def test_the_rate_is_that_of_the_last_seconds() -> None:
    rate = RecentRate()
    assert rate.value == 0.0
    for second in range(30):
        rate.add(float(second), min(second, 20) * 100)
    assert rate.value == 10.0, "one second of a hundred in the last ten"
