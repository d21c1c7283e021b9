"""What went wrong in experiments, each by name."""

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from tests.brokers import BrokerProcess
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
from holdfast.flows.journal import Outcome
from holdfast.flows.registry import Limits
from holdfast.pipeline.driver_path import take_rows
from holdfast.pipeline.exits import REPLACED
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.keeper import Keeper
from holdfast.pipeline.owner import _Member
from holdfast.pipeline.transactions import CallHangsError, Transactions


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
            while gate.states[0].entries or gate.tail.end() > gate.states[0].position.control:
                keeper.turn()
    assert world.processed() == [b"%d" % i for i in range(30)]


def test_a_hung_transaction_on_the_control_log_does_not_hide_later_holds(world: World) -> None:
    hung = Producer(
        {"bootstrap.servers": world.kafka.bootstrap, "transactional.id": world.flow.name}
    )
    hung.init_transactions(30)
    hung.begin_transaction()
    hung.produce(world.names.control, b"open for ever", b"x")
    hung.flush(30)
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


def test_rows_that_were_released_are_let_go_of_and_no_others(world: World) -> None:
    with gate_of(world) as gate:
        keeper, feeder = Keeper(gate), Feeder(world.connection, gate)
        world.flow.hold("a")
        world.flow.hold("b")
        world.send(b"a", b"1", b"2")
        world.send(b"b", b"3")
        feeder.batch()
        world.flow.release("a")
        eventually(lambda: keeper.turn() is not None and b"a" not in gate.states[0].entries, "out")
        held = Partition(world.names.held, 0)
        keeper.turn(trim=True)
        starts = Offsets(world.connection).starts([held])
        assert (
            starts[held] == gate.states[0].position.trim <= gate.states[0].entries[b"b"].held_from
        )
        world.flow.release("b")
        eventually(lambda: keeper.turn() is not None and not gate.states[0].entries, "b out")
        keeper.turn(trim=True)
        assert Offsets(world.connection).starts([held])[held] > starts[held]
    assert sorted(world.processed()) == [b"1", b"2", b"3"]
    with gate_of(world) as gate:  # nothing that was let go of is missed
        assert gate.states[0].events == 0


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
        eventually(lambda: keeper.turn() is not None and not zombie.states[0].entries, "a out")
        zombie.carry_out(lambda: keeper._step(publish=0, trim=True, force=False))
        committed = zombie.states[0].position.trim
        assert committed > 0
        heir = FlowGate(world.connection, world.flow.describe(), end=end_by_exception)
        heir.start()
        world.flow.hold("b")
        world.send(b"b", b"2", b"3")
        Feeder(world.connection, heir).batch()
        keeper._let_go()  # what it has committed before it was replaced
        held = Partition(world.names.held, 0)
        assert Offsets(world.connection).starts([held])[held] == committed
        with pytest.raises(Ended) as ended:
            keeper.turn(trim=True)
        assert ended.value.code == REPLACED
        assert Offsets(world.connection).starts([held])[held] == committed
        world.flow.release("b")
        follower = Keeper(heir)
        eventually(lambda: follower.turn() is not None and not heir.states[0].entries, "b out")
        heir.close()
    assert world.processed() == [b"1", b"2", b"3"]
    world.check_each_event_once()


def test_positions_are_committed_again_every_day_though_nothing_happens(
    kafka: BrokerProcess,
) -> None:
    """Offsets of a group that commits nothing expire."""
    world = World(kafka, partitions=2)
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        keeper.turn()
        steps = [state.position.step for state in gate.states]
        keeper.turn()
        assert [state.position.step for state in gate.states] == steps
        gate.committed_at -= 24 * 60 * 60
        keeper.turn()
        assert [state.position.step for state in gate.states] == [step + 1 for step in steps]
        committed = gate.owner.committed()
        assert [committed[p].step for p in (0, 1)] == [step + 1 for step in steps]  # type: ignore[union-attr]
        keeper.turn()
        assert [state.position.step for state in gate.states] == [step + 1 for step in steps]


def test_offsets_that_the_owners_paused_consumer_cannot_find_are_nobodys_concern(
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
        admin.delete_records([place])[place].result(30)
        member = gate.owner._member
        assert member is not None
        member.consumer.resume([TopicPartition(world.names.events, 0)])
        eventually(lambda: KafkaError._AUTO_OFFSET_RESET in errors, "a fetch of what is gone")
        assert member._error is None
        gate.owner.check()
        world.send(b"k", b"3")
        Feeder(world.connection, gate).batch()
    assert world.processed() == [b"1", b"2", b"3"]


def test_the_owner_is_in_the_group_and_fetches_nothing(world: World) -> None:
    """A pause alone, inside the callback of the assignment, does nothing."""
    world.send(b"k", *(b"%d" % i for i in range(200)))
    with running(world) as gate:
        world.wait_until_taken()
        member = gate.owner._member
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
        eventually(lambda: keeper.turn() is not None and not gate.states[0].uncounted, "counts")
        for limit, outcome in ((2, Outcome.OVERFLOW_BEGUN), (3, Outcome.OVERFLOW_ENDED)):
            gate.change(world.definition_with(limits=Limits(key_events=limit)))
            keeper.turn()
            assert world.outcomes(b"k")[-1] is outcome
    settings = [r.settings for r in world.journal() if r.outcome is Outcome.CHANGED]
    assert ['"key_events":2' in s for s in settings] == [False, True, False]


@pytest.mark.parametrize("topic", ["events", "held"])
def test_a_hung_transaction_on_a_topic_holds_back_what_is_behind_it_and_no_more(
    world: World, topic: str
) -> None:
    """Nothing passes it, nothing is lost, and all goes on when it ends."""
    hung = Producer(
        {"bootstrap.servers": world.kafka.bootstrap, "transactional.id": world.flow.name}
    )
    hung.init_transactions(30)
    with running(world) as gate:
        world.flow.hold("k").wait(30)
        hung.begin_transaction()
        hung.produce(getattr(world.names, topic), b"open", b"x", partition=0)
        hung.flush(30)
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
    world: World, commits: bool
) -> None:
    """As `send_offsets_to_transaction` did after a broker's restart; and a commit of which the
    answer is lost."""
    with gate_of(world) as gate:
        transactions = gate.committer.transactions
        real, hung = Transactions._call, []
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
        transactions._call = hang.__get__(transactions)  # type: ignore[method-assign]
        step = gate.states[0].position.step
        Feeder(world.connection, gate).batch()
        assert hung
        assert gate.states[0].events == 2
        assert gate.states[0].position.step == step + 1
        world.flow.release("k")
        keeper = Keeper(gate)
        eventually(lambda: keeper.turn() is not None and not gate.states[0].entries, "the drain")
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
            take_rows(first, ranges, rows, first.settings)
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
            take_rows(gate, ranges, feeder.rows(ranges), gate.settings)
    assert world.processed() == [b"1", b"2", b"3"]
    world.check_each_event_once()


def test_a_control_log_that_seems_shorter_takes_no_command_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new leader may not know yet how far its log was read."""
    world.flow.hold("k")
    world.send(b"k", b"1")
    with gate_of(world) as gate:
        control = gate.states[0].position.control
        assert control == 1
        monkeypatch.setattr(gate.tail, "end", lambda: 0)
        Feeder(world.connection, gate).batch()
        assert gate.states[0].position.control == control
        assert gate.states[0].events == 1
    assert world.processed() == []
