"""Filters find what they should, and never fail on what they look at."""

import pytest

from holdfast.control.filters import Filter
from holdfast.control.json_values import content_of
from holdfast.errors import InvalidArgumentError

VALUE = b'{"order":{"total":120,"items":[{"sku":"A"},{"sku":"B"}]},"name":"\xc3\x9cmit"}'


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(), True),
        (Filter(key=b"k"), True),
        (Filter(key=b"K"), False),
        (Filter(text="ümit"), True),
        (Filter(text="K"), True),
        (Filter(text="nobody"), False),
        (Filter(path="$.order.total"), True),
        (Filter(path="$.order.tax"), False),
        (Filter(path="$.order.total", value="120"), True),
        (Filter(path="$.order.total", value="12"), False),
        (Filter(path="$.order.items[*].sku", value="B"), True),
        (Filter(path="$[?(@.order.total > 100)]"), True),
        (Filter(path="$[?(@.order.total > 200)]"), False),
        (Filter(header="trace"), True),
        (Filter(header="trace=7"), True),
        (Filter(header="trace=8"), False),
    ],
)
def test_filter(wanted: Filter, found: bool) -> None:
    assert wanted.matches(b"k", VALUE, [("trace", b"7")]) is found


@pytest.mark.parametrize("value", [None, b"", b"\xff\xfe", b"[" * 100_000, b"null", b"7"])
def test_value_that_is_not_json_does_not_match(value: bytes | None) -> None:
    assert not Filter(path="$.a.b").matches(None, value, [])


@pytest.mark.parametrize(
    "path", ["$.", "][", "$[?(", "x" * 501, "$[?(@.a =~ '(a+)+$')]", "$.`len`"]
)
def test_invalid_json_path_is_refused_at_once(path: str) -> None:
    with pytest.raises(InvalidArgumentError):
        Filter(path=path)


def test_text_is_cut_between_characters() -> None:
    content = content_of("aü".encode(), limit=2)
    assert (content.text, content.truncated, content.size) == ("a", True, 3)


def test_bytes_that_are_not_text_are_base64() -> None:
    assert content_of(b"\xff").base64 == "/w=="
    assert content_of(None).text is None
