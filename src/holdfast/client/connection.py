"""The parts that all clients share: addresses, librdkafka's settings, the last error."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cached_property
from typing import Any, Literal, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from holdfast.client import known_brokers
from holdfast.client.forks import guard
from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import ConfigError, TimedOutError, UnreachableError

T = TypeVar("T")
Isolation = Literal["read_committed", "read_uncommitted"]

NO_GROUP = "holdfast.reader"
"""The group id of consumers that never join a group: librdkafka requires one."""

logging.getLogger("holdfast").addHandler(logging.NullHandler())
_librdkafka = logging.getLogger("holdfast.client.librdkafka")

_REFUSED = "Connection refused"
_REFUSED_SECONDS = 1.0
"""After this time a refused connection means that no broker is about to start."""


class _LastError:
    """The last error that librdkafka reported.

    It has no reference to the connection: a client whose callback leads back to its owner would be
    closed by the garbage collector, at any time and in any thread.
    """

    def __init__(self) -> None:
        self.text = ""

    def note(self, error: KafkaError) -> None:
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self.text = re.sub(r" \(after \d+ms in state \w+.*\)", "", error.str()).rstrip(".")
        _librdkafka.info("%s", error)


class Connection:
    """Settings for librdkafka's clients, and one admin client for general use."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.addresses = parse_addresses(settings.bootstrap)
        self._last_error = _LastError()
        guard(self, "admin", "make")

    @property
    def brokers(self) -> tuple[str, ...]:
        """The configured addresses, and all brokers that were found since."""
        return tuple(
            dict.fromkeys((*self.addresses, *known_brokers.learned(self.settings.bootstrap)))
        )

    def config(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """librdkafka settings: ours, then the user's, then `more`."""
        return {
            "bootstrap.servers": ",".join(self.brokers),
            "client.id": self.settings.client_id,
            "error_cb": self._last_error.note,
            "logger": _librdkafka,
            **self.settings.kafka,
            **(more or {}),
        }

    def make(self, kind: Callable[[dict[str, Any]], T], more: Mapping[str, Any] | None = None) -> T:
        """Creates a librdkafka client; a setting that it refuses is a ConfigError."""
        try:
            return kind(self.config(more))
        except KafkaException as error:
            raise ConfigError(f"librdkafka refuses a setting: {error.args[0].str()}.") from None
        except (TypeError, ValueError) as error:
            raise ConfigError(f"librdkafka refuses a setting: {error}.") from None

    def reader(
        self,
        tuning: Mapping[str, Any] | None = None,
        *,
        group: str = NO_GROUP,
        lost: Literal["earliest", "latest", "error"] = "error",
        isolation: Isolation = "read_committed",
    ) -> Consumer:
        """A consumer that joins no group: its user assigns partitions and offsets.

        `group`: whose committed offsets it reads. With `read_committed` it waits for offsets of
        transactions that are about to end. `lost`: where it continues if its offset was deleted.
        The end of a partition is an event unless `tuning` disables it.
        """
        settings = {
            "group.id": group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": lost,
            "isolation.level": isolation,
            **(tuning or {}),
        }
        return self.make(Consumer, settings)

    @cached_property
    def admin(self) -> AdminClient:
        return self.make(AdminClient)

    def check(self) -> None:
        """Return once a broker has answered; raise UnreachableError when none did in time."""
        begun = time.monotonic()
        deadline = begun + self.settings.connect_timeout
        while (now := time.monotonic()) < deadline:
            try:
                cluster = self.admin.list_topics(timeout=min(0.5, deadline - now))
            except KafkaException as error:
                if error.args[0].code() == KafkaError._TIMED_OUT or error.args[0].retriable():
                    pass
                elif error.args[0].code() != KafkaError._TRANSPORT:
                    raise translate(error, f"Connecting to {self}") from None
            else:
                brokers = cluster.brokers.values()
                known_brokers.learn(
                    self.settings.bootstrap,
                    [known_brokers.address_of(str(each.host), each.port) for each in brokers],
                )
                return
            self.admin.poll(0)
            if _REFUSED in self._last_error.text and time.monotonic() - begun > _REFUSED_SECONDS:
                break
        raise self.unreachable(time.monotonic() - begun)

    def unreachable(self, seconds: float) -> UnreachableError:
        """The error for a cluster that does not answer."""
        cause = f" The last error was: {self._last_error.text}." if self._last_error.text else ""
        return UnreachableError(
            f"No broker answered at {self} within {seconds:.0f} s.{cause} "
            "Is one running there? `holdfast broker` starts one; `holdfast doctor` looks closer."
        )

    def wait(self, future: "Future[T]", doing: str) -> T:
        """The result of an admin request, or its error as one of ours."""
        try:
            # librdkafka ends the request itself; the margin is for its answer to arrive.
            return future.result(self.settings.request_timeout + 5)
        except KafkaException as error:
            translated = translate(error, doing)
            if isinstance(translated, TimedOutError) and self._last_error.text:
                translated.args = (f"{translated} The last error was: {self._last_error.text}.",)
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
