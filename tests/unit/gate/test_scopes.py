"""Holds of prefixes, and pauses of the whole flow."""

from tests.unit.gate.driver import Crash
from tests.unit.gate.flow import Flow

from holdfast.flows.commands import Pause, PrefixHold, PrefixRelease, Resume
from holdfast.flows.holds import MAX_PREFIX_HOLDS
from holdfast.flows.status import KeyState

A, B, OTHER = b"t/1", b"t/2", b"u/1"


def hold_prefix(flow: Flow, prefix: bytes = b"t/", **fields: object) -> int:
    return flow.ask(PrefixHold(prefix=prefix, **flow._identity(fields)))


def release_prefix(flow: Flow, prefix: bytes = b"t/", **fields: object) -> int:
    return flow.ask(PrefixRelease(prefix=prefix, **flow._identity(fields)))


def pause(flow: Flow, **fields: object) -> int:
    return flow.ask(Pause(**flow._identity(fields)))


def resume(flow: Flow, **fields: object) -> int:
    return flow.ask(Resume(**flow._identity(fields)))


def test_events_of_all_keys_with_a_held_prefix_are_held() -> None:
    flow = Flow(partitions=2)
    hold_prefix(flow)
    for key in (A, B, OTHER):
        flow.send(key)
    flow.batch()
    held = {key for state in flow.driver.states for key in state.entries}
    assert held == {A, B}
    release_prefix(flow)
    flow.keep(2)
    assert not any(state.entries for state in flow.driver.states)
    assert not any(state.scopes for state in flow.driver.states)


def test_key_with_a_hold_of_its_own_stays_held_after_the_release_of_its_prefix() -> None:
    flow = Flow()
    hold_prefix(flow, hold_name="ana")
    flow.hold(A, hold_name="ana")
    flow.send(A)
    flow.batch()
    release_prefix(flow, every=True)
    flow.keep()
    entry = flow.entry(A)
    assert entry is not None
    assert [(hold.name, hold.prefix) for hold in entry.holds] == [("ana", b"")]
    assert flow.processed() == []


def test_release_of_a_key_does_not_end_the_hold_of_its_prefix() -> None:
    flow = Flow()
    flow.hold(A)
    hold_prefix(flow)
    flow.send(A)
    flow.batch()
    flow.release(A, every=True)
    flow.keep()
    entry = flow.entry(A)
    assert entry is not None
    assert [hold.prefix for hold in entry.holds] == [b"t/"]
    assert flow.processed() == []


def test_hold_of_a_prefix_stops_the_drains_of_its_keys() -> None:
    flow = Flow()
    flow.hold(A)
    flow.send(A, 5)
    flow.batch()
    flow.release(A)
    flow.keep()
    flow.keep(rows=2)
    hold_prefix(flow)
    flow.keep(3)
    entry = flow.entry(A)
    assert entry is not None
    assert entry.state is KeyState.HELD
    assert flow.processed() == [0, 1]


def test_hold_of_a_prefix_survives_a_restart_also_for_keys_that_were_not_seen() -> None:
    flow = Flow()
    hold_prefix(flow, expires_at=flow.now + 5_000)
    flow.keep()
    flow.restart()
    flow.send(A)
    flow.batch()
    assert flow.processed() == []
    flow.now += 6_000
    flow.keep(2)
    assert flow.processed() == [0]
    assert flow.outcomes().count("expired") == 2, "of the prefix, and of its key"


def test_another_hold_beyond_the_most_prefixes_is_refused() -> None:
    flow = Flow()
    for number in range(MAX_PREFIX_HOLDS + 1):
        hold_prefix(flow, b"p%d" % number)
    flow.keep()
    assert flow.outcomes().count("held") == MAX_PREFIX_HOLDS
    assert flow.outcomes()[-1] == "refused"


def test_key_that_is_too_long_for_a_command_is_not_held_by_its_prefix() -> None:
    """Its entry could not be read again."""
    flow = Flow()
    hold_prefix(flow)
    flow.kafka.send(0, b"t/" + b"x" * 70_000)
    flow.driver.batch({0: 1}, flow.time, chunk=9, task=False, crash=Crash.NEVER)
    assert flow.processed() == [0]


def test_paused_flow_takes_no_events_and_gives_none_out() -> None:
    flow = Flow()
    flow.hold(A)
    flow.send(A, 2)
    flow.batch()
    pause(flow)
    flow.send(OTHER)
    flow.release(A)
    assert not flow.batch()
    flow.keep(2)
    assert not flow.batch()
    assert flow.processed() == []
    flow.restart()
    assert not flow.batch()
    resume(flow)
    flow.keep(2)
    flow.batch()
    assert flow.processed() == [0, 1, 2]


def test_dead_letters_leave_a_paused_flow() -> None:
    flow = Flow()
    flow.hold(A)
    flow.send(A, 2)
    flow.batch()
    pause(flow)
    flow.dead_letter(A)
    flow.keep(2)
    assert flow.dlq() == [0, 1]
    assert not flow.driver.states[0].drains


def test_draining_keys_of_a_paused_flow_are_not_due() -> None:
    flow = Flow()
    flow.hold(A)
    flow.hold(B)
    flow.send(A)
    flow.send(B)
    flow.batch()
    pause(flow)
    flow.release(A)
    flow.release(B, pace=5)
    flow.keep()
    state = flow.driver.states[0]
    assert not state.drains
    assert state.next_paced() is None
