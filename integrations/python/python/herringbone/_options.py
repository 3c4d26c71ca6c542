"""The types of options, for type checkers and editors. Written by options.py: change `_keywords.py`, and run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from ._core import FileMetaData


class FileOptions(TypedDict, total=False):
    """The options with which a file is opened."""

    read_dictionary: Sequence[str] | None
    """Columns of text that are read as dictionaries. Default: None."""

    binary_type: Any
    """The type of binary columns: 'binary', 'large_binary' or 'binary_view'. Default: None."""

    list_type: Any
    """The type of lists: 'list', 'large_list' or 'list_view'. Default: None."""

    buffer_size: int
    """Has no effect, and exists for callers of pyarrow. Default: 0."""

    pre_buffer: bool
    """Has no effect, and exists for callers of pyarrow. Default: True."""

    coerce_int96_timestamp_unit: Literal['s', 'ms', 'us', 'ns'] | None
    """The unit of INT96 timestamps: 's', 'ms', 'us' or 'ns'. Default: None."""

    thrift_string_size_limit: int | None
    """The longest text in the footer, in bytes. Default: None."""

    thrift_container_size_limit: int | None
    """The largest number of row groups and of columns. Default: None."""

    schema_depth_limit: int | None
    """The deepest nesting of columns. Default: None."""

    page_checksum_verification: bool
    """Compares the checksums of pages with their data. Default: False."""

    arrow_extensions_enabled: bool
    """Must be True; `ignore_annotations` reads columns as stored. Default: True."""

    keys: Mapping[str, Any] | None
    """The keys of an encrypted file: {'footer': b'…', 'columns': {'salary': b'…'}}. Default: None."""

    limits: Mapping[str, int] | None
    """Bounds for hostile files by name, such as {'memory_bytes': 1 << 30}. Default: None."""

    on_error: Literal['fail', 'null_page', 'skip_row_group']
    """The treatment of damage: 'fail', 'null_page' or 'skip_row_group'. Default: 'fail'."""

    int96_overflow: str | None
    """The treatment of INT96 timestamps that the unit cannot represent. Default: None."""

    ignore_arrow_schema: bool
    """Reads without the Arrow schema in the file's metadata. Default: False."""

    arrow_schema: Any
    """An Arrow schema that is used instead of the one in the file's metadata. Default: None."""

    ignore_annotations: Sequence[str]
    """Columns that are read as their physical type. Default: ()."""


class FooterOptions(TypedDict, total=False):
    """The metadata that a caller of a single file has already."""

    metadata: FileMetaData | None
    """The metadata of the file, if they were read before. Default: None."""

    common_metadata: FileMetaData | None
    """Is kept as an attribute. Default: None."""


class RowOptions(TypedDict, total=False):
    """The options for the rows of a read."""

    offset: int | None
    """The number of rows to leave out, after the filter. Default: None."""

    limit: int | None
    """The largest number of rows, after the filter. Default: None."""

    wanted_schema: Any
    """A schema of yours: missing columns are null, and values are cast if none is lost. Default: None."""

    match_fields: Literal['name', 'name_ignoring_case', 'position', 'field_id'] | None
    """How its columns are found: 'name', 'name_ignoring_case', 'position' or 'field_id'. Default: None."""

    row_numbers: str | None
    """The name of a column for the numbers of rows. Default: None."""

    deleted_rows: Any
    """Numbers of rows to leave out, such as those of a deletion vector. Default: None."""

    variants: Mapping[str, Any] | None
    """Columns from paths of VARIANT: {'new': ('column', '$.path', 'int64')}. Default: None."""


class ReadOptions(RowOptions, total=False):
    """The options of `ParquetFile.read`."""

    row_groups: Sequence[int] | None
    """The numbers of the row groups to read. Default: None."""

    batch_size: int | None
    """The largest number of rows in a batch. Default: None."""


class OpenOptions(FileOptions, FooterOptions, total=False):
    """The options of functions that open one file."""


class SourceOptions(OpenOptions, total=False):
    """All options with which one file is opened."""

    memory_map: bool
    """Has no effect, and exists for callers of pyarrow. Default: False."""


class FilesOptions(FileOptions, total=False):
    """The options with which several files are opened."""

    memory_map: bool
    """Has no effect, and exists for callers of pyarrow. Default: False."""


class TableOptions(SourceOptions, ReadOptions, total=False):
    """The options of `read_table`."""


class PandasOptions(TableOptions, total=False):
    """The options of `read_pandas`."""

    filesystem: Any
    """An object of fsspec or pyarrow, in which the path is. Default: None."""

    storage_options: Mapping[str, Any] | None
    """Settings of the store of a URL, such as {'anon': True}. Default: None."""

    schema: Any
    """The Arrow schema of the table; 'union' is that of all files. Default: None."""

    filters: Any
    """The rows to read: conditions, a list of (column, operation, value), SQL, or an expression of pyarrow. Default: None."""

    partitioning: Any
    """The meaning of directories: 'hive', names of columns, or None. Default: 'hive'."""

    use_threads: bool
    """False reads on the calling thread. Default: True."""


class ScanOptions(FilesOptions, total=False):
    """The options of `scan_polars`."""

    filesystem: Any
    """An object of fsspec or pyarrow, in which the path is. Default: None."""

    storage_options: Mapping[str, Any] | None
    """Settings of the store of a URL, such as {'anon': True}. Default: None."""

    schema: Any
    """The Arrow schema of the table; 'union' is that of all files. Default: None."""

    filters: Any
    """The rows to read: conditions, a list of (column, operation, value), SQL, or an expression of pyarrow. Default: None."""

    partitioning: Any
    """The meaning of directories: 'hive', names of columns, or None. Default: 'hive'."""


class WriteOptions(TypedDict, total=False):
    """The options of writing."""

    compression: str | Mapping[str, str | None] | None
    """Codec of pages, with a level as in `zstd:9`. The default is zstd:1. Default: None."""

    encoding: Literal['plain', 'rle', 'delta_binary_packed', 'delta_length_byte_array', 'delta_byte_array', 'byte_stream_split', 'alp'] | Mapping[str, Literal['plain', 'rle', 'delta_binary_packed', 'delta_length_byte_array', 'delta_byte_array', 'byte_stream_split', 'alp']] | None
    """Encoding of values outside dictionaries. The default is chosen from a sample of the values. Default: None."""

    dictionary: bool | Mapping[str, bool] | None
    """Use a dictionary as long as it saves bytes. The default is chosen from a sample of the values, but off if an encoding is given. Default: None."""

    dictionary_bytes: int | str | Mapping[str, int | str] | None
    """Maximum size of a dictionary. The default is 1MiB. Default: None."""

    statistics: Literal['none', 'counts', 'chunk', 'page'] | Mapping[str, Literal['none', 'counts', 'chunk', 'page']] | None
    """Statistics to write: `none`, `counts` (nulls only), `chunk` (plus min/max by row group), `page` (plus min/max by page). The default is page. Default: None."""

    distinct_counts: bool | Mapping[str, bool] | None
    """Write the numbers of distinct values of column chunks whose values are all in a dictionary. The default is on. Default: None."""

    truncate_bounds: int | Mapping[str, int] | None
    """Maximum number of bytes of strings and binary values in statistics. The default is 64. Default: None."""

    bloom_filter: float | str | Mapping[str, float | str] | None
    """Bloom filter with this share of false positives. The default is none. Default: None."""

    page_bytes: int | str | Mapping[str, int | str] | None
    """Approximate size of the values per page. The default is 1MiB. Default: None."""

    page_rows: int | Mapping[str, int] | None
    """Maximum number of rows per page. The default is 32768. Default: None."""

    row_group_rows: int | None
    """Maximum number of rows per row group. The default is 1048576. Default: None."""

    row_group_bytes: int | str | None
    """Approximate size of a row group in the file. The default is 128MiB. Default: None."""

    content_defined_chunking: bool | str | None
    """End pages by their content, so that an insertion changes few pages: `on`, or the sizes before encoding between which pages end, as in `256KiB..1MiB`, which is that of `on`. Rows and bytes of a page limit it only if given. The default is off. Default: None."""

    data_page_version: Literal['1', '2'] | None
    """Version of data pages. The default is that of the compatibility. Default: None."""

    compatibility: Literal['widest', 'modern', 'newest'] | None
    """Readers that must be able to read the file: `widest` (every reader of the last ten years), `modern` (smaller files, for readers of the last two years), `newest` (all features of the format, including ALP, for readers known to support them). The default is widest. Default: None."""

    prefer: Literal['size', 'balanced', 'read_speed'] | None
    """Choose encodings for small files (`size`), fast reading (`read_speed`) or both (`balanced`). If given, pages that would hardly shrink stay uncompressed, even with a codec. The default is balanced. Default: None."""

    format_version: Literal['1', '2'] | None
    """Version of the format that the footer declares; readers ignore it. The default is 1. Default: None."""

    page_index: bool | None
    """Write offset and column indexes. The default is on. Default: None."""

    crc: bool | None
    """Write checksums of pages. The default is on. Default: None."""

    memory_bytes: int | str | None
    """Memory that the writer may reserve before it ends a row group early. The default is 512MiB. Default: None."""

    allow_out_of_range: bool | None
    """Write invalid values unchanged: decimals with too many digits, and times of day outside a day. The default is off. Default: None."""

    created_by: str | None
    """Program that writes the file. The default is the name and version of the library. Default: None."""

    threads: int | None
    """Number of threads that encode; 0 means one per core. The default is 0. Default: None."""

    int96_timestamps: bool | None
    """Write timestamps of nanoseconds as INT96, which is deprecated. The default is off. Default: None."""

    times_adjusted_to_utc: bool | None
    """Declare times of day as times of UTC. The default is off. Default: None."""

    decimals_as_fixed: bool | None
    """Write decimals of up to 18 digits as FIXED_LEN_BYTE_ARRAY too, instead of INT32 and INT64. The default is off. Default: None."""

    empty_structs: Literal['error', 'unknown_leaf'] | None
    """Treatment of a struct without fields, for which Parquet has no form: `error`, or `unknown_leaf`, which is a field of nulls. The default is error. Default: None."""

    arrow_schema_hint: Literal['needed', 'all', 'none'] | None
    """Condition for writing the Arrow schema to the file. The default is needed. Default: None."""

    version: Literal['2.4', '2.6']
    """The version of the format: '2.4' or '2.6'. Default: '2.6'."""

    use_dictionary: bool | Sequence[str] | None
    """True, False, or the columns with dictionaries. Default: None."""

    compression_level: int | Mapping[str, int] | None
    """The level of the codec. Default: None."""

    write_statistics: bool | Sequence[str]
    """True, False, or the columns with statistics. Default: True."""

    use_byte_stream_split: bool | Sequence[str]
    """True, or the columns with this encoding. Default: False."""

    column_encoding: str | Mapping[str, str] | None
    """`encoding`, with the name of pyarrow. Default: None."""

    use_compliant_nested_type: bool
    """Must be True: lists have the form of the specification. Default: True."""

    use_content_defined_chunking: bool | Mapping[str, int]
    """`content_defined_chunking`; sizes are a dict. Default: False."""

    store_schema: bool | None
    """Stores the Arrow schema: always, never, or if it is needed. Default: None."""

    write_page_index: bool | None
    """`page_index`, with the name of pyarrow. Default: True."""

    write_page_checksum: bool | None
    """`crc`, with the name of pyarrow. Default: None."""

    data_page_size: int | None
    """`page_bytes`, with the name of pyarrow. Default: None."""

    max_rows_per_page: int | None
    """`page_rows`, with the name of pyarrow. Default: None."""

    dictionary_pagesize_limit: int | None
    """`dictionary_bytes`, with the name of pyarrow. Default: None."""

    use_deprecated_int96_timestamps: bool | None
    """`int96_timestamps`, with the name of pyarrow. Default: None."""

    write_time_adjusted_to_utc: bool | None
    """`times_adjusted_to_utc`, with the name of pyarrow. Default: None."""

    store_decimal_as_integer: bool
    """False is `decimals_as_fixed`. Default: True."""

    sorting_columns: Sequence[Any] | None
    """The order that the rows have already, as `SortingColumn`s. Default: None."""

    bloom_filter_options: Mapping[str, Any] | None
    """`bloom_filter`, as dicts of `ndv` and `fpp` by column. Default: None."""

    use_threads: bool
    """False encodes on the calling thread. Default: True."""

    keys: Mapping[str, Any] | None
    """Encrypts the file: {'footer': b'…', 'columns': {'salary': b'…'}}. Default: None."""

    sort_by: Sequence[Any] | None
    """Sorts the rows by names, or pairs of a name and 'ascending' or 'descending'. Default: None."""

    key_value_metadata: Mapping[Any, Any] | None
    """Pairs for the metadata of the file. Default: None."""


class PyarrowOptions(TypedDict, total=False):
    """The options of writing in `herringbone.pyarrow`."""

    version: Literal['1.0', '2.4', '2.6']
    """The version of the format: '2.4' or '2.6'. Default: '2.6'."""

    use_dictionary: bool | Sequence[str] | None
    """True, False, or the columns with dictionaries. Default: True."""

    compression: str | Mapping[str, str | None] | None
    """The codec of pages, or those of columns. Default: 'snappy'."""

    write_statistics: bool | Sequence[str]
    """True, False, or the columns with statistics. Default: True."""

    use_deprecated_int96_timestamps: bool | None
    """`int96_timestamps`, with the name of pyarrow. Default: None."""

    coerce_timestamps: Literal['ms', 'us'] | None
    """The unit that timestamps are cast to. Default: None."""

    allow_truncated_timestamps: bool
    """Allows this cast to lose digits. Default: False."""

    data_page_size: int | None
    """`page_bytes`, with the name of pyarrow. Default: None."""

    compression_level: int | Mapping[str, int] | None
    """The level of the codec. Default: None."""

    use_byte_stream_split: bool | Sequence[str]
    """True, or the columns with this encoding. Default: False."""

    column_encoding: str | Mapping[str, str] | None
    """`encoding`, with the name of pyarrow. Default: None."""

    data_page_version: Literal['1.0', '2.0']
    """The version of data pages. Default: '1.0'."""

    use_compliant_nested_type: bool
    """Must be True: lists have the form of the specification. Default: True."""

    encryption_properties: Any
    """The keys of an encrypted file, as a dict or an object of pyarrow. Default: None."""

    write_batch_size: int | None
    """Has no effect. Default: None."""

    dictionary_pagesize_limit: int | None
    """`dictionary_bytes`, with the name of pyarrow. Default: None."""

    store_schema: bool | None
    """Stores the Arrow schema: always, never, or if it is needed. Default: True."""

    write_page_index: bool | None
    """`page_index`, with the name of pyarrow. Default: False."""

    write_page_checksum: bool | None
    """`crc`, with the name of pyarrow. Default: False."""

    sorting_columns: Sequence[Any] | None
    """The order that the rows have already, as `SortingColumn`s. Default: None."""

    store_decimal_as_integer: bool
    """False is `decimals_as_fixed`. Default: False."""

    write_time_adjusted_to_utc: bool | None
    """`times_adjusted_to_utc`, with the name of pyarrow. Default: False."""

    max_rows_per_page: int | None
    """`page_rows`, with the name of pyarrow. Default: None."""

    bloom_filter_options: Mapping[str, Any] | None
    """`bloom_filter`, as dicts of `ndv` and `fpp` by column. Default: None."""

    use_content_defined_chunking: bool | Mapping[str, int]
    """`content_defined_chunking`; sizes are a dict. Default: False."""

    writer_engine_version: Any
    """Has no effect. Default: None."""


class CollectingOptions(PyarrowOptions, total=False):
    """These options, and the list of metadata."""

    metadata_collector: list[Any] | None
    """A list to which the metadata of files are appended. Default: None."""
