"""The hooks, each with its newest deliveries."""

from dataclasses import dataclass

from holdfast.dashboard.state_styles import StateStyle, delivery_style
from holdfast.hooks.delivery import Delivery
from holdfast.hooks.hook import Hook
from holdfast.hooks.hook_runner import HookRunner

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class HookCard:
    """A hook, and its newest deliveries with their styles."""

    hook: Hook
    style: StateStyle
    deliveries: tuple[tuple[Delivery, StateStyle], ...]
    failure: str
    """Why it is not served at the moment; empty if it is."""


def hook_cards(runner: HookRunner) -> list[HookCard]:
    """All hooks, by name."""
    return [hook_card(runner, hook, runner.deliveries(hook)) for hook in runner.hooks()]


def hook_card(runner: HookRunner, hook: Hook, deliveries: list[Delivery]) -> HookCard:
    lines = tuple((each, delivery_style(each.delivered)) for each in deliveries[:_SHOWN])
    newest = lines[0][1] if lines else delivery_style(None)
    return HookCard(hook, newest, lines, runner.failures().get(hook.id, ""))
