"""The demo's traffic is plausible, event by event."""

import random
from collections import Counter, defaultdict
from itertools import islice

import pytest

from holdfast.up.demo_traffic import orders, payments, readings

SEED = 7


def test_an_order_goes_through_its_stages_in_order_and_stays_with_its_customer() -> None:
    stages = ["placed", "paid", "packed", "shipped", "delivered"]
    seen: dict[str, list[str]] = defaultdict(list)
    owners: dict[str, set[str]] = defaultdict(set)
    for customer, order in islice(orders(random.Random(SEED)), 5000):
        seen[order["order"]].append(order["status"])
        owners[order["order"]].add(customer)
        cost = sum(item["quantity"] * item["price"] for item in order["items"])
        assert order["total"] == pytest.approx(cost)
    assert all(len(customers) == 1 for customers in owners.values())
    for history in seen.values():
        done = history[:-1] if history[-1] == "cancelled" else history
        assert done == stages[: len(done)]
    assert "cancelled" in {history[-1] for history in seen.values()}


def test_a_payment_is_captured_after_it_was_authorised() -> None:
    seen: dict[str, list[str]] = defaultdict(list)
    for _, payment in islice(payments(random.Random(SEED)), 5000):
        seen[payment["payment"]].append(payment["state"])
    endings = Counter(tuple(history) for history in seen.values())
    assert endings.keys() <= {
        ("authorised",),
        ("authorised", "captured"),
        ("authorised", "declined"),
        ("authorised", "captured", "refunded"),
    }
    assert len(endings) == 4


def test_a_few_payments_are_broken_and_the_others_have_an_amount() -> None:
    amounts = [payment["amount"] for _, payment in islice(payments(random.Random(SEED)), 5000)]
    sound = [amount for amount in amounts if isinstance(amount, float) and amount > 0]
    assert 0 < len(amounts) - len(sound) < 100


def test_readings_of_a_device_count_up() -> None:
    last: Counter[str] = Counter()
    for device, reading in islice(readings(random.Random(SEED)), 1000):
        assert reading["reading"] == last[device] + 1
        last[device] += 1
    assert len(last) == 30


def test_some_customers_come_often_and_most_seldom() -> None:
    customers = Counter(key for key, _ in islice(orders(random.Random(SEED)), 5000))
    often = sum(count for _, count in customers.most_common(len(customers) // 4))
    assert often > 5000 / 2
