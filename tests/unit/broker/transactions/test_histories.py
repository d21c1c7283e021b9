"""Random histories with crashes, refusing disks and producers that were fenced, against a model.

The model knows nothing of states: only what was asked for, what was acknowledged, and what a
reader of the partitions finds.
"""

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import pytest
from tests.unit.broker.transactions.world import OFFSETS, Data, Marker, World

from holdfast.broker.transactions.transaction import (
    PREPARED,
    Producer,
    TopicPartition,
    TransactionRefused,
    TransactionState,
)
from holdfast.wire.protocol.errors import ErrorCode

T = TypeVar("T")

TIMEOUT_MS = 10_000
IDS = ["left", "right"]
PARTITIONS = [TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0), OFFSETS]


@dataclass(eq=False)
class Attempt:
    """One transaction as a client sees it: what it asked for, and what it was told."""

    owner: Producer
    asked: set[bool] = field(default_factory=set)
    told: set[bool] = field(default_factory=set)
    """True if it requested, and was told of, a commit; False for an abort."""


class Client:
    """A producer: at most one request at a time, as real ones do."""

    def __init__(
        self, world: World, model: "Model", transactional_id: str, version: int = 1
    ) -> None:
        self.world = world
        self.model = model
        self.transactional_id = transactional_id
        self.version = version
        """Of transactions: in version 2 writing adds partitions, and each end gives a new epoch."""
        self.ends: list[tuple[Producer, bool]] = []
        """Requests that the network may deliver once more, at any time."""
        self.producer: Producer | None = None
        self.attempt: Attempt | None = None
        self.busy: asyncio.Task[None] | None = None

    def act(self, random: Random) -> None:
        if self.busy is not None and not self.busy.done():
            return
        choices = [self.init, *([self.arrive_late] * 3 if self.ends else [])]
        if self.attempt is not None and self.attempt.asked:
            choices += [self.end, self.end]  # asked for an end and not told: only that is left
        elif self.producer is not None:
            choices += [self.add, self.add, self.write, self.write, self.write, self.end, self.end]
        self.busy = self.world.request(random.choice(choices)(random))

    async def init(self, random: Random) -> None:
        expected = self.producer if random.random() < 0.3 else None
        taken = await self.told(
            self.world.coordinator.init_producer_id(self.transactional_id, TIMEOUT_MS, expected)
        )
        if taken is not None:
            self.model.initialised(self.transactional_id, taken, expected)
            self.took(taken)

    def took(self, producer: Producer) -> None:
        self.model.given(producer, self)
        self.producer = producer
        self.attempt = Attempt(producer)

    async def add(self, random: Random) -> None:
        producer = self.producer
        assert producer is not None
        chosen = set(random.sample(PARTITIONS, random.randint(1, 3)))
        request = self.world.coordinator.add_partitions(self.transactional_id, producer, chosen)
        if await self.succeeds(request):
            self.model.obeyed(self.transactional_id, producer)

    async def write(self, random: Random) -> None:
        producer = self.producer
        assert producer is not None
        partition = random.choice(PARTITIONS)
        if self.version == 2:
            enlist = self.world.coordinator.enlist(self.transactional_id, producer, {partition})
            if not await self.succeeds(enlist):
                return
        if self.world.coordinator.verify(*producer, *partition) is None:
            self.model.obeyed(self.transactional_id, producer)
            self.world.partitions[partition].write(Data(*producer, self.attempt))

    async def end(self, random: Random) -> None:
        producer, attempt = self.producer, self.attempt
        assert producer is not None
        assert attempt is not None
        commit = attempt.asked.pop() if attempt.asked else random.random() < 0.6
        attempt.asked.add(commit)
        if self.version == 2:
            await self.end_with_new_epoch(attempt, commit)
            return
        request = self.world.coordinator.end(self.transactional_id, producer, commit)
        if await self.succeeds(request):
            self.model.obeyed(self.transactional_id, attempt.owner)
            attempt.told.add(commit)
            self.attempt = Attempt(producer)

    async def end_with_new_epoch(self, attempt: Attempt, commit: bool) -> None:
        self.ends.append((attempt.owner, commit))
        request = self.world.coordinator.end_with_new_epoch(
            self.transactional_id, attempt.owner, commit
        )
        following = await self.told(request)
        if following is not None:
            attempt.told.add(commit)
            self.took(following)

    async def arrive_late(self, random: Random) -> None:
        """An EndTxn arrives once more. It may end no other transaction than its own."""
        producer, commit = random.choice(self.ends)
        await self.told(
            self.world.coordinator.end_with_new_epoch(self.transactional_id, producer, commit)
        )

    @staticmethod
    async def told(request: Coroutine[Any, Any, T]) -> T | None:
        try:
            return await request
        except TransactionRefused as refusal:
            if refusal.error not in EXPECTED_ERRORS:
                raise
            return None

    @classmethod
    async def succeeds(cls, request: Coroutine[Any, Any, None]) -> bool:
        async def true_if_done() -> bool:
            await request
            return True

        return await cls.told(true_if_done()) is not None


EXPECTED_ERRORS = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.INVALID_PRODUCER_EPOCH,
}


class Model:
    def __init__(self) -> None:
        self.latest: dict[str, Producer] = {}
        self.owners: dict[Producer, Client] = {}

    def given(self, producer: Producer, client: Client) -> None:
        assert self.owners.setdefault(producer, client) is client, "two clients have one epoch"

    def initialised(self, transactional_id: str, taken: Producer, expected: object) -> None:
        latest = self.latest.get(transactional_id)
        if latest is not None:
            assert taken > latest or (expected is not None and taken == latest), "epoch went back"
        self.latest[transactional_id] = max(taken, latest or taken)

    def obeyed(self, transactional_id: str, producer: Producer) -> None:
        """A request of this producer took effect: nobody may have come after it."""
        assert producer >= self.latest[transactional_id], "a fenced producer was obeyed"


def outcomes(world: World) -> dict[Attempt, set[bool | None]]:
    """How each transaction ended in each partition that holds data of it; None: it did not."""
    found: dict[Attempt, set[bool | None]] = {}
    for log in world.partitions.values():
        open_data: dict[int, list[Data]] = {}
        for entry in log.entries:
            if isinstance(entry, Data):
                open_data.setdefault(entry.producer_id, []).append(entry)
                continue
            closed = open_data.pop(entry.producer_id, [])
            assert all(data.epoch <= entry.epoch for data in closed), "marker of an older epoch"
            for data in closed:
                assert isinstance(data.transaction, Attempt)
                found.setdefault(data.transaction, set()).add(entry.commit)
        for data in itertools.chain.from_iterable(open_data.values()):
            assert isinstance(data.transaction, Attempt)
            found.setdefault(data.transaction, set()).add(None)
    return found


def check(world: World) -> None:
    for transaction in world.coordinator.transactions():
        assert transaction.state not in PREPARED
    for attempt, ends in outcomes(world).items():
        assert len(ends) == 1, f"{attempt} ended in several ways: {ends}"
        (end,) = ends
        assert attempt.told <= {end}, f"{attempt} was told {attempt.told}, and it was {end}"
        if end is True:
            assert True in attempt.asked, f"{attempt} was committed, and nobody asked for it"
        if end is None:
            owners = {t.producer for t in world.coordinator.transactions()}
            assert attempt.owner in owners, f"{attempt} hangs: nobody can end it"


async def intrude(world: World, random: Random) -> None:
    """A stranger aborts what it finds, under epochs that it makes up."""
    found = world.coordinator.markers.open_transactions()
    if found:
        partition, producer = random.choice(found)
        bold = producer._replace(epoch=producer.epoch + random.choice([-1, 0, 0, 0, 1, 7]))
        request = Client.succeeds(world.coordinator.abort(partition, bold))
        world.request(request)
        await world.settle()


async def history(seed: int, steps: int = 400) -> None:
    random = Random(seed)
    world, model = World(random), Model()
    clients = [Client(world, model, name, version) for name in IDS for version in (1, 2)]
    for _ in range(steps):
        dice = random.random()
        if dice < 0.55:
            random.choice(clients).act(random)
        elif dice < 0.93:
            await world.settle()
            log = random.choice([world.state, world.state, *world.partitions.values()])
            if random.random() < 0.07:
                log.fail()
            else:
                log.sync()
        elif dice < 0.945:
            await intrude(world, random)
        elif dice < 0.97:
            world.clock.advance(random.choice([1, 600, TIMEOUT_MS]))
        else:
            await world.crash()
            await world.rest()
            check(world)
        if random.random() < 0.5:
            await world.settle()
        for client in clients:
            raise_if_failed(client)
    await world.rest()
    world.clock.advance(600)  # what a disk refused is tried again
    await world.rest()
    assert all(client.busy is None or client.busy.done() for client in clients)
    check(world)
    world.clock.advance(TIMEOUT_MS)
    world.clock.advance(TIMEOUT_MS)
    await world.rest()
    for transaction in world.coordinator.transactions():
        assert transaction.state is not TransactionState.ONGOING
    assert all(None not in ends for ends in outcomes(world).values()), "a transaction hangs"
    before = known(world)
    await world.crash()
    await world.rest()
    assert known(world) == before


def known(world: World) -> set[tuple[str, Producer, TransactionState]]:
    return {(t.transactional_id, t.producer, t.state) for t in world.coordinator.transactions()}


def raise_if_failed(client: Client) -> None:
    if client.busy is not None and client.busy.done() and not client.busy.cancelled():
        client.busy.result()


@pytest.mark.parametrize("block", range(10))
def test_random_histories_keep_every_promise(block: int) -> None:
    for seed in range(block * 30, block * 30 + 30):
        try:
            asyncio.run(history(seed))
        except Exception as error:
            raise AssertionError(f"history({seed}) failed") from error


async def test_the_model_notices_a_transaction_that_ends_in_two_ways() -> None:
    world = World()
    attempt = Attempt(Producer(1, 0), asked={True})
    for partition, commit in zip(PARTITIONS, (True, False), strict=False):
        log = world.partitions[partition]
        log.write(Data(1, 0, attempt))
        log.write(Marker(1, 0, commit))
    with pytest.raises(AssertionError, match="several ways"):
        check(world)
