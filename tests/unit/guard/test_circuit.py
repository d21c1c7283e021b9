"""The circuit: an outage is not poison."""

from holdfast.guard.circuit import Allowance, Circuit, CircuitSettings

SETTINGS = CircuitSettings(keys=5, tries=20, first_pause_ms=100, longest_pause_ms=400)


def opened() -> Circuit:
    circuit = Circuit(SETTINGS)
    for number in range(5):
        circuit.record(b"%d" % number, succeeded=False, now=0)
    return circuit


def test_one_key_that_always_fails_does_not_open_it() -> None:
    circuit = Circuit(SETTINGS)
    for now in range(1_000):
        circuit.record(b"poison", succeeded=False, now=now)
    assert not circuit.is_open


def test_failures_of_many_keys_open_it() -> None:
    circuit = opened()
    assert circuit.is_open
    assert circuit.allows(now=50) is Allowance.NONE
    assert circuit.next_probe() == 100


def test_failures_among_many_successes_do_not_open_it() -> None:
    circuit = Circuit(SETTINGS)
    for number in range(1_000):
        circuit.record(b"%d" % number, succeeded=number % 4 > 0, now=number)
    assert not circuit.is_open


def test_outage_after_a_busy_time_is_found_within_the_last_tries() -> None:
    circuit = Circuit(SETTINGS)
    for number in range(100_000):
        circuit.record(b"%d" % number, succeeded=True, now=0)
    for number in range(10):
        circuit.record(b"%d" % number, succeeded=False, now=0)
    assert circuit.is_open


def test_old_failures_do_not_count() -> None:
    circuit = Circuit(SETTINGS)
    for number in range(20):
        circuit.record(b"%d" % number, succeeded=False, now=number * 10_000)
    assert not circuit.is_open


def test_one_event_at_a_time_is_tried_with_a_growing_pause() -> None:
    circuit, now, pauses = opened(), 0, []
    for _ in range(4):
        at = circuit.next_probe()
        assert at is not None
        pauses.append(at - now)
        now = at
        assert circuit.allows(now) is Allowance.ONE
        assert circuit.allows(now) is Allowance.NONE
        circuit.record(b"0", succeeded=False, now=now)
    assert pauses == [100, 200, 400, 400]


def test_first_success_closes_it() -> None:
    circuit = opened()
    assert circuit.allows(100) is Allowance.ONE
    circuit.record(b"0", succeeded=True, now=100)
    assert circuit.allows(100) is Allowance.ALL


def test_probe_without_an_event_is_given_back() -> None:
    circuit = opened()
    assert circuit.allows(100) is Allowance.ONE
    circuit.give_back()
    assert circuit.allows(100) is Allowance.ONE
