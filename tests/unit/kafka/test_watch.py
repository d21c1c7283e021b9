"""The one thread that wakes all flows does not die."""

from threading import Event

import pytest

from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.watch import LogWatch

DEADLINE_S = 60.0


def test_watch_continues_after_any_error_and_names_it_to_every_listener(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted errors: in a turn, in one listener, and in the closing of connections."""
    watch = LogWatch(ClientSettings(bootstrap="127.0.0.1:1"), committed=True)
    turns, again, told = [], Event(), Event()
    reasons: list[HoldfastError] = []

    def turn() -> None:
        turns.append(1)
        if len(turns) == 1:
            raise RuntimeError("planted in a turn")
        again.set()
        watch._stopping.wait(0.001)

    def forget(_: ClusterClient) -> None:
        raise RuntimeError("planted in forget")

    def failed_badly(_: HoldfastError) -> None:
        raise RuntimeError("planted in a listener")

    def failed(error: HoldfastError) -> None:
        reasons.append(error)
        told.set()

    monkeypatch.setattr(watch, "_turn", turn)
    monkeypatch.setattr(ClusterClient, "forget", forget)
    monkeypatch.setattr(watch, "_thread", object())  # both listen before the first turn
    watch.add("a", {0: 0}, lambda ends: None, failed_badly)
    monkeypatch.setattr(watch, "_thread", None)
    watch.add("a", {0: 0}, lambda ends: None, failed)
    assert told.wait(DEADLINE_S)
    assert again.wait(DEADLINE_S)
    watch.stop()
    assert "planted in a turn" in str(reasons[0])
