"""Failures that were found in experiments, each by name."""

from collections import Counter

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import (
    Ended,
    World,
    end_by_exception,
    eventually,
    gate_of,
    running,
)

from holdfast.client.positions import Offsets, Partition
from holdfast.errors import GateStoppedError
from holdfast.flows.journal import Outcome
from holdfast.flows.registry import Limits
from holdfast.kafka.transactions import CallHangsError, Transactions
from holdfast.pipeline.gate.driver_path import take_rows
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.gate.owner import _Member
from holdfast.pipeline.parts.ticket import REPLACED


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def test_held_rows_of_a_fresh_commit_are_all_given_out(world: World) -> None:
    """The last stable offset may be behind a commit that was just made: a drain that took the
    log's end for the end would leave rows behind."""
    with gate_of(world) as gate:
        keeper, feeder = Keeper(gate), Feeder(world.connection, gate)
        for i in range(30):
            key = b"k%d" % i
            world.flow.hold(key)
            world.send(key, b"%d" % i)
            feeder.batch()
            world.flow.release(key)
            while (
                gate._exclusive.states[0].entries
                or gate._exclusive.tail.end() > gate.positions()[0].control
            ):
                keeper.turn()
    assert world.processed() == [b"%d" % i for i in range(30)]


def test_a_hung_transaction_on_the_control_log_does_not_hide_later_holds(world: World) -> None:
    hung = Producer(
        {"bootstrap.servers": world.kafka.bootstrap, "transactional.id": world.flow.name}
    )
    hung.init_transactions(30)
    hung.begin_transaction()
    hung.produce(world.names.control, b"open for ever", b"x")
    hung.flush(DEADLINE_S)
    world.flow.void(0)
    with running(world):
        world.flow.hold("k")
        world.send(b"k", b"1")
        world.send(b"o", b"2")
        eventually(lambda: world.processed() == [b"2"], "the other event")
        world.wait_until_taken()
        assert world.processed() == [b"2"]


def test_a_record_too_large_for_processed_is_a_dead_letter_alone(world: World) -> None:
    world.client.topics.set_config(world.names.processed, {"max.message.bytes": "20000"})
    world.send(b"k", *(b"%d" % i for i in range(20)), b"x" * 50_000, b"after")
    with running(world):
        eventually(lambda: len(world.processed()) == 21, "all but one")
    assert world.processed() == [*(b"%d" % i for i in range(20)), b"after"]
    (dead,) = world.out(world.names.dlq)
    assert dead.source == (0, 20)
    assert dict(dead.headers)["holdfast-error"] == b"too-large"
    world.check_each_event_once()


def test_only_released_rows_are_dropped_from_memory(world: World) -> None:
    with gate_of(world) as gate:
        keeper, feeder = Keeper(gate), Feeder(world.connection, gate)
        world.flow.hold("a")
        world.flow.hold("b")
        world.send(b"a", b"1", b"2")
        world.send(b"b", b"3")
        feeder.batch()
        world.flow.release("a")
        eventually(
            lambda: keeper.turn() is not None and b"a" not in gate._exclusive.states[0].entries,
            "out",
        )
        held = Partition(world.names.held, 0)
        keeper.turn(trim=True)
        starts = Offsets(world.connection).starts([held])
        assert (
            starts[held]
            == gate.positions()[0].trim
            <= gate._exclusive.states[0].entries[b"b"].held_from
        )
        world.flow.release("b")
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].entries, "b out"
        )
        keeper.turn(trim=True)
        assert Offsets(world.connection).starts([held])[held] > starts[held]
    assert Counter(world.processed()) == Counter([b"1", b"2", b"3"])
    with gate_of(world) as gate:  # no trimmed row is missed
        assert gate._exclusive.states[0].events == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_zombie_that_trims_deletes_nothing_that_is_needed(world: World) -> None:
    """It knows nothing of what was held since it was replaced, but sees that held has grown. Only
    a committed trim point is used, and its commit is refused."""
    with gate_of(world) as zombie:
        keeper = Keeper(zombie)
        world.flow.hold("a")
        world.send(b"a", b"1")
        Feeder(world.connection, zombie).batch()
        world.flow.release("a")
        eventually(
            lambda: keeper.turn() is not None and not zombie._exclusive.states[0].entries, "a out"
        )
        zombie.run_exclusively(lambda flow: keeper._step(flow, publish=0, trim=True, force=False))
        committed = zombie.positions()[0].trim
        assert committed > 0
        heir = FlowGate(world.connection, world.flow.describe(), end=end_by_exception)
        heir.start()
        world.flow.hold("b")
        world.send(b"b", b"2", b"3")
        Feeder(world.connection, heir).batch()
        keeper._trim_held()  # what it has committed before it was replaced
        held = Partition(world.names.held, 0)
        assert Offsets(world.connection).starts([held])[held] == committed
        with pytest.raises(Ended) as ended:
            keeper.turn(trim=True)
        assert ended.value.code == REPLACED
        assert Offsets(world.connection).starts([held])[held] == committed
        world.flow.release("b")
        follower = Keeper(heir)
        eventually(
            lambda: follower.turn() is not None and not heir._exclusive.states[0].entries, "b out"
        )
        heir.close()
    assert world.processed() == [b"1", b"2", b"3"]
    world.check_each_event_once()


def test_positions_of_an_idle_flow_are_committed_daily(
    kafka: BrokerProcess,
) -> None:
    """Offsets of a group that commits nothing expire."""
    world = World(kafka, partitions=2)
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        keeper.turn()
        steps = [position.step for position in gate.positions()]
        keeper.turn()
        assert [position.step for position in gate.positions()] == steps
        gate._exclusive.committed_at -= 24 * 60 * 60
        keeper.turn()
        assert [position.step for position in gate.positions()] == [step + 1 for step in steps]
        committed = gate._exclusive.owner.committed()
        assert [committed[p].step for p in (0, 1)] == [step + 1 for step in steps]  # type: ignore[union-attr]
        keeper.turn()
        assert [position.step for position in gate.positions()] == [step + 1 for step in steps]


def test_offsets_that_the_owners_paused_consumer_cannot_find_are_ignored(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetch that began before the pause may find that its offset was deleted."""
    world.send(b"k", b"1", b"2")
    with gate_of(world) as gate:
        Feeder(world.connection, gate).batch()
        errors, real = [], _Member._take_error

        def noted(self: _Member, error: KafkaError) -> None:
            real(self, error)
            errors.append(error.code())

        monkeypatch.setattr(_Member, "_take_error", noted)
        place = TopicPartition(world.names.events, 0, 2)
        admin = AdminClient({"bootstrap.servers": world.kafka.bootstrap})
        admin.delete_records([place])[place].result(DEADLINE_S)
        member = gate._exclusive.owner._member
        assert member is not None
        member.consumer.resume([TopicPartition(world.names.events, 0)])
        eventually(lambda: KafkaError._AUTO_OFFSET_RESET in errors, "a fetch of what is gone")
        assert member._error is None
        gate._exclusive.owner.check()
        world.send(b"k", b"3")
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"1", b"2", b"3"]


def test_the_owner_is_in_the_group_and_fetches_nothing(world: World) -> None:
    """A pause alone, inside the callback of the assignment, does nothing."""
    world.send(b"k", *(b"%d" % i for i in range(200)))
    with running(world) as gate:
        world.wait_until_taken()
        member = gate._exclusive.owner._member
        assert member is not None
        (place,) = member.consumer.assignment()
        assert member.consumer.position([place])[0].offset in (0, OFFSET_INVALID)
        member.consumer.resume([place])  # so it would be
        eventually(lambda: member.consumer.position([place])[0].offset > 0, "what it would do")
    world.check_each_event_once()


def test_changed_limits_are_journalled_on_an_idle_flow(world: World) -> None:
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        world.flow.hold("k")
        world.send(b"k", b"1", b"2")
        Feeder(world.connection, gate).batch()
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].uncounted, "counts"
        )
        for limit, outcome in ((2, Outcome.OVERFLOW_BEGUN), (3, Outcome.OVERFLOW_ENDED)):
            gate.change(world.definition_with(limits=Limits(key_events=limit)))
            keeper.turn()
            assert world.outcomes(b"k")[-1] is outcome
    settings = [r.settings for r in world.journal() if r.outcome is Outcome.CHANGED]
    assert ['"key_events":2' in s for s in settings] == [False, True, False]


@pytest.mark.parametrize("topic", ["events", "held"])
def test_hung_transaction_holds_back_only_later_events_of_its_topic(
    world: World, topic: str
) -> None:
    """Nothing passes it, nothing is lost, and all goes on when it ends."""
    hung = Producer(
        {"bootstrap.servers": world.kafka.bootstrap, "transactional.id": world.flow.name}
    )
    hung.init_transactions(30)
    with running(world) as gate:
        world.flow.hold("k").wait(DEADLINE_S)
        hung.begin_transaction()
        hung.produce(getattr(world.names, topic), b"open", b"x", partition=0)
        hung.flush(DEADLINE_S)
        world.send(b"k", b"1")
        world.send(b"o", b"2")
        if topic == "held":
            eventually(lambda: world.processed() == [b"2"], "the other event")
            world.flow.release("k")
            eventually(lambda: "transaction left open" in str(gate.trouble), "its word")
        assert b"1" not in world.processed()
        hung.abort_transaction(30)
        if topic == "events":
            eventually(lambda: world.processed() == [b"2"], "the other event")
            world.flow.release("k")
        eventually(lambda: world.processed() == [b"2", b"1"], "the held event")
    world.check_each_event_once()


@pytest.mark.parametrize("commits", [False, True], ids=["before", "after"])
def test_a_step_whose_call_hung_is_repeated_only_if_it_was_not_committed(
    world: World, commits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `send_offsets_to_transaction` did after a broker's restart; and a commit of which the
    answer is lost."""
    with gate_of(world) as gate:
        transactions = gate._exclusive.committer.transactions
        assert isinstance(transactions, Transactions)
        real = Transactions._call
        hung: list[str] = []
        at = "commit_transaction" if commits else "send_offsets_to_transaction"

        def hang(self: Transactions, name: str, *arguments: object) -> None:
            if name != at or hung:
                real(self, name, *arguments)
                return
            hung.append(name)
            if commits:
                real(self, name, *arguments)
            raise CallHangsError(f"{name} has not returned.")

        world.flow.hold("k")
        world.send(b"k", b"1", b"2")
        world.send(b"o", b"3")
        monkeypatch.setattr(transactions, "_call", hang.__get__(transactions))
        step = gate.positions()[0].step
        Feeder(world.connection, gate).batch()
        assert hung
        assert gate._exclusive.states[0].events == 2
        assert gate.positions()[0].step == step + 1
        world.flow.release("k")
        keeper = Keeper(gate)
        eventually(
            lambda: keeper.turn() is not None and not gate._exclusive.states[0].entries, "the drain"
        )
    assert world.processed() == [b"3", b"1", b"2"]
    world.check_each_event_once()


# The first one's threads end as their process would.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_second_gate_refuses_the_first_ones_steps(world: World) -> None:
    world.send(b"k", b"1", b"2")
    with gate_of(world) as first:
        feeder = Feeder(world.connection, first)
        ranges = feeder.plan()
        rows = feeder.rows(ranges)
        second = FlowGate(world.connection, world.flow.describe(), end=end_by_exception)
        second.start()
        with pytest.raises(Ended) as ended:
            take_rows(first, ranges, rows, first.settings, first.epochs())
        assert ended.value.code == REPLACED
        Feeder(world.connection, second).batch()
        second.close()
    assert world.processed() == [b"1", b"2"]
    world.check_each_event_once()


def test_a_range_planned_from_an_older_checkpoint_is_taken_once(world: World) -> None:
    world.send(b"k", b"1", b"2")
    with gate_of(world) as gate:
        feeder = Feeder(world.connection, gate)
        old = feeder.plan()
        feeder.batch()
        world.send(b"k", b"3")
        (_, end) = feeder.plan()[0]
        for ranges in (old, {0: (0, end)}, {0: (0, end)}):
            take_rows(gate, ranges, feeder.rows(ranges), gate.settings, gate.epochs())
    assert world.processed() == [b"1", b"2", b"3"]
    world.check_each_event_once()


def test_shorter_control_log_end_passes_no_event_and_a_new_start_reads_the_log_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new leader may lack commands, or not know yet how far its log was replicated."""
    world.flow.hold("k")
    world.send(b"k", b"1")
    with gate_of(world) as gate:
        with monkeypatch.context() as patch, gate.exclusive() as flow:
            patch.setattr(flow.tail, "end", lambda: 0)
            with pytest.raises(GateStoppedError, match="The log ends at 0"):
                flow.begin_step()
        assert gate.control_failure is not None  # so its part is started again
    with gate_of(world) as gate:
        Feeder(world.connection, gate).batch()
        assert gate._exclusive.states[0].events == 1
    assert world.processed() == []
