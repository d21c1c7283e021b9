"""Address and token of an Airflow connection."""

import pytest
from airflow_provider_holdfast.api import Api, Endpoint, HoldfastError, address_of


@pytest.mark.parametrize("token", ["hf_secret\nX-Other: 1", "hf_secret two", "hf_secret\u20ac"])
def test_token_that_no_header_can_have_fails_at_once_and_is_not_shown(token: str) -> None:
    with pytest.raises(HoldfastError) as caught:
        Api(Endpoint("http://127.0.0.1:1", token))
    assert not caught.value.transient
    assert "hf_secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["holdfast.example.com", "10.0.0.7", "localhost.example.com"])
def test_token_is_not_sent_to_another_machine_without_encryption(host: str) -> None:
    with pytest.raises(HoldfastError, match="without encryption") as caught:
        Api(Endpoint(f"http://{host}:8600", "hf_secret"))
    assert not caught.value.transient
    assert Endpoint(f"https://{host}:8600", "hf_secret").options()
    assert Endpoint(f"http://{host}:8600").options()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "[::1]"])
def test_token_is_sent_on_this_machine(host: str) -> None:
    headers = Endpoint(f"http://{host}:8600", "hf_secret").options()["headers"]
    assert headers["Authorization"] == "Bearer hf_secret"


def test_line_break_at_the_end_of_a_token_is_ignored() -> None:
    headers = Endpoint("http://127.0.0.1:1", "hf_secret\n").options()["headers"]
    assert headers["Authorization"] == "Bearer hf_secret"


@pytest.mark.parametrize(
    ("host", "port", "address"),
    [
        ("holdfast", 8600, "https://holdfast:8600"),
        ("https://proxy/holdfast/", 8443, "https://proxy:8443/holdfast"),
        ("https://proxy:1/holdfast", 8443, "https://proxy:1/holdfast"),
        ("[::1]", 8600, "http://[::1]:8600"),
    ],
)
def test_port_of_the_connection_is_part_of_the_address(host: str, port: int, address: str) -> None:
    assert address_of(host, port) == address


@pytest.mark.parametrize("host", ["::1", "http://holdfast:port", "http://[::1"])
def test_wrong_address_is_named(host: str) -> None:
    with pytest.raises(HoldfastError, match="is wrong") as caught:
        address_of(host, 8600)
    assert not caught.value.transient
