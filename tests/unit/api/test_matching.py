"""Filters find what they should, and never fail on what they look at."""

import pytest

from holdfast.api.matching import Filter
from holdfast.api.rendering import content_of
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
        (Filter(json_path="$.order.total"), True),
        (Filter(json_path="$.order.tax"), False),
        (Filter(json_path="$.order.total", json_value="120"), True),
        (Filter(json_path="$.order.total", json_value="12"), False),
        (Filter(json_path="$.order.items[*].sku", json_value="B"), True),
        (Filter(json_path="$[?(@.order.total > 100)]"), True),
        (Filter(json_path="$[?(@.order.total > 200)]"), False),
        (Filter(header="trace"), True),
        (Filter(header="trace=7"), True),
        (Filter(header="trace=8"), False),
    ],
)
def test_filter(wanted: Filter, found: bool) -> None:
    assert wanted.matches(b"k", VALUE, [("trace", b"7")]) is found


@pytest.mark.parametrize("value", [None, b"", b"\xff\xfe", b"[" * 100_000, b"null", b"7"])
def test_value_that_is_no_json_does_not_match_and_does_not_fail(value: bytes | None) -> None:
    assert not Filter(json_path="$.a.b").matches(None, value, [])


@pytest.mark.parametrize(
    "path", ["$.", "][", "$[?(", "x" * 501, "$[?(@.a =~ '(a+)+$')]", "$.`len`"]
)
def test_path_that_is_none_is_refused_at_once(path: str) -> None:
    with pytest.raises(InvalidArgumentError):
        Filter(json_path=path)


def test_text_is_cut_between_characters() -> None:
    content = content_of("aü".encode(), limit=2)
    assert (content.text, content.truncated, content.size) == ("a", True, 3)


def test_bytes_that_are_no_text_are_base64() -> None:
    assert content_of(b"\xff").base64 == "/w=="
    assert content_of(None).text is None
