"""A tool: its schema, and the check of its arguments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import InvalidArgumentError
from holdfast.remote.server import Server

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
}
Schema = Mapping[str, Any]
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A result: text for the model to read, and the same as data."""

    text: str
    data: Mapping[str, Any]

    @classmethod
    def of_lines(cls, lines: Iterable[str], data: Mapping[str, Any]) -> "Answer":
        """Each line stays one line: an event or a reason with a line break must not look like a
        line of ours."""
        return cls("\n".join(" ".join(line.splitlines()) for line in lines), data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `call` gets the API with the caller's token."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    required: Sequence[str] = ()
    writes: bool = False
    destroys: bool = False
    call: Callable[[Server, Arguments], Answer]

    def described(self) -> dict[str, Any]:
        """The tool as `tools/list` has it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": {name: dict(schema) for name, schema in self.properties.items()},
                "required": list(self.required),
                "additionalProperties": False,
            },
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": self.destroys,
                "openWorldHint": False,
            },
        }

    def run(self, server: Server, arguments: Any) -> Answer:
        """The answer, or InvalidArgumentError if an argument is not as the schema says."""
        if not isinstance(arguments, Mapping):
            raise InvalidArgumentError("The arguments of a tool are an object.")
        for name in self.required:
            if name not in arguments:
                raise InvalidArgumentError(f"The argument {name!r} is missing.")
        for name, value in arguments.items():
            if name not in self.properties:
                known = ", ".join(self.properties) or "none"
                raise InvalidArgumentError(f"There is no argument {name!r}. Known: {known}.")
            _check(name, value, self.properties[name])
        return self.call(server, arguments)


def _check(name: str, value: Any, schema: Schema) -> None:
    kinds = _TYPES[schema["type"]]
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not fits:
        raise InvalidArgumentError(f"The argument {name!r} must be of type {schema['type']}.")
    if schema["type"] == "array" and not all(isinstance(each, str) for each in value):
        raise InvalidArgumentError(f"The argument {name!r} must be a list of texts.")
    if isinstance(value, str) and len(value.strip()) < schema.get("minLength", 0):
        raise InvalidArgumentError(f"The argument {name!r} must not be empty.")
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidArgumentError(f"{name!r} is one of {', '.join(schema['enum'])}.")
    for limit, worse in (("minimum", -1), ("maximum", 1)):
        if limit in schema and (value - schema[limit]) * worse > 0:
            raise InvalidArgumentError(f"The {limit} of {name!r} is {schema[limit]}.")
