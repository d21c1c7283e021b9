"""Listing held keys, as a person does who sorts, searches and pages."""

import random
import time

import httpx

from bench.load.held_keys import FLOW

_SORTS = ("key", "state", "since", "expires", "events", "bytes", "oldest", "actor", "reason")


def list_keys(address: str, requests: int) -> float:
    """Returns the 99th percentile of the time of a listing, in milliseconds."""
    chance = random.Random(7)
    took: list[float] = []
    cursor: str | None = None
    with httpx.Client(base_url=f"{address}/api/v1", timeout=30) as client:
        sort = "since"
        for number in range(requests + 20):
            if cursor is None or chance.random() < 0.5:
                sort, cursor = chance.choice(_SORTS), None
            query: dict[str, str | int] = {"sort": sort, "limit": 100}
            if cursor is not None:
                query["cursor"] = cursor
            elif chance.random() < 0.2:
                query["text"] = f"case {chance.randrange(101)}"
            begun = time.perf_counter()
            answer = client.get(f"/flows/{FLOW}/keys", params=query)
            seconds = time.perf_counter() - begun
            answer.raise_for_status()
            cursor = None if "text" in query else answer.json()["cursor"]
            if number >= 20:  # the first ones find an interpreter that is cold
                took.append(seconds)
    took.sort()
    print(f"median {1000 * took[len(took) // 2]:.1f} ms, worst {1000 * took[-1]:.1f} ms")
    return 1000 * took[int(0.99 * len(took))]
