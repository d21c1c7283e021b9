"""The promises of holds, checked by the times of their acknowledgements alone.

How the gate has ordered commands and events is not looked at here: `holdfast verify` does that.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from tests.chaos.system.findings import Breach, Findings
from tests.chaos.system.history import FOREVER, Asked, ClockSet, Poll, Send, State

TOLERATED_S = 5.0
BELIEVED_AFTER_S = 8.0
"""As the guide to hold and release says: a clock that is further ahead counts after ten seconds.
The two seconds are for a jump that the pipeline sees later than it was made."""


class Holds:
    """The commands of one flow."""

    def __init__(self, commands: Iterable[Asked], clock: Sequence[ClockSet]) -> None:
        self._holds: dict[bytes, list[Asked]] = defaultdict(list)
        self._releases: dict[bytes, list[Asked]] = defaultdict(list)
        self._expiring: dict[bytes, list[Asked]] = defaultdict(list)
        self._dead: set[bytes] = set()
        self._believed = list(_believed(clock))
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
        # The latest moment at which one of the first `count` releases may have happened.
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
        """Returns True if the gate may have believed by now that the moment has passed. A jump
        takes effect some time around when it was made, so both settings count then."""
        return any(
            begin <= now and min(end, now) + ahead >= moment for begin, end, ahead in self._believed
        )


def _believed(clock: Sequence[ClockSet]) -> Iterator[tuple[float, float, float]]:
    """From when to when the gate may have believed a clock that was so far ahead.

    A clock that is ahead for a moment only must not count: time goes on as if it were right. Jumps
    from one time ahead to another make one stretch, which may be long enough.
    """
    jumps = [ClockSet(-FOREVER, 0.0), *clock]
    ends = [*(jump.at for jump in jumps[1:]), FOREVER]
    settings = zip(jumps, ends, strict=True)
    for ahead, group in groupby(settings, key=lambda setting: setting[0].ahead > TOLERATED_S):
        stretch = list(group)
        moment_only = ahead and stretch[-1][1] - stretch[0][0].at < BELIEVED_AFTER_S
        for jump, end in stretch:
            yield jump.at, end, 0.0 if moment_only else jump.ahead


def _invoked(asked: Asked) -> float:
    return asked.invoked
