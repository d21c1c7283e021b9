"""Masked values, as viewers see them."""

import json

import pytest

from holdfast.access.masks import MASK, parse_mask, visible_error, visible_value
from holdfast.access.roles import Actor, Role
from holdfast.errors import InvalidArgumentError

VIEWER = Actor("v", Role.VIEWER)


def seen(value: object, *masks: str) -> object:
    shown = visible_value(json.dumps(value).encode(), masks, VIEWER)
    assert shown is not None
    return json.loads(shown)


def test_viewer_sees_all_but_masked_paths() -> None:
    order = {"card": {"number": "4111", "brand": "visa"}, "total": 3}
    assert seen(order, "$.card.number") == {"card": {"number": MASK, "brand": "visa"}, "total": 3}


def test_a_path_reaches_into_lists_and_any_depth() -> None:
    value = {"items": [{"price": 1}, {"price": 2}], "deep": [{"a": {"email": "x@y"}}], "email": "z"}
    shown = seen(value, "$.items[*].price", "$..email")
    assert shown == {
        "items": [{"price": MASK}, {"price": MASK}],
        "deep": [{"a": {"email": MASK}}],
        "email": MASK,
    }


def test_mask_of_an_object_hides_all_its_fields() -> None:
    assert seen({"card": {"number": 1, "cvc": 2}}, "$.card") == {"card": MASK}


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.ADMIN])
def test_operators_and_admins_see_values_without_masks(role: Role) -> None:
    value = b'{"card": 1}'
    assert visible_value(value, ("$.card",), Actor("o", role)) is value


def test_a_flow_without_masks_shows_any_value_as_it_is() -> None:
    assert visible_value(b"\x00\xff", (), VIEWER) == b"\x00\xff"


def test_null_value_is_not_masked() -> None:
    assert visible_value(None, ("$.card",), VIEWER) is None


@pytest.mark.parametrize(
    "value",
    [b"card=4111", b"\xff\xfe", b"", b"[" * 100_000, b'{"card": 1} trailing'],
    ids=["text", "bytes", "empty", "deep", "trailing"],
)
def test_value_that_is_not_json_is_masked_completely(value: bytes) -> None:
    assert visible_value(value, ("$.card",), VIEWER) == MASK.encode()


def test_repeated_field_is_not_shown() -> None:
    shown = visible_value(b'{"card": "4111", "card": "4222"}', ("$.card",), VIEWER)
    assert shown is not None
    assert b"4111" not in shown
    assert b"4222" not in shown


def test_a_path_that_cannot_be_read_hides_everything() -> None:
    assert visible_value(b'{"card": 1}', ("$.a[",), VIEWER) == MASK.encode()


def test_invalid_mask_is_refused_when_it_is_set() -> None:
    with pytest.raises(InvalidArgumentError, match=r"\$\.a\[.*not a JSON path"):
        parse_mask("$.a[")


def test_error_of_a_handler_is_masked_but_for_its_class() -> None:
    error = "ValueError: card 4711 refused\nTraceback\n  File ..."
    assert visible_error(error, ("$.card",), VIEWER) == f"ValueError: {MASK}"
    assert visible_error(error, (), VIEWER) == error
    assert visible_error(error, ("$.card",), Actor("o", Role.OPERATOR)) == error
