"""SaslHandshake: the client chooses how to log in."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from holdfast.wire.protocol.generated.sasl_handshake_response import SaslHandshakeResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: SaslHandshakeRequest, context: RequestContext
) -> SaslHandshakeResponse:
    session = context.session
    if session is None:
        return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
    return SaslHandshakeResponse(session.begin(request.mechanism), list(session.mechanisms))
