"""The models of the step protocols keep their promises; each broken variant is refuted."""

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
def test_model_reaches_all_required_states(case: Case) -> None:
    assert run(case).violated == case.finds


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_broken_protocol_is_refuted(case: Case) -> None:
    assert run(case).violated == case.finds
