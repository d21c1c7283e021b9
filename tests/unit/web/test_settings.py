"""Settings of web: valid and invalid ones."""

from typing import Any

import pytest

from holdfast.errors import ConfigError
from holdfast.web.login import local_path
from holdfast.web.settings import WebSettings


@pytest.mark.parametrize(
    ("listen", "loopback"),
    [
        ("127.0.0.1:1", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("127.9.9.9:1", True),
        ("0.0.0.0:1", False),
        ("[::]:1", False),
        ("10.0.0.1:1", False),
        ("localhost.evil.example:1", False),
    ],
)
def test_only_this_machine_reaches_loopback(listen: str, loopback: bool) -> None:
    assert WebSettings(listen=listen).loopback is loopback


@pytest.mark.parametrize("listen", ["8600", "localhost", ":8600", "host:99999", "host:x"])
def test_invalid_address_is_named_in_the_error(listen: str) -> None:
    with pytest.raises(ConfigError, match="not an address"):
        WebSettings(listen=listen)


def test_certificate_without_a_key_is_an_error() -> None:
    with pytest.raises(ConfigError, match="both tls_cert and tls_key"):
        WebSettings(tls_cert="cert.pem")


@pytest.mark.parametrize("setting", ["request_seconds", "requests_per_second", "request_burst"])
def test_limit_of_zero_is_refused(setting: str) -> None:
    zero: dict[str, Any] = {setting: 0}
    with pytest.raises(ConfigError, match=setting):
        WebSettings(**zero)


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "http://evil.example", "javascript:alert(1)", "", "x",
     "/a\nb", "\t//evil.example", "http:evil", "//[", "/%09/\x00"],
)  # fmt: skip
def test_sign_in_does_not_redirect_to_other_sites(target: str) -> None:
    assert local_path(target) == "/"


@pytest.mark.parametrize("target", ["/", "/flows/orders?state=HELD&q=a%20b", "/a//b", "/ä"])
def test_local_path_is_kept_as_sign_in_target(target: str) -> None:
    assert local_path(target) == target
