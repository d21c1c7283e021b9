"""CreateAcls: adds access control lists. They are durable before they apply."""

import logging
from typing import TYPE_CHECKING

from holdfast.broker.api.describe_acls import DISABLED
from holdfast.broker.context import RequestContext
from holdfast.broker.security.access_file import Entries
from holdfast.broker.security.acls import (
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    Acl,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from holdfast.wire.protocol.generated.create_acls_response import (
    AclCreationResult,
    CreateAclsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

MOST_ACLS = 10_000
LONGEST_NAME = 4_096


class _Refused(Exception):
    pass


def handle(
    broker: "Broker", request: CreateAclsRequest, context: RequestContext
) -> Work[CreateAclsResponse]:
    results: list[AclCreationResult] = []
    if broker.security.authorizer is None:
        results = [
            AclCreationResult(ErrorCode.SECURITY_DISABLED, DISABLED) for _ in request.creations
        ]
        return CreateAclsResponse(results=results)
    created: set[Acl] = set()
    for creation in request.creations:
        try:
            created.add(_acl(creation))
            results.append(AclCreationResult(error_message=None))
        except _Refused as refusal:
            results.append(AclCreationResult(ErrorCode.INVALID_REQUEST, str(refusal)))
        yield None
    is_full = False

    def edit(entries: Entries) -> Work[Entries]:
        nonlocal is_full
        yield None
        acls = entries.acls | created
        is_full = len(acls) > MOST_ACLS
        return entries if is_full else Entries(entries.users, acls)

    try:
        yield from broker.security.file.change(edit)
    except OSError as error:
        log.error("The access control lists cannot be saved: %s", error)
        text = "The change cannot be saved: the disk refused it."
        results = [AclCreationResult(ErrorCode.KAFKA_STORAGE_ERROR, text) for _ in results]
    if is_full:
        text = f"There can be {MOST_ACLS} access control lists at most. None was added."
        results = [AclCreationResult(ErrorCode.POLICY_VIOLATION, text) for _ in results]
    return CreateAclsResponse(results=results)


def _acl(creation: AclCreation) -> Acl:
    try:
        acl = Acl(
            ResourceType(creation.resource_type),
            PatternType(creation.resource_pattern_type),
            creation.resource_name,
            creation.principal,
            creation.host,
            Operation(creation.operation),
            Permission(creation.permission_type),
        )
    except ValueError as error:
        raise _Refused(f"This cannot be controlled here: {error}.") from None
    if acl.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise _Refused("A pattern is literal or prefixed.")
    if acl.permission is Permission.ANY or acl.operation is Operation.ANY:
        raise _Refused("Only a filter can match any operation or permission.")
    if acl.resource_type is ResourceType.ANY:
        raise _Refused("Only a filter can match any type of resource.")
    if acl.operation is not Operation.ALL and acl.operation not in OPERATIONS[acl.resource_type]:
        raise _Refused(f"{acl.resource_type.name} has no operation {acl.operation.name}.")
    if acl.resource_type is ResourceType.CLUSTER and acl.name != CLUSTER_NAME:
        raise _Refused(f"The only name of a cluster is {CLUSTER_NAME}.")
    if not acl.principal.startswith("User:") or acl.principal == "User:":
        raise _Refused(f"The principal {acl.principal!r} must be written as User:NAME.")
    if not acl.host or not acl.name:
        raise _Refused("Resource and host need a name; * means all of them.")
    if acl.pattern_type is PatternType.PREFIXED and acl.name == WILDCARD:
        raise _Refused("A prefix is a name. For all resources, take the literal *.")
    if max(map(len, (acl.name, acl.principal, acl.host))) > LONGEST_NAME:
        raise _Refused(f"Names have at most {LONGEST_NAME} characters.")
    return acl
