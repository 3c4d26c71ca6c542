//! Writes batches, reads files, and says what differs.

use std::sync::Arc;

use herringbone::{Error, ParquetFile, ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::{Array, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use crate::normal;
use crate::table::cut;

/// How many random cases a test tries: `usual`, or as many as the environment asks for by
/// `HERRINGBONE_CASES`.
pub(crate) fn num_cases(usual: u64) -> u64 {
    std::env::var("HERRINGBONE_CASES").map_or(usual, |text| text.parse().unwrap())
}

/// The file of these batches.
pub(crate) fn written(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    options: WriteOptions,
) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, schema.clone(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    let metadata = writer.finish()?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(metadata.num_rows(), rows as i64);
    Ok(out)
}

/// The values of all rows, column by column, in normal form.
pub(crate) fn lines(batches: &[RecordBatch], columns: usize) -> Vec<Vec<String>> {
    (0..columns)
        .map(|i| {
            batches
                .iter()
                .flat_map(|batch| normal::lines(batch.column(i)))
                .collect()
        })
        .collect()
}

/// What this library reads, all arrays checked.
pub(crate) fn read(
    file: &[u8],
    options: ReadOptions,
) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let mut reader = ParquetFile::from_bytes(file.to_vec())?.read(options)?;
    let schema = reader.schema();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        assert_eq!(batch.schema(), schema);
        for column in batch.columns() {
            column.to_data().validate_full().unwrap();
        }
        batches.push(batch);
    }
    Ok((schema, batches))
}

/// What differs first between the rows that were written and those that were read.
pub(crate) fn difference(
    wrote: &[RecordBatch],
    read: &[RecordBatch],
    schema: &Schema,
) -> Option<String> {
    let rows = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    if rows(wrote) != rows(read) {
        return Some(format!("{} rows, not {}", rows(read), rows(wrote)));
    }
    let columns = schema.fields().len();
    let (want, is) = (lines(wrote, columns), lines(read, columns));
    for (i, field) in schema.fields().iter().enumerate() {
        let row = is[i].iter().zip(&want[i]).position(|(a, b)| a != b);
        if let Some(row) = row {
            return Some(format!(
                "{} {}: row {row} is {}, not {}",
                field.name(),
                field.data_type(),
                cut(&is[i][row]),
                cut(&want[i][row])
            ));
        }
    }
    None
}

/// The schema that a file gives back: runs and dictionaries of anything but leaves are read as the
/// values they stand for.
pub(crate) fn as_read(schema: &Schema) -> Schema {
    let fields: Vec<FieldRef> = schema.fields().iter().map(field_as_read).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn field_as_read(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(type_as_read(field.data_type())))
}

fn type_as_read(data_type: &DataType) -> DataType {
    use DataType as T;
    match data_type {
        T::List(child) => T::List(field_as_read(child)),
        T::LargeList(child) => T::LargeList(field_as_read(child)),
        T::ListView(child) => T::ListView(field_as_read(child)),
        T::LargeListView(child) => T::LargeListView(field_as_read(child)),
        T::FixedSizeList(child, size) => T::FixedSizeList(field_as_read(child), *size),
        T::Map(entries, sorted) => T::Map(field_as_read(entries), *sorted),
        T::Struct(fields) => T::Struct(fields.iter().map(field_as_read).collect()),
        T::RunEndEncoded(_, values) if is_encoded_or_nested(values.data_type()) => {
            type_as_read(behind_runs(values.data_type()))
        }
        T::Dictionary(_, values) if values.is_nested() => type_as_read(values),
        leaf => leaf.clone(),
    }
}

fn is_encoded_or_nested(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(data_type, T::Dictionary(..) | T::RunEndEncoded(..)) || data_type.is_nested()
}

fn behind_runs(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::RunEndEncoded(_, values) => behind_runs(values.data_type()),
        other => other,
    }
}

/// Panics with all that was found, if anything.
pub(crate) fn report(wrong: &[String]) {
    let shown: Vec<_> = wrong.iter().take(30).cloned().collect();
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}
