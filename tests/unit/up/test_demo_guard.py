"""The partner of the demo's guard refuses one customer at a time, for some time."""

import pytest

from holdfast.up.demo_guard import FlakyPartner, RefusedError


def test_partner_refuses_a_customer_for_some_time_and_no_other() -> None:
    now = 0.0
    partner = FlakyPartner(interval=20.0, refused_seconds=(5.0, 5.0), clock=lambda: now)
    with pytest.raises(RefusedError):
        partner.charge(b"ana")
    partner.charge(b"bo")
    now = 4.9
    with pytest.raises(RefusedError):
        partner.charge(b"ana")
    now = 5.0
    partner.charge(b"ana")
    now = 20.0
    with pytest.raises(RefusedError):
        partner.charge(b"bo")
