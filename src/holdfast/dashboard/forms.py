"""Values of forms."""

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.clock import parse_duration
from holdfast.control.commands import MAX_KEYS
from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import key_bytes, trimmed
from holdfast.flows.options import options_of
from holdfast.flows.registry import Overflow
from holdfast.flows.run_specs import Coordinate, Milliseconds, RunSpec

EXPIRIES = (
    ("15m", "15 m"), ("1h", "1 h"), ("4h", "4 h"), ("24h", "24 h"), ("7d", "7 d"),
    ("never", "Never"),
)  # fmt: skip


def keys_of_lines(text: str, *, keep_space: bool = False) -> list[bytes]:
    """Keys, one per line, without repeats. Blanks inside a line belong to the key; those around it
    do only if `keep_space` is set: they come from pasting.

    >>> keys_of_lines("a\\r\\n\\n b c\\na\\t")
    [b'a', b'b c']
    >>> keys_of_lines(" b", keep_space=True)
    [b' b']
    """
    lines = [line for line in _key_lines(text) if line.strip()]
    keys = list(dict.fromkeys(key_bytes(ln if keep_space else trimmed(ln)) for ln in lines))
    if len(keys) > MAX_KEYS:
        raise InvalidArgumentError(
            f"These are {len(keys):,} keys. Send at most {MAX_KEYS:,} at a time."
        )
    return keys


def trimmed_lines(text: str) -> list[str]:
    """The lines that lose white space as keys, without repeats.

    >>> trimmed_lines("a\\n b\\nc ")
    [' b', 'c ']
    """
    found = (line for line in _key_lines(text) if line.strip() and line != trimmed(line))
    return list(dict.fromkeys(found))


def _key_lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


def seconds_of_expiry(choice: str) -> float | None:
    """The seconds after which a hold expires; None if never.

    >>> seconds_of_expiry("4h"), seconds_of_expiry("never")
    (14400.0, None)
    """
    return None if choice == "never" else parse_duration(choice).total_seconds()


def headers_of_lines(text: str) -> list[tuple[str, bytes]]:
    """Headers, one `name: value` per line.

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


def spec_of_form(kind: type[RunSpec], form: Mapping[str, str], now: int) -> RunSpec:
    """The run that a form describes. Its fields have the names of options; a time is given in
    minutes before `now`. A value counts only if `edited` is checked.

    >>> from holdfast.flows.run_specs import Replay
    >>> spec_of_form(Replay, {"since": "2", "rate": "", "dry_run": "true"}, 200_000)
    ... # doctest: +ELLIPSIS
    Replay(since=80000, until=None, ..., rate=None, with_replayed=False, dry_run=True)
    """
    given = {name: text for name, text in form.items() if name != "value" or "edited" in form}
    return kind(**options_of_form(kind, given, now))


def options_of_form(kind: type[Any], form: Mapping[str, str], now: int = 0) -> dict[str, Any]:
    """The options of a dataclass that a form has, by the types of the fields.

    >>> from holdfast.flows.registry import FlowDefinition
    >>> options_of_form(FlowDefinition, {"name": "orders", "partitions": "3"})
    {'partitions': 3}
    """
    options: dict[str, Any] = {}
    for option, _ in options_of(kind):
        if option.name in form:
            try:
                options[option.name] = _FORMS[option.type](form[option.name], now)
            except (ValueError, OverflowError) as error:
                if isinstance(error, InvalidArgumentError):
                    raise
                text = form[option.name]
                raise InvalidArgumentError(f"{option.name}: {text!r} is not a number.") from None
    return options


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


_FORMS: dict[Any, Callable[[str, int], Any]] = {
    bool: lambda text, now: text == "true",
    int: lambda text, now: int(text),
    Overflow: lambda text, now: text,
    str: lambda text, now: text.strip(),
    bytes | None: lambda text, now: text.encode(),
    float | None: lambda text, now: float(text) if text.strip() else None,
    Milliseconds: lambda text, now: now - round(float(text) * 60_000) if text.strip() else None,
    tuple[str, ...]: lambda text, now: tuple(_lines(text)),
    tuple[Coordinate, ...]: lambda text, now: tuple(map(Coordinate.parse, _lines(text))),
    tuple[bytes, ...]: lambda text, now: tuple(keys_of_lines(text)),
}
