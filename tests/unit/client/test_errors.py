"""librdkafka's codes as errors of ours."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from holdfast import errors
from holdfast.client.kafka_errors import KINDS, kind_of, translate

CODES = [
    name
    for name in dir(KafkaError)
    if name.upper() == name
    and not name.startswith("__")
    and isinstance(getattr(KafkaError, name), int)
]


def test_every_code_of_librdkafka_is_mapped() -> None:
    assert len(CODES) > 150
    assert set(CODES) - set(KINDS) == set()


def test_every_mapped_code_exists_in_librdkafka() -> None:
    assert set(KINDS) - set(CODES) == set()


@pytest.mark.parametrize("name", CODES)
def test_an_error_is_transient_or_terminal_and_keeps_its_code(name: str) -> None:
    error = translate(KafkaError(getattr(KafkaError, name)), "Doing it")
    assert isinstance(error, errors.TransientError) == error.transient
    assert isinstance(error, errors.TerminalError) != error.transient
    assert error.code == name
    assert str(error).startswith("Doing it failed: ")
    assert str(error).endswith(f"({name}).")


def test_an_exception_is_translated_as_its_error() -> None:
    error = translate(KafkaException(KafkaError(KafkaError.TOPIC_ALREADY_EXISTS)), "Creating")
    assert isinstance(error, errors.AlreadyExistsError)


@pytest.mark.parametrize(
    ("retriable", "kind"), [(True, errors.UnavailableError), (False, errors.TerminalError)]
)
def test_unknown_error_code_keeps_the_text_of_librdkafka(
    retriable: bool, kind: type[errors.HoldfastError]
) -> None:
    assert kind_of(KafkaError(9999, retriable=retriable)) is kind


def test_every_error_of_ours_is_of_one_tree() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    warnings = [errors.UndeliveredWarning]  # shown, not raised
    assert all(issubclass(kind, errors.HoldfastError) or kind in warnings for kind in kinds)
    assert all(kind.__doc__ for kind in kinds)
