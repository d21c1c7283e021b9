"""The life of a token, over two instances side by side."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until
from tests.integration.web.instances import Instance, serving

from holdfast.access.roles import Role
from holdfast.access.token_log import TokenLog
from holdfast.errors import AlreadyExistsError, NotFoundError

PATH = "/metrics"


@pytest.fixture(scope="module")
def instances(
    guarded: Instance, guarded_broker: EmbeddedBroker
) -> Iterator[tuple[Instance, Instance]]:
    with serving(guarded_broker) as other:
        yield guarded, other


def status(client: Instance, token: str) -> int:
    return client.status(PATH, token=token)


def test_token_is_valid_in_every_instance_until_revoked(
    instances: tuple[Instance, Instance], token_log: TokenLog
) -> None:
    _, text = token_log.create("anna", Role.VIEWER, created_by="tests")
    for instance in instances:
        wait_until(lambda i=instance: status(i, text) == 200, "the token to hold")  # type: ignore[misc]
    token_log.revoke("anna")
    for instance in instances:
        wait_until(lambda i=instance: status(i, text) == 401, "the token to end")  # type: ignore[misc]
    with pytest.raises(NotFoundError, match="'anna'"):
        token_log.revoke("anna")


def test_a_name_is_used_once_and_can_be_used_again_after_its_end(token_log: TokenLog) -> None:
    token_log.create("bob", Role.VIEWER, created_by="tests")
    with pytest.raises(AlreadyExistsError, match="'bob'"):
        token_log.create("bob", Role.ADMIN, created_by="tests")
    token_log.revoke("bob")
    token_log.create("bob", Role.ADMIN, created_by="tests")
    token_log.revoke("bob")


def test_a_token_ends_with_its_time(instances: tuple[Instance, Instance],
                                    token_log: TokenLog) -> None:  # fmt: skip
    _, text = token_log.create(
        "brief", Role.VIEWER, created_by="tests", expires_in=timedelta(milliseconds=1)
    )
    _, long = token_log.create(
        "long", Role.VIEWER, created_by="tests", expires_in=timedelta(hours=1)
    )
    wait_until(lambda: status(instances[0], long) == 200, "the newer token to hold")
    assert status(instances[0], text) == 401
    token_log.revoke("brief")
    token_log.revoke("long")


def test_session_is_shared_between_instances_and_ends_in_both(
    instances: tuple[Instance, Instance], tokens: dict[Role, str]
) -> None:
    one, other = instances
    answer = one.post("/login", data={"token": tokens[Role.OPERATOR]})
    cookie = {"Cookie": f"holdfast_session={answer.cookies['holdfast_session']}"}
    one.cookies.clear()
    assert one.get(PATH, headers=cookie).status_code == 200
    wait_until(lambda: other.get(PATH, headers=cookie).status_code == 200, "the session to hold")
    assert other.post("/logout", headers=cookie).status_code == 303
    assert other.get(PATH, headers=cookie).status_code == 401
    wait_until(lambda: one.get(PATH, headers=cookie).status_code == 401, "the session to end")


def test_a_session_ends_with_its_token(
    instances: tuple[Instance, Instance], token_log: TokenLog
) -> None:
    one, _ = instances
    token, text = token_log.create("carol", Role.VIEWER, created_by="tests")
    wait_until(lambda: status(one, text) == 200, "the token to hold")
    answer = one.post("/login", data={"token": text})
    cookie = {"Cookie": f"holdfast_session={answer.cookies['holdfast_session']}"}
    one.cookies.clear()
    assert one.get(PATH, headers=cookie).status_code == 200
    token_log.remove(token.id)  # its record alone, as if the session had begun while it was revoked
    wait_until(lambda: one.get(PATH, headers=cookie).status_code == 401, "the session to end")


def test_session_secrets_and_tokens_are_not_interchangeable(
    guarded: Instance, tokens: dict[Role, str]
) -> None:
    session = guarded.post("/login", data={"token": tokens[Role.ADMIN]}).cookies["holdfast_session"]
    guarded.cookies.clear()
    assert status(guarded, session) == 401
    cookie = {"Cookie": f"holdfast_session={tokens[Role.ADMIN]}"}
    assert guarded.get(PATH, headers=cookie).status_code == 401


def test_the_command_line_creates_lists_and_revokes(
    guarded: Instance, guarded_broker: EmbeddedBroker
) -> None:
    def holdfast(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli", "token", *arguments,
             "--bootstrap", guarded_broker.bootstrap],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip

    made = holdfast("create", "dora", "--role", "viewer", "--expires", "2h")
    text = made.stdout.strip()
    assert text.startswith("hf_")
    wait_until(lambda: status(guarded, text) == 200, "the token to hold")
    listed = holdfast("ls").stdout
    assert "dora\tviewer\tlive" in listed
    assert text.split("_", 2)[2] not in listed
    assert holdfast("create", "dora", "--role", "viewer").returncode == 1
    assert holdfast("create", "eve", "--role", "root").returncode == 2
    assert holdfast("revoke", "dora").returncode == 0
    assert holdfast("revoke", "dora").returncode == 3
    wait_until(lambda: status(guarded, text) == 401, "the token to end")
