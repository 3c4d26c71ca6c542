//! Arrow dictionaries are read back as they were written, with their order and with values that no row uses.

use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type,
};
use herringbone::arrow::array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Int8Array, Int32Array,
    Int64Array, LargeListArray, RecordBatch, RunArray, StringArray, StructArray,
    Time32MillisecondArray,
};
use herringbone::arrow::buffer::OffsetBuffer;
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::schema::HintPolicy;
use herringbone::{ColumnOptions, Error, ParquetFile, ReadOptions, WriteOptions, Writer};

use crate::files;

type Keys = [Option<i8>];

fn dictionary(keys: &Keys, values: ArrayRef) -> ArrayRef {
    let keys = Int8Array::from(keys.to_vec());
    Arc::new(DictionaryArray::<Int8Type>::try_new(keys, values).unwrap())
}

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// Returns a schema with one column `c`, whose dictionary may be ordered.
fn schema(data_type: &DataType, is_ordered: bool) -> Arc<Schema> {
    let field = Field::new("c", data_type.clone(), true).with_dict_is_ordered(is_ordered);
    Arc::new(Schema::new(vec![field]))
}

fn written(
    batches: &[ArrayRef],
    is_ordered: bool,
    options: WriteOptions,
) -> Result<Vec<u8>, Error> {
    let schema = schema(batches[0].data_type(), is_ordered);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, schema.clone(), options)?;
    for array in batches {
        writer.write(&RecordBatch::try_new(schema.clone(), vec![array.clone()]).unwrap())?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Returns a file's batches. The flag is true if its only column is an ordered dictionary.
fn read(file: &[u8]) -> (Vec<ArrayRef>, Option<bool>) {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let reader = file.read(ReadOptions::default().threads(1)).unwrap();
    let is_ordered = reader.schema().field(0).dict_is_ordered();
    let batches = reader.map(|batch| batch.unwrap().column(0).clone());
    (batches.collect(), is_ordered)
}

fn parts(array: &ArrayRef) -> (Vec<Option<i8>>, ArrayRef) {
    let array = array.as_dictionary::<Int8Type>();
    (array.keys().iter().collect(), array.values().clone())
}

fn assert_sound(file: &[u8]) {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let findings: Vec<_> = herringbone_inspect::verify(&file)
        .map(|finding| finding.unwrap().to_string())
        .collect();
    assert_eq!(findings, Vec::<String>::new());
}

const SIZES: [&str; 4] = ["small", "medium", "large", "huge"];
const KEYS: [Option<i8>; 6] = [Some(2), Some(0), None, Some(2), Some(1), Some(0)];

#[test]
fn values_that_no_row_has_and_their_order() {
    let fixed = [b"zz", b"aa", b"mm", b"qq"].into_iter();
    let values: [ArrayRef; 4] = [
        strings(&SIZES),
        Arc::new(Int64Array::from(vec![40, 10, 30, 20])),
        Arc::new(Int32Array::from(vec![-1, 7, 5, 6])),
        Arc::new(FixedSizeBinaryArray::try_from_iter(fixed).unwrap()),
    ];
    for values in values {
        for is_ordered in [false, true] {
            for keys in [&KEYS[..], &[None, None], &[Some(3)]] {
                let array = dictionary(keys, values.clone());
                let file = written(&[array], is_ordered, WriteOptions::new()).unwrap();
                assert_sound(&file);
                let (batches, ordered) = read(&file);
                assert_eq!(ordered, Some(is_ordered));
                assert_eq!(batches.len(), 1);
                let (read_keys, read_values) = parts(&batches[0]);
                assert_eq!(read_keys, keys);
                assert_eq!(&read_values, &values);
            }
        }
    }
}

#[test]
fn each_row_group_has_all_values() {
    let array = dictionary(&KEYS, strings(&SIZES));
    let options = WriteOptions::new().row_group_rows(2);
    // Both batches have the same dictionary, and the second row group spans both.
    let batches = [array.slice(0, 3), array.slice(3, 3)];
    let file = written(&batches, true, options).unwrap();
    assert_sound(&file);
    let (batches, ordered) = read(&file);
    assert_eq!((batches.len(), ordered), (3, Some(true)));
    let mut keys = Vec::new();
    for batch in &batches {
        let (more, values) = parts(batch);
        keys.extend(more);
        assert_eq!(&values, &strings(&SIZES));
    }
    assert_eq!(keys, KEYS);
}

#[test]
fn other_dictionaries_add_their_values_behind() {
    let batches = [
        dictionary(&[Some(1)], strings(&["a", "b", "c"])),
        dictionary(&[Some(1), Some(2)], strings(&["x", "b", "y", "z"])),
    ];
    let file = written(&batches, true, WriteOptions::new()).unwrap();
    assert_sound(&file);
    let (batches, _) = read(&file);
    let (keys, values) = parts(&batches[0]);
    assert_eq!(&values, &strings(&["a", "b", "c", "x", "y", "z"]));
    assert_eq!(keys, [Some(1), Some(1), Some(4)]);
}

/// The keys of each batch are wide enough for its own values, but not for all values together.
#[test]
fn dictionaries_that_are_too_many_values_together() {
    let words = |batch: usize| -> Vec<String> {
        let words = (0..100).map(|i| format!("the word number {}", 60 * batch + i));
        words.collect()
    };
    let batch = |batch: usize| {
        let words: ArrayRef = Arc::new(StringArray::from(words(batch)));
        let keys = (0..500).map(|i| (i % 9 != 0).then_some((i * 7 % 100) as i8));
        dictionary(&keys.collect::<Vec<_>>(), words)
    };
    let expected = (0..4).flat_map(|batch| {
        let words = words(batch);
        (0..500).map(move |i| (i % 9 != 0).then(|| words[i * 7 % 100].clone()))
    });
    let expected: Vec<Option<String>> = expected.collect();
    let batches: Vec<ArrayRef> = (0..4).map(batch).collect();
    let file = written(&batches, false, WriteOptions::new()).unwrap();
    assert_sound(&file);
    let (batches, _) = read(&file);
    let mut found: Vec<Option<String>> = Vec::new();
    for batch in &batches {
        let batch = batch.as_dictionary::<Int16Type>();
        let strings = batch.downcast_dict::<StringArray>().unwrap();
        found.extend(strings.into_iter().map(|string| string.map(Into::into)));
    }
    assert_eq!(found, expected);
    // Ordered dictionaries are merged, too, and all values keep their order.
    let batches: Vec<ArrayRef> = (0..4).map(batch).collect();
    let file = written(&batches, true, WriteOptions::new()).unwrap();
    let (read_batches, ordered) = read(&file);
    assert_eq!(ordered, Some(true));
    let all: Vec<String> = (0..280).map(|i| format!("the word number {i}")).collect();
    for batch in &read_batches {
        let values = batch.as_dictionary::<Int16Type>().values();
        assert_eq!(
            values
                .as_string::<i32>()
                .iter()
                .flatten()
                .collect::<Vec<_>>(),
            all
        );
    }
    // If each batch has its own row group, then each row group has its own dictionary.
    let options = WriteOptions::new().row_group_rows(500);
    let file = written(&batches, true, options).unwrap();
    assert_eq!(parts(&read(&file).0[3]), parts(&batches[3]));
}

/// Returns numbers as words in a dictionary of their own, with each word once.
fn words<K: ArrowDictionaryKeyType>(numbers: Range<usize>) -> ArrayRef {
    let words: Vec<String> = numbers.map(|i| format!("word {i}")).collect();
    let dictionary: DictionaryArray<K> = words.iter().map(String::as_str).collect();
    Arc::new(dictionary)
}

/// Returns the types of a file's only column. These are the type in `ARROW:schema`, and the type that this library
/// reads.
fn types(file: &[u8]) -> [DataType; 2] {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let reader = file.read(ReadOptions::default()).unwrap();
    let schemas = [files::arrow_schema(&file), Schema::clone(&reader.schema())];
    schemas.map(|schema| schema.field(0).data_type().clone())
}

/// pyarrow 26 and polars 2.1 can read 128 values with keys of 8 bits, but fail at 129. This applies to the other widths
/// accordingly.
#[test]
fn keys_are_wider_where_values_of_a_row_group_need_it() {
    use DataType::{Int8, Int16, Int32, UInt8, UInt16, UInt32};
    fn check<K: ArrowDictionaryKeyType>(most: usize, wider: &DataType) {
        for (count, key) in [
            (most, <K as ArrowPrimitiveType>::DATA_TYPE),
            (most + 1, wider.clone()),
        ] {
            let half = count / 2;
            let batches = [
                words::<K>(0..half),
                words::<K>(half..count),
                words::<K>(0..half),
            ];
            let file = written(&batches, false, WriteOptions::new()).unwrap();
            let expected = DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
            assert_eq!(types(&file), [expected.clone(), expected], "{count}");
        }
    }
    check::<Int8Type>(128, &Int16);
    check::<UInt8Type>(256, &UInt16);
    check::<Int16Type>(32_768, &Int32);
    check::<UInt16Type>(65_536, &UInt32);
    assert_eq!((Int8Type::DATA_TYPE, UInt8Type::DATA_TYPE), (Int8, UInt8));
}

/// Readers start a new dictionary at each dictionary page.
#[test]
fn keys_stay_where_each_row_group_has_few_values() {
    let batches = [words::<Int8Type>(0..100), words::<Int8Type>(100..200)];
    let options = WriteOptions::new().row_group_rows(100);
    let file = written(&batches, false, options).unwrap();
    for data_type in types(&file) {
        assert_eq!(&data_type, batches[0].data_type());
    }
}

/// Arrow C++ uses one dictionary for all pages without indices, across row groups, so pyarrow 26 fails with 8 bits
/// here.
#[test]
fn keys_are_wider_for_values_without_dictionary_pages() {
    let batches = [words::<Int8Type>(0..100), words::<Int8Type>(100..200)];
    let plain = ColumnOptions::new().dictionary(false);
    let options = WriteOptions::new().row_group_rows(100).columns(plain);
    let file = written(&batches, false, options.clone()).unwrap();
    let expected = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8));
    assert_eq!(types(&file), [expected.clone(), expected]);
    let file = written(&batches[..1], false, options).unwrap();
    for data_type in types(&file) {
        assert_eq!(&data_type, batches[0].data_type());
    }
}

/// Keys are widened inside structs, lists, maps and runs, but only in the columns that need it.
#[test]
fn keys_below_other_types_are_wider_as_well() {
    let few = || words::<Int8Type>(0..10);
    let field =
        |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let row = |many: ArrayRef| -> ArrayRef {
        let few: ArrayRef = few();
        let lists = |array: ArrayRef| -> ArrayRef {
            let offsets = OffsetBuffer::from_lengths([array.len()]);
            Arc::new(LargeListArray::new(
                field("item", &array),
                offsets,
                array,
                None,
            ))
        };
        let lists = [lists(many), lists(few)];
        let fields = vec![field("many", &lists[0]), field("few", &lists[1])];
        Arc::new(StructArray::new(fields.into(), lists.to_vec(), None))
    };
    let file = written(
        &[
            row(words::<Int8Type>(0..100)),
            row(words::<Int8Type>(50..150)),
        ],
        false,
        WriteOptions::new(),
    )
    .unwrap();
    for data_type in types(&file) {
        let text = data_type.to_string();
        assert!(
            text.contains("Dictionary(Int16, Utf8)") && text.contains("Dictionary(Int8, Utf8)"),
            "{text}"
        );
    }
    let runs = |range| -> ArrayRef {
        let words = words::<Int8Type>(range);
        let ends = Int32Array::from_iter_values(1..=words.len() as i32);
        Arc::new(RunArray::<Int32Type>::try_new(&ends, &words).unwrap())
    };
    let file = written(&[runs(0..100), runs(100..200)], false, WriteOptions::new()).unwrap();
    let [of_others, of_ours] = types(&file).map(|types| types.to_string());
    assert_eq!(of_others, "Dictionary(Int16, Utf8)");
    assert!(of_ours.contains("Dictionary(Int16, Utf8)"), "{of_ours}");
}

#[test]
fn in_structs_and_lists() {
    let array = dictionary(&KEYS, strings(&SIZES));
    let field = Field::new("d", array.data_type().clone(), true).with_dict_is_ordered(true);
    let array: ArrayRef = Arc::new(StructArray::new(vec![field].into(), vec![array], None));
    let file = written(std::slice::from_ref(&array), false, WriteOptions::new()).unwrap();
    let (batches, _) = read(&file);
    assert_eq!(&batches[0], &array);
    let DataType::Struct(fields) = batches[0].data_type() else {
        panic!("no struct");
    };
    assert_eq!(fields[0].dict_is_ordered(), Some(true));
    let values = parts(batches[0].as_struct().column(0)).1;
    assert_eq!(&values, &strings(&SIZES));
}

/// The limit `dictionary_bytes` applies to values that no row uses, unless the dictionary is ordered.
#[test]
fn too_large_dictionaries_are_kept_only_for_their_order() {
    let words: Vec<String> = (0..100)
        .map(|i| format!("the word number {}", 997 * i % 100))
        .collect();
    let words: ArrayRef = Arc::new(StringArray::from(words));
    let array = dictionary(&[Some(99), Some(3)], words.clone());
    let options = WriteOptions::new().columns(ColumnOptions::new().dictionary_bytes(500));
    let file = written(std::slice::from_ref(&array), true, options.clone()).unwrap();
    assert_eq!(&parts(&read(&file).0[0]).1, &words);
    let file = written(&[array], false, options).unwrap();
    let (keys, values) = parts(&read(&file).0[0]);
    assert_eq!((keys.len(), values.len()), (2, 2));
}

#[test]
fn statistics_and_filters_know_only_what_rows_have() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![5, 900, 7, -900]));
    let array = dictionary(&[Some(0), Some(2), Some(0)], values);
    let filter = herringbone::BloomFilterOptions::default();
    let options = WriteOptions::new().columns(ColumnOptions::new().bloom_filter(filter));
    let file = written(&[array], false, options).unwrap();
    assert_sound(&file);
    let file = ParquetFile::from_bytes(file).unwrap();
    let chunk = file.metadata().column_chunk(0, 0).unwrap();
    let statistics = chunk
        .meta_data
        .as_ref()
        .unwrap()
        .statistics
        .as_ref()
        .unwrap();
    assert_eq!(
        statistics.min_value.as_deref(),
        Some(&5_i64.to_le_bytes()[..])
    );
    assert_eq!(
        statistics.max_value.as_deref(),
        Some(&7_i64.to_le_bytes()[..])
    );
    assert_eq!(statistics.distinct_count, Some(2));
}

/// It is an error if an ordered dictionary cannot be stored.
#[test]
fn orders_that_no_page_keeps_are_errors() {
    let booleans: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let array = dictionary(&[Some(0)], booleans);
    let error = written(std::slice::from_ref(&array), true, WriteOptions::new()).unwrap_err();
    assert!(
        error.to_string().contains("an ordered dictionary"),
        "{error}"
    );
    assert!(written(&[array], false, WriteOptions::new()).is_ok());
    let array = dictionary(&KEYS, strings(&SIZES));
    let plain = WriteOptions::new().columns(ColumnOptions::new().dictionary(false));
    let error = written(std::slice::from_ref(&array), true, plain.clone()).unwrap_err();
    assert!(
        error.to_string().contains("an ordered dictionary"),
        "{error}"
    );
    assert!(written(std::slice::from_ref(&array), false, plain.clone()).is_ok());
    let mut forgetful = plain;
    forgetful.schema.arrow_schema_hint = HintPolicy::None;
    assert!(written(&[array], true, forgetful).is_ok());
}

/// If an unused value cannot be stored, we still write the other values.
#[test]
fn values_that_no_row_has_may_be_impossible() {
    let times: ArrayRef = Arc::new(Time32MillisecondArray::from(vec![1, 86_400_000]));
    let array = dictionary(&[Some(0)], times);
    let file = written(std::slice::from_ref(&array), false, WriteOptions::new()).unwrap();
    assert_eq!(parts(&read(&file).0[0]).1.len(), 1);
    let error = written(&[array], true, WriteOptions::new()).unwrap_err();
    assert!(error.to_string().contains("86400000"), "{error}");
}

#[test]
fn as_pyarrow_writes_them() {
    let path = files::testdata().join("pyarrow/ordered_dictionary.parquet");
    let file = ParquetFile::open(path).unwrap();
    let reader = file.read(ReadOptions::default()).unwrap();
    let schema = reader.schema();
    let ordered = schema.fields().iter().map(|field| field.dict_is_ordered());
    // The dictionary of numbers only has the values that rows use, in the order of the rows.
    assert!(ordered.eq([Some(true), Some(true), Some(false)]));
    let mut rows = 0;
    for batch in reader {
        let batch = batch.unwrap();
        rows += batch.num_rows();
        for column in &batch.columns()[..2] {
            assert_eq!(&parts(column).1, &strings(&SIZES));
        }
    }
    assert_eq!(rows, KEYS.len());
}

#[test]
fn plain_integers_know_no_order() {
    let array: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let file = written(&[array], false, WriteOptions::new()).unwrap();
    let (batches, ordered) = read(&file);
    assert_eq!(ordered, None);
    assert_eq!(batches[0].as_primitive::<Int64Type>().values(), &[1, 2]);
}
