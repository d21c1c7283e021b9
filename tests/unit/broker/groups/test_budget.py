"""Memory that clients use in the coordinator is bounded and released."""

from collections.abc import Iterator

import pytest
from tests.unit.broker.groups.world import GROUP, Client, World, at, offset

from holdfast.broker.groups import budget, coordinator, offsets
from holdfast.broker.groups.requests import Joined, Leaver, MemberClaim, Offer
from holdfast.wire.protocol.errors import ErrorCode

MB = 1_000_000


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        yield world


def large(name: str, size: int) -> Client:
    client = Client(name, version=3)
    client.offers = (Offer("range", bytes(size)),)
    return client


def join(world: World, client: Client, group: str = GROUP) -> Joined:
    return world.answer(world.groups.join(group, client.join_request()))


def held(world: World) -> tuple[int, int]:
    found = world.groups._runtime.budget
    return found.members, found.bytes


def test_member_with_too_much_metadata_is_refused_and_leaves_nothing(world: World) -> None:
    for n in range(30):
        answer = join(world, large(f"c{n}", 40 * MB), f"group-{n}")
        assert answer.error is ErrorCode.INVALID_REQUEST
    assert held(world) == (0, 0)


def test_members_of_a_group_are_bounded_in_bytes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "GROUP_BYTES", 3 * MB)
    clients = [large(f"c{n}", MB) for n in range(3)]
    tasks = [world.begin_join(client) for client in clients]
    assert tasks[2].result().error is ErrorCode.GROUP_MAX_SIZE_REACHED
    # Whoever is in may stay, and say less.
    first = world.joined(clients[0], tasks[0])
    clients[0].member_id = first.member_id
    clients[0].offers = (Offer("range", b""),)
    world.begin_join(clients[0])
    assert not world.begin_join(clients[2]).done()


def test_large_members_leave_room_for_small_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "ALL_BYTES", 3 * MB)
    for n in range(2):
        assert join(world, large(f"c{n}", MB), f"group-{n}").error is ErrorCode.NONE
    refused = join(world, large("late", MB), "group-late")
    assert refused.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert join(world, large("small", 1_000), "group-small").error is ErrorCode.NONE


def test_members_of_all_groups_are_bounded_in_number(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MOST_MEMBERS", 4)
    for n in range(2):
        join(world, Client(f"pending-{n}", version=4), f"group-{n}")
        join(world, Client(f"member-{n}", version=3), f"group-{n}")
    refused = join(world, Client("late", version=3), "another")
    assert refused.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    world.advance(400_000)  # their sessions are over
    assert held(world) == (0, 0)
    assert join(world, Client("late", version=3), "another").error is ErrorCode.NONE


@pytest.mark.parametrize("way", ["leave", "session"])
def test_bytes_of_members_that_are_gone_are_given_back(world: World, way: str) -> None:
    a, b = large("a", MB), large("b", MB)
    world.stabilise(a, b)
    assert held(world)[0] == 2
    assert held(world)[1] > 2 * MB
    if way == "leave":
        world.leave(Leaver(a.member_id, None), Leaver(b.member_id, None))
        world.sync_log()
    else:
        world.advance(400_000)
    assert held(world) == (0, 0)


def test_assignment_that_is_too_large_is_refused(world: World) -> None:
    a = Client("a", version=3)
    world.joined(a, world.begin_join(a))
    task = world.begin_sync(a, **{a.member_id: bytes(33 * 1024 * 1024)})
    assert task.result().error is ErrorCode.INVALID_REQUEST
    assert held(world)[1] < MB


def test_groups_are_bounded_in_number_and_unused_ones_make_room(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "MOST_GROUPS", 3)
    for n in range(3):
        assert join(world, Client("a", version=3), f"group-{n}").error is ErrorCode.NONE
    full = join(world, Client("late", version=3), "another")
    assert full.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    commit = world.groups.commit("another", MemberClaim(), {at(): offset(1)})
    assert world.answer(commit) is ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    world.advance(400_000)  # the members are gone, and nothing was committed
    world.sync_log()
    again = join(world, Client("late", version=3), "another")
    assert again.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.sync_log()
    assert join(world, Client("late", version=3), "another").error is ErrorCode.NONE


def test_offsets_of_a_group_are_never_forgotten_to_make_room(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "MOST_GROUPS", 1)
    assert world.commit(7) is ErrorCode.NONE
    full = join(world, Client("late", version=3), "another")
    assert full.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.fetch() == 7


def test_group_id_that_is_too_long_is_refused(world: World) -> None:
    name = "x" * 4_097
    assert join(world, Client("a", version=3), name).error is ErrorCode.INVALID_GROUP_ID
    commit = world.groups.commit(name, MemberClaim(), {at(): offset(1)})
    assert world.answer(commit) is ErrorCode.INVALID_GROUP_ID


def test_offsets_are_bounded_and_existing_ones_can_be_replaced(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offsets, "GROUP_OFFSET_BYTES", 10_000)
    refused = None
    for n in range(100):
        refused = world.commit(n, partition=n)
        if refused is not ErrorCode.NONE:
            break
    assert refused is ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    assert world.fetch(0) == 0
    assert world.commit(9) is ErrorCode.NONE
    assert world.fetch(0) == 9
    world.answer(world.groups.delete_group(GROUP))
    assert world.commit(1, partition=99) is ErrorCode.NONE
