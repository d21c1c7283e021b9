"""Operators that hold and release a key.

The command's Idempotency-Key follows from DAG, run and task, so that a retry is the same command.
If the task is cleared later and its effect is gone, because the hold was released or the key is
held again, the task sends another command.
"""

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from airflow.sdk import BaseOperatorLink
from airflow.sdk.exceptions import AirflowFailException

from airflow_provider_holdfast.api import Api, Json, key_segment, segment
from airflow_provider_holdfast.identity import numbered, task_id
from airflow_provider_holdfast.links import KeyLink
from airflow_provider_holdfast.triggers import CommandTrigger
from airflow_provider_holdfast.waiting import HoldfastOperator, failures, result_of

_LINK = KeyLink()
_SOON_SECONDS = 3.0
"""Most commands are effective within a second: such a task needs no deferral."""


class CommandOperator(HoldfastOperator):
    """Sends a command for a key and waits until it is effective. The result of the task is the
    outcome, with `flow`, `key`, `command_id` and the `cut`."""

    command: ClassVar[str]
    options: ClassVar[dict[str, str]]
    """Fields of the request, and the attributes that have their values."""

    operator_extra_links: Sequence[BaseOperatorLink] = (_LINK,)
    ui_color = "#fff3e0"

    def __init__(self, *, flow: str, key: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.flow = flow
        self.key = key
        self.page = ""

    def execute(self, context: Any) -> Json:
        with failures(), self.hook.api() as api:
            _LINK.push(self, context, self.hook.endpoint().page(self._path()))
            receipt = self._requested(api, task_id(context, self.command))
            effect = receipt["effective"]
            if effect is None and self.deferrable:
                self.defer(
                    trigger=CommandTrigger(
                        self.holdfast_conn_id, self.flow, receipt["command_id"], self.poll_interval
                    ),
                    method_name="execute_complete",
                    timeout=self.execution_timeout,
                )
            path = f"/flows/{segment(self.flow)}/commands/{receipt['command_id']}"
            while effect is None:
                time.sleep(self.poll_interval)
                effect = next(iter(api.get(path)["effective"]), None)
            return self._result(receipt["command_id"], effect)

    def execute_complete(self, context: Any, event: Json | None = None) -> Json:
        effect = result_of(event)
        self.page = self.hook.endpoint().page(self._path())
        return self._result(effect["command_id"], effect)

    def undone(self, api: Api, effect: Json) -> bool:
        """Returns True if the key no longer has the command's effect."""
        raise NotImplementedError

    def _requested(self, api: Api, base: str) -> Json:
        """The receipt of the task's command, which an earlier try may have sent."""
        given = {field: getattr(self, name) for field, name in self.options.items()}
        body = {name: value for name, value in given.items() if value not in (None, "", ())}
        number = 1
        while True:
            receipt = api.post(
                f"{self._path()}/{self.command}",
                body,
                params={"wait": "effective", "timeout": _SOON_SECONDS},
                headers={"Idempotency-Key": numbered(base, number)},
            )
            effect = receipt["effective"]
            if not (receipt["repeated"] and effect and self.undone(api, effect)):
                return receipt
            number += 1

    def _standing(self, api: Api) -> set[str]:
        """The names of the key's holds."""
        return {hold["name"] for hold in api.get(self._path())["holds"]}

    def _path(self) -> str:
        return f"/flows/{segment(self.flow)}/keys/{key_segment(self.key)}"

    def _result(self, command_id: str, effect: Json) -> Json:
        if effect["outcome"] == "refused":
            raise AirflowFailException(f"Holdfast refused the {self.command}: {effect['note']}")
        return {
            "flow": self.flow,
            "key": self.key,
            "command_id": command_id,
            **{name: effect[name] for name in ("outcome", "partition", "cut", "at", "note")},
        }


class HoldOperator(CommandOperator):
    """Holds a key: its events are kept back until a release or the expiry.

    :param expires_in: seconds until the hold ends by itself; without it, it stays.
    :param hold_name: the name of the hold; the token's name unless given.
    """

    command = "hold"
    options: ClassVar = {"reason": "reason", "name": "hold_name", "expires_in": "expires_in"}
    template_fields = ("flow", "key", "reason", "hold_name", "expires_in")

    def __init__(
        self,
        *,
        reason: str = "",
        hold_name: str | None = None,
        expires_in: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.reason = reason
        self.hold_name = hold_name
        self.expires_in = expires_in

    def undone(self, api: Api, effect: Json) -> bool:
        name = self.hold_name or api.get("/me")["name"]
        return name not in self._standing(api)


class ReleaseOperator(CommandOperator):
    """Releases a key: the hold of the token, or the only one, unless `holds` names others.

    :param pace: events a second; as fast as possible unless given.
    """

    command = "release"
    options: ClassVar = {"reason": "reason", "pace": "pace", "holds": "holds"}
    template_fields = ("flow", "key", "reason", "pace", "holds")

    def __init__(
        self,
        *,
        reason: str = "",
        pace: float | None = None,
        holds: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.reason = reason
        self.pace = pace
        self.holds = holds

    def undone(self, api: Api, effect: Json) -> bool:
        return not self._standing(api).isdisjoint(effect["ended"])
