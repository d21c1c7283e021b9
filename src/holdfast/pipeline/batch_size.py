"""How many events a batch takes: so many that a job stays short, since a hold waits for its end."""

JOB_SECONDS = 1.5
"""What a job is meant to take."""
LONGEST_JOB_SECONDS = 2.0
"""The most that a hold should wait: a job that took longer was too large."""
SMALL_ROWS = 10_000
SMALL_BYTES = 8 * 1024**2
"""Up to this a batch is quicker in the driver than a job with workers is begun."""

_FIRST_LIMIT = 200_000
_LOWEST_LIMIT = 150_000
_LOWEST_BYTES = 48 * 1024**2
"""Fewer would not make a job shorter: its beginning and its end take their time."""
_HIGHEST_LIMIT = 5_000_000
_OVERHEAD_SECONDS = 0.3
"""What a job takes whatever it does."""
_WORTH_IT = 1.4
"""A new limit costs a restart of the query, a few hundred milliseconds: only a limit so many times
as high is worth it. One that is too high is lowered whatever it costs."""
_FULL = 0.9
_COLD_JOBS = 2
"""The first jobs of a process are slow, and tell nothing."""


class BatchSize:
    """Follows the size of records and the speed of jobs."""

    def __init__(self) -> None:
        self.limit = _FIRST_LIMIT
        """Offsets that one batch may span."""
        self._wanted = self.limit
        self._mean: float | None = None
        self._jobs = 0

    def is_small(self, count: int) -> bool:
        """Whether the driver can take so many events itself. While nothing is known of their size
        it cannot: one batch may be larger than its memory."""
        return self._mean is not None and count <= SMALL_ROWS and count * self._mean <= SMALL_BYTES

    def may_be_small(self, count: int) -> bool:
        """The same, for one who stops reading when it turns out that it is not."""
        return count <= SMALL_ROWS if self._mean is None else self.is_small(count)

    def seen(self, rows: int, size: int) -> None:
        """So many rows had so many bytes."""
        if rows:
            mean = size / rows
            self._mean = mean if self._mean is None else (3 * self._mean + mean) / 4

    def took(self, count: int, seconds: float) -> None:
        """A job over so many offsets took so long. Only full ones tell what a full one takes."""
        self._jobs += 1
        if self._jobs > _COLD_JOBS and count >= _FULL * self.limit:
            each = max(seconds - _OVERHEAD_SECONDS, 0.1 * seconds) / count
            fits = int((JOB_SECONDS - _OVERHEAD_SECONDS) / each)
            fits = min(max(fits, self.limit // 4), self.limit * 4)
            fits = min(max(fits, self._lowest()), _HIGHEST_LIMIT)
            another = seconds > LONGEST_JOB_SECONDS or fits > _WORTH_IT * self.limit
            self._wanted = fits if another else self.limit

    def _lowest(self) -> int:
        return max(1, min(_LOWEST_LIMIT, int(_LOWEST_BYTES / (self._mean or 1))))

    @property
    def changed(self) -> bool:
        """Whether another limit is worth a new query."""
        return self._wanted != self.limit

    def settle(self) -> None:
        """The limit is what it should be, from the next query on."""
        self.limit = self._wanted
