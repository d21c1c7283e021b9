"""The HTTP server for metrics."""

import socket
from urllib.request import urlopen

import pytest

from holdfast.errors import ConfigError
from holdfast.metrics_server import MetricsServer


class Metrics(MetricsServer):
    def answer(self, path: str) -> tuple[int, str, bytes]:
        return 200, "text/plain", path.encode()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.server_address[1])


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_metrics_are_served_on_ipv4_and_ipv6(host: str) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        if host == "[::1]":
            pytest.skip("this machine has no IPv6")
    with (
        Metrics(f"{host}:0") as metrics,
        urlopen(f"http://{host}:{metrics.port}/metrics", timeout=30) as answer,
    ):
        assert answer.read() == b"/metrics"


def test_port_in_use_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"Cannot serve HTTP at '{address}'"):
            Metrics(address)
