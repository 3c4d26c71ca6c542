//! Column chunks that several threads decode in parts: batches and errors stay those of one thread.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::{ColumnOptions, Compression, OnError, ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, RecordBatch, StructArray};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};

use crate::batches::{Nulls, Shape, flat};
use crate::noise::Noise;
use crate::push::read;

/// Enough for parts of a megabyte, in pages that no batch ends with.
const ROWS: usize = 700_001;

fn write(array: ArrayRef, options: WriteOptions) -> (RecordBatch, Bytes) {
    let field = Field::new("a", array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    (batch, file.into())
}

fn options() -> WriteOptions {
    let columns = ColumnOptions::new().page_bytes(100_000).page_rows(9_999);
    WriteOptions::new()
        .columns(columns)
        .row_group_rows(500_000)
        .compression(Compression::Snappy)
}

/// The chunks that are written, and what they hold.
fn cases() -> Vec<(RecordBatch, Bytes)> {
    let mut noise = Noise(11);
    let mut cases = Vec::new();
    for (data_type, nulls, shape) in [
        (DataType::Int64, Nulls::Sparse, Shape::Random),
        (DataType::Int64, Nulls::Required, Shape::Sorted),
        (DataType::Float64, Nulls::Runs, Shape::Few),
        (DataType::Utf8, Nulls::Sparse, Shape::Random),
        (DataType::Utf8, Nulls::None, Shape::Few),
    ] {
        let array = flat(&mut noise, &data_type, nulls, shape, ROWS);
        cases.push(write(array, options()));
    }
    let fields = Fields::from(vec![Field::new("b", DataType::Int64, true)]);
    let values = flat(
        &mut noise,
        &DataType::Int64,
        Nulls::Sparse,
        Shape::Random,
        ROWS,
    );
    let nulls = crate::batches::validity(&mut noise, Nulls::Runs, ROWS);
    cases.push(write(
        Arc::new(StructArray::new(fields, vec![values], nulls)),
        options(),
    ));
    cases
}

#[test]
fn parts_give_the_batches_of_the_whole() {
    for (written, file) in cases() {
        let name = written.schema().field(0).data_type().clone();
        for (batch_size, threads) in [(1000, 5), (8192, 2)] {
            let options = ReadOptions::new().batch_size(batch_size);
            let expected = read(&file, &options.clone().threads(1)).unwrap();
            let mut row = 0;
            for batch in &expected {
                assert_eq!(*batch, written.slice(row, batch.num_rows()), "{name}");
                row += batch.num_rows();
            }
            assert_eq!(row, ROWS);
            let batches = read(&file, &options.threads(threads)).unwrap();
            assert!(batches == expected, "{name} on {threads} threads");
        }
    }
}

#[test]
fn a_selection_is_read_as_a_whole() {
    let (written, file) = cases().swap_remove(0);
    let options = ReadOptions::new().offset(12_345).limit(600_000);
    for threads in [1, 2] {
        let batches = read(&file, &options.clone().threads(threads)).unwrap();
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(rows, 600_000);
        assert_eq!(batches[0], written.slice(12_345, batches[0].num_rows()));
    }
}

#[test]
fn damaged_parts_give_the_errors_of_the_whole() {
    let mut noise = Noise(5);
    let mut errors = 0;
    for (_, file) in cases() {
        let footer = file.len() - 300;
        for round in 0..5 {
            let mut damaged = file.to_vec();
            for _ in 0..=round % 3 {
                let at = noise.below(footer);
                damaged[at] ^= 1 << noise.below(8);
            }
            let damaged = Bytes::from(damaged);
            for on_error in [OnError::Fail, OnError::SkipRowGroup, OnError::NullPage] {
                let options = ReadOptions::new()
                    .on_error(on_error)
                    .verify_crc(round % 2 == 0);
                let expected = read(&damaged, &options.clone().threads(1));
                errors += usize::from(expected.is_err());
                let got = read(&damaged, &options.clone().threads(3));
                assert!(
                    got == expected,
                    "{:?} is not {:?}",
                    got.err(),
                    expected.err()
                );
            }
        }
    }
    assert!(errors > 10, "{errors}");
}
