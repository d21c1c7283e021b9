"""The steps that one transactional id may take."""

from collections.abc import Callable
from typing import Any

import pytest

from holdfast.broker.transactions.transaction import (
    EXHAUSTED_EPOCH,
    LAST_EPOCH,
    NO_EPOCH,
    Producer,
    TopicPartition,
    Transaction,
    TransactionRefused,
    TransactionState,
)
from holdfast.wire.protocol.errors import ErrorCode

A, B = TopicPartition("a", 0), TopicPartition("b", 3)


def at(state: TransactionState, **fields: Any) -> Transaction:
    defaults = {
        "transactional_id": "t",
        "producer_id": 7,
        "epoch": 4,
        "timeout_ms": 1000,
        "started_ms": 50,
        "updated_ms": 60,
        "partitions": frozenset() if state is TransactionState.EMPTY else frozenset({A}),
    }
    return Transaction(state=state, **{**defaults, **fields})


def initialised(transaction: Transaction, expected: Producer | None = None) -> Transaction:
    return transaction.initialised(2000, expected, lambda: 99, 100)


def refusal(act: Callable[..., object], *arguments: object) -> ErrorCode:
    with pytest.raises(TransactionRefused) as refused:
        act(*arguments)
    return refused.value.error


@pytest.mark.parametrize(
    "state",
    [TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT],
)
def test_a_new_producer_gets_the_next_epoch_and_an_empty_transaction(
    state: TransactionState,
) -> None:
    after = initialised(at(state))
    assert after.producer == (7, 5)
    assert (after.state, after.partitions, after.started_ms) == (
        TransactionState.EMPTY,
        frozenset(),
        -1,
    )
    assert (after.timeout_ms, after.updated_ms, after.last_epoch) == (2000, 100, NO_EPOCH)


def test_the_first_producer_of_an_id_starts_at_epoch_0() -> None:
    assert initialised(at(TransactionState.EMPTY, epoch=NO_EPOCH)).producer == (7, 0)
    unknown = initialised(at(TransactionState.EMPTY, epoch=NO_EPOCH), Producer(1, 1))
    assert unknown.producer == (7, 0)


def test_used_up_epochs_give_a_new_producer_id() -> None:
    after = initialised(at(TransactionState.EMPTY, epoch=EXHAUSTED_EPOCH))
    assert (after.producer, after.previous_producer_id) == ((99, 0), 7)


def test_a_takeover_during_an_open_transaction_aborts_it_under_a_new_epoch() -> None:
    after = initialised(at(TransactionState.ONGOING, last_epoch=3))
    assert (after.state, after.epoch, after.last_epoch) == (
        TransactionState.PREPARE_ABORT,
        5,
        NO_EPOCH,
    )
    assert after.partitions == {A}


def test_a_fence_never_overflows_the_epoch() -> None:
    assert at(TransactionState.ONGOING, epoch=EXHAUSTED_EPOCH).fenced(1).epoch == LAST_EPOCH
    assert at(TransactionState.ONGOING, epoch=LAST_EPOCH).fenced(1).epoch == LAST_EPOCH


@pytest.mark.parametrize("state", [TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT])
def test_a_takeover_waits_until_the_decision_is_carried_out(state: TransactionState) -> None:
    assert refusal(initialised, at(state)) is ErrorCode.CONCURRENT_TRANSACTIONS


def test_a_producer_may_continue_after_an_error() -> None:
    after = initialised(at(TransactionState.EMPTY), Producer(7, 4))
    assert (after.producer, after.last_epoch) == ((7, 5), 4)


def test_repeated_init_after_a_lost_answer_gets_the_same_epoch() -> None:
    once = initialised(at(TransactionState.EMPTY), Producer(7, 4))
    assert initialised(once, Producer(7, 4)).producer == once.producer
    last = at(TransactionState.EMPTY, epoch=EXHAUSTED_EPOCH)
    rotated = initialised(last, last.producer)
    assert rotated.producer == (99, 0)
    assert initialised(rotated, last.producer).producer == (99, 0)


@pytest.mark.parametrize("state", [TransactionState.EMPTY, TransactionState.ONGOING])
@pytest.mark.parametrize("stranger", [Producer(7, 3), Producer(7, 5), Producer(6, 4)])
def test_a_fenced_producer_cannot_come_back_nor_disturb_its_successor(
    state: TransactionState, stranger: Producer
) -> None:
    assert refusal(initialised, at(state), stranger) is ErrorCode.PRODUCER_FENCED


def test_superseded_producer_cannot_repeat_a_lost_init() -> None:
    bumped = initialised(at(TransactionState.EMPTY), Producer(7, 4))
    followed = initialised(bumped)
    assert refusal(initialised, followed, Producer(7, 4)) is ErrorCode.PRODUCER_FENCED


def test_only_the_present_producer_is_accepted() -> None:
    transaction = at(TransactionState.ONGOING)
    transaction.check(Producer(7, 4))
    assert refusal(transaction.check, Producer(7, 3)) is ErrorCode.PRODUCER_FENCED
    assert refusal(transaction.check, Producer(7, 5)) is ErrorCode.PRODUCER_FENCED
    assert refusal(transaction.check, Producer(8, 4)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_the_first_partition_begins_the_transaction_and_its_time() -> None:
    begun = at(TransactionState.COMPLETE_COMMIT, partitions=frozenset()).extended({A}, 100)
    assert (begun.state, begun.partitions, begun.started_ms) == (
        TransactionState.ONGOING,
        frozenset({A}),
        100,
    )
    more = begun.extended({B}, 200)
    assert (more.partitions, more.started_ms, more.updated_ms) == (frozenset({A, B}), 100, 200)
    assert more.extended({A}, 300) is more


@pytest.mark.parametrize("state", [TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT])
def test_nothing_is_added_to_a_transaction_that_is_decided(state: TransactionState) -> None:
    assert refusal(at(state).extended, {B}, 1) is ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize(
    ("state", "commit", "answer"),
    [
        (TransactionState.ONGOING, True, TransactionState.PREPARE_COMMIT),
        (TransactionState.ONGOING, False, TransactionState.PREPARE_ABORT),
        (TransactionState.COMPLETE_COMMIT, True, TransactionState.COMPLETE_COMMIT),
        (TransactionState.COMPLETE_ABORT, False, TransactionState.COMPLETE_ABORT),
        (TransactionState.COMPLETE_COMMIT, False, ErrorCode.INVALID_TXN_STATE),
        (TransactionState.COMPLETE_ABORT, True, ErrorCode.INVALID_TXN_STATE),
        (TransactionState.PREPARE_COMMIT, True, ErrorCode.CONCURRENT_TRANSACTIONS),
        (TransactionState.PREPARE_ABORT, False, ErrorCode.CONCURRENT_TRANSACTIONS),
        (TransactionState.PREPARE_COMMIT, False, ErrorCode.INVALID_TXN_STATE),
        (TransactionState.PREPARE_ABORT, True, ErrorCode.INVALID_TXN_STATE),
        (TransactionState.EMPTY, True, ErrorCode.INVALID_TXN_STATE),
        (TransactionState.EMPTY, False, ErrorCode.INVALID_TXN_STATE),
    ],
)
def test_a_transaction_is_decided_once(
    state: TransactionState, commit: bool, answer: TransactionState | ErrorCode
) -> None:
    if isinstance(answer, ErrorCode):
        assert refusal(at(state).prepared, commit, 1) is answer
    else:
        assert at(state).prepared(commit, 1).state is answer


FOURTH = Producer(7, 4)


def ended(
    transaction: Transaction, commit: bool = True, producer: Producer = FOURTH
) -> Transaction:
    return transaction.ended(producer, commit, lambda: 99, 100)


@pytest.mark.parametrize("commit", [True, False])
def test_each_transaction_of_version_2_has_an_epoch_of_its_own(commit: bool) -> None:
    decided = ended(at(TransactionState.ONGOING), commit)
    assert (decided.producer, decided.last_epoch, decided.commits) == ((7, 5), 4, commit)
    assert refusal(ended, decided, commit) is ErrorCode.CONCURRENT_TRANSACTIONS
    done = decided.completed(110)
    assert done.producer == (7, 5)
    assert ended(done, commit) is done
    assert refusal(ended, done, not commit) is ErrorCode.INVALID_TXN_STATE


def test_late_end_of_a_transaction_does_not_touch_the_next_one() -> None:
    done = ended(at(TransactionState.ONGOING)).completed(110)
    following = done.extended({B}, 120)
    for commit in (True, False):
        assert refusal(ended, following, commit) is ErrorCode.PRODUCER_FENCED
    assert refusal(initialised, following, Producer(7, 4)) is ErrorCode.PRODUCER_FENCED


def test_version_2_aborts_a_transaction_that_never_began_but_does_not_commit_it() -> None:
    for state in (
        TransactionState.EMPTY,
        TransactionState.COMPLETE_COMMIT,
        TransactionState.COMPLETE_ABORT,
    ):
        unused = at(state, partitions=frozenset())
        assert ended(unused, commit=False).producer == (7, 5)
        assert refusal(ended, unused, True) is ErrorCode.INVALID_TXN_STATE


def test_end_with_the_last_epoch_gives_a_new_producer_id_after_the_markers() -> None:
    last = at(TransactionState.ONGOING, epoch=EXHAUSTED_EPOCH)
    decided = ended(last, producer=last.producer)
    assert decided.producer == (7, LAST_EPOCH)
    assert refusal(ended, decided, True, last.producer) is ErrorCode.CONCURRENT_TRANSACTIONS
    done = decided.completed(110)
    assert (done.producer, done.previous_producer_id) == ((99, 0), 7)
    assert ended(done, producer=last.producer) is done
    assert refusal(ended, done, True, Producer(7, 4)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_states_have_the_names_that_tools_know() -> None:
    assert [state.label for state in TransactionState] == [
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
        "Dead",
        "PrepareEpochFence",
    ]
