"""What happens when a handler fails: try again, or put the record aside; never pass it over."""

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
    """Whether the error speaks of the world (it may pass) rather than of the record (it will not).

    Everything that the operating system reports counts as the world: a store that is away must
    never turn good records into dead letters.

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
    """Which errors are transient, and how long to wait before the next try."""

    is_transient: Callable[[Exception], bool] = is_transient
    first_delay: float = 0.1
    longest_delay: float = 30.0

    def delay(self, attempt: int) -> float:
        """Seconds to wait after that many failed tries: doubling, and half of it left to chance."""
        full: float = min(self.longest_delay, self.first_delay * 2 ** min(attempt - 1, 30))
        return full * random.uniform(0.5, 1.0)


def handle(
    record: Record,
    handler: Callable[[Record], object],
    policy: FailurePolicy,
    letters: DeadLetters | None,
    idle: Callable[[float], bool],
) -> bool:
    """Try until the record is handled or dead-lettered. -> False if `idle` said to leave it."""
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
    """Try until the dead letter is confirmed; raise if there can be none."""
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
