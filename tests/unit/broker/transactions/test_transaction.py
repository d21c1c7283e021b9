"""The steps that one transactional id may take."""

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


def at(state: TransactionState, **fields) -> Transaction:
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


def refusal(act, *arguments) -> ErrorCode:
    with pytest.raises(TransactionRefused) as refused:
        act(*arguments)
    return refused.value.error


@pytest.mark.parametrize(
    "state",
    [TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT],
)
def test_a_new_producer_gets_the_next_epoch_and_an_empty_transaction(state):
    after = initialised(at(state))
    assert after.producer == (7, 5)
    assert (after.state, after.partitions, after.started_ms) == (
        TransactionState.EMPTY,
        frozenset(),
        -1,
    )
    assert (after.timeout_ms, after.updated_ms, after.last_epoch) == (2000, 100, NO_EPOCH)


def test_the_first_producer_of_an_id_starts_at_epoch_0():
    assert initialised(at(TransactionState.EMPTY, epoch=NO_EPOCH)).producer == (7, 0)
    unknown = initialised(at(TransactionState.EMPTY, epoch=NO_EPOCH), Producer(1, 1))
    assert unknown.producer == (7, 0)


def test_used_up_epochs_give_a_new_producer_id():
    after = initialised(at(TransactionState.EMPTY, epoch=EXHAUSTED_EPOCH))
    assert (after.producer, after.previous_producer_id) == ((99, 0), 7)


def test_a_takeover_during_an_open_transaction_aborts_it_under_a_new_epoch():
    after = initialised(at(TransactionState.ONGOING, last_epoch=3))
    assert (after.state, after.epoch, after.last_epoch) == (
        TransactionState.PREPARE_ABORT,
        5,
        NO_EPOCH,
    )
    assert after.partitions == {A}


def test_a_fence_never_overflows_the_epoch():
    assert at(TransactionState.ONGOING, epoch=EXHAUSTED_EPOCH).fenced(1).epoch == LAST_EPOCH
    assert at(TransactionState.ONGOING, epoch=LAST_EPOCH).fenced(1).epoch == LAST_EPOCH


@pytest.mark.parametrize("state", [TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT])
def test_a_takeover_waits_until_the_decision_is_carried_out(state):
    assert refusal(initialised, at(state)) is ErrorCode.CONCURRENT_TRANSACTIONS


def test_a_producer_may_go_on_after_an_error():
    after = initialised(at(TransactionState.EMPTY), Producer(7, 4))
    assert (after.producer, after.last_epoch) == ((7, 5), 4)


def test_asking_again_for_a_lost_answer_gives_the_same_epoch():
    once = initialised(at(TransactionState.EMPTY), Producer(7, 4))
    assert initialised(once, Producer(7, 4)).producer == once.producer
    last = at(TransactionState.EMPTY, epoch=EXHAUSTED_EPOCH)
    rotated = initialised(last, last.producer)
    assert rotated.producer == (99, 0)
    assert initialised(rotated, last.producer).producer == (99, 0)


@pytest.mark.parametrize("state", [TransactionState.EMPTY, TransactionState.ONGOING])
@pytest.mark.parametrize("stranger", [Producer(7, 3), Producer(7, 5), Producer(6, 4)])
def test_a_fenced_producer_cannot_come_back_nor_disturb_its_successor(state, stranger):
    assert refusal(initialised, at(state), stranger) is ErrorCode.PRODUCER_FENCED


def test_a_producer_that_others_followed_cannot_claim_a_lost_answer():
    bumped = initialised(at(TransactionState.EMPTY), Producer(7, 4))
    followed = initialised(bumped)
    assert refusal(initialised, followed, Producer(7, 4)) is ErrorCode.PRODUCER_FENCED


def test_only_the_present_producer_is_accepted():
    transaction = at(TransactionState.ONGOING)
    transaction.check(Producer(7, 4))
    assert refusal(transaction.check, Producer(7, 3)) is ErrorCode.PRODUCER_FENCED
    assert refusal(transaction.check, Producer(7, 5)) is ErrorCode.PRODUCER_FENCED
    assert refusal(transaction.check, Producer(8, 4)) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_the_first_partition_begins_the_transaction_and_its_time():
    begun = at(TransactionState.COMPLETE_COMMIT, partitions=frozenset()).extended({A}, 100)
    assert (begun.state, begun.partitions, begun.started_ms) == (TransactionState.ONGOING, {A}, 100)
    more = begun.extended({B}, 200)
    assert (more.partitions, more.started_ms, more.updated_ms) == ({A, B}, 100, 200)
    assert more.extended({A}, 300) is more


@pytest.mark.parametrize("state", [TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT])
def test_nothing_is_added_to_a_transaction_that_is_decided(state):
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
def test_a_transaction_is_decided_once(state, commit, answer):
    if isinstance(answer, ErrorCode):
        assert refusal(at(state).prepared, commit, 1) is answer
    else:
        assert at(state).prepared(commit, 1).state is answer


def test_states_have_the_names_that_tools_know():
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
