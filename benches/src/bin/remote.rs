//! Reads files over HTTP on request, for `remote.py`, which lets other peers read in between.
//!
//! ```text
//! in:  SIDE URL COLUMNS [COLUMN BEGIN END]    separated by tabs
//!      SIDE: herringbone, which decodes on the polling task; spawn, which decodes on threads of the runtime; parquet;
//!      or sync, which is herringbone without a store, from a local path
//!      COLUMNS: their names separated by commas, or *
//!      the condition BEGIN <= COLUMN < END, for integers
//! out: seconds rows, or: error MESSAGE
//! ```

#![expect(
    deprecated,
    reason = "the reader of objects that users of the `parquet` crate have"
)]

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

use futures::{StreamExt, TryStreamExt};
use herringbone::filter::col;
use herringbone::{OpenOptions, ParquetFile, ReadOptions, Spawn};
use herringbone_arrow::array::{BooleanArray, Int64Array};
use herringbone_benches::Result;
use herringbone_remote::RemoteFile;
use herringbone_remote::object_store_014::StoreObject;
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::{ClientOptions, ObjectStore, path::Path};
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, RowFilter,
};
use parquet::arrow::async_reader::{AsyncFileReader, ParquetObjectReader};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::file::metadata::PageIndexPolicy;

/// A request from the script.
struct Turn<'a> {
    url: &'a str,
    columns: Option<Vec<String>>,
    condition: Option<(&'a str, i64, i64)>,
}

/// A host that decodes on the runtime's threads.
#[derive(Debug)]
struct Blocking(tokio::runtime::Handle);

impl Spawn for Blocking {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.spawn_blocking(job);
    }
}

fn main() -> Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "there is a provider")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match turn(&line?, &runtime) {
            Ok((seconds, rows)) => writeln!(out, "{seconds} {rows}")?,
            Err(error) => writeln!(out, "error {error}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// Runs one turn with a new connection, and returns its seconds and the number of rows.
fn turn(line: &str, runtime: &tokio::runtime::Runtime) -> Result<(f64, usize)> {
    let words: Vec<_> = line.split('\t').collect();
    let &[side, url, columns, ref condition @ ..] = words.as_slice() else {
        return Err("SIDE URL COLUMNS [COLUMN BEGIN END]".into());
    };
    let turn = Turn {
        url,
        columns: (columns != "*").then(|| columns.split(',').map(str::to_owned).collect()),
        condition: match condition {
            &[column, begin, end] => Some((column, begin.parse()?, end.parse()?)),
            _ => None,
        },
    };
    let begin = Instant::now();
    let rows = match side {
        "herringbone" => runtime.block_on(herringbone(&turn, options(&turn)))?,
        "spawn" => {
            let threads = Arc::new(Blocking(runtime.handle().clone()));
            runtime.block_on(herringbone(&turn, options(&turn).spawn(threads)))?
        }
        "parquet" => runtime.block_on(peer(&turn))?,
        "sync" => sync(&turn)?,
        other => return Err(format!("no side `{other}`").into()),
    };
    Ok((begin.elapsed().as_secs_f64(), rows))
}

/// Returns the store and path for the object at a URL, or for a local file.
fn store(url: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
    if let Some(path) = url.strip_prefix("file://") {
        return Ok((
            Arc::new(LocalFileSystem::new()),
            Path::from_absolute_path(path)?,
        ));
    }
    let (host, path) = url.rsplit_once('/').ok_or("no path in the URL")?;
    let options = ClientOptions::new().with_allow_http(true);
    Ok((
        Arc::new(
            HttpBuilder::new()
                .with_url(host)
                .with_client_options(options)
                .build()?,
        ),
        path.into(),
    ))
}

fn options(turn: &Turn<'_>) -> ReadOptions {
    let mut options = ReadOptions::new();
    if let Some(columns) = &turn.columns {
        options = options.columns(columns);
    }
    if let Some((column, begin, end)) = turn.condition {
        options = options.filter(col(column).ge(begin).and(col(column).lt(end)));
    }
    options
}

async fn herringbone(turn: &Turn<'_>, options: ReadOptions) -> Result<usize> {
    let (store, path) = store(turn.url)?;
    let file =
        RemoteFile::open(Arc::new(StoreObject::new(store, path)), OpenOptions::new()).await?;
    let mut batches = file.read(options)?;
    let mut rows = 0;
    while let Some(batch) = batches.next_batch().await? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

fn sync(turn: &Turn<'_>) -> Result<usize> {
    let path = turn
        .url
        .strip_prefix("file://")
        .ok_or("sync takes file://")?;
    let mut rows = 0;
    for batch in ParquetFile::open(path)?.read(options(turn).threads(1))? {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

async fn peer(turn: &Turn<'_>) -> Result<usize> {
    let (store, path) = store(turn.url)?;
    let mut reader = ParquetObjectReader::new(store, path);
    // Only a filter can make use of page indexes.
    let policy = match turn.condition {
        Some(_) => PageIndexPolicy::Optional,
        None => PageIndexPolicy::Skip,
    };
    let reading = ArrowReaderOptions::new().with_page_index_policy(policy);
    let metadata = reader.get_metadata(Some(&reading)).await?;
    let metadata = ArrowReaderMetadata::try_new(metadata, reading)?;
    let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, metadata);
    let schema = builder.parquet_schema();
    let mask = match &turn.columns {
        Some(columns) => ProjectionMask::columns(schema, columns.iter().map(String::as_str)),
        None => ProjectionMask::all(),
    };
    if let Some((column, begin, end)) = turn.condition {
        let mask = ProjectionMask::columns(schema, [column]);
        let test = ArrowPredicateFn::new(mask, move |batch| {
            let column = batch.column(0).as_any().downcast_ref::<Int64Array>();
            let values = column.into_iter().flatten();
            Ok(values
                .map(|value| Some(value.is_some_and(|value| (begin..end).contains(&value))))
                .collect::<BooleanArray>())
        });
        builder = builder.with_row_filter(RowFilter::new(vec![Box::new(test)]));
    }
    let batches = builder
        .with_projection(mask)
        .with_batch_size(8192)
        .build()?;
    Ok(batches
        .map_ok(|batch| batch.num_rows())
        .boxed()
        .try_fold(0, async |sum, rows| Ok(sum + rows))
        .await?)
}
