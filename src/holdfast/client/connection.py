"""What every part of a client shares: the address, librdkafka's settings, and what went wrong."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cached_property
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import ConfigError, TimedOutError, UnreachableError

T = TypeVar("T")

logging.getLogger("holdfast").addHandler(logging.NullHandler())
_librdkafka = logging.getLogger("holdfast.client.librdkafka")

_REFUSED = "Connection refused"
_REFUSED_PATIENCE = 1.0
"""Seconds after which a port that refuses is taken as one where nobody is about to listen."""


class _Hearing:
    """The last thing that librdkafka said was wrong.

    It knows of no connection: a client whose callback led back to its owner would be closed by the
    garbage collector, whenever and in whatever thread that runs, and not when nobody needs it.
    """

    def __init__(self) -> None:
        self.last = ""

    def note(self, error: KafkaError) -> None:
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self.last = re.sub(r" \(after \d+ms in state \w+.*\)", "", error.str()).rstrip(".")
        _librdkafka.info("%s", error)


class Connection:
    """Settings for librdkafka's clients, and one admin client for those who need no more."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.addresses = parse_addresses(settings.bootstrap)
        self._heard = _Hearing()

    def config(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """librdkafka settings: ours, then the user's, then `more`."""
        return {
            "bootstrap.servers": ",".join(self.addresses),
            "client.id": self.settings.client_id,
            "error_cb": self._heard.note,
            "logger": _librdkafka,
            **self.settings.kafka,
            **(more or {}),
        }

    def make(self, kind: Callable[[dict[str, Any]], T], more: Mapping[str, Any] | None = None) -> T:
        """A librdkafka client of that kind; a setting that it refuses is a ConfigError."""
        try:
            return kind(self.config(more))
        except KafkaException as error:
            raise ConfigError(f"librdkafka refuses a setting: {error.args[0].str()}.") from None
        except (TypeError, ValueError) as error:
            raise ConfigError(f"librdkafka refuses a setting: {error}.") from None

    @cached_property
    def admin(self) -> AdminClient:
        return self.make(AdminClient)

    def check(self) -> None:
        """Return once a broker has answered; raise UnreachableError when none did in time."""
        begun = time.monotonic()
        deadline = begun + self.settings.connect_timeout
        while (now := time.monotonic()) < deadline:
            try:
                self.admin.list_topics(timeout=min(0.5, deadline - now))
            except KafkaException as error:
                if error.args[0].code() == KafkaError._TIMED_OUT or error.args[0].retriable():
                    pass
                elif error.args[0].code() != KafkaError._TRANSPORT:
                    raise translate(error, f"Connecting to {self}") from None
            else:
                return
            self.admin.poll(0)
            if _REFUSED in self._heard.last and time.monotonic() - begun > _REFUSED_PATIENCE:
                break
        raise self.unreachable(time.monotonic() - begun)

    def unreachable(self, seconds: float) -> UnreachableError:
        """The error that says what was tried."""
        said = f" The last thing heard was: {self._heard.last}." if self._heard.last else ""
        return UnreachableError(
            f"No broker answered at {self} within {seconds:.0f} s.{said} "
            "Is one running there? `holdfast broker` starts one; `holdfast doctor` looks closer."
        )

    def wait(self, future: "Future[T]", doing: str) -> T:
        """The result of an admin request, or its error as one of ours."""
        try:
            # librdkafka ends the request itself; the margin is for its answer to arrive.
            return future.result(self.settings.request_timeout + 5)
        except KafkaException as error:
            translated = translate(error, doing)
            if isinstance(translated, TimedOutError) and self._heard.last:
                translated.args = (f"{translated} The last thing heard was: {self._heard.last}.",)
            raise translated from None
        except FutureTimeoutError:
            raise TimedOutError(
                f"{doing} got no answer from {self} within {self.settings.request_timeout:.0f} s."
            ) from None

    def __str__(self) -> str:
        return ", ".join(self.addresses)


def parse_addresses(bootstrap: str) -> tuple[str, ...]:
    """`host:port[,host:port...]` as a tuple; a missing port is 9092.

    >>> parse_addresses("localhost, [::1]:9093")
    ('localhost:9092', '[::1]:9093')
    """
    addresses = []
    for part in filter(None, map(str.strip, bootstrap.split(","))):
        match = re.fullmatch(r"(?P<host>\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(:(?P<port>\d+))?", part)
        port = int(match["port"] or 9092) if match else 0
        if match is None or not 0 < port < 65536:
            raise ConfigError(
                f"{part!r} is not an address: write HOST:PORT, for example localhost:9092."
            )
        addresses.append(f"{match['host']}:{port}")
    if not addresses:
        raise ConfigError("No address to connect to: write HOST:PORT, for example localhost:9092.")
    return tuple(addresses)
