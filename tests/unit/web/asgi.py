"""ASGI by hand: one request to an app, and what it answered."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = False

    @property
    def code(self) -> str:
        """Of a problem."""
        assert self.headers["content-type"] == "application/problem+json"
        document: dict[str, Any] = json.loads(self.body)
        assert document["status"] == self.status
        return str(document["code"])


async def ask(
    app: ASGIApp,
    method: str = "GET",
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    body: Iterable[bytes] = (b"",),
) -> Answer:
    answer = Answer()
    chunks = list(body)
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()],
        "client": ("192.0.2.1", 1),
        "state": {},
    }

    async def receive() -> Message:
        if not chunks:
            return {"type": "http.disconnect"}
        chunk = chunks.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not answer.status, "two answers to one request"
            answer.status = message["status"]
            answer.headers = {k.decode().lower(): v.decode() for k, v in message["headers"]}
        else:
            assert not answer.ended, "more after the end"
            answer.body += message.get("body", b"")
            answer.ended = not message.get("more_body", False)

    await app(scope, receive, send)
    return answer


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body that it was sent, once it has all of it."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client is gone")
        body += message["body"]
        more = message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
