"""Calls under a deadline of our own."""

from threading import Event

import pytest

from holdfast.kafka.transactions import CallHangsError, _Calls


class Hanging:
    """Stands for a producer in a call that never returns, which no real one can be made to do."""

    def __init__(self) -> None:
        self.let_go = Event()
        self.returned = Event()

    def hang(self) -> None:
        self.let_go.wait(60)
        self.returned.set()

    def refuse(self) -> None:
        raise ValueError("refused")


def test_a_call_that_does_not_return_is_abandoned() -> None:
    producer = Hanging()
    calls = _Calls(producer, "test")  # type: ignore[arg-type]
    with pytest.raises(CallHangsError, match="hang has not returned"):
        calls.call("hang", (), -1.99)
    calls.abandon()
    producer.let_go.set()
    assert producer.returned.wait(30)


def test_the_error_of_a_call_is_raised_to_the_caller() -> None:
    calls = _Calls(Hanging(), "test")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="refused"):
        calls.call("refuse", (), 30.0)
    calls.abandon()
