"""DescribeAcls: the access control lists that match a filter."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from holdfast.broker.context import RequestContext
from holdfast.broker.security.acls import AclFilter
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_acls_request import DescribeAclsRequest
from holdfast.wire.protocol.generated.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

DISABLED = "Access control is off: start the broker with access_control = true."


def handle(
    broker: "Broker", request: DescribeAclsRequest, context: RequestContext
) -> Work[DescribeAclsResponse]:
    if broker.security.authorizer is None:
        return DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED, error_message=DISABLED)
    wanted = filter_of(request)
    by_pattern: defaultdict[tuple[int, str, int], list[AclDescription]] = defaultdict(list)
    for acl in sorted(broker.security.file.entries.acls):
        if wanted.matches(acl):
            by_pattern[acl.resource_type, acl.name, acl.pattern_type].append(
                AclDescription(acl.principal, acl.host, acl.operation, acl.permission)
            )
        yield None
    return DescribeAclsResponse(
        error_message=None,
        resources=[DescribeAclsResource(*which, acls) for which, acls in by_pattern.items()],
    )


def filter_of(request: Any) -> AclFilter:
    """The filter of a DescribeAcls request, or one of a DeleteAcls request."""
    return AclFilter(
        request.resource_type_filter,
        request.pattern_type_filter,
        request.resource_name_filter,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )
