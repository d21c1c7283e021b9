"""Lay down the classes that Spark loads as Java can map them into memory: `.jars/spark.jsa`.

    python -m tools.share_classes        # `make setup` and `make test` see to it, once

The demo runs for a moment, and the classes that its Spark has loaded by then are written (class
data sharing). A JVM that begins with the file neither looks its classes up in hundreds of jars nor
checks them again. One that cannot use it, because Java or a jar is another by now, begins as ever.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from holdfast.jars import shared_classes

PATIENCE_S = 180.0
HOLDFAST = [sys.executable, "-m", "holdfast.cli"]


def main() -> int:
    target = shared_classes()
    print(f"Writing {target.name}, with which Spark starts faster ...", flush=True)
    target.unlink(missing_ok=True)  # what is written must not rest on what was
    # Beside the target, so that it can take its place in one step.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="classes-") as name:
        written = Path(name) / target.name
        try:
            _run_demo(Path(name), written)
        except (OSError, RuntimeError, subprocess.SubprocessError, psutil.Error) as error:
            print(f"It could not be written: {error} Spark starts as ever.", file=sys.stderr)
            written.unlink(missing_ok=True)  # it may be there in part
            written.touch()  # not to be tried again each time
        os.replace(written, target)
    return 0


def _run_demo(folder: Path, written: Path) -> None:
    """Events through the gate and into the raw zone; then ask Spark's JVM for its classes."""
    settings = {name: v for name, v in os.environ.items() if not name.startswith("HOLDFAST_UP_")}
    settings["SPARK_SUBMIT_OPTS"] = "-XX:+RecordDynamicDumpInfo -Xlog:cds=off -Xlog:cds+dynamic=off"
    log = folder / "demo.log"
    with log.open("wb") as output:
        demo = subprocess.Popen(
            [*HOLDFAST, "up", "--demo", "--no-web", "--data-dir", str(folder / "data")],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=settings,
        )  # fmt: skip
        try:
            _wait(lambda: any((folder / "data" / "lake").rglob("*.parquet")), demo, log)
            children = psutil.Process(demo.pid).children(recursive=True)
            spark = [child.pid for child in children if child.name() == "java"]
            if len(spark) != 1:
                raise RuntimeError(f"Spark is {len(spark)} processes, and not one.")
            asked = ["jcmd", str(spark[0]), "VM.cds", "dynamic_dump", str(written)]
            answer = subprocess.run(
                asked, check=False, capture_output=True, text=True, timeout=PATIENCE_S
            )
        finally:
            demo.send_signal(signal.SIGTERM)
            demo.wait(PATIENCE_S)
    if not written.exists():
        raise RuntimeError(f"Java has not written it: {answer.stdout}{answer.stderr}")


def _wait(done: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():
        if process.poll() is not None or time.monotonic() > end:
            raise TimeoutError(f"The demo came to nothing: {log.read_text()[-1000:]}")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
