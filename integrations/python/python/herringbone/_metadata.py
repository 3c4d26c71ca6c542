"""Metadata in bytes such as pickles. The Arrow schemas of Rust and of other libraries have text alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_bytes(data: Any) -> tuple[Any, list[tuple[str, bytes]]]:
    """Return an object of pyarrow whose metadata are text, and the other pairs of its schema."""
    import pyarrow as pa

    schema = getattr(data, "schema", data)
    if not isinstance(schema, pa.Schema):
        return data, []
    check_fields(schema)
    metadata = schema.metadata or {}
    others = [(key, value) for key, value in _with_text_keys(metadata) if not _is_text(value)]
    if not others:
        return data, []
    text = {key: value for key, value in metadata.items() if _is_text(value)}
    if isinstance(data, pa.RecordBatchReader):
        return pa.RecordBatchReader.from_batches(schema.with_metadata(text), data), others
    if isinstance(data, pa.Schema):
        return data.with_metadata(text), others
    return data.replace_schema_metadata(text), others


def check_fields(schema: Any) -> None:
    """Fail if the metadata of a field are not text."""
    for field in schema:
        _check(field, field.name)


def _check(field: Any, path: str) -> None:
    for key, value in (field.metadata or {}).items():
        if not _is_text(key) or not _is_text(value):
            raise ValueError(
                f"the metadata of the field {path!r} have {key!r}: {value[:20]!r}, which is not UTF-8; store such bytes in "
                "the metadata of the schema, or as text"
            )
    kind = field.type
    for at in range(kind.num_fields):
        _check(kind.field(at), f"{path}.{kind.field(at).name}")


def _with_text_keys(metadata: Mapping[bytes, bytes]) -> list[tuple[str, bytes]]:
    for key in metadata:
        if not _is_text(key):
            raise ValueError(f"the metadata have the key {key!r}, which is not UTF-8; only values may be other bytes")
    return [(key.decode(), value) for key, value in metadata.items()]


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
