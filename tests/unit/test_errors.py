"""Errors travel between processes: from a Spark worker to the driver."""

import importlib
import pickle
import pkgutil
from collections.abc import Iterator

import pytest

from holdfast.errors import DeliveryError, HoldfastError
from holdfast.gate import Unreadable
from holdfast.kafka.errors import ClocksDifferError
from holdfast.kafka.fetch import UnreadableRecordsError


def all_errors() -> Iterator[type[HoldfastError]]:
    for package in ("holdfast.gate", "holdfast.kafka", "holdfast.client", "holdfast.pipeline.gate"):
        for module in pkgutil.iter_modules(
            importlib.import_module(package).__path__, f"{package}."
        ):
            importlib.import_module(module.name)
    waiting = [HoldfastError]
    while waiting:
        kind = waiting.pop()
        yield kind
        waiting += kind.__subclasses__()


KINDS = sorted(all_errors(), key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_keeps_its_type_text_and_attributes(kind: type[HoldfastError]) -> None:
    error = kind.__new__(kind, "what happened")
    error.code = "SOME_CODE"
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.code) == (kind, "what happened", "SOME_CODE")
    assert copy.transient == kind.transient


@pytest.mark.parametrize(
    "error",
    [
        ClocksDifferError(1_700_000_000_000),
        UnreadableRecordsError("orders.events", Unreadable(0, 5, 9, "damaged")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_with_an_init_of_its_own_travels(error: HoldfastError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_an_error_that_is_transient_by_itself_stays_so() -> None:
    error = DeliveryError("Records did not arrive.")
    error.transient = True
    assert pickle.loads(pickle.dumps(error)).transient
