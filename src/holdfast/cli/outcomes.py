"""What became of a command, in one sentence."""

from typing import TYPE_CHECKING

from holdfast.flows.holds import describe_hold, prefix_text
from holdfast.flows.journal import Outcome
from holdfast.flows.keys import drawn, key_to_json

if TYPE_CHECKING:
    from holdfast.client.receipt import Effect, Receipt
    from holdfast.remote.flows import RemoteReceipt

_SENTENCES = {
    Outcome.HELD: "{key} is held from event {event} on.",
    Outcome.ADDED: "{key} was held already; this hold stands beside the others from event {event} "
    "on.",
    Outcome.REFUSED: "{key} has as many holds as a key may have: this one was not added.",
    Outcome.RELEASED: "{key} is released: its held events leave in order, newer ones behind them.",
    Outcome.HOLD_RELEASED: "The hold is ended, and {key} stays held by {others}.",
    Outcome.DEAD_LETTERED: "The held events of {key} before event {event} go to the dead letters.",
    Outcome.NOTHING_TO_DO: "{key} was not held, so nothing was changed.",
    Outcome.SUPERSEDED: "A later command for {key} was applied instead.",
    Outcome.DUPLICATE: "An earlier command has this id, so nothing was changed.",
    Outcome.PAUSED: "The flow is paused: it takes no events.",
    Outcome.RESUMED: "The flow is resumed: it takes the events that waited.",
    Outcome.VOIDED: "The gate has passed that command.",
    Outcome.SKIPPED: "The gate has passed the events from {event} on.",
}
_UPDATED = {
    "hold": "{key} was held under this name already: its reason and expiry are the new ones.",
    "hold-prefix": "{key} was held under this name already: reason and expiry are the new ones.",
    "pause": "{key} was paused under this name already: its reason is the new one.",
    "release": "{key} was draining already: it has the new pace.",
}


def sentence(receipt: "Receipt | RemoteReceipt", effect: "Effect") -> str:
    """The outcome of a command, for people."""
    name, outcome = receipt.command.name, effect.outcome
    text = _UPDATED.get(name) if outcome is Outcome.UPDATED else _SENTENCES.get(outcome)
    return (text or f"The outcome of the command is: {outcome.value}.").format(
        key=_whom(receipt),
        event=f"{effect.partition}:{effect.cut}",
        others=", ".join(map(describe_hold, effect.remaining)),
    )


def _whom(receipt: "Receipt | RemoteReceipt") -> str:
    """The key, prefix or flow that a command is about."""
    key, prefix = (getattr(receipt.command, name, None) for name in ("key", "prefix"))
    if key is not None:
        return drawn(next(iter(key_to_json(key).values())))
    return "The flow" if prefix is None else f"The prefix {prefix_text(prefix)}"
