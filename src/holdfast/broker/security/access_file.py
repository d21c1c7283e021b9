"""Users and access control lists, in one small file."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.broker.durable_file import DurableFile
from holdfast.broker.security.acls import (
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from holdfast.broker.security.scram import Credential
from holdfast.errors import DataDirectoryError

FILE_NAME = "access.json"
FORMAT = 1
_MODE = 0o600
"""Only the broker's own user may read salted passwords."""

Users = Mapping[str, Mapping[str, Credential]]
"""Credentials by user and mechanism."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The file's contents. They never change; a change makes new ones."""

    users: Users = field(default_factory=dict)
    acls: frozenset[Acl] = frozenset()


class AccessFile(DurableFile[Entries]):
    """The present users and lists, and changes to them one at a time."""

    def __init__(self, data_dir: Path) -> None:
        path = data_dir / FILE_NAME
        super().__init__(path, _load(path), _encode, _MODE)


def _encode(entries: Entries) -> bytes:
    document = {
        "format": FORMAT,
        "users": {
            user: {mechanism: _credential_document(c) for mechanism, c in found.items()}
            for user, found in sorted(entries.users.items())
        },
        "acls": [_acl_document(acl) for acl in sorted(entries.acls)],
    }
    return json.dumps(document, indent=1).encode()


def _load(path: Path) -> Entries:
    try:
        document = json.loads(path.read_bytes())
        if document["format"] != FORMAT:
            raise ValueError(f"it has format {document['format']}, not {FORMAT}")
        return Entries(
            {
                str(user): {str(m): _credential(c) for m, c in found.items()}
                for user, found in document["users"].items()
            },
            frozenset(map(_acl, document["acls"])),
        )
    except FileNotFoundError:
        return Entries()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataDirectoryError(
            f"{path} cannot be read: {error!r}. It has the users and access control "
            "lists; without it the broker cannot tell who may do what. Restore it from a "
            "backup. Or remove it: all users and lists are then gone."
        ) from None


def _credential_document(known: Credential) -> dict[str, object]:
    return {
        "salt": base64.b64encode(known.salt).decode(),
        "iterations": known.iterations,
        "stored_key": base64.b64encode(known.stored_key).decode(),
        "server_key": base64.b64encode(known.server_key).decode(),
    }


def _credential(document: Mapping[str, object]) -> Credential:
    salt, stored_key, server_key = (
        base64.b64decode(str(document[name]), validate=True)
        for name in ("salt", "stored_key", "server_key")
    )
    return Credential(salt, int(str(document["iterations"])), stored_key, server_key)


def _acl_document(acl: Acl) -> dict[str, str]:
    return {
        name: value.name
        if isinstance(value, (ResourceType, PatternType, Operation, Permission))
        else value
        for name, value in acl._asdict().items()
    }


def _acl(document: Mapping[str, str]) -> Acl:
    return Acl(
        ResourceType[document["resource_type"]],
        PatternType[document["pattern_type"]],
        document["name"],
        document["principal"],
        document["host"],
        Operation[document["operation"]],
        Permission[document["permission"]],
    )
