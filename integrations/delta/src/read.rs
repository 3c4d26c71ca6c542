//! The read of a scan's files. A task of the executor reads them by a [`FileStream`], and an
//! iterator takes the batches.
//!
//! ```text
//! files ─► FileStream: open, decode (a few files side by side, in order) ─► channel ─► Batches: conform
//! ```

use std::pin::pin;
use std::sync::Arc;

use delta_kernel::arrow::datatypes::TimeUnit;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::object_store::{DynObjectStore, path::Path};
use delta_kernel::{
    CancellationTokenRef, EngineData, FileMeta, KernelError, KernelResult, PredicateRef,
};
use delta_kernel_default_engine::executor::TaskExecutor;
use futures::future::{Either, select};
use herringbone::push::FetchPolicy;
use herringbone::{ErrorKind, OpenOptions, ReadOptions, SchemaOptions, Spawn, VirtualColumn};
use herringbone_dataset::DatasetReadOptions;
use herringbone_dataset::sequence::{
    FileFuture, FileMemory, FileSequence, FileStep, FileStream, FileTask, HeldBatch, Progress,
    Rows, StreamFiles,
};
use herringbone_remote::object_store_013::StoreObject;
use herringbone_remote::{Identity, RecordBatchStream, RemoteFile};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, channel};

use crate::error::in_file;
use crate::predicate::implied;
use crate::wanted::Wanted;

/// The largest number of open files.
const MAX_OPEN_FILES: usize = 4;
/// The number of bytes that we request ahead in each open file.
const BYTES_AHEAD: u64 = 16 << 20;

/// The options of a read.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) store: Arc<DynObjectStore>,
    pub(crate) wanted: Arc<Wanted>,
    pub(crate) predicate: Option<PredicateRef>,
}

/// A decoded batch, with the URL of its file.
struct Decoded {
    batch: HeldBatch,
    url: Arc<str>,
}

impl Rows for Decoded {
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn part(self, offset: usize, length: usize) -> Self {
        let batch = self.batch.part(offset, length);
        Self { batch, ..self }
    }

    fn is_granted(&self) -> bool {
        self.batch.is_granted()
    }
}

/// A message to the caller's thread. If no `End` comes, we know that the task was lost.
enum Message {
    Batch(Decoded),
    Error(KernelError),
    End,
}

/// The batches of all files, in order. If you drop it, the task that reads ends, too.
pub(crate) struct Batches<E> {
    executor: Arc<E>,
    wanted: Arc<Wanted>,
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
        let wanted = scan.wanted.clone();
        let (sender, messages) = channel(1);
        executor.spawn(async move {
            let read = pin!(async {
                let mut files = ScanFiles::new(scan, files).stream();
                loop {
                    let (message, is_last) = match files.next_batch().await {
                        Ok(Some(batch)) => (Message::Batch(batch), false),
                        Ok(None) => (Message::End, true),
                        Err(error) => (Message::Error(error), true),
                    };
                    if sender.send(message).await.is_err() || is_last {
                        return;
                    }
                }
            });
            // We also wait for the channel to close, because the caller may leave while a request
            // is under way.
            select(read, pin!(sender.closed())).await;
        });
        Self {
            executor,
            wanted,
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
        if cancellation
            .as_ref()
            .is_some_and(|cancellation| cancellation.is_cancelled())
        {
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
            Some(Message::Batch(it)) => self.wanted.conform(&it.batch.into_batch(), &it.url),
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

/// A scan's files, which share the memory of one read.
struct ScanFiles {
    scan: Scan,
    files: Vec<FileMeta>,
    memory: Arc<FileMemory>,
}

impl ScanFiles {
    fn new(scan: Scan, files: Vec<FileMeta>) -> Self {
        let memory = FileMemory::new(&ReadOptions::new());
        Self {
            scan,
            files,
            memory,
        }
    }

    fn stream(self) -> FileStream<Self> {
        let options = DatasetReadOptions::new().max_open_files(MAX_OPEN_FILES);
        let sequence = FileSequence::new(self.files.len(), &options);
        FileStream::new(self, sequence)
    }

    async fn perform(
        &self,
        task: FileTask<OpenFile>,
    ) -> KernelResult<FileStep<OpenFile, Decoded, KernelError>> {
        let mut file = match task.reader {
            Some(file) => file,
            None => self.open(task.file, task.emitted).await?,
        };
        Ok(match file.batches.next_batch().await {
            Ok(None) => FileStep::Finished,
            Ok(Some(batch)) => {
                let batch = self.memory.hold(batch);
                let url = file.url.clone();
                FileStep::Batch(file, Decoded { batch, url })
            }
            Err(error) => match error.kind() {
                ErrorKind::Limit => FileStep::Refused(in_file(&file.url, error)),
                _ => FileStep::Failed(in_file(&file.url, error)),
            },
        })
    }

    async fn open(&self, file: usize, emitted: u64) -> KernelResult<OpenFile> {
        let Some(file) = self.files.get(file) else {
            return Err(KernelError::generic("the scan has no such file"));
        };
        let (scan, url) = (&self.scan, file.location.as_str());
        let remote = open(&scan.store, file).await?;
        let mut options = options(scan, url).offset(emitted);
        if let Some(predicate) = &scan.predicate {
            let plan = remote.metadata_handle().plan(&options);
            let plan = plan.map_err(|error| in_file(url, error))?;
            options.filter = implied(predicate, scan.wanted.schema(), &plan);
        }
        let batches = remote.read(options.memory_pool(self.memory.clone()));
        Ok(OpenFile {
            batches: batches.map_err(|error| in_file(url, error))?,
            url: url.into(),
        })
    }
}

/// An open file.
struct OpenFile {
    batches: RecordBatchStream,
    url: Arc<str>,
}

impl StreamFiles for ScanFiles {
    type Reader = OpenFile;
    type Batch = Decoded;
    type Error = KernelError;

    fn step(
        self: &Arc<Self>,
        task: FileTask<OpenFile>,
    ) -> FileFuture<OpenFile, Decoded, KernelError> {
        let files = self.clone();
        Box::pin(async move {
            let step = files.perform(task).await;
            let step = step.unwrap_or_else(FileStep::Failed);
            (step, Progress::default())
        })
    }

    fn is_busy(&self) -> bool {
        self.memory.is_half_used()
    }
}

/// Opens a file, whose size is not known if it is 0.
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
    let mut policy = match url.scheme() {
        "file" => FetchPolicy::local_async(),
        _ => FetchPolicy::remote(),
    };
    policy.max_bytes_ahead = BYTES_AHEAD;
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

/// Returns the options to read a file.
fn options(scan: &Scan, url: &str) -> ReadOptions {
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    // We use microseconds because they cover the years that a table may have, while nanoseconds end
    // in 2262.
    schema.int96_unit = TimeUnit::Microsecond;
    let mut options = ReadOptions::new()
        .wanted_schema(scan.wanted.of_file(url))
        .schema(schema)
        .tune_allocator(false);
    if let Ok(runtime) = Handle::try_current() {
        options = options.spawn(Arc::new(BlockingThreads(runtime)));
    }
    if let Some(name) = scan.wanted.row_index() {
        options = options.virtual_column(VirtualColumn::row_number(name));
    }
    options
}

/// A runtime's threads for blocking work, which decode so that the runtime itself can send
/// requests.
#[derive(Debug)]
struct BlockingThreads(Handle);

impl Spawn for BlockingThreads {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        drop(self.0.spawn_blocking(job));
    }
}
