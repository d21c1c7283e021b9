"""Compares the ledger of acknowledged records with the logs of a broker."""

from tests.brokers import BrokerProcess
from tests.chaos.broker.load import (
    PARTITIONS,
    PLAIN,
    READERS,
    TABLE,
    TRANSACTED,
    WRITERS,
    Ledger,
    committed_offset,
)
from tests.clients import offset_of, read
from tests.wire import Wire, batches, fetch


def judge(broker: BrokerProcess, ledger: Ledger) -> list[str]:
    """Everything that is not as it was promised, in words. Nothing may be in flight."""
    return [
        *ledger.faults,
        *_judge_plain(broker, ledger),
        *_judge_table(broker, ledger),
        *_judge_transactions(broker, ledger),
        *judge_group(broker, ledger.committed_offsets),
        *_judge_log(broker),
    ]


def judge_group(broker: BrokerProcess, acknowledged: dict[int, int]) -> list[str]:
    """A commit that was acknowledged is there, or a later one of the same reader."""
    faults = []
    with Wire(broker) as wire:
        for partition, least in acknowledged.items():
            found = committed_offset(wire, READERS, PLAIN, partition)
            if found < least:
                faults.append(f"{READERS} committed {least} of partition {partition}, not {found}")
    return faults


def _judge_plain(broker: BrokerProcess, ledger: Ledger) -> list[str]:
    faults = []
    there: dict[tuple[int, int], bytes | None] = {}
    for partition in range(PARTITIONS):
        found = read(broker, PLAIN, partition)
        there |= {(partition, offset_of(m)): m.value() for m in found}
        if [m.offset() for m in found] != list(range(len(found))):
            faults.append(f"the offsets of {PLAIN}/{partition} are not dense")
        values = [m.value() for m in found]
        if values != ledger.sent[partition]:
            faults.append(_difference(f"{PLAIN}/{partition}", ledger.sent[partition], values))
    for name, promised in (("acknowledged", ledger.acknowledged), ("seen", ledger.seen)):
        wrong = {place for place, value in promised.items() if there.get(place) != value}
        if wrong:
            faults.append(f"{len(wrong)} {name} records are not there, first {min(wrong)}")
    return faults


def _judge_table(broker: BrokerProcess, ledger: Ledger) -> list[str]:
    faults = []
    found = read(broker, TABLE)
    last = {m.key(): m.value() for m in found}
    if last != ledger.table:
        faults.append(f"{TABLE} has {last}, not {ledger.table}")
    offsets = [offset_of(m) for m in found]
    if offsets != sorted(set(offsets)):
        faults.append(f"the offsets of {TABLE} do not rise")
    for key in ledger.table:
        numbers = [int(m.value() or b"0") for m in found if m.key() == key]
        if numbers != sorted(set(numbers)):
            faults.append(f"the values of {key!r} are out of order or repeated")
    return faults


def _judge_transactions(broker: BrokerProcess, ledger: Ledger) -> list[str]:
    faults = []
    for partition in range(PARTITIONS):
        name = f"{TRANSACTED}/{partition}"
        visible = [m.value() for m in read(broker, TRANSACTED, partition)]
        expected = [b"%d" % n for n in ledger.committed]
        if visible != expected:
            faults.append(_difference(name, expected, visible))
        faults += _gaps(broker, partition)
    expected_offset = ledger.committed[-1] if ledger.committed else -1
    with Wire(broker) as wire:
        found = committed_offset(wire, WRITERS, TRANSACTED, 0)
    if found != expected_offset:
        faults.append(f"{WRITERS} has offset {found}, not {expected_offset}")
    return faults


def _gaps(broker: BrokerProcess, partition: int) -> list[str]:
    """Offsets are dense with aborted records and markers counted in."""
    expected = 0
    with Wire(broker) as wire:
        while True:
            reply = fetch(wire, TRANSACTED, expected, partition=partition)
            if expected == reply.high_watermark:
                return []
            for found in batches(reply.records):
                if found.base_offset != expected:
                    return [
                        f"{TRANSACTED}/{partition} jumps from {expected} to {found.base_offset}"
                    ]
                expected = found.last_offset + 1


def _judge_log(broker: BrokerProcess) -> list[str]:
    lines = broker.log_text().splitlines()
    starts = [number for number, line in enumerate(lines) if "Traceback" in line]
    return ["the broker's log has\n" + "\n".join(lines[n - 1 : n + 40]) for n in starts]


def _difference(name: str, expected: list[bytes], found: list[bytes | None]) -> str:
    first = next(
        (i for i, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]),
        min(len(expected), len(found)),
    )
    return (
        f"{name} has {len(found)} records instead of {len(expected)}; they differ from number "
        f"{first} on: {found[first : first + 3]} instead of {expected[first : first + 3]}"
    )
