"""Why a command has failed: text for people, JSON for programs that asked for it with `-o json`."""

TYPE_CHECKING = False  # this is imported before the command is known, so it must be small
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG = ("--output json", "--output=json")
_KINDS = {2: "usage", 3: "not-found", 4: "unreachable", 5: "could-not-finish"}


class CommandFailed(Exception):
    """Ends a command with a message and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Failure:
    """A message and an exit code, as one JSON object on standard error."""

    __slots__ = ("exit_code", "message")

    def __init__(self, message: str, exit_code: int) -> None:
        self.message = message
        self.exit_code = exit_code

    def as_json(self) -> str:
        import json

        kind = _KINDS.get(self.exit_code, "failed")
        error = {"kind": kind, "message": self.message, "exit_code": self.exit_code}
        return json.dumps({"error": error}, ensure_ascii=False)


def wants_json(arguments: "Sequence[str]") -> bool:
    """Returns True if the output is to be JSON: then errors are, too.

    >>> wants_json(["held", "orders", "-o", "json"]), wants_json(["hold", "orders", "--", "-ojson"])
    (True, False)
    """
    words = list(arguments)
    if "--" in words:
        words = words[: words.index("--")]
    joined = f" {' '.join(words)} "
    return any(f" {form} " in joined for form in ("-o json", "-ojson", *_LONG))
