"""Values as a viewer may see them.

One function, `visible_value`, stands before every value that leaves: pages, answers, live tails.
Filters must look at what it returns, too: a viewer who may search in what is masked can guess it.
"""

import json
from collections.abc import Sequence
from functools import lru_cache

from jsonpath_ng import JSONPath
from jsonpath_ng.ext.parser import parse

from holdfast.access.roles import Actor, Role
from holdfast.errors import InvalidArgumentError

MASK = "•••"
"""What stands in place of a value that is masked."""

SEES_ALL = Role.OPERATOR
"""The lowest role whose values are not masked."""


def visible_value(value: bytes | None, masks: Sequence[str], actor: Actor) -> bytes | None:
    """The value as `actor` may see it; `masks` are those of the flow's definition.

    In doubt nothing is shown: of a value that is not JSON, or a path that cannot be read, all is
    masked.
    """
    if value is None or not masks or actor.may(SEES_ALL):
        return value
    try:
        document = json.loads(value)
        for mask in masks:
            document = parse_mask(mask).update(document, MASK)
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    except Exception:  # not JSON, too deep, or whatever a path's evaluation happens to raise
        return MASK.encode()


@lru_cache(maxsize=1000)
def parse_mask(path: str) -> JSONPath:
    """The JSON path, or InvalidArgumentError."""
    try:
        parsed: JSONPath = parse(path)
    except Exception as error:  # the parser raises what it happens to raise
        raise InvalidArgumentError(
            f"The mask {path!r} is not a JSON path ({error}): write it as in $.card.number, "
            "$.items[*].price or $..email."
        ) from None
    return parsed
