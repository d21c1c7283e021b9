"""Every route of the REST API, from its OpenAPI document."""

import json
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from tools.reference.layout import block, code, page, prose, table

from holdfast.access.roles import Role
from holdfast.api.router import api_router
from holdfast.web.route_table import route_table

Document = dict[str, Any]


def application() -> FastAPI:
    """The API alone, over nothing: enough to tell what it is."""
    app = FastAPI()
    app.include_router(api_router())
    return app


def document() -> Document:
    """The OpenAPI document, as `/api/v1/openapi.json` serves it."""
    return application().openapi()


def roles() -> dict[tuple[str, str], Role]:
    """The lowest role that each method and path takes."""
    return {
        (method, entry.path): entry.role
        for entry in route_table(application())
        for method in entry.methods
        if entry.role is not None
    }


def api_page() -> str:
    """The page of all routes, and of the bodies that they take and give."""
    found, needed = document(), roles()
    parts = [
        "# Routes of the API",
        "From the OpenAPI document, which a running process serves at `/api/v1/openapi.json`. "
        "How the API behaves, its errors and its live streams are in [the guide](../guides/api.md)."
        " Every error is `application/problem+json`. Roles are those of "
        "[API and dashboard for others](../guides/web.md#who-may-do-what).",
    ]
    for tag, operations in _by_tag(found).items():
        parts.append(f"## {tag.capitalize()}")
        for method, path, operation in operations:
            parts += _operation(method, path, operation, needed[method, path])
    parts.append("## Bodies")
    for name, schema in found["components"]["schemas"].items():
        parts += _schema(name, schema)
    return page(*parts)


def _by_tag(found: Document) -> dict[str, list[tuple[str, str, Document]]]:
    groups: dict[str, list[tuple[str, str, Document]]] = {}
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or [path.split("/")[3]])[0]
            groups.setdefault(tag, []).append((method.upper(), path, operation))
    return groups


def _operation(method: str, path: str, operation: Document, role: Role) -> Iterator[str]:
    yield f"### {method} {path}"
    yield f"**{operation['summary']}.** {prose(operation.get('description', ''))}".strip()
    yield f"Takes the role {role.label}."
    yield table(
        ("parameter", "in", "type", "meaning"),
        (
            (
                code(one["name"]) + (" (required)" if one.get("required") else ""),
                one["in"],
                _type(one["schema"]),
                prose(one.get("description") or one["schema"].get("description", "")),
            )
            for one in operation.get("parameters", ())
        ),
    )
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        yield f"Body: {_type(body['schema'])}"
        yield from _example(body)
    answers = {
        status: answer for status, answer in operation["responses"].items() if status < "400"
    }
    for status, answer in answers.items():
        kinds = answer.get("content", {})
        shapes = [_type(content.get("schema", {})) or code(kind) for kind, content in kinds.items()]
        yield f"Answers {status}: {', '.join(filter(None, shapes)) or answer['description']}"


def _example(content: Document) -> Iterator[str]:
    examples = content.get("examples") or {}
    given = content.get("example") or next((e.get("value") for e in examples.values()), None)
    if given is not None:
        yield block(json.dumps(given, indent=2), "json")


def _schema(name: str, schema: Document) -> Iterator[str]:
    yield f"### {name}"
    yield prose(schema.get("description", ""))
    if "enum" in schema:
        yield "One of " + ", ".join(code(value) for value in schema["enum"]) + "."
    required = schema.get("required", ())
    yield table(
        ("field", "type", "meaning"),
        (
            (
                code(field) + (" (required)" if field in required else ""),
                _type(of),
                prose(of.get("description", "")),
            )
            for field, of in schema.get("properties", {}).items()
        ),
    )
    yield from _example({"example": next(iter(schema.get("examples", ())), None)})


def _type(schema: Document) -> str:
    """A type in a few words; a name leads to its fields."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(filter(None, map(_type, schema[several])))
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return " or ".join(code(value) for value in schema["enum"])
    match schema.get("type"):
        case "null":
            return ""
        case "array":
            return f"list of {_type(schema['items']) or 'anything'}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {_type(schema['additionalProperties']) or 'anything'}"
    return str(schema.get("type", ""))
