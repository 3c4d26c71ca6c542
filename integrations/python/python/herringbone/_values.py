"""Python objects of values: zones, moments and intervals."""

from __future__ import annotations

import datetime
import functools
import re
from typing import Any, NamedTuple

_START = datetime.datetime(1970, 1, 1)
_UTC_START = _START.replace(tzinfo=datetime.timezone.utc)
#: An offset from UTC in place of the name of a zone, such as +02:00.
_OFFSET = re.compile("([+-])([0-9]{2}):?([0-9]{2})")


class MonthDayNano(NamedTuple):
    """An interval. A month has no fixed number of days, and a day no fixed number of nanoseconds."""

    #: The number of months.
    months: int
    #: The number of days.
    days: int
    #: The number of nanoseconds.
    nanoseconds: int


@functools.cache
def zone(name: str) -> datetime.tzinfo:
    """Return the zone with a name of the IANA database or an offset."""
    if name in ("UTC", "Z"):
        return datetime.timezone.utc
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        found = datetime.timedelta(hours=int(hours), minutes=int(minutes))
        return datetime.timezone(-found if sign == "-" else found)
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except Exception as error:
        raise ValueError(f"the zone {name!r} is not known here ({error}); the package tzdata has all zones") from None


def moment(micros: int, zone: datetime.tzinfo | None) -> datetime.datetime:
    """Return the datetime that many microseconds after 1970, in a zone."""
    since = datetime.timedelta(microseconds=micros)
    return _START + since if zone is None else (_UTC_START + since).astimezone(zone)


#: The integers up to which all are numbers of 64 bits with a point.
_EXACT = 1 << 53


def to_numpy(column: Any) -> Any:
    """Return the values of a column as an array of NumPy."""
    try:
        import numpy as np
    except ImportError:
        raise ImportError("to_numpy() needs the package numpy") from None
    found = column._values()
    if found is None or (found[2] is not None and found[0] == "bool"):
        objects = np.empty(len(column), dtype=object)
        for row, value in enumerate(column.to_pylist()):
            objects[row] = value
        return objects
    kind, values, mask = found
    array = np.frombuffer(values, dtype=kind)
    if mask is None:
        return array
    nulls = np.frombuffer(mask, dtype=bool)
    if kind.startswith(("datetime64", "timedelta64")):
        return np.where(nulls, np.array("NaT", dtype=kind), array)
    if "int" in kind:
        beyond = (array > _EXACT) | (array < -_EXACT) if kind == "int64" else array > _EXACT
        if (beyond & ~nulls).any():
            raise ValueError(
                f"the column {column.name!r} has nulls, and integers that floating-point numbers cannot represent; "
                "to_pylist() and to_pyarrow() keep them"
            )
        array = array.astype("float64")
    return np.where(nulls, np.array("NaN", dtype=array.dtype), array)
