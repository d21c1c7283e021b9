"""Lengths of time in requests: seconds, or texts such as `2h`."""

import pytest
from pydantic import ValidationError

from holdfast.api.routes.verbs import HoldBody


@pytest.mark.parametrize(
    ("given", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400), ("7d", 604_800), (7.5, 7.5)]
)
def test_length_of_time_is_a_number_or_a_text_with_a_unit(
    given: float | str, seconds: float
) -> None:
    assert HoldBody.model_validate({"expires_in": given}).expires_in == seconds


@pytest.mark.parametrize(
    "given", ["2H", "1w", "-2h", "1e9h", "\uff12h", " 2h", "2h\n", "", "9" * 400 + "h"]
)
def test_refused_text_is_answered_with_the_form_to_write(given: str) -> None:
    with pytest.raises(ValidationError, match="write 90s, 10m, 2h or 7d"):
        HoldBody.model_validate({"expires_in": given})


@pytest.mark.parametrize("given", ["0s", "277778h", 0, -1, float("nan"), float("inf"), "nan", True])
def test_length_of_time_outside_its_range_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        HoldBody.model_validate({"expires_in": given})
