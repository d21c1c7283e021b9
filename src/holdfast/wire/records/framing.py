"""Checks that the records of a batch match its header, without decoding them.

Readers trust lengths, offset deltas and counts; a batch in which one of them is wrong stops every
reader that reaches it. Apache Kafka refuses such a batch when it is produced.

A loop over records costs half a microsecond per record. Neighbours often have the same shape (the
lengths of record, key and value, the width of the deltas). One slice with a step then compares a
byte of all of them at once, at a tenth of the cost. So the loop checks a record and then tries to
take as many of the following records as possible in one go (a "run").
"""

from holdfast.wire.records.compression import UndecodableRecords

Plain = bytes | bytearray | memoryview

SMALLEST_RECORD = 7
"""Bytes of a record with neither key nor value nor headers."""

_LONGEST_INT, _LONGEST_LONG = 5, 10
_FIRST_RUN = 32
_MOST_SINGLES = 256
"""The maximum number of records checked one by one after runs that failed."""

_CONTINUED = bytes(range(0x80, 0x100))
# Offset deltas 64 to 8191 take two bytes; those before them take one.
_ONE_BYTE = bytes(delta << 1 for delta in range(64))
_TWO_FIRST = bytes((delta << 1) & 0x7F | 0x80 for delta in range(8192))
_TWO_SECOND = bytes(delta >> 6 for delta in range(8192))


class FramingCheck:
    """The progress of checking one batch; a large batch is checked in several calls.

    A memoryview is slower to read, and its neighbours are not compared as a run: pass one only for
    few and large records, where a copy would cost more.
    """

    __slots__ = ("_count", "_data", "_done", "_position", "_singles", "has_keyless")

    def __init__(self, data: Plain, count: int) -> None:
        self._data = data
        self._count = count
        self._position = 0
        self._done = 0
        self._singles = _MOST_SINGLES if isinstance(data, memoryview) else 0
        self.has_keyless = False
        """True if a record without a key was found."""

    def run(self, most: int) -> bool:
        """Check up to about `most` further records. Returns True when the whole batch is checked.

        Raises UndecodableRecords if readers could not parse the batch.
        """
        try:
            self._check(min(self._count, self._done + most))
        except IndexError:
            raise UndecodableRecords("A batch ends within a record") from None
        if self._done < self._count:
            return False
        if self._position != len(self._data):
            raise UndecodableRecords("A batch has more bytes than its records")
        return True

    def _check(self, upto: int) -> None:
        data, position, delta = self._data, self._position, self._done
        total = len(data)
        while delta < upto:
            for delta in range(delta, min(upto, delta + 1 + self._singles)):  # noqa: B020
                start = position
                size = data[position]
                position += 1
                if size > 0x7F:
                    byte = data[position]
                    position += 1
                    size += (byte << 7) - 0x80
                    if byte > 0x7F:
                        size, position = _varint(data, start)
                end = position + (size >> 1)
                if size & 1 or end > total:
                    raise UndecodableRecords(f"The length of record {delta} does not fit its batch")
                body = position
                position += 1  # attributes
                if data[position] > 0x7F:  # the timestamp
                    position += 1
                    if data[position] > 0x7F:
                        position = _end_of_long(data, body + 1)
                offset_at = position = position + 1
                size = data[position]
                position += 1
                if size > 0x7F:
                    byte = data[position]
                    position += 1
                    size += (byte << 7) - 0x80
                    if byte > 0x7F:
                        size, position = _varint(data, offset_at)
                if size != delta << 1:
                    raise UndecodableRecords(f"Record {delta} does not have offset delta {delta}")
                key_at = position
                size = data[position]
                position += 1
                if size > 0x7F:
                    byte = data[position]
                    position += 1
                    size += (byte << 7) - 0x80
                    if byte > 0x7F:
                        size, position = _varint(data, key_at)
                if not size & 1:
                    position += size >> 1
                elif size == 1:
                    self.has_keyless = True
                else:
                    raise UndecodableRecords(f"The key length of record {delta} is negative")
                value_at = position
                size = data[position]
                position += 1
                if size > 0x7F:
                    byte = data[position]
                    position += 1
                    size += (byte << 7) - 0x80
                    if byte > 0x7F:
                        size, position = _varint(data, value_at)
                if not size & 1:
                    position += size >> 1
                elif size != 1:
                    raise UndecodableRecords(f"The value length of record {delta} is negative")
                if position + 1 != end or data[position]:
                    _check_headers(data, position, end, delta)
                position = end
            delta += 1
            if delta < upto:
                taken = 0
                if (
                    position < total
                    and data[position] == data[start]
                    and not isinstance(data, memoryview)
                ):
                    marks = body, offset_at, key_at, value_at, end
                    taken = _take_run(data, start, marks, delta, upto)
                    delta += taken
                    position += taken * (end - start)
                self._singles = 0 if taken else min(2 * self._singles + 1, _MOST_SINGLES)
        self._position, self._done = position, delta


def _take_run(
    data: bytes | bytearray,
    start: int,
    marks: tuple[int, int, int, int, int],
    delta: int,
    upto: int,
) -> int:
    """How many records from offset delta `delta` on have the shape of the checked one at `start`;
    may return fewer than there are.

    `marks` are positions in the checked record: its body, offset delta, key, value and end.
    """
    body, offset_at, key_at, value_at, end = marks
    size = end - start
    width = key_at - offset_at
    if width > 2 or data[end - 1]:
        return 0  # the loop handles offset deltas above 8191, and headers
    value_begin = value_at + 1
    while data[value_begin - 1] > 0x7F:
        value_begin += 1
    key_begin = key_at + 1
    while data[key_begin - 1] > 0x7F:
        key_begin += 1
    equal = [*range(start, body), *range(key_at, key_begin), *range(value_at, value_begin), end - 1]
    upto = min(upto, 64 if width == 1 else 8192, delta + (len(data) - end) // size)
    taken, run = 0, _FIRST_RUN
    while delta < upto:
        run = min(run, upto - delta)
        shift, reach = end - start + taken * size, run * size
        for at in equal:
            column = data[at + shift : at + shift + reach : size]
            if column != data[at : at + 1] * run:
                return taken
        for at in range(body + 1, offset_at - 1):
            if data[at + shift : at + shift + reach : size].translate(None, _CONTINUED):
                return taken
        at = offset_at - 1 + shift
        if not data[at : at + reach : size].isascii():
            return taken
        at = offset_at + shift
        column = data[at : at + reach : size]
        if width == 1:
            if column != _ONE_BYTE[delta : delta + run]:
                return taken
        elif (
            column != _TWO_FIRST[delta : delta + run]
            or data[at + 1 : at + 1 + reach : size] != _TWO_SECOND[delta : delta + run]
        ):
            return taken
        taken += run
        delta += run
        run *= 4
    return taken


def _check_headers(data: Plain, position: int, end: int, delta: int) -> None:
    """Check that the headers at `position` are complete and fill the record up to `end`."""
    count, position = _varint(data, position)
    if count & 1 or count >> 1 > end - position:
        raise UndecodableRecords(f"Record {delta} has an impossible number of headers")
    for _ in range(count >> 1):
        size = data[position]
        position += 1
        if size > 0x7F:
            size, position = _varint(data, position - 1)
        if size & 1:
            raise UndecodableRecords(f"A header of record {delta} has no name")
        position += size >> 1
        size = data[position]
        position += 1
        if size > 0x7F:
            size, position = _varint(data, position - 1)
        if not size & 1:
            position += size >> 1
        elif size != 1:
            raise UndecodableRecords(f"A header of record {delta} has a negative length")
    if position != end:
        raise UndecodableRecords(f"The length of record {delta} does not fit its fields")


def _end_of_long(data: Plain, position: int) -> int:
    """The position of the last byte of the 64-bit varint at `position`."""
    for last in range(position, position + _LONGEST_LONG):
        if data[last] < 0x80:
            return last
    raise UndecodableRecords("A timestamp does not end")


def _varint(data: Plain, position: int) -> tuple[int, int]:
    """A 32-bit varint without zigzag decoding, and the position after it."""
    value = 0
    for shift in range(0, 7 * _LONGEST_INT, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, position
    raise UndecodableRecords("A length does not end")
