//! Computes the minimum size of rows due to their types.
//!
//! In a fixed-size type, a null takes as many bytes as any value, but none in the text. So with a
//! given type, a short text could cause rows of any size. We shrink batches to compensate.

use herringbone::Limits;
use herringbone_arrow::schema::{DataType, Schema};

use super::{BATCH_BYTES, BATCH_ROWS};

/// The approximate byte count of a slot of any other type.
const SLOT: u64 = 8;

/// Returns the maximum number of rows per batch, keeping their minimum size within [`BATCH_BYTES`]
/// if possible. The result is at least one.
///
/// # Errors
/// Fails if a null in some column is larger than the limit `batch_column_bytes`.
pub(super) fn batch_rows(schema: &Schema, limits: &Limits) -> Result<usize, String> {
    let mut row = 0_u64;
    for field in schema.fields() {
        let bytes = slot_bytes(field.data_type());
        let most = limits.batch_column_bytes as u64;
        if bytes > most {
            return Err(format!(
                "column `{}`: each row of {} needs {bytes} bytes, more than the limit \
                 `batch_column_bytes` of {most}; raise it with --max batch_column_bytes=N",
                field.name(),
                field.data_type()
            ));
        }
        row = row.saturating_add(bytes);
    }
    let rows = BATCH_BYTES as u64 / row.max(1);
    Ok(usize::try_from(rows)
        .unwrap_or(BATCH_ROWS)
        .clamp(1, BATCH_ROWS))
}

/// Returns the byte count of a null.
pub(super) fn slot_bytes(data_type: &DataType) -> u64 {
    let size = |size: &i32| u64::try_from(*size).unwrap_or(0);
    match data_type {
        DataType::FixedSizeBinary(length) => size(length),
        DataType::FixedSizeList(item, length) => {
            size(length).saturating_mul(slot_bytes(item.data_type()))
        }
        DataType::Struct(fields) => fields
            .iter()
            .map(|field| slot_bytes(field.data_type()))
            .fold(SLOT, u64::saturating_add),
        _ => SLOT,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::schema::Field;

    use super::*;

    fn rows(types: &[DataType]) -> Result<usize, String> {
        let field = |data_type: &DataType| Field::new("c", data_type.clone(), true);
        let fields: Vec<Field> = types.iter().map(field).collect();
        batch_rows(&Schema::new(fields), &Limits::default())
    }

    #[test]
    fn wide_rows_make_small_batches() {
        let list =
            |item, length| DataType::FixedSizeList(Arc::new(Field::new("i", item, true)), length);
        assert_eq!(rows(&[]), Ok(8192));
        assert_eq!(rows(&[DataType::Int64, DataType::Utf8]), Ok(8192));
        // These make 16 MiB, in rows of one MiB, of 1024 doubles, and of both.
        assert_eq!(rows(&[DataType::FixedSizeBinary(1 << 20)]), Ok(16));
        assert_eq!(rows(&[list(DataType::Float64, 1024)]), Ok(2048));
        let wide = [
            DataType::FixedSizeBinary(1 << 20),
            list(DataType::Float64, 1024),
        ];
        assert_eq!(rows(&wide), Ok(15));
        assert_eq!(rows(&[DataType::FixedSizeBinary(1 << 30)]), Ok(1));
        for data_type in [
            DataType::FixedSizeBinary(i32::MAX),
            list(DataType::Null, i32::MAX),
            list(list(DataType::Int8, i32::MAX), i32::MAX),
            DataType::Struct(
                vec![Field::new("f", DataType::FixedSizeBinary(i32::MAX), true)].into(),
            ),
        ] {
            let error = rows(&[data_type]).unwrap_err();
            assert!(error.contains("--max batch_column_bytes=N"), "{error}");
        }
    }
}
