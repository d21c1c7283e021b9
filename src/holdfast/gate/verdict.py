"""Where an event goes."""

from enum import IntEnum


class Verdict(IntEnum):
    """Zero is what most events get, so that a fresh bytearray of verdicts lets all pass."""

    PASS = 0
    """To processed."""
    HOLD = 1
    """To held."""
    DEAD = 2
    """To the dead letters."""
