"""kill -9 at chosen points of a change: nothing acknowledged is lost, and nothing is half done."""

import random
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.access_table import BY_NAME, Caller, topic
from tests.brokers import EmbeddedBroker
from tests.clients import committed, create_topic, wait_until
from tests.frames import codec

from holdfast.broker.groups.consumer_protocol import write_assignment
from holdfast.broker.security.access_file import AccessFile
from holdfast.broker.security.acls import Operation
from holdfast.broker.security.scram import HASHES
from holdfast.faults import VARIABLE

GROUP, TOPIC, NEW = "g", "t", "new-member"
MEMBER_ID_REQUIRED = 79
OPEN = {"access_control": True, "super_users": "User:ANONYMOUS"}
Action = Callable[[Caller], object]


def message(api: str, kind: str, **fields: Any) -> Any:
    return getattr(codec(BY_NAME[api], "request"), kind)(**fields)


def run(folder: Path, action: Action) -> None:
    """Starts a broker, runs the action, and kills the broker."""
    with EmbeddedBroker(folder, OPEN) as broker:
        caller = Caller(broker.port)
        action(caller)
        caller.close()


def kill_at(folder: Path, fault: str, action: Action) -> None:
    """Starts a broker, runs the action, and kills the broker when it reaches the fault point."""
    file = folder / "fault"
    with EmbeddedBroker(folder, OPEN, {VARIABLE: f"{fault}={file}"}) as broker:

        def act() -> None:
            caller = Caller(broker.port)
            try:
                action(caller)
            except (OSError, EOFError):
                pass  # the broker is gone
            finally:
                caller.close()

        actor = threading.Thread(target=act)
        actor.start()
        wait_until(file.exists, f"the point {fault}")
        broker.kill()
        actor.join()
    file.unlink()


def add_user(caller: Caller, name: str) -> None:
    """Adds a password for each mechanism, in one request."""
    api = "alter_user_scram_credentials"
    added = [
        message(
            api, "ScramCredentialUpsertion", name=name, mechanism=mechanism, iterations=4096,
            salt=b"salt", salted_password=bytes(size),
        )
        for mechanism, size in ((1, 32), (2, 64))
    ]  # fmt: skip
    request = message(api, "AlterUserScramCredentialsRequest", deletions=[], upsertions=added)
    reply = caller.ask(api, 0, request)
    assert [result.error_code for result in reply.results] == [0]


def add_lists(caller: Caller, name: str) -> None:
    caller.grant(f"User:{name}", topic(Operation.READ), topic(Operation.WRITE))


def users(folder: Path) -> set[str]:
    entries = AccessFile(folder / "data").entries
    assert all(set(found) == set(HASHES) for found in entries.users.values()), "half a user"
    return set(entries.users)


def listed(folder: Path) -> set[str]:
    found = [
        acl.principal.removeprefix("User:") for acl in AccessFile(folder / "data").entries.acls
    ]
    assert all(found.count(name) == 2 for name in found), "half of the lists"
    return set(found)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("point", ["written", "replaced"])
@pytest.mark.parametrize(
    ("add", "stored"), [(add_user, users), (add_lists, listed)], ids=["users", "acls"]
)
def test_users_and_lists_are_whole_after_a_kill_at_each_point(
    tmp_path: Path,
    add: Callable[[Caller, str], None],
    stored: Callable[[Path], set[str]],
    point: str,
    seed: int,
) -> None:
    before = [f"user-{number}" for number in range(random.Random(seed).randrange(4))]
    acknowledged = []

    def change(caller: Caller) -> None:
        for name in [*before, "last"]:
            add(caller, name)
            acknowledged.append(name)

    kill_at(tmp_path, f"access.json-{point}@{len(before) + 1}", change)
    assert acknowledged == before
    expected = {*before} | ({"last"} if point == "replaced" else set())
    assert stored(tmp_path) == expected
    run(tmp_path, lambda caller: add(caller, "later"))
    assert stored(tmp_path) == expected | {"later"}


class LiveGroup:
    """A classic member that has all partitions and has committed an offset."""

    def __init__(self, folder: Path, seed: int) -> None:
        chance = random.Random(seed)
        self.folder = folder
        self.partitions = chance.randint(1, 6)
        self.offset = chance.randint(1, 1_000)
        self.member = ""
        self.generation = -1

    def form(self) -> None:
        with EmbeddedBroker(self.folder, OPEN) as broker:
            create_topic(broker, TOPIC, self.partitions)
            caller = Caller(broker.port)
            joined = self._join(caller)
            self.member, self.generation = joined.member_id, joined.generation_id
            self._sync(caller)
            self._commit(caller)
            caller.close()

    def _join(self, caller: Caller, member_id: str = "") -> Any:
        name = TOPIC.encode()
        subscription = struct.pack(f">hih{len(name)}si", 0, 1, len(name), name, -1)
        offer = message(
            "join_group", "JoinGroupRequestProtocol", name="range", metadata=subscription
        )
        request = message(
            "join_group", "JoinGroupRequest", group_id=GROUP, session_timeout_ms=600_000,
            rebalance_timeout_ms=600_000, member_id=member_id, protocol_type="consumer",
            protocols=[offer],
        )  # fmt: skip
        reply = caller.ask("join_group", 5, request)
        if reply.error_code == MEMBER_ID_REQUIRED:
            return self._join(caller, reply.member_id)
        assert reply.error_code == 0
        return reply

    def _sync(self, caller: Caller) -> None:
        whole = write_assignment({TOPIC: frozenset(range(self.partitions))}, b"")
        given = message(
            "sync_group", "SyncGroupRequestAssignment", member_id=self.member, assignment=whole
        )
        request = message(
            "sync_group", "SyncGroupRequest", group_id=GROUP, generation_id=self.generation,
            member_id=self.member, assignments=[given],
        )  # fmt: skip
        assert caller.ask("sync_group", 3, request).error_code == 0

    def _commit(self, caller: Caller) -> None:
        api = "offset_commit"
        part = message(
            api, "OffsetCommitRequestPartition", partition_index=0, committed_offset=self.offset
        )
        request = message(
            api, "OffsetCommitRequest", group_id=GROUP, member_id=self.member,
            generation_id_or_member_epoch=self.generation,
            topics=[message(api, "OffsetCommitRequestTopic", name=TOPIC, partitions=[part])],
        )  # fmt: skip
        reply = caller.ask(api, 7, request)
        assert reply.topics[0].partitions[0].error_code == 0

    def upgrade(self, caller: Caller) -> None:
        """A member of the new protocol joins."""
        self._beat(
            caller, 0, rebalance_timeout_ms=600_000, topic_partitions=[],
            subscribed_topic_names=[TOPIC],
        )  # fmt: skip

    def downgrade(self, caller: Caller) -> None:
        """The member of the new protocol leaves."""
        self._beat(caller, -1)

    def _beat(self, caller: Caller, epoch: int, **fields: Any) -> None:
        api = "consumer_group_heartbeat"
        request = message(
            api, "ConsumerGroupHeartbeatRequest", group_id=GROUP, member_id=NEW,
            member_epoch=epoch, **fields,
        )  # fmt: skip
        assert caller.ask(api, 1, request).error_code == 0

    def state(self) -> tuple[str, set[str]]:
        """Protocol and members, after a start of the broker. The offset must be there."""
        with EmbeddedBroker(self.folder, OPEN) as broker:
            caller = Caller(broker.port)
            state = self._state(caller)
            caller.close()
            assert committed(broker, GROUP, TOPIC) == self.offset
        return state

    def _state(self, caller: Caller) -> tuple[str, set[str]]:
        (found,) = caller.ask("list_groups", 5, message("list_groups", "ListGroupsRequest")).groups
        is_classic = found.group_type == "classic"
        api = "describe_groups" if is_classic else "consumer_group_describe"
        kind = "DescribeGroupsRequest" if is_classic else "ConsumerGroupDescribeRequest"
        field = "groups" if is_classic else "group_ids"
        reply = caller.ask(api, 5 if is_classic else 1, message(api, kind, **{field: [GROUP]}))
        (described,) = reply.groups
        assert described.error_code == 0
        return found.group_type, {member.member_id for member in described.members}


POINTS = ["built", "appended", "durable"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("seed", range(2))
def test_group_is_classic_or_upgraded_after_a_kill_at_each_point(
    tmp_path: Path, point: str, seed: int
) -> None:
    group = LiveGroup(tmp_path, seed)
    group.form()
    kill_at(tmp_path, f"group-state-{point}@1", group.upgrade)
    upgraded = ("consumer", {group.member, NEW})
    assert group.state() == (("classic", {group.member}) if point == "built" else upgraded)
    run(tmp_path, group.upgrade)
    assert group.state() == upgraded


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("seed", range(2))
def test_group_is_upgraded_or_classic_again_after_a_kill_at_each_point(
    tmp_path: Path, point: str, seed: int
) -> None:
    group = LiveGroup(tmp_path, seed)
    group.form()
    run(tmp_path, group.upgrade)
    kill_at(tmp_path, f"group-state-{point}@1", group.downgrade)
    classic = ("classic", {group.member})
    assert group.state() == (("consumer", {group.member, NEW}) if point == "built" else classic)
    if point == "built":
        run(tmp_path, group.downgrade)
    assert group.state() == classic
