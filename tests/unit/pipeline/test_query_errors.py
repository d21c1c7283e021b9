"""Errors of Spark, without their Java stacks."""

import pytest

from holdfast.pipeline.query_errors import said_by

NESTED = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted
=== Streaming Query ===
Caused by: org.apache.spark.SparkException: Job aborted
\tat org.apache.spark.Here(Here.scala:1)
Caused by: java.io.IOException: No space left on device
\tat java.base/sun.nio.There(There.java:2)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NESTED, "java.io.IOException: No space left on device"),
        ("The topic is gone.\nJVM stacktrace:\n\tat a.B", "The topic is gone."),
        ("", "RuntimeError"),
    ],
)
def test_the_innermost_cause_is_what_is_said(text: str, said: str) -> None:
    assert said_by(RuntimeError(text)) == said
