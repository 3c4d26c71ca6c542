"""The data that the peers write: for each Arrow type a few hundred values, edges included, nulls as wanted."""

import random
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa

ROWS = 120
WIDE = Context(prec=100)
# How often a value is null: never though it may be, rarely, in long runs, always.
DENSITIES = {"none": 0.0, "some": 0.1, "runs": 0.5, "all": 1.0}


def integers(rng, low, high, shape):
    if shape == "few":
        few = [low, 0, 1, high, high // 3]
        return [few[rng.randrange(5) if rng.random() < 0.7 else 1] for _ in range(ROWS)]
    if shape == "sorted":
        step = max((high - low) // (ROWS * 4), 1)
        return [min(max(low // 2, -1000) + i * min(step, 37), high) for i in range(ROWS)]
    values = [rng.randint(low, high) for _ in range(ROWS)]
    values[:4] = [low, high, 0, 1]
    return values


def texts(rng, shape):
    words = ["", "a", "herring", "bone", "Füße", "日本語", "🐟", "x" * 40]
    if shape == "few":
        return [words[rng.randrange(len(words))] for _ in range(ROWS)]
    if shape == "sorted":
        return [f"https://example.org/{i // 10}/page-{i:05}" for i in range(ROWS)]
    return ["".join(rng.choice("abcdefghij äß日🐟") for _ in range(rng.randrange(24))) for _ in range(ROWS)]


def floats(rng, dtype, shape):
    if shape == "few":
        pool = [0.0, -0.0, 1.5, float("inf"), -2.25]
        values = np.array([pool[rng.randrange(5)] for _ in range(ROWS)], dtype=dtype)
    else:
        values = np.array([rng.gauss(0, 10) for _ in range(ROWS)]).astype(dtype)
        values[:5] = np.array([0.0, -0.0, float("nan"), float("inf"), float("-inf")], dtype=dtype)
        values[5] = np.finfo(dtype).max
        values[6] = np.finfo(dtype).smallest_subnormal
    return values


def nulls(rng, density):
    if density == "runs":
        mask, null = [], False
        while len(mask) < ROWS:
            mask += [null] * rng.randrange(1, 40)
            null = not null
        return mask[:ROWS]
    return [rng.random() < DENSITIES[density] for _ in range(ROWS)]


def without(values, mask):
    return [None if null else value for value, null in zip(values, mask)]


INTEGER_TYPES = {
    "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(),
    "uint8": pa.uint8(), "uint16": pa.uint16(), "uint32": pa.uint32(), "uint64": pa.uint64(),
}
DAY = 86400


def temporal(t):
    """The integers that a temporal type may hold."""
    if pa.types.is_date32(t):
        return -719162, 2932896
    if pa.types.is_time(t):
        return 0, DAY * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[t.unit] - 1
    if pa.types.is_timestamp(t):
        return {"s": (-(10**10), 10**10), "ms": (-(10**13), 10**13), "us": (-(10**16), 10**16), "ns": (-(2**63), 2**63 - 1)}[t.unit]
    return -(2**62), 2**62


def array(t, seed, density="none", shape="random"):
    """ROWS values of the type, always the same for the same arguments."""
    rng = random.Random(f"{t} {seed} {density} {shape}")
    mask = nulls(rng, density)
    if pa.types.is_boolean(t):
        return pa.array(without([rng.random() < 0.4 for _ in range(ROWS)], mask), t)
    if pa.types.is_integer(t):
        bits, signed = t.bit_width, pa.types.is_signed_integer(t)
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return pa.array(without(integers(rng, low, high, shape), mask), t)
    if pa.types.is_floating(t):
        dtype = {16: np.float16, 32: np.float32, 64: np.float64}[t.bit_width]
        return pa.array(floats(rng, dtype, shape), t, mask=np.array(mask))
    if pa.types.is_decimal(t):
        high = 10**t.precision - 1
        values = [Decimal(v).scaleb(-t.scale, context=WIDE) for v in integers(rng, -high, high, shape)]
        return pa.array(without(values, mask), t)
    if pa.types.is_temporal(t):
        physical = pa.int32() if t.bit_width == 32 else pa.int64()
        return pa.array(without(integers(rng, *temporal(t), shape), mask), physical).view(t)
    if pa.types.is_fixed_size_binary(t):
        width = t.byte_width
        pool = [bytes(rng.randrange(256) for _ in range(width)) for _ in range(6 if shape == "few" else ROWS)]
        return pa.array(without([pool[i % len(pool)] for i in range(ROWS)], mask), t)
    values = texts(rng, shape)
    if "binary" in str(t):
        values = [v.encode() + b"\xff" for v in values]
    return pa.array(without(values, mask), t)


def nested_number(rng):
    return None if rng.random() < 0.15 else rng.randrange(-1000, 1000)


def some(rng, make, null=0.15, most=4):
    if rng.random() < null:
        return None
    return [make() for _ in range(rng.randrange(most))]


def nested_columns(seed=7):
    """Named columns of nested types with nulls and empties at each level."""
    rng = random.Random(seed)
    number = lambda: nested_number(rng)  # noqa: E731
    word = lambda: None if rng.random() < 0.15 else rng.choice(["", "eel", "cod", "日本"])  # noqa: E731
    pair = lambda: None if rng.random() < 0.15 else {"a": number(), "b": word()}  # noqa: E731

    def mapped(make):
        return None if rng.random() < 0.15 else [(f"k{i}", make()) for i in range(rng.randrange(3))]

    i32, text = pa.int32(), pa.string()
    struct = pa.struct([("a", i32), ("b", text)])
    deep = pa.struct([("id", pa.int64()), ("tags", pa.list_(text)), ("inner", pa.struct([("m", pa.map_(text, pa.list_(struct)))]))])
    makers = {
        "list": (pa.list_(i32), lambda: some(rng, number)),
        "list_required": (pa.list_(pa.field("element", i32, nullable=False)), lambda: [rng.randrange(99) for _ in range(rng.randrange(4))]),
        "list_list": (pa.list_(pa.list_(i32)), lambda: some(rng, lambda: some(rng, number))),
        "list_list_list": (pa.list_(pa.list_(pa.list_(text))), lambda: some(rng, lambda: some(rng, lambda: some(rng, word)))),
        "struct": (struct, pair),
        "struct_struct": (pa.struct([("s", struct), ("c", pa.float64())]),
                          lambda: None if rng.random() < 0.15 else {"s": pair(), "c": rng.random()}),
        "list_struct": (pa.list_(struct), lambda: some(rng, pair)),
        "struct_list": (pa.struct([("l", pa.list_(i32)), ("t", pa.list_(text))]),
                        lambda: None if rng.random() < 0.15 else {"l": some(rng, number), "t": some(rng, word)}),
        "map": (pa.map_(text, i32), lambda: mapped(number)),
        "map_list_struct": (pa.map_(text, pa.list_(struct)), lambda: mapped(lambda: some(rng, pair))),
        "list_map": (pa.list_(pa.map_(text, text)), lambda: some(rng, lambda: mapped(word))),
        "map_map": (pa.map_(text, pa.map_(text, i32)), lambda: mapped(lambda: mapped(number))),
        "deep": (deep, lambda: None if rng.random() < 0.15 else {
            "id": rng.randrange(99), "tags": some(rng, word), "inner": {"m": mapped(lambda: some(rng, pair))}}),
    }
    return {name: pa.array([make() for _ in range(ROWS)], t) for name, (t, make) in makers.items()}
