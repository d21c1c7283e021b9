"""Conditions that sensors wait for: one request, and a decision about its reply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from airflow_provider_holdfast.api import Json, key_segment, segment

_ENDED = {"done", "failed", "cancelled"}
_LISTED_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Condition:
    """`met` returns the sensor's result if the reply to the request fulfils the condition, and
    None otherwise."""

    path: str
    params: Mapping[str, Any]
    met: Callable[[Json], Json | None]


def key_not_held(flow: str, key: str) -> Condition:
    """The key is not held any more and its held events have left."""

    def met(reply: Json) -> Json | None:
        if reply["state"] != "ACTIVE" or reply["pending"]:
            return None
        return {"flow": flow, "key": key, "state": reply["state"]}

    return Condition(f"/flows/{segment(flow)}/keys/{key_segment(key)}", {}, met)


def run_ended(run: str) -> Condition:
    """The run is done, failed or cancelled."""

    def met(reply: Json) -> Json | None:
        if reply["state"] not in _ENDED:
            return None
        return {name: reply[name] for name in ("run", "kind", "flow", "state", "note", "result")}

    return Condition(f"/runs/{segment(run)}", {}, met)


def flow_clean(flow: str, since: str | None = None) -> Condition:
    """The flow's last completed verification is clean, and did not end before `since`."""

    def met(reply: Json) -> Json | None:
        done = [r for r in reply["runs"] if r["kind"] == "verify" and r["state"] == "done"]
        if not done or done[0]["result"].get("verdict") != "clean":
            return None
        ended_at = done[0]["ended_at"]
        if since and datetime.fromisoformat(ended_at) < datetime.fromisoformat(since):
            return None
        return {"flow": flow, "run": done[0]["run"], "ended_at": ended_at, "verdict": "clean"}

    return Condition("/runs", {"flow": flow, "limit": _LISTED_RUNS}, met)


def lag_below(flow: str, events: int) -> Condition:
    """The gate runs and has fewer than `events` events yet to take."""

    def met(reply: Json) -> Json | None:
        sample = reply["now"]
        if reply["health"]["state"] != "running" or sample is None or sample["lag"] >= events:
            return None
        return {"flow": flow, "lag": sample["lag"], "at": sample["at"]}

    return Condition(f"/flows/{segment(flow)}", {}, met)


CONDITIONS: dict[str, Callable[..., Condition]] = {
    each.__name__: each for each in (key_not_held, run_ended, flow_clean, lag_below)
}
