"""A follower that cannot read its commit log says so."""

import logging
import threading

import pytest
from arroyo.types import BrokerValue
from tests.unit.processing.scripted import P0, TOPIC, ScriptedConsumer

from holdfast.processing.synchronized import UNREAD_SECONDS, CommitLogFollower


class CommitLogConsumer(ScriptedConsumer):
    """An empty commit log. Each poll takes a step of the script, then waits for the end."""

    def __init__(self) -> None:
        super().__init__([P0], messages=0)
        self.done, self.end = threading.Event(), threading.Event()

    def poll(self, timeout: float | None = None) -> BrokerValue[int] | None:
        if not self.script:
            self.done.set()
            self.end.wait()
        return super().poll(timeout)


def test_follower_without_the_commit_log_reports_it_until_it_is_assigned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    consumer, clock = CommitLogConsumer(), [0.0]
    reports: list[int] = []

    def wait(seconds: float) -> None:
        clock[0] += seconds

    def look() -> None:
        reports.append(sum("a group.id of its own" in line for line in caplog.messages))

    consumer.script.extend(
        [
            lambda: wait(UNREAD_SECONDS - 1), look,  # not yet
            lambda: wait(1), look, look,  # never assigned: once
            lambda: wait(UNREAD_SECONDS), look,  # and again
            lambda: consumer.assign(P0), lambda: wait(10 * UNREAD_SECONDS), look,
            lambda: consumer.revoke(P0), lambda: wait(UNREAD_SECONDS - 1), look,  # a rebalance
            lambda: wait(1), look,  # another member has it
            lambda: consumer.assign(P0), lambda: wait(10 * UNREAD_SECONDS), look,
        ]
    )  # fmt: skip
    with caplog.at_level(logging.ERROR):
        follower = CommitLogFollower(consumer, TOPIC, {"g"}, now=lambda: clock[0])  # type: ignore[arg-type]
        assert consumer.done.wait(60)
        consumer.end.set()
        follower.close()
    follower.check()
    assert reports == [0, 1, 1, 2, 2, 2, 3, 3]
