from __future__ import annotations

import struct

import pytest

from horizon_bench.outside.class_files import add_hash_code


def utf8(text: str) -> bytes:
    return b"\x01" + struct.pack(">H", len(text)) + text.encode()


def class_file(field: str = "number", kind: str = "J", method: str = "number") -> bytes:
    """Return a class `Thing` with one field and one method that reads it; a long constant takes two entries."""
    constants = [
        utf8("Thing"),  # 1
        b"\x07" + struct.pack(">H", 1),  # 2: class
        utf8(field),  # 3
        utf8(kind),  # 4
        b"\x0c" + struct.pack(">HH", 3, 4),  # 5: name and type
        b"\x09" + struct.pack(">HH", 2, 5),  # 6: field reference
        b"\x05" + struct.pack(">Q", 7),  # 7 and 8: a long
        utf8("Code"),  # 9
        utf8(method),  # 10
        utf8("()J"),  # 11
    ]
    body = bytes([0x2A, 0xB4, 0, 6, 0xAD])
    code = struct.pack(">HHI", 2, 1, len(body)) + body + struct.pack(">HH", 0, 0)
    fields = struct.pack(">HHHHH", 1, 1, 3, 4, 0)
    methods = struct.pack(">HHHHH", 1, 1, 10, 11, 1) + struct.pack(">HI", 9, len(code)) + code
    head = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, 52, 12)
    return head + b"".join(constants) + struct.pack(">HHHH", 1, 2, 2, 0) + fields + methods + struct.pack(">H", 0)


def test_the_class_gains_one_method_and_keeps_the_rest() -> None:
    before = class_file()
    after = add_hash_code(before, "number")
    names = utf8("hashCode") + utf8("()I")
    # this.number, cut down to an int, returned
    body = bytes([0x2A, 0xB4, 0, 6, 0x88, 0xAC])
    code = struct.pack(">HHI", 2, 1, len(body)) + body + struct.pack(">HH", 0, 0)
    method = struct.pack(">HHHHHI", 1, 12, 13, 1, 9, len(code)) + code
    constants_end = before.index(struct.pack(">HHHH", 1, 2, 2, 0))
    methods_at = before.index(struct.pack(">HHHHH", 1, 1, 10, 11, 1))
    expected = (
        before[:8]
        + struct.pack(">H", 14)
        + before[10:constants_end]
        + names
        + before[constants_end:methods_at]
        + struct.pack(">H", 2)
        + before[methods_at + 2 : -2]
        + method
        + before[-2:]
    )
    assert after == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04", "no Java class file"),
        (class_file(field="other"), "no field 'number'"),
        (class_file(kind="I"), "no field 'number'"),
        (class_file(method="hashCode"), "already"),
    ],
)
def test_a_class_that_does_not_fit_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        add_hash_code(data, "number")
