"""The gate stands alone."""

import subprocess
import sys


def test_the_gate_imports_neither_spark_nor_kafka_nor_arrow() -> None:
    foreign = "{'pyspark', 'confluent_kafka', 'pyarrow', 'pandas', 'asyncio'}"
    program = f"import sys, holdfast.gate; sys.exit(repr({foreign} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.stderr.strip() == "set()"
