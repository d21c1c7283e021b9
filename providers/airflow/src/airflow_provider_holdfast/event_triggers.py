"""Triggers that start DAGs: a key was held, a dead letter arrived.

They read Holdfast's live streams. An asset with a watcher schedules a DAG by them:

    watcher = AssetWatcher(name="held", trigger=KeyHeldTrigger("orders"))
    with DAG("react", schedule=[Asset("orders-held", watchers=[watcher])]): ...

After a lost connection a trigger resumes. If the stream cannot (Holdfast was restarted, or away for
long), the trigger lists what it may have missed. While no triggerer runs, nothing is noticed.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, ClassVar

from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from airflow_provider_holdfast.api import AsyncApi, Json, segment
from airflow_provider_holdfast.events import follow
from airflow_provider_holdfast.hook import DEFAULT_CONNECTION, HoldfastHook

_LISTED = 500
_REMEMBERED = 2_000


class _StreamTrigger(BaseEventTrigger):
    """Fires once for each item of a stream."""

    stream: ClassVar[str]
    params: ClassVar[Json]

    def __init__(self, flow: str, conn_id: str = DEFAULT_CONNECTION) -> None:
        super().__init__()
        self.flow = flow
        self.conn_id = conn_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        path = f"{type(self).__module__}.{type(self).__qualname__}"
        return path, {"flow": self.flow, "conn_id": self.conn_id}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        fired: dict[tuple[Any, ...], None] = {}
        since = datetime.now(UTC)
        path = f"/flows/{segment(self.flow)}/{self.stream}"
        async with (
            await HoldfastHook(self.conn_id).async_api() as api,
            aclosing(follow(api, path, self.params)) as stream,
        ):
            async for event in stream:
                if event.name in ("ready", "reset"):
                    items = await self._since(api, since)
                else:
                    items = self._items(event.name, event.data)
                for item in items:
                    since = max(since, datetime.fromisoformat(item["at"]))
                    if (identity := self._identity(item)) not in fired:
                        fired[identity] = None
                        yield TriggerEvent(item)
                while len(fired) > _REMEMBERED:
                    del fired[next(iter(fired))]

    async def _since(self, api: AsyncApi, since: datetime) -> list[Json]:
        """Items from this time on, oldest first."""
        raise NotImplementedError

    def _items(self, name: str, data: Json) -> list[Json]:
        """The items in an event of the stream."""
        raise NotImplementedError

    def _identity(self, item: Json) -> tuple[Any, ...]:
        raise NotImplementedError


class KeyHeldTrigger(_StreamTrigger):
    """Fires when a hold of a key becomes effective. The payload has `flow`, `key`, `key_path`,
    `reason`, `actor`, `at`."""

    stream = "changes"
    params: ClassVar = {"kind": "effective"}

    async def _since(self, api: AsyncApi, since: datetime) -> list[Json]:
        path = f"/flows/{segment(self.flow)}/keys"
        page = await api.get(path, {"state": "HELD", "sort": "since", "limit": _LISTED})
        keys = [key for key in page["keys"] if datetime.fromisoformat(key["since"]) >= since]
        return [self._item(key, key["since"]) for key in reversed(keys)]

    def _items(self, name: str, data: Json) -> list[Json]:
        return [self._item(data, data["at"])] if data["outcome"] == "held" else []

    def _item(self, source: Json, at: str) -> Json:
        names = ("key", "key_path", "reason", "actor")
        return {"flow": self.flow, **{name: source[name] for name in names}, "at": at}

    def _identity(self, item: Json) -> tuple[Any, ...]:
        return item["key_path"], item["at"]


class DeadLetterTrigger(_StreamTrigger):
    """Fires when an event has become a dead letter. The payload has `flow`, `letter`
    (`partition:offset` in the topic dlq), `key`, `error`, `message`, `at`, and never the value."""

    stream = "topics/dlq/tail"
    params: ClassVar = {}

    async def _since(self, api: AsyncApi, since: datetime) -> list[Json]:
        path = f"/flows/{segment(self.flow)}/dead-letters"
        page = await api.get(path, {"since": since.isoformat(), "limit": _LISTED})
        return [self._item(record) for record in reversed(page["records"])]

    def _items(self, name: str, data: Json) -> list[Json]:
        return [self._item(data)] if name == "record" else []

    def _item(self, record: Json) -> Json:
        return {
            "flow": self.flow,
            "letter": f"{record['partition']}:{record['offset']}",
            "key": record["key"],
            "error": record["error"],
            "message": record["error_message"],
            "at": record["timestamp"],
        }

    def _identity(self, item: Json) -> tuple[Any, ...]:
        return (item["letter"],)
