//! The async writer's files equal the blocking writer's files, byte by byte.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use herringbone::{DataPageVersion, Result, SortingColumnOption, WriteOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_remote::{BoxFuture, ObjectSink, RemoteWriteOptions, RemoteWriter, Upload};

use super::{arrays, choices, compare, every_type, properties, schemas::Menu};
use crate::batches::Random;
use crate::random::cases;
use crate::remote::{EVERY_NTH_CASE, block_on};

/// The length of a part in bytes. Most files have several parts.
const PART_BYTES: u64 = 1000;

/// A new object in memory, on which each request is pending once.
#[derive(Debug, Default, Clone)]
struct Stored {
    object: Arc<Mutex<Option<Vec<u8>>>>,
}

fn pending_once<T: Send + 'static>(
    effect: impl FnOnce() -> T + Send + 'static,
) -> BoxFuture<Result<T>> {
    let (mut is_pending, mut effect) = (true, Some(Box::new(effect)));
    Box::pin(std::future::poll_fn(move |cx| {
        if std::mem::take(&mut is_pending) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(effect.take().unwrap()()))
    }))
}

impl ObjectSink for Stored {
    fn name(&self) -> &str {
        "an object"
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        let object = self.object.clone();
        pending_once(move || *object.lock().unwrap() = Some(bytes.to_vec()))
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let (sink, parts) = (self.clone(), Vec::new());
        pending_once(move || Box::new(Parts { sink, parts }) as _)
    }
}

#[derive(Debug)]
struct Parts {
    sink: Stored,
    parts: Vec<Arc<Mutex<Bytes>>>,
}

impl Upload for Parts {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        let part = Arc::default();
        self.parts.push(Arc::clone(&part));
        pending_once(move || *part.lock().unwrap() = bytes)
    }

    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        let parts = self.parts.iter().map(|part| part.lock().unwrap().clone());
        let file = parts.collect::<Vec<_>>().concat();
        self.sink.put(file.into())
    }

    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        Box::pin(async { Ok(()) })
    }
}

/// Returns the file that the async writer makes.
pub(super) fn written(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    options: WriteOptions,
) -> Result<Vec<u8>> {
    let sink = Stored::default();
    let object = sink.object.clone();
    let options = RemoteWriteOptions::from(options).part_bytes(PART_BYTES);
    block_on(async {
        let mut writer = RemoteWriter::new(Arc::new(sink), schema.clone(), options)?;
        for batch in batches {
            writer.write(batch).await?;
        }
        writer.finish().await
    })?;
    Ok(object.lock().unwrap().take().unwrap())
}

fn check(schema: &SchemaRef, batches: &[RecordBatch], options: WriteOptions, case: &str) {
    let expected = compare::written(schema, batches, options.clone()).unwrap();
    let file = written(schema, batches, options).unwrap();
    assert!(file == expected, "{case}");
}

#[test]
fn files_of_random_rows_and_options() {
    for seed in (0..cases(255)).step_by(EVERY_NTH_CASE) {
        let random = &mut Random(seed);
        let (schema, batches) = properties::case(random, &Menu::everything());
        let options = choices::options(random, &schema);
        check(&schema, &batches, options, &format!("seed {seed}"));
    }
}

#[test]
fn files_of_every_type() {
    let schema = every_type::everything();
    let batch = arrays::batch(&mut Random(3), &schema, every_type::ROWS);
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        let options = every_type::encoded(&schema, 1).row_group_rows(45);
        let options = options.data_page_version(version);
        check(&schema, std::slice::from_ref(&batch), options, "every type");
    }
}

#[test]
fn sorted_files() {
    for seed in (0..cases(125)).step_by(EVERY_NTH_CASE) {
        let random = &mut Random(seed);
        let schema = Arc::new(Menu::everything().schema(random));
        let Some(key) = schema
            .fields()
            .iter()
            .find(|field| field.data_type().is_numeric())
        else {
            continue;
        };
        let memory = random.pick(&[1 << 30, 6_000, 1]);
        let options = WriteOptions::new()
            .sort_by(vec![SortingColumnOption::new([key.name().as_str()])])
            .sort_memory_bytes(memory)
            .row_group_rows(70);
        let batches = [40, 0, 130].map(|rows| arrays::batch(random, &schema, rows));
        check(&schema, &batches, options, &format!("seed {seed}"));
    }
}
