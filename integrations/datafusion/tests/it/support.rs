//! Sessions, files, and a store that counts requests.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, OBJECT_STORE_COALESCE_DEFAULT,
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result, coalesce_ranges,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// A temporary folder, which is removed on drop.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("herringbone-datafusion-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file with the `parquet` crate.
    pub(crate) fn write(&self, name: &str, batch: &RecordBatch, rows_per_group: usize) -> String {
        let properties =
            WriterProperties::builder().set_max_row_group_row_count(Some(rows_per_group));
        self.write_with(name, batch, properties.build())
    }

    pub(crate) fn write_with(
        &self,
        name: &str,
        batch: &RecordBatch,
        properties: WriterProperties,
    ) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(FilePath::new(&path).parent().unwrap()).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The reader that a session uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Herringbone,
    Stock,
    /// The engine's own reader, without anything by which it errs.
    Plain,
}

pub(crate) fn session(reader: Reader, partitions: usize) -> SessionContext {
    session_with(
        reader,
        SessionConfig::new().with_target_partitions(partitions),
    )
}

pub(crate) fn session_with(reader: Reader, mut config: SessionConfig) -> SessionContext {
    if reader == Reader::Plain {
        let off = [
            "pruning",
            "enable_page_index",
            "bloom_filter_on_read",
            "pushdown_filters",
        ];
        for key in off.map(|key| format!("datafusion.execution.parquet.{key}")) {
            config = config.set_bool(&key, false);
        }
        config = config.set_bool("datafusion.execution.collect_statistics", false);
    }
    let session = SessionContext::new_with_config(config);
    if reader == Reader::Herringbone {
        herringbone_datafusion::register(&session).unwrap();
    }
    session
}

/// Runs a statement.
pub(crate) async fn run(session: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>, String> {
    let frame = session.sql(sql).await.map_err(|error| error.to_string())?;
    frame.collect().await.map_err(|error| error.to_string())
}

/// Runs a query that must succeed, and returns its rows as text.
pub(crate) async fn text(session: &SessionContext, sql: &str) -> String {
    let batches = run(session, sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    pretty_format_batches(&batches).unwrap().to_string()
}

/// Runs a query that must succeed, and returns its rows in one line, such as `1 2; 3 4`.
pub(crate) async fn rows(session: &SessionContext, sql: &str) -> String {
    let text = text(session, sql).await;
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(1);
    let row = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines.map(row).collect::<Vec<_>>().join("; ")
}

/// Returns the rows sorted as texts, so that they do not depend on the order of the output.
pub(crate) async fn sorted_rows(session: &SessionContext, sql: &str) -> Vec<String> {
    let text = text(session, sql).await;
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(1);
    let mut lines: Vec<_> = lines.map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

pub(crate) async fn create(session: &SessionContext, table: &str, path: &str) {
    let sql = format!("create external table {table} stored as parquet location '{path}'");
    run(session, &sql).await.unwrap();
}

/// A store of local files that counts requests and bytes.
#[derive(Debug, Default)]
pub(crate) struct CountingStore {
    files: LocalFileSystem,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// The offset up to which any file was read.
    end: AtomicU64,
}

impl CountingStore {
    /// Makes a session read local files from a store that counts. You find it under `file://`, and
    /// as a remote store under `remote://store`.
    pub(crate) fn of(session: &SessionContext) -> Arc<Self> {
        let store = Arc::new(Self::default());
        for url in ["file://", "remote://store"] {
            let url = url::Url::parse(url).unwrap();
            session.register_object_store(&url, store.clone());
        }
        store
    }

    /// Returns the numbers of requests and bytes since the last call.
    pub(crate) fn take(&self) -> (u64, u64) {
        (
            self.requests.swap(0, Ordering::Relaxed),
            self.bytes.swap(0, Ordering::Relaxed),
        )
    }

    /// Returns the largest offset up to which any file was read since the last call.
    pub(crate) fn take_end(&self) -> u64 {
        self.end.swap(0, Ordering::Relaxed)
    }

    fn count(&self, range: &Range<u64>) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes
            .fetch_add(range.end - range.start, Ordering::Relaxed);
        self.end.fetch_max(range.end, Ordering::Relaxed);
    }
}

impl fmt::Display for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store that counts")
    }
}

#[async_trait]
impl ObjectStore for CountingStore {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.files.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.files.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        // We do not count this, because the engine itself asks for a file's properties.
        let is_read = !options.head;
        let result = self.files.get_opts(path, options).await?;
        if is_read {
            self.count(&result.range);
        }
        Ok(result)
    }

    /// Gets nearby ranges with one request, like a store in a network.
    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let get = |range| self.get_range(path, range);
        coalesce_ranges(ranges, get, OBJECT_STORE_COALESCE_DEFAULT).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.files.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await
    }
}

/// Returns the files in a folder and below it that have the extension of complete files.
pub(crate) fn files(path: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(path) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries.map(|entry| entry.unwrap().path()) {
        let name = entry.to_str().unwrap().to_owned();
        match entry.is_dir() {
            true => found.append(&mut files(&name)),
            false if name.ends_with(".parquet") => found.push(name),
            false => {}
        }
    }
    found
}
