//! Tests filters on columns that an extension type converts. They test the converted values, regardless of the file's
//! claims about the stored ones.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Float64Type, Int32Type};
use herringbone::arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, ListArray, RecordBatch, StringArray,
    StructArray,
};
use herringbone::arrow::buffer::OffsetBuffer;
use herringbone::arrow::schema::extension::EXTENSION_TYPE_NAME_KEY;
use herringbone::arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StoredField,
};
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, col, col_at};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Error, ParquetFile, ReadOptions, Result, WantedSchema,
    WriteOptions, Writer,
};

use super::whole::by_all;
use crate::push::read;

const HUNDREDTHS: &str = "test.hundredths";
const SHOUTED: &str = "test.shouted";

/// An extension type that reads stored hundredths as numbers, and stored text in capitals. The number −1 is a null.
#[derive(Debug)]
struct Converted;

impl ExtensionMapping for Converted {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let field = |data_type| stored.storage.clone().with_data_type(data_type);
        Ok(match stored.storage.extension_type_name() {
            Some(HUNDREDTHS) => Some(ExtensionField::of_arrays(field(DataType::Float64))),
            Some(SHOUTED) => Some(ExtensionField::of_arrays(field(DataType::Utf8))),
            _ => None,
        })
    }

    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

impl ExtensionType for Converted {
    fn make_array(&self, storage: &ArrayRef, field: &Field) -> Result<ArrayRef> {
        if field.extension_type_name() == Some(SHOUTED) {
            // This type does not expect a dictionary, because the read does not request one.
            let texts = storage
                .as_string_opt::<i32>()
                .ok_or_else(|| Error::argument("a dictionary"))?;
            let shouted = texts.iter().map(|text| text.map(str::to_uppercase));
            return Ok(Arc::new(shouted.collect::<StringArray>()));
        }
        let numbers = storage.as_primitive::<Int32Type>().iter();
        let number = |stored: i32| (stored != -1).then(|| f64::from(stored) / 100.0);
        let numbers = numbers.map(|stored| stored.and_then(number));
        Ok(Arc::new(numbers.collect::<Float64Array>()))
    }
}

const ROWS: i32 = 10_000;

fn named(name: &str, data_type: DataType, extension: &str) -> Field {
    let pair = (EXTENSION_TYPE_NAME_KEY.to_owned(), extension.to_owned());
    Field::new(name, data_type, true).with_metadata(HashMap::from([pair]))
}

/// Writes a file in which row i has the number i in `id`, i hundredths in `t`, in `s.t`, and in a list of one element
/// in `l`, and the text "wI" in `w`, where I is i modulo 10. In each second row, `n` is a null, stored as −1.
fn bytes() -> Bytes {
    let stored: ArrayRef = Arc::new(Int32Array::from_iter_values(0..ROWS));
    let texts = (0..ROWS).map(|row| Some(format!("w{}", row % 10)));
    let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
    let nulls = (0..ROWS).map(|row| if row % 2 == 0 { -1 } else { row });
    let nulls: ArrayRef = Arc::new(Int32Array::from_iter_values(nulls));
    let hundredths = |name| named(name, DataType::Int32, HUNDREDTHS);
    let group = StructArray::new(vec![hundredths("t")].into(), vec![stored.clone()], None);
    let lengths = OffsetBuffer::from_lengths(vec![1; ROWS as usize]);
    let element = Arc::new(hundredths("element"));
    let list = ListArray::new(element, lengths, stored.clone(), None);
    let fields = vec![
        Field::new("id", DataType::Int32, false),
        hundredths("t"),
        Field::new("s", group.data_type().clone(), true),
        Field::new("l", list.data_type().clone(), true),
        named("w", DataType::Utf8, SHOUTED),
        hundredths("n"),
    ];
    let columns = vec![
        stored.clone(),
        stored,
        Arc::new(group),
        Arc::new(list),
        texts,
        nulls,
    ];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let bloom = ColumnOptions::new().bloom_filter(BloomFilterOptions::new(0.01));
    let options = WriteOptions::new()
        .row_group_rows(1000)
        .columns(ColumnOptions::new().page_rows(100));
    let options = ["t", "w", "s.t"]
        .iter()
        .fold(options, |options, name| options.column(name, bloom.clone()));
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    bytes.into()
}

fn options() -> ReadOptions {
    ReadOptions::new().extension(Converted)
}

/// Returns the ids of the rows that a filter selects. They do not depend on the columns that are emitted.
fn ids(file: &ParquetFile, filter: &Predicate) -> Vec<i32> {
    let of = |columns: Option<&[&str]>| {
        let batches = by_all(file, || {
            let options = options().filter(filter.clone());
            match columns {
                Some(columns) => options.columns(columns.iter().copied()),
                None => options,
            }
        });
        let ids = batches.iter().flat_map(|batch| {
            let ids = batch.column_by_name("id").unwrap();
            ids.as_primitive::<Int32Type>().values().to_vec()
        });
        ids.collect::<Vec<_>>()
    };
    let (all, alone) = (of(None), of(Some(&["id"])));
    assert_eq!(all, alone, "{filter}");
    all
}

#[test]
fn they_test_the_converted_values() {
    let file = ParquetFile::from_bytes(bytes()).unwrap();
    let t = || col("t");
    for (filter, expected) in [
        (t().gt(20.0), 2001..ROWS),
        (t().lt(20.5), 0..2050),
        (t().eq(21.5), 2150..2151),
        (t().between(10.0, 20.0), 1000..2001),
        // The stored values include 2150, but the converted ones do not.
        (t().eq(2150), 0..0),
        (t().gt(100), 0..0),
        (t().lt(100), 0..ROWS),
        (col_at(["s", "t"]).gt(20.0), 2001..ROWS),
        (col_at(["s", "t"]).eq(21.5), 2150..2151),
        (col("l").any().ge(99.0), 9900..ROWS),
        (col("l").all().lt(0.5), 0..50),
        (t().gt(20.0).not(), 0..2001),
        (t().gt(20.0).and(col("id").lt(2100)), 2001..2100),
        (t().lt(20.0).or(col("id").lt(2100)), 0..2100),
    ] {
        assert!(ids(&file, &filter).into_iter().eq(expected), "{filter}");
    }
    let some = ids(&file, &t().is_in([21.5, 50.0]));
    assert_eq!(some, [2150, 5000]);
    let tens = |digit| move |row: &i32| row % 10 == digit;
    let text_ids = ids(&file, &col("w").eq("W7"));
    assert_eq!(text_ids, (0..ROWS).filter(tens(7)).collect::<Vec<_>>());
    assert_eq!(ids(&file, &col("w").eq("w7")).len(), 0);
    assert_eq!(ids(&file, &col("w").like("W%")).len(), ROWS as usize);
    // The file has no nulls, but the converted column has 5,000.
    let nulls = ids(&file, &col("n").is_null());
    assert_eq!(nulls, (0..ROWS).step_by(2).collect::<Vec<_>>());
    assert_eq!(ids(&file, &col("n").is_not_null()).len(), 5000);
}

#[test]
fn the_metadata_of_other_columns_is_used() {
    let file = ParquetFile::from_bytes(bytes()).unwrap();
    let counts = |filter: Predicate| {
        let explained = file.explain(&options().filter(filter)).unwrap();
        let steps = explained
            .iter()
            .filter_map(|explained| explained.steps.last());
        steps.fold((0, 0), |(ruled_out, accepted), step| {
            (ruled_out + step.ruled_out, accepted + step.accepted)
        })
    };
    assert_eq!(counts(col("t").gt(20.0)), (0, 0));
    assert_eq!(counts(col("t").eq(21.5)), (0, 0));
    assert_eq!(counts(col("n").is_null()), (0, 0));
    assert_eq!(counts(col("w").eq("w7")), (0, 0));
    // Pages have at most 100 rows, so a page is decided if it has neither row 2,049 nor row 2,050.
    let (ruled_out, accepted) = counts(col("id").ge(2050));
    assert!((1950..=2050).contains(&ruled_out), "{ruled_out}");
    assert!((7850..=7950).contains(&accepted), "{accepted}");
    let both = counts(col("t").gt(20.0).and(col("id").ge(2050)));
    assert_eq!(both, (ruled_out, 0));
}

#[test]
fn stored_values_are_tested_without_the_extension_type() {
    let file = bytes();
    let rows = |filter: Predicate| {
        let batches = read(&file, &ReadOptions::new().filter(filter)).unwrap();
        batches.iter().map(RecordBatch::num_rows).sum::<usize>()
    };
    assert_eq!(rows(col("t").gt(2000)), 7999);
    assert_eq!(rows(col("w").eq("w7")), 1000);
    assert_eq!(rows(col("n").is_null()), 0);
}

/// The types of a wanted schema decide which columns the extension type converts. So a filter selects from the rows
/// that the read returns without a filter.
#[test]
fn filters_of_wanted_columns_test_the_emitted_values() {
    let file = ParquetFile::from_bytes(bytes()).unwrap();
    let id = || Field::new("id", DataType::Int64, false);
    for fields in [
        vec![id(), Field::new("t", DataType::Float64, true)],
        vec![id(), named("t", DataType::Float64, HUNDREDTHS)],
        vec![id(), named("t", DataType::Int32, HUNDREDTHS)],
    ] {
        let wanted = WantedSchema::new(Arc::new(Schema::new(fields)));
        let Ok(all) = read(&bytes(), &options().wanted_schema(wanted.clone())) else {
            // Here the extension type makes arrays that the wanted schema does not allow.
            continue;
        };
        for limit in [20.0, 99.0, 5000.0] {
            let is_above = |batch: &RecordBatch| {
                let values = batch.column(1);
                let values = match values.as_primitive_opt::<Int32Type>() {
                    Some(numbers) => numbers.values().iter().copied().map(f64::from).collect(),
                    None => values.as_primitive::<Float64Type>().values().to_vec(),
                };
                values.into_iter().filter(|value| *value > limit).count()
            };
            let expected: usize = all.iter().map(is_above).sum();
            let batches = by_all(&file, || {
                let options = options().wanted_schema(wanted.clone());
                options.filter(col("t").gt(limit as i64))
            });
            let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(found, expected, "{:?} above {limit}", wanted.schema());
        }
    }
}

/// A custom predicate that implies a comparison of its own column.
#[derive(Debug)]
struct Below {
    limit: f64,
    tests_implied: bool,
}

impl RowPredicate for Below {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["t".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        let limit = self.limit;
        Ok(Box::new(move |batch| {
            let numbers = batch.column(0).as_primitive::<Float64Type>();
            Ok(BooleanArray::from_unary(numbers, |it| it < limit))
        }))
    }

    fn implied(
        &self,
        _: &herringbone::schema::ParquetSchema,
    ) -> Result<Option<Predicate>, RowError> {
        Ok(Some(col("t").lt(self.limit)))
    }

    fn tests_implied(&self) -> bool {
        self.tests_implied
    }
}

#[test]
fn implied_tests_are_of_the_converted_values() {
    let file = ParquetFile::from_bytes(bytes()).unwrap();
    // All stored numbers from 20 on are above the limit, but 1,980 of the converted ones are not.
    for tests_implied in [false, true] {
        let limit = 20.0;
        let filter = Predicate::rows(Below {
            limit,
            tests_implied,
        });
        assert!(ids(&file, &filter).into_iter().eq(0..2000));
    }
}
