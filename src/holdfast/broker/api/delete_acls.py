"""DeleteAcls: removes the access control lists that match filters."""

import logging
from typing import TYPE_CHECKING

from holdfast.broker.api.describe_acls import DISABLED, filter_of
from holdfast.broker.context import RequestContext
from holdfast.broker.security.access_file import Entries
from holdfast.broker.security.acls import Acl
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.delete_acls_request import DeleteAclsRequest
from holdfast.wire.protocol.generated.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

MOST_FILTERS = 100
"""Each is compared with every entry."""


def handle(
    broker: "Broker", request: DeleteAclsRequest, context: RequestContext
) -> Work[DeleteAclsResponse]:
    count = len(request.filters)
    if broker.security.authorizer is None:
        return _refused(count, ErrorCode.SECURITY_DISABLED, DISABLED)
    if count > MOST_FILTERS:
        return _refused(
            count, ErrorCode.INVALID_REQUEST, f"A request has at most {MOST_FILTERS} filters."
        )
    found: list[list[Acl]] = []
    for wanted in map(filter_of, request.filters):
        found.append([acl for acl in broker.security.file.entries.acls if wanted.matches(acl)])
        yield None
    doomed = {acl for acls in found for acl in acls}

    def edit(entries: Entries) -> Work[Entries]:
        yield None
        return Entries(entries.users, entries.acls - doomed)

    try:
        yield from broker.security.file.change(edit)
    except OSError as error:
        log.error("The access control lists cannot be saved: %s", error)
        text = "The change cannot be saved: the disk refused it."
        return _refused(count, ErrorCode.KAFKA_STORAGE_ERROR, text)
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(error_message=None, matching_acls=[_deleted(a) for a in acls])
            for acls in found
        ]
    )


def _refused(count: int, error: ErrorCode, message: str) -> DeleteAclsResponse:
    return DeleteAclsResponse(
        filter_results=[DeleteAclsFilterResult(error, message) for _ in range(count)]
    )


def _deleted(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
