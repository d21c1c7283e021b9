"""The API as callers meet it: over HTTP, with a broker and a pipeline behind it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from tests.brokers import DIES_WITH_PARENT, BrokerProcess
from tests.clients import DEADLINE_S, wait_until
from tests.serving import served

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.web.app import create_app
from holdfast.web.settings import WebSettings

PATIENCE_S = 400.0
"""Spark starts on two busy cores."""


class Api(httpx.Client):
    """One instance of the API."""

    def __init__(self, app: FastAPI, address: str) -> None:
        super().__init__(base_url=f"{address}/api/v1/", timeout=DEADLINE_S)
        self.app = app
        self.address = address

    def found(self, path: str, /, **parameters: Any) -> Any:
        """The answer of a GET that must be one."""
        answer = self.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def asked(self, path: str, /, body: Any = None, **options: Any) -> Any:
        """The answer of a POST that must be taken."""
        answer = self.post(path, json={} if body is None else body, **options)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    @contextmanager
    def live(self, path: str, last_event_id: str = "", **parameters: Any) -> Iterator["Live"]:
        """A stream of server-sent events."""
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        with self.stream("GET", path, params=parameters, headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield Live(answer)


class Live:
    """Events out of a stream, each as (name, id, data)."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.iter_lines()
        self.place = ""

    def next(self, *names: str) -> Any:
        """The data of the next event of one of these names; of any, if none is given."""
        while True:
            name, data = self._event()
            if not names or name in names:
                return data

    def _event(self) -> tuple[str, Any]:
        fields: dict[str, str] = {}
        for line in self._lines:
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                self.place = fields["id"]
                return fields["event"], json.loads(fields["data"])
            else:
                fields = {}
        raise AssertionError("The stream has ended.")


@contextmanager
def serving(broker: BrokerProcess, **client: Any) -> Iterator[Api]:
    """An instance that is ready; `client` are settings of its connection."""
    settings = WebSettings(requests_per_second=10_000, request_burst=100_000)
    connection = Connection(ClientSettings(bootstrap=broker.bootstrap, **client))
    app = create_app(settings, connection)
    with served(app) as address, Api(app, address) as api:
        ready = f"{address}/readyz"
        wait_until(lambda: httpx.get(ready).status_code == 200, "views", PATIENCE_S)
        yield api


class Pipeline:
    """`holdfast pipeline` with the gate alone."""

    def __init__(self, broker: BrokerProcess, folder: Path) -> None:
        self._broker = broker
        self._folder = folder
        self._log = folder / "pipeline.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            sys.executable, "-m", "holdfast.cli", "pipeline", "--kafka", self._broker.bootstrap,
            "--data-dir", str(self._folder / "data"), "--lake", str(self._folder / "lake"),
            "--spark-master", "local[2]", "--no-raw-zone",
        ]  # fmt: skip
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([*DIES_WITH_PARENT, *command], stdout=log, stderr=log)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def said(self) -> str:
        return self._log.read_text(errors="replace")
