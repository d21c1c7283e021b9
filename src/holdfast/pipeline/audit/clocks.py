"""Checks if a hold expired early by the broker's clock, which is independent of the gate's.

The broker puts its own time on the records of control and journal (`flows.topics.BROKER_TIME`). The
gate journals an expiry after it has decided it, so the broker's time of that record is not before
the expiry itself.
"""

from pyspark.sql import Column
from pyspark.sql import functions as sql

TOLERANCE_MS = 60_000
"""The usual maximum difference between clocks of different machines. With a time service it is
below a second; without one a machine drifts by about a second a day. The pipeline reports a
difference of more than five seconds; the audit reports a fault only above a minute."""

_LOG_APPEND_TIME = 1


def broker_time() -> Column:
    """The broker's time of a record that Spark has read; null if the producer set the time."""
    by_broker = sql.col("timestampType") == _LOG_APPEND_TIME
    return sql.when(by_broker, sql.unix_millis("timestamp"))


def expired_early() -> Column:
    """True for an expiry that was clearly early by the broker's clock.

    The broker appended the expiry at `appended_at`, and the hold at `given_at`. `asked_at` is the
    time from which the hold counts: its sender's, or for a duration that of its record, if that is
    later. The expiry must be early in two ways: by the time of day, and by the duration of the
    hold. So a fault is not reported because the broker's clock is always wrong, or because the
    sender's clock is wrong. A broker's clock that was set back meanwhile proves nothing.
    """
    appended, expires = sql.col("appended_at"), sql.col("expires_at")
    lasted = appended - sql.col("given_at")
    requested = expires - sql.col("asked_at")
    early = expires - appended > TOLERANCE_MS
    early = early & (requested - lasted > TOLERANCE_MS) & (lasted >= 0)
    return sql.coalesce(early, sql.lit(False))


def both_clocks() -> Column:
    """The times of both clocks, as text."""
    return sql.format_string(
        "expires at %s, the gate's clock was %s, the broker's %s",
        *(sql.timestamp_millis(sql.col(name)) for name in ("expires_at", "at", "appended_at")),
    )
