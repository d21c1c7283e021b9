"""The tree of errors. Each error knows if a retry can help (`transient`).

A message is made of sentences: what happened, what it means, what to do.
"""


class HoldfastError(Exception):
    """Anything that Holdfast itself raises."""

    transient: bool = False
    """True if the same call may succeed later without any change by the caller."""

    code: str | None = None
    """The name of the underlying Kafka error, if there is one, e.g. `UNKNOWN_TOPIC_OR_PART`."""

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes with their text and attributes, whatever `__init__`
        takes."""
        return _restore, (type(self), self.args, self.__dict__)


def _restore(
    kind: type[HoldfastError], args: tuple[object, ...], state: dict[str, object]
) -> HoldfastError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class TransientError(HoldfastError):
    """A temporary problem, such as an unreachable broker or a time-out. A retry can help."""

    transient = True


class UnreachableError(TransientError):
    """No broker answers. The message lists the addresses that were tried, and their errors."""


class TimedOutError(TransientError):
    """A response did not arrive in time. It is unknown if the request took effect."""


class UnavailableError(TransientError):
    """The broker cannot do this now: the leader is changing, it is loading, or lacks replicas."""


class TerminalError(HoldfastError):
    """The request itself is wrong. A retry gives the same result."""


class ConfigError(TerminalError):
    """A setting is missing, unknown or malformed. The message names the flag, variable and file."""


class DataDirectoryError(TerminalError):
    """The data directory is locked by another process, unreadable, or not a Holdfast directory."""


class InvalidArgumentError(TerminalError, ValueError):
    """An argument cannot be used."""


class InvalidRecordError(TerminalError, ValueError):
    """A record is invalid: not JSON, not in a known format, or refused by the broker."""


class NotFoundError(TerminalError):
    """The topic, partition, group, flow or offset does not exist."""


class AlreadyExistsError(TerminalError):
    """The name is already in use."""


class AccessDeniedError(TerminalError):
    """The broker does not allow this client to do that."""


class NotSignedInError(TerminalError):
    """A request came without credentials, or with credentials that are not valid (any more)."""


class RoleTooLowError(TerminalError):
    """The user is signed in but lacks the role for this."""


class ConflictError(TerminalError):
    """The current state forbids this, e.g. setting offsets of a group that has members."""


class GateStoppedError(TerminalError):
    """The gate cannot know what to do with the next event, so it has stopped. The message says
    what an operator must do."""


class EventsLostError(TerminalError):
    """Retention has deleted unread events. An operator must accept the loss to continue."""


class StaleStateError(TransientError):
    """The state is not that of the last commit. It must be read again before the next step."""


class FencedError(TerminalError):
    """A newer producer or consumer has replaced this one, which must exit."""


class RecordTooLargeError(InvalidRecordError):
    """A record is larger than the topic allows."""


class DeliveryError(TerminalError):
    """Records could not be delivered. `transient` is True if sending them again can help."""


class DeadLetterError(TerminalError):
    """A dead letter could not be written. The record's offset was not committed."""


class UndeliveredWarning(RuntimeWarning):
    """A producer was closed with unacknowledged records. The message contains their number."""
