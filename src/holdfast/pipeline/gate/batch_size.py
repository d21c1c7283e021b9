"""How many events a batch takes, and how far apart batches are. A hold waits for the end of a job,
so jobs stay short."""

JOB_SECONDS = 1.5
"""The target duration of a job."""
LONGEST_JOB_SECONDS = 2.0
"""The longest that a hold should wait: a job that took longer was too large."""
SMALL_ROWS = 10_000
SMALL_BYTES = 8 * 1024**2
"""Up to this size the driver takes a batch in less time than a Spark job needs to start."""

_FIRST_LIMIT = 200_000
_LOWEST_LIMIT = 150_000
_LOWEST_BYTES = 48 * 1024**2
"""Fewer would not make a job shorter: starting and ending it takes time too."""
_HIGHEST_LIMIT = 5_000_000
_OVERHEAD_SECONDS = 0.3
"""The fixed cost of a job."""
_WORTH_IT = 1.4
"""A higher limit must be this many times as high to be worth a change: measurements vary. A limit
that is too high is always lowered."""
_FULL = 0.9
_COLD_JOBS = 2
"""The first jobs of a process are slow, and are not measured."""

_APART_SECONDS = 0.1
"""Batches of few events begin this far apart: a transaction costs more than its events."""
_LONGEST_APART_SECONDS = 0.5
_APART_PER_FLOW_SECONDS = 0.004
"""With many busy flows batches are further apart, so that all flows together have about 250
transactions a second."""
_FEW_EVENTS = 10
_CLOSER = 0.4
"""Batches with more than a few events begin this much closer to each other."""


class BatchSize:
    """Follows the size of records and the speed of jobs."""

    def __init__(self) -> None:
        self.limit = _FIRST_LIMIT
        """Offsets that one batch may span."""
        self._mean: float | None = None
        self._jobs = 0

    def may_be_small(self, count: int) -> bool:
        """Returns True if the driver may take this many events itself. The reader stops when they
        turn out to be too large: their size is not known before."""
        return count <= SMALL_ROWS and count * (self._mean or 0) <= SMALL_BYTES

    def seen(self, rows: int, size: int) -> None:
        """Record the size of rows."""
        if rows:
            mean = size / rows
            self._mean = mean if self._mean is None else (3 * self._mean + mean) / 4

    def took(self, count: int, seconds: float) -> None:
        """Record the duration of a job over `count` offsets. Only full jobs are measured."""
        self._jobs += 1
        if self._jobs > _COLD_JOBS and count >= _FULL * self.limit:
            each = max(seconds - _OVERHEAD_SECONDS, 0.1 * seconds) / count
            fits = int((JOB_SECONDS - _OVERHEAD_SECONDS) / each)
            fits = min(max(fits, self.limit // 4), self.limit * 4)
            fits = min(max(fits, self._lowest()), _HIGHEST_LIMIT)
            if seconds > LONGEST_JOB_SECONDS or fits > _WORTH_IT * self.limit:
                self.limit = fits

    def _lowest(self) -> int:
        return max(1, min(_LOWEST_LIMIT, int(_LOWEST_BYTES / (self._mean or 1))))


def seconds_apart(count: int, busy: int) -> float:
    """Seconds between the starts of a batch of `count` events and the next one, while `busy` flows
    have events."""
    seconds = min(max(_APART_SECONDS, busy * _APART_PER_FLOW_SECONDS), _LONGEST_APART_SECONDS)
    return seconds if count <= _FEW_EVENTS else _CLOSER * seconds
