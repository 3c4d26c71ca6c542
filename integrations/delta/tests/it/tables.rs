use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use delta_kernel::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, StructArray,
};
use delta_kernel::arrow::buffer::NullBuffer;
use delta_kernel::arrow::compute::{cast, concat_batches};
use delta_kernel::arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Int32Type, Int64Type, Schema, TimestampMicrosecondType,
};
use delta_kernel::checkpoint::{CheckpointSpec, V2CheckpointConfig};
use delta_kernel::committer::FileSystemCommitter;
use delta_kernel::engine::arrow_conversion::TryIntoArrow as _;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::expressions::{Predicate, Scalar, lit};
use delta_kernel::object_store::local::LocalFileSystem;
use delta_kernel::schema::{DataType, StructType};
use delta_kernel::transaction::UpdateTableOperation;
use delta_kernel::transaction::create_table::create_table;
use delta_kernel::transaction::data_layout::DataLayout;
use delta_kernel::{Engine, Snapshot, SnapshotRef};
use delta_kernel_default_engine::DefaultEngineBuilder;
use herringbone_delta::HerringboneEngine;
use serde_json::{Value, json};
use url::Url;

use crate::support::{col, nullable, record_batch, schema};

fn field(id: i64, name: &str, data_type: Value) -> Value {
    let metadata = json!({
        "delta.columnMapping.id": id,
        "delta.columnMapping.physicalName": format!("col-{id}"),
    });
    json!({ "name": name, "type": data_type, "nullable": true, "metadata": metadata })
}

/// Writes a table with column mapping by id, two partitions, and a deletion vector in one of them. Its data files are those of
/// pyarrow, in which the columns have other names.
fn write_table(folder: &Path, features: &[&str]) {
    let log = folder.join("_delta_log");
    fs::create_dir(&log).unwrap();
    let point = json!({ "type": "struct", "fields": [
        field(12, "y", json!("float")),
        field(11, "x", json!("integer")),
    ]});
    let list = json!({ "type": "array", "containsNull": true, "elementType":
        { "type": "struct", "fields": [field(22, "word", json!("string"))] } });
    let columns = json!({ "type": "struct", "fields": [
        field(3, "text", json!("string")),
        field(50, "part", json!("string")),
        field(10, "point", point),
        field(1, "number", json!("integer")),
        field(20, "list", list),
        field(60, "added", json!("double")),
    ]});
    let features = [&["columnMapping", "deletionVectors"], features].concat();
    let mut actions = vec![
        json!({ "protocol": { "minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": features, "writerFeatures": features } }),
        json!({ "metaData": {
            "id": "a5d3c1f0-0000-4000-8000-000000000001",
            "format": { "provider": "parquet", "options": {} },
            "schemaString": columns.to_string(),
            "partitionColumns": ["part"],
            "configuration": {
                "delta.columnMapping.mode": "id",
                "delta.columnMapping.maxColumnId": "60",
                "delta.enableDeletionVectors": "true",
                "delta.checkpoint.writeStatsAsStruct": "true",
            },
            "createdTime": 0,
        } }),
    ];
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/nested.parquet");
    for part in ["one", "two"] {
        let name = format!("{part}.parquet");
        let size = fs::copy(data, folder.join(&name)).unwrap();
        let mut add = json!({
            "path": name, "partitionValues": { "col-50": part }, "size": size,
            "modificationTime": 0, "dataChange": true,
            "stats": json!({
                "numRecords": 30, "tightBounds": part == "one",
                "minValues": { "col-1": 0 }, "maxValues": { "col-1": 29 },
            }).to_string(),
        });
        if part == "two" {
            // Rows 3, 4, 7, 11, 18 and 29.
            add["deletionVector"] = json!({
                "storageType": "i", "offset": null, "sizeInBytes": 44, "cardinality": 6,
                "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
            });
        }
        actions.push(json!({ "add": add }));
    }
    let lines: Vec<String> = actions.iter().map(Value::to_string).collect();
    fs::write(log.join(format!("{:020}.json", 0)), lines.join("\n")).unwrap();
}

fn snapshot(engine: &dyn Engine, folder: &Path) -> SnapshotRef {
    let url = Url::from_directory_path(folder).unwrap();
    Snapshot::builder_for(url).build(engine).unwrap()
}

/// Reads all rows of the table, as one batch.
fn scan(engine: Arc<dyn Engine>, folder: &Path) -> RecordBatch {
    let batches = scan_batches(engine, folder);
    concat_batches(batches[0].schema_ref(), &batches).unwrap()
}

fn scan_batches(engine: Arc<dyn Engine>, folder: &Path) -> Vec<RecordBatch> {
    let scan = snapshot(engine.as_ref(), folder)
        .scan_builder()
        .build()
        .unwrap();
    let data = scan.execute(engine).unwrap();
    data.map(|data| record_batch(data.unwrap()).unwrap())
        .collect()
}

fn ours() -> Arc<HerringboneEngine> {
    Arc::new(HerringboneEngine::new(Arc::new(LocalFileSystem::new())))
}

fn default() -> Arc<dyn Engine> {
    Arc::new(DefaultEngineBuilder::new(Arc::new(LocalFileSystem::new())).build())
}

fn check(folder: &Path) {
    let rows = scan(ours(), folder);
    assert_eq!(rows, scan(default(), folder));
    assert_eq!(rows.num_rows(), 54);
    let numbers = rows
        .column_by_name("number")
        .unwrap()
        .as_primitive::<Int32Type>();
    let deleted: i32 = [3, 4, 7, 11, 18, 29].iter().sum();
    assert_eq!(numbers.values().iter().sum::<i32>(), 2 * 435 - deleted);
    let parts = rows.column_by_name("part").unwrap().as_string::<i32>();
    assert_eq!(parts.iter().flatten().filter(|it| *it == "one").count(), 30);
    assert_eq!(rows.column_by_name("added").unwrap().null_count(), 54);
    assert_eq!(rows.column_by_name("text").unwrap().null_count(), 0);
}

#[test]
fn a_table_with_ids_partitions_and_deletions_is_read() {
    let folder = tempfile::tempdir().unwrap();
    write_table(folder.path(), &[]);
    check(folder.path());
}

/// Writes a checkpoint, and checks that it has all rows of the table. Returns the number of sidecars.
fn check_checkpoint(spec: &CheckpointSpec, features: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    write_table(folder.path(), features);
    let engine = ours();
    let snapshot = snapshot(engine.as_ref(), folder.path());
    snapshot.checkpoint(engine.as_ref(), Some(spec)).unwrap();
    // Now the checkpoint alone has the actions.
    let log = folder.path().join("_delta_log");
    fs::remove_file(log.join(format!("{:020}.json", 0))).unwrap();
    check(folder.path());
    for (predicate, rows) in [
        (col("part").eq(lit("two")), 24),
        (col("part").eq(lit("none")), 0),
        (col("number").gt(lit(100)), 0),
        (col("number").lt(lit(10)), 54),
    ] {
        assert_eq!(
            num_rows_where(ours(), folder.path(), &predicate),
            rows,
            "{predicate}"
        );
        assert_eq!(
            num_rows_where(default(), folder.path(), &predicate),
            rows,
            "{predicate}"
        );
    }
    fs::read_dir(log.join("_sidecars")).map_or(0, Iterator::count)
}

/// Returns the number of rows in the files that a predicate does not rule out.
fn num_rows_where(engine: Arc<dyn Engine>, folder: &Path, predicate: &Predicate) -> usize {
    let snapshot = snapshot(engine.as_ref(), folder);
    let builder = snapshot
        .scan_builder()
        .with_predicate(Arc::new(predicate.clone()));
    let data = builder.build().unwrap().execute(engine).unwrap();
    data.map(|data| record_batch(data.unwrap()).unwrap().num_rows())
        .sum()
}

#[test]
fn a_checkpoint_is_written_and_read() {
    assert_eq!(check_checkpoint(&CheckpointSpec::V1, &[]), 0);
}

#[test]
fn a_checkpoint_with_sidecars_is_written_and_read() {
    let config = V2CheckpointConfig::WithSidecar {
        file_actions_per_sidecar_hint: Some(1),
    };
    let spec = CheckpointSpec::V2(config);
    assert_eq!(check_checkpoint(&spec, &["v2Checkpoint"]), 1);
}

/// Reads all rows by the default engine, with the schema of `ours`: it keeps the names of elements, which differ between files.
fn as_default(ours: &RecordBatch, folder: &Path) -> RecordBatch {
    let renamed = |batch: &RecordBatch| {
        let fields = ours.schema_ref().fields().iter().zip(batch.columns());
        let columns = fields.map(|(field, column)| cast(column, field.data_type()).unwrap());
        RecordBatch::try_new(ours.schema(), columns.collect()).unwrap()
    };
    let theirs: Vec<_> = scan_batches(default(), folder)
        .iter()
        .map(renamed)
        .collect();
    concat_batches(ours.schema_ref(), &theirs).unwrap()
}

/// The table has partitions, a checkpoint, a column that came later, and deleted rows.
#[test]
fn a_table_of_delta_rs_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/delta_rs");
    let rows = scan(ours(), &folder);
    assert_eq!(rows, as_default(&rows, &folder));
    let column = |name: &str| rows.column_by_name(name).unwrap();
    let mut numbers = column("n").as_primitive::<Int32Type>().values().to_vec();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..5).chain(10..60).collect::<Vec<_>>());
    let amounts = column("amount").as_primitive::<Decimal128Type>();
    let stamps = column("at").as_primitive::<TimestampMicrosecondType>();
    let extra = column("extra").as_struct();
    let tags = column("tags").as_map();
    for (row, n) in column("n")
        .as_primitive::<Int32Type>()
        .values()
        .iter()
        .enumerate()
    {
        assert_eq!(amounts.value(row), i128::from(*n) * 25);
        assert_eq!(
            stamps.value(row),
            (1_577_836_800 + i64::from(*n) * 3600) * 1_000_000
        );
        assert_eq!(extra.is_null(row), !(20..40).contains(n));
        assert_eq!(tags.is_null(row), n % 3 == 0);
        let part = column("part").as_string::<i32>().value(row);
        assert_eq!(part, format!("p{}", n % 2));
    }
}

/// The package `deltalake` wrote these tables, and their rows as it reads them (`data/write_table.py`). It maps columns by name and
/// by id, and reads deletion vectors.
#[test]
fn tables_of_delta_rs_have_the_rows_that_it_reads() {
    for name in ["mapped_name", "mapped_id", "deleted"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(name);
        let rows = scan(ours(), &folder);
        assert_eq!(rows, as_default(&rows, &folder), "{name}");
        let mut texts: Vec<Value> = (0..rows.num_rows())
            .map(|row| json_row(&rows, row))
            .collect();
        texts.sort_by_key(|row| row["n"].as_i64());
        let expected = fs::read(folder.join("rows.json")).unwrap();
        let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
        assert_eq!(texts, expected, "{name}");
    }
}

/// Returns a row in the form of `rows.json`.
fn json_row(rows: &RecordBatch, row: usize) -> Value {
    let column = |name: &str| rows.column_by_name(name).unwrap();
    let amount = column("amount").as_primitive::<Decimal128Type>().value(row);
    let micros = column("at").as_primitive::<TimestampMicrosecondType>();
    let tags = column("tags").as_map();
    let tag = tags.is_valid(row).then(|| tags.value(row));
    let tag = tag.map(|entries| entries.column(1).as_string::<i32>().value(0).to_owned());
    let mut json = json!({
        "n": column("n").as_primitive::<Int32Type>().value(row),
        "part": column("part").as_string::<i32>().value(row),
        "amount": format!("{}.{:02}", amount / 100, amount % 100),
        "at": (micros.value(row) / 1_000_000).to_string(),
        "tag": tag,
    });
    if let Some(extra) = rows.column_by_name("extra") {
        let extra = extra.as_struct();
        let numbers = extra.column(1).as_list::<i32>().value(row);
        json["a"] = json!(extra.column(0).as_primitive::<Int64Type>().value(row));
        json["b"] = json!(numbers.as_primitive::<Int64Type>().value(0));
    }
    json
}

/// Creates a table with columns mapped by id, and appends rows twice.
#[test]
fn rows_are_appended_to_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let url = Url::from_directory_path(folder.path()).unwrap();
    let engine = ours();
    let inner = StructType::try_new([nullable("x", DataType::LONG)]).unwrap();
    let columns = schema([
        nullable("part", DataType::STRING),
        nullable("t", DataType::STRING),
        nullable("s", inner),
    ]);
    let committer = || Box::new(FileSystemCommitter::new());
    let created = create_table(url.as_str(), columns, "herringbone", true)
        .with_table_properties([("delta.columnMapping.mode", "id")])
        .with_data_layout(DataLayout::partitioned(["part"]))
        .build(engine.as_ref(), committer())
        .unwrap()
        .commit(engine.as_ref())
        .unwrap();
    assert!(created.is_committed());
    for part in ["one", "two"] {
        let mut transaction = snapshot(engine.as_ref(), folder.path())
            .update_table(UpdateTableOperation::Write, "herringbone", true)
            .build(engine.as_ref(), committer())
            .unwrap();
        let values = HashMap::from([("part".to_owned(), Scalar::from(part))]);
        let state = transaction.write_state().unwrap();
        let context = state.write_context_builder().with_partition_values(values);
        let context = context.build().unwrap();
        let arrow: Schema = context
            .logical_data_schema()
            .as_ref()
            .try_into_arrow()
            .unwrap();
        let ArrowType::Struct(fields) = arrow.field(1).data_type().clone() else {
            panic!("not a struct");
        };
        let numbers = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as ArrayRef;
        let nulls = NullBuffer::from(vec![true, true, false]);
        let structs = StructArray::new(fields, vec![numbers], Some(nulls));
        let texts = Arc::new(StringArray::from(vec![part, "b", "c"])) as ArrayRef;
        let rows = RecordBatch::try_new(Arc::new(arrow), vec![texts, Arc::new(structs)]).unwrap();
        let added = engine
            .write_parquet(&ArrowEngineData::new(rows), &context)
            .unwrap();
        transaction.add_files(added);
        assert!(transaction.commit(engine.as_ref()).unwrap().is_committed());
    }
    let rows = scan(engine.clone(), folder.path());
    assert_eq!(rows, scan(default(), folder.path()));
    assert_eq!((rows.num_rows(), rows.column(2).null_count()), (6, 2));
    let texts = rows.column(1).as_string::<i32>();
    assert_eq!(
        texts
            .iter()
            .flatten()
            .filter(|it| *it == "one" || *it == "two")
            .count(),
        2
    );
    // Statistics rule out both files.
    let predicate = Arc::new(col("t").gt(lit("x")));
    let snapshot = snapshot(engine.as_ref(), folder.path());
    let scan = snapshot
        .scan_builder()
        .with_predicate(predicate)
        .build()
        .unwrap();
    assert_eq!(scan.execute(engine).unwrap().count(), 0);
}
