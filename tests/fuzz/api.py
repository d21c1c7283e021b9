"""Requests that no client would send: odd words where the API and the pages expect others, bodies
that are nearly JSON, and bytes that are nearly HTTP.

Whatever comes, the answer is not a failure of ours (500), and the next one is served.
"""

import contextlib
import json
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

import httpx
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from tests.fuzz.mutations import mutated
from tests.integration.api.served import Api

from holdfast.web.route_table import RouteEntry, route_table

ROUNDS_BETWEEN_CHECKS = 50
FLOW = "fuzzed"
WORDS: tuple[str, ...] = (
    FLOW, "customer-7", "no-such", "", "0", "1", "-1", "2", "999999999999", "1.5", "nan", "true",
    "events", "held", "dlq", "control", "HELD", "-events", "b64.AP8", "b64.", "b64.%%", "$.a",
    "$[?(@.a > 1)]", "$..*", "$[", "2026-01-31T12:00:00Z", "10m", "a\x00b", "ä€😀", "<script>",
    "../..", "%2e%2e", "x" * 3_000, "'; drop table", "{}", "[]", "null", "\ufffd",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 1.5, 1e308, 2**63, -(2**63), "", "hold", "release", "text",
    FLOW, "id BIGINT", "$.card", [], {}, ["a"], [None], {"key_base64": "/w=="}, {"key_base64": "%"},
    "\x00", "😀", "x" * 3_000, [1] * 50, {"a": {"b": {"c": []}}},
)  # fmt: skip
HEADERS = ("Idempotency-Key", "Last-Event-ID", "X-Holdfast-Actor", "Accept", "HX-Request", "Cookie",
           "Authorization", "Content-Type", "Origin")  # fmt: skip
LIKELY = {
    "flow": FLOW, "topic": "events", "key": "customer-7", "partition": "0", "offset": "0",
    "key_path": "customer-7",
}  # fmt: skip
"""Path parts that lead further than a 404."""
SOON = {"wait": ("effective", "no", ""), "timeout": ("0", "0.05", "-1", "x")}
"""A request may wait for what never comes, which would be all that happens here."""
NAMES = (
    "name", "partitions", "reason", "expires_in", "expires_at", "pace", "key", "keys", "verb",
    "value", "headers", "limits", "overflow", "schema", "masks", "offset", "letters", "since",
    "until", "json", "where", "rate", "files", "id", "offsets", "all", "again", "checks",
)  # fmt: skip
_PLACE = re.compile(r"\{(\w+)[^}]*\}")


class ApiBroken(AssertionError):
    """The web process broke a promise. The message names the seed and the round that led there."""


class ApiAttack:
    """Rounds against an instance. The same seed sends the same requests."""

    def __init__(self, api: Api, seed: int) -> None:
        self._api = api
        self._seed = seed
        self._number = 0
        self._routes = [entry for entry in route_table(api.app) if entry.methods]
        self._query = sorted({name for entry in self._routes for name in _parameters(entry)})
        self._fields = _body_fields(api.app.openapi())
        self._client = httpx.Client(base_url=api.address, timeout=60, follow_redirects=False)
        self.rounds: Counter[str] = Counter()
        made = api.post("flows", json={"name": FLOW, "partitions": 2})
        assert made.status_code in (201, 409), made.text

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.round()

    def round(self) -> None:
        self._number += 1
        source = random.Random(f"{self._seed} {self._number}")
        kinds: tuple[Callable[[random.Random], None], ...] = (
            self._call, self._call, self._call, self._call, self._nowhere, self._nearly_http,
        )  # fmt: skip
        source.choice(kinds)(source)
        if self._number % ROUNDS_BETWEEN_CHECKS == 0:
            self.check()

    def check(self) -> None:
        """It is ready, and answers a request that is right."""
        for path in ("/readyz", f"/api/v1/flows/{FLOW}", "/"):
            answer = self._client.get(path)
            if answer.status_code != 200:
                raise self._broken(f"{path} is {answer.status_code}: {answer.text[:500]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _call(self, source: random.Random) -> None:
        """A route that is there, with words that it may not expect."""
        route = source.choice(self._routes)
        method = source.choice(sorted(route.methods))
        path = _PLACE.sub(lambda place: quote(_word(place[1], source), safe=""), route.path)
        names = [*SOON, *source.sample(self._query, source.randint(0, 4))]
        query = {name: source.choice(SOON.get(name, WORDS)) for name in names}
        headers = {
            name: source.choice(WORDS).encode()[:200].replace(b"\x00", b"")
            for name in HEADERS
            if source.random() < 0.08
        }
        self.send(source, method, path, query, headers, self._fields.get(route.path, NAMES))

    def _nowhere(self, source: random.Random) -> None:
        path = "/" + "/".join(quote(word, safe="/") for word in source.choices(WORDS, k=4))
        method = source.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "FUZZ"))
        self.send(source, method, path)

    def send(
        self,
        source: random.Random,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, bytes] | None = None,
        fields: Mapping[str, Any] | Sequence[str] = NAMES,
    ) -> None:
        """Send one request, and look at how its answer begins."""
        content = None if method == "GET" else _body(source, fields)
        kind = source.choice(("application/json", "application/json", "text/plain",
                              "application/x-www-form-urlencoded"))  # fmt: skip
        more = {name.encode(): value for name, value in (headers or {}).items()}
        sent: dict[bytes, bytes] = {b"Content-Type": kind.encode(), **more}
        request = self._client.build_request(
            method, path, params=query, content=content, headers=sent
        )
        answer = self._client.send(request, stream=True)  # a live stream has no end: its head does
        try:
            self.rounds[f"requests answered {answer.status_code}"] += 1
            if answer.status_code == 500:
                said = answer.read()[:1_000]
                raise self._broken(f"{method} {request.url} {content!r} failed: {said!r}")
        finally:
            answer.close()

    def _nearly_http(self, source: random.Random) -> None:
        """Bytes on a connection of their own. They may be answered, or not."""
        whole = (
            f"POST /api/v1/flows/{FLOW}/keys/a/hold HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: 15\r\n\r\n"
            '{"reason": "x"}'
        ).encode()
        host, _, port = self._api.address.rpartition("//")[2].partition(":")
        with socket.create_connection((host, int(port)), 10) as connection:
            with contextlib.suppress(OSError):  # it may be closed before all is sent
                connection.sendall(mutated(whole, source))
                connection.shutdown(socket.SHUT_WR)
                said = connection.recv(4_096)
                self.rounds["frames that are nearly HTTP"] += 1
                if said.startswith(b"HTTP/1.1 500"):
                    raise self._broken(f"bytes that are nearly HTTP failed: {said!r}")

    def _broken(self, what: str) -> ApiBroken:
        return ApiBroken(f"{what} (seed {self._seed}, round {self._number})")


def _word(place: str, source: random.Random) -> str:
    if place in LIKELY and source.random() < 0.8:
        return LIKELY[place]
    return source.choice(WORDS)


def _body(source: random.Random, fields: Mapping[str, Any] | Sequence[str]) -> bytes:
    """JSON of these fields; those that say what they usually are mostly are that."""
    names = sorted(fields)
    usual = fields if isinstance(fields, Mapping) else {}
    chosen = {
        name: usual[name] if name in usual and source.random() < 0.7 else source.choice(VALUES)
        for name in source.sample(names, source.randint(0, len(names)))
    }
    body = json.dumps(source.choice((chosen, chosen, chosen, source.choice(VALUES)))).encode()
    if source.random() < 0.2:
        return mutated(body, source)
    return b"[" * 20_000 if source.random() < 0.01 else body


def _body_fields(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By path of the API: the fields of the body that it takes, each with an example."""
    schemas = document["components"]["schemas"]
    found = {}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            content = operation.get("requestBody", {}).get("content", {})
            reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
            fields = schemas.get(reference.rpartition("/")[2], {}).get("properties", {})
            if fields:
                found[path] = {name: _example(field) for name, field in fields.items()}
    return found


def _example(field: dict[str, Any]) -> Any:
    examples = [*field.get("examples", ()), field.get("default")]
    return examples[0]


def _parameters(entry: RouteEntry) -> list[str]:
    if not isinstance(entry.route, APIRoute):
        return []
    return [field.alias for field in get_flat_params(entry.route.dependant)]
