use std::fs;
use std::path::Path;
use std::sync::Arc;

use delta_kernel::arrow::array::{Array, AsArray, RecordBatch};
use delta_kernel::arrow::compute::concat_batches;
use delta_kernel::arrow::datatypes::Int64Type;
use delta_kernel::object_store::local::LocalFileSystem;
use delta_kernel::{Engine, Snapshot, SnapshotRef};
use delta_kernel_default_engine::DefaultEngineBuilder;
use herringbone_delta::HerringboneEngine;
use serde_json::{Value, json};
use url::Url;

use crate::support::record_batch;

fn field(id: i64, name: &str, data_type: Value) -> Value {
    let metadata = json!({
        "delta.columnMapping.id": id,
        "delta.columnMapping.physicalName": format!("col-{id}"),
    });
    json!({ "name": name, "type": data_type, "nullable": true, "metadata": metadata })
}

/// Writes a table with column mapping by id, two partitions, and a deletion vector in one of them. Its data files are those of
/// pyarrow, in which the columns have other names.
fn write_table(folder: &Path) {
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
    let features = json!(["columnMapping", "deletionVectors"]);
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
            "stats": json!({ "numRecords": 30, "tightBounds": part == "one" }).to_string(),
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
    let scan = snapshot(engine.as_ref(), folder)
        .scan_builder()
        .build()
        .unwrap();
    let data = scan.execute(engine).unwrap();
    let batches: Vec<_> = data.map(|it| record_batch(it.unwrap()).unwrap()).collect();
    concat_batches(batches[0].schema_ref(), &batches).unwrap()
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
    let numbers = rows.column_by_name("number").unwrap();
    let numbers = delta_kernel::arrow::compute::cast(
        numbers,
        &delta_kernel::arrow::datatypes::DataType::Int64,
    );
    let numbers = numbers.unwrap();
    let numbers = numbers.as_primitive::<Int64Type>();
    let deleted: i64 = [3, 4, 7, 11, 18, 29].iter().sum();
    assert_eq!(numbers.values().iter().sum::<i64>(), 2 * 435 - deleted);
    let parts = rows.column_by_name("part").unwrap().as_string::<i32>();
    assert_eq!(parts.iter().flatten().filter(|it| *it == "one").count(), 30);
    assert_eq!(rows.column_by_name("added").unwrap().null_count(), 54);
    assert_eq!(rows.column_by_name("text").unwrap().null_count(), 0);
}

#[test]
fn a_table_with_ids_partitions_and_deletions_is_read() {
    let folder = tempfile::tempdir().unwrap();
    write_table(folder.path());
    check(folder.path());
}

#[test]
fn a_checkpoint_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    write_table(folder.path());
    let engine = ours();
    snapshot(engine.as_ref(), folder.path())
        .checkpoint(engine.as_ref(), None)
        .unwrap();
    let log = folder.path().join("_delta_log");
    assert!(log.join(format!("{:020}.checkpoint.parquet", 0)).exists());
    // Now the checkpoint alone has the actions.
    fs::remove_file(log.join(format!("{:020}.json", 0))).unwrap();
    check(folder.path());
}
