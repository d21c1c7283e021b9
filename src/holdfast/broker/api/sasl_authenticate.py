"""SaslAuthenticate: the messages of a login."""

from typing import TYPE_CHECKING

from holdfast.broker.context import HangUp, RequestContext
from holdfast.broker.security.scram import LoginFailed
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from holdfast.wire.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: SaslAuthenticateRequest, context: RequestContext
) -> SaslAuthenticateResponse | HangUp:
    session = context.session
    if session is None or not session.mechanisms:
        return SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, "This address has no login.")
    try:
        answer = await session.authenticate(request.auth_bytes)
    except LoginFailed as error:
        return SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, str(error))
    if answer is None:
        return HangUp("too many failed logins")
    return SaslAuthenticateResponse(
        auth_bytes=answer, error_message=None, session_lifetime_ms=session.lifetime_ms
    )
