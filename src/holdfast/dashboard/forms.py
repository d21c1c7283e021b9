"""What people fill in, as the API's orders."""

from holdfast.api.commanding import MAX_KEYS
from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import key_bytes

EXPIRIES = (
    ("15m", "15 m"), ("1h", "1 h"), ("4h", "4 h"), ("24h", "24 h"), ("7d", "7 d"),
    ("never", "Never"),
)  # fmt: skip
_SECONDS = {
    "15m": 900.0, "1h": 3_600.0, "4h": 14_400.0, "24h": 86_400.0, "7d": 604_800.0, "never": None,
}  # fmt: skip


def keys_of_lines(text: str) -> list[bytes]:
    """One key a line, each once, in their order. Blanks inside a line belong to the key.

    >>> keys_of_lines("a\\r\\n\\nb c\\na")
    [b'a', b'b c']
    """
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    keys = list(dict.fromkeys(key_bytes(line) for line in lines if line.strip()))
    if len(keys) > MAX_KEYS:
        raise InvalidArgumentError(f"These are {len(keys):,} keys; {MAX_KEYS:,} go at a time.")
    return keys


def seconds_of_expiry(choice: str) -> float | None:
    """How long a hold lasts; None for ever.

    >>> seconds_of_expiry("4h"), seconds_of_expiry("never")
    (14400.0, None)
    """
    if choice not in _SECONDS:
        raise InvalidArgumentError(f"{choice!r} is no time after which a hold expires.")
    return _SECONDS[choice]


def minutes_ago(text: str, now: int) -> int | None:
    """So many minutes before `now`, in milliseconds; None if nothing was filled in.

    >>> minutes_ago("2", 200_000), minutes_ago("", 200_000)
    (80000, None)
    """
    try:
        return now - round(float(text) * 60_000) if text.strip() else None
    except (ValueError, OverflowError):
        raise InvalidArgumentError(f"{text!r} is no number of minutes.") from None


def headers_of_lines(text: str) -> list[tuple[str, bytes]]:
    """`name: value` a line.

    >>> headers_of_lines("trace: 7")
    [('trace', b'7')]
    """
    headers = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise InvalidArgumentError(f"A header is written as name: value, not {line!r}.")
        headers.append((name.strip(), value.strip().encode()))
    return headers
