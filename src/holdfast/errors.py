"""One tree of errors. Each says whether trying again can help.

A message reads as a sentence: what happened, what it means, what to do.
"""


class HoldfastError(Exception):
    """Anything that Holdfast itself raises."""

    transient: bool = False
    """Whether the same call may succeed later, with nothing changed by the caller."""


class TransientError(HoldfastError):
    """The world is not ready: a broker is away, a time-out passed. Trying again can help."""

    transient = True


class TerminalError(HoldfastError):
    """The request itself is wrong. Trying again gives the same answer."""


class ConfigError(TerminalError):
    """A setting is missing, unknown or malformed. The message names where it was looked for."""


class DataDirectoryError(TerminalError):
    """The data directory cannot be used: locked by another process, unreadable, or not ours."""
