"""A short fuzz of the control log; `make fuzz` goes on for longer and with other seeds."""

import pytest
from tests.fuzz.control import ControlAttack, ControlBroken

from holdfast.gate import ControlEntry, ControlLog

SEED = 20_261
ROUNDS = 60


def attacked() -> ControlAttack:
    attack = ControlAttack(SEED)
    for _ in range(ROUNDS):
        attack.round()
    return attack


def test_random_control_records_neither_crash_the_gate_nor_pass_unread() -> None:
    records = attacked().rounds
    assert records["control records unreadable"] > ROUNDS
    assert records["control records read"] > ROUNDS


def test_the_fuzzer_detects_a_gate_that_passes_unreadable_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lenient(self: ControlLog, control: int, end: int) -> list[ControlEntry]:
        return self._entries[self._index(control) : self._index(end)]

    monkeypatch.setattr(ControlLog, "between", lenient)
    with pytest.raises(ControlBroken, match=f"passed what cannot be read .seed {SEED}, round"):
        attacked()
