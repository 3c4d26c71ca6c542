//! More than 2 GiB of strings where 32-bit offsets or views end: batches are cut, values stay whole.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::schema::{ByteLayout, DictionaryOutput};
use herringbone::{Error, Limits, ParquetFile, ReadOptions, SchemaOptions};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef, ListArray, RecordBatch, StringArray};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// Bytes of the value, and how often it comes: 2.4 GiB in all.
const VALUE_BYTES: usize = 24 << 20;
const VALUES: usize = 102;

/// The value, as long for any reader and not all alike.
fn value() -> String {
    let mut text = String::with_capacity(VALUE_BYTES);
    while text.len() + 11 <= VALUE_BYTES {
        text.push_str(&format!("{:011}", text.len()));
    }
    text + &"x".repeat(VALUE_BYTES % 11)
}

/// A file of one dictionary entry and a code a value, flat or three in a list.
fn file(nested: bool) -> Bytes {
    let part: ArrayRef = Arc::new(StringArray::from(vec![value(); 3]));
    let (array, parts): (ArrayRef, _) = if nested {
        let field = Arc::new(Field::new_list_field(DataType::Utf8, true));
        let offsets = OffsetBuffer::from_lengths([1, 2]);
        (
            Arc::new(ListArray::new(field, offsets, part, None)),
            VALUES / 3,
        )
    } else {
        (part, VALUES / 3)
    };
    let field = Field::new("s", array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_page_size_limit(64 << 20)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, schema, Some(properties)).unwrap();
    for _ in 0..parts {
        writer.write(&batch).unwrap();
    }
    writer.close().unwrap();
    assert!(
        out.len() < 2 * VALUE_BYTES,
        "{} bytes: not a dictionary",
        out.len()
    );
    Bytes::from(out)
}

/// Values and rows of each batch.
fn read(file: &Bytes, options: ReadOptions) -> Result<Vec<(usize, usize)>, Error> {
    let mut reader = ParquetFile::from_bytes(file.clone())?.read(options)?;
    let (mut batches, mut first) = (Vec::new(), true);
    while let Some(batch) = reader.next_batch()? {
        let column = batch.column(0);
        let strings = match column.data_type() {
            DataType::List(_) => column.as_list::<i32>().values().clone(),
            DataType::LargeList(_) => column.as_list::<i64>().values().clone(),
            _ => column.clone(),
        };
        let text = |i: usize| -> &str {
            match strings.data_type() {
                DataType::Utf8 => strings.as_string::<i32>().value(i),
                DataType::LargeUtf8 => strings.as_string::<i64>().value(i),
                DataType::Utf8View => strings.as_string_view().value(i),
                DataType::Dictionary(..) => {
                    let dictionary = strings.as_any_dictionary();
                    dictionary
                        .values()
                        .as_string::<i32>()
                        .value(dictionary.normalized_keys()[i])
                }
                other => panic!("{other}"),
            }
        };
        assert!((0..strings.len()).all(|i| text(i).len() == VALUE_BYTES));
        if std::mem::take(&mut first) {
            assert!(text(strings.len() - 1) == value(), "the text itself");
        }
        batches.push((strings.len(), batch.num_rows()));
    }
    Ok(batches)
}

/// Whatever the batch may hold by rows and bytes, it holds no more than its layout can.
fn unlimited() -> ReadOptions {
    let mut limits = Limits::default();
    limits.batch_column_bytes = usize::MAX;
    limits.memory_bytes = 8 << 30;
    ReadOptions::default()
        .threads(1)
        .batch_bytes(usize::MAX)
        .limits(limits)
}

fn with_strings(
    options: ReadOptions,
    strings: ByteLayout,
    dictionary: DictionaryOutput,
) -> ReadOptions {
    let mut schema = SchemaOptions::default();
    schema.strings = strings;
    schema.dictionary = dictionary;
    options.schema(schema)
}

fn totals(batches: &[(usize, usize)]) -> (usize, usize) {
    (
        batches.iter().map(|b| b.0).sum(),
        batches.iter().map(|b| b.1).sum(),
    )
}

#[test]
fn strings_beyond_two_gibibytes_are_cut_into_batches() {
    let file = file(false);
    let batches = read(&file, ReadOptions::default().threads(1)).unwrap();
    assert_eq!(totals(&batches), (VALUES, VALUES));
    assert!(batches.len() > 10, "batches of about 128 MiB: {batches:?}");
    let batches = read(&file, unlimited()).unwrap();
    assert_eq!(totals(&batches), (VALUES, VALUES));
    assert!(
        batches
            .iter()
            .all(|(values, _)| values * VALUE_BYTES <= i32::MAX as usize)
    );
    // Views and codes point to the one value of the dictionary, so one batch holds them all.
    for (layout, dictionary) in [
        (ByteLayout::Views, DictionaryOutput::Never),
        (ByteLayout::Offsets, DictionaryOutput::Always),
    ] {
        let batches = read(&file, with_strings(unlimited(), layout, dictionary)).unwrap();
        assert_eq!(totals(&batches), (VALUES, VALUES), "{layout:?}");
    }
}

#[test]
fn lists_of_strings_beyond_two_gibibytes_are_cut_between_rows() {
    let file = file(true);
    let rows = VALUES / 3 * 2;
    for options in [
        ReadOptions::default().threads(1),
        ReadOptions::default().threads(2),
        unlimited(),
    ] {
        let batches = read(&file, options).unwrap();
        assert_eq!(totals(&batches), (VALUES, rows));
        assert!(batches.len() > 1, "{batches:?}");
    }
}
