"""What becomes of an event whose handler has failed. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from holdfast.errors import InvalidArgumentError
from holdfast.flows.registry import FlowDefinition, Then, parse_backoff

MAX_ERROR = 4_000
"""Characters of an error with its traceback: it is in the key's record of status."""
_MAX_REASON = 500


class Fate(Enum):
    """What happens to a failed event."""

    RETRY = "retry"
    HOLD = "hold"
    """It waits until a person decides."""
    DEAD = "dead"
    STOP = "stop"
    """The worker ends. The event is the first that the next one tries."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A handler has raised, has timed out, or has ended its process."""

    kind: str
    """The class of the error."""
    message: str
    trace: str = ""
    fate: Fate | None = None
    """The handler itself has decided, by `Hold` or `Skip`."""
    counts: bool = True
    """False: what has failed is behind the handler, and the key is not to blame."""

    @property
    def reason(self) -> str:
        """In one line."""
        line = f"{self.kind}: {self.message}" if self.message else self.kind
        return " ".join(line.split())[:_MAX_REASON]

    @property
    def cause(self) -> str:
        """For everyone, in holds and in the journal. The message of an error may quote the event,
        so it is left out; what a handler says by `Hold` or `Skip` is meant for people."""
        return self.kind if self.fate is None else self.reason

    @property
    def text(self) -> str:
        """With the end of the traceback, which has the cause."""
        return f"{self.reason}\n{self.trace}"[:MAX_ERROR] if self.trace else self.reason


@dataclass(frozen=True, slots=True)
class Decision:
    """The fate of a failed event, after how many failures, and when it is tried again."""

    fate: Fate
    attempts: int
    at: int | None = None


Decide = Callable[[int, Failure], Decision]
"""The fate of an event, from how often it had failed before, and its failure."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How often an event is tried, how far apart, and what follows the last attempt."""

    attempts: int = 5
    first_ms: int = 1_000
    longest_ms: int = 600_000
    then: Then = "hold"

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise InvalidArgumentError(f"An event is tried at least once, not {self.attempts}.")

    @classmethod
    def of(
        cls,
        flow: FlowDefinition,
        attempts: int | None = None,
        backoff: str | None = None,
        then: str | None = None,
    ) -> "Policy":
        """These settings, else those with which the guard was created, else the defaults."""
        default = cls()
        text = backoff or flow.backoff
        first, longest = parse_backoff(text) if text else (default.first_ms, default.longest_ms)
        chosen = then or flow.then or default.then
        if chosen not in AFTER_LAST:
            raise InvalidArgumentError(f"'then' is hold, dead-letter or stop, not {chosen!r}.")
        return cls(attempts or flow.attempts or default.attempts, first, longest, chosen)  # type: ignore[arg-type]

    def pause(self, attempts: int, chance: float) -> int:
        """Milliseconds to wait after this many failures: doubled each time, up to the longest, less
        up to a half of it. `chance`: a number from 0 to 1, so that keys that have failed together
        are not tried together."""
        grown = min(self.longest_ms, self.first_ms << min(attempts - 1, 40))
        return max(1, round(grown * (1 - chance / 2)))

    def decide(self, failed: int, failure: Failure, *, now: int, chance: float) -> Decision:
        """The fate of an event that had failed `failed` times before this failure."""
        if not failure.counts:
            return Decision(Fate.RETRY, failed, now + self.pause(failed + 1, chance))
        attempts = failed + 1
        if failure.fate is not None:
            return Decision(failure.fate, attempts)
        if attempts >= self.attempts:
            return Decision(AFTER_LAST[self.then], attempts)
        return Decision(Fate.RETRY, attempts, now + self.pause(attempts, chance))


AFTER_LAST = {"hold": Fate.HOLD, "dead-letter": Fate.DEAD, "stop": Fate.STOP}
