"""Writes the body of a decoder for one version of a message."""

from tools.codec_generator.definitions import Field, Message, Struct
from tools.codec_generator.source import CODES, SIZES, Source
from tools.codec_generator.types import annotation, literal, variable

_CONVERSIONS = {
    "string": 'str(buffer[position:stop], "utf-8")',
    "bytes": "bytes(buffer[position:stop])",
    "records": "buffer[position:stop]",
}


class Decoding:
    """One function without calls to other generated functions: structs are read in place."""

    def __init__(self, message: Message, version: int) -> None:
        self._message = message
        self._version = version
        self.source = Source(version, version in message.flexible)
        self._uuids: list[str] = []
        self.source.emit("end = len(buffer)")
        if any(field.is_array for struct in message.structs for field in struct.fields):
            most = "MOST_REQUESTED" if message.kind == "request" else "MOST_ELEMENTS"
            self.source.emit(f"room = {most}")
        value = self._struct(message.root)
        self._flush()
        self.source.emit(f"return {value}")

    def _struct(self, struct: Struct) -> str:
        """Reads the fields; returns the expression that builds the struct from them."""
        for field in struct.plain(self._version):
            self._field(field, self._variable(field, struct))
        if self.source.flexible:
            self._tagged_fields(struct)
        present = [field for field in struct.fields if self._version in field.versions]
        values = (f"{field.name}={self._variable(field, struct)}" for field in present)
        return f"{struct.name}({', '.join(values)})"

    def _variable(self, field: Field, owner: Struct) -> str:
        return variable(field, owner, self._message.root)

    def _field(self, field: Field, target: str, *, declare: bool = True) -> None:
        if declare and (field.is_array or field.nullable):
            self.source.emit(f"{target}: {annotation(field, self._message.kind)}")
        if field.is_array:
            self._array(field, target)
        elif field.struct is not None:
            self._inner_struct(field, field.struct, target)
        else:
            self._single(field, target, nullable=self._version in field.nullable)

    def _single(self, field: Field, target: str, *, nullable: bool) -> None:
        if field.type not in CODES:
            self._blob(field, target, nullable=nullable)
            return
        self.source.add(CODES[field.type], target)
        if field.type == "uuid":
            self._uuids.append(target)

    def _blob(self, field: Field, target: str, *, nullable: bool) -> None:
        """A string, bytes or records: a length, then that many bytes."""
        source = self.source
        is_string = field.type == "string"
        self._length("length", "h" if is_string else "i", bounded=is_string)
        stop = "position + length - 1" if source.flexible else "position + length"
        if not nullable:
            source.emit(f"stop = {stop}")
            with source.block("if not position <= stop <= end:"):
                source.emit(f'raise bad_length("{target}", stop - position)')
            self._take(field, target)
            return
        with source.block("if length:" if source.flexible else "if length >= 0:"):
            source.emit(f"stop = {stop}")
            with source.block("if stop > end:"):
                source.emit(f'raise bad_length("{target}", stop - position)')
            self._take(field, target)
        with source.block("else:"):
            source.emit(f"{target} = None")

    def _take(self, field: Field, target: str) -> None:
        self.source.emit(f"{target} = {_CONVERSIONS[field.type]}")
        self.source.emit("position = stop")

    def _array(self, field: Field, target: str) -> None:
        source = self.source
        self._length("count", "i")
        if self._version not in field.nullable:
            if source.flexible:
                source.emit("count -= 1")
            self._elements(field, target)
            return
        with source.block("if count:" if source.flexible else "if count >= 0:"):
            if source.flexible:
                source.emit("count -= 1")
            self._elements(field, target)
        with source.block("else:"):
            source.emit(f"{target} = None")

    def _elements(self, field: Field, target: str) -> None:
        source = self.source
        least = source.least_size(field)
        needed = "count" if least == 1 else f"count * {least}"
        source.emit("room -= count")
        with source.block(f"if not 0 <= {needed} <= end - position or room < 0:"):
            source.emit(f'raise bad_length("{target}", count)')
        if field.type in CODES and field.type != "uuid":
            code = CODES[field.type]
            source.emit(
                f'{target} = list(struct.unpack_from(f">{{count}}{code}", buffer, position))'
            )
            source.emit(f"position += count * {SIZES[code]}")
            return
        source.emit(f"{target} = []")
        with source.block("for _ in range(count):"):
            element = "item"
            if field.struct is not None:
                element = self._struct(field.struct)
            else:
                self._single(field, element, nullable=False)
            self._flush()
            source.emit(f"{target}.append({element})")

    def _inner_struct(self, field: Field, struct: Struct, target: str) -> None:
        source = self.source
        if self._version not in field.nullable:
            value = self._struct(struct)
            self._flush()
            source.emit(f"{target} = {value}")
            return
        source.add("b", "present")
        self._flush()
        with source.block("if present < 0:"):
            source.emit(f"{target} = None")
        with source.block("else:"):
            value = self._struct(struct)
            self._flush()
            source.emit(f"{target} = {value}")

    def _tagged_fields(self, struct: Struct) -> None:
        source = self.source
        known = struct.tagged(self._version)
        for field in known:
            kind = annotation(field, self._message.kind)
            source.emit(f"{self._variable(field, struct)}: {kind} = {literal(field)}")
        source.add("B", "tags")
        self._flush()
        with source.block("if tags:"):
            if not known:
                source.emit("position = skip_tags(buffer, position, tags)")
                return
            with source.block("if tags > MOST_TAGS:"):
                source.emit(f'raise bad_length("The tagged fields of {struct.name}", tags)')
            with source.block("for _ in range(tags):"):
                self._known_tags(struct, known)

    def _known_tags(self, struct: Struct, known: list[Field]) -> None:
        source = self.source
        after = f"after_tag_of_{struct.variable}"
        source.emit("tag, position = read_uvarint(buffer, position)")
        source.emit("size, position = read_uvarint(buffer, position)")
        source.emit(f"{after} = position + size")
        with source.block(f"if {after} > end:"):
            source.emit(f'raise bad_length("A tagged field of {struct.name}", size)')
        for number, field in enumerate(known):
            with source.block(f"{'elif' if number else 'if'} tag == {field.tag}:"):
                self._field(field, self._variable(field, struct), declare=False)
                self._flush()
        with source.block("else:"):
            source.emit(f"position = {after}")
        with source.block(f"if position != {after}:"):
            source.emit(f'raise bad_length("A tagged field of {struct.name}", size)')

    def _length(self, name: str, code: str, *, bounded: bool = False) -> None:
        """Reads a length prefix: of fixed width, or a varint that is one longer."""
        if not self.source.flexible:
            self.source.add(code, name)
            self._flush()
            return
        self.source.add("B", name)
        self._flush()
        read = "read_long_string_length" if bounded else "read_long_uvarint"
        with self.source.block(f"if {name} > 127:"):
            self.source.emit(f"{name}, position = {read}(buffer, position, {name})")

    def _flush(self) -> None:
        """Writes the unpacking of the fixed-width values gathered so far."""
        name, targets, size = self.source.take_run("unpack")
        if not targets:
            return
        if name == "_unpack_B":
            self.source.emit(f"{targets[0]} = buffer[position]")
        else:
            left = ", ".join(targets) if len(targets) > 1 else f"({targets[0]},)"
            self.source.emit(f"{left} = {name}(buffer, position)")
        self.source.emit(f"position += {size}")
        for target in self._uuids:
            self.source.emit(f"{target} = uuid_of({target})")
        self._uuids = []
