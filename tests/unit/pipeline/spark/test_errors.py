"""Errors of Spark, without their Java stacks."""

import pytest

from holdfast.pipeline.spark.errors import root_cause

NESTED = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted
=== Streaming Query ===
Caused by: org.apache.spark.SparkException: Job aborted
\tat org.apache.spark.Here(Here.scala:1)
Caused by: java.io.IOException: No space left on device
\tat java.base/sun.nio.There(There.java:2)
"""

RAISED_IN_PYTHON = """[STREAM_FAILED] Query [id = 1] terminated with exception: \
An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "batch.py", line 7, in merge
    aggregate(rows)
pyspark.errors.AnalysisException: [UNRESOLVED_COLUMN] A column `status` cannot be resolved.
'Aggregate ['status]
+- Relation [id]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NESTED, "java.io.IOException: No space left on device"),
        ("The topic is gone.\nJVM stacktrace:\n\tat a.B", "The topic is gone."),
        (RAISED_IN_PYTHON, "[UNRESOLVED_COLUMN] A column `status` cannot be resolved."),
        ("a: Traceback (most recent call last):", "a: Traceback (most recent call last):"),
        ("", "RuntimeError"),
    ],
)
def test_root_cause_is_the_innermost_cause(text: str, said: str) -> None:
    assert root_cause(RuntimeError(text)) == said
