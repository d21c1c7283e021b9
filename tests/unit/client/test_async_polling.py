"""The thread that serves delivery reports for asyncio."""

from typing import cast

from tests.clients import wait_until

from holdfast.client.async_producer import AsyncProducer
from holdfast.client.producer import Producer


class FailingOnce:
    """A producer whose first poll raises, as a report that cannot be handled does."""

    def __init__(self) -> None:
        self.polls = 0

    def poll(self, timeout: float) -> None:
        self.polls += 1
        if self.polls == 1:
            raise RuntimeError("planted")


def test_delivery_reports_are_served_after_one_that_could_not_be_handled() -> None:
    producer = FailingOnce()
    made = AsyncProducer(lambda: cast("Producer", producer))
    made._producer = cast("Producer", producer)
    made._poller.start()
    wait_until(lambda: producer.polls > 2, "polls after the error")
    made._closed.set()
    made._poller.join()
