"""A short fuzz of the control log; `make fuzz` goes on for longer and with other seeds."""

import pytest
from tests.fuzz.control import ControlAttack, ControlBroken

from holdfast.gate import ControlLog

SEED = 20_261
ROUNDS = 60


def attacked() -> ControlAttack:
    attack = ControlAttack(SEED)
    for _ in range(ROUNDS):
        attack.round()
    return attack


def test_no_record_on_the_control_log_crashes_the_gate_or_slips_past_it() -> None:
    records = attacked().rounds
    assert records["control records unreadable"] > ROUNDS
    assert records["control records read"] > ROUNDS


def test_a_gate_that_passes_what_it_cannot_read_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lenient(self: ControlLog, control: int, end: int) -> list[object]:
        return self._asked[self._index(control) : self._index(end)]  # type: ignore[return-value]

    monkeypatch.setattr(ControlLog, "between", lenient)
    with pytest.raises(ControlBroken, match=f"seed {SEED}, round"):
        attacked()
