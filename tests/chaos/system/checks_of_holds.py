"""What holds promise, seen from outside: by when they were acknowledged, and nothing else.

How the gate has ordered commands and events is not looked at here: `holdfast verify` does that.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from tests.chaos.system.findings import Breach, Findings
from tests.chaos.system.history import FOREVER, Asked, ClockSet, Poll, Send, State


class Holds:
    """The commands of one flow."""

    def __init__(self, commands: Iterable[Asked], clock: Sequence[ClockSet]) -> None:
        self._holds: dict[bytes, list[Asked]] = defaultdict(list)
        self._releases: dict[bytes, list[Asked]] = defaultdict(list)
        self._expiring: dict[bytes, list[Asked]] = defaultdict(list)
        self._dead: set[bytes] = set()
        self._clock = clock
        asked_before: set[str] = set()
        for asked in sorted(commands, key=lambda asked: asked.invoked):
            if asked.name == "dead-letter":
                self._dead.add(asked.key)
            elif asked.name == "release":
                self._releases[asked.key].append(asked)
            elif asked.expires < FOREVER:
                self._expiring[asked.key].append(asked)
            # Of one id only the first command acts. If its outcome is open, so is when it acts.
            if asked.name == "hold" and asked.id not in asked_before and asked.state is State.OK:
                self._holds[asked.key].append(asked)
            asked_before.add(asked.id)
        # The latest moment at which one of the first so many releases may have come about.
        self._released_until = {
            key: list(accumulate((release.completed for release in releases), max))
            for key, releases in self._releases.items()
        }

    def was_dead_lettered(self, key: bytes) -> bool:
        return key in self._dead

    def in_force(self, send: Send) -> Asked | None:
        """The last hold of its key that was acknowledged before it was sent."""
        holds = self._holds.get(send.key or b"", ())
        for hold in reversed(holds[: bisect_left(holds, send.invoked, key=_invoked)]):
            if hold.completed < send.invoked:
                return hold
        return None

    def check_poll(self, findings: Findings, poll: Poll, send: Send | None) -> None:
        """An event that was sent under a hold and was seen must have had leave to come out."""
        hold = None if send is None else self.in_force(send)
        if hold is None or send is None:
            return
        if not self._may_be_released(hold, poll.at) and not self._may_be_expired(hold, poll.at):
            findings.add(Breach.EARLY, f"{send} was seen at {poll.at}, in spite of {hold}")

    def _may_be_released(self, hold: Asked, seen: float) -> bool:
        """One that was answered before the hold was asked for cannot have ended it; all others
        that were asked for before then may have."""
        count = bisect_left(self._releases[hold.key], seen, key=_invoked)
        return count > 0 and self._released_until[hold.key][count - 1] >= hold.invoked

    def _may_be_expired(self, hold: Asked, seen: float) -> bool:
        """By its own expiry, or by that which a later hold has put in its place."""
        return any(
            (other is hold or other.completed >= hold.invoked)
            and self._clock_passed(other.expires, seen)
            for other in reversed(self._expiring[hold.key])
        )

    def _clock_passed(self, moment: float, now: float) -> bool:
        """Whether the pipeline's clock may have shown that moment by now. A jump takes effect some
        time around when it was made, so both settings count then."""
        jumps = [ClockSet(-FOREVER, 0.0), *self._clock]
        ends = [*(jump.at for jump in jumps[1:]), FOREVER]
        return any(
            jump.at <= now and min(end, now) + jump.ahead >= moment
            for jump, end in zip(jumps, ends, strict=True)
        )


def _invoked(asked: Asked) -> float:
    return asked.invoked
