use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use delta_kernel::arrow::array::{ArrayRef, Int32Array, ListArray, RecordBatch, StringArray};
use delta_kernel::arrow::buffer::OffsetBuffer;
use delta_kernel::arrow::datatypes::{DataType as ArrowType, Schema};
use delta_kernel::cancellation::{CancellationToken, CancelledFuture};
use delta_kernel::engine::arrow_conversion::TryIntoArrow as _;
use delta_kernel::schema::{ArrayType, ColumnMetadataKey, DataType, MetadataValue, SchemaRef};
use delta_kernel::{EngineData, FileMeta, KernelError, KernelResult, ParquetHandler};
use url::Url;

use crate::support::{Handlers, data, engine_data, file, nullable, read, schema, with_id};

fn write(
    handler: &dyn ParquetHandler,
    path: &std::path::Path,
    data: Vec<KernelResult<Box<dyn EngineData>>>,
) -> KernelResult<u64> {
    let url = Url::from_file_path(path).unwrap();
    handler.write_parquet_file(url, Box::new(data.into_iter()))
}

/// Returns the schema of a list whose elements have an id, with rows of it.
fn with_ids() -> (SchemaRef, RecordBatch) {
    let ids = serde_json::json!({ "l.element": 7 });
    let nested = ColumnMetadataKey::ColumnMappingNestedIds
        .as_ref()
        .to_owned();
    let list = with_id(nullable("l", ArrayType::new(DataType::INTEGER, true)), 5);
    let list = list.add_metadata([(nested, MetadataValue::Other(ids))]);
    let wanted = schema([with_id(nullable("t", DataType::STRING), 3), list]);
    let arrow: Schema = wanted.as_ref().try_into_arrow().unwrap();
    let ArrowType::List(element) = arrow.field(1).data_type().clone() else {
        panic!("not a list");
    };
    let lists = ListArray::new(
        element,
        OffsetBuffer::from_lengths([2, 0, 1]),
        Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
        None,
    );
    let texts = Arc::new(StringArray::from(vec![Some("a"), None, Some("é")])) as ArrayRef;
    let batch = RecordBatch::try_new(Arc::new(arrow), vec![texts, Arc::new(lists)]).unwrap();
    (wanted, batch)
}

#[test]
fn a_written_file_has_field_ids_and_no_arrow_schema() {
    let handlers = Handlers::new();
    let folder = tempfile::tempdir().unwrap();
    let (wanted, batch) = with_ids();
    let path = folder.path().join("a/b/ours.parquet");
    let batches = |count: usize| (0..count).map(|_| Ok(engine_data(batch.clone()))).collect();
    let bytes = write(&handlers.ours, &path, batches(3)).unwrap();
    let written = std::fs::read(&path).unwrap();
    assert_eq!(bytes, written.len() as u64);
    let hint = b"ARROW:schema";
    assert!(!written.windows(hint.len()).any(|part| part == hint));

    let theirs = folder.path().join("theirs.parquet");
    write(&handlers.default, &theirs, batches(3)).unwrap();
    let footer = |file: &FileMeta| handlers.default.read_parquet_footer(file).unwrap().schema;
    assert_eq!(footer(&file(&path)), footer(&file(&theirs)));
    let rows = read(&handlers.default, &[file(&path)], &wanted, None).unwrap();
    assert_eq!(rows.num_rows(), 9);
    assert_eq!(
        rows,
        read(&handlers.default, &[file(&theirs)], &wanted, None).unwrap()
    );

    // An existing file is replaced.
    let bytes = write(&handlers.ours, &path, batches(1)).unwrap();
    assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
    let rows = read(&handlers.default, &[file(&path)], &wanted, None).unwrap();
    assert_eq!(rows.num_rows(), 3);
}

#[test]
fn a_large_file_is_counted_in_all_its_parts() {
    let handlers = Handlers::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.parquet");
    let texts = |from: u64| {
        let text = |i: u64| {
            format!(
                "{:x}",
                u128::from(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).pow(2)
            )
        };
        Arc::new(StringArray::from_iter_values(
            (from..from + 50_000).map(text),
        )) as ArrayRef
    };
    let batch =
        |from| RecordBatch::try_from_iter_with_nullable([("t", texts(from), true)]).unwrap();
    let data = (0..20)
        .map(|i| Ok(engine_data(batch(i * 50_000))))
        .collect();
    let bytes = write(&handlers.ours, &path, data).unwrap();
    assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
    // This file was uploaded in parts.
    assert!(bytes > 8 << 20, "{bytes}");
    let wanted = schema([nullable("t", DataType::STRING)]);
    assert_eq!(
        read(&handlers.default, &[file(&path)], &wanted, None)
            .unwrap()
            .num_rows(),
        1_000_000
    );
}

#[test]
fn a_failed_write_changes_nothing() {
    let handlers = Handlers::new();
    let folder = tempfile::tempdir().unwrap();
    let (_, batch) = with_ids();
    let path = folder.path().join("a.parquet");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries
            .map(|entries| entries.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    let fails = || {
        vec![
            Ok(engine_data(batch.clone())),
            Err(KernelError::generic("no more")),
        ]
    };
    let error = write(&handlers.ours, &path, fails())
        .unwrap_err()
        .to_string();
    assert!(error.contains("no more"), "{error}");
    assert!(names().is_empty());

    let other =
        RecordBatch::try_from_iter([("x", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]);
    let mixed = vec![
        Ok(engine_data(batch.clone())),
        Ok(engine_data(other.unwrap())),
    ];
    let error = write(&handlers.ours, &path, mixed).unwrap_err().to_string();
    assert!(error.contains("a.parquet"), "{error}");
    assert!(names().is_empty());

    write(&handlers.ours, &path, vec![Ok(engine_data(batch.clone()))]).unwrap();
    let before = std::fs::read(&path).unwrap();
    write(&handlers.ours, &path, fails()).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(names().len(), 1);
}

#[test]
fn a_file_without_batches_is_an_error() {
    let handlers = Handlers::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let error = write(&handlers.ours, &path, Vec::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no batches") && error.contains("a.parquet"),
        "{error}"
    );
    assert!(write(&handlers.default, &path, Vec::new()).is_err());
    assert!(!path.exists());
}

/// The kernel writes checkpoints from iterators that read files.
#[test]
fn batches_may_be_read_while_a_file_is_written() {
    let handlers = Handlers::new();
    let folder = tempfile::tempdir().unwrap();
    let wanted = schema([
        nullable("n", DataType::LONG),
        nullable("s", DataType::STRING),
    ]);
    let source = [data("sorted.parquet")];
    let path = folder.path().join("copy.parquet");
    let rows = handlers
        .ours
        .read_parquet_files(&source, wanted.clone(), None)
        .unwrap();
    let url = Url::from_file_path(&path).unwrap();
    handlers.ours.write_parquet_file(url, rows).unwrap();
    let copied = read(&handlers.default, &[file(&path)], &wanted, None).unwrap();
    assert_eq!(
        copied,
        read(&handlers.default, &source, &wanted, None).unwrap()
    );
}

#[derive(Default)]
struct Flag(AtomicBool);

impl CancellationToken for Flag {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn cancelled_future(&self) -> CancelledFuture<'_> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_cancelled_read_ends_with_one_error() {
    let handlers = Handlers::new();
    let flag = Arc::new(Flag::default());
    let wanted = schema([nullable("n", DataType::LONG)]);
    let files = vec![data("sorted.parquet"); 5];
    let start = || {
        let (wanted, flag) = (wanted.clone(), flag.clone());
        handlers
            .ours
            .read_parquet_files_with_cancellation(&files, wanted, None, Some(flag))
    };
    let mut read = start().unwrap();
    assert!(read.next().unwrap().is_ok());
    flag.0.store(true, Ordering::SeqCst);
    assert!(matches!(read.next(), Some(Err(KernelError::Cancelled))));
    assert!(read.next().is_none());
    assert!(matches!(start(), Err(KernelError::Cancelled)));
}
