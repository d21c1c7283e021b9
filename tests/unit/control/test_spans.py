"""Spans of time in filters."""

import pytest

from holdfast.clock import now_ms
from holdfast.control.filters import Filter, FilterError
from holdfast.control.spans import Span

NEW_YEAR = 1_767_225_600_000


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-01-01T00:00Z", "", NEW_YEAR),
        ("2026-01-01T00:00", "", NEW_YEAR),
        ("2026-01-01T02:00", "+02:00", NEW_YEAR),
        ("2026-01-01T02:00+02:00", "-05:00", NEW_YEAR),
        ("2025-12-31T19:00", "-05:00", NEW_YEAR),
    ],
)
def test_time_is_read_in_its_own_zone_or_the_given_one(text: str, zone: str, expected: int) -> None:
    assert Span.parse(text, None, zone=zone) == Span(expected, None)


def test_duration_counts_back_from_now() -> None:
    before = now_ms()
    since = Span.parse("2h", "").since
    assert since is not None
    assert before <= since + 2 * 3_600_000 <= now_ms()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"since": "yesterday"}, "since"),
        ({"until": "25 o'clock"}, "until"),
        ({"since": "1h", "until": "2h"}, "until"),
        ({"since": "1h", "zone": "Berlin"}, "zone"),
        ({"since": "1h", "zone": "+99:00"}, "zone"),
    ],
)
def test_wrong_span_names_its_field(given: dict[str, str], field: str) -> None:
    with pytest.raises(FilterError) as refused:
        Span.parse(given.get("since"), given.get("until"), zone=given.get("zone", ""))
    assert refused.value.field == field


@pytest.mark.parametrize(("path", "value", "field"), [("$.[", "", "path"), ("", "7", "value")])
def test_wrong_filter_names_its_field(path: str, value: str, field: str) -> None:
    with pytest.raises(FilterError) as refused:
        Filter(path=path, value=value)
    assert refused.value.field == field
