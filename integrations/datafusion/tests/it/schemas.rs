//! Checks the schemas of tables and files, with evolution, partitions, layouts, nested columns and
//! virtual columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, Decimal128Array, Float64Array, Int32Array, Int64Array,
    Int64Builder, ListArray, MapBuilder, MapFieldNames, RecordBatch, StringArray, StringBuilder,
    StructArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::prelude::SessionContext;
use herringbone_datafusion::{HerringboneFormatFactory, ReadParquet};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::Int96;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::{
    CountingStore, Folder, Reader, create, rows, run, session, sorted_rows, text,
};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn words<'a>(values: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

async fn both(folder: &Folder, sql: &str) -> (SessionContext, SessionContext) {
    let (ours, plain) = (session(Reader::Herringbone, 2), session(Reader::Plain, 2));
    let sql = sql.replace("FOLDER", &folder.path(""));
    run(&ours, &sql).await.unwrap();
    run(&plain, &sql).await.unwrap();
    (ours, plain)
}

#[tokio::test]
async fn files_of_a_table_may_differ() {
    let folder = Folder::new();
    folder.write(
        "t/b.parquet",
        &batch(vec![("id", longs([3, 4])), ("new", words(["x", "y"]))]),
        10,
    );
    folder.write(
        "t/a.parquet",
        &batch(vec![("id", longs([1, 2])), ("old", ints([7, 8]))]),
        10,
    );
    folder.write(
        "u/1.parquet",
        &batch(vec![("id", ints([1, 2])), ("s", words(["a", "b"]))]),
        10,
    );
    folder.write(
        "u/2.parquet",
        &batch(vec![
            ("s", words(["c"])),
            ("id", longs([1 << 40])),
            ("more", ints([9])),
        ]),
        10,
    );
    let (ours, plain) = both(
        &folder,
        "create external table t stored as parquet location 'FOLDERt/'",
    )
    .await;
    for query in [
        "select * from t",
        "select id from t where new = 'x'",
        "select id from t where new is null",
        "select count(*), count(old), max(old), min(new) from t",
        "select id, coalesce(new, 'none') from t where old > 7 or id = 4",
    ] {
        assert_eq!(
            sorted_rows(&ours, query).await,
            sorted_rows(&plain, query).await,
            "{query}"
        );
    }
    // The columns of the first file by location come first.
    assert!(
        text(&ours, "select * from t")
            .await
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("| id | old | new")
    );
    let table = "create external table u (id bigint, s varchar, more bigint, extra varchar) stored as parquet location 'FOLDERu/'";
    let (ours, plain) = both(&folder, table).await;
    for query in [
        "select * from u",
        "select s from u where id = 1099511627776",
        "select s from u where id < 2",
        "select count(*) from u where more = 9",
        "select extra, id + 1 from u where extra is null and s <> 'a'",
        "select sum(id), max(more), count(extra) from u",
    ] {
        assert_eq!(
            sorted_rows(&ours, query).await,
            sorted_rows(&plain, query).await,
            "{query}"
        );
    }
}

/// The engine reads the first column of a name, and so do we.
#[tokio::test]
async fn columns_of_one_name_are_read_as_by_the_engine() {
    let folder = Folder::new();
    let write = |name: &str, second: ArrayRef| {
        let columns = [ints([1, 2, 3, 4]), second, words(["w", "x", "y", "z"])];
        let names = ["a", "a", "b"].into_iter();
        let field =
            |(name, array): (&str, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
        let fields: Vec<Field> = names.zip(&columns).map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema, columns.to_vec()).unwrap();
        // Two row groups, so that bounds rule out rows.
        folder.write(name, &batch, 2);
    };
    write("d.parquet", ints([10, 20, 30, 40]));
    write("e.parquet", words(["p", "q", "r", "s"]));
    let declared = |file, of_a| {
        format!(
            "create external table d (a {of_a}, b varchar) stored as parquet location 'FOLDER{file}.parquet'"
        )
    };
    for (table, texts) in [
        (
            "create external table d stored as parquet location 'FOLDERd.parquet'".to_owned(),
            false,
        ),
        (declared("d", "bigint"), false),
        (declared("d", "varchar"), true),
        (declared("e", "int"), false),
    ] {
        let (ours, plain) = both(&folder, &table).await;
        for (query, expected) in [
            ("select * from d", "1 w; 2 x; 3 y; 4 z"),
            ("select b from d", "w; x; y; z"),
            ("select b from d where a = 2", "x"),
            ("select a from d where b = 'y' and a > 1", "3"),
            ("select count(*) from d where a = 30", "0"),
            ("select min(a), max(a), count(*) from d", "1 4 4"),
            ("select a from d order by a desc limit 1", "4"),
        ] {
            // Texts and numbers are not compared.
            let query = match texts {
                true => query
                    .replace("= 30", "= '30'")
                    .replace("= 2", "= '2'")
                    .replace("> 1", "> '1'"),
                false => query.to_owned(),
            };
            assert_eq!(rows(&plain, &query).await, expected, "{table}: {query}");
            assert_eq!(rows(&ours, &query).await, expected, "{table}: {query}");
        }
    }
    // Nobody can know which of two types is meant.
    let table = "create external table e stored as parquet location 'FOLDERe.parquet'";
    let table = table.replace("FOLDER", &folder.path(""));
    let theirs = run(&session(Reader::Plain, 2), &table).await.unwrap_err();
    assert!(
        theirs.contains("Fail to merge schema field 'a'"),
        "{theirs}"
    );
    let error = run(&session(Reader::Herringbone, 2), &table)
        .await
        .unwrap_err();
    for part in [
        "e.parquet",
        "`a`",
        "Int32 and Utf8",
        "CREATE EXTERNAL TABLE",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

/// Arrow allows fields of one name in a struct.
#[tokio::test]
async fn fields_of_one_name_are_read_in_their_order() {
    let folder = Folder::new();
    let field = || Arc::new(Field::new("x", DataType::Int32, true));
    let fields = [(field(), ints([1, 2])), (field(), ints([7, 8]))];
    let s: ArrayRef = Arc::new(StructArray::from(fields.to_vec()));
    folder.write("s.parquet", &batch(vec![("s", s), ("b", ints([5, 6]))]), 1);
    let table = "create external table s stored as parquet location 'FOLDERs.parquet'";
    let (ours, plain) = both(&folder, table).await;
    for (query, expected) in [
        ("select s from s", "{x: 1, x: 7}; {x: 2, x: 8}"),
        ("select s['x'] from s where b = 6", "2"),
        ("select b from s where s['x'] = 1", "5"),
        ("select count(*) from s where s['x'] = 8", "0"),
    ] {
        assert_eq!(rows(&plain, query).await, expected, "{query}");
        assert_eq!(rows(&ours, query).await, expected, "{query}");
    }
}

/// The engine compares values as the table declares them. Its simplifier would compare those of the file.
#[tokio::test]
async fn decimals_are_rounded_before_they_are_compared() {
    let folder = Folder::new();
    let decimals = Decimal128Array::from(vec![Some(110), Some(225), None, Some(224)]);
    let decimals: ArrayRef = Arc::new(decimals.with_precision_and_scale(5, 2).unwrap());
    // Each row group has one row, so that bounds must be rounded as well.
    folder.write("d.parquet", &batch(vec![("d", decimals)]), 1);
    let table = |data_type| {
        format!(
            "create external table d (d {data_type}) stored as parquet location 'FOLDERd.parquet'"
        )
    };
    for (data_type, condition, expected) in [
        ("bigint", "d = 2", "2; 2"),
        ("bigint", "d <= 1", "1"),
        ("bigint", "d in (2, 7, 9)", "2; 2"),
        ("bigint", "d <> 2", "1"),
        ("decimal(4, 1)", "d = 2.3", "2.3"),
        ("decimal(4, 1)", "d < 2.3", "1.1; 2.2"),
        ("decimal(10, 4)", "d = 2.25", "2.2500"),
    ] {
        let (ours, plain) = both(&folder, &table(data_type)).await;
        let query = format!("select d from d where {condition} order by d");
        assert_eq!(rows(&plain, &query).await, expected, "{query}");
        assert_eq!(rows(&ours, &query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn filters_test_fields_that_a_file_lacks() {
    let folder = Folder::new();
    let inner = |name: &str, array: ArrayRef| -> ArrayRef {
        let field = Field::new(name, array.data_type().clone(), true);
        Arc::new(StructArray::from(vec![(Arc::new(field), array)]))
    };
    let old = batch(vec![
        ("s", inner("a", longs([1, 2]))),
        ("id", longs([1, 2])),
    ]);
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![9.5, 0.5]));
    let new = batch(vec![("s", inner("r", floats)), ("id", longs([3, 4]))]);
    folder.write("t/1.parquet", &old, 10);
    folder.write("t/2.parquet", &new, 10);
    let table = "create external table t (s struct<a bigint, r double>, id bigint) stored as parquet location 'FOLDERt/'";
    let (ours, plain) = both(&folder, table).await;
    for pushdown in [true, false] {
        let set = format!("set herringbone.pushdown = {pushdown}");
        run(&ours, &set).await.unwrap();
        for (condition, expected) in [
            ("s['r'] > 9", "3"),
            ("s['a'] = 1", "1"),
            ("not (s['r'] > 9)", "4"),
            ("s['r'] is null", "1; 2"),
            ("s['a'] = 1 or s['r'] < 1.0", "1; 4"),
        ] {
            let query = format!("select id from t where {condition} order by id");
            assert_eq!(rows(&plain, &query).await, expected, "{query}");
            assert_eq!(rows(&ours, &query).await, expected, "{query}, {pushdown}");
        }
    }
}

/// Writers name the entries of maps in different ways.
#[tokio::test]
async fn files_with_other_names_in_maps_are_one_table() {
    let folder = Folder::new();
    let map = |names: [&str; 3], key: &str, number: i64| {
        let [entries, keys, values] = names;
        let names = MapFieldNames {
            entry: entries.to_owned(),
            key: keys.to_owned(),
            value: values.to_owned(),
        };
        let mut map = MapBuilder::new(Some(names), StringBuilder::new(), Int64Builder::new());
        map.keys().append_value(key);
        map.values().append_value(number);
        map.append(true).unwrap();
        let map: ArrayRef = Arc::new(map.finish());
        let inner = Field::new("m", map.data_type().clone(), true);
        let inner: ArrayRef = Arc::new(StructArray::from(vec![(Arc::new(inner), map.clone())]));
        batch(vec![("m", map), ("s", inner)])
    };
    let arrow = ["entries", "key", "value"];
    folder.write(
        "t/1.parquet",
        &map(["key_value", "key", "value"], "a", 1),
        10,
    );
    folder.write("t/2.parquet", &map(arrow, "a", 2), 10);
    folder.write("t/3.parquet", &map(["map", "k", "v"], "b", 3), 10);
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "t", &folder.path("t/")).await;
    for (query, expected) in [
        ("select sum(m['a']), sum(s['m']['b']) from t", "3 3"),
        ("select m from t where m['b'] = 3", "{b: 3}"),
        ("select map_values(s['m'])[1] from t where m['a'] > 1", "2"),
        ("select count(m), count(s) from t", "3 3"),
    ] {
        assert_eq!(rows(&ours, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn partition_columns_are_read_and_prune() {
    let folder = Folder::new();
    for year in [2023, 2024, 2025] {
        let rows = longs((0..10).map(|i| i64::from(year) * 100 + i));
        folder.write(
            &format!("p/year={year}/f.parquet"),
            &batch(vec![("id", rows)]),
            4,
        );
    }
    let table = "create external table p (id bigint, year int) stored as parquet partitioned by (year) location 'FOLDERp/'";
    let (ours, plain) = both(&folder, table).await;
    for query in [
        "select year, id from p where id % 10 = year % 10",
        "select count(*) from p where year > 2023 and id > 202401",
        "select year, count(*) from p group by year",
        "select year from p where year + id = 204424",
        "select max(year), min(id) from p where year = 2024 or id = 202301",
        "select id from p order by year desc, id limit 3",
    ] {
        assert_eq!(
            sorted_rows(&ours, query).await,
            sorted_rows(&plain, query).await,
            "{query}"
        );
    }
}

fn nested() -> RecordBatch {
    let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, true));
    let big: Vec<String> = (0..1_000)
        .map(|i| format!("{i} {}", "payload".repeat(40 + i % 7)))
        .collect();
    let deep = StructArray::from(vec![
        (field("x", DataType::Int64), longs(0..1_000)),
        (
            field("big", DataType::Utf8),
            words(big.iter().map(String::as_str)),
        ),
    ]);
    let deep_type = deep.data_type().clone();
    let outer = StructArray::from(vec![
        (
            field("k", DataType::Int32),
            ints((0..1_000).map(|i| i % 50)),
        ),
        (field("deep", deep_type), Arc::new(deep) as ArrayRef),
    ]);
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(
        (0..1_000).map(|i| (i % 5 > 0).then(|| (0..i % 4).map(Some).collect::<Vec<_>>())),
    );
    let elements = StructArray::from(vec![(field("e", DataType::Int64), longs(0..2_000))]);
    let element = Field::new("item", elements.data_type().clone(), true);
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(2, 1_000));
    let structs = ListArray::new(Arc::new(element), offsets, Arc::new(elements), None);
    batch(vec![
        ("id", longs(0..1_000)),
        ("o", Arc::new(outer)),
        ("l", Arc::new(lists)),
        ("ls", Arc::new(structs)),
    ])
}

#[tokio::test]
async fn only_the_fields_in_use_are_read() {
    let folder = Folder::new();
    folder.write("n.parquet", &nested(), 300);
    let (ours, plain) = both(
        &folder,
        "create external table n stored as parquet location 'FOLDERn.parquet'",
    )
    .await;
    let store = CountingStore::of(&ours);
    let all = std::fs::metadata(folder.path("n.parquet")).unwrap().len();
    for (query, is_small) in [
        ("select sum(o['k']) from n", true),
        ("select sum(o['deep']['x']) from n where o['k'] < 7", true),
        (
            "select o['deep']['x'] + 1, id from n where o['deep']['x'] > 990",
            true,
        ),
        ("select o['deep'] from n where id = 17", false),
        ("select o from n where o['k'] = 3 and id < 99", false),
        ("select id from n where l is null", true),
        ("select id from n where o is not null and l is null", false),
        ("select sum(l[1]), count(l) from n where id > 500", true),
        ("select ls, id from n where ls[1]['e'] = 500", true),
        (
            "select count(*) from n where o['deep']['big'] like '99%'",
            false,
        ),
    ] {
        store.take();
        assert_eq!(
            sorted_rows(&ours, query).await,
            sorted_rows(&plain, query).await,
            "{query}"
        );
        let (_, bytes) = store.take();
        assert!(!is_small || bytes < all / 2, "{query}: {bytes} of {all}");
    }
}

#[tokio::test]
async fn layouts_follow_the_options() {
    let folder = Folder::new();
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values(["a", "b", "c"]));
    folder.write(
        "b.parquet",
        &batch(vec![("b", bytes), ("s", words(["x", "y", "z"]))]),
        10,
    );
    let types = "select arrow_typeof(b), arrow_typeof(s) from t limit 1";
    for (options, expected) in [
        ("", "BinaryView Utf8View"),
        (
            "options ('format.schema_force_view_types' 'false')",
            "Binary Utf8",
        ),
        (
            "options ('format.binary_as_string' 'true')",
            "Utf8View Utf8View",
        ),
    ] {
        let table = format!(
            "create external table t stored as parquet location 'FOLDERb.parquet' {options}"
        );
        let (ours, plain) = both(&folder, &table).await;
        assert_eq!(rows(&ours, types).await, expected);
        assert_eq!(rows(&ours, types).await, rows(&plain, types).await);
        if options.contains("binary_as_string") {
            assert_eq!(rows(&ours, "select s from t where b = 'b'").await, "y");
        }
    }
}

/// Writes INT96 timestamps on 2 January 1970, which is the Julian day 2,440,589, in a column and
/// below a struct.
fn write_int96(path: &str) {
    let schema =
        "message m { required group s { required int32 x; required int96 t; } required int96 a; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    while let Some(mut column) = row_group.next_column().unwrap() {
        match column.untyped() {
            ColumnWriter::Int96ColumnWriter(times) => {
                let time = Int96::from(vec![0, 0, 2_440_589]);
                times.write_batch(&[time], None, None).unwrap();
            }
            ColumnWriter::Int32ColumnWriter(numbers) => {
                numbers.write_batch(&[7], None, None).unwrap();
            }
            _ => panic!("a column of another type"),
        }
        column.close().unwrap();
    }
    row_group.close().unwrap();
    writer.close().unwrap();
}

#[tokio::test]
async fn int96_has_the_unit_and_zone_of_the_options() {
    let folder = Folder::new();
    write_int96(&folder.path("i.parquet"));
    let time = "1970-01-02T00:00:00Z";
    let table = "create external table i stored as parquet location 'FOLDERi.parquet' \
        options ('format.coerce_int96' 'ms', 'format.coerce_int96_tz' 'UTC')";
    let (ours, plain) = both(&folder, table).await;
    for (query, expected) in [
        (
            "select arrow_typeof(a), arrow_typeof(s['t']) from i",
            "Timestamp(ms, \"UTC\") Timestamp(ms, \"UTC\")".to_owned(),
        ),
        (
            "select a, s['t'], s['x'] from i",
            format!("{time} {time} 7"),
        ),
        (
            "select s['t'] from i where s['t'] > '1970-01-01T12:00:00Z'",
            time.to_owned(),
        ),
    ] {
        assert_eq!(rows(&plain, query).await, expected, "{query}");
        assert_eq!(rows(&ours, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn rows_have_numbers() {
    let folder = Folder::new();
    folder.write(
        "r.parquet",
        &batch(vec![("id", longs((0..100).map(|i| i * i % 101)))]),
        30,
    );
    let (ours, plain) = both(
        &folder,
        "create external table r stored as parquet location 'FOLDERr.parquet'",
    )
    .await;
    for query in [
        "select file_row_index(), id from r where id > 90",
        "select max(file_row_index()) from r",
        "select id from r where file_row_index() in (3, 77)",
        "select file_row_index() + 1 as a, file_row_index() as b from r order by a desc limit 2",
    ] {
        // The engine's own source does not take all of these expressions.
        if run(&plain, query).await.is_ok() {
            assert_eq!(
                sorted_rows(&ours, query).await,
                sorted_rows(&plain, query).await,
                "{query}"
            );
        }
    }
    let last = "select file_row_index() + 1 as a, id from r order by a desc limit 2";
    assert_eq!(rows(&ours, last).await, "100 4; 99 9");
}

#[tokio::test]
async fn files_are_read_without_sql() {
    let folder = Folder::new();
    let path = folder.write("w.parquet", &batch(vec![("id", longs(0..10))]), 4);
    let ours = session(Reader::Herringbone, 2);
    let frame = ours
        .read_parquet_files(&path, HashMap::new())
        .await
        .unwrap();
    assert_eq!(frame.count().await.unwrap(), 10);
    ours.register_parquet_files("w", &path, HashMap::new())
        .await
        .unwrap();
    assert_eq!(rows(&ours, "select sum(id) from w").await, "45");
    let options = HashMap::from([("format.nonsense".to_owned(), "1".to_owned())]);
    assert!(ours.read_parquet_files(&path, options).await.is_err());
    create(&ours, "v", &path).await;
    assert_eq!(
        rows(&ours, "select count(*) from v where id > 4").await,
        "5"
    );
}

/// The registered factory may have keys or options that the files need.
#[tokio::test]
async fn files_are_read_by_the_registered_factory() {
    let folder = Folder::new();
    let path = folder.write("w.parquet", &batch(vec![("s", words(["x", "y"]))]), 4);
    let session = SessionContext::new();
    let option = (
        "format.schema_force_view_types".to_owned(),
        "false".to_owned(),
    );
    let factory = HerringboneFormatFactory::new().with_options(HashMap::from([option]));
    herringbone_datafusion::register_with(&session, factory).unwrap();
    let frame = session.read_parquet_files(&path, HashMap::new()).await;
    let frame = frame.unwrap();
    assert_eq!(frame.schema().field(0).data_type(), &DataType::Utf8);
}
