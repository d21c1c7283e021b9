"""Masked values, for viewers.

Every value passes `visible_value` before it is sent: in pages, answers and live tails. Filters must
use its result, too: a viewer who can search in masked values can guess them.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.access.roles import Actor, Role
from holdfast.errors import InvalidArgumentError

if TYPE_CHECKING:
    from jsonpath_ng import JSONPath

MASK = "•••"
"""The replacement of a masked value."""

SEES_ALL = Role.OPERATOR
"""The lowest role that sees values without masks."""


def visible_value(value: bytes | None, masks: Sequence[str], actor: Actor) -> bytes | None:
    """The value as `actor` may see it; `masks` are those of the flow's definition.

    If the value is not JSON, or a path cannot be applied, the whole value is masked.
    """
    if value is None or not masks or actor.may(SEES_ALL):
        return value
    try:
        document = json.loads(value)
        for mask in masks:
            document = parse_mask(mask).update(document, MASK)
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    except Exception:  # not JSON, too deep, or any error of evaluating a path
        return MASK.encode()


def visible_error(error: str, masks: Sequence[str], actor: Actor) -> str:
    """The error of a handler as `actor` may see it. It may quote the event, so it is masked as a
    whole; its class is left."""
    if not error or not masks or actor.may(SEES_ALL):
        return error
    return masked_error(error)


def masked_error(error: str) -> str:
    """The class of a handler's error alone."""
    return f"{error.partition(':')[0].partition(chr(10))[0]}: {MASK}" if error else ""


@lru_cache(maxsize=1000)
def parse_mask(path: str) -> "JSONPath":
    """The JSON path, or InvalidArgumentError."""
    from jsonpath_ng.ext.parser import parse  # not part of the core

    try:
        parsed: JSONPath = parse(path)
    except Exception as error:  # the parser raises errors of any type
        raise InvalidArgumentError(
            f"The mask {path!r} is not a JSON path ({error}): write it as in $.card.number, "
            "$.items[*].price or $..email."
        ) from None
    return parsed
