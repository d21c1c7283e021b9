"""Idempotent producers: a retried batch is stored once, and a gap is refused."""

from tests.brokers import BrokerProcess
from tests.clients import create_topic, producer, read, send, values
from tests.wire import Wire, batch, init_producer, produce

OUT_OF_ORDER_SEQUENCE_NUMBER = 45
INVALID_PRODUCER_EPOCH = 47


def test_a_batch_sent_twice_is_answered_with_its_first_offset_and_stored_once(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        producer_id, epoch = init_producer(wire)

        def put(sequence: int, *data: bytes) -> tuple[int, int]:
            records = batch(data, producer_id=producer_id, epoch=epoch, sequence=sequence)
            reply = produce(wire, topic, records)
            return int(reply.error_code), int(reply.base_offset)

        assert put(0, b"a", b"b") == (0, 0)
        assert put(2, b"c") == (0, 2)
        assert put(0, b"a", b"b") == (0, 0)
        assert put(2, b"c") == (0, 2)
        assert put(3, b"d") == (0, 3)
    assert values(read(kafka, topic)) == [b"a", b"b", b"c", b"d"]


def test_retries_of_the_last_five_batches_are_recognised(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        producer_id, epoch = init_producer(wire)

        def put(sequence: int) -> tuple[int, int]:
            records = batch(
                [b"%d" % sequence], producer_id=producer_id, epoch=epoch, sequence=sequence
            )
            reply = produce(wire, topic, records)
            return int(reply.error_code), int(reply.base_offset)

        for sequence in range(7):
            assert put(sequence) == (0, sequence)
        for sequence in (2, 3, 4, 5, 6):
            assert put(sequence) == (0, sequence)
        # Older than what is remembered: refused, and certainly not stored again.
        assert put(0)[0] == OUT_OF_ORDER_SEQUENCE_NUMBER
    assert values(read(kafka, topic)) == [b"%d" % i for i in range(7)]


def test_a_gap_in_the_sequence_is_refused(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        producer_id, epoch = init_producer(wire)

        def put(sequence: int) -> int:
            records = batch([b"v"], producer_id=producer_id, epoch=epoch, sequence=sequence)
            return int(produce(wire, topic, records).error_code)

        assert put(0) == 0
        assert put(2) == OUT_OF_ORDER_SEQUENCE_NUMBER
        assert put(1) == 0
    assert len(read(kafka, topic)) == 2


def test_an_older_epoch_is_refused_and_a_newer_one_starts_at_zero(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        producer_id, epoch = init_producer(wire)

        def put(epoch: int, sequence: int) -> int:
            records = batch([b"v"], producer_id=producer_id, epoch=epoch, sequence=sequence)
            return int(produce(wire, topic, records).error_code)

        assert put(epoch, 0) == 0
        assert put(epoch + 1, 1) == OUT_OF_ORDER_SEQUENCE_NUMBER
        assert put(epoch + 1, 0) == 0
        assert put(epoch, 1) == INVALID_PRODUCER_EPOCH
    assert len(read(kafka, topic)) == 2


def test_sequences_wrap_around_after_the_largest(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        producer_id, epoch = init_producer(wire)
        largest = 2**31 - 1

        def put(sequence: int, *data: bytes) -> int:
            records = batch(data, producer_id=producer_id, epoch=epoch, sequence=sequence)
            return int(produce(wire, topic, records).error_code)

        # A producer of which nothing is known may begin anywhere: its records may have expired.
        assert put(largest - 1, b"a", b"b") == 0
        assert put(0, b"c") == 0
        assert put(1, b"d") == 0
    assert values(read(kafka, topic)) == [b"a", b"b", b"c", b"d"]


def test_producers_have_sequences_of_their_own_in_each_partition(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic, partitions=2)
    with Wire(kafka) as wire:
        for _ in range(2):
            producer_id, epoch = init_producer(wire)
            for partition in (0, 1):
                records = batch([b"v"], producer_id=producer_id, epoch=epoch, sequence=0)
                assert produce(wire, topic, records, partition=partition).error_code == 0
    assert len(read(kafka, topic, 0)) == len(read(kafka, topic, 1)) == 2


def test_an_idempotent_producer_with_five_in_flight_keeps_order_and_count(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    client = producer(
        kafka,
        {
            "enable.idempotence": True,
            "max.in.flight.requests.per.connection": 5,
            "batch.num.messages": 10,
        },
    )
    sent = [b"%d" % i for i in range(2_000)]
    assert send(client, topic, sent) == list(range(2_000))
    assert values(read(kafka, topic)) == sent
