"""The process from which Spark forks its Python workers, with all their imports loaded.

Spark starts it (`spark.python.daemon.module`) instead of its own daemon. Workers share the memory
of the loaded modules, and start without loading them again.
"""

import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import holdfast.pipeline.gate.tasks
import holdfast.pipeline.runs.slice_tasks  # noqa: F401

if __name__ == "__main__":
    gc.freeze()  # garbage collection writes to the objects it visits, which ends the sharing
    manager()
