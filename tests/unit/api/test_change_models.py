"""Changes as all who listen get them."""

import json

from holdfast.access.masks import MASK
from holdfast.api.change_models import change_json
from holdfast.views.changes import Change, ChangeKind
from holdfast.views.keys import KeyRow


def test_live_changes_have_the_class_of_an_error_alone() -> None:
    row = KeyRow(key=b"poor", attempts=2, error="ValueError: card 4711\ntraceback")
    shown = json.loads(change_json(Change(1, ChangeKind.KEY, "billing", row)))
    assert (shown["attempts"], shown["error"]) == (2, f"ValueError: {MASK}")
