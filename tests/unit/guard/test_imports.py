"""A guard needs the core package alone."""

import subprocess
import sys


def test_the_guard_needs_neither_spark_nor_arrow_nor_the_brokers_packages() -> None:
    foreign = "{'pyspark', 'pyarrow', 'pandas', 'crc32c', 'cramjam', 'prometheus_client'}"
    program = (
        "import sys, holdfast.guard.guard, holdfast.guard.post; "
        f"sys.exit(repr({foreign} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.stderr.strip() == "set()"
