"""Changes as JSON: each in the form in which the routes show the same thing."""

import json
from typing import Any

from pydantic import BaseModel

from holdfast.api.models import Audit, RecordOut
from holdfast.api.routes.flows import HealthOut, SampleOut
from holdfast.api.routes.keys import KeyOut
from holdfast.api.tailing import Sampling
from holdfast.views.changes import Change, ChangeKind


class SamplingOut(BaseModel):
    """More records came than a tail shows."""

    seconds: float
    arrived: int
    looked_at: int
    shown: int


def change_json(change: Change) -> bytes:
    """The data of a change's event: one line of JSON, with the flow that it is about."""
    named = {"flow": change.flow} if change.flow else {}
    return json.dumps({**named, **_fields(change)}, separators=(",", ":")).encode()


def _fields(change: Change) -> dict[str, Any]:
    item = change.item
    model: BaseModel
    match change.kind:
        case ChangeKind.KEY:
            model = KeyOut.of(item)
        case ChangeKind.REQUESTED | ChangeKind.EFFECTIVE:
            model = Audit.of(item)
        case ChangeKind.RATES:
            model = SampleOut.of(item)
        case ChangeKind.HEALTH:
            model = HealthOut.of(item)
        case ChangeKind.RECORD:
            model = RecordOut.of(item)
        case ChangeKind.SAMPLED:
            assert isinstance(item, Sampling)
            model = SamplingOut(
                seconds=item.seconds, arrived=item.arrived, looked_at=item.looked_at,
                shown=item.shown,
            )  # fmt: skip
        case ChangeKind.FLOW:
            return {"gone": item is None}
    return model.model_dump(mode="json")
