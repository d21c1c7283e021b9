"""Changes as JSON, in the same form as in the routes."""

import json
from typing import Any

from pydantic import BaseModel

from holdfast.access.masks import masked_error
from holdfast.api.models import Audit, Model, RecordOut
from holdfast.api.routes.flows import HealthOut, SampleOut
from holdfast.api.routes.keys import KeyOut
from holdfast.views.changes import Change, ChangeKind


class SamplingOut(Model):
    """A tail was sampled: more records came than it shows."""

    seconds: float
    arrived: int
    looked_at: int
    shown: int


def change_json(change: Change) -> bytes:
    """The data of a change's event: one line of JSON, with its flow."""
    named = {"flow": change.flow} if change.flow else {}
    return json.dumps({**named, **_fields(change)}, separators=(",", ":")).encode()


def _fields(change: Change) -> dict[str, Any]:
    item = change.item
    model: BaseModel
    match change.kind:
        case ChangeKind.KEY:
            key = KeyOut.model_validate(item)
            # All who listen get the same bytes, whatever they may see.
            model = key.model_copy(update={"error": masked_error(key.error)})
        case ChangeKind.REQUESTED | ChangeKind.EFFECTIVE:
            model = Audit.model_validate(item)
        case ChangeKind.RATES:
            model = SampleOut.model_validate(item)
        case ChangeKind.HEALTH:
            model = HealthOut.model_validate(item)
        case ChangeKind.RECORD:
            model = RecordOut.of(item)
        case ChangeKind.SAMPLED:
            model = SamplingOut.model_validate(item)
        case ChangeKind.FLOW:
            return {"gone": item is None}
    return model.model_dump(mode="json")
