"""The table of options: name, type, default and purpose of each, for signatures, documentation and errors.

`options.py`, next to the package, writes the types of this table to `_options.py`, which type checkers read.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from . import _core

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Keyword(NamedTuple):
    """An option: its name, its type as an annotation, its default, and its purpose."""

    name: str
    kind: str
    default: Any
    help: str


_DICT = "Mapping[str, {0}]"
_SIZE = "int | str"

#: The options with which a file is opened.
FILE = (
    Keyword("read_dictionary", "Sequence[str] | None", None, "Columns of text that are read as dictionaries."),
    Keyword("binary_type", "Any", None, "The type of binary columns: 'binary', 'large_binary' or 'binary_view'."),
    Keyword("list_type", "Any", None, "The type of lists: 'list', 'large_list' or 'list_view'."),
    Keyword("buffer_size", "int", 0, "Has no effect, and exists for callers of pyarrow."),
    Keyword("pre_buffer", "bool", True, "Has no effect, and exists for callers of pyarrow."),
    Keyword("coerce_int96_timestamp_unit", "Literal['s', 'ms', 'us', 'ns'] | None", None, "The unit of INT96 timestamps: 's', 'ms', 'us' or 'ns'."),
    Keyword("thrift_string_size_limit", "int | None", None, "The longest text in the footer, in bytes."),
    Keyword("thrift_container_size_limit", "int | None", None, "The largest number of row groups and of columns."),
    Keyword("schema_depth_limit", "int | None", None, "The deepest nesting of columns."),
    Keyword("page_checksum_verification", "bool", False, "Compares the checksums of pages with their data."),
    Keyword("arrow_extensions_enabled", "bool", True, "Must be True; `ignore_annotations` reads columns as stored."),
    Keyword("keys", "Mapping[str, Any] | None", None, "The keys of an encrypted file: {'footer': b'…', 'columns': {'salary': b'…'}}."),
    Keyword("limits", "Mapping[str, int] | None", None, "Bounds for hostile files by name, such as {'memory_bytes': 1 << 30}."),
    Keyword("on_error", "Literal['fail', 'null_page', 'skip_row_group']", "fail", "The treatment of damage: 'fail', 'null_page' or 'skip_row_group'."),
    Keyword("int96_overflow", "str | None", None, "The treatment of INT96 timestamps that the unit cannot represent."),
    Keyword("ignore_arrow_schema", "bool", False, "Reads without the Arrow schema in the file's metadata."),
    Keyword("arrow_schema", "Any", None, "An Arrow schema that is used instead of the one in the file's metadata."),
    Keyword("ignore_annotations", "Sequence[str]", (), "Columns that are read as their physical type."),
)

#: An option of opening that some functions have before the others.
MEMORY_MAP = (Keyword("memory_map", "bool", False, "Has no effect, and exists for callers of pyarrow."),)

#: The metadata that a caller of a single file has already.
FOOTER = (
    Keyword("metadata", "FileMetaData | None", None, "The metadata of the file, if they were read before."),
    Keyword("common_metadata", "FileMetaData | None", None, "Is kept as an attribute."),
)

#: The options for the rows of a read.
ROWS = (
    Keyword("offset", "int | None", None, "The number of rows to leave out, after the filter."),
    Keyword("limit", "int | None", None, "The largest number of rows, after the filter."),
    Keyword("wanted_schema", "Any", None, "A schema of yours: missing columns are null, and values are cast if none is lost."),
    Keyword("match_fields", "Literal['name', 'name_ignoring_case', 'position', 'field_id'] | None", None, "How its columns are found: 'name', 'name_ignoring_case', 'position' or 'field_id'."),
    Keyword("row_numbers", "str | None", None, "The name of a column for the numbers of rows."),
    Keyword("deleted_rows", "Any", None, "Numbers of rows to leave out, such as those of a deletion vector."),
    Keyword("variants", "Mapping[str, Any] | None", None, "Columns from paths of VARIANT: {'new': ('column', '$.path', 'int64')}."),
)

#: The parts of a file that are read.
PARTS = (
    Keyword("row_groups", "Sequence[int] | None", None, "The numbers of the row groups to read."),
    Keyword("batch_size", "int | None", None, "The largest number of rows in a batch."),
)

#: The place of a source.
PLACE = (
    Keyword("filesystem", "Any", None, "An object of fsspec or pyarrow, in which the path is."),
    Keyword("storage_options", "Mapping[str, Any] | None", None, "Settings of the store of a URL, such as {'anon': True}."),
)

#: The options of several files.
DATASET = (
    Keyword("schema", "Any", None, "The Arrow schema of the table; 'union' is that of all files."),
    Keyword("filters", "Any", None, "The rows to read: conditions, a list of (column, operation, value), SQL, or an expression of pyarrow."),
    Keyword("partitioning", "Any", "hive", "The meaning of directories: 'hive', names of columns, or None."),
)

#: The threads of a read.
THREADS = (Keyword("use_threads", "bool", True, "False reads on the calling thread."),)

#: The options of writing that the library has by another name, or in another form.
PYARROW_FORMS = (
    Keyword("version", "Literal['2.4', '2.6']", "2.6", "The version of the format: '2.4' or '2.6'."),
    Keyword("use_dictionary", "bool | Sequence[str] | None", None, "True, False, or the columns with dictionaries."),
    Keyword("compression_level", "int | Mapping[str, int] | None", None, "The level of the codec."),
    Keyword("write_statistics", "bool | Sequence[str]", True, "True, False, or the columns with statistics."),
    Keyword("use_byte_stream_split", "bool | Sequence[str]", False, "True, or the columns with this encoding."),
    Keyword("column_encoding", "str | Mapping[str, str] | None", None, "`encoding`, with the name of pyarrow."),
    Keyword("use_compliant_nested_type", "bool", True, "Must be True: lists have the form of the specification."),
    Keyword("use_content_defined_chunking", "bool | Mapping[str, int]", False, "`content_defined_chunking`; sizes are a dict."),
    Keyword("store_schema", "bool | None", None, "Stores the Arrow schema: always, never, or if it is needed."),
    Keyword("write_page_index", "bool | None", True, "`page_index`, with the name of pyarrow."),
    Keyword("write_page_checksum", "bool | None", None, "`crc`, with the name of pyarrow."),
    Keyword("data_page_size", "int | None", None, "`page_bytes`, with the name of pyarrow."),
    Keyword("max_rows_per_page", "int | None", None, "`page_rows`, with the name of pyarrow."),
    Keyword("dictionary_pagesize_limit", "int | None", None, "`dictionary_bytes`, with the name of pyarrow."),
    Keyword("use_deprecated_int96_timestamps", "bool | None", None, "`int96_timestamps`, with the name of pyarrow."),
    Keyword("write_time_adjusted_to_utc", "bool | None", None, "`times_adjusted_to_utc`, with the name of pyarrow."),
    Keyword("store_decimal_as_integer", "bool", True, "False is `decimals_as_fixed`."),
    Keyword("sorting_columns", "Sequence[Any] | None", None, "The order that the rows have already, as `SortingColumn`s."),
    Keyword("bloom_filter_options", "Mapping[str, Any] | None", None, "`bloom_filter`, as dicts of `ndv` and `fpp` by column."),
    Keyword("use_threads", "bool", True, "False encodes on the calling thread."),
)

#: The options of writing that only this package has.
OWN_FORMS = (
    Keyword("keys", "Mapping[str, Any] | None", None, "Encrypts the file: {'footer': b'…', 'columns': {'salary': b'…'}}."),
    Keyword("sort_by", "Sequence[Any] | None", None, "Sorts the rows by names, or pairs of a name and 'ascending' or 'descending'."),
    Keyword("key_value_metadata", "Mapping[Any, Any] | None", None, "Pairs for the metadata of the file."),
)


def _of_library() -> Iterable[Keyword]:
    """Yield the options in the library's own table. The default of each is that of its table, in its purpose."""
    for name, of_columns, kind, choices, default, purpose in _core.write_options():
        one = {
            "switch": "bool", "count": "int", "bytes": _SIZE, "codec": "str", "sizes": "bool | str", "share": "float | str",
            "text": "str", "choice": f"Literal[{', '.join(map(repr, choices))}]",
        }[kind]
        of_column = "str | None" if kind == "codec" else one
        one = f"{one} | {_DICT.format(of_column)}" if of_columns else one
        yield Keyword(name, f"{one} | None", None, f"{' '.join(purpose.split())}. The default is {default}.")


#: The options of writing.
WRITE = (*_of_library(), *PYARROW_FORMS, *OWN_FORMS)

_FORMS = {keyword.name: keyword for keyword in PYARROW_FORMS}


def _as_in_pyarrow(name: str, default: Any) -> Keyword:
    return _FORMS[name]._replace(default=default)


#: The options of `herringbone.pyarrow` for writing, with the defaults of pyarrow.
PYARROW_WRITE = (
    _as_in_pyarrow("version", "2.6")._replace(kind="Literal['1.0', '2.4', '2.6']"),
    _as_in_pyarrow("use_dictionary", True),
    Keyword("compression", "str | Mapping[str, str | None] | None", "snappy", "The codec of pages, or those of columns."),
    _as_in_pyarrow("write_statistics", True),
    _as_in_pyarrow("use_deprecated_int96_timestamps", None),
    Keyword("coerce_timestamps", "Literal['ms', 'us'] | None", None, "The unit that timestamps are cast to."),
    Keyword("allow_truncated_timestamps", "bool", False, "Allows this cast to lose digits."),
    _as_in_pyarrow("data_page_size", None),
    _as_in_pyarrow("compression_level", None),
    _as_in_pyarrow("use_byte_stream_split", False),
    _as_in_pyarrow("column_encoding", None),
    Keyword("data_page_version", "Literal['1.0', '2.0']", "1.0", "The version of data pages."),
    _as_in_pyarrow("use_compliant_nested_type", True),
    Keyword("encryption_properties", "Any", None, "The keys of an encrypted file, as a dict or an object of pyarrow."),
    Keyword("write_batch_size", "int | None", None, "Has no effect."),
    _as_in_pyarrow("dictionary_pagesize_limit", None),
    _as_in_pyarrow("store_schema", True),
    _as_in_pyarrow("write_page_index", False),
    _as_in_pyarrow("write_page_checksum", False),
    _as_in_pyarrow("sorting_columns", None),
    _as_in_pyarrow("store_decimal_as_integer", False),
    _as_in_pyarrow("write_time_adjusted_to_utc", False),
    _as_in_pyarrow("max_rows_per_page", None),
    _as_in_pyarrow("bloom_filter_options", None),
    _as_in_pyarrow("use_content_defined_chunking", False),
    Keyword("writer_engine_version", "Any", None, "Has no effect."),
)
#: The lists that functions of pyarrow fill.
COLLECTOR = (Keyword("metadata_collector", "list[Any] | None", None, "A list to which the metadata of files are appended."),)

#: The number of rows of a row group, which functions have before the other options.
ROW_GROUP = Keyword("row_group_size", "int | None", None, "`row_group_rows`, with the name of pyarrow.")


def names(*groups: Iterable[Keyword]) -> frozenset[str]:
    """Return the names of options."""
    return frozenset(keyword.name for group in groups for keyword in group)


def defaults(keywords: Iterable[Keyword]) -> dict[str, Any]:
    """Return the defaults of options by name."""
    return {keyword.name: keyword.default for keyword in keywords}


def unknown(function: str, name: str, known: Iterable[str]) -> TypeError:
    """Return the error for an option that a function does not have, with the nearest one that it has."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, 1, 0.6)
    hint = f"; did you mean {near[0]!r}? The" if near else "; the"
    return TypeError(f"{function}() has no option {name!r}{hint} options are {', '.join(known)}")


def with_options(*groups: Iterable[Keyword], refuses: bool = True) -> Callable[[_Function], _Function]:
    """Let a function show the options that it takes in its signature and documentation, and refuse others by name.

    If it does not refuse them here, the function does.
    """
    keywords = [keyword for group in groups for keyword in group]

    def change(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        added = [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.kind)
            for one in keywords
        ]
        known = {one.name for one in (*own, *added)} - {"self"}
        shown = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*arguments: Any, **options: Any) -> Any:
            for name in options:
                if refuses and name not in known:
                    raise unknown(shown, name, known)
            return function(*arguments, **options)

        checked.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        if keywords:
            checked.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\n{_described(keywords)}"
        return checked  # type: ignore[return-value]

    return change


def _described(keywords: Iterable[Keyword]) -> str:
    """Return one line for each option."""
    lines = (f"    {one.name} ({one.kind}, {one.default!r}): {one.help}" for one in keywords)
    return "\n".join(["Options, with their types and defaults:", "", *lines])
