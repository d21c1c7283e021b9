"""The process from which Spark forks its Python workers, with everything loaded that they need.

Spark starts it (`spark.python.daemon.module`) in the place of its own. Workers share the memory of
what is loaded here, and begin without loading it again, each for itself.
"""

import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import holdfast.pipeline.runs.slice_tasks
import holdfast.pipeline.tasks  # noqa: F401

if __name__ == "__main__":
    gc.freeze()  # what is looked through for garbage is written to, and not shared any more
    manager()
