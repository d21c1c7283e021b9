"""Random histories of clients that come, go, stall and are replaced, with failures and crashes.

Whatever happens:
- an instance id has one member, and at most one client that is accepted under it;
- once a static member has its assignment, none that came before it under its instance id is ever
  accepted again, not even after a crash;
- the generation never falls, and after a crash not below one in which something was handed out;
- all assignments handed out in a generation come from one and the same assignment;
- everybody who waits is answered.
"""

import asyncio
import os
import random
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.unit.broker.groups.world import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    Client,
    World,
    subscription,
)

from holdfast.broker.groups.budget import weight_of
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.requests import Leaver, Offer
from holdfast.wire.protocol.errors import ErrorCode

SEEDS = int(os.environ.get("HOLDFAST_TEST_SEEDS", "150"))
STEPS = 120
SLOTS = (None, None, None, "one", "one", "two")
"""Dynamic clients, and processes that share instance ids."""


@dataclass
class Actor:
    """One process: at most one request at a time."""

    client: Client
    born: int = -1
    """When its member id was asked for, in the order of such requests."""
    request: "asyncio.Task[Any] | None" = None
    kind: str = ""
    synced: bool = False
    fenced: bool = False
    """It was told so, and does nothing until another process is started in its place."""


@dataclass
class History:
    world: World
    choose: random.Random
    actors: list[Actor] = field(default_factory=list)
    abandoned: "list[asyncio.Task[Any]]" = field(default_factory=list)
    births: int = 0
    nonce: int = 0
    generation: int = 0
    handed_out: dict[int, str] = field(default_factory=dict)
    owner: dict[str, int] = field(default_factory=dict)
    """By instance id: the birth of the last one that was given its assignment."""
    past: list[Actor] = field(default_factory=list)
    """Static processes that went away: their claims must stay dead."""

    def start(self) -> None:
        self.actors = [self._process(slot) for slot in range(len(SLOTS))]

    def _process(self, slot: int) -> Actor:
        version = self.choose.choice((3, 5, 9))
        name = f"p{slot}"
        return Actor(Client(name, instance_id=SLOTS[slot], version=version, offers=self._offers()))

    def _offers(self) -> tuple[Offer, ...]:
        topics = self.choose.choice((("events",), ("events", "more")))
        return (Offer("range", subscription(*topics)), Offer("sticky", subscription(*topics)))

    # steps

    def step(self) -> None:
        kinds = ["act"] * 20 + ["calm"] * 6 + ["sync_log"] * 8 + ["tick"] * 3
        kinds += ["long_tick", "fail", "crash", "restart_process", "change", "remove"]
        getattr(self, self.choose.choice(kinds))()
        self.world.settle()
        self._hear_all()

    def calm(self) -> None:
        """Everybody does what is expected of them for a while."""
        for _ in range(self.choose.randint(1, 6)):
            for actor in self.actors:
                self._act(actor)
                self._hear_all()
            self.world.sync_log()
            self._hear_all()

    def act(self) -> None:
        self._act(self.choose.choice(self.actors), whim=0.1)

    def _act(self, actor: Actor, whim: float = 0.0) -> None:
        client = actor.client
        if actor.request is not None or actor.fenced:
            return
        if not client.member_id or client.generation < 0 or self.choose.random() < whim:
            self._join(actor)
        elif not actor.synced:
            self._sync(actor)
        elif self.choose.random() < whim:
            self._leave(actor)
        else:
            self._obey(actor, self.world.heartbeat(client))

    def _join(self, actor: Actor) -> None:
        if not actor.client.member_id:
            self.births += 1
            actor.born = self.births
        actor.synced = False
        actor.request, actor.kind = self.world.begin_join(actor.client), "join"

    def _sync(self, actor: Actor) -> None:
        assignments = {}
        if actor.client.leads and self.world.group is not None:
            self.nonce += 1
            assignments = {m.member_id: f"{self.nonce}".encode() for m in self.world.group.roster}
        actor.request = self.world.begin_sync(actor.client, **assignments)
        actor.kind = "sync"

    def _leave(self, actor: Actor) -> None:
        self.world.leave(Leaver(actor.client.member_id, actor.client.instance_id))
        self._forget(actor)

    def tick(self) -> None:
        self.world.advance(self.choose.randint(1, SESSION_MS // 2))

    def long_tick(self) -> None:
        self.world.advance(self.choose.choice((SESSION_MS, REBALANCE_MS, 2 * REBALANCE_MS)))

    def sync_log(self) -> None:
        self.world.sync_log(self.choose.randint(0, len(self.world.log.waiting)))

    def fail(self) -> None:
        self.world.log.fail()

    def crash(self) -> None:
        self.world.restart()
        for actor in self.actors:
            actor.request = None
        self.abandoned.clear()
        group = self.world.group
        self.generation = 0 if group is None else group.generation
        assert self.generation >= max(self.handed_out, default=0)

    def restart_process(self) -> None:
        """A process dies, with whatever it waits for, and another takes its place."""
        slot = self.choose.randrange(len(SLOTS))
        dead = self.actors[slot]
        if dead.request is not None:
            self.abandoned.append(dead.request)
        if dead.client.instance_id is not None:
            self.past.append(replace(dead, client=replace(dead.client)))
        self.actors[slot] = self._process(slot)

    def change(self) -> None:
        self.choose.choice(self.actors).client.offers = self._offers()

    def remove(self) -> None:
        self.world.leave(Leaver("", self.choose.choice(("one", "two"))))

    # answers

    def _hear_all(self) -> None:
        for actor in self.actors:
            self._hear(actor)

    def _hear(self, actor: Actor) -> None:
        if actor.request is None or not actor.request.done():
            return
        answer, kind = actor.request.result(), actor.kind
        actor.request = None
        if answer.error is not ErrorCode.NONE:
            self._obey(actor, answer.error)
        elif kind == "join":
            client = actor.client
            client.member_id, client.generation = answer.member_id, answer.generation
            client.leader = answer.leader
        else:
            actor.synced = True
            self._take(actor, answer.assignment.decode())

    def _take(self, actor: Actor, assignment: str) -> None:
        client = actor.client
        if assignment:
            known = self.handed_out.setdefault(client.generation, assignment)
            assert known == assignment, f"two assignments in generation {client.generation}"
        if client.instance_id is not None:
            owner = self.owner.get(client.instance_id, 0)
            assert actor.born >= owner, "an older process took the place of a newer one"
            self.owner[client.instance_id] = actor.born

    def _obey(self, actor: Actor, error: ErrorCode) -> None:
        if error is ErrorCode.NONE:
            return
        actor.synced = False
        if error is ErrorCode.FENCED_INSTANCE_ID:
            self.past.append(replace(actor, client=replace(actor.client)))
            actor.fenced = True
        elif error in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION):
            actor.client.generation = -1
        else:
            self._forget(actor)

    def _forget(self, actor: Actor) -> None:
        actor.client.member_id, actor.client.generation = "", -1
        actor.synced = False

    # invariants

    def check(self) -> None:
        groups = [group for group in self.world.groups.groups() if isinstance(group, Group)]
        budget = self.world.groups._runtime.budget
        assert budget.members == sum(len(g.roster) + len(g.roster.pending) for g in groups)
        assert budget.bytes == sum(weight_of(m, m.assignment) for g in groups for m in g.roster)
        group = self.world.group
        if group is None:
            return
        assert group.generation >= self.generation
        self.generation = group.generation
        instances = [m.instance_id for m in group.roster if m.instance_id is not None]
        assert len(instances) == len(set(instances))
        for instance_id in ("one", "two"):
            accepted = [
                actor
                for actor in (*self.actors, *self.past)
                if actor.client.instance_id == instance_id
                and actor.client.member_id
                and group.check_commit(actor.client.claim, transactional=True) is ErrorCode.NONE
                and actor.client.generation >= 0
            ]
            assert len({actor.client.member_id for actor in accepted}) <= 1
            assert all(actor.born >= self.owner.get(instance_id, 0) for actor in accepted)

    def finish(self) -> None:
        """Everybody falls silent: whoever waits is answered, and the group is empty in the end."""
        for _ in range(20):
            self.world.sync_log()
            self.world.advance(600_000)
            self._hear_all()
        waiting = [a.request for a in self.actors if a.request is not None] + self.abandoned
        assert all(task.done() for task in waiting)
        assert self.world.group is None or len(self.world.group.roster) == 0
        assert self.world.clock.running == 0


@pytest.mark.parametrize("seed", range(SEEDS))
def test_members_and_generations_hold_through_any_history(seed: int) -> None:
    with World() as world:
        history = History(world, random.Random(seed))
        history.start()
        for step in range(STEPS):
            try:
                history.step()
                history.check()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, step {step}") from error
        history.finish()


def test_histories_reach_all_interesting_states() -> None:
    """Otherwise they would prove nothing."""
    handed_out = owners = 0
    for seed in range(20):
        with World() as world:
            history = History(world, random.Random(seed))
            history.start()
            for _ in range(STEPS):
                history.step()
            handed_out += len(history.handed_out)
            owners += len(history.owner)
            assert world.groups.get(GROUP) is not None
    assert handed_out > 60
    assert owners > 25
