//! Metadata, bounds and explanations as JSON, for hosts in other languages.

use std::sync::Arc;

use herringbone::filter::RowGroupExplanation;
use herringbone::format::{ColumnChunk, KeyValue};
use herringbone::pruning::ColumnBounds;
use herringbone::schema::ParquetSchema;
use herringbone::{Error, MetadataHandle, Result};
use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_interchange::write::json::Rows;
use serde_json::{Value, json};

/// Returns the metadata of a file.
///
/// # Errors
/// Fails if the metadata of a row group cannot be used.
pub fn metadata(handle: &MetadataHandle) -> Result<String> {
    let (metadata, schema) = (handle.metadata(), handle.parquet_schema());
    let mut row_groups = Vec::with_capacity(metadata.num_row_groups());
    for ordinal in 0..metadata.num_row_groups() {
        let row_group = metadata.row_group(ordinal)?;
        let chunks = row_group.columns.iter().enumerate();
        let chunks = chunks.map(|(leaf, chunk)| column_chunk(schema, leaf, chunk));
        row_groups.push(json!({
            "num_rows": row_group.num_rows,
            "total_byte_size": row_group.total_byte_size,
            "columns": chunks.collect::<Vec<_>>(),
        }));
    }
    let columns = (0..schema.leaves().len()).map(|leaf| column(schema, leaf));
    let pairs = metadata.key_value_metadata().iter().map(pair);
    let value = json!({
        "created_by": metadata.created_by(),
        "version": metadata.version(),
        "num_rows": metadata.num_rows(),
        "columns": columns.collect::<Vec<_>>(),
        "key_value_metadata": pairs.collect::<Vec<_>>(),
        "row_groups": row_groups,
    });
    Ok(value.to_string())
}

fn column(schema: &ParquetSchema, leaf: usize) -> Value {
    let element = schema.element(leaf);
    json!({
        "path": schema.path(leaf),
        "physical_type": element.type_.map(|kind| kind.to_string()),
        "type_length": element.type_length,
        "logical_type": element.logical_type.as_ref().map(ToString::to_string),
        "field_id": element.field_id,
    })
}

fn column_chunk(schema: &ParquetSchema, leaf: usize, chunk: &ColumnChunk) -> Value {
    let Some(metadata) = &chunk.meta_data else {
        return json!({ "is_encrypted": true });
    };
    let statistics = metadata.statistics.as_ref();
    let encodings = metadata.encodings.iter().map(ToString::to_string);
    json!({
        "path": schema.column_path(leaf),
        "compression": metadata.codec.to_string(),
        "encodings": encodings.collect::<Vec<_>>(),
        "num_values": metadata.num_values,
        "null_count": statistics.and_then(|statistics| statistics.null_count),
        "compressed_bytes": metadata.total_compressed_size,
        "uncompressed_bytes": metadata.total_uncompressed_size,
        "data_page_offset": metadata.data_page_offset,
        "dictionary_page_offset": metadata.dictionary_page_offset,
        "bloom_filter_offset": metadata.bloom_filter_offset,
        "has_page_index": chunk.offset_index_offset.is_some(),
    })
}

/// Returns a pair of metadata. A value that is not text is an array of bytes.
fn pair(pair: &KeyValue) -> Value {
    let value = match (pair.text(), &pair.value) {
        (Some(text), _) => json!(text),
        (None, bytes) => json!(bytes),
    };
    json!({ "key": pair.key, "value": value })
}

/// Returns bounds and counts as an array with an object for each page or row group, or `null` if
/// there are none.
///
/// # Errors
/// Fails if a bound has no form in JSON.
pub fn bounds(bounds: Option<&ColumnBounds>) -> Result<String> {
    let Some(bounds) = bounds else {
        return Ok("null".to_owned());
    };
    let columns: [(&str, ArrayRef); 8] = [
        ("min", bounds.min.clone()),
        ("max", bounds.max.clone()),
        ("is_min_exact", Arc::new(bounds.is_min_exact.clone())),
        ("is_max_exact", Arc::new(bounds.is_max_exact.clone())),
        ("null_count", Arc::new(bounds.null_counts.clone())),
        ("nan_count", Arc::new(bounds.nan_counts.clone())),
        ("distinct_count", Arc::new(bounds.distinct_counts.clone())),
        ("row_count", Arc::new(bounds.row_counts.clone())),
    ];
    let columns = columns.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let mut text = Vec::new();
    let failed = |error: herringbone_interchange::Error| Error::unsupported(error.to_string());
    let mut rows = Rows::array(&mut text).map_err(failed)?;
    rows.write(&batch, &mut text).map_err(failed)?;
    rows.finish(&mut text).map_err(failed)?;
    String::from_utf8(text).map_err(|error| Error::unsupported(error.to_string()))
}

/// Returns an explanation of a file, with an object for each row group.
pub fn explanation(row_groups: &[RowGroupExplanation]) -> String {
    let row_groups = row_groups.iter().map(|row_group| {
        let steps = row_group.steps.iter().map(|step| {
            json!({
                "step": format!("{:?}", step.step),
                "ruled_out": step.ruled_out,
                "accepted": step.accepted,
                "bytes": step.bytes,
            })
        });
        json!({
            "row_group": row_group.row_group,
            "rows": row_group.rows,
            "steps": steps.collect::<Vec<_>>(),
            "rows_to_test": row_group.undecided(),
            "wanted_bytes": row_group.wanted_bytes,
            "fetched_bytes": row_group.fetched.bytes,
            "requests": row_group.fetched.requests,
        })
    });
    Value::Array(row_groups.collect()).to_string()
}
