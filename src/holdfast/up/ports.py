"""A port to listen on."""

import socket

from holdfast.errors import ConfigError

LOOPBACK = "127.0.0.1"


def choose_port(asked: int | None, usual: int, flag: str) -> int:
    """The port that was asked for, else the usual one, else any that is free.

    One that was asked for by number and is taken is a ConfigError that says so.
    """
    if asked is not None:
        if not 0 < asked < 65536:
            raise ConfigError(f"{flag} {asked} is no port: take one from 1 to 65535.")
        if not _is_free(asked):
            raise ConfigError(
                f"Port {asked} is taken by another process. Stop that one, give {flag} another "
                "number, or leave it out and a free one is chosen."
            )
        return asked
    return usual if _is_free(usual) else _any_free()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a port that lately closed connections linger on can be had.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _any_free() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
