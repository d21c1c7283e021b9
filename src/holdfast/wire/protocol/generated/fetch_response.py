# Written by tools/generate_codecs.py from FetchResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    MOST_TAGS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    read_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class EpochEndOffset:
    epoch: int = -1
    end_offset: int = -1


@dataclass(slots=True)
class LeaderIdAndEpoch:
    leader_id: int = -1
    leader_epoch: int = -1


@dataclass(slots=True)
class SnapshotId:
    end_offset: int = -1
    epoch: int = -1


@dataclass(slots=True)
class AbortedTransaction:
    producer_id: int = 0
    first_offset: int = 0


@dataclass(slots=True)
class PartitionData:
    partition_index: int = 0
    error_code: int = 0
    high_watermark: int = 0
    last_stable_offset: int = -1
    log_start_offset: int = -1
    diverging_epoch: EpochEndOffset | None = None
    current_leader: LeaderIdAndEpoch | None = None
    snapshot_id: SnapshotId | None = None
    aborted_transactions: list[AbortedTransaction] | None = field(default_factory=list)
    preferred_read_replica: int = -1
    records: Buffer | None = None


@dataclass(slots=True)
class FetchableTopicResponse:
    topic: str = ''
    topic_id: UUID = ZERO_UUID
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class NodeEndpoint:
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None


@dataclass(slots=True)
class FetchResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    session_id: int = 0
    responses: list[FetchableTopicResponse] = field(default_factory=list)
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihiB = Struct(">ihiB").unpack_from
_unpack_ihii = Struct(">ihii").unpack_from
_unpack_ihqqi = Struct(">ihqqi").unpack_from
_unpack_ihqqqB = Struct(">ihqqqB").unpack_from
_unpack_ihqqqi = Struct(">ihqqqi").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iiB = Struct(">iiB").unpack_from
_unpack_iqB = Struct(">iqB").unpack_from
_unpack_qiB = Struct(">qiB").unpack_from
_unpack_qq = Struct(">qq").unpack_from
_unpack_qqB = Struct(">qqB").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ihi = Struct(">ihi").pack
_pack_ihii = Struct(">ihii").pack
_pack_ihqq = Struct(">ihqq").pack
_pack_ihqqq = Struct(">ihqqq").pack
_pack_ii = Struct(">ii").pack
_pack_iiB = Struct(">iiB").pack
_pack_iqB = Struct(">iqB").pack
_pack_qiB = Struct(">qiB").pack
_pack_qq = Struct(">qq").pack
_pack_qqB = Struct(">qqB").pack
_pack_u = Struct(">16s").pack


def _decode_4(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetchable_topic_response_topic", stop - position)
        fetchable_topic_response_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetchable_topic_response_partitions: list[PartitionData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 30 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, count = _unpack_ihqqi(buffer, position)
            position += 26
            if count >= 0:
                room -= count
                if not 0 <= count * 16 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset = _unpack_qq(buffer, position)
                    position += 16
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            (length,) = _unpack_i(buffer, position)
            position += 4
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, aborted_transactions=partition_data_aborted_transactions, records=partition_data_records))
        responses.append(FetchableTopicResponse(topic=fetchable_topic_response_topic, partitions=fetchable_topic_response_partitions))
    return FetchResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _decode_5(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetchable_topic_response_topic", stop - position)
        fetchable_topic_response_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetchable_topic_response_partitions: list[PartitionData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 38 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, partition_data_log_start_offset, count = _unpack_ihqqqi(buffer, position)
            position += 34
            if count >= 0:
                room -= count
                if not 0 <= count * 16 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset = _unpack_qq(buffer, position)
                    position += 16
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            (length,) = _unpack_i(buffer, position)
            position += 4
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, log_start_offset=partition_data_log_start_offset, aborted_transactions=partition_data_aborted_transactions, records=partition_data_records))
        responses.append(FetchableTopicResponse(topic=fetchable_topic_response_topic, partitions=fetchable_topic_response_partitions))
    return FetchResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _decode_7(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, error_code, session_id, count = _unpack_ihii(buffer, position)
    position += 14
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetchable_topic_response_topic", stop - position)
        fetchable_topic_response_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetchable_topic_response_partitions: list[PartitionData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 38 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, partition_data_log_start_offset, count = _unpack_ihqqqi(buffer, position)
            position += 34
            if count >= 0:
                room -= count
                if not 0 <= count * 16 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset = _unpack_qq(buffer, position)
                    position += 16
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            (length,) = _unpack_i(buffer, position)
            position += 4
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, log_start_offset=partition_data_log_start_offset, aborted_transactions=partition_data_aborted_transactions, records=partition_data_records))
        responses.append(FetchableTopicResponse(topic=fetchable_topic_response_topic, partitions=fetchable_topic_response_partitions))
    return FetchResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, session_id=session_id, responses=responses)


def _decode_11(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, error_code, session_id, count = _unpack_ihii(buffer, position)
    position += 14
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("fetchable_topic_response_topic", stop - position)
        fetchable_topic_response_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetchable_topic_response_partitions: list[PartitionData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 42 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, partition_data_log_start_offset, count = _unpack_ihqqqi(buffer, position)
            position += 34
            if count >= 0:
                room -= count
                if not 0 <= count * 16 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset = _unpack_qq(buffer, position)
                    position += 16
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            partition_data_preferred_read_replica, length = _unpack_ii(buffer, position)
            position += 8
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, log_start_offset=partition_data_log_start_offset, aborted_transactions=partition_data_aborted_transactions, preferred_read_replica=partition_data_preferred_read_replica, records=partition_data_records))
        responses.append(FetchableTopicResponse(topic=fetchable_topic_response_topic, partitions=fetchable_topic_response_partitions))
    return FetchResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, session_id=session_id, responses=responses)


def _decode_12(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, error_code, session_id, count = _unpack_ihiB(buffer, position)
    position += 11
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("fetchable_topic_response_topic", stop - position)
        fetchable_topic_response_topic = str(buffer[position:stop], "utf-8")
        position = stop
        fetchable_topic_response_partitions: list[PartitionData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 37 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, partition_data_log_start_offset, count = _unpack_ihqqqB(buffer, position)
            position += 31
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 17 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset, tags = _unpack_qqB(buffer, position)
                    position += 17
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            partition_data_preferred_read_replica, length = _unpack_iB(buffer, position)
            position += 5
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            partition_data_diverging_epoch: EpochEndOffset | None = None
            partition_data_current_leader: LeaderIdAndEpoch | None = None
            partition_data_snapshot_id: SnapshotId | None = None
            tags = buffer[position]
            position += 1
            if tags:
                if tags > MOST_TAGS:
                    raise bad_length("The tagged fields of PartitionData", tags)
                for _ in range(tags):
                    tag, position = read_uvarint(buffer, position)
                    size, position = read_uvarint(buffer, position)
                    after_tag_of_partition_data = position + size
                    if after_tag_of_partition_data > end:
                        raise bad_length("A tagged field of PartitionData", size)
                    if tag == 0:
                        epoch_end_offset_epoch, epoch_end_offset_end_offset, tags = _unpack_iqB(buffer, position)
                        position += 13
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_diverging_epoch = EpochEndOffset(epoch=epoch_end_offset_epoch, end_offset=epoch_end_offset_end_offset)
                    elif tag == 1:
                        leader_id_and_epoch_leader_id, leader_id_and_epoch_leader_epoch, tags = _unpack_iiB(buffer, position)
                        position += 9
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_current_leader = LeaderIdAndEpoch(leader_id=leader_id_and_epoch_leader_id, leader_epoch=leader_id_and_epoch_leader_epoch)
                    elif tag == 2:
                        snapshot_id_end_offset, snapshot_id_epoch, tags = _unpack_qiB(buffer, position)
                        position += 13
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_snapshot_id = SnapshotId(end_offset=snapshot_id_end_offset, epoch=snapshot_id_epoch)
                    else:
                        position = after_tag_of_partition_data
                    if position != after_tag_of_partition_data:
                        raise bad_length("A tagged field of PartitionData", size)
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, log_start_offset=partition_data_log_start_offset, diverging_epoch=partition_data_diverging_epoch, current_leader=partition_data_current_leader, snapshot_id=partition_data_snapshot_id, aborted_transactions=partition_data_aborted_transactions, preferred_read_replica=partition_data_preferred_read_replica, records=partition_data_records))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(FetchableTopicResponse(topic=fetchable_topic_response_topic, partitions=fetchable_topic_response_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return FetchResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, session_id=session_id, responses=responses)


def _decode_13(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, error_code, session_id, count = _unpack_ihiB(buffer, position)
    position += 11
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        fetchable_topic_response_partitions: list[PartitionData]
        fetchable_topic_response_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        fetchable_topic_response_topic_id = uuid_of(fetchable_topic_response_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 37 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, partition_data_log_start_offset, count = _unpack_ihqqqB(buffer, position)
            position += 31
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 17 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset, tags = _unpack_qqB(buffer, position)
                    position += 17
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            partition_data_preferred_read_replica, length = _unpack_iB(buffer, position)
            position += 5
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            partition_data_diverging_epoch: EpochEndOffset | None = None
            partition_data_current_leader: LeaderIdAndEpoch | None = None
            partition_data_snapshot_id: SnapshotId | None = None
            tags = buffer[position]
            position += 1
            if tags:
                if tags > MOST_TAGS:
                    raise bad_length("The tagged fields of PartitionData", tags)
                for _ in range(tags):
                    tag, position = read_uvarint(buffer, position)
                    size, position = read_uvarint(buffer, position)
                    after_tag_of_partition_data = position + size
                    if after_tag_of_partition_data > end:
                        raise bad_length("A tagged field of PartitionData", size)
                    if tag == 0:
                        epoch_end_offset_epoch, epoch_end_offset_end_offset, tags = _unpack_iqB(buffer, position)
                        position += 13
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_diverging_epoch = EpochEndOffset(epoch=epoch_end_offset_epoch, end_offset=epoch_end_offset_end_offset)
                    elif tag == 1:
                        leader_id_and_epoch_leader_id, leader_id_and_epoch_leader_epoch, tags = _unpack_iiB(buffer, position)
                        position += 9
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_current_leader = LeaderIdAndEpoch(leader_id=leader_id_and_epoch_leader_id, leader_epoch=leader_id_and_epoch_leader_epoch)
                    elif tag == 2:
                        snapshot_id_end_offset, snapshot_id_epoch, tags = _unpack_qiB(buffer, position)
                        position += 13
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_snapshot_id = SnapshotId(end_offset=snapshot_id_end_offset, epoch=snapshot_id_epoch)
                    else:
                        position = after_tag_of_partition_data
                    if position != after_tag_of_partition_data:
                        raise bad_length("A tagged field of PartitionData", size)
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, log_start_offset=partition_data_log_start_offset, diverging_epoch=partition_data_diverging_epoch, current_leader=partition_data_current_leader, snapshot_id=partition_data_snapshot_id, aborted_transactions=partition_data_aborted_transactions, preferred_read_replica=partition_data_preferred_read_replica, records=partition_data_records))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(FetchableTopicResponse(topic_id=fetchable_topic_response_topic_id, partitions=fetchable_topic_response_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return FetchResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, session_id=session_id, responses=responses)


def _decode_16(buffer: memoryview, position: int) -> FetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[FetchableTopicResponse]
    throttle_time_ms, error_code, session_id, count = _unpack_ihiB(buffer, position)
    position += 11
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        fetchable_topic_response_partitions: list[PartitionData]
        fetchable_topic_response_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        fetchable_topic_response_topic_id = uuid_of(fetchable_topic_response_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 37 <= end - position or room < 0:
            raise bad_length("fetchable_topic_response_partitions", count)
        fetchable_topic_response_partitions = []
        for _ in range(count):
            partition_data_aborted_transactions: list[AbortedTransaction] | None
            partition_data_partition_index, partition_data_error_code, partition_data_high_watermark, partition_data_last_stable_offset, partition_data_log_start_offset, count = _unpack_ihqqqB(buffer, position)
            position += 31
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 17 <= end - position or room < 0:
                    raise bad_length("partition_data_aborted_transactions", count)
                partition_data_aborted_transactions = []
                for _ in range(count):
                    aborted_transaction_producer_id, aborted_transaction_first_offset, tags = _unpack_qqB(buffer, position)
                    position += 17
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    partition_data_aborted_transactions.append(AbortedTransaction(producer_id=aborted_transaction_producer_id, first_offset=aborted_transaction_first_offset))
            else:
                partition_data_aborted_transactions = None
            partition_data_records: Buffer | None
            partition_data_preferred_read_replica, length = _unpack_iB(buffer, position)
            position += 5
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_data_records", stop - position)
                partition_data_records = buffer[position:stop]
                position = stop
            else:
                partition_data_records = None
            partition_data_diverging_epoch: EpochEndOffset | None = None
            partition_data_current_leader: LeaderIdAndEpoch | None = None
            partition_data_snapshot_id: SnapshotId | None = None
            tags = buffer[position]
            position += 1
            if tags:
                if tags > MOST_TAGS:
                    raise bad_length("The tagged fields of PartitionData", tags)
                for _ in range(tags):
                    tag, position = read_uvarint(buffer, position)
                    size, position = read_uvarint(buffer, position)
                    after_tag_of_partition_data = position + size
                    if after_tag_of_partition_data > end:
                        raise bad_length("A tagged field of PartitionData", size)
                    if tag == 0:
                        epoch_end_offset_epoch, epoch_end_offset_end_offset, tags = _unpack_iqB(buffer, position)
                        position += 13
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_diverging_epoch = EpochEndOffset(epoch=epoch_end_offset_epoch, end_offset=epoch_end_offset_end_offset)
                    elif tag == 1:
                        leader_id_and_epoch_leader_id, leader_id_and_epoch_leader_epoch, tags = _unpack_iiB(buffer, position)
                        position += 9
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_current_leader = LeaderIdAndEpoch(leader_id=leader_id_and_epoch_leader_id, leader_epoch=leader_id_and_epoch_leader_epoch)
                    elif tag == 2:
                        snapshot_id_end_offset, snapshot_id_epoch, tags = _unpack_qiB(buffer, position)
                        position += 13
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        partition_data_snapshot_id = SnapshotId(end_offset=snapshot_id_end_offset, epoch=snapshot_id_epoch)
                    else:
                        position = after_tag_of_partition_data
                    if position != after_tag_of_partition_data:
                        raise bad_length("A tagged field of PartitionData", size)
            fetchable_topic_response_partitions.append(PartitionData(partition_index=partition_data_partition_index, error_code=partition_data_error_code, high_watermark=partition_data_high_watermark, last_stable_offset=partition_data_last_stable_offset, log_start_offset=partition_data_log_start_offset, diverging_epoch=partition_data_diverging_epoch, current_leader=partition_data_current_leader, snapshot_id=partition_data_snapshot_id, aborted_transactions=partition_data_aborted_transactions, preferred_read_replica=partition_data_preferred_read_replica, records=partition_data_records))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(FetchableTopicResponse(topic_id=fetchable_topic_response_topic_id, partitions=fetchable_topic_response_partitions))
    node_endpoints: list[NodeEndpoint] = []
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of FetchResponse", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_fetch_response = position + size
            if after_tag_of_fetch_response > end:
                raise bad_length("A tagged field of FetchResponse", size)
            if tag == 0:
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 11 <= end - position or room < 0:
                    raise bad_length("node_endpoints", count)
                node_endpoints = []
                for _ in range(count):
                    node_endpoint_node_id, length = _unpack_iB(buffer, position)
                    position += 5
                    if length > 127:
                        length, position = read_long_string_length(buffer, position, length)
                    stop = position + length - 1
                    if not position <= stop <= end:
                        raise bad_length("node_endpoint_host", stop - position)
                    node_endpoint_host = str(buffer[position:stop], "utf-8")
                    position = stop
                    node_endpoint_rack: str | None
                    node_endpoint_port, length = _unpack_iB(buffer, position)
                    position += 5
                    if length > 127:
                        length, position = read_long_string_length(buffer, position, length)
                    if length:
                        stop = position + length - 1
                        if stop > end:
                            raise bad_length("node_endpoint_rack", stop - position)
                        node_endpoint_rack = str(buffer[position:stop], "utf-8")
                        position = stop
                    else:
                        node_endpoint_rack = None
                    tags = buffer[position]
                    position += 1
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    node_endpoints.append(NodeEndpoint(node_id=node_endpoint_node_id, host=node_endpoint_host, port=node_endpoint_port, rack=node_endpoint_rack))
            else:
                position = after_tag_of_fetch_response
            if position != after_tag_of_fetch_response:
                raise bad_length("A tagged field of FetchResponse", size)
    return FetchResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, session_id=session_id, responses=responses, node_endpoints=node_endpoints)


def _encode_4(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ii(message.throttle_time_ms, len(message.responses))
    for fetchable_topic_response in message.responses:
        raw = fetchable_topic_response.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetchable_topic_response.partitions))
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset)
            if partition_data.aborted_transactions is None:
                out += b"\xff\xff\xff\xff"
            else:
                out += _pack_i(len(partition_data.aborted_transactions))
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qq(aborted_transaction.producer_id, aborted_transaction.first_offset)
            if partition_data.records is None:
                out += b"\xff\xff\xff\xff"
            else:
                records = partition_data.records
                out += _pack_i(len(records))
                chunks += (out, records)
                out = bytearray()
    chunks.append(out)
    return chunks


def _encode_5(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ii(message.throttle_time_ms, len(message.responses))
    for fetchable_topic_response in message.responses:
        raw = fetchable_topic_response.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetchable_topic_response.partitions))
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset)
            if partition_data.aborted_transactions is None:
                out += b"\xff\xff\xff\xff"
            else:
                out += _pack_i(len(partition_data.aborted_transactions))
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qq(aborted_transaction.producer_id, aborted_transaction.first_offset)
            if partition_data.records is None:
                out += b"\xff\xff\xff\xff"
            else:
                records = partition_data.records
                out += _pack_i(len(records))
                chunks += (out, records)
                out = bytearray()
    chunks.append(out)
    return chunks


def _encode_7(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ihii(message.throttle_time_ms, message.error_code, message.session_id, len(message.responses))
    for fetchable_topic_response in message.responses:
        raw = fetchable_topic_response.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetchable_topic_response.partitions))
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset)
            if partition_data.aborted_transactions is None:
                out += b"\xff\xff\xff\xff"
            else:
                out += _pack_i(len(partition_data.aborted_transactions))
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qq(aborted_transaction.producer_id, aborted_transaction.first_offset)
            if partition_data.records is None:
                out += b"\xff\xff\xff\xff"
            else:
                records = partition_data.records
                out += _pack_i(len(records))
                chunks += (out, records)
                out = bytearray()
    chunks.append(out)
    return chunks


def _encode_11(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ihii(message.throttle_time_ms, message.error_code, message.session_id, len(message.responses))
    for fetchable_topic_response in message.responses:
        raw = fetchable_topic_response.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(fetchable_topic_response.partitions))
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset)
            if partition_data.aborted_transactions is None:
                out += b"\xff\xff\xff\xff"
            else:
                out += _pack_i(len(partition_data.aborted_transactions))
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qq(aborted_transaction.producer_id, aborted_transaction.first_offset)
            out += _pack_i(partition_data.preferred_read_replica)
            if partition_data.records is None:
                out += b"\xff\xff\xff\xff"
            else:
                records = partition_data.records
                out += _pack_i(len(records))
                chunks += (out, records)
                out = bytearray()
    chunks.append(out)
    return chunks


def _encode_12(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ihi(message.throttle_time_ms, message.error_code, message.session_id)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetchable_topic_response in message.responses:
        raw = fetchable_topic_response.topic.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(fetchable_topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset)
            if partition_data.aborted_transactions is None:
                out.append(0)
            else:
                size = len(partition_data.aborted_transactions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qqB(aborted_transaction.producer_id, aborted_transaction.first_offset, 0)
            out += _pack_i(partition_data.preferred_read_replica)
            if partition_data.records is None:
                out.append(0)
            else:
                records = partition_data.records
                size = len(records) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                chunks += (out, records)
                out = bytearray()
            tags = (partition_data.diverging_epoch is not None) + (partition_data.current_leader is not None) + (partition_data.snapshot_id is not None)
            out.append(tags)
            if tags:
                if partition_data.diverging_epoch is not None:
                    around_partition_data, out = out, bytearray()
                    epoch_end_offset = partition_data.diverging_epoch
                    out += _pack_iqB(epoch_end_offset.epoch, epoch_end_offset.end_offset, 0)
                    around_partition_data.append(0)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
                if partition_data.current_leader is not None:
                    around_partition_data, out = out, bytearray()
                    leader_id_and_epoch = partition_data.current_leader
                    out += _pack_iiB(leader_id_and_epoch.leader_id, leader_id_and_epoch.leader_epoch, 0)
                    around_partition_data.append(1)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
                if partition_data.snapshot_id is not None:
                    around_partition_data, out = out, bytearray()
                    snapshot_id = partition_data.snapshot_id
                    out += _pack_qiB(snapshot_id.end_offset, snapshot_id.epoch, 0)
                    around_partition_data.append(2)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
        out.append(0)
    out.append(0)
    chunks.append(out)
    return chunks


def _encode_13(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ihi(message.throttle_time_ms, message.error_code, message.session_id)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetchable_topic_response in message.responses:
        out += _pack_u(fetchable_topic_response.topic_id.bytes)
        size = len(fetchable_topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset)
            if partition_data.aborted_transactions is None:
                out.append(0)
            else:
                size = len(partition_data.aborted_transactions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qqB(aborted_transaction.producer_id, aborted_transaction.first_offset, 0)
            out += _pack_i(partition_data.preferred_read_replica)
            if partition_data.records is None:
                out.append(0)
            else:
                records = partition_data.records
                size = len(records) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                chunks += (out, records)
                out = bytearray()
            tags = (partition_data.diverging_epoch is not None) + (partition_data.current_leader is not None) + (partition_data.snapshot_id is not None)
            out.append(tags)
            if tags:
                if partition_data.diverging_epoch is not None:
                    around_partition_data, out = out, bytearray()
                    epoch_end_offset = partition_data.diverging_epoch
                    out += _pack_iqB(epoch_end_offset.epoch, epoch_end_offset.end_offset, 0)
                    around_partition_data.append(0)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
                if partition_data.current_leader is not None:
                    around_partition_data, out = out, bytearray()
                    leader_id_and_epoch = partition_data.current_leader
                    out += _pack_iiB(leader_id_and_epoch.leader_id, leader_id_and_epoch.leader_epoch, 0)
                    around_partition_data.append(1)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
                if partition_data.snapshot_id is not None:
                    around_partition_data, out = out, bytearray()
                    snapshot_id = partition_data.snapshot_id
                    out += _pack_qiB(snapshot_id.end_offset, snapshot_id.epoch, 0)
                    around_partition_data.append(2)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
        out.append(0)
    out.append(0)
    chunks.append(out)
    return chunks


def _encode_16(message: FetchResponse) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    out += _pack_ihi(message.throttle_time_ms, message.error_code, message.session_id)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for fetchable_topic_response in message.responses:
        out += _pack_u(fetchable_topic_response.topic_id.bytes)
        size = len(fetchable_topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in fetchable_topic_response.partitions:
            out += _pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset)
            if partition_data.aborted_transactions is None:
                out.append(0)
            else:
                size = len(partition_data.aborted_transactions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                for aborted_transaction in partition_data.aborted_transactions:
                    out += _pack_qqB(aborted_transaction.producer_id, aborted_transaction.first_offset, 0)
            out += _pack_i(partition_data.preferred_read_replica)
            if partition_data.records is None:
                out.append(0)
            else:
                records = partition_data.records
                size = len(records) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                chunks += (out, records)
                out = bytearray()
            tags = (partition_data.diverging_epoch is not None) + (partition_data.current_leader is not None) + (partition_data.snapshot_id is not None)
            out.append(tags)
            if tags:
                if partition_data.diverging_epoch is not None:
                    around_partition_data, out = out, bytearray()
                    epoch_end_offset = partition_data.diverging_epoch
                    out += _pack_iqB(epoch_end_offset.epoch, epoch_end_offset.end_offset, 0)
                    around_partition_data.append(0)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
                if partition_data.current_leader is not None:
                    around_partition_data, out = out, bytearray()
                    leader_id_and_epoch = partition_data.current_leader
                    out += _pack_iiB(leader_id_and_epoch.leader_id, leader_id_and_epoch.leader_epoch, 0)
                    around_partition_data.append(1)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
                if partition_data.snapshot_id is not None:
                    around_partition_data, out = out, bytearray()
                    snapshot_id = partition_data.snapshot_id
                    out += _pack_qiB(snapshot_id.end_offset, snapshot_id.epoch, 0)
                    around_partition_data.append(2)
                    around_partition_data += uvarint(len(out))
                    around_partition_data += out
                    out = around_partition_data
        out.append(0)
    tags = (len(message.node_endpoints) > 0)
    out.append(tags)
    if tags:
        if len(message.node_endpoints) > 0:
            around_fetch_response, out = out, bytearray()
            size = len(message.node_endpoints) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for node_endpoint in message.node_endpoints:
                raw = node_endpoint.host.encode()
                out += _pack_i(node_endpoint.node_id)
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                out += _pack_i(node_endpoint.port)
                if node_endpoint.rack is None:
                    out.append(0)
                else:
                    raw = node_endpoint.rack.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out.append(0)
            around_fetch_response.append(0)
            around_fetch_response += uvarint(len(out))
            around_fetch_response += out
            out = around_fetch_response
    chunks.append(out)
    return chunks


_DECODERS = {4: _decode_4, 5: _decode_5, 6: _decode_5, 7: _decode_7, 8: _decode_7, 9: _decode_7, 10: _decode_7, 11: _decode_11, 12: _decode_12, 13: _decode_13, 14: _decode_13, 15: _decode_13, 16: _decode_16, 17: _decode_16, 18: _decode_16}
_ENCODERS = {4: _encode_4, 5: _encode_5, 6: _encode_5, 7: _encode_7, 8: _encode_7, 9: _encode_7, 10: _encode_7, 11: _encode_11, 12: _encode_12, 13: _encode_13, 14: _encode_13, 15: _encode_13, 16: _encode_16, 17: _encode_16, 18: _encode_16}


def decode(version: int, buffer: Buffer, position: int = 0) -> FetchResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"FetchResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No FetchResponse of version {version}: {error}") from error


def encode(version: int, message: FetchResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
