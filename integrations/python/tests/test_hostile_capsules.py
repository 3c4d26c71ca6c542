"""Capsules whose C structs have one lie each give exceptions, and neither crashes nor panics."""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p, pointer

import pytest

import herringbone as hb


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


ReleaseSchema = CFUNCTYPE(None, POINTER(Schema))
ReleaseArray = CFUNCTYPE(None, POINTER(Array))
ReleaseStream = CFUNCTYPE(None, POINTER(Stream))
GetSchema = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
GetNext = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
GetLastError = CFUNCTYPE(c_char_p, POINTER(Stream))
Schema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))), ("dictionary", POINTER(Schema)), ("release", ReleaseSchema), ("private", c_void_p),
]
Array._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))), ("dictionary", POINTER(Array)),
    ("release", ReleaseArray), ("private", c_void_p),
]
Stream._fields_ = [
    ("get_schema", GetSchema), ("get_next", GetNext), ("get_last_error", GetLastError), ("release", ReleaseStream),
    ("private", c_void_p),
]

# All that structs point to, which lives as long as the tests.
ALIVE = []
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]


def alive(it):
    ALIVE.append(it)
    return it


def releasing(kind):
    def release(struct):
        struct.contents.release = kind()
    return alive(kind(release))


RELEASE_SCHEMA, RELEASE_ARRAY, RELEASE_STREAM = map(releasing, (ReleaseSchema, ReleaseArray, ReleaseStream))


def schema(format_, *children, name=b"x", **changes):
    pointers = alive((POINTER(Schema) * len(children))(*(pointer(child) for child in children)))
    made = Schema(format=format_, name=name, flags=2, n_children=len(children), children=pointers, release=RELEASE_SCHEMA)
    for key, value in changes.items():
        setattr(made, key, value)
    return alive(made)


def buffer(kind, *values):
    return ctypes.addressof(alive((kind * len(values))(*values)))


def array(length, buffers, /, *children, **changes):
    places = alive((c_void_p * len(buffers))(*buffers))
    pointers = alive((POINTER(Array) * len(children))(*(pointer(child) for child in children)))
    made = Array(length=length, n_buffers=len(buffers), n_children=len(children), buffers=places, children=pointers,
                 release=RELEASE_ARRAY)
    for key, value in changes.items():
        setattr(made, key, value)
    return alive(made)


def integers(length=3, **changes):
    return array(length, [None, buffer(ctypes.c_int32, 1, 2, 3)], **changes)


def strings(*offsets, data=b"abcdef"):
    return array(len(offsets) - 1, [None, buffer(ctypes.c_int32, *offsets), buffer(ctypes.c_char, *data) if data else None])


def views(*words, kind=ctypes.c_int32, size=20):
    data = buffer(ctypes.c_char, *(b"x" * 20))
    return array(1, [None, buffer(kind, *words), data, buffer(c_int64, size)])


def keys(kind, key, entries=3):
    return array(1, [None, buffer(kind, key)], dictionary=pointer(integers(entries)))


def runs(*ends, length=5, values=3, **changes):
    return array(length, [], array(len(ends), [None, buffer(ctypes.c_int32, *ends)], **changes), integers(values))


def union(id_, offset):
    return array(1, [buffer(ctypes.c_int8, id_), buffer(ctypes.c_int32, offset)], integers(), integers())


def deep(levels):
    made = schema(b"i")
    for _ in range(levels):
        made = schema(b"+s", made)
    return made


I, U, V = b"i", b"u", b"vu"
LIST, FIXED, STRUCT = (b"+l", b"i"), (b"+w:2", b"i"), (b"+s", b"i")


def of(formats):
    """Returns the schema of a format, or of a parent and its child."""
    match formats:
        case (parent, *children):
            return schema(parent, *map(schema, children))
        case Schema():
            return formats
        case format_:
            return schema(format_)


def keyed(format_):
    return schema(format_, dictionary=pointer(schema(b"i")))


RUNS = lambda: schema(b"+r", schema(b"i"), schema(b"i"))  # noqa: E731
UNION = lambda: schema(b"+ud:5,7", schema(b"i"), schema(b"i"))  # noqa: E731

# The columns: a type, and an array of at least one slot.
HOSTILE = {
    "length negative": (I, integers(-3)),
    "length huge": (I, integers(2**62)),
    "offset negative": (I, integers(offset=-1)),
    "offset and length overflow": (I, integers(offset=2**63 - 1)),
    "more nulls than slots": (I, integers(null_count=99)),
    "null count below -1": (I, integers(null_count=-7)),
    "nulls without a bitmap": (I, integers(null_count=2)),
    "no buffers": (I, array(3, [])),
    "a buffer too few": (I, array(3, [None])),
    "a buffer too many": (I, array(3, [None, buffer(ctypes.c_int32, 1, 2, 3), None])),
    "negative number of buffers": (I, integers(n_buffers=-1)),
    "array of buffers is null": (I, integers(buffers=POINTER(c_void_p)())),
    "values are null": (I, array(3, [None, None])),
    "a child of a leaf": (I, array(3, [None, buffer(ctypes.c_int32, 1, 2, 3)], integers())),
    "released": (I, integers(release=ReleaseArray())),
    "a dictionary of plain values": (I, integers(dictionary=pointer(integers()))),
    "last offset negative": (U, strings(0, 2, 4, -6)),
    "offsets fall": (U, strings(0, 5, 2, 6)),
    "first offset negative": (U, strings(-1, 2, 4, 6)),
    "text without bytes": (U, strings(0, 2, 4, 6, data=None)),
    "large offsets fall": (b"U", array(1, [None, buffer(c_int64, 5, 2), buffer(ctypes.c_char, *b"abcdef")])),
    "view of a buffer that is missing": (V, views(13, 0, 7, 0)),
    "view of a negative buffer": (V, views(13, 0, -1, 0)),
    "view of negative length": (V, views(-5, 0, 0, 0)),
    "view beyond its buffer": (V, views(13, 0, 0, 8)),
    "view before its buffer": (V, views(13, 0, 0, -1)),
    "negative size of a buffer": (V, views(13, 0, 0, 0, size=-1)),
    "no sizes of buffers": (V, array(1, [None, buffer(ctypes.c_int32, 1, 0, 0, 0)])),
    "list longer than its child": (LIST, array(1, [None, buffer(ctypes.c_int32, 0, 4)], integers())),
    "offsets of lists fall": (LIST, array(2, [None, buffer(ctypes.c_int32, 0, 2, 1)], integers())),
    "list without a child": (LIST, array(1, [None, buffer(ctypes.c_int32, 0, 2)])),
    "child of a list of negative length": (LIST, array(1, [None, buffer(ctypes.c_int32, 0, 2)], integers(-3))),
    "list view beyond its child": ((b"+vl", b"i"), array(1, [None, *(buffer(ctypes.c_int32, 2) for _ in range(2))], integers())),
    "fixed list longer than its child": (FIXED, array(2, [None], integers())),
    "fixed list of negative size": ((b"+w:-5", b"i"), array(1, [None], integers())),
    "fixed binary of negative size": (b"w:-5", array(1, [None, buffer(ctypes.c_char, *b"abc")])),
    "struct longer than its child": (STRUCT, array(4, [None], integers())),
    "child of a struct is missing": (STRUCT, array(3, [None], integers(), children=(POINTER(POINTER(Array)))())),
    "map of integers": ((b"+m", b"i"), array(1, [None, buffer(ctypes.c_int32, 0, 2)], integers())),
    "key beyond its dictionary": (keyed(b"c"), keys(ctypes.c_int8, 3)),
    "negative key": (keyed(b"c"), keys(ctypes.c_int8, -1)),
    "dictionary is missing": (keyed(b"i"), integers()),
    "dictionary of negative length": (keyed(b"c"), keys(ctypes.c_int8, 0, entries=-3)),
    "floating-point keys": (keyed(b"f"), keys(ctypes.c_float, 0)),
    "run ends do not grow": (RUNS(), runs(2, 2, 5)),
    "last run is short": (RUNS(), runs(1, 2, 4)),
    "fewer values than runs": (RUNS(), runs(1, 2, 5, values=2)),
    "run ends of negative length": (RUNS(), runs(1, 2, 5, length=-5)),
    "unknown type id": (UNION(), union(6, 0)),
    "offset of a union beyond its child": (UNION(), union(5, 3)),
    "negative offset of a union": (UNION(), union(5, -1)),
    "union without children": (b"+ud:5,7", array(1, [buffer(ctypes.c_int8, 5), buffer(ctypes.c_int32, 0)])),
    "format is null": (schema(None), integers()),
    "unknown format": (b"?", integers()),
    "format is not UTF-8": (b"\xff", integers()),
    "name is not UTF-8": (schema(b"i", name=b"\xff"), integers()),
    "negative number of children": (schema(b"i", n_children=-1), integers()),
    "children are missing": (schema(b"+l", n_children=1), array(1, [None, buffer(ctypes.c_int32, 0, 2)], integers())),
    "schema released": (schema(b"i", release=ReleaseSchema()), integers()),
    "metadata of 2^31 pairs": (schema(b"i", metadata=buffer(ctypes.c_int32, 2**31 - 1)), integers()),
    "metadata of negative length": (schema(b"i", metadata=buffer(ctypes.c_int32, 1, -1)), integers()),
    "schema of 20,000 levels": (deep(20_000), integers()),
}
SOUND = {
    "integers": (I, integers()),
    "uncounted nulls": (I, integers(null_count=-1)),
    "strings": (U, strings(0, 2, 4, 6)),
    "views": (V, views(13, 0, 0, 7)),
    "lists": (LIST, array(1, [None, buffer(ctypes.c_int32, 0, 3)], integers())),
    "structs": (STRUCT, array(3, [None], integers())),
    "keys": (keyed(b"c"), keys(ctypes.c_int8, 2)),
}


class Batch:
    """A batch of one column."""

    def __init__(self, kind, column):
        self.schema = schema(b"+s", of(kind), name=b"")
        self.array = array(max(column.length, 1), [None], column)

    def __arrow_c_array__(self, requested_schema=None):
        return (new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(self.array), b"arrow_array", None))


class Batches:
    """A stream of one batch."""

    def __init__(self, batch):
        left = [batch.array]

        def get_schema(_, out):
            ctypes.memmove(out, ctypes.addressof(batch.schema), ctypes.sizeof(Schema))
            return 0

        def get_next(_, out):
            if left:
                ctypes.memmove(out, ctypes.addressof(left.pop()), ctypes.sizeof(Array))
            else:
                out.contents.release = ReleaseArray()
            return 0

        self.stream = alive(Stream(GetSchema(get_schema), GetNext(get_next), GetLastError(lambda _: None), RELEASE_STREAM))

    def __arrow_c_stream__(self, requested_schema=None):
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def copies(case):
    """Structs of a case that a test may release."""
    kind, column = case
    return of(Schema.from_buffer_copy(kind) if isinstance(kind, Schema) else kind), Array.from_buffer_copy(column)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", [Batch, lambda *case: Batches(Batch(*case))], ids=["array", "stream"])
def test_a_hostile_column_is_an_exception(name, form, tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises((ValueError, TypeError), match="invalid Arrow data from C"):
        hb.write_table(form(*copies(HOSTILE[name])), path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("form", [Batch, lambda *case: Batches(Batch(*case))], ids=["array", "stream"])
def test_a_sound_column_is_written(name, form, tmp_path):
    path = tmp_path / "a.parquet"
    hb.write_table(form(*copies(SOUND[name])), path)
    assert hb.read_table(path).num_rows == SOUND[name][1].length


def test_a_capsule_is_imported_once(tmp_path):
    batches = Batches(Batch(*copies(SOUND["integers"])))
    hb.write_table(batches, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="released"):
        hb.write_table(batches, tmp_path / "b.parquet")


def test_null_rows_are_an_exception(tmp_path):
    batch = Batch(*copies(SOUND["integers"]))
    batch.array.buffers = alive((c_void_p * 1)(buffer(ctypes.c_uint8, 5)))
    batch.array.null_count = 1
    with pytest.raises(ValueError, match="rows are null"):
        hb.write_table(Batches(batch), tmp_path / "a.parquet")


class OnlySchema:
    def __init__(self, made):
        self.made = made

    def __arrow_c_schema__(self):
        return new_capsule(ctypes.addressof(self.made), b"arrow_schema", None)


def test_a_hostile_schema_is_an_exception():
    with pytest.raises(ValueError, match="100 levels"):
        hb.Schema(OnlySchema(deep(20_000)))
    requested = OnlySchema(schema(b"w:-5")).__arrow_c_schema__()
    table = hb.read_table(os.path.join(os.path.dirname(__file__), "../../../testdata/example.parquet"))
    with pytest.raises(ValueError, match="the size -5"):
        table.__arrow_c_stream__(requested)
