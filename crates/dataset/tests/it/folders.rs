//! Reads datasets in folders on this machine.

use std::fs;
use std::sync::Arc;

use herringbone::arrow::array::{
    Array, ArrayRef, Int64Array, RecordBatch, StringArray, cast::AsArray, types,
};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::{Predicate, PruningStep, col};
use herringbone::{
    ColumnOptions, Compression, ErrorKind, ReadOptions, VirtualColumn, WriteOptions, Writer,
};
use herringbone_dataset::{Dataset, DatasetOptions, DatasetReadOptions, Partitioning};

use crate::files::{Folder, all, file, ids};

fn read(folder: &Folder, pattern: &str, filter: Option<Predicate>) -> Vec<i64> {
    let mut options = DatasetOptions::new();
    options.filter = filter;
    let dataset = Dataset::open(folder.0.join(pattern), options).unwrap();
    ids(&all(dataset.read(ReadOptions::new()).unwrap()).unwrap())
}

/// The months are text, because no number is formatted as `01`.
#[test]
fn months_with_a_zero_are_text() {
    let folder = Folder::new("months");
    for (month, first) in [("01", 0), ("02", 10), ("10", 20)] {
        folder.add(&format!("m={month}/a.parquet"), first..first + 2);
    }
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    assert_eq!(dataset.directories_listed(), 4);
    let field = dataset.schema().field(1).clone();
    assert_eq!(
        (field.name().as_str(), field.data_type()),
        ("m", &DataType::Utf8)
    );
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&batches), [0, 1, 10, 11, 20, 21]);
    let months = batches
        .iter()
        .flat_map(|batch| batch.column(1).as_string::<i32>().iter());
    let months: Vec<_> = months.flatten().collect();
    assert_eq!(months, ["01", "01", "02", "02", "10", "10"]);
    assert_eq!(read(&folder, "", Some(col("m").eq("01"))), [0, 1]);
    assert_eq!(read(&folder, "", Some(col("m").ge("02"))), [10, 11, 20, 21]);
    // A read's filter selects files, too.
    let options = ReadOptions::new().filter(col("m").eq("10").and(col("id").gt(20)));
    let batches = all(dataset.read(options).unwrap()).unwrap();
    assert_eq!(ids(&batches), [21]);
    // These texts are compared by value with whole numbers, but not with other numbers.
    assert_eq!(read(&folder, "", Some(col("m").eq(1))), [0, 1]);
    let error = DatasetOptions::new().filter(col("m").eq(1.5));
    let error = Dataset::open(&folder.0, error).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
}

/// pyarrow reads these values with `partitioning=["y", "m"]`.
#[test]
fn names_of_directories_are_values() {
    let folder = Folder::new("directories");
    folder.add("2012/1/x.parquet", 0..1);
    folder.add("2014/x.parquet", 1..2);
    folder.add("2015/2/deeper/x.parquet", 2..3);
    folder.add("x.parquet", 3..4);
    let of = |names: &[&str], types: Vec<Field>| {
        DatasetOptions::new().partitioning(Partitioning::Directories {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            types: Arc::new(Schema::new(types)),
        })
    };
    let options = of(&["y", "m"], vec![Field::new("m", DataType::Int8, true)]);
    let dataset = Dataset::open(&folder.0, options.clone()).unwrap();
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&batches), [0, 1, 2, 3]);
    let years = batches
        .iter()
        .flat_map(|batch| batch.column(1).as_primitive::<types::Int64Type>());
    assert_eq!(
        years.collect::<Vec<_>>(),
        [Some(2012), Some(2014), Some(2015), None]
    );
    let months = batches
        .iter()
        .flat_map(|batch| batch.column(2).as_primitive::<types::Int8Type>());
    assert_eq!(months.collect::<Vec<_>>(), [Some(1), None, Some(2), None]);
    // When the directory 2014 is tested, its month is not known yet.
    let rows = |filter| {
        let dataset = Dataset::open(&folder.0, options.clone().filter(filter)).unwrap();
        ids(&all(dataset.read(ReadOptions::new()).unwrap()).unwrap())
    };
    assert_eq!(rows(col("m").is_null()), [1, 3]);
    assert_eq!(rows(col("y").gt(2012).and(col("m").eq(2))), [2]);
    let message = |options: DatasetOptions, path: &str| {
        let error = Dataset::open(folder.0.join(path), options).unwrap_err();
        error.message().to_owned()
    };
    let found = message(options.clone(), "2014/x.parquet");
    assert!(found.contains("needs the directory above"), "{found}");
    let found = message(of(&["y", "y"], Vec::new()), "");
    assert!(found.contains("`y` is twice"), "{found}");
}

#[test]
fn nulls_escapes_and_numbers() {
    let folder = Folder::new("nulls");
    folder.add("y=2023/c=a%2Fb/x.parquet", 0..1);
    folder.add("y=2024/c=__HIVE_DEFAULT_PARTITION__/x.parquet", 1..2);
    folder.add("y=2024/c=01001/x.parquet", 2..3);
    folder.add("y=__HIVE_DEFAULT_PARTITION__/c=/x.parquet", 3..4);
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    assert_eq!(dataset.schema().field(1).data_type(), &DataType::Int64);
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    // The files are sorted by name, and `0` sorts before `_`.
    assert_eq!(ids(&batches), [0, 2, 1, 3]);
    let years = batches
        .iter()
        .map(|batch| batch.column(1).as_primitive::<types::Int64Type>());
    let years: Vec<_> = years
        .map(|years| years.is_valid(0).then(|| years.value(0)))
        .collect();
    assert_eq!(years, [Some(2023), Some(2024), Some(2024), None]);
    let codes = batches
        .iter()
        .map(|batch| batch.column(2).as_string::<i32>().clone());
    let codes: Vec<_> = codes
        .map(|codes| codes.iter().next().unwrap().map(str::to_owned))
        .collect();
    assert_eq!(
        codes,
        ["a/b", "01001", "", ""]
            .map(|it| Some(it.to_owned()))
            .into_iter()
            .enumerate()
            .map(|(at, it)| it.filter(|_| at != 2))
            .collect::<Vec<_>>()
    );
    assert_eq!(read(&folder, "", Some(col("y").is_null())), [3]);
    assert_eq!(read(&folder, "", Some(col("c").is_null())), [1]);
    assert_eq!(read(&folder, "", Some(col("y").ne(2024))), [0]);
    assert_eq!(read(&folder, "", Some(col("c").eq("a/b"))), [0]);
    assert_eq!(
        read(&folder, "", Some(col("y").eq(2023).or(col("id").eq(3)))),
        [0, 3]
    );
}

#[test]
fn a_path_that_exists_is_not_a_pattern() {
    let folder = Folder::new("signs");
    folder.add("a[1]*/b?.parquet", 0..1);
    folder.add("a1/b1.parquet", 1..2);
    for (path, expected) in [
        ("a[1]*", vec![0]),
        ("a[1]*/b?.parquet", vec![0]),
        ("a[1]", vec![1]),
        ("a1/b?.parquet", vec![1]),
        ("a[[]1]*/b?.parquet", vec![0]),
    ] {
        assert_eq!(read(&folder, path, None), expected, "{path}");
    }
}

#[test]
fn patterns_and_hidden_names() {
    let folder = Folder::new("patterns");
    folder.add("a/1.parquet", 0..1);
    folder.add("a/b/2.parquet", 1..2);
    folder.add("a/b/3.pq", 2..3);
    folder.add("c/4.parquet", 3..4);
    for hidden in [
        "_SUCCESS",
        ".1.parquet.crc",
        "_delta_log/1.json",
        "a/_metadata.tmp",
    ] {
        folder.put(hidden, b"no Parquet file");
    }
    assert_eq!(read(&folder, "", None), [0, 1, 2, 3]);
    assert_eq!(read(&folder, "a", None), [0, 1, 2]);
    assert_eq!(read(&folder, "a/*.parquet", None), [0]);
    assert_eq!(read(&folder, "*/*.parquet", None), [0, 3]);
    assert_eq!(read(&folder, "**/*.parquet", None), [0, 1, 3]);
    assert_eq!(read(&folder, "**", None), [0, 1, 2, 3]);
    assert_eq!(read(&folder, "a/**/[23].*", None), [1, 2]);
    assert_eq!(read(&folder, "?", None), [0, 1, 2, 3]);
    assert_eq!(read(&folder, "a/b/3.pq", None), [2]);
    let none = Dataset::open(folder.0.join("*.csv"), DatasetOptions::new()).unwrap();
    assert_eq!(none.files().len(), 0);
    let error = none.read(ReadOptions::new().columns(["id"])).unwrap_err();
    assert!(error.message().contains("SchemaFrom::Given"), "{error}");
    let error = Dataset::open(folder.0.join("missing"), DatasetOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let several = [folder.0.join("c"), folder.0.join("a/1.parquet")];
    let several = Dataset::open_all(several, DatasetOptions::new()).unwrap();
    assert_eq!(
        ids(&all(several.read(ReadOptions::new()).unwrap()).unwrap()),
        [3, 0]
    );
}

#[test]
fn columns_offsets_and_origins() {
    let folder = Folder::new("origins");
    folder.add("p=1/a.parquet", 0..5);
    folder.add("p=2/b.parquet", 5..10);
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    let read = ReadOptions::new()
        .columns(["p"])
        .offset(3)
        .limit(4)
        .virtual_column(VirtualColumn::row_number("row"));
    let options = DatasetReadOptions::from(read).path_column("path");
    let batches = all(dataset.read(options).unwrap()).unwrap();
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows, 4);
    let last = batches.last().unwrap();
    assert_eq!(last.schema().fields().len(), 3);
    assert_eq!(
        last.column(0).as_primitive::<types::Int64Type>().value(0),
        2
    );
    assert_eq!(
        last.column(1).as_primitive::<types::Int64Type>().value(0),
        0
    );
    let paths: &StringArray = last.column(2).as_string();
    assert!(paths.value(0).ends_with("p=2/b.parquet"));
    // The column that the filter tests is not returned.
    let read = ReadOptions::new().columns(["p"]).filter(col("id").gt(6));
    let batches = all(dataset.read(read).unwrap()).unwrap();
    assert_eq!(
        batches.iter().map(|batch| batch.num_rows()).sum::<usize>(),
        3
    );
    assert_eq!(batches[0].num_columns(), 1);
    let error = dataset.read(ReadOptions::new().columns(["x"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let error = dataset
        .read(ReadOptions::new().row_groups(vec![0]))
        .unwrap_err();
    assert!(error.message().contains("row_groups"), "{error}");
    let explained = dataset
        .explain(ReadOptions::new().filter(col("p").eq(2)))
        .unwrap();
    let counts = (explained.files, explained.files_ruled_out, explained.rows);
    assert_eq!((counts, explained.undecided), ((2, 1, 5), 0));
    let explained = dataset
        .explain(ReadOptions::new().filter(col("id").eq(7)))
        .unwrap();
    assert_eq!((explained.files_ruled_out, explained.rows), (0, 10));
    assert_eq!((explained.ruled_out[0].1, explained.undecided), (5, 5));
}

/// Statistics rule out row groups in both files, and column indexes rule out pages in the others.
/// Each row counts once.
#[test]
fn an_explanation_has_the_rows_that_each_step_rules_out() {
    let folder = Folder::new("steps");
    let columns = ColumnOptions::new()
        .compression(Compression::Uncompressed)
        .dictionary(false)
        .page_rows(10);
    let options = || {
        WriteOptions::new()
            .columns(columns.clone())
            .row_group_rows(50)
    };
    for (path, first) in [("a.parquet", 0), ("b.parquet", 100)] {
        let mut bytes = Vec::new();
        let rows = crate::files::batch(first..first + 100);
        let mut writer = Writer::new(&mut bytes, rows.schema(), options()).unwrap();
        writer.write(&rows).unwrap();
        writer.finish().unwrap();
        folder.put(path, &bytes);
    }
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    // Rows 50 to 99 and 100 to 149 stay, that is, two row groups. In each, three pages of ten rows
    // are ruled out. One page of the first is undecided, and none of the second.
    let filter = col("id").between(85, 119);
    let explained = dataset.explain(ReadOptions::new().filter(filter)).unwrap();
    assert_eq!((explained.files, explained.files_ruled_out), (2, 0));
    assert_eq!((explained.row_groups, explained.rows), (4, 200));
    let ruled_out: Vec<_> = explained
        .ruled_out
        .iter()
        .filter(|step| step.1 > 0)
        .collect();
    let expected = [
        (PruningStep::Statistics, 100),
        (PruningStep::ColumnIndexes, 60),
    ];
    assert_eq!(ruled_out, expected.iter().collect::<Vec<_>>());
    assert_eq!(explained.undecided, 10);
    // The read wants four pages, each with 80 bytes of numbers.
    assert!(
        (320..500).contains(&explained.wanted_bytes),
        "{explained:?}"
    );
    assert_eq!(explained.fetched.requests, 2);
    assert_eq!(explained.fetched.bytes, explained.wanted_bytes);
}

/// Returns the rows as their `id` and the values of these columns.
fn rows(dataset: &Dataset, columns: &[&str]) -> Vec<(i64, Vec<Option<i64>>)> {
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    let mut rows = Vec::new();
    for batch in batches {
        for (row, id) in ids(std::slice::from_ref(&batch)).into_iter().enumerate() {
            let values = columns.iter().map(|name| {
                let column = batch.column_by_name(name).unwrap();
                let column = column.as_primitive::<types::Int64Type>();
                column.is_valid(row).then(|| column.value(row))
            });
            rows.push((id, values.collect()));
        }
    }
    rows
}

/// pyarrow 26 returns these rows, by `pyarrow.dataset.dataset(folder, partitioning="hive")`.
#[test]
fn files_may_have_different_partition_columns() {
    let open = |folder: &Folder, options| Dataset::open(&folder.0, options).unwrap();
    // The columns can be in another order.
    let folder = Folder::new("another-order");
    folder.add("a=1/b=2/x.parquet", 1..2);
    folder.add("b=3/a=4/y.parquet", 2..3);
    let dataset = open(&folder, DatasetOptions::new());
    let names = dataset
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone());
    assert_eq!(names.collect::<Vec<_>>(), ["id", "a", "b"]);
    let expected = [(1, vec![Some(1), Some(2)]), (2, vec![Some(4), Some(3)])];
    assert_eq!(rows(&dataset, &["a", "b"]), expected);
    assert_eq!(read(&folder, "", Some(col("a").eq(4))), [2]);
    // The columns can be different ones, at other depths.
    let folder = Folder::new("other-columns");
    folder.add("a=1/x.parquet", 1..2);
    folder.add("a=2/b=5/y.parquet", 2..3);
    folder.add("c=9/z.parquet", 3..4);
    folder.add("w.parquet", 4..5);
    // Directories without files do not count.
    fs::create_dir(folder.0.join("empty=1")).unwrap();
    let dataset = open(&folder, DatasetOptions::new());
    assert_eq!(dataset.schema().fields().len(), 4);
    let expected = [
        (1, vec![Some(1), None, None]),
        (2, vec![Some(2), Some(5), None]),
        (3, vec![None, None, Some(9)]),
        (4, vec![None, None, None]),
    ];
    assert_eq!(rows(&dataset, &["a", "b", "c"]), expected);
    assert_eq!(read(&folder, "", Some(col("a").eq(1))), [1]);
    assert_eq!(read(&folder, "", Some(col("a").is_null())), [3, 4]);
    assert_eq!(read(&folder, "", Some(col("b").is_null())), [1, 3, 4]);
    let partial = open(&folder, DatasetOptions::new().filter(col("c").is_null()));
    let batches = all(partial.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&batches), [1, 2, 4]);
    let values = dataset.partition_values(&dataset.files()[0]).unwrap();
    assert_eq!((values.num_rows(), values.num_columns()), (1, 1));
    // A file outside the partition directories has the column itself.
    let folder = Folder::new("own-column");
    folder.add("k=1/y.parquet", 2..3);
    let column = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    let own = RecordBatch::try_from_iter([("id", column(vec![1])), ("k", column(vec![7]))]);
    folder.put("x.parquet", &file(&own.unwrap()));
    let dataset = open(&folder, DatasetOptions::new());
    assert_eq!(
        rows(&dataset, &["k"]),
        [(2, vec![Some(1)]), (1, vec![Some(7)])]
    );
    assert_eq!(read(&folder, "", Some(col("k").eq(7))), [1]);
    assert_eq!(read(&folder, "", Some(col("k").eq(1))), [2]);
}

#[test]
fn hostile_names_and_links() {
    let folder = Folder::new("hostile");
    folder.add("a=..%2F..%2Fetc/x.parquet", 0..1);
    assert_eq!(read(&folder, "", None), [0]);
    folder.add("a=1/a=2/x.parquet", 0..1);
    let open = || Dataset::open(&folder.0, DatasetOptions::new());
    assert!(open().unwrap_err().message().contains("twice"));
    fs::remove_dir_all(folder.0.join("a=1")).unwrap();
    folder.add("a=%FF/x.parquet", 0..1);
    assert!(open().unwrap_err().message().contains("UTF-8"));
    fs::remove_dir_all(folder.0.join("a=%FF")).unwrap();
    folder.add("plain/x.parquet", 0..1);
    let plain = DatasetOptions::new().partitioning(Partitioning::None);
    assert_eq!(
        Dataset::open(&folder.0, plain.clone())
            .unwrap()
            .files()
            .len(),
        2
    );
    folder.put("plain/broken.parquet", b"no Parquet file");
    let error = all(Dataset::open(&folder.0, plain.clone())
        .unwrap()
        .read(ReadOptions::new())
        .unwrap())
    .unwrap_err();
    assert!(error.message().contains("plain/broken.parquet"), "{error}");
    let few = plain.max_entries(3);
    assert_eq!(
        Dataset::open(&folder.0, few).unwrap_err().kind(),
        ErrorKind::Limit
    );
}

/// If each of 30 directories has two links, 2^30 paths lead to the last one.
#[cfg(unix)]
#[test]
fn paths_to_one_directory_are_bounded() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("many-paths");
    folder.add("x/a.parquet", 0..1);
    for at in 0..30 {
        folder.add(&format!("s/{at}/a.parquet"), at..at + 1);
    }
    for at in 0..29 {
        let next = folder.0.join(format!("s/{}", at + 1));
        for link in ["a", "b"] {
            symlink(&next, folder.0.join(format!("s/{at}/{link}"))).unwrap();
        }
    }
    let start = std::time::Instant::now();
    let error = Dataset::open(folder.0.join("s/0"), DatasetOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("1000 paths"), "{error}");
    assert!(start.elapsed().as_secs() < 60);
    // A thousand partitions are allowed to share one directory's files.
    fs::create_dir(folder.0.join("t")).unwrap();
    for k in 0..1000 {
        symlink(folder.0.join("x"), folder.0.join(format!("t/k={k}"))).unwrap();
    }
    let partitions = Dataset::open(folder.0.join("t"), DatasetOptions::new()).unwrap();
    assert_eq!(partitions.files().len(), 1000);
    let filter = ReadOptions::new().filter(col("k").lt(10));
    let rows = all(partitions.read(filter).unwrap()).unwrap();
    assert_eq!(ids(&rows), [0; 10]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_above_are_errors() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links");
    folder.add("a/x.parquet", 0..1);
    folder.add("b/y.parquet", 1..2);
    symlink(folder.0.join("a"), folder.0.join("c")).unwrap();
    assert_eq!(read(&folder, "", None), [0, 1, 0]);
    // These two links lead to each other.
    symlink(folder.0.join("a"), folder.0.join("b/to-a")).unwrap();
    symlink(folder.0.join("b"), folder.0.join("a/to-b")).unwrap();
    let error = Dataset::open(&folder.0, DatasetOptions::new()).unwrap_err();
    assert!(error.message().contains("symbolic link"), "{error}");
    fs::remove_file(folder.0.join("a/to-b")).unwrap();
    symlink("..", folder.0.join("a/up")).unwrap();
    let error = Dataset::open(&folder.0, DatasetOptions::new()).unwrap_err();
    assert!(error.message().contains("a/up"), "{error}");
    // A link to nothing is not a file.
    fs::remove_file(folder.0.join("a/up")).unwrap();
    symlink("nothing", folder.0.join("a/gone")).unwrap();
    assert_eq!(read(&folder, "a", None), [0]);
}
