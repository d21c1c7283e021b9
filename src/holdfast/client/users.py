"""Users that log in to the cluster by SCRAM."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka.admin import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from holdfast.client.connection import Connection

ITERATIONS = 8_192
_MECHANISMS = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)


@dataclass(frozen=True, slots=True)
class User:
    """A user, and the mechanisms that they can log in with."""

    name: str
    mechanisms: tuple[str, ...]


class Users:
    """Adds, lists and removes users. The cluster stores their passwords in a salted form only."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> list[User]:
        """All users by name."""
        future = self._connection.admin.describe_user_scram_credentials(
            request_timeout=self._connection.settings.request_timeout
        )
        assert isinstance(future, Future)  # for all users at once
        found = self._connection.wait(future, "Listing the users")
        return [
            User(name, tuple(_name(info.mechanism) for info in user.scram_credential_infos))
            for name, user in sorted(found.items())
        ]

    def add(self, name: str, password: str) -> None:
        """Add a user, or give them another password."""
        secret = password.encode()
        changes = [
            UserScramCredentialUpsertion(name, ScramCredentialInfo(mechanism, ITERATIONS), secret)
            for mechanism in _MECHANISMS
        ]
        self._alter(name, changes, f"Adding the user {name!r}")

    def remove(self, name: str) -> None:
        """Remove a user. Their open connections stay until they end."""
        known = {user.name: user.mechanisms for user in self.list()}.get(name, ())
        changes = [
            UserScramCredentialDeletion(name, mechanism)
            for mechanism in _MECHANISMS
            if not known or _name(mechanism) in known
        ]
        self._alter(name, changes, f"Removing the user {name!r}")

    def _alter(
        self,
        name: str,
        changes: Sequence[UserScramCredentialUpsertion | UserScramCredentialDeletion],
        doing: str,
    ) -> None:
        futures = self._connection.admin.alter_user_scram_credentials(
            list(changes), request_timeout=self._connection.settings.request_timeout
        )
        self._connection.wait(futures[name], doing)


def _name(mechanism: ScramMechanism) -> str:
    return str(mechanism.name).replace("_", "-")
