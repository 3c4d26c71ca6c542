"""What stands in for the functions and classes of `pyarrow.parquet`, and the calls that go to pyarrow's own."""

from __future__ import annotations

import contextvars
import functools
import inspect
import warnings
from typing import Any

from ._core import (
    ColumnChunkMetaData,
    ColumnSchema,
    FileMetaData,
    ParquetLogicalType,
    ParquetSchema,
    RowGroupMetaData,
    Statistics,
)
from ._pyarrow_errors import Unsupported

#: The classes of metadata, for `isinstance`.
_CLASSES: dict[str, type] = {
    "ColumnChunkMetaData": ColumnChunkMetaData,
    "ColumnSchema": ColumnSchema,
    "FileMetaData": FileMetaData,
    "ParquetLogicalType": ParquetLogicalType,
    "ParquetSchema": ParquetSchema,
    "RowGroupMetaData": RowGroupMetaData,
    "Statistics": Statistics,
}
_originals: dict[str, Any] = {}
_passed_on: dict[tuple[str, str], int] = {}


def passed_on() -> dict[tuple[str, str], int]:
    """Return the number of calls that went to pyarrow's own functions, by function and keyword."""
    return dict(_passed_on)


#: True while a function of pyarrow's own runs, which calls others of them.
_is_passed_on = contextvars.ContextVar("_is_passed_on", default=False)


def _call(name: str, ours: Any, original: Any, arguments: Any, keywords: Any) -> Any:
    """Call our function, or pyarrow's own if ours does not support the arguments."""
    if not _is_passed_on.get():
        try:
            return ours(*arguments, **keywords)
        except Unsupported as error:
            _note(error, name)
    token = _is_passed_on.set(True)
    try:
        return original(*arguments, **keywords)
    finally:
        _is_passed_on.reset(token)


def _note(error: Unsupported, name: str) -> None:
    key = (name, error.keyword)
    if key not in _passed_on:
        warnings.warn(f"{error}; pyarrow's own function is called", stacklevel=5)
    _passed_on[key] = _passed_on.get(key, 0) + 1


def _in_place(name: str, ours: Any, original: Any) -> Any:
    """Return what stands in for a function or a class of pyarrow."""
    if inspect.isclass(ours):
        # The classes of metadata are final, and are not made by calls.
        bases = () if name in _CLASSES else (ours,)
        ours = original if name in _CLASSES else ours
        both = (_CLASSES.get(name, ours), original)
        return _Standing(
            name, bases, {"_ours": ours, "_original": original, "_both": both, "__module__": __name__}
        )

    @functools.wraps(original)
    def function(*arguments: Any, **keywords: Any) -> Any:
        return _call(name, ours, original, arguments, keywords)

    return function


class _Standing(type):
    """A class of ours in the place of one of pyarrow, which makes pyarrow's objects for unsupported arguments."""

    _ours: Any
    _original: Any
    _both: tuple[type, type]

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if "_original" not in vars(cls):
            # A subclass of the caller.
            return super().__call__(*arguments, **keywords)
        return _call(cls.__name__, cls._ours, cls._original, arguments, keywords)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._both)


class _PassingOn:
    """A class that takes its other attributes from pyarrow's own object, which `install` allows us to make."""

    _arguments: tuple[Any, ...]
    _keywords: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_keywords" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if type(self).__name__ not in _originals:
            raise AttributeError(
                f"herringbone.pyarrow.{type(self).__name__} does not have the attribute {name!r}; after install(), it is "
                "that of pyarrow's own object"
            )
        found = getattr(self._theirs, name)
        _note(Unsupported(type(self).__name__, name, "attribute"), type(self).__name__)
        return found

    @functools.cached_property
    def _theirs(self) -> Any:
        """The object that pyarrow makes of the same arguments."""
        return _originals[type(self).__name__](*self._arguments, **self._keywords)
