"""The broker as a process: lock, start, signals, clean end."""

import asyncio
import contextlib
import fcntl
import gc
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import uvloop

from holdfast.addresses import parse_address
from holdfast.broker.allocation import keep_freed_memory
from holdfast.broker.broker import Broker
from holdfast.broker.collection import ShortCollections
from holdfast.broker.descriptors import fit_connections
from holdfast.broker.dispatch import Dispatcher
from holdfast.broker.housekeeping import keep_house
from holdfast.broker.listener import Listener
from holdfast.broker.log import StorageFailed
from holdfast.broker.security.endpoints import Endpoint, endpoints, exposed
from holdfast.broker.security.setup import prepare, secured
from holdfast.broker.security.tls import Certificates
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topic_rules import TopicError
from holdfast.errors import ConfigError, DataDirectoryError
from holdfast.logs import log_to_stderr

log = logging.getLogger(__name__)

SHUTDOWN_GRACE_SECONDS = 5.0
"""How long running requests may take after SIGTERM."""


def run(settings: BrokerSettings) -> int:
    """Serves until SIGTERM or SIGINT. Returns the exit code of the process."""
    log_to_stderr()
    if settings.secure:
        settings = secured(settings)
    _check_addresses(settings)
    settings = fit_connections(settings)
    keep_freed_memory()
    with lock_data_directory(settings.data_dir):
        if settings.secure:
            _prepare(settings)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(settings))


async def _serve(settings: BrokerSettings) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    broker = _open(settings)
    dispatcher = Dispatcher(broker)
    certificates = _certificates(settings)
    listener = Listener(broker, dispatcher, certificates)
    broker.reply_room = listener.reply_room
    listening = [await _listen(listener, endpoint) for endpoint in endpoints(settings)]
    http = await _start_http(settings, broker)
    # All present objects live until the end: exclude them from garbage collections.
    gc.collect()
    gc.freeze()
    ShortCollections()
    housekeeping = asyncio.create_task(keep_house(broker))
    housekeeping.add_done_callback(lambda task: stop.set())
    loop.run_in_executor(None, dispatcher.import_all)
    reload = asyncio.create_task(certificates.keep_fresh()) if certificates else None
    for endpoint in listening:
        print(f"Listening on {endpoint}", flush=True)
    await stop.wait()
    if reload is not None:
        reload.cancel()
    log.info("Stopping: finishing running requests")
    if http is not None:
        http.close()
    broker.answer_who_waits()
    await listener.stop(SHUTDOWN_GRACE_SECONDS)
    housekeeping.cancel()
    await asyncio.wait([housekeeping])
    is_clean = await _close(broker)
    if not housekeeping.cancelled():
        log.error("Stopped because housekeeping failed", exc_info=housekeeping.exception())
        return 1
    if is_clean:
        log.info("Stopped cleanly")
    return 0 if is_clean else 1


def _prepare(settings: BrokerSettings) -> None:
    try:
        prepare(settings)
    except OSError as error:
        raise DataDirectoryError(
            f"The certificates and settings of --secure cannot be written to {settings.data_dir}: "
            f"{error}."
        ) from None


def _certificates(settings: BrokerSettings) -> Certificates | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return Certificates(settings.tls_cert, settings.tls_key, settings.tls_client_ca)


async def _listen(listener: Listener, endpoint: Endpoint) -> Endpoint:
    """Returns the endpoint with its port."""
    try:
        return endpoint._replace(port=await listener.start(endpoint))
    except OSError as error:
        raise ConfigError(
            f"Cannot listen on {endpoint}: {error.strerror or error}. "
            "Stop the process that uses the port, or choose another port with --listen."
        ) from None


def _open(settings: BrokerSettings) -> Broker:
    try:
        return Broker(settings)
    except (OSError, StorageFailed, TopicError) as error:
        raise DataDirectoryError(
            f"The data directory {settings.data_dir} cannot be opened: {error}. Nothing in it is "
            "lost. If the disk is full, make room on it, and start again; or name another "
            "directory with --data-dir."
        ) from None


async def _close(broker: Broker) -> bool:
    """Returns False if something could not be written: the next start recovers it."""
    try:
        await broker.close()
    except (OSError, StorageFailed) as error:
        log.error(
            "Stopped, but not cleanly: %s. What was acknowledged is on disk, and the next start "
            "recovers as after a crash",
            error,
        )
        return False
    return True


async def _start_http(settings: BrokerSettings, broker: Broker) -> asyncio.Server | None:
    if settings.http is None:
        return None
    from holdfast.broker.http import serve_http  # only metrics need the Prometheus library

    host, port = parse_address(settings.http, "http")
    return await serve_http(broker, host, port)


@contextlib.contextmanager
def lock_data_directory(data_dir: Path) -> Iterator[None]:
    """Locks the data directory for this process."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(data_dir / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DataDirectoryError(
            f"The data directory {data_dir} cannot be used: {error.strerror}. "
            "Choose another with --data-dir."
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            raise DataDirectoryError(
                f"The data directory {data_dir} is in use by another broker"
                f"{f' (process {owner})' if owner else ''}. Two on one directory would destroy it: "
                "stop that one, or choose another directory with --data-dir."
            ) from None
        with contextlib.suppress(
            OSError
        ):  # a full disk: only the message above needs the process id
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _check_addresses(settings: BrokerSettings) -> None:
    endpoints(settings)
    open_to_all = ", ".join(exposed(settings))
    if not open_to_all:
        return
    if not settings.insecure_listen:
        raise ConfigError(
            f"{open_to_all} is not a loopback address, and anyone who reaches it could read and "
            "write everything. Listen on 127.0.0.1; or run `holdfast broker --secure`, which "
            "encrypts and demands a login (SASL_SSL); or, where the network itself is trusted, set "
            "insecure_listen = true. The addresses are listen and http under [broker]."
        )
    log.warning(
        "INSECURE: %s is open to anyone who reaches it, without encryption and login, because "
        "insecure_listen is set",
        open_to_all,
    )
