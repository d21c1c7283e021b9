"""A broker on this very loop, and a client that speaks to it frame by frame."""

import asyncio
import contextlib
import importlib
import ssl
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

from holdfast.broker.broker import Broker
from holdfast.broker.dispatch import Dispatcher
from holdfast.broker.listener import Listener
from holdfast.broker.partition import Partition
from holdfast.broker.security.endpoints import Endpoint, Protocol
from holdfast.broker.security.tls import Certificates
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.topics import Topic
from holdfast.wire.protocol.apis import APIS, Api
from holdfast.wire.records.batch import build_batch
from holdfast.wire.records.compression import Compression

BY_NAME: dict[str, Api] = {api.name: api for api in APIS.values()}
DEADLINE_SECONDS = 10


class Served:
    def __init__(
        self, broker: Broker, dispatcher: Dispatcher, listener: Listener, port: int
    ) -> None:
        self.broker = broker
        self.dispatcher = dispatcher
        self.listener = listener
        self.port = port

    def topic(self, name: str) -> Topic:
        topic = self.broker.topics.get(name)
        assert topic is not None
        return topic

    def partition(self, topic: str, index: int) -> Partition:
        partition = self.broker.partition(topic, index)
        assert partition is not None
        return partition

    async def client(
        self,
        host: str = "127.0.0.1",
        port: int | None = None,
        context: ssl.SSLContext | None = None,
    ) -> "RawClient":
        """A client whose address is `host`. `port`: another than that of the first endpoint."""
        opened = await asyncio.open_connection(
            "127.0.0.1", port or self.port, local_addr=(host, 0), ssl=context
        )
        return RawClient(*opened)


@contextlib.asynccontextmanager
async def serving(
    data_dir: Path,
    protocol: Protocol = Protocol.PLAINTEXT,
    certificates: Certificates | None = None,
    **settings: Any,
) -> AsyncIterator[Served]:
    data_dir.mkdir(parents=True, exist_ok=True)
    broker = Broker(BrokerSettings(data_dir=data_dir, **settings))
    dispatcher = Dispatcher(broker)
    listener = Listener(broker, dispatcher, certificates)
    broker.reply_room = listener.reply_room
    port = await listener.start(Endpoint(protocol, "127.0.0.1", 0))
    try:
        yield Served(broker, dispatcher, listener, port)
    finally:
        await listener.stop(1)
        await broker.close()


def frame(api_name: str, version: int, request: Any, correlation_id: int = 1) -> bytes:
    """A whole frame, with its size in front."""
    api = BY_NAME[api_name]
    module = importlib.import_module(f"holdfast.wire.protocol.generated.{api_name}_request")
    header = struct.pack(">hhih", api.key, version, correlation_id, 4) + b"test"
    if version >= api.first_flexible:
        header += b"\0"
    body = header + b"".join(module.encode(version, request))
    return struct.pack(">i", len(body)) + body


def produce_frame(
    topic: str,
    partition: int,
    value: bytes,
    *,
    acks: int = -1,
    correlation_id: int = 1,
    version: int = 9,
    compression: Compression = Compression.NONE,
) -> bytes:
    from holdfast.wire.protocol.generated import produce_request as module

    batch = build_batch([(None, value)], timestamp=1_000, compression=compression)
    request = module.ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        topic_data=[
            module.TopicProduceData(
                name=topic,
                partition_data=[
                    module.PartitionProduceData(index=partition, records=memoryview(batch))
                ],
            )
        ],
    )
    return frame("produce", version, request, correlation_id)


class RawClient:
    """Sends bytes and frames, reads replies with their correlation ids."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, api_name: str, version: int) -> tuple[int, Any]:
        """The next reply: correlation id and decoded body."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            (size,) = struct.unpack(">i", await self.reader.readexactly(4))
            data = await self.reader.readexactly(size)
        api = BY_NAME[api_name]
        position = 4 + (version >= api.first_flexible and api_name != "api_versions")
        module = importlib.import_module(f"holdfast.wire.protocol.generated.{api_name}_response")
        return int.from_bytes(data[:4], "big"), module.decode(version, memoryview(data), position)

    async def call(self, api_name: str, version: int, request: Any) -> Any:
        await self.send(frame(api_name, version, request))
        return (await self.reply(api_name, version))[1]

    async def closed(self) -> bool:
        """Returns True if the broker closes the connection, after unread replies."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            with contextlib.suppress(ConnectionResetError):
                while await self.reader.read(65536):
                    pass
            return True
