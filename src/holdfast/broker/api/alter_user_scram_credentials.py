"""AlterUserScramCredentials: adds, changes and removes users' passwords, in their salted form."""

import logging
from collections import Counter
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.security.access_file import Entries
from holdfast.broker.security.scram import (
    HASHES,
    LEAST_ITERATIONS,
    MOST_ITERATIONS,
    Credential,
    credential,
)
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from holdfast.wire.protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
"""Kafka's numbers."""
MOST_USERS = 10_000
LONGEST_NAME = 255
LONGEST_SALT = 1_024
_SALTED_BYTES = {"SCRAM-SHA-256": 32, "SCRAM-SHA-512": 64}

Change = ScramCredentialDeletion | ScramCredentialUpsertion
Refusal = tuple[ErrorCode, str]


def handle(
    broker: "Broker", request: AlterUserScramCredentialsRequest, context: RequestContext
) -> Work[AlterUserScramCredentialsResponse]:
    changes: list[Change] = [*request.deletions, *request.upsertions]
    refusals: dict[str, Refusal] = {}

    def edit(entries: Entries) -> Work[Entries]:
        refusals.update(_refusals(changes, entries))
        users = {user: dict(found) for user, found in entries.users.items()}
        for change in changes:
            yield None
            if change.name in refusals:
                continue
            if isinstance(change, ScramCredentialDeletion):
                del users[change.name][MECHANISMS[change.mechanism]]
                if not users[change.name]:
                    del users[change.name]
            elif change.name in users or len(users) < MOST_USERS:
                users.setdefault(change.name, {})[MECHANISMS[change.mechanism]] = _credential(
                    change
                )
            else:
                refusals[change.name] = (
                    ErrorCode.POLICY_VIOLATION,
                    f"There are {MOST_USERS} users already, the maximum.",
                )
        return Entries(users, entries.acls)

    try:
        yield from broker.security.file.change(edit)
    except OSError as error:
        log.error("The users cannot be saved: %s", error)
        text = "The change cannot be saved: the disk refused it."
        refusals = dict.fromkeys(
            (change.name for change in changes), (ErrorCode.KAFKA_STORAGE_ERROR, text)
        )
    response = AlterUserScramCredentialsResponse()
    for name in dict.fromkeys(change.name for change in changes):
        code, message = refusals.get(name, (ErrorCode.NONE, None))
        response.results.append(AlterUserScramCredentialsResult(name, code, message))
        if code is ErrorCode.NONE:
            log.info("Changed the credentials of %.64r", name)
    return response


def _credential(change: ScramCredentialUpsertion) -> Credential:
    mechanism = MECHANISMS[change.mechanism]
    return credential(mechanism, change.salted_password, change.salt, change.iterations)


def _refusals(changes: list[Change], entries: Entries) -> dict[str, Refusal]:
    """The users none of whose changes are made, with the first reason."""
    times = Counter((change.name, change.mechanism) for change in changes)
    refusals: dict[str, Refusal] = {}
    for change in changes:
        refusal = _refusal(change, entries)
        if refusal is None and times[change.name, change.mechanism] > 1:
            refusal = (
                ErrorCode.DUPLICATE_RESOURCE,
                "A user's mechanism must not appear more than once.",
            )
        if refusal is not None:
            refusals.setdefault(change.name, refusal)
    return refusals


def _refusal(change: Change, entries: Entries) -> Refusal | None:
    if not 0 < len(change.name) <= LONGEST_NAME:
        return (
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"A user's name has 1 to {LONGEST_NAME} characters.",
        )
    mechanism = MECHANISMS.get(change.mechanism)
    if mechanism is None:
        return (
            ErrorCode.UNSUPPORTED_SASL_MECHANISM,
            f"Mechanism {change.mechanism} is unknown. Known: {', '.join(HASHES)}.",
        )
    if isinstance(change, ScramCredentialDeletion):
        if mechanism in entries.users.get(change.name, {}):
            return None
        return (
            ErrorCode.RESOURCE_NOT_FOUND,
            f"The user {change.name!r} has no credential for {mechanism}.",
        )
    if not LEAST_ITERATIONS <= change.iterations <= MOST_ITERATIONS:
        return (
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"Iterations must be {LEAST_ITERATIONS} to {MOST_ITERATIONS}.",
        )
    if not 0 < len(change.salt) <= LONGEST_SALT:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, f"A salt has 1 to {LONGEST_SALT} bytes."
    if len(change.salted_password) != _SALTED_BYTES[mechanism]:
        return (
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"The salted password of {mechanism} has {_SALTED_BYTES[mechanism]} bytes.",
        )
    return None
