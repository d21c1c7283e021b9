"""Full collections do not look again and again at what lives long, and nothing is kept for it."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from holdfast.broker import collection
from holdfast.broker.collection import ShortCollections


class Part:
    """Something that the collector looks at."""


@pytest.fixture
def short() -> Iterator[None]:
    collections = ShortCollections()
    yield
    collections.stop()
    gc.unfreeze()


def test_survivors_of_a_long_collection_are_frozen(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "LONG_SECONDS", 0.0)
    parts = [Part() for _ in range(1_000)]
    gc.collect()
    kept = {id(each) for each in gc.get_objects()}
    assert not any(id(part) in kept for part in parts)
    references = [weakref.ref(part) for part in parts]
    del parts
    assert not any(reference() for reference in references)  # freed all the same


def test_short_collection_freezes_nothing(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "LONG_SECONDS", 1_000.0)
    part = Part()
    gc.collect()
    assert any(each is part for each in gc.get_objects())
