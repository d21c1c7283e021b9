"""Requests over TLS: encrypted, bounded like plaintext ones, and named by certificates."""

import asyncio
import os
import socket
import ssl
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.certificates import Authority, Pair
from tests.unit.broker.serving.raw import Served, frame, produce_frame, serving

from holdfast.broker.security.endpoints import Protocol
from holdfast.broker.security.tls import Certificates, subject_name
from holdfast.errors import ConfigError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest

MIB = 1024 * 1024
ASK = frame("api_versions", 3, ApiVersionsRequest("test", "1"))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "ca")


def certificates(
    authority: Authority, *, demand: bool = False, name: str = "broker"
) -> Certificates:
    pair = authority.issue(name)
    return Certificates(pair.cert, pair.key, authority.ca if demand else None)


def client_context(authority: Authority, pair: Pair | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.ca))
    if pair is not None:
        context.load_cert_chain(pair.cert, pair.key)
    return context


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def ask(served: Served, context: ssl.SSLContext) -> None:
    """In TLS 1.3 the client learns with its first reply that its certificate was refused."""
    async with await served.client(context=context) as client:
        await client.send(ASK)
        await client.reply("api_versions", 3)


def fetch_frame(topic: str, max_bytes: int = 50 * MIB) -> bytes:
    partition = FetchPartition(partition=0, partition_max_bytes=max_bytes)
    request = FetchRequest(
        replica_id=-1, max_bytes=max_bytes, topics=[FetchTopic(topic=topic, partitions=[partition])]
    )
    return frame("fetch", 12, request)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_requests_are_answered_over_each_version_of_tls(
    tmp_path: Path, authority: Authority, version: ssl.TLSVersion
) -> None:
    context = client_context(authority)
    context.minimum_version = context.maximum_version = version
    async with serving(tmp_path / "data", Protocol.SSL, certificates(authority)) as served:
        async with await served.client(context=context) as client:
            await client.send(ASK * 3)  # in one record
            for _ in range(3):
                assert (await client.reply("api_versions", 3))[1].error_code == ErrorCode.NONE
            assert client.writer.get_extra_info("ssl_object").version() == version.name.replace(
                "_", "."
            )


async def test_older_versions_of_tls_are_refused(tmp_path: Path, authority: Authority) -> None:
    context = client_context(authority)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of them, too
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    async with serving(tmp_path / "data", Protocol.SSL, certificates(authority)) as served:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await served.client(context=context)


async def test_large_requests_and_replies_arrive_whole(
    tmp_path: Path, authority: Authority
) -> None:
    value = os.urandom(900_000)
    async with serving(
        tmp_path / "data", Protocol.SSL, certificates(authority), flush="os"
    ) as served:
        served.broker.topics.create("t", 1, {})
        async with await served.client(context=client_context(authority)) as client:
            for _ in range(12):
                await client.send(produce_frame("t", 0, value))
                _, answer = await client.reply("produce", 9)
                assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
            await client.send(fetch_frame("t"))
            _, fetched = await client.reply("fetch", 12)
            records = bytes(fetched.responses[0].partitions[0].records)
            assert records.count(value) == 12
            await until(lambda: served.listener.unsent_replies == 0)


async def test_unread_replies_count_and_close_the_deaf_client(
    tmp_path: Path, authority: Authority
) -> None:
    limit = 16 * MIB
    async with serving(
        tmp_path / "data",
        Protocol.SSL,
        certificates(authority),
        flush="os",
        reply_memory_bytes=limit,
    ) as served:
        served.broker.topics.create("t", 1, {"max.message.bytes": str(14 * MIB)})
        async with await served.client(context=client_context(authority)) as writer:
            await writer.send(produce_frame("t", 0, os.urandom(12 * MIB)))
            await writer.reply("produce", 9)
        deaf = [_deaf(served, authority) for _ in range(4)]
        try:
            for each in deaf:
                await asyncio.to_thread(each.sendall, fetch_frame("t", 3 * MIB))
            await until(lambda: served.broker.metrics.idle_closed > 0)
            await until(lambda: served.listener.unsent_replies <= limit)
        finally:
            for each in deaf:
                each.close()


def _deaf(served: Served, authority: Authority) -> ssl.SSLSocket:
    """A client with a small receive buffer. Its handshake needs the loop, so it is begun later."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.connect(("127.0.0.1", served.port))
    return client_context(authority).wrap_socket(
        plain, server_hostname="127.0.0.1", do_handshake_on_connect=False
    )


async def test_plaintext_on_a_tls_port_is_refused_and_forgotten(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(tmp_path / "data", Protocol.SSL, certificates(authority)) as served:
        async with await served.client() as client:
            await client.send(ASK)
            assert await client.closed()
        await until(lambda: served.broker.metrics.connections == 0)
        assert served.broker.metrics.failed_handshakes == 1


async def test_connections_count_before_their_handshake(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(
        tmp_path / "data", Protocol.SSL, certificates(authority), max_connections=2
    ) as served:
        silent = [await served.client() for _ in range(3)]
        await until(lambda: served.broker.metrics.idle_closed == 1)
        assert await silent[0].closed()  # the oldest makes room
        assert served.broker.metrics.connections == 2
        for each in silent:
            each.writer.close()
        await until(lambda: served.broker.metrics.connections == 0)
        async with await served.client(context=client_context(authority)) as client:
            await client.send(ASK)
            await client.reply("api_versions", 3)


async def test_a_client_without_a_trusted_certificate_is_refused(
    tmp_path: Path, authority: Authority
) -> None:
    stranger = Authority(tmp_path / "other", "other-ca")
    trusted = certificates(authority, demand=True)
    async with serving(tmp_path / "data", Protocol.SSL, trusted) as served:
        for context in (
            client_context(authority),
            client_context(authority, stranger.issue("mallory")),
        ):
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await ask(served, context)
        alice = client_context(authority, authority.issue("alice"))
        await ask(served, alice)


async def test_the_subject_of_a_certificate_is_the_name_of_the_client(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(
        tmp_path / "data",
        Protocol.SSL,
        certificates(authority, demand=True),
        access_control=True,
        super_users="User:CN=alice,O=Shop",
    ) as served:
        served.broker.topics.create("t", 1, {})
        for name, organization, sees in (
            ("alice", "Shop", True),
            ("alice", None, False),
            ("bob", "Shop", False),
        ):
            context = client_context(authority, authority.issue(name, organization))
            async with await served.client(context=context) as client:
                answer = await client.call("metadata", 9, MetadataRequest(topics=None))
            assert ("t" in {topic.name for topic in answer.topics}) is sees


async def test_changed_certificates_serve_new_connections_and_broken_ones_do_not(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue("broker")
    loaded = Certificates(pair.cert, pair.key, None)

    async def serial(served: Served) -> str:
        async with await served.client(context=client_context(authority)) as client:
            await client.send(ASK)
            await client.reply("api_versions", 3)
            certificate = client.writer.get_extra_info("ssl_object").getpeercert()
            return str(certificate["serialNumber"])

    async with serving(tmp_path / "data", Protocol.SSL, loaded) as served:
        async with await served.client(context=client_context(authority)) as old:
            first = await serial(served)
            authority.issue("broker")
            loaded.refresh()
            second = await serial(served)
            assert first != second
            pair.key.write_text("no key")
            loaded.refresh()
            assert await serial(served) == second
            await old.send(ASK)
            await old.reply("api_versions", 3)


async def test_stopping_does_not_wait_for_handshakes(tmp_path: Path, authority: Authority) -> None:
    async with serving(tmp_path / "data", Protocol.SSL, certificates(authority)) as served:
        client = await served.client()
        await until(lambda: served.broker.metrics.connections == 1)
        await served.listener.stop(10)
        assert await client.closed()


def test_files_that_are_no_certificates_are_a_configuration_error(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue("broker")
    for cert, key, ca in (
        (tmp_path / "missing", pair.key, None),
        (pair.cert, authority.issue("another").key, None),
        (pair.cert, pair.key, pair.key),
    ):
        with pytest.raises(ConfigError, match="certificates cannot be used"):
            Certificates(cert, key, ca)


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ((), None),
        (((("commonName", "alice"),),), "CN=alice"),
        (
            ((("countryName", "SE"),), (("organizationName", "A, B"),), (("commonName", "x"),)),
            r"CN=x,O=A\, B,C=SE",
        ),
        (((("commonName", "#a+b "),),), r"CN=\#a\+b\ "),
        (((("commonName", "x"), ("userId", "7")),), "CN=x+UID=7"),
        # One that claims to be two cannot be taken for the other.
        (((("commonName", "a,O=b"),),), r"CN=a\,O=b"),
    ],
)
def test_subject_is_written_as_kafka_writes_it(
    subject: tuple[tuple[tuple[str, str], ...], ...], name: str | None
) -> None:
    assert subject_name({"subject": subject}) == name
