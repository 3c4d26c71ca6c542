//! Whole rows of any type are read back in sorted order.

use std::sync::Arc;

use herringbone::{ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int8Type, Int16Type};
use herringbone_arrow::array::{
    Array, ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray,
};
use herringbone_arrow::schema::{DataType, Field, Schema};

use super::super::arrays;
use super::super::compare::{findings, lines, read, report, written};
use super::super::schemas::Menu;
use super::{MEMORY, by, compare, numbers, order_of};
use crate::batches::Random;
use crate::random::cases;
use crate::table::without_panic;

/// Returns a random batch with the ordinals of its rows, and with keys that have many duplicates.
fn batch(random: &mut Random, schema: &Arc<Schema>, rows: usize) -> RecordBatch {
    let batch = arrays::batch(random, schema, rows);
    let keys = (0..rows).map(|_| (random.below(5) > 0).then(|| random.below(4) as i8));
    let keys: ArrayRef = Arc::new(keys.collect::<Int8Array>());
    let mut fields = vec![
        Arc::new(Field::new("k", DataType::Int8, true)),
        Arc::new(Field::new("n", DataType::Int32, false)),
    ];
    fields.extend(schema.fields().iter().cloned());
    let mut columns = vec![keys, numbers(rows)];
    columns.extend(batch.columns().iter().cloned());
    let metadata = schema.metadata().clone();
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    RecordBatch::try_new(schema, columns).unwrap()
}

/// Returns the fault, if there is one. Fails if dictionaries cannot be combined.
fn check(seed: u64) -> Result<Option<String>, herringbone::Error> {
    let random = &mut Random(seed);
    let schema = Arc::new(Menu::everything().schema(random));
    let rows = random.pick(&[0, 1, 40, 300]);
    let whole = batch(random, &schema, rows);
    let mut batches = Vec::new();
    let mut at = 0;
    while at < rows {
        let n = random.pick(&[1, 9, 50]).min(rows - at);
        batches.push(whole.slice(at, n));
        at += n;
    }
    let (descending, nulls_first) = random.pick(&[(false, false), (true, false), (false, true)]);
    let memory = random.pick(&MEMORY);
    let options = WriteOptions::new()
        .sort_by(vec![by("k", descending, nulls_first)])
        .sort_memory_bytes(memory)
        .row_group_rows(70);
    let file = written(&whole.schema(), &batches, options)?;
    let (is, read) = read(&file, ReadOptions::default())?;
    if is != whole.schema() {
        return Ok(Some(format!("the schema is {is}")));
    }
    let columns = is.fields().len();
    let keys = whole.column(0).as_primitive::<Int8Type>();
    let key = |row: usize| keys.is_valid(row).then(|| keys.value(row) as usize);
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|a, b| compare(key(*a), key(*b), descending, nulls_first));
    let (want, got) = (lines(&[whole], columns), lines(&read, columns));
    for (column, field) in is.fields().iter().enumerate() {
        let want: Vec<&String> = order.iter().map(|row| &want[column][*row]).collect();
        let got: Vec<&String> = got[column].iter().collect();
        if want != got {
            return Ok(Some(format!(
                "{field}: {got:?}, not {want:?}, memory {memory}"
            )));
        }
    }
    Ok(None)
}

#[test]
fn of_any_types() {
    let wrong: Vec<String> = (0..cases(125))
        .filter_map(|seed| {
            let fault = match without_panic(|| check(seed)) {
                Ok(Ok(fault)) => fault,
                Ok(Err(error)) => Some(error.to_string()),
                Err(panic) => Some(panic),
            };
            fault.map(|fault| format!("seed {seed}: {fault}"))
        })
        .collect();
    report(&wrong);
}

/// The bytes depend only on the rows and the options.
#[test]
fn the_file_is_the_same_for_any_threads_batches_and_memory() {
    let random = &mut Random(5);
    let texts: Vec<Option<String>> = (0..3_000)
        .map(|_| (random.below(9) > 0).then(|| format!("text {}", random.below(500))))
        .collect();
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    let columns = [("s", texts), ("n", numbers(3_000))];
    let whole = RecordBatch::try_from_iter(columns).unwrap();
    let file = |threads, rows: usize, memory| {
        let batches: Vec<RecordBatch> = (0..3_000)
            .step_by(rows)
            .map(|at| whole.slice(at, rows.min(3_000 - at)))
            .collect();
        let options = WriteOptions::new()
            .sort_by(vec![by("s", true, true)])
            .sort_memory_bytes(memory)
            .row_group_rows(700)
            .threads(threads);
        written(&whole.schema(), &batches, options).unwrap()
    };
    let expected = file(1, 3_000, 1 << 30);
    // The 3,000 runs of one row each are merged 64 at a time, in two passes.
    assert!(file(2, 1, 1) == expected, "a run a row");
    for threads in [1, 2, 8] {
        for (rows, memory) in [(1, 1 << 30), (100, 50_000), (1_000, 20_000), (3_000, 1)] {
            let same = file(threads, rows, memory) == expected;
            assert!(same, "{threads} threads, {rows} rows, memory of {memory}");
        }
    }
}

/// The rows before and after the end of a row group are sorted separately.
#[test]
fn row_groups_that_the_caller_ends_are_sorted_alone() {
    for memory in MEMORY {
        let batch = RecordBatch::try_from_iter([("n", numbers(6))]).unwrap();
        let options = WriteOptions::new().sort_by(vec![by("n", true, false)]);
        let mut file = Vec::new();
        let options = options.sort_memory_bytes(memory);
        let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
        writer.write(&batch.slice(0, 2)).unwrap();
        writer.write(&batch.slice(2, 1)).unwrap();
        assert_eq!(writer.num_rows(), 3);
        writer.flush().unwrap();
        writer.write(&batch.slice(3, 3)).unwrap();
        assert_eq!(writer.num_rows(), 6);
        let metadata = writer.finish().unwrap();
        assert_eq!(metadata.num_row_groups(), 2);
        assert_eq!(order_of(&file), [2, 1, 0, 5, 4, 3]);
        assert_eq!(findings(&file), [""; 0]);
    }
}

/// The file declares its sort order, which must agree with the caller's declaration.
#[test]
fn the_file_says_that_it_is_sorted() {
    let batch = RecordBatch::try_from_iter([("m", numbers(3)), ("n", numbers(3))]).unwrap();
    let (m, n) = (by("m", true, false), by("n", false, true));
    let write = |said: Vec<_>| {
        let options = WriteOptions::new().sort_by(vec![m.clone(), n.clone()]);
        let mut writer = Writer::new(Vec::new(), batch.schema(), options.sorting_columns(said))?;
        writer.write(&batch)?;
        writer.finish()
    };
    for said in [vec![], vec![m.clone()], vec![m.clone(), n.clone()]] {
        let columns = write(said)
            .unwrap()
            .row_group(0)
            .unwrap()
            .sorting_columns
            .unwrap();
        let columns = columns
            .iter()
            .map(|column| (column.column_idx, column.descending, column.nulls_first));
        assert_eq!(
            columns.collect::<Vec<_>>(),
            [(0, true, false), (1, false, true)]
        );
    }
    let error = write(vec![n.clone()]).unwrap_err();
    assert!(error.message().contains("sorting_columns"), "{error}");
}

fn dictionary(keys: &[i8], values: &[&str]) -> ArrayRef {
    let values = Arc::new(StringArray::from(values.to_vec()));
    Arc::new(DictionaryArray::<Int8Type>::try_new(keys.to_vec().into(), values).unwrap())
}

/// Unused values are read back, and the values of all batches form one dictionary.
#[test]
fn dictionaries_stay_whole() {
    let field = |ordered| {
        let data_type = dictionary(&[], &[]).data_type().clone();
        Field::new("c", data_type, true).with_dict_is_ordered(ordered)
    };
    for memory in MEMORY {
        let write = |ordered, arrays: &[ArrayRef]| {
            let schema = Arc::new(Schema::new(vec![field(ordered)]));
            let batch = |it: &ArrayRef| RecordBatch::try_new(schema.clone(), vec![it.clone()]);
            let batches: Vec<RecordBatch> =
                arrays.iter().map(|array| batch(array).unwrap()).collect();
            let options = WriteOptions::new().sort_by(vec![by("c", false, false)]);
            written(&schema, &batches, options.sort_memory_bytes(memory))
        };
        let values = |file: &[u8]| {
            let (_, batches) = read(file, ReadOptions::default()).unwrap();
            let array = batches[0].column(0).as_dictionary::<Int8Type>().clone();
            let keys: Vec<i8> = array.keys().values().to_vec();
            let texts = array.values().as_string::<i32>().iter();
            (
                keys,
                texts
                    .map(|text| text.unwrap().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let one = dictionary(&[2, 0], &["x", "unused", "a"]);
        let same = dictionary(&[0, 2], &["x", "unused", "a"]);
        let other = dictionary(&[1, 0], &["a", "b"]);
        for ordered in [false, true] {
            let (keys, texts) = values(&write(ordered, &[one.clone(), same.clone()]).unwrap());
            assert_eq!(keys, [2, 2, 0, 0]);
            assert_eq!(texts, ["x", "unused", "a"]);
        }
        let (keys, texts) = values(&write(false, &[one.clone(), other.clone()]).unwrap());
        assert_eq!(keys, [2, 2, 3, 0]);
        assert_eq!(texts, ["x", "unused", "a", "b"]);
        let error = write(true, &[one, other]).unwrap_err();
        assert!(error.to_string().contains("ordered"), "{error}");

        let many = |from: usize| {
            let texts: Vec<String> = (from..from + 100).map(|i| i.to_string()).collect();
            dictionary(
                &[0, 99],
                &texts.iter().map(String::as_str).collect::<Vec<_>>(),
            )
        };
        // Together they have more values than fit in keys of 8 bits.
        let file = write(false, &[many(0), many(100)]).unwrap();
        let (_, batches) = read(&file, ReadOptions::default()).unwrap();
        let array = batches[0].column(0).as_dictionary::<Int16Type>().clone();
        assert_eq!(array.keys().values(), &[0, 100, 199, 99]);
        assert_eq!(array.values().as_string::<i32>().len(), 200);
    }
}
