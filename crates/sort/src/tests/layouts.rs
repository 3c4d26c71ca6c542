//! Sorts rows of all layouts. They must stay whole when moved.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{ArrowNativeType as _, NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::{DataType, Field, Fields};
use herringbone_write::{SortingColumnOption, WriteOptions, WritePlan};

use super::super::Sorter;

const ROWS: usize = 3_000;

/// Memory for all rows, and for so few rows that runs are merged several times.
const MEMORY: [usize; 2] = [64 << 20, 40 << 10];

/// Returns a row's key. It is unique, and far from its neighbours' keys.
fn key(row: usize) -> usize {
    row * 1_009 % ROWS
}

/// Returns a slot's value alone in an array, or `None` if it is null. We compare values because
/// joined dictionaries have other keys.
fn value(array: &ArrayRef, row: usize) -> Option<ArrayRef> {
    match array.as_any_dictionary_opt() {
        None => Some(array.slice(row, 1)),
        Some(_) if array.is_null(row) => None,
        Some(dictionary) => {
            let key = dictionary.slice(row, 1);
            let key = key.as_any_dictionary().normalized_keys()[0];
            let values = dictionary.values();
            values.is_valid(key).then(|| values.slice(key, 1))
        }
    }
}

/// Sorts batches that add up to all rows, comparing each row with its row in the batches.
fn check_batches(name: &str, batches: &[ArrayRef]) {
    let (mut of_rows, mut columns) = (vec![(0, 0); ROWS], Vec::new());
    let mut first = 0;
    for (at, column) in batches.iter().enumerate() {
        let rows = first..first + column.len();
        for row in rows.clone() {
            of_rows[key(row)] = (at, row - first);
        }
        first = rows.end;
        let keys: Int32Array = rows.map(|row| Some(key(row) as i32)).collect();
        let pair = [
            ("k", Arc::new(keys) as ArrayRef, false),
            ("v", column.clone(), true),
        ];
        columns.push(RecordBatch::try_from_iter_with_nullable(pair).unwrap());
    }
    assert_eq!(first, ROWS, "{name}");
    for memory in MEMORY {
        let mut options = WriteOptions::new();
        options.sort_by = vec![SortingColumnOption::new(["k"])];
        options.sort_memory_bytes = memory;
        let plan = Arc::new(WritePlan::new(columns[0].schema(), &options, None).unwrap());
        let mut sorter = Sorter::new(&plan, None).unwrap().unwrap();
        let mut pushed = 0;
        for batch in &columns {
            sorter.push(batch).unwrap();
            pushed += batch.num_rows() as u64;
            assert_eq!(sorter.num_rows(), pushed, "{name}");
        }
        let mut next = 0;
        while let Some(batch) = sorter.next_batch().unwrap() {
            let found = batch.column(1);
            for row in 0..batch.num_rows() {
                let (at, of_batch) = of_rows[next + row];
                let (found, expected) = (value(found, row), value(&batches[at], of_batch));
                assert_eq!(found, expected, "{name}, memory of {memory}");
            }
            next += batch.num_rows();
            assert_eq!(sorter.num_rows(), (ROWS - next) as u64, "{name}");
        }
        assert_eq!(next, ROWS, "{name}, memory of {memory}");
    }
}

/// Sorts an array of all rows, in three parts.
fn check(name: &str, array: &ArrayRef) {
    check_batches(
        name,
        &[
            array.slice(0, 700),
            array.slice(700, 1),
            array.slice(701, ROWS - 701),
        ],
    );
}

/// Returns a row's text. It can be longer than the twelve bytes that fit into a view.
fn text(row: usize) -> Option<String> {
    (!row.is_multiple_of(7)).then(|| format!("{row}").repeat(row % 5))
}

fn nulls(every: usize) -> NullBuffer {
    (0..ROWS).map(|row| row % every > 0).collect()
}

fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", data_type, true))
}

#[test]
fn texts_and_bytes() {
    let texts: Vec<_> = (0..ROWS).map(text).collect();
    let all = || texts.iter().map(Option::as_deref);
    let bytes = || all().map(|text| text.map(str::as_bytes));
    check(
        "texts",
        &(Arc::new(all().collect::<StringArray>()) as ArrayRef),
    );
    check(
        "large texts",
        &(Arc::new(all().collect::<LargeStringArray>()) as ArrayRef),
    );
    check(
        "views",
        &(Arc::new(all().collect::<StringViewArray>()) as ArrayRef),
    );
    check(
        "bytes",
        &(Arc::new(bytes().collect::<BinaryArray>()) as ArrayRef),
    );
    check(
        "large bytes",
        &(Arc::new(bytes().collect::<LargeBinaryArray>()) as ArrayRef),
    );
    check(
        "views of bytes",
        &(Arc::new(bytes().collect::<BinaryViewArray>()) as ArrayRef),
    );
    let fixed = (0..ROWS).map(|row| (row % 7 > 0).then(|| (row as u32).to_le_bytes()));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed, 4).unwrap();
    check("four bytes", &(Arc::new(fixed) as ArrayRef));
    let booleans: BooleanArray = (0..ROWS)
        .map(|row| (row % 7 > 0).then_some(row % 3 > 0))
        .collect();
    check("booleans", &(Arc::new(booleans) as ArrayRef));
    // All slices share these views' buffers. They have more bytes than a gathered buffer is
    // allowed.
    let long = (0..ROWS).map(|row| Some(format!("{row:0>2000}")));
    check(
        "long views",
        &(Arc::new(long.collect::<StringViewArray>()) as ArrayRef),
    );
}

#[test]
fn lists() {
    let lengths: Vec<usize> = (0..ROWS)
        .map(|row| if row % 6 > 0 { row % 4 } else { 0 })
        .collect();
    let total: usize = lengths.iter().sum();
    let texts: StringArray = (0..total).map(text).collect();
    let texts = Arc::new(texts) as ArrayRef;
    let (field, offsets) = (
        item(DataType::Utf8),
        OffsetBuffer::<i32>::from_lengths(lengths.clone()),
    );
    let list = ListArray::new(
        field.clone(),
        offsets.clone(),
        texts.clone(),
        Some(nulls(6)),
    );
    check("lists", &(Arc::new(list.clone()) as ArrayRef));
    let large = OffsetBuffer::<i64>::from_lengths(lengths.clone());
    let large = LargeListArray::new(field.clone(), large, texts.clone(), Some(nulls(6)));
    check("large lists", &(Arc::new(large) as ArrayRef));
    let sizes: ScalarBuffer<i32> = lengths.iter().map(|length| *length as i32).collect();
    let starts: ScalarBuffer<i32> = offsets.iter().take(ROWS).copied().collect();
    let views = ListViewArray::new(
        field.clone(),
        starts.clone(),
        sizes.clone(),
        texts.clone(),
        Some(nulls(6)),
    );
    check("list views", &(Arc::new(views) as ArrayRef));
    let views = LargeListViewArray::new(
        field.clone(),
        starts.iter().map(|start| i64::from(*start)).collect(),
        sizes.iter().map(|size| i64::from(*size)).collect(),
        texts.clone(),
        Some(nulls(6)),
    );
    check("large list views", &(Arc::new(views) as ArrayRef));
    let threes: StringArray = (0..3 * ROWS).map(text).collect();
    let fixed = FixedSizeListArray::new(field, 3, Arc::new(threes), Some(nulls(6)));
    check("lists of three", &(Arc::new(fixed) as ArrayRef));
    // Next are lists of these lists, and a struct that has them.
    let halves = OffsetBuffer::<i32>::from_lengths((0..ROWS).map(|row| usize::from(row % 3 > 0)));
    let num_inner = halves[ROWS] as usize;
    let inner = list.slice(0, num_inner);
    let outer = ListArray::new(
        item(inner.data_type().clone()),
        halves,
        Arc::new(inner),
        None,
    );
    check("lists of lists", &(Arc::new(outer) as ArrayRef));
    let fields = Fields::from(vec![
        Field::new("l", list.data_type().clone(), true),
        Field::new("n", DataType::Int32, false),
    ]);
    let numbers = Int32Array::from_iter_values(0..ROWS as i32);
    let structs = StructArray::new(
        fields,
        vec![Arc::new(list), Arc::new(numbers)],
        Some(nulls(8)),
    );
    check("structs", &(Arc::new(structs) as ArrayRef));
    let entries = Fields::from(vec![
        Field::new("key", DataType::Int32, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    let keys = Int32Array::from_iter_values(0..total as i32);
    let pairs = StructArray::new(entries.clone(), vec![Arc::new(keys), texts], None);
    let entries = Arc::new(Field::new("entries", DataType::Struct(entries), false));
    let maps = MapArray::new(entries, offsets, pairs, Some(nulls(6)), false);
    check("maps", &(Arc::new(maps) as ArrayRef));
}

/// Returns a dictionary array in three batches, each with other values in its dictionary.
fn dictionaries<K: types::ArrowDictionaryKeyType>(
    values: impl Fn(usize) -> ArrayRef,
) -> Vec<ArrayRef> {
    let parts = [(0, 700), (1, 1_300), (2, 1_000)];
    let part = |(part, rows): (usize, usize)| {
        let values = values(part);
        let number = |row: usize| K::Native::usize_as(row * 7 % values.len());
        let keys: PrimitiveArray<K> = (0..rows)
            .map(|row| (row % 9 > 0).then(|| number(row)))
            .collect();
        Arc::new(DictionaryArray::<K>::new(keys, values)) as ArrayRef
    };
    parts.into_iter().map(part).collect()
}

/// Returns texts and a null, half of them shared by neighbouring parts.
fn shared(part: usize) -> Vec<Option<String>> {
    let text = |at: usize| (at % 10 != 5).then(|| format!("value {at}"));
    (20 * part..20 * part + 40).map(text).collect()
}

fn shared_bytes(part: usize) -> impl Iterator<Item = Option<Vec<u8>>> {
    shared(part)
        .into_iter()
        .map(|text| text.map(String::into_bytes))
}

#[test]
fn dictionaries_of_batches_are_joined() {
    let texts =
        |part: usize| Arc::new(shared(part).into_iter().collect::<StringArray>()) as ArrayRef;
    check_batches("keys of 8 bits", &dictionaries::<Int8Type>(texts));
    check_batches("keys of 16 bits", &dictionaries::<Int16Type>(texts));
    check_batches("keys of 32 bits", &dictionaries::<Int32Type>(texts));
    check_batches("keys of 64 bits", &dictionaries::<Int64Type>(texts));
    check_batches("unsigned keys of 8 bits", &dictionaries::<UInt8Type>(texts));
    check_batches(
        "unsigned keys of 16 bits",
        &dictionaries::<UInt16Type>(texts),
    );
    check_batches(
        "unsigned keys of 32 bits",
        &dictionaries::<UInt32Type>(texts),
    );
    check_batches(
        "unsigned keys of 64 bits",
        &dictionaries::<UInt64Type>(texts),
    );
    type Make = fn(usize) -> ArrayRef;
    let values: [(&str, Make); 8] = [
        ("large texts", |part| {
            Arc::new(shared(part).into_iter().collect::<LargeStringArray>())
        }),
        ("views", |part| {
            Arc::new(shared(part).into_iter().collect::<StringViewArray>())
        }),
        ("bytes", |part| {
            Arc::new(shared_bytes(part).collect::<BinaryArray>())
        }),
        ("large bytes", |part| {
            Arc::new(shared_bytes(part).collect::<LargeBinaryArray>())
        }),
        ("views of bytes", |part| {
            Arc::new(shared_bytes(part).collect::<BinaryViewArray>())
        }),
        ("numbers", |part| {
            Arc::new(
                (0..40)
                    .map(|at| Some((20 * part + at) as i64))
                    .collect::<Int64Array>(),
            )
        }),
        ("small numbers", |part| {
            Arc::new(
                (0..40)
                    .map(|at| Some((20 * part + at) as u8))
                    .collect::<UInt8Array>()
                    .slice(3, 30),
            )
        }),
        ("booleans", |part| {
            Arc::new(
                (0..4)
                    .map(|at| Some((part + at) % 2 > 0))
                    .collect::<BooleanArray>(),
            )
        }),
    ];
    for (name, make) in values {
        check_batches(name, &dictionaries::<Int32Type>(make));
    }
}

/// Equal values share a slot, so a few distinct values take little memory, however many batches
/// repeat them.
#[test]
fn dictionaries_do_not_grow_by_known_values() {
    let batch = |part: usize| {
        let texts =
            (0..100).map(|at| Some(format!("value {} of one hundred", (at + part * 7) % 100)));
        let values = Arc::new(texts.collect::<StringArray>()) as ArrayRef;
        let keys: Int32Array = (0..100).map(Some).collect();
        let column = Arc::new(DictionaryArray::new(keys, values)) as ArrayRef;
        let key = Arc::new(Int32Array::from_iter_values(0..100)) as ArrayRef;
        RecordBatch::try_from_iter([("k", key), ("v", column)]).unwrap()
    };
    let mut options = WriteOptions::new();
    options.sort_by = vec![SortingColumnOption::new(["k"])];
    let plan = Arc::new(WritePlan::new(batch(0).schema(), &options, None).unwrap());
    let mut sorter = Sorter::new(&plan, None).unwrap().unwrap();
    let sizes = (0..50).map(|part| {
        sorter.push(&batch(part)).unwrap();
        sorter.heap_bytes()
    });
    let sizes: Vec<usize> = sizes.collect();
    // The first batch adds 100 texts of 23 bytes twice, and 32 bytes for each. Each other batch
    // adds 100 rows, with two numbers of 4 bytes and 24 bytes for one and a half entries.
    assert!(sizes[0] > 2 * 100 * 22 + 3_200 + 100 * 32, "{sizes:?}");
    let growth = (sizes[49] - sizes[0]) / 49;
    assert!((100 * 32..100 * 32 + 700).contains(&growth), "{growth}");
}

/// An ordered dictionary's values define its order, so a later dictionary may only repeat the first
/// one or add to its end.
#[test]
fn ordered_dictionaries_agree_or_are_refused() {
    let batch = |values: &[Option<&str>], is_ordered: bool| {
        let keys: Int32Array = (0..values.len() as i32).rev().map(Some).collect();
        let key = Arc::new(keys.clone()) as ArrayRef;
        let values = Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let column = Arc::new(DictionaryArray::new(keys, values)) as ArrayRef;
        let k = Field::new("k", DataType::Int32, false);
        let v = Field::new("v", column.data_type().clone(), true);
        let fields = vec![k, v.with_dict_is_ordered(is_ordered)];
        let schema = Arc::new(herringbone_arrow::schema::Schema::new(fields));
        RecordBatch::try_new(schema, vec![key, column]).unwrap()
    };
    let [a, b, c] = ["a", "b", "c"].map(Some);
    type Texts<'a> = &'a [Option<&'a str>];
    let table: [(Texts<'_>, Texts<'_>, bool); 7] = [
        (&[c, a], &[c, a], true),
        (&[c, a], &[c], true),
        (&[c, a], &[c, a, b], true),
        (&[c, a], &[a, c], false),
        (&[c, a], &[a], false),
        (&[c, a], &[b, a], false),
        (&[c, a], &[c, b], false),
    ];
    for (first, second, agree) in table {
        for is_ordered in [true, false] {
            let mut options = WriteOptions::new();
            options.sort_by = vec![SortingColumnOption::new(["k"])];
            let batches = [first, second].map(|values| batch(values, is_ordered));
            let plan = WritePlan::new(batches[0].schema(), &options, None).unwrap();
            let mut sorter = Sorter::new(&Arc::new(plan), None).unwrap().unwrap();
            let pushed = batches.iter().try_for_each(|batch| sorter.push(batch));
            let sorted = pushed.and_then(|()| sorter.next_batch());
            let about = format!("{first:?}, {second:?}, ordered: {is_ordered}");
            assert_eq!(sorted.is_ok(), agree || !is_ordered, "{about}");
            let Ok(sorted) = sorted else { continue };
            // Each dictionary's last value has the key 0, and the others follow.
            let mut wanted: Vec<_> = [first, second]
                .iter()
                .flat_map(|values| values.iter().enumerate())
                .map(|(at, value)| (at, *value))
                .collect();
            wanted.sort_by_key(|it| it.0);
            let sorted = sorted.unwrap();
            let column = sorted.column(1).as_any_dictionary();
            let values = column.values().as_string::<i32>();
            let keys = column.normalized_keys();
            let found: Vec<_> = keys.iter().map(|key| Some(values.value(*key))).collect();
            let same = |values: &[Option<&str>], rows: std::ops::Range<usize>| {
                let mut values = values.to_vec();
                values.sort_unstable();
                let mut found = found[rows].to_vec();
                found.sort_unstable();
                found == values
            };
            let all: Vec<_> = first.iter().chain(second).copied().collect();
            assert!(same(&all, 0..found.len()), "{about}: {found:?}");
        }
    }
}
