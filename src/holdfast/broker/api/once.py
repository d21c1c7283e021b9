"""Repeated names in a request get one answer, so that a reply cannot outgrow its request."""

from collections.abc import Hashable


class Once:
    """Returns True for values that it has not seen before."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()

    def __call__(self, *what: Hashable) -> bool:
        before = len(self._seen)
        self._seen.add(what)
        return len(self._seen) > before
