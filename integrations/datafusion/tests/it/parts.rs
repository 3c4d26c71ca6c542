//! Reads parts of nested columns, where fields of structs in lists and maps are read without their
//! siblings.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Int64Array, ListArray, MapArray, RecordBatch, StringArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field};

use crate::support::{CountingStore, Folder, Reader, create, session, sorted_rows};

const ROWS: usize = 4_000;

fn structs(columns: Vec<(&str, ArrayRef)>, nulls: Option<NullBuffer>) -> StructArray {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
        .unzip();
    StructArray::new(fields.into(), arrays, nulls)
}

/// Returns structs of a small number and a large text, some of them null.
fn elements(number: usize) -> StructArray {
    let numbers = Int64Array::from_iter((0..number as i64).map(|i| (i % 11 > 0).then_some(i % 97)));
    let texts = (0..number).map(|i| format!("{:0128}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let nulls = NullBuffer::from_iter((0..number).map(|i| i % 7 > 0));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(numbers)),
        ("big", Arc::new(StringArray::from_iter_values(texts))),
    ];
    structs(columns, Some(nulls))
}

/// Returns lists of up to three elements, some of them null.
fn lists(of: impl Fn(usize) -> StructArray, rows: usize) -> ListArray {
    let is_null = |row: usize| row.is_multiple_of(5);
    let lengths = (0..rows).map(|row| if is_null(row) { 0 } else { row % 4 });
    let offsets = OffsetBuffer::from_lengths(lengths);
    let elements = of(offsets.last().map_or(0, |offset| *offset as usize));
    let element = Field::new_list_field(elements.data_type().clone(), true);
    let nulls = NullBuffer::from_iter((0..rows).map(|row| !is_null(row)));
    ListArray::new(Arc::new(element), offsets, Arc::new(elements), Some(nulls))
}

fn maps() -> MapArray {
    let keys = (0..2 * ROWS).map(|i| format!("k{}", i % 2));
    let keys = StringArray::from_iter_values(keys);
    let values = elements(2 * ROWS);
    let fields = vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.data_type().clone(), true),
    ];
    let arrays: Vec<ArrayRef> = vec![Arc::new(keys), Arc::new(values)];
    let entries = StructArray::new(fields.into(), arrays, None);
    let field = Field::new("entries", entries.data_type().clone(), false);
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(2, ROWS));
    MapArray::new(Arc::new(field), offsets, entries, None, false)
}

fn table() -> RecordBatch {
    let lists_of_lists = |number| {
        let columns: Vec<(&str, ArrayRef)> = vec![("inner", Arc::new(lists(elements, number)))];
        structs(columns, None)
    };
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..ROWS as i64))),
        ("l", Arc::new(lists(elements, ROWS))),
        ("ll", Arc::new(lists(lists_of_lists, ROWS))),
        ("m", Arc::new(maps())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test]
async fn fields_in_lists_and_maps_are_read_alone() {
    let folder = Folder::new();
    let path = folder.write("n.parquet", &table(), ROWS);
    let (ours, plain) = (session(Reader::Herringbone, 1), session(Reader::Plain, 1));
    create(&ours, "n", &path).await;
    create(&plain, "n", &path).await;
    let store = CountingStore::of(&ours);
    // This is half of the texts in the smallest column, which has 4,800 texts of 128 bytes.
    let texts = 4_800 * 128 / 2;
    let mut wrong = Vec::new();
    for (query, is_small) in [
        ("select l[1]['a'] from n", true),
        ("select id, l[-1]['a'] + 1 from n where id > 100", true),
        ("select l[id % 3 + 1]['a'] from n", true),
        ("select l[2:3][1]['a'] from n", true),
        ("select ll[1]['inner'][1]['a'] from n", true),
        ("select m['k1']['a'] from n", true),
        ("select map_extract(m, 'k1')[1]['a'] from n", true),
        ("select map_values(m)[2]['a'] from n", true),
        ("select id from n where l[1]['a'] > 40", true),
        (
            "select id from n where l[1]['a'] > 40 or ll[1]['inner'][1]['a'] = 3",
            true,
        ),
        ("select x['a'] from (select l[1] as x from n)", true),
        ("select l[1]['a'], l[1]['big'] from n", false),
        ("select l[1]['a'], l[2] from n", false),
        (
            "select l[1]['a'] from n where l[1]['big'] like '%0%'",
            false,
        ),
        ("select l, l[1]['a'] from n", false),
        ("select m['k1']['a'], map_keys(m) from n", false),
        (
            "select ll[1]['inner'][1]['a'], ll[1]['inner'] from n",
            false,
        ),
        // The engine evaluates the arguments of aggregates, and takes lists apart, after the scan.
        ("select sum(l[1]['a']), count(l[2]['a']) from n", false),
        ("select u['a'] from (select unnest(l) as u from n)", false),
    ] {
        store.take();
        let our_rows = sorted_rows(&ours, query).await;
        let (_, bytes) = store.take();
        assert_eq!(our_rows, sorted_rows(&plain, query).await, "{query}");
        assert!(our_rows.len() == 1 || our_rows.len() > 100, "{query}");
        if is_small != (bytes < texts) {
            wrong.push(format!("{query}: {bytes} bytes"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A join must not be asked for a filter here, because the engine cannot compute bounds of such
/// keys.
#[tokio::test]
async fn nested_columns_are_keys_of_joins() {
    let folder = Folder::new();
    let path = folder.write("n.parquet", &table(), ROWS / 3);
    let (ours, plain) = (session(Reader::Herringbone, 2), session(Reader::Plain, 2));
    create(&ours, "n", &path).await;
    create(&plain, "n", &path).await;
    for key in ["m", "l", "l[1]"] {
        let query = format!(
            "select a.id, b.id from n as a join n as b on a.{key} = b.{key} where b.id < 5"
        );
        let plain_rows = sorted_rows(&plain, &query).await;
        assert!(!plain_rows.is_empty());
        assert_eq!(sorted_rows(&ours, &query).await, plain_rows, "{key}");
    }
}
