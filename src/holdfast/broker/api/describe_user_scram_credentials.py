"""DescribeUserScramCredentials: the users, and how they may log in. No part of a credential."""

from collections import Counter
from typing import TYPE_CHECKING

from holdfast.broker.api.alter_user_scram_credentials import MECHANISMS
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from holdfast.wire.protocol.generated.describe_user_scram_credentials_response import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

_NUMBERS = {name: number for number, name in MECHANISMS.items()}


def handle(
    broker: "Broker", request: DescribeUserScramCredentialsRequest, context: RequestContext
) -> Work[DescribeUserScramCredentialsResponse]:
    users = broker.security.file.entries.users
    names = [each.name for each in request.users or ()] or sorted(users)
    times = Counter(names)
    response = DescribeUserScramCredentialsResponse(error_message=None)
    for name, count in times.items():
        found = users.get(name, {})
        result = DescribeUserScramCredentialsResult(name, error_message=None)
        if count > 1:
            result.error_code = ErrorCode.DUPLICATE_RESOURCE
            result.error_message = f"The user {name!r} is named more than once."
        elif not found:
            result.error_code = ErrorCode.RESOURCE_NOT_FOUND
            result.error_message = f"There is no user {name!r} with a SCRAM credential."
        else:
            result.credential_infos = [
                CredentialInfo(_NUMBERS[mechanism], known.iterations)
                for mechanism, known in sorted(found.items())
            ]
        response.results.append(result)
        yield None
    return response
