"""The traffic of the demo flows: endless events like those of a small shop."""

import random
from collections.abc import Iterator
from typing import Any

Keyed = tuple[str, dict[str, Any]]
"""A key and a value."""

CUSTOMERS = 200
BROKEN = 0.01
"""The share of invalid payments."""
ARTICLES = (
    ("kettle", 39.9), ("lamp", 24.5), ("notebook", 3.2), ("backpack", 64.0), ("headphones", 89.0),
    ("mug", 8.5), ("umbrella", 15.9), ("bicycle pump", 21.0), ("tea", 5.4), ("blanket", 34.0),
)  # fmt: skip


def orders(chance: random.Random) -> Iterator[Keyed]:
    """Orders that are placed, paid, packed, shipped and delivered; a few are cancelled."""
    stages = ("placed", "paid", "packed", "shipped", "delivered")
    open_orders: list[tuple[str, dict[str, Any], int]] = []
    number = 0
    while True:
        if len(open_orders) < 20 or chance.random() < 0.25:
            number += 1
            items: list[dict[str, Any]] = [
                {"article": article, "quantity": chance.choice((1, 1, 1, 2, 3)), "price": price}
                for article, price in chance.sample(ARTICLES, chance.choice((1, 1, 2, 3)))
            ]
            order = {
                "order": f"o-{number:06}",
                "items": items,
                "total": round(sum(i["quantity"] * i["price"] for i in items), 2),
                "currency": "EUR",
            }
            customer, stage = some_customer(chance), 0
        else:
            customer, order, stage = open_orders.pop(chance.randrange(len(open_orders)))
        cancelled = 0 < stage < 3 and chance.random() < 0.03
        yield customer, {**order, "status": "cancelled" if cancelled else stages[stage]}
        if not cancelled and stage + 1 < len(stages):
            open_orders.append((customer, order, stage + 1))


def payments(chance: random.Random) -> Iterator[Keyed]:
    """Payments that are authorised, then captured or declined; a few are refunded. An old till
    sends one now and then without its amount, or with an amount in words."""
    open_payments: list[tuple[str, dict[str, Any], str]] = []
    number = 0
    follows = {"authorised": ("captured",) * 9 + ("declined",), "captured": ("refunded",)}
    while True:
        if len(open_payments) < 10 or chance.random() < 0.5:
            number += 1
            payment = {
                "payment": f"p-{number:06}",
                "amount": round(chance.lognormvariate(3.4, 0.8), 2),
                "currency": "EUR",
                "method": chance.choice(("card", "card", "transfer", "wallet")),
            }
            customer, state = some_customer(chance), "authorised"
        else:
            customer, payment, before = open_payments.pop(0)
            state = chance.choice(follows[before])
        broken = {"amount": chance.choice((None, "thirty"))} if chance.random() < BROKEN else {}
        yield customer, {**payment, "state": state, **broken}
        if state == "authorised" or (state == "captured" and chance.random() < 0.05):
            open_payments.append((customer, payment, state))


def readings(chance: random.Random) -> Iterator[Keyed]:
    """Devices that report a temperature, which wanders."""
    devices = {f"device-{n:02}": chance.uniform(17, 24) for n in range(1, 31)}
    sequence = dict.fromkeys(devices, 0)
    while True:
        device = chance.choice(list(devices))
        devices[device] += chance.gauss(0, 0.15)
        sequence[device] += 1
        yield (
            device,
            {
                "device": device,
                "reading": sequence[device],
                "celsius": round(devices[device], 2),
                "battery": round(max(0.0, 1 - sequence[device] / 5000), 3),
            },
        )


def some_customer(chance: random.Random) -> str:
    """Some come often, most seldom."""
    return f"customer-{1 + min(int(chance.expovariate(1 / 40)), CUSTOMERS - 1):03}"
