//! Writes datasets and reads them back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use herringbone::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray, cast::AsArray,
};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::col;
use herringbone::{ErrorKind, ReadOptions};
use herringbone_dataset::{
    Dataset, DatasetOptions, DatasetWriteOptions, DatasetWriter, Partitioning, SchemaFrom,
    metadata_file,
};

use crate::files::{Folder, all, ids};

/// Returns rows with a text that repeats, a date and a boolean.
fn rows(texts: &[Option<&str>], first: i64) -> RecordBatch {
    let rows = first..first + texts.len() as i64;
    let days: Vec<i32> = rows.clone().map(|id| 19_723 + (id % 2) as i32).collect();
    let flags: Vec<bool> = rows.clone().map(|id| id % 3 == 0).collect();
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("text", Arc::new(StringArray::from(texts.to_vec())), true),
        ("id", Arc::new(Int64Array::from_iter_values(rows)), false),
        ("day", Arc::new(Date32Array::from(days)), false),
        ("flag", Arc::new(BooleanArray::from(flags)), false),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn by(columns: &[&str]) -> DatasetWriteOptions {
    DatasetWriteOptions::new().partition_by(columns.iter().copied())
}

/// Returns the names in all directories below a path, without their unique parts.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let below = self::names(&entry.path()).into_iter();
            names.extend(below.map(|below| format!("{name}/{below}")));
        } else {
            names.insert(name.split('-').next().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn values_of_partitions_come_back() {
    let folder = Folder::new("write");
    let texts = [
        "a/b",
        "..",
        "",
        "%2F",
        "é ü",
        "x=y",
        "01",
        "_z",
        "q\"\\?*\n",
        "null",
    ];
    let mut texts: Vec<_> = texts.iter().map(|text| Some(*text)).collect();
    texts.push(None);
    let twice = [texts.clone(), texts.clone()].concat();
    let batch = rows(&twice, 0);
    let options = by(&["text", "day"]);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch.slice(0, 0)).unwrap();
    // No file has its final name before it is complete.
    let files =
        |names: BTreeSet<String>| names.iter().filter(|name| name.ends_with("part")).count();
    assert_eq!(files(names(&folder.0)), 0);
    let written = writer.finish().unwrap();
    assert_eq!(written.len(), 22);
    assert_eq!(files(names(&folder.0)), 22);
    let names = names(&folder.0);
    for name in [
        "text=a%2Fb/day=2024-01-01/part",
        "text=../day=2024-01-02/part",
        "text=/day=2024-01-01/part",
        "text=%252F/day=2024-01-02/part",
        "text=é ü/day=2024-01-01/part",
        "text=q%22%5C%3F%2A%0A/day=2024-01-01/part",
        "text=__HIVE_DEFAULT_PARTITION__/day=2024-01-01/part",
    ] {
        assert!(names.contains(name), "{name} in {names:#?}");
    }
    for file in &written {
        let path = folder.0.join(&file.path);
        assert_eq!(fs::metadata(path).unwrap().len(), file.bytes);
        assert_eq!(file.metadata.num_rows(), 1);
    }
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    assert_eq!(dataset.schema().field(3).data_type(), &DataType::Date32);
    let mut read = Vec::new();
    for batch in all(dataset.read(ReadOptions::new()).unwrap()).unwrap() {
        let text = batch
            .column_by_name("text")
            .unwrap()
            .as_string::<i32>()
            .iter();
        let text = text.map(|text| text.map(str::to_owned));
        read.extend(
            ids(std::slice::from_ref(&batch))
                .into_iter()
                .zip(text.collect::<Vec<_>>()),
        );
    }
    read.sort();
    let expected = twice.iter().map(|value| value.map(str::to_owned));
    assert_eq!(read, (0..22).zip(expected).collect::<Vec<_>>());
    let filter = ReadOptions::new().filter(col("day").eq("2024-01-02").and(col("text").eq("..")));
    assert_eq!(ids(&all(dataset.read(filter).unwrap()).unwrap()), [1]);
}

/// Only a given schema restores timestamps, decimals and dictionaries.
#[test]
fn values_of_given_types_come_back() {
    let folder = Folder::new("typed");
    let micros = [Some(1_704_164_645_600_000), Some(-1), None];
    let times = TimestampMicrosecondArray::from(micros.to_vec()).with_timezone("UTC");
    let prices = Decimal128Array::from(vec![150, -5, 0]);
    let prices = prices.with_precision_and_scale(10, 2).unwrap();
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a/b", "c"]));
    let keys = Int32Array::from(vec![Some(1), Some(0), None]);
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("id", Arc::new(Int64Array::from(vec![0, 1, 2])), true),
        ("time", Arc::new(times), true),
        ("price", Arc::new(prices), true),
        ("text", Arc::new(DictionaryArray::new(keys, texts)), true),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let options = by(&["time", "price", "text"]);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let typed = DatasetOptions::new().partitioning(Partitioning::Typed(batch.schema()));
    let given = DatasetOptions::new().schema(SchemaFrom::Given(batch.schema()));
    for options in [typed, given] {
        let dataset = Dataset::open(&folder.0, options.clone()).unwrap();
        assert_eq!(dataset.schema(), &batch.schema());
        let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
        assert_eq!(batches.len(), 3);
        for read in batches {
            let row = ids(std::slice::from_ref(&read))[0] as usize;
            for (found, written) in read.columns().iter().zip(batch.slice(row, 1).columns()) {
                assert_eq!(found.data_type(), written.data_type());
                // Dictionaries are equal if their values are.
                assert_eq!(found, written);
            }
        }
        for (filter, expected) in [
            (col("time").ge("2024-01-02T03:04:05.6Z"), 0),
            (col("time").lt("1970-01-01T00:00:00Z"), 1),
            (col("price").lt(0), 1),
            (col("text").eq("a/b"), 1),
            (col("text").is_null(), 2),
        ] {
            let filtered =
                Dataset::open(&folder.0, options.clone().filter(filter.clone())).unwrap();
            assert_eq!(filtered.files().len(), 1, "{filter}");
            let read = all(filtered.read(ReadOptions::new()).unwrap()).unwrap();
            assert_eq!(ids(&read), [expected], "{filter}");
        }
    }
    let plain = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    let types = plain.schema().fields().iter().skip(1);
    assert!(
        types
            .map(|type_| type_.data_type())
            .eq([&DataType::Utf8; 3])
    );
    let wrong = Schema::new(vec![Field::new("price", DataType::Decimal128(10, 1), true)]);
    let wrong = DatasetOptions::new().partitioning(Partitioning::Typed(Arc::new(wrong)));
    let wrong = Dataset::open(&folder.0, wrong).unwrap();
    let error = all(wrong.read(ReadOptions::new()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert!(error.message().contains("-0.05"), "{error}");
}

#[test]
fn files_are_split_by_rows_and_bytes() {
    let folder = Folder::new("split");
    let texts = vec![Some("a"); 2500];
    let options = by(&["text"]).max_rows(1000);
    let batch = rows(&texts, 0);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(writer.finished_files().len(), 2);
    writer.write(&rows(&texts, 2500)).unwrap();
    let written = writer.finish().unwrap();
    let rows_of = |file: &herringbone_dataset::WrittenFile| file.metadata.num_rows();
    assert_eq!(written.iter().map(rows_of).collect::<Vec<_>>(), [1000; 5]);
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    let read = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&read), (0..5000).collect::<Vec<_>>());
    // A second writer adds files to the first one's.
    let mut options = by(&[]).max_bytes(1);
    options.write = options.write.row_group_rows(500);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    writer.write(&batch.slice(0, 600)).unwrap();
    writer.write(&batch.slice(600, 600)).unwrap();
    assert_eq!(writer.finish().unwrap().len(), 2);
    let plain = DatasetOptions::new().partitioning(Partitioning::None);
    let files = || {
        Dataset::open(&folder.0, plain.clone())
            .unwrap()
            .files()
            .len()
    };
    assert_eq!(files(), 7);
    // If a writer is dropped, its complete files remain, and the others do not appear.
    let options = by(&[]).max_rows(100);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    writer.write(&batch.slice(0, 2050)).unwrap();
    drop(writer);
    assert_eq!(files(), 27);
}

#[test]
fn texts_of_digits_compare_with_numbers_by_value() {
    let folder = Folder::new("months");
    let batch = rows(&[Some("03"), Some("10"), None, Some("-1"), Some("3")], 0);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), by(&["text"])).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let found = |predicate: &herringbone::filter::Predicate| -> herringbone::Result<Vec<i64>> {
        let dataset = Dataset::open(&folder.0, DatasetOptions::new())?;
        let read = all(dataset.read(ReadOptions::new().filter(predicate.clone()))?)?;
        let filtered = Dataset::open(&folder.0, DatasetOptions::new().filter(predicate.clone()))?;
        let listed = all(filtered.read(ReadOptions::new())?)?;
        let (mut read, mut listed) = (ids(&read), ids(&listed));
        read.sort_unstable();
        listed.sort_unstable();
        assert_eq!(read, listed, "{predicate}");
        Ok(read)
    };
    for (predicate, expected) in [
        (col("text").eq(3), &[0, 4][..]),
        (col("text").eq("03"), &[0]),
        (col("text").ne(3), &[1, 3]),
        (col("text").lt(10), &[0, 3, 4]),
        (col("text").between(3, 11), &[0, 1, 4]),
        (col("text").is_in([10, 11]).not(), &[0, 3, 4]),
        // Each of these also needs a file's rows to be decided.
        (col("text").eq(3).and(col("id").gt(0)), &[4]),
        (col("text").eq(10).or(col("id").eq(2)), &[1, 2]),
    ] {
        assert_eq!(found(&predicate).unwrap(), expected, "{predicate}");
    }
    // If one of the texts is no longer a number, nothing is compared by value.
    let batch = rows(&[Some("all")], 5);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), by(&["text"])).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    assert_eq!(found(&col("text").eq("03")).unwrap(), [0]);
    let error = found(&col("text").eq(3)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
}

#[test]
fn names_of_files_count_in_each_directory() {
    let folder = Folder::new("named");
    let batch = rows(&["a", "b", "a", "a"].map(Some), 0);
    let named = |names: &str| by(&["text"]).max_rows(2).file_names(names);
    let paths = |first: i64| {
        let options = named("day-{i}.parquet");
        let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
        let texts = ["a", "b", "a", "a"].map(Some);
        writer.write(&rows(&texts, first)).unwrap();
        let written = writer.finish().unwrap().into_iter();
        written.map(|file| file.path).collect::<Vec<_>>()
    };
    let expected = [
        "text=a/day-0.parquet",
        "text=a/day-1.parquet",
        "text=b/day-0.parquet",
    ];
    assert_eq!(paths(0), expected);
    // The second writer's files replace the first one's.
    assert_eq!(paths(10), expected);
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    let read = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&read), [10, 12, 13, 11]);
    for (wrong, reason) in [
        ("day.parquet", "{i}"),
        ("{i}-{i}.parquet", "once"),
        ("x/{i}.parquet", "without directories"),
        ("_{i}.parquet", "skip names"),
    ] {
        let made = DatasetWriter::create(&folder.0, batch.schema(), named(wrong));
        let error = made.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(reason), "{error}");
    }
}

#[test]
fn open_files_are_bounded_and_the_least_recent_is_finished() {
    let folder = Folder::new("lru");
    let texts = ["a", "b", "a", "c", "a", "b"].map(Some);
    let batch = rows(&texts, 0);
    let options = by(&["text"]).max_open_files(2);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    for row in 0..texts.len() {
        writer.write(&batch.slice(row, 1)).unwrap();
    }
    // `b` was finished for `c`, and then `c` for `b`, while `a` stayed open.
    let finished = writer
        .finished_files()
        .iter()
        .map(|finished_file| finished_file.path[..6].to_owned());
    assert_eq!(finished.collect::<Vec<_>>(), ["text=b", "text=c"]);
    assert_eq!(writer.finish().unwrap().len(), 4);
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    let mut read = ids(&all(dataset.read(ReadOptions::new()).unwrap()).unwrap());
    read.sort_unstable();
    assert_eq!(read, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn metadata_of_written_files_is_found() {
    let folder = Folder::new("written-metadata");
    let batch = rows(&[Some("a"), Some("b/c")], 0);
    let options = by(&["text"]);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    let written = writer.finish().unwrap();
    let files = written
        .iter()
        .map(|written| (written.path.as_str(), &written.metadata));
    folder.put("_metadata", &metadata_file(files, true).unwrap());
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    assert_eq!(
        ids(&all(dataset.read(ReadOptions::new()).unwrap()).unwrap()),
        [0, 1]
    );
}

#[test]
fn mistakes_are_errors() {
    let folder = Folder::new("mistakes");
    let batch = rows(&[Some("a")], 0);
    let create = |columns: &[&str]| {
        DatasetWriter::create(folder.0.join("x"), batch.schema(), by(columns)).unwrap_err()
    };
    assert_eq!(create(&["y"]).kind(), ErrorKind::Argument);
    assert_eq!(create(&["id", "id"]).kind(), ErrorKind::Argument);
    assert_eq!(
        create(&["text", "id", "day", "flag"]).kind(),
        ErrorKind::Argument
    );
    let float = Schema::new(vec![
        Field::new("f", DataType::Float64, false),
        Field::new("g", DataType::Float64, false),
    ]);
    let error = DatasetWriter::create(&folder.0, Arc::new(float), by(&["f"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), by(&["text"])).unwrap();
    let other: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let other = RecordBatch::try_from_iter([("f", other)]).unwrap();
    assert_eq!(
        writer.write(&other).unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        writer.write(&batch).unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Argument);
    let null = rows(&[Some("__HIVE_DEFAULT_PARTITION__")], 0);
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), by(&["text"])).unwrap();
    assert_eq!(writer.write(&null).unwrap_err().kind(), ErrorKind::Argument);
    drop(writer);
    // A dropped writer leaves no file.
    let mut writer = DatasetWriter::create(&folder.0, batch.schema(), by(&["text"])).unwrap();
    writer.write(&batch).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.0.join("text=a")).unwrap().count(), 0);
}
