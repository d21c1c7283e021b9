"""One tree of errors. Each says whether trying again can help.

A message reads as a sentence: what happened, what it means, what to do.
"""


class HoldfastError(Exception):
    """Anything that Holdfast itself raises."""

    transient: bool = False
    """Whether the same call may succeed later, with nothing changed by the caller."""

    code: str | None = None
    """The name of the Kafka error underneath, where there is one, e.g. `UNKNOWN_TOPIC_OR_PART`."""


class TransientError(HoldfastError):
    """The world is not ready: a broker is away, a time-out passed. Trying again can help."""

    transient = True


class UnreachableError(TransientError):
    """No broker answers. The message says which addresses were tried, and what they said."""


class TimedOutError(TransientError):
    """An answer did not come in time. Whether the request took effect is not known."""


class UnavailableError(TransientError):
    """The broker answered that it cannot do this now: it moves, loads, or lacks replicas."""


class TerminalError(HoldfastError):
    """The request itself is wrong. Trying again gives the same answer."""


class ConfigError(TerminalError):
    """A setting is missing, unknown or malformed. The message names where it was looked for."""


class DataDirectoryError(TerminalError):
    """The data directory cannot be used: locked by another process, unreadable, or not ours."""


class InvalidArgumentError(TerminalError, ValueError):
    """A value that was given cannot be used."""


class InvalidRecordError(TerminalError, ValueError):
    """A record is not what it should be: not JSON, not of the known form, refused by the broker."""


class NotFoundError(TerminalError):
    """There is no such topic, partition, group, flow or offset."""


class AlreadyExistsError(TerminalError):
    """There is one of that name already."""


class AccessDeniedError(TerminalError):
    """The broker does not let this client do that."""


class NotSignedInError(TerminalError):
    """A request came without a credential, or with one that does not hold (any more)."""


class RoleTooLowError(TerminalError):
    """The one who asks is known, and may not do this."""


class ConflictError(TerminalError):
    """The thing is in a state that forbids this, e.g. offsets of a group that has members."""


class GateStoppedError(TerminalError):
    """The gate cannot know what to do with the next event, so it takes none. The message says what
    a person has to do."""


class EventsLostError(TerminalError):
    """Retention has deleted events before they were read. Someone must accept that to go on."""


class StaleStateError(TransientError):
    """The state at hand is not that of the last commit. It must be read again before acting."""


class FencedError(TerminalError):
    """A newer producer or consumer has taken this one's place. It must end."""


class RecordTooLargeError(InvalidRecordError):
    """A record is larger than the topic takes."""


class DeliveryError(TerminalError):
    """Records that were sent did not arrive. `transient` tells whether sending again can help."""


class DeadLetterError(TerminalError):
    """A dead letter could not be written. The record's offset was not committed."""
