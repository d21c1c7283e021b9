"""Rates and lag of a flow over the last minutes, a sample a second."""

from collections import deque
from dataclasses import dataclass

SAMPLES = 600
"""Ten minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One second of a flow. Rates are events a second."""

    at: int
    incoming: float = 0.0
    """Events that arrived in `<flow>.events`."""
    outgoing: float = 0.0
    """Events that were written to `<flow>.processed`."""
    held: float = 0.0
    """Events that were put on hold."""
    dead: float = 0.0
    """Events that went to the dead letters."""
    lag: int = 0
    """Events that the gate has not read yet."""
    held_keys: int = 0
    held_events: int = 0
    held_bytes: int = 0


class Series:
    """The newest samples, oldest first. One thread writes; any may read."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=SAMPLES)

    def append(self, sample: Sample) -> None:
        self._samples.append(sample)

    @property
    def last(self) -> Sample | None:
        samples = self.samples()
        return samples[-1] if samples else None

    def samples(self) -> tuple[Sample, ...]:
        return tuple(self._samples.copy())
