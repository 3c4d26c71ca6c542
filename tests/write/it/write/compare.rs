//! Writes batches, reads files, and reports differences.

use herringbone::{Error, ParquetFile, ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::{Array, RecordBatch};
use herringbone_arrow::schema::{Schema, SchemaRef};

use crate::canonical;
use crate::table::cut;

/// Returns the file that these batches make.
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

/// Splits the rows into batches of `rows` rows.
pub(crate) fn in_batches(batch: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    let starts = (0..batch.num_rows()).step_by(rows);
    starts
        .map(|at| batch.slice(at, rows.min(batch.num_rows() - at)))
        .collect()
}

/// Returns the findings that `verify` has in a file.
pub(crate) fn findings(file: &[u8]) -> Vec<String> {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let findings = herringbone_inspect::verify(&file).map(Result::unwrap);
    findings.map(|finding| finding.to_string()).collect()
}

/// Returns the values of all rows, column by column, in normal form.
pub(crate) fn lines(batches: &[RecordBatch], columns: usize) -> Vec<Vec<String>> {
    (0..columns)
        .map(|i| {
            batches
                .iter()
                .flat_map(|batch| canonical::lines(batch.column(i)))
                .collect()
        })
        .collect()
}

/// Reads a file with this library and validates all arrays.
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

/// Returns the first difference between the written and the read rows.
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

/// Panics with all faults, if there are any.
pub(crate) fn report(wrong: &[String]) {
    let shown: Vec<_> = wrong.iter().take(30).cloned().collect();
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}
