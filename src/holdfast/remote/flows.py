"""Flows and their keys over the API, with the methods of the SDK that the command line uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import islice
from time import monotonic, sleep
from typing import Any, Self, Unpack

from holdfast.client.flow import FlowChanges, FlowOptions
from holdfast.client.held import HeldPage, HeldPosition
from holdfast.client.receipt import Effect
from holdfast.clock import now_ms
from holdfast.control.key_paths import key_to_path
from holdfast.errors import ConflictError, InvalidArgumentError, NotFoundError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Command, ScopeCommand, key_of
from holdfast.flows.holds import StandingHold, own_or_only, prefix_text
from holdfast.flows.keys import key_bytes, key_from_json
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import KeyStatus, PrefixStatus
from holdfast.remote import bodies, documents
from holdfast.remote.server import Server
from holdfast.views.audit import AuditQuery

_AT_ONCE = 10_000
"""Keys of one request."""
_TURN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class RemoteReceipt:
    """A command that the control log has acknowledged."""

    command: Command
    command_id: str
    offset: int


class RemoteClient:
    """The flows of a server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def flow(self, name: str) -> "RemoteFlow":
        return RemoteFlow(self.server, name)

    def flows(self) -> list[FlowDefinition]:
        return [documents.definition_of(each) for each in self.server.get("flows")["flows"]]

    def health(self) -> list[dict[str, Any]]:
        """Every part: its flow, its state, if it is well, and why not."""
        return list(self.server.get("health")["parts"])

    def groups(self) -> list[dict[str, Any]]:
        """The consumer groups: name, state, protocol and lag."""
        return list(self.server.get("groups")["groups"])

    def audit(self, flow: str | None, query: AuditQuery) -> tuple[list[dict[str, Any]], str | None]:
        """A page of the audit of a flow, or of all, and its cursor."""
        page = self.server.get(
            "audit" if flow is None else f"flows/{flow}/audit",
            key=None if query.key is None else key_to_path(query.key),
            actor=query.actor,
            command=query.command,
            outcome=query.outcome and query.outcome.value,
            text=query.search,
            since=documents.time_text(query.since),
            until=documents.time_text(query.until),
            limit=query.limit,
            cursor=query.cursor,
        )
        return [documents.audit_row(flow, row) for row in page["rows"]], page["cursor"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Nothing stays open."""


class RemoteFlow:
    """One flow, by name; see `holdfast.client.flow.Flow`."""

    def __init__(self, server: Server, name: str) -> None:
        self.name = name
        self._server = server

    def actor(self, given: str | None) -> str:
        """Who acts: the token's name, whatever the shell's user is called."""
        name = str(self._server.get("me")["name"])
        if given not in (None, name):
            raise InvalidArgumentError(
                f"You act as {name!r}: the server knows you by your token. Leave --actor out."
            )
        return name

    def describe(self) -> FlowDefinition:
        return documents.definition_of(self._description)

    @cached_property
    def _description(self) -> Any:
        return self._server.get(f"flows/{self.name}")

    def create(self, **options: Unpack[FlowOptions]) -> "RemoteFlow":
        self._server.post("flows", {"name": self.name, **options})
        return self

    def change(self, **options: Unpack[FlowChanges]) -> FlowDefinition:
        return documents.definition_of(self._server.patch(f"flows/{self.name}", dict(options)))

    def pauses(self) -> tuple[StandingHold, ...]:
        return tuple(map(documents.hold_of, self._description["pauses"]))

    def held(self) -> list[KeyStatus]:
        query = {"state": "HELD", "sort": "key", "descending": "false", "limit": 500}
        found = [self._keys(query), self._keys(query | {"state": "DRAINING"})]
        return sorted((status for each in found for status in each), key=lambda each: each.key)

    def _keys(self, query: Mapping[str, Any]) -> list[KeyStatus]:
        found, cursor = list[KeyStatus](), None
        while True:
            page = self._server.get(f"flows/{self.name}/keys", **query, cursor=cursor)
            found += map(documents.status_of, page["keys"])
            cursor = page["cursor"]
            if cursor is None:
                return found

    def status(self, key: str | bytes) -> KeyStatus:
        path = key_to_path(key_bytes(key))
        return documents.status_of(self._server.get(f"flows/{self.name}/keys/{path}"))

    def seen(self, key: bytes) -> str:
        """When events of the key were seen last, in a sentence."""
        answer = self._server.get(f"flows/{self.name}/keys/{key_to_path(key)}/seen")
        return str(answer["sentence"])

    def prefixes(self) -> list[PrefixStatus]:
        held, answer = self.held(), self._server.get(f"flows/{self.name}/prefixes")
        found = []
        for each in answer["prefixes"]:
            encoded = each["prefix_base64"]
            named = {"key": each["prefix"]} if encoded is None else {"key_base64": encoded}
            prefix = key_from_json(named) or b""
            keys = tuple(status for status in held if status.key.startswith(prefix))
            holds = tuple(map(documents.hold_of, each["holds"]))
            since = documents.milliseconds(each["since"]) or 0
            found.append(PrefixStatus(prefix, holds, since, {}, keys))
        return found

    def held_events(
        self, key: str | bytes, *, start: HeldPosition | None = None, limit: int = 100
    ) -> HeldPage:
        path = key_to_path(key_bytes(key))
        page = self._server.get(
            f"flows/{self.name}/keys/{path}/held",
            limit=min(limit, 500),
            cursor=None if start is None else str(start),
        )
        following = None if page["cursor"] is None else HeldPosition.parse(page["cursor"])
        return HeldPage(tuple(map(documents.event_of, page["events"])), following)

    def hold_prefix(
        self,
        prefix: str | bytes,
        *,
        reason: str = "",
        expires_in: timedelta | float | None = None,
        name: str | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> RemoteReceipt:
        commands = self._commands(actor, command_id)
        return self._send(
            commands.hold_prefix(prefix, reason=reason, expires_in=expires_in, name=name)
        )

    def release_prefix(
        self,
        prefix: str | bytes,
        *,
        pace: float | None = None,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> RemoteReceipt:
        commands, prefix = self._commands(actor, command_id), key_bytes(prefix)
        if holds is None and not every:
            held = {each.prefix: each.holds for each in self.prefixes()}
            whose = f"The prefix {prefix_text(prefix)}"
            meant = own_or_only(held.get(prefix, ()), commands.actor, whose)
            holds = [hold.name for hold in meant] or None
        return self._send(
            commands.release_prefix(prefix, pace=pace, holds=holds, every=every, reason=reason)
        )

    def pause(
        self,
        *,
        reason: str = "",
        name: str | None = None,
        actor: str | None = None,
        command_id: str | None = None,
    ) -> RemoteReceipt:
        return self._send(self._commands(actor, command_id).pause(reason=reason, name=name))

    def resume(
        self,
        *,
        holds: Sequence[str] | None = None,
        every: bool = False,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> RemoteReceipt:
        commands = self._commands(actor, command_id)
        if holds is None and not every:
            meant = own_or_only(self.pauses(), commands.actor, "The flow")
            holds = [hold.name for hold in meant] or None
        return self._send(commands.resume(holds=holds, every=every, reason=reason))

    def void(self, offset: int, *, reason: str = "", actor: str | None = None) -> RemoteReceipt:
        return self._send(self._commands(actor, None).void(offset, reason=reason))

    def skip(
        self,
        partition: int,
        first: int,
        last: int,
        *,
        reason: str = "",
        actor: str | None = None,
        command_id: str | None = None,
    ) -> RemoteReceipt:
        commands = self._commands(actor, command_id)
        return self._send(
            commands.skip(
                partition, first, last, reason=reason, partitions=self.describe().partitions
            )
        )

    def request(self, commands: Sequence[Command]) -> list[RemoteReceipt]:
        """Send commands of keys. ConflictError if some were refused: the others stand."""
        receipts: list[RemoteReceipt] = []
        refused: list[str] = []
        for same in _alike(commands):
            body = bodies.of_key(same[0])  # type: ignore[arg-type]
            keys = [bodies.given_key(key_of(each) or b"") for each in same]
            answer = self._server.post(
                f"flows/{self.name}/commands", {**body, "keys": keys}, idempotency_key=same[0].id
            )
            for command, result in zip(same, answer["results"], strict=True):
                if result["error"] is not None:
                    refused.append(result["error"]["detail"])
                else:
                    receipts.append(_receipt(command, result))
        if refused:
            raise ConflictError("\n".join(refused))
        return receipts

    def effects(self, receipts: Sequence[RemoteReceipt], timeout: float) -> list[Effect | None]:
        """The effect of each receipt, in order; None for those not known within `timeout`."""
        deadline, effects = monotonic() + timeout, list[Effect | None]()
        for receipt in receipts:
            effect = self._effect(receipt)
            while effect is None and monotonic() < deadline:
                sleep(_TURN_SECONDS)
                effect = self._effect(receipt)
            effects.append(effect)
        return effects

    def _effect(self, receipt: RemoteReceipt) -> Effect | None:
        path = f"flows/{self.name}/commands/{receipt.command_id}"
        try:
            rows = self._server.get(path)["effective"]
        except NotFoundError:  # the view has not read it yet
            return None
        partitions = 1
        if isinstance(receipt.command, ScopeCommand):
            rows = [row for row in rows if row["key_path"] is None]
            partitions = self.describe().partitions
        duplicate = any(row["outcome"] == "duplicate" for row in rows)
        return documents.effect_of(rows) if len(rows) >= partitions or duplicate else None

    def _send(self, command: Command) -> RemoteReceipt:
        path, body = bodies.of_flow(command)
        key = None if path == "void" else command.id
        answer = self._server.post(f"flows/{self.name}/{path}", body, idempotency_key=key)
        return _receipt(command, answer)

    def _commands(self, actor: str | None, command_id: str | None) -> CommandBuilder:
        return CommandBuilder(self.actor(actor), now_ms(), command_id)


def _receipt(command: Command, answer: Any) -> RemoteReceipt:
    return RemoteReceipt(command, answer["command_id"], answer["offset"])


def _alike(commands: Sequence[Command]) -> list[list[Command]]:
    """Commands that differ only in their key, as many as one request has."""
    groups: dict[str, list[Command]] = {}
    for command in commands:
        groups.setdefault(str(bodies.of_key(command)), []).append(command)  # type: ignore[arg-type]
    found = []
    for group in groups.values():
        left = iter(group)
        while chunk := list(islice(left, _AT_ONCE)):
            found.append(chunk)
    return found
