"""Divides the limit of open files between logs and connections."""

import contextlib
import logging
import resource
from dataclasses import replace

from holdfast.broker.log.files import share_of_descriptors
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError

log = logging.getLogger(__name__)

RESERVED = 64
"""Files for everything else: event loop, lock, running syncs, compaction, metrics."""
FEWEST_CONNECTIONS = 32


def fit_connections(settings: BrokerSettings) -> BrokerSettings:
    """Raises the limit of open files as far as the system allows, and limits connections to the
    rest. Raises ConfigError if the limit is too low.

    Call it before anything is opened: a log without files would refuse writes.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return settings
    used = share_of_descriptors() + RESERVED
    room = soft - used
    if room < FEWEST_CONNECTIONS:
        raise ConfigError(
            f"This process may open {soft} files, and the broker needs at least "
            f"{used + FEWEST_CONNECTIONS}. Raise the limit: `ulimit -n 4096` in the shell that "
            "starts it, LimitNOFILE=4096 in its systemd unit, or --ulimit nofile=4096 for its "
            "container."
        )
    if room < settings.max_connections:
        log.warning(
            "This process may open %d files, which leaves room for %d connections instead of %d "
            "(max_connections). Raise the limit (ulimit -n) to serve more",
            soft,
            room,
            settings.max_connections,
        )
        return replace(settings, max_connections=room)
    return settings
