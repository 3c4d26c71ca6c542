//! Reads more than 2 GiB of strings, where 32-bit offsets or views end. Batches are split, but values stay whole.

use std::sync::LazyLock;

use bytes::Bytes;
use herringbone::format::{CompressionCodec, Encoding, LogicalType, Repetition, Type};
use herringbone::schema::{ByteLayout, DictionaryOutput};
use herringbone::{Error, Limits, ParquetFile, ReadOptions, SchemaOptions};
use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::schema::DataType;

use crate::crafted::{self, Chunk, Page, group, leaf};

/// The value's size in bytes, and how often it is repeated. In total this is 40 MiB more than 2 GiB.
const VALUE_BYTES: usize = 24 << 20;
const VALUES: usize = 87;

/// The value, which consists of numbers of a kilobyte each, so that its parts differ.
static VALUE: LazyLock<String> = LazyLock::new(|| {
    let lines = (0..VALUE_BYTES / 1024).map(|line| format!("{line:01024}"));
    lines.collect()
});

/// Returns a run of [`VALUES`] levels or codes in the hybrid encoding of RLE and bit packing.
fn run(value: u8) -> [u8; 3] {
    let header = VALUES << 1;
    [header as u8 | 0x80, (header >> 7) as u8, value]
}

/// Writes a file with one dictionary entry and one code per value. The values are flat, or lists that have one value
/// and two values in turn.
fn file(nested: bool) -> Bytes {
    let entry = [&(VALUE_BYTES as u32).to_le_bytes()[..], VALUE.as_bytes()];
    let levels = |levels: &[u8]| [&(levels.len() as u32).to_le_bytes()[..], levels].concat();
    let text = leaf("s", Type::ByteArray, Repetition::Optional).logical_type(LogicalType::String);
    let (schema, rows, levels) = if nested {
        // There are groups of eight bits, in which the values are 0, 0 and 1 in turn.
        let groups = VALUES.div_ceil(8);
        let mut repetition = vec![0; 1 + groups];
        repetition[0] = (groups << 1 | 1) as u8;
        for level in (2..VALUES).step_by(3) {
            repetition[1 + level / 8] |= 1 << (level % 8);
        }
        let list = group("s", Some(Repetition::Optional), 1).logical_type(LogicalType::List);
        let repeated = group("list", Some(Repetition::Repeated), 1);
        let both = [levels(&repetition), levels(&run(3))].concat();
        (vec![list, repeated, text], VALUES / 3 * 2, both)
    } else {
        (vec![text], VALUES, levels(&run(1)))
    };
    // The codes have one bit.
    let data = [&levels[..], &[1], &run(0)].concat();
    let pages = vec![
        Page::dictionary(1, &entry.concat()),
        Page::v1(VALUES, &data).with_encoding(Encoding::RleDictionary),
    ];
    let chunk = Chunk {
        physical: Type::ByteArray,
        codec: CompressionCodec::Uncompressed,
        num_values: VALUES as u64,
        pages,
    };
    let schema = [vec![group("schema", None, 1)], schema].concat();
    crafted::file(schema, &[(rows as u64, vec![chunk])]).into()
}

/// Returns the number of values and of rows in each batch.
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
            assert!(text(strings.len() - 1) == *VALUE, "the text itself");
        }
        batches.push((strings.len(), batch.num_rows()));
    }
    Ok(batches)
}

/// Returns options without a limit on rows and bytes per batch, except the limit of its Arrow layout.
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
    // Views and codes refer to the dictionary's single value, so one batch contains all rows.
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
