"""Commits the offsets that the strategies have finished, as the commit policy allows."""

import logging
import time
from collections.abc import Mapping
from typing import Generic

from arroyo.backends.abstract import Consumer
from arroyo.commit import CommitPolicy
from arroyo.types import Commit, Partition, TStrategyPayload

from holdfast.processing.dead_letters import DeadLetters

logger = logging.getLogger(__name__)


class Commits(Generic[TStrategyPayload]):
    """Takes the commits of one strategy at a time, and commits them as the policy allows.

    A closed strategy can no longer commit: the next one gets its unfinished messages again, and a
    late commit would skip them.
    """

    def __init__(
        self,
        consumer: Consumer[TStrategyPayload],
        policy: CommitPolicy,
        dead_letters: DeadLetters[TStrategyPayload],
    ) -> None:
        self._consumer = consumer
        self._policy = policy.get_state_machine()
        # A policy that depends only on time is not called before that time: this code runs for
        # every message.
        self._only_every = (
            policy.min_commit_frequency_sec
            if type(policy) is CommitPolicy and policy.min_commit_messages is None
            else None
        )
        self._ask_from = 0.0 if self._only_every is None else time.time() + self._only_every
        self._dead_letters = dead_letters
        self._finished: dict[Partition, int] = {}
        self._pending: dict[Partition, int] = {}

    def begin(self, offsets: Mapping[Partition, int]) -> Commit:
        """The commit function of a new strategy, whose partitions start at these offsets."""
        self._finished = dict(offsets)
        pending: dict[Partition, int] = {}
        self._pending = pending
        covered = self._dead_letters.covered if self._dead_letters.enabled else None
        should_commit, now = self._policy.should_commit, time.time

        def commit(offsets: Mapping[Partition, int], force: bool = False) -> None:
            if self._pending is not pending:
                logger.warning("A closed strategy's commit of %r is ignored.", offsets)
                return
            pending.update(offsets)
            if covered is not None:
                covered(offsets)
            if force or ((moment := now()) >= self._ask_from and should_commit(moment, offsets)):
                self._flush()

        return commit

    def end(self) -> Mapping[Partition, int]:
        """Take no more commits. Returns the first unfinished offset of each partition."""
        if self._pending:
            self._consumer.stage_offsets(self._pending)
        finished = {**self._finished, **self._pending}
        self._pending = {}
        return finished

    def abandon(self) -> None:
        """Take no more commits, and drop those that were not committed."""
        self._pending = {}

    def _flush(self) -> None:
        pending = self._pending
        # A dead letter must be acknowledged before a later offset is committed.
        self._dead_letters.flush(pending)
        self._consumer.stage_offsets(pending)
        self._consumer.commit_offsets()
        now = time.time()
        self._policy.did_commit(now, pending)
        if self._only_every is not None:
            self._ask_from = now + self._only_every
        self._finished.update(pending)
        pending.clear()
