"""People who look: tabs that are open at a flow's page, and programs that follow its changes."""

import threading
import time

import httpx

_PARTS = ("state", "stats", "activity", "keys")
_PACE_S = 1.0
"""Between two looks at a page's parts, however much changes."""


class Follower(threading.Thread):
    """A stream of server-sent events that is read, and opened again when it ends."""

    def __init__(self, address: str, path: str) -> None:
        super().__init__(name=f"tab {path}", daemon=True)
        self.stopping = threading.Event()
        self.told = 0
        self._client = httpx.Client(base_url=address, timeout=30)
        self._path = path

    def run(self) -> None:
        with self._client:
            while not self.stopping.is_set():
                try:
                    self._follow()
                except httpx.HTTPError:
                    self.stopping.wait(1.0)

    def _follow(self) -> None:
        with self._client.stream("GET", self._path) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                if self.stopping.is_set():
                    return
                if line.startswith("data:"):
                    self.told += 1
                    self._look()

    def _look(self) -> None:
        return


class Tab(Follower):
    """A page: when its stream says that something has changed, it fetches its parts again."""

    def __init__(self, address: str, flow: str) -> None:
        super().__init__(address, f"/flows/{flow}/live")
        self._flow = flow
        self._looked = 0.0

    def _follow(self) -> None:
        self._client.get(f"/flows/{self._flow}").raise_for_status()
        super()._follow()

    def _look(self) -> None:
        if time.monotonic() < self._looked + _PACE_S:
            return
        self._looked = time.monotonic()
        for part in _PARTS:
            self._client.get(f"/flows/{self._flow}/fragments/{part}").raise_for_status()


def open_tabs(address: str, flows: list[str]) -> list[Follower]:
    """A page and a program for each flow."""
    tabs = [
        follower
        for flow in flows
        for follower in (Tab(address, flow), Follower(address, f"/api/v1/flows/{flow}/changes"))
    ]
    for tab in tabs:
        tab.start()
    return tabs
