"""Addresses to listen on, as people write them."""

import ipaddress

from holdfast.errors import ConfigError


def parse_address(text: str, setting: str) -> tuple[str, int]:
    """`host:port`, with brackets around an IPv6 host.

    >>> parse_address("[::1]:8600", "listen")
    ('::1', 8600)
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535 or not host:
        raise ConfigError(f"{setting} = {text!r} is not an address: write it as host:port.")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
