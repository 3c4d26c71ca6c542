"""Partition columns: what `partitioning=` may be, and the values in the paths of files."""

from __future__ import annotations

from typing import Any, NamedTuple

#: The name of hive's directory for nulls.
_NULL = "__HIVE_DEFAULT_PARTITION__"
#: The names and texts of the values in a path. None is null.
Keys = tuple[tuple[str, str | None], ...]


class Partitioning(NamedTuple):
    """The way in which paths of files contain values."""

    #: The names of the columns, if the names of directories are values alone. None for names such as year=2026.
    names: list[str] | None = None
    #: An Arrow schema with the types of the columns, if they are given.
    types: Any = None
    #: True if pyarrow reads the columns as dictionaries.
    is_dictionary: bool = False


def parse(partitioning: Any) -> Partitioning | None:
    """Return the partitioning of an argument: None, 'hive', names of columns, or an object of pyarrow."""
    if partitioning is None or isinstance(partitioning, Partitioning):
        return partitioning
    if isinstance(partitioning, str) and partitioning == "hive":
        return Partitioning(is_dictionary=True)
    if isinstance(partitioning, (list, tuple)) and all(isinstance(name, str) for name in partitioning):
        return Partitioning(names=list(partitioning))
    found = _of_pyarrow(partitioning)
    if found is None:
        raise NotImplementedError(
            f"partitioning={partitioning!r}: None, 'hive', a list of names, and pyarrow's hive and directory "
            "partitionings with the default encoding and name for null are supported"
        )
    return found


def _of_pyarrow(partitioning: Any) -> Partitioning | None:
    """Return the partitioning of an object of pyarrow, or None if it is another one."""
    kind = type(partitioning)
    if not kind.__module__.startswith("pyarrow."):
        return None
    name = getattr(partitioning, "type_name", None) or kind.__name__
    # What pyarrow pickles is all that these objects have.
    match name, *partitioning.__reduce__()[1]:
        case "DirectoryPartitioning", schema, _, "uri":
            return Partitioning(names=schema.names, types=schema)
        case "HivePartitioning", schema, _, null, "uri" if null == _NULL:
            return Partitioning(types=schema)
        case "directory", names, is_dictionary, _, schema, "uri":
            names = list(names) if names else schema.names
            return Partitioning(names=names, types=schema, is_dictionary=is_dictionary)
        case "hive", is_dictionary, _, null, schema, "uri" if null == _NULL:
            return Partitioning(types=schema, is_dictionary=is_dictionary)
    return None
