"""The errors of `herringbone.pyarrow`, and the checks of its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from . import _core


class Unsupported(NotImplementedError):
    """A call with an argument that only pyarrow itself supports. `keyword` is its name."""

    def __init__(self, function: str, keyword: str, value: Any) -> None:
        super().__init__(f"herringbone.pyarrow.{function} does not support {keyword}={value!r}")
        self.function = function
        self.keyword = keyword
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.keyword, self.value)


class ParquetError(_core.ParquetError, pa.ArrowInvalid, OSError):  # type: ignore[misc]
    """The errors of `herringbone`, which ``except`` clauses for pyarrow's errors also catch.

    For a damaged file, pyarrow raises `ArrowInvalid` or `OSError`.
    """


_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class")


def _raising(function: _Function) -> _Function:
    """Return a function that raises our errors as errors of pyarrow."""

    @functools.wraps(function)
    def raising(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except _core.ParquetError as error:
            if isinstance(error, ParquetError):
                raise
            text = str(error)
            if error.option == "keys=":
                text = "could not read encrypted metadata, because no decryption_properties= were given"
            raised = ParquetError(text)
            raised.__dict__.update(error.__dict__)
            raise raised.with_traceback(error.__traceback__) from None

    return raising  # type: ignore[return-value]


def _class_raising(kind: type[_Class]) -> type[_Class]:
    """Let the methods of a class raise our errors as errors of pyarrow."""
    for name, function in list(vars(kind).items()):
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, _raising(function))
    return kind


def _only(function: str, **checks: tuple[Any, tuple[Any, ...]]) -> None:
    """Fail if an argument has a value that is not among those supported."""
    for keyword, (value, supported) in checks.items():
        if not any(value is one or (type(value) is type(one) and value == one) for one in supported):
            raise Unsupported(function, keyword, value)


def _keys(function: str, keyword: str, properties: Any) -> Any:
    """Return keys as a dict. The classes of pyarrow keep theirs to themselves."""
    if properties is not None and not isinstance(properties, Mapping):
        raise Unsupported(function, keyword, properties)
    return properties


# They are public there.
for _one in (Unsupported, ParquetError):
    _one.__module__ = "herringbone.pyarrow"
