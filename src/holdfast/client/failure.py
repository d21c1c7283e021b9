"""Handling a failed record: try again, or dead-letter it; never skip it."""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException

from holdfast.client.dead_letters import DeadLetters
from holdfast.client.kafka_errors import kind_of
from holdfast.client.record import Record
from holdfast.errors import DeadLetterError, HoldfastError

log = logging.getLogger("holdfast.client")


def is_transient(error: Exception) -> bool:
    """Returns True if the error may pass, False if it is caused by the record.

    Every error of the operating system is transient: an unavailable store must never turn good
    records into dead letters.

    >>> is_transient(ConnectionRefusedError()), is_transient(ValueError("not a number"))
    (True, False)
    """
    if isinstance(error, HoldfastError):
        return error.transient
    if isinstance(error, KafkaException) and error.args and isinstance(error.args[0], KafkaError):
        return kind_of(error.args[0]).transient
    return isinstance(error, OSError | MemoryError)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePolicy:
    """Which errors are transient, and the pause before the next attempt."""

    is_transient: Callable[[Exception], bool] = is_transient
    first_delay: float = 0.1
    longest_delay: float = 30.0

    def delay(self, attempt: int) -> float:
        """Seconds to wait after that number of failures: doubling, with up to half of it random."""
        full: float = min(self.longest_delay, self.first_delay * 2 ** min(attempt - 1, 30))
        return full * random.uniform(0.5, 1.0)


def handle(
    record: Record,
    handler: Callable[[Record], object],
    policy: FailurePolicy,
    letters: DeadLetters | None,
    idle: Callable[[float], bool],
) -> bool:
    """Try until the record is handled or dead-lettered. Returns False if `idle` does."""
    attempt = 1
    while True:
        try:
            handler(record)
            return True
        except Exception as error:
            if not policy.is_transient(error):
                return bury(record, error, attempt, policy, letters, idle)
            log.warning("%s: try %d failed and will be repeated: %r", record, attempt, error)
        if not idle(policy.delay(attempt)):
            return False
        attempt += 1


def bury(
    record: Record,
    error: Exception,
    attempt: int,
    policy: FailurePolicy,
    letters: DeadLetters | None,
    idle: Callable[[float], bool],
) -> bool:
    """Try until the dead letter is confirmed; raise if none can be written."""
    if letters is None:
        raise error
    tries = 1
    while True:
        try:
            letters.write(record, error, attempt)
            return True
        except HoldfastError as refused:
            if not refused.transient:
                raise DeadLetterError(
                    f"{record} failed ({error!r}), and its dead letter cannot be written to "
                    f"{letters.topic!r}: {refused}"
                ) from error
            log.warning("%s: its dead letter is not written yet: %s", record, refused)
        if not idle(policy.delay(tries)):
            return False
        tries += 1
