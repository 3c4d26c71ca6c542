//! The read of the files of a scan: a task of the executor opens files and decodes, and an iterator takes the batches.
//!
//! ```text
//! files ─► open: footer, plan, first batch (a few files side by side) ─► decode, file by file ─► channel ─► Batches: conform
//! ```

use std::pin::pin;
use std::sync::Arc;

use delta_kernel::arrow::array::RecordBatch;
use delta_kernel::arrow::datatypes::{Fields, SchemaRef as ArrowSchemaRef, TimeUnit};
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::object_store::{DynObjectStore, path::Path};
use delta_kernel::schema::SchemaRef;
use delta_kernel::{
    CancellationTokenRef, EngineData, FileMeta, KernelError, KernelResult, PredicateRef,
};
use delta_kernel_default_engine::executor::TaskExecutor;
use futures::future::{Either, join, select};
use futures::{StreamExt, stream};
use herringbone::push::FetchPolicy;
use herringbone::schema::to_arrow;
use herringbone::{OpenOptions, Projection, ReadOptions, SchemaOptions, Spawn, VirtualColumn};
use herringbone_remote::object_store_013::StoreObject;
use herringbone_remote::{Identity, RecordBatchStream, RemoteFile};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::error::in_file;
use crate::matching::{Plan, num_leaves};
use crate::predicate::implied;

/// The number of files opened side by side, ahead of the current one.
const FILES_AHEAD: usize = 4;
/// The number of decoded batches that wait for the caller.
const BATCHES_AHEAD: usize = 2;
/// The number of bytes requested ahead in each open file.
const BYTES_AHEAD: u64 = 16 << 20;

/// The options of a read.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) store: Arc<DynObjectStore>,
    pub(crate) wanted: SchemaRef,
    /// The Arrow form of `wanted`.
    pub(crate) target: ArrowSchemaRef,
    pub(crate) predicate: Option<PredicateRef>,
}

/// A decoded batch of a file.
struct Decoded {
    batch: RecordBatch,
    plan: Arc<Plan>,
    url: Arc<str>,
}

/// A message to the caller's thread. Without `End`, the task was lost.
enum Message {
    Batch(Decoded),
    Error(KernelError),
    End,
}

/// The batches of all files, in order. Dropping it ends the task that reads.
pub(crate) struct Batches<E> {
    executor: Arc<E>,
    messages: Option<Receiver<Message>>,
    cancellation: Option<CancellationTokenRef>,
}

impl<E: TaskExecutor> Batches<E> {
    /// Starts the read.
    pub(crate) fn start(
        executor: Arc<E>,
        scan: Scan,
        files: Vec<FileMeta>,
        cancellation: Option<CancellationTokenRef>,
    ) -> Self {
        let (sender, messages) = channel(BATCHES_AHEAD);
        executor.spawn(async move {
            let read = pin!(read(scan, files, &sender));
            // The caller may leave while a request is under way.
            select(read, pin!(sender.closed())).await;
        });
        Self {
            executor,
            messages: Some(messages),
            cancellation,
        }
    }
}

impl<E: TaskExecutor> Iterator for Batches<E> {
    type Item = KernelResult<Box<dyn EngineData>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut messages = self.messages.take()?;
        let cancellation = self.cancellation.clone();
        if cancellation.as_ref().is_some_and(|it| it.is_cancelled()) {
            return Some(Err(KernelError::Cancelled));
        }
        let (message, messages) = self.executor.block_on(async move {
            let message = match &cancellation {
                None => messages.recv().await,
                Some(cancellation) => {
                    let cancelled = cancellation.cancelled_future();
                    match select(pin!(messages.recv()), cancelled).await {
                        Either::Left((message, _)) => message,
                        Either::Right(_) => Some(Message::Error(KernelError::Cancelled)),
                    }
                }
            };
            (message, messages)
        });
        let batch = match message {
            Some(Message::End) => return None,
            Some(Message::Error(error)) => Err(error),
            Some(Message::Batch(it)) => it.plan.conform(&it.batch, &it.url),
            None => Err(KernelError::generic(
                "the executor dropped the task that reads Parquet files, so rows are missing",
            )),
        };
        if batch.is_ok() {
            self.messages = Some(messages);
        }
        Some(batch.map(|batch| Box::new(ArrowEngineData::new(batch)) as Box<dyn EngineData>))
    }
}

/// Reads all files, and sends their batches in order.
async fn read(scan: Scan, files: Vec<FileMeta>, sender: &Sender<Message>) {
    let (opened, mut to_read) = channel::<KernelResult<OpenFile>>(1);
    let scan = &scan;
    let open_all = async move {
        let mut files = stream::iter(files)
            .map(|file| OpenFile::open(scan, file))
            .buffered(FILES_AHEAD);
        while let Some(file) = files.next().await {
            let is_last = file.is_err();
            if opened.send(file).await.is_err() || is_last {
                return;
            }
        }
    };
    let decode_all = async move {
        while let Some(file) = to_read.recv().await {
            let result = match file {
                Ok(file) => file.send_all(sender).await,
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                drop(sender.send(Message::Error(error)).await);
                return;
            }
        }
        drop(sender.send(Message::End).await);
    };
    join(open_all, decode_all).await;
}

/// A file whose first batch was decoded.
struct OpenFile {
    first: Option<RecordBatch>,
    batches: RecordBatchStream,
    plan: Arc<Plan>,
    url: Arc<str>,
}

impl OpenFile {
    async fn open(scan: &Scan, file: FileMeta) -> KernelResult<Self> {
        let url: Arc<str> = file.location.as_str().into();
        let remote = open(&scan.store, &file).await?;
        let fields = file_fields(&remote, &url)?;
        let plan = Plan::new(&scan.wanted, &scan.target, &fields)
            .map_err(|error| KernelError::generic(format!("{url}: {error}")))?;
        let options = options(scan, &plan, &fields);
        let batches = remote.read(options).map_err(|error| in_file(&url, error))?;
        let mut file = Self {
            first: None,
            batches,
            plan: Arc::new(plan),
            url,
        };
        file.first = file.next().await?;
        Ok(file)
    }

    async fn next(&mut self) -> KernelResult<Option<RecordBatch>> {
        let batch = self.batches.next_batch().await;
        batch.map_err(|error| in_file(&self.url, error))
    }

    /// Sends all batches. Returns early if the caller left.
    async fn send_all(mut self, sender: &Sender<Message>) -> KernelResult<()> {
        let mut next = self.first.take();
        while let Some(batch) = next {
            let message = Message::Batch(Decoded {
                batch,
                plan: self.plan.clone(),
                url: self.url.clone(),
            });
            if sender.send(message).await.is_err() {
                return Ok(());
            }
            next = self.next().await?;
        }
        Ok(())
    }
}

/// Opens a file. A size of 0 is not known.
pub(crate) async fn open(store: &Arc<DynObjectStore>, file: &FileMeta) -> KernelResult<RemoteFile> {
    let url = &file.location;
    if url.scheme().starts_with("http") && url.query().is_some() {
        return Err(KernelError::unsupported(format!(
            "{}://{}{} is a presigned URL: give the engine the store of the table instead",
            url.scheme(),
            url.host_str().unwrap_or_default(),
            url.path()
        )));
    }
    let mut policy = FetchPolicy::remote();
    policy.max_bytes_ahead = BYTES_AHEAD;
    if url.scheme() == "file" {
        // A request takes 0.1 ms, in which 256 KiB are copied.
        policy.max_gap_bytes = 64 << 10;
        policy.round_trip_bytes = 256 << 10;
        policy.max_requests_in_flight = 4;
    }
    let path = Path::from_url_path(url.path())?;
    let mut object = StoreObject::new(store.clone(), path)
        .name(url.as_str())
        .fetch_policy(policy);
    if file.size != 0 {
        object = object.known_identity(Identity::new(file.size));
    }
    let opened = RemoteFile::open(Arc::new(object), OpenOptions::new()).await;
    opened.map_err(|error| in_file(url.as_str(), error))
}

/// Returns the fields of a file as Parquet declares them, with their field ids.
///
/// INT96 timestamps have nanoseconds here, although they are read as microseconds: so a predicate is never compared with them.
pub(crate) fn file_fields(file: &RemoteFile, url: &str) -> KernelResult<Fields> {
    let mapped = to_arrow(file.parquet_schema(), &[], &SchemaOptions::default());
    let (schema, _) = mapped.map_err(|error| in_file(url, error))?;
    let declared = file.parquet_schema().leaves().len();
    let leaves = schema.fields().iter().map(|it| num_leaves(it.data_type()));
    match leaves.sum::<usize>() == declared {
        true => Ok(schema.fields().clone()),
        false => Err(KernelError::unsupported(format!(
            "{url}: the Arrow schema does not have the {declared} columns of the file"
        ))),
    }
}

/// Returns the options for the read of a file.
fn options(scan: &Scan, plan: &Plan, fields: &Fields) -> ReadOptions {
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    // Microseconds cover the years that a table may have, and nanoseconds end in 2262.
    schema.int96_unit = TimeUnit::Microsecond;
    let mut options = ReadOptions::new()
        .projection(Projection::Leaves(plan.leaves.clone()))
        .schema(schema)
        .tune_allocator(false);
    if let Ok(runtime) = Handle::try_current() {
        options = options.spawn(Arc::new(BlockingThreads(runtime)));
    }
    if plan.has_row_index() {
        let mut name = "row_index".to_owned();
        while fields.iter().any(|field| *field.name() == name) {
            name.push('_');
        }
        options = options.virtual_column(VirtualColumn::row_number(name));
    }
    let predicate = scan.predicate.as_ref();
    options.filter = predicate.and_then(|predicate| implied(predicate, &plan.fields));
    options
}

/// The threads of a runtime for blocking work. They decode, so that the runtime can send requests.
#[derive(Debug)]
struct BlockingThreads(Handle);

impl Spawn for BlockingThreads {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        drop(self.0.spawn_blocking(job));
    }
}
