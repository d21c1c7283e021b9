"""Quotas: which limit applies to whom, and how long a client over it waits."""

import pytest

from holdfast.broker import quotas as module
from holdfast.broker.dynamic_file import DEFAULT, QuotaEntity
from holdfast.broker.quotas import FETCH_RATE, PRODUCE_RATE, REQUEST_PERCENTAGE, Client, Quotas

ALICE = Client("alice", "app")
BY_PRECEDENCE = [
    QuotaEntity("alice", "app"),
    QuotaEntity("alice", DEFAULT),
    QuotaEntity("alice"),
    QuotaEntity(DEFAULT, "app"),
    QuotaEntity(DEFAULT, DEFAULT),
    QuotaEntity(DEFAULT),
    QuotaEntity(None, "app"),
    QuotaEntity(None, DEFAULT),
]


class Time:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def quotas_of(*entities: QuotaEntity, key: str = PRODUCE_RATE, limit: float = 100.0) -> Quotas:
    return Quotas({entity: {key: limit} for entity in entities}, Time())


def test_most_specific_limit_applies() -> None:
    for number in range(len(BY_PRECEDENCE)):
        limits = {
            entity: {PRODUCE_RATE: float(rank + 1)}
            for rank, entity in reversed(list(enumerate(BY_PRECEDENCE)))
            if rank >= number
        }
        found = Quotas(limits).limit(PRODUCE_RATE, ALICE)
        assert found is not None
        assert found[1] == number + 1


def test_limit_of_one_key_leaves_others_to_less_specific_entities() -> None:
    quotas = Quotas(
        {QuotaEntity("alice"): {FETCH_RATE: 5.0}, QuotaEntity(DEFAULT): {PRODUCE_RATE: 7.0}}
    )
    assert quotas.limit(PRODUCE_RATE, ALICE) == (QuotaEntity("alice"), 7.0)
    assert quotas.limit(FETCH_RATE, ALICE) == (QuotaEntity("alice"), 5.0)
    assert quotas.limit(REQUEST_PERCENTAGE, ALICE) is None


def test_limits_of_others_do_not_apply() -> None:
    quotas = quotas_of(QuotaEntity("bob"), QuotaEntity("alice", "other"), QuotaEntity(None, "x"))
    assert quotas.use(PRODUCE_RATE, ALICE, 1e9) == 0


def test_ten_seconds_worth_may_come_at_once_and_the_rest_waits() -> None:
    quotas = quotas_of(QuotaEntity("alice"))
    assert quotas.use(PRODUCE_RATE, ALICE, 1_000) == 0
    assert quotas.use(PRODUCE_RATE, ALICE, 500) == pytest.approx(5.0)


def test_waiting_as_told_brings_the_rate_down_to_the_limit() -> None:
    time = Time()
    quotas = Quotas({QuotaEntity("alice"): {PRODUCE_RATE: 100.0}}, time)
    sent, begin = 0, time.now
    for _ in range(200):
        sent += 70
        time.now += quotas.use(PRODUCE_RATE, ALICE, 70)
    assert sent / (time.now - begin) == pytest.approx(100.0, rel=0.15)


@pytest.mark.parametrize(
    ("entity", "shared"),
    [
        (QuotaEntity("alice"), True),
        (QuotaEntity(DEFAULT), True),
        (QuotaEntity("alice", DEFAULT), False),
        (QuotaEntity(DEFAULT, DEFAULT), False),
        (QuotaEntity(None, DEFAULT), False),
    ],
)
def test_clients_of_a_user_share_a_limit_that_names_no_client(
    entity: QuotaEntity, shared: bool
) -> None:
    quotas = quotas_of(entity)
    assert quotas.use(PRODUCE_RATE, ALICE, 1_000) == 0
    assert (quotas.use(PRODUCE_RATE, Client("alice", "other"), 1_000) > 0) is shared


def test_users_with_the_default_limit_do_not_share_it() -> None:
    quotas = quotas_of(QuotaEntity(DEFAULT))
    assert quotas.use(PRODUCE_RATE, ALICE, 1_000) == 0
    assert quotas.use(PRODUCE_RATE, Client("bob", "app"), 1_000) == 0


def test_old_use_is_forgotten() -> None:
    time = Time()
    quotas = Quotas({QuotaEntity("alice"): {PRODUCE_RATE: 100.0}}, time)
    assert quotas.use(PRODUCE_RATE, ALICE, 5_000) > 0
    time.now += 60
    assert quotas.use(PRODUCE_RATE, ALICE, 1_000) == 0


def test_time_on_the_loop_costs_a_second_at_most() -> None:
    quotas = quotas_of(QuotaEntity("alice"), key=REQUEST_PERCENTAGE, limit=1.0)
    assert quotas.use(REQUEST_PERCENTAGE, ALICE, 10_000) == 1.0


def test_change_of_a_limit_keeps_the_rate() -> None:
    quotas = quotas_of(QuotaEntity("alice"))
    assert quotas.use(PRODUCE_RATE, ALICE, 1_000) == 0
    quotas.load({QuotaEntity("alice"): {PRODUCE_RATE: 10.0}})
    assert quotas.use(PRODUCE_RATE, ALICE, 0) == pytest.approx(90.0)


def test_number_of_measured_clients_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RATES", 10)
    quotas = quotas_of(QuotaEntity(None, DEFAULT))
    for number in range(100):
        quotas.use(PRODUCE_RATE, Client("alice", str(number)), 1_000)
    assert len(quotas._rates) == 10
    assert quotas.use(PRODUCE_RATE, Client("alice", "99"), 1) > 0
