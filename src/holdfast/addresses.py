"""Listen addresses in the form `host:port`."""

import ipaddress

from holdfast.errors import ConfigError


def parse_address(text: str, setting: str) -> tuple[str, int]:
    """Host and port of `host:port`; an IPv6 host has brackets.

    >>> parse_address("[::1]:8600", "listen")
    ('::1', 8600)
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535 or not host:
        raise ConfigError(f"{setting} = {text!r} is not an address: write it as host:port.")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Returns True if only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
