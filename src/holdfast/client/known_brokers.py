"""Addresses of brokers that this process has learned of, beside the configured ones.

New clients start with any of them, so they can connect even if the configured broker is dead.
"""

from collections.abc import Iterable

_MOST = 64
"""Addresses kept for one cluster. The newest ones stay."""

_learned: dict[str, tuple[str, ...]] = {}


def learn(bootstrap: str, addresses: Iterable[str]) -> None:
    """Remember brokers (`host:port`) of the cluster behind these configured addresses."""
    now, before = tuple(addresses), _learned.get(bootstrap, ())
    if not set(now) <= set(before):
        _learned[bootstrap] = tuple(dict.fromkeys((*now, *before)))[:_MOST]


def learned(bootstrap: str) -> tuple[str, ...]:
    """The known brokers of that cluster."""
    return _learned.get(bootstrap, ())


def address_of(host: str, port: int) -> str:
    """
    >>> address_of("::1", 9092)
    '[::1]:9092'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
