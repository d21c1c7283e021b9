"""The broker as a process: lock, start, signals, clean end."""

import asyncio
import contextlib
import fcntl
import gc
import logging
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import uvloop

from holdfast.addresses import is_loopback, parse_address
from holdfast.broker.allocation import keep_freed_memory
from holdfast.broker.broker import Broker
from holdfast.broker.dispatch import Dispatcher
from holdfast.broker.housekeeping import keep_house
from holdfast.broker.listener import Listener
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError, DataDirectoryError
from holdfast.logs import log_to_stderr

log = logging.getLogger(__name__)

SHUTDOWN_GRACE_SECONDS = 5.0
"""How long requests that were taken may still take after SIGTERM."""


def run(settings: BrokerSettings) -> int:
    """Serve until SIGTERM or SIGINT; the process's exit code."""
    log_to_stderr()
    _check_addresses(settings)
    _raise_file_limit()
    keep_freed_memory()
    with lock_data_directory(settings.data_dir):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(settings))


async def _serve(settings: BrokerSettings) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    broker = Broker(settings)
    listener = Listener(broker, Dispatcher(broker))
    broker.reply_room = listener.reply_room
    host, port = parse_address(settings.listen, "listen")
    advertised = parse_address(settings.advertised, "advertised") if settings.advertised else None
    try:
        port = await listener.start(host, port, advertised)
    except OSError as error:
        raise ConfigError(
            f"Cannot listen on {settings.listen}: {error.strerror or error}. "
            "Stop what uses the port, or name another with --listen."
        ) from None
    http = await _start_http(settings, broker)
    # What lives now lives for ever: collections need not look at it again.
    gc.collect()
    gc.freeze()
    housekeeping = asyncio.create_task(keep_house(broker))
    housekeeping.add_done_callback(lambda task: stop.set())
    print(f"Listening on {host}:{port}", flush=True)
    await stop.wait()
    log.info("Stopping: finishing the requests under way")
    if http is not None:
        http.close()
    broker.answer_who_waits()
    await listener.stop(SHUTDOWN_GRACE_SECONDS)
    housekeeping.cancel()
    await asyncio.wait([housekeeping])
    await broker.close()
    if not housekeeping.cancelled():
        log.error("Stopped because housekeeping failed", exc_info=housekeeping.exception())
        return 1
    log.info("Stopped cleanly")
    return 0


async def _start_http(settings: BrokerSettings, broker: Broker) -> asyncio.Server | None:
    if settings.http is None:
        return None
    from holdfast.broker.http import serve_http  # Prometheus' library is needed here alone

    host, port = parse_address(settings.http, "http")
    return await serve_http(broker, host, port)


@contextlib.contextmanager
def lock_data_directory(data_dir: Path) -> Iterator[None]:
    """Hold the data directory for this process alone."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(data_dir / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DataDirectoryError(
            f"The data directory {data_dir} cannot be used: {error.strerror}. "
            "Name another with --data-dir."
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            raise DataDirectoryError(
                f"The data directory {data_dir} is in use by another broker"
                f"{f' (process {owner})' if owner else ''}. Two on one directory would destroy it: "
                "stop that one, or name another directory with --data-dir."
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _check_addresses(settings: BrokerSettings) -> None:
    for setting in ("listen", "http"):
        address = getattr(settings, setting)
        if address is None or settings.insecure_listen:
            continue
        host, _ = parse_address(address, setting)
        if not is_loopback(host):
            raise ConfigError(
                f"{setting} = {address!r} is not a loopback address, and this broker asks nobody "
                "for credentials: anyone who reaches it could read and write everything. "
                "Listen on 127.0.0.1, or, where the network itself is trusted, "
                "set insecure_listen = true."
            )


def _raise_file_limit() -> None:
    """As many files as the system lets us have: a partition is several."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
