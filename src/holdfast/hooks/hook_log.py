"""Adding, removing, listing and testing hooks, on `holdfast.hooks` and `holdfast.deliveries`."""

from collections.abc import Sequence
from functools import partial

from holdfast.client.client import Client
from holdfast.client.compacted_topic import CompactedTopic
from holdfast.client.planned_topics import make_table
from holdfast.clock import now_ms
from holdfast.errors import AlreadyExistsError, ConflictError, HoldfastError, NotFoundError
from holdfast.hooks.delivery import (
    DELIVERIES_TOPIC,
    Delivery,
    apply_delivery,
    deliver,
    encode_delivery,
    next_number,
    of_hook,
)
from holdfast.hooks.event import event_of_test
from holdfast.hooks.hook import (
    HOOKS_TOPIC,
    MAX_HOOKS,
    BodyFormat,
    Hook,
    apply_hook,
    encode_hook,
    new_hook,
)


class HookLog:
    """The hooks of a cluster. Web processes apply changes as soon as they have read them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def add(
        self,
        url: str,
        on: Sequence[str],
        *,
        created_by: str,
        name: str = "",
        body_format: BodyFormat = BodyFormat.JSON,
    ) -> Hook:
        """A new hook. It reports what happens from now on."""
        hook = new_hook(
            url, on, now=now_ms(), created_by=created_by, name=name, body_format=body_format
        )
        for topic in (HOOKS_TOPIC, DELIVERIES_TOPIC):
            make_table(self._client.connection, topic)
        hooks = self.hooks()
        if any(each.name == hook.name for each in hooks):
            raise AlreadyExistsError(
                f"There is a hook {hook.name!r} already. Give this one another name."
            )
        if len(hooks) >= MAX_HOOKS:
            raise ConflictError(f"There are {MAX_HOOKS} hooks, the most. Remove one first.")
        key, value = encode_hook(hook)
        self._client.send(HOOKS_TOPIC, value, key).result()
        return hook

    def remove(self, name: str) -> Hook:
        """Remove the hook of that name or id, its log, and its committed offsets."""
        hook = self.get(name)
        self._client.send(HOOKS_TOPIC, None, hook.id).result()
        for key in [key for key, each in self._read_deliveries().items() if each.hook == hook.id]:
            self._client.send(DELIVERIES_TOPIC, None, key).result()
        try:
            self._client.groups.delete(hook.group)
        except HoldfastError:
            pass  # web processes are still in it, or none ever was; an unused group expires
        return hook

    def get(self, name: str) -> Hook:
        """The hook of that name or id, or NotFoundError."""
        for hook in self.hooks():
            if name in (hook.name, hook.id):
                return hook
        raise NotFoundError(f"There is no hook {name!r}.")

    def hooks(self) -> list[Hook]:
        """All readable hooks, by name."""
        hooks: dict[str, Hook] = {}
        apply = partial(apply_hook, hooks)
        CompactedTopic(self._client.connection, HOOKS_TOPIC, apply).read_to_end()
        return sorted(hooks.values(), key=lambda hook: hook.name)

    def deliveries(self, hook: Hook) -> list[Delivery]:
        """The newest attempts, the newest first."""
        return of_hook(self._read_deliveries(), hook.id)

    def test(self, hook: Hook, actor: str) -> Delivery:
        """Send a test event once, now, and log it."""
        now = now_ms()
        number = next_number(self._read_deliveries(), hook.id)
        delivery = deliver(hook, event_of_test(hook, actor, now), attempt=1, number=number, now=now)
        self.log(delivery)
        return delivery

    def log(self, delivery: Delivery) -> None:
        key, value = encode_delivery(delivery)
        self._client.send(DELIVERIES_TOPIC, value, key).result()

    def _read_deliveries(self) -> dict[str, Delivery]:
        deliveries: dict[str, Delivery] = {}
        apply = partial(apply_delivery, deliveries)
        CompactedTopic(self._client.connection, DELIVERIES_TOPIC, apply).read_to_end()
        return deliveries
