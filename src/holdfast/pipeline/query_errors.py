"""Why a streaming query has ended, in a sentence."""

from pyspark.sql.streaming.query import StreamingQuery

from holdfast.errors import TransientError


class QueryEndedError(TransientError):
    """A query of Spark's has ended by itself. Started anew, it goes on where it was."""


def ending(query: StreamingQuery) -> Exception | None:
    """The error that ended the query; None while it runs."""
    if query.isActive:
        return None
    error = query.exception()
    return QueryEndedError("The query was stopped." if error is None else said_by(error))


def said_by(error: Exception) -> str:
    """The innermost cause of an error of Spark's, without its Java stack.

    Spark wraps causes in one another, each text repeating those inside it.
    """
    causes = [
        line.partition("Caused by: ")[2]
        for line in str(error).splitlines()
        if "Caused by: " in line
    ]
    text = causes[-1] if causes else str(error).strip().partition("\n")[0]
    return text.strip() or type(error).__name__
