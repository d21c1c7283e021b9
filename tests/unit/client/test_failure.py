"""The failure policy: what is tried again, what is put aside, and that nothing is passed over."""

import errno
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message

from holdfast import errors
from holdfast.client.dead_letters import letter_headers
from holdfast.client.failure import FailurePolicy, handle, is_transient
from holdfast.client.record import Record

RECORD = Record.of(Message("t", 3, 7, b"k", b"v"))


class Letters:
    """Stands for the topic of dead letters: refuses as told, and keeps what it took."""

    topic = "t.dlq"

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.written: list[tuple[Record, Exception, int]] = []

    def write(self, record: Record, error: Exception, attempt: int) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.written.append((record, error, attempt))


class Script:
    """A handler that ends as told, one end per try; None is success."""

    def __init__(self, *ends: Exception | None) -> None:
        self.ends = list(ends)

    def __call__(self, record: Record) -> None:
        end = self.ends.pop(0)
        if end is not None:
            raise end


def run(handler: Script, letters: Letters | None, *idles: bool) -> tuple[bool, list[float]]:
    waits: list[float] = []
    answers = list(idles)

    def idle(seconds: float) -> bool:
        waits.append(seconds)
        return answers.pop(0) if answers else True

    done = handle(RECORD, handler, FailurePolicy(), letters, idle)  # type: ignore[arg-type]
    return done, waits


def test_an_outage_is_waited_out_and_dead_letters_nothing() -> None:
    letters = Letters()
    handler = Script(*[ConnectionRefusedError() for _ in range(40)], None)
    done, waits = run(handler, letters)
    assert done
    assert handler.ends == []
    assert len(waits) == 40
    assert letters.written == []


def test_a_terminal_error_is_dead_lettered_once_with_its_attempt() -> None:
    letters, bad = Letters(), ValueError("not a number")
    done, waits = run(Script(TimeoutError(), bad), letters)
    assert done
    assert letters.written == [(RECORD, bad, 2)]
    assert len(waits) == 1


def test_without_dead_letters_a_terminal_error_ends_the_run() -> None:
    with pytest.raises(KeyError):
        run(Script(KeyError("x")), None)


def test_a_dead_letter_that_cannot_be_written_now_is_tried_again() -> None:
    letters = Letters(errors.TimedOutError("slow"), errors.UnreachableError("away"))
    done, waits = run(Script(ValueError()), letters)
    assert done
    assert len(letters.written) == 1
    assert len(waits) == 2


def test_a_dead_letter_that_can_never_be_written_ends_the_run() -> None:
    with pytest.raises(errors.DeadLetterError, match=r"cannot be written to 't\.dlq'"):
        run(Script(ValueError()), Letters(errors.RecordTooLargeError("too large")))


def test_record_of_a_revoked_partition_is_not_done() -> None:
    done, _ = run(Script(OSError()), Letters(), False)
    assert not done


def test_delays_double_up_to_the_limit_with_jitter() -> None:
    policy = FailurePolicy(first_delay=0.1, longest_delay=5.0)
    for attempt, full in ((1, 0.1), (2, 0.2), (5, 1.6), (7, 5.0), (500, 5.0)):
        delays = {policy.delay(attempt) for _ in range(50)}
        assert all(full / 2 <= delay <= full for delay in delays)
        assert len(delays) > 1


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (BrokenPipeError(), True),
        (MemoryError(), True),
        (KafkaException(KafkaError(KafkaError._TRANSPORT)), True),
        (KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)), False),
        (errors.UnavailableError("x"), True),
        (errors.InvalidRecordError("x"), False),
        (ValueError(), False),
        (ZeroDivisionError(), False),
    ],
)
def test_outages_are_transient_and_bad_records_terminal(error: Exception, transient: bool) -> None:
    assert is_transient(error) is transient


def test_dead_letter_headers_have_source_error_and_time() -> None:
    headers: dict[str, Any] = dict(letter_headers(RECORD, errors.InvalidRecordError("no"), 4))
    assert headers["holdfast-source"] == b"3:7"
    assert headers["holdfast-source-topic"] == b"t"
    assert headers["holdfast-error"] == b"holdfast.errors.InvalidRecordError"
    assert headers["holdfast-error-message"] == b"no"
    assert headers["holdfast-attempt"] == b"4"
    assert headers["holdfast-failed-at"].endswith(b"+00:00")
