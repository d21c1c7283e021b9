"""A port to listen on."""

import socket

from holdfast.errors import ConfigError

LOOPBACK = "127.0.0.1"
_CANDIDATES = 100


def choose_port(requested: int | None, usual: int, flag: str) -> int:
    """Returns the requested port, or else the first free one from the usual one upwards.

    A requested port that is in use raises ConfigError.
    """
    if requested is None:
        # Not a port that the kernel picks: those are local ports of connections too, so another
        # process could have this one before our child listens on it.
        candidates = range(usual, usual + _CANDIDATES)
        free = next((port for port in candidates if _is_free(port)), None)
        if free is None:
            raise ConfigError(
                f"Ports {usual} to {candidates[-1]} are in use. Choose another with {flag}."
            )
        return free
    if not 0 < requested < 65536:
        raise ConfigError(f"{flag} {requested} is not a port: choose one from 1 to 65535.")
    if not _is_free(requested):
        raise ConfigError(
            f"Port {requested} is in use by another process. Stop that process, choose another "
            f"port, or leave {flag} out and Holdfast chooses a free one."
        )
    return requested


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a recently closed connection does not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
