"""All hooks, from start to stop of a web process."""

from collections.abc import Mapping
from functools import partial
from time import monotonic

from holdfast.background import Background
from holdfast.client.client import Client
from holdfast.client.compacted_topic import FollowedTopic
from holdfast.client.connection import Connection
from holdfast.flows.journal import CommandReference
from holdfast.hooks.delivery import (
    DELIVERIES_TOPIC,
    Delivery,
    apply_delivery,
    next_number,
    of_hook,
)
from holdfast.hooks.hook import HOOKS_TOPIC, MAX_HOOKS, Hook, apply_hook
from holdfast.hooks.hook_follower import HookFollower
from holdfast.hooks.hook_log import HookLog
from holdfast.views.views import Views

_TURN_SECONDS = 0.2
_STOP_SECONDS = 5.0
_SEEN_SECONDS = 5.0
"""How long to wait until the view has the command that an outcome belongs to."""


class HookRunner:
    """Follows the hooks, and has a thread for each of them."""

    def __init__(self, connection: Connection, client: Client, views: Views) -> None:
        self.log = HookLog(client)
        self._connection = connection
        self._views = views
        self._hooks: dict[str, Hook] = {}
        self._deliveries: dict[str, Delivery] = {}
        self._topics = (
            FollowedTopic(connection, HOOKS_TOPIC, partial(apply_hook, self._hooks)),
            FollowedTopic(connection, DELIVERIES_TOPIC, partial(apply_delivery, self._deliveries)),
        )
        self._followers: dict[str, HookFollower] = {}
        self._thread = Background("hooks", self._turn)

    def start(self) -> None:
        for topic in self._topics:
            topic.start()
        self._thread.start()

    def stop(self) -> None:
        self._thread.stop(_STOP_SECONDS)
        for follower in self._followers.values():
            follower.stop(_STOP_SECONDS)
        for topic in self._topics:
            topic.stop()

    def hooks(self) -> list[Hook]:
        """All hooks, by name."""
        followed, _ = self._topics
        followed.check("The hooks")
        with followed.lock:
            return sorted(self._hooks.values(), key=lambda hook: hook.name)

    def deliveries(self, hook: Hook) -> list[Delivery]:
        """The newest attempts of a hook, the newest first."""
        _, followed = self._topics
        followed.check("The deliveries")
        with followed.lock:
            return of_hook(self._deliveries, hook.id)

    def failures(self) -> Mapping[str, str]:
        """Why hooks are not served at the moment, by the hook's id."""
        return {hook: each.failure for hook, each in self._followers.items() if each.failure}

    def _turn(self) -> None:
        followed, _ = self._topics
        if followed.known and self._views.ready:
            with followed.lock:
                wanted = {hook.id: hook for hook in list(self._hooks.values())[:MAX_HOOKS]}
            for gone in self._followers.keys() - wanted.keys():
                self._followers.pop(gone).stop(_STOP_SECONDS)
            for new in wanted.keys() - self._followers.keys():
                self._followers[new] = self._follow(wanted[new])
        self._thread.stopping.wait(_TURN_SECONDS)

    def _follow(self, hook: Hook) -> HookFollower:
        follower = HookFollower(
            self._connection,
            hook,
            self._journals,
            self._requester,
            partial(self._next_number, hook),
            self._log_delivery,
        )
        follower.start()
        return follower

    def _journals(self) -> dict[str, str]:
        return {view.names.journal: view.name for view in self._views.flows()}

    def _requester(self, flow: str, command: CommandReference) -> tuple[str, str]:
        """Actor and reason of a command, as soon as the view has read it. Empty at once if it has
        left the view's window: a follower that waits for each old event would lose its group."""
        deadline = monotonic() + _SEEN_SECONDS
        while view := next((each for each in self._views.flows() if each.name == flow), None):
            is_read = view.control_end > command.offset
            for row in view.command(command.id):
                if row.log == "control":
                    return row.actor, row.reason
            if is_read or monotonic() > deadline or self._thread.stopping.wait(0.05):
                break
        return "", ""

    def _next_number(self, hook: Hook) -> int:
        _, followed = self._topics
        with followed.lock:
            return next_number(self._deliveries, hook.id)

    def _log_delivery(self, delivery: Delivery) -> None:
        _, followed = self._topics
        self.log.log(delivery)
        followed.wait_until(
            lambda: any(
                each.number == delivery.number for each in of_hook(self._deliveries, delivery.hook)
            ),
            _SEEN_SECONDS,
        )
