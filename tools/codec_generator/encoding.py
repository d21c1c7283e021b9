"""Writes the body of an encoder for one version of a message."""

from tools.codec_generator.definitions import Field, Message, Struct
from tools.codec_generator.source import CODES, Source
from tools.codec_generator.types import empty, is_set


class Encoding:
    """One function that fills a bytearray; records become chunks of their own, uncopied."""

    def __init__(self, message: Message, version: int) -> None:
        self._version = version
        self.source = Source(version, version in message.flexible)
        has_records = any(f.type == "records" for struct in message.structs for f in struct.fields)
        self.source.emit("out = bytearray()")
        if has_records:
            self.source.emit("chunks: list[Buffer] = []")
        self._struct(message.root, "message")
        if has_records:
            self.source.emit("chunks.append(out)")
        self.source.emit("return chunks" if has_records else "return [out]")

    def _struct(self, struct: Struct, owner: str) -> None:
        for field in struct.plain(self._version):
            self._field(field, f"{owner}.{field.name}")
        if self.source.flexible:
            self._tagged_fields(struct, owner)
        self._flush()

    def _field(self, field: Field, value: str) -> None:
        """Writes a field, as null where it is None and this version has null for it."""
        source = self.source
        if self._version not in field.nullable:
            self._present(field, f"({value} or {empty(field)})" if field.nullable else value)
            return
        self._flush()
        with source.block(f"if {value} is None:"):
            source.emit(self._null(field))
        with source.block("else:"):
            if field.struct is not None and not field.is_array:
                source.add("b", "1")
            self._present(field, value)
            self._flush()

    def _null(self, field: Field) -> str:
        if field.struct is not None and not field.is_array:
            return "out.append(255)"
        if self.source.flexible:
            return "out.append(0)"
        is_short = field.type == "string" and not field.is_array
        return 'out += b"\\xff\\xff"' if is_short else 'out += b"\\xff\\xff\\xff\\xff"'

    def _present(self, field: Field, value: str) -> None:
        if field.is_array:
            self._array(field, value)
        elif field.struct is not None:
            self.source.emit(f"{field.struct.variable} = {value}")
            self._struct(field.struct, field.struct.variable)
        else:
            self._single(field, value)

    def _single(self, field: Field, value: str) -> None:
        source = self.source
        if field.type in CODES:
            source.add(CODES[field.type], f"{value}.bytes" if field.type == "uuid" else value)
            return
        if field.type == "records":
            source.emit(f"records = {value}")
            self._length("len(records)", "i")
            source.emit("chunks += (out, records)")
            source.emit("out = bytearray()")
            return
        source.emit(f"raw = {value}.encode()" if field.type == "string" else f"raw = {value}")
        self._length("len(raw)", "h" if field.type == "string" else "i")
        source.emit("out += raw")

    def _array(self, field: Field, value: str) -> None:
        source = self.source
        self._length(f"len({value})", "i")
        if field.type in CODES and field.type != "uuid":
            source.emit(f'out += struct.pack(f">{{len({value})}}{CODES[field.type]}", *{value})')
            return
        element = "item" if field.struct is None else field.struct.variable
        with source.block(f"for {element} in {value}:"):
            if field.struct is None:
                self._single(field, element)
                self._flush()
            else:
                self._struct(field.struct, element)

    def _tagged_fields(self, struct: Struct, owner: str) -> None:
        source = self.source
        known = struct.tagged(self._version)
        if not known:
            source.add("B", "0")
            return
        self._flush()
        conditions = [is_set(field, f"{owner}.{field.name}") for field in known]
        source.emit(f"tags = {' + '.join(f'({condition})' for condition in conditions)}")
        source.emit("out.append(tags)")
        with source.block("if tags:"):
            for field, condition in zip(known, conditions, strict=True):
                with source.block(f"if {condition}:"):
                    self._tagged_field(field, f"{owner}.{field.name}", f"around_{struct.variable}")

    def _tagged_field(self, field: Field, value: str, around: str) -> None:
        """A tagged field has its size in front: it is written aside, then put in."""
        source = self.source
        source.emit(f"{around}, out = out, bytearray()")
        self._field(field, value)
        self._flush()
        source.emit(f"{around}.append({field.tag})")
        source.emit(f"{around} += uvarint(len(out))")
        source.emit(f"{around} += out")
        source.emit(f"out = {around}")

    def _length(self, length: str, code: str) -> None:
        source = self.source
        if not source.flexible:
            source.add(code, length)
            self._flush()
            return
        self._flush()
        source.emit(f"size = {length} + 1")
        with source.block("if size < 128:"):
            source.emit("out.append(size)")
        with source.block("else:"):
            source.emit("out += uvarint(size)")

    def _flush(self) -> None:
        """Writes the packing of the fixed-width values gathered so far."""
        name, values, _ = self.source.take_run("pack")
        if not values:
            return
        if name == "_pack_B":
            self.source.emit(f"out.append({values[0]})")
        else:
            self.source.emit(f"out += {name}({', '.join(values)})")
