"""The step protocol's model keeps G1 to G4, and can fail: each broken variant is found out."""

import pytest
from model.check import BROKEN, HOLDS, REACHED, Case, missing_tools, run

pytestmark = pytest.mark.skipif(
    bool(missing_tools()),
    reason=f"{', '.join(missing_tools())} missing, and cannot be installed here: see `make spin`",
)


@pytest.mark.parametrize("case", HOLDS, ids=lambda case: case.name)
def test_model_keeps_its_promises(case: Case) -> None:
    outcome = run(case)
    assert outcome.violated is None
    assert outcome.complete, outcome.text


@pytest.mark.parametrize("case", REACHED, ids=lambda case: case.name)
def test_model_comes_as_far_as_it_has_to(case: Case) -> None:
    assert run(case).violated == case.finds


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_broken_protocol_is_refuted(case: Case) -> None:
    assert run(case).violated == case.finds
