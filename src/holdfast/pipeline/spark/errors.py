"""Errors of Spark, in one sentence."""

_TRACEBACK = "Traceback (most recent call last):"


def root_cause(error: Exception) -> str:
    """The innermost cause of a Spark error, without stack traces of Java and Python.

    Spark nests causes, and each text repeats those inside it.
    """
    lines = str(error).strip().splitlines() or [""]
    causes = [line.partition("Caused by: ")[2] for line in lines if "Caused by: " in line]
    text = causes[-1] if causes else lines[0]
    if text.endswith(_TRACEBACK):
        text = _raised(lines) or text
    return text.strip() or type(error).__name__


def _raised(lines: list[str]) -> str:
    """The message of the error that a Python function raised, behind its last traceback."""
    last = max(number for number, line in enumerate(lines) if line.endswith(_TRACEBACK))
    behind = (line for line in lines[last + 1 :] if line and not line[0].isspace())
    return next(behind, "").partition(": ")[2]
