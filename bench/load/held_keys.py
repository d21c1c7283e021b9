"""A flow with many held keys, its status written as the gate writes it."""

import time

import httpx
from tests.clients import wait_until

from holdfast.client.client import Client
from holdfast.flows.keys import partition_of
from holdfast.flows.status import Entry, KeyState, encode_entry

FLOW = "orders"
_PARTITIONS = 6


class HeldKeys:
    """Writes status entries. Each change has another count of events, so that readers can tell
    which ones they have seen."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.count = 0

    def fill(self, count: int) -> None:
        """Hold this many keys."""
        self._client.flow(FLOW).create(partitions=_PARTITIONS)
        for number in range(count):
            self.write(number, events=number % 997)
        self._client.close()
        self.count = count

    def write(self, number: int, events: int) -> None:
        """One status change, on its way."""
        key = b"customer-%06d" % number
        now = round(time.time() * 1000)
        entry = Entry(
            key=key,
            state=KeyState.HELD,
            command_id=f"command-{number}",
            command_offset=number,
            actor=f"actor-{number % 17}",
            reason=f"payment disputed, case {number % 101}",
            since=now - 1_000 * number,
            cut=number,
            expires_at=now + 3_600_000 if number % 3 else None,
            held_from=number,
            drained_through=number - 1,
            events=events,
            bytes=200 * events,
            oldest=now - 1_000 * number,
        )
        record_key, value = encode_entry(entry)
        partition = partition_of(key, _PARTITIONS)
        self._client.send(f"{FLOW}.status", value, record_key, partition=partition)

    def rewrite(self, count: int) -> None:
        """So many changes, as fast as they can be written."""
        for number in range(count):
            self.write(number % self.count, events=number % 997 + 1)
        self._client.close()

    def flush(self) -> None:
        self._client.close()

    def wait_until_shown(self, address: str) -> None:
        """Wait until the web process shows all of them."""

        def shown() -> bool:
            try:
                answer = httpx.get(f"{address}/api/v1/flows/{FLOW}/keys", params={"limit": 1})
            except httpx.TransportError:
                return False
            return answer.status_code == 200 and answer.json()["total"] == self.count

        wait_until(shown, "all keys in the list", 60)
