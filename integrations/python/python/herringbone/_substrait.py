"""Expressions of pyarrow as filters, by way of their Substrait form.

The numbers are the field numbers of Substrait's protobuf messages. What is not understood raises `NotUnderstood`.
"""

from __future__ import annotations

import datetime
import decimal
import functools
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

Tree = tuple[Any, ...]
#: The fields of a message: their numbers, and integers or bytes.
Fields = list[tuple[int, Any]]

_COMPARISONS = {"equal": "eq", "not_equal": "ne", "lt": "lt", "lte": "le", "gt": "gt", "gte": "ge"}
_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_TESTS = {"is_null": "is_null", "is_not_null": "is_valid", "is_nan": "is_nan"}


#: The ways in which `is_in` of pyarrow does not match nulls with nulls.
_HANDLES_NULLS = re.compile("null_matching_behavior=(?!MATCH)")


class NotUnderstood(ValueError):
    """An expression has no form as a filter of ours."""


def expression_tree(expression: Any, schema: Any) -> Tree:
    """Return the nested tuples of a `pyarrow.compute.Expression` over the columns of an Arrow schema."""
    import pyarrow

    schema = pyarrow.schema([_plain_field(field) for field in pyarrow.schema(schema)])
    if _HANDLES_NULLS.search(str(expression)):
        raise NotUnderstood("a test for one of several values that skips nulls, which Substrait does not express")
    try:
        message = bytes(expression.to_substrait(schema))
    except (pyarrow.ArrowException, NotImplementedError) as error:
        raise NotUnderstood(
            f"the filter {expression} has no form in Substrait ({error}); hb.dataset and herringbone.pyarrow leave it to pyarrow"
        ) from None
    fields = _fields(message)
    declarations = [_fields(value) for number, value in fields if number == 2]
    names = dict(_function(value) for declaration in declarations for number, value in declaration if number == 3)
    for number, value in fields:
        if number == 3:
            return _Reader(names, schema).condition(_fields(_one(_fields(value), 1)))
    raise NotUnderstood("the message has no expression")


def _plain_field(field: Any) -> Any:
    return field.with_type(_plain(field.type))


@functools.lru_cache(maxsize=256)
def _plain(kind: Any) -> Any:
    """Return a type with the same values that Substrait has. Our filters compare values of any type.

    A type that Substrait lacks is a Boolean instead. Comparisons with it are not understood, and those with other
    columns are.
    """
    import pyarrow
    import pyarrow.compute

    types = pyarrow.types
    if types.is_struct(kind):
        return pyarrow.struct([_plain_field(field) for field in kind])
    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    if types.is_unsigned_integer(kind):
        return pyarrow.int64()
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", kind.tz)
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pyarrow.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pyarrow.binary()
    try:
        pyarrow.compute.field("").is_null().to_substrait(pyarrow.schema([("", kind)]))
    except (pyarrow.ArrowException, NotImplementedError):
        return pyarrow.bool_()
    return kind


def _function(declaration: bytes) -> tuple[int, str]:
    """Return the number and the name of a function."""
    fields = dict(_fields(declaration))
    return fields.get(2, 0), fields.get(3, b"").decode()


def _fields(message: bytes) -> Fields:
    return list(_each_field(message))


def _each_field(message: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if wire == 2:
            length, at = _varint(message, at)
        else:
            length = {1: 8, 5: 4}.get(wire, -1)
        if length < 0 or at + length > len(message):
            raise NotUnderstood("the message is damaged")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
    raise NotUnderstood("the message is damaged")


def _one(fields: Fields, number: int) -> Any:
    for found, value in fields:
        if found == number:
            return value
    raise NotUnderstood(f"the message lacks field {number}")


class _Reader:
    def __init__(self, names: dict[int, str], schema: Any) -> None:
        self.names = names
        self.schema = schema

    def condition(self, fields: Fields) -> Tree:
        """Return the tree of an Expression message."""
        kind, value = fields[0] if fields else (0, b"")
        if kind == 2:
            return ("eq", self.path(value), True)
        if kind == 3:
            return self.function(_fields(value))
        if kind == 8:
            return self.one_of(_fields(value))
        raise NotUnderstood(f"an expression of kind {kind}")

    def function(self, fields: Fields) -> Tree:
        name = self.names.get(dict(fields).get(1, 0), "")
        arguments = [_fields(_one(_fields(value), 3)) for number, value in fields if number == 4]
        if name in ("and", "or"):
            return (name, [self.condition(argument) for argument in arguments])
        if name == "not":
            return ("not", self.condition(arguments[0]))
        if name in _TESTS:
            return (_TESTS[name], self.operand(arguments[0]))
        if name in _COMPARISONS:
            left, right = arguments
            operation = _COMPARISONS[name]
            if left[0][0] == 1:
                left, right, operation = right, left, _TURNED[operation]
            return (operation, self.operand(left), _literal(right))
        if name == "starts_with" and b"CASE_SENSITIVE" in b"".join(v for n, v in fields if n == 5):
            return ("starts_with", self.operand(arguments[0]), _literal(arguments[1]))
        raise NotUnderstood(f"the function {name}")

    def one_of(self, fields: Fields) -> Tree:
        column = self.operand(_fields(_one(fields, 1)))
        return ("in", column, [_literal(_fields(value)) for number, value in fields if number == 2])

    def operand(self, fields: Fields) -> tuple[str, ...]:
        if fields[0][0] != 2:
            raise NotUnderstood("a comparison of something else than a column")
        return self.path(fields[0][1])

    def path(self, selection: bytes) -> tuple[str, ...]:
        """Return the names of a FieldReference message."""
        segment = _one(_fields(selection), 1)
        names: list[str] = []
        kind: Any = self.schema
        while segment is not None:
            inner = _fields(_one(_fields(segment), 2))
            field = kind.field(dict(inner).get(1, 0))
            names.append(field.name)
            kind = field.type
            segment = dict(inner).get(2)
        if kind.num_fields > 0:
            raise NotUnderstood(f"a condition on the nested column {names[-1]}")
        return tuple(names)


def _literal(fields: Fields) -> Any:
    """Return the value of a Literal in an Expression message."""
    kind, message = fields[0]
    if kind != 1:
        raise NotUnderstood("a comparison with something else than a value")
    for number, value in _fields(message):
        convert = _LITERALS.get(number)
        if convert is not None:
            return convert(value)
    raise NotUnderstood("a value of another type")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


_START = datetime.datetime(1970, 1, 1)


def _timestamp(micros: int) -> datetime.datetime:
    return _START + datetime.timedelta(microseconds=_signed(micros))


def _time(micros: int) -> datetime.time:
    return (_START + datetime.timedelta(microseconds=micros)).time()


def _decimal(message: bytes) -> decimal.Decimal:
    fields = dict(_fields(message))
    unscaled = int.from_bytes(fields.get(1, b""), "little", signed=True)
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return decimal.Decimal((unscaled < 0, digits, -_signed(fields.get(3, 0))))


_LITERALS: dict[int, Callable[[Any], Any]] = {
    1: bool,
    2: _signed,
    3: _signed,
    5: _signed,
    7: _signed,
    10: lambda value: struct.unpack("<f", value)[0],
    11: lambda value: struct.unpack("<d", value)[0],
    12: lambda value: value.decode(),
    13: bytes,
    14: _timestamp,
    16: lambda days: datetime.date(1970, 1, 1) + datetime.timedelta(days=_signed(days)),
    17: _time,
    23: bytes,
    24: _decimal,
    27: lambda micros: _timestamp(micros).replace(tzinfo=datetime.timezone.utc),
    29: lambda _: None,
}
