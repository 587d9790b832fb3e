"""Gives a compiled Java class a `hashCode` method, so that its objects stand in sets in the same order every time.

Java takes an object's hash from chance where the class defines none. A simulator that walks through sets of such
objects lists and heats things in another order after each start; with the object's own number as its hash it repeats
itself. Nothing else of the class changes.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_UTF8, _FIELD, _NAME_AND_TYPE, _LONG, _DOUBLE = 1, 9, 12, 5, 6
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of each kind of constant after its tag (Java Virtual Machine Specification, 4.4)."""
_LOAD_SELF, _GET_FIELD, _LONG_TO_INT, _RETURN_INT = 0x2A, 0xB4, 0x88, 0xAC
_PUBLIC = 1


class _Constants(NamedTuple):
    """The constant pool of a class file, as far as it is needed."""

    entries: int
    end: int
    """Offset of the first byte after it."""
    texts: dict[int, bytes]
    pairs: dict[int, tuple[int, int]]
    """Field references and name-and-type entries: the two indices they hold."""
    fields: tuple[int, ...]


def add_hash_code(data: bytes, field: str) -> bytes:
    """Return a class file with `public int hashCode() { return (int) field; }` added.

    Args:
        data: the class file; it must use the field itself, and have no `hashCode` of its own.
        field: name of a `long` field.

    Raises:
        ValueError: if the bytes are no class file, or the class does not fit.
    """
    if data[:4] != b"\xca\xfe\xba\xbe":
        raise ValueError("these bytes are no Java class file")
    constants = _constants(data)
    if b"hashCode" in constants.texts.values():
        raise ValueError("the class already says something about hashCode; it needs no other")
    reference, code = _field(constants, field.encode()), _text(constants, b"Code")
    at = constants.end + 6
    at += 2 + 2 * _short(data, at)
    methods = _skip_members(data, at)
    tail = _skip_members(data, methods)
    name, kind = constants.entries, constants.entries + 1
    body = struct.pack(">BBHBB", _LOAD_SELF, _GET_FIELD, reference, _LONG_TO_INT, _RETURN_INT)
    attribute = struct.pack(">HHI", 2, 1, len(body)) + body + struct.pack(">HH", 0, 0)
    method = struct.pack(">HHHHHI", _PUBLIC, name, kind, 1, code, len(attribute)) + attribute
    return b"".join(
        (
            data[:8],
            struct.pack(">H", constants.entries + 2),
            data[10 : constants.end],
            _utf8(b"hashCode"),
            _utf8(b"()I"),
            data[constants.end : methods],
            struct.pack(">H", _short(data, methods) + 1),
            data[methods + 2 : tail],
            method,
            data[tail:],
        )
    )


def _constants(data: bytes) -> _Constants:
    count, at, index = _short(data, 8), 10, 1
    texts: dict[int, bytes] = {}
    pairs: dict[int, tuple[int, int]] = {}
    fields: list[int] = []
    while index < count:
        tag = data[at]
        if tag == _UTF8:
            length = _short(data, at + 1)
            texts[index] = data[at + 3 : at + 3 + length]
            at += 3 + length
        else:
            if tag in (_FIELD, _NAME_AND_TYPE):
                pairs[index] = (_short(data, at + 1), _short(data, at + 3))
            if tag == _FIELD:
                fields.append(index)
            at += 1 + _SIZES[tag]
        index += 2 if tag in (_LONG, _DOUBLE) else 1
    return _Constants(count, at, texts, pairs, tuple(fields))


def _field(constants: _Constants, name: bytes) -> int:
    """Return the index of the reference to a `long` field."""
    for index in constants.fields:
        named = constants.pairs[constants.pairs[index][1]]
        if (constants.texts[named[0]], constants.texts[named[1]]) == (name, b"J"):
            return index
    raise ValueError(f"the class uses no field {name.decode()!r} of type long")


def _text(constants: _Constants, text: bytes) -> int:
    for index, known in constants.texts.items():
        if known == text:
            return index
    raise ValueError(f"the class holds no {text.decode()!r}")


def _skip_members(data: bytes, at: int) -> int:
    """Return the offset after a table of fields or methods."""
    count, at = _short(data, at), at + 2
    for _ in range(count):
        attributes, at = _short(data, at + 6), at + 8
        for _ in range(attributes):
            at += 6 + int(struct.unpack_from(">I", data, at + 2)[0])
    return at


def _short(data: bytes, at: int) -> int:
    return int(struct.unpack_from(">H", data, at)[0])


def _utf8(text: bytes) -> bytes:
    return struct.pack(">BH", _UTF8, len(text)) + text
