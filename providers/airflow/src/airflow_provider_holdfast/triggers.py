"""Triggers of deferred tasks: they poll until a run has ended, a command is effective, or a
condition is met."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_provider_holdfast.api import AsyncApi, HoldfastError, Json, segment
from airflow_provider_holdfast.conditions import CONDITIONS
from airflow_provider_holdfast.hook import HoldfastHook

PATIENCE_SECONDS = 600.0
"""A deferred task outlives a restart of Holdfast."""
_SEEN_SECONDS = 30.0
"""A web process may need this long to show what another one has acknowledged."""


class _PollingTrigger(BaseTrigger):
    """Polls until `_result` returns something. The event has it as `result`, or else an `error`
    with `transient`."""

    def __init__(self, conn_id: str, poll_interval: float) -> None:
        super().__init__()
        self.conn_id = conn_id
        self.poll_interval = poll_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        kwargs = {"conn_id": self.conn_id, "poll_interval": self.poll_interval, **self._arguments()}
        return f"{type(self).__module__}.{type(self).__qualname__}", kwargs

    async def run(self) -> AsyncIterator[TriggerEvent]:
        try:
            hook = HoldfastHook(self.conn_id)
            async with await hook.async_api(patience=PATIENCE_SECONDS) as api:
                clock = asyncio.get_running_loop().time
                seen_by = clock() + _SEEN_SECONDS
                while (result := await self._poll(api, clock() < seen_by)) is None:  # noqa: ASYNC110
                    await asyncio.sleep(self.poll_interval)
        except HoldfastError as error:
            yield TriggerEvent({"error": str(error), "transient": error.transient})
        else:
            yield TriggerEvent({"result": result})

    async def _poll(self, api: AsyncApi, may_be_unseen: bool) -> Json | None:
        try:
            return await self._result(api)
        except HoldfastError as error:
            if error.status == 404 and may_be_unseen:
                return None
            raise

    def _arguments(self) -> dict[str, Any]:
        raise NotImplementedError

    async def _result(self, api: AsyncApi) -> Json | None:
        raise NotImplementedError


class RunTrigger(_PollingTrigger):
    """Fires when a run has ended. If a user ends the deferred task, the run is cancelled."""

    def __init__(self, conn_id: str, run: str, poll_interval: float) -> None:
        super().__init__(conn_id, poll_interval)
        self.run_name = run

    def _arguments(self) -> dict[str, Any]:
        return {"run": self.run_name}

    async def _result(self, api: AsyncApi) -> Json | None:
        run = await api.get(f"/runs/{segment(self.run_name)}")
        # The result may be large, and events pass through Airflow's database.
        ended = run["state"] in ("done", "failed", "cancelled")
        return {"run": run["run"], "state": run["state"]} if ended else None

    async def on_kill(self) -> None:
        async with await HoldfastHook(self.conn_id).async_api(patience=10.0) as api:
            await api.post(f"/runs/{segment(self.run_name)}/cancel")


class CommandTrigger(_PollingTrigger):
    """Fires when a command is effective."""

    def __init__(self, conn_id: str, flow: str, command_id: str, poll_interval: float) -> None:
        super().__init__(conn_id, poll_interval)
        self.flow = flow
        self.command_id = command_id

    def _arguments(self) -> dict[str, Any]:
        return {"flow": self.flow, "command_id": self.command_id}

    async def _result(self, api: AsyncApi) -> Json | None:
        command = await api.get(f"/flows/{segment(self.flow)}/commands/{self.command_id}")
        return command["effective"][0] if command["effective"] else None


class ConditionTrigger(_PollingTrigger):
    """Fires when a condition of a sensor is met."""

    def __init__(
        self, conn_id: str, condition: str, arguments: dict[str, Any], poll_interval: float
    ) -> None:
        super().__init__(conn_id, poll_interval)
        self.condition = condition
        self.arguments = arguments

    def _arguments(self) -> dict[str, Any]:
        return {"condition": self.condition, "arguments": self.arguments}

    async def _result(self, api: AsyncApi) -> Json | None:
        condition = CONDITIONS[self.condition](**self.arguments)
        return condition.met(await api.get(condition.path, condition.params))
