"""The package's surface, and what it says when its extra is missing."""

import subprocess
import sys
import textwrap

import arroyo.processing.processor
import arroyo.utils.metrics
import pytest
from tests.unit.processing.scripted import P0, P1, Loop

import holdfast.processing


def test_public_names() -> None:
    assert sorted(holdfast.processing.__all__) == [
        "DlqLimitExceededError",
        "InvalidStateError",
        "KafkaConsumer",
        "StreamProcessor",
        "SynchronizedConsumer",
    ]


def test_public_methods_are_those_of_sentry_arroyos_processor() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    theirs = arroyo.processing.processor.StreamProcessor
    assert public(holdfast.processing.StreamProcessor) == public(theirs)


def test_the_import_error_without_the_extra_names_what_to_install() -> None:
    program = """
        import sys
        sys.modules["arroyo"] = None
        import holdfast.processing
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert "pip install 'holdfast[processing]'" in ended.stderr


class Spy:
    """A metrics backend that keeps the names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def increment(self, name: str, value: float = 1, tags: object = None) -> None:
        self.names.add(name)

    def gauge(self, name: str, value: float, tags: object = None) -> None:
        self.names.add(name)

    def timing(self, name: str, value: float, tags: object = None) -> None:
        self.names.add(name)


def test_metrics_have_the_names_of_sentry_arroyos_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[str]] = {}
    for kind in ("sentry-arroyo", "holdfast"):
        spy = Spy()
        monkeypatch.setattr(arroyo.utils.metrics, "_metrics_backend", spy)
        loop = Loop(kind, monkeypatch)
        loop.start(P0, P1)
        loop.run_into_backpressure(accept=3)
        loop.turn(3)
        loop.factory.invalid = {(P0, 5)}
        loop.open_up()
        loop.turn(30)
        loop.processor.signal_shutdown()
        loop.processor.run()
        seen[kind] = spy.names
    assert seen["holdfast"] == seen["sentry-arroyo"]
