"""All children: started in order, restarted when they fall, stopped in the opposite order."""

from collections.abc import Callable, Sequence
from threading import Event
from time import monotonic

from holdfast.up.child import Child, Role

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0
"""A child that has run for so long is taken as well: its next fall is the first again."""
CHECK_EVERY_S = 5.0
CHECKS_FAILED = 3
"""In a row, after which a child that runs but does not answer is started anew."""
READY_WITHIN_S = 120.0
TRIES = 3
"""A child that falls so often without ever having been ready will not do better."""
_TURN_S = 0.1

Say = Callable[[str, str], None]
"""Called with the name of who speaks, and a line."""


class Post:
    """A role, the child that fills it now, and how it went so far."""

    def __init__(self, role: Role, say: Say) -> None:
        self.role = role
        self.child: Child | None = None
        self.vacant = False
        """It will not be filled again."""
        self.failed = False
        self._say = say
        self._start_at = 0.0
        self._pause = FIRST_PAUSE_S
        self._falls_before_ready = 0
        self._was_ready = False
        self._check_at = 0.0
        self._missed = 0

    def look_after(self) -> None:
        """Start the child if it is time, and see whether it is well."""
        if self.vacant:
            return
        if self.child is None:
            if monotonic() >= self._start_at:
                self._start()
        elif self.child.exit_code is not None:
            self._after_fall(self.child.end())
        elif not self._answers(self.child):
            self._say(self.role.name, "does not answer: it is started anew")
            self._after_fall(self.child.end())

    @property
    def is_ready(self) -> bool:
        return self.child is not None and self.child.is_ready

    def stop(self) -> None:
        if self.child is not None:
            self.child.end()
            self.child = None

    def _start(self) -> None:
        self.child = Child(self.role, self._say)
        self._check_at = monotonic() + CHECK_EVERY_S
        self._missed = 0

    def _answers(self, child: Child) -> bool:
        now = monotonic()
        if not child.is_ready:
            return now < child.began + READY_WITHIN_S
        self._was_ready = True
        if now < self._check_at:
            return True
        self._missed = 0 if self.role.well() else self._missed + 1
        self._check_at = monotonic() + CHECK_EVERY_S
        return self._missed < CHECKS_FAILED

    def _after_fall(self, code: int) -> None:
        assert self.child is not None
        self._was_ready |= self.child.is_ready
        if monotonic() - self.child.began > STEADY_S:
            self._pause = FIRST_PAUSE_S
        self.child = None
        if code in self.role.not_again:
            self.vacant = True
            self._say(self.role.name, f"has ended: {self.role.not_again[code]}")
            return
        self._falls_before_ready += not self._was_ready
        if self._falls_before_ready >= TRIES:
            self.vacant = self.failed = True
            self._say(self.role.name, f"has ended {TRIES} times before it could serve; given up")
            return
        self._start_at = monotonic() + self._pause
        self._say(
            self.role.name, f"has ended ({_ending(code)}); started again in {self._pause:.0f} s"
        )
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)


def supervise(
    roles: Sequence[Role], say: Say, stopping: Event, all_ready: Callable[[], None]
) -> bool:
    """Run the children until `stopping` is set. -> False if one could not be made to run

    `all_ready` is called once, when each of them serves.
    """
    posts = [Post(role, say) for role in roles]
    announced = False
    try:
        while not stopping.wait(_TURN_S):
            for post in posts:
                post.look_after()
            if any(post.failed for post in posts):
                return False
            if not announced and all(post.is_ready for post in posts):
                announced = True
                all_ready()
        return True
    finally:
        for post in reversed(posts):
            post.stop()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
