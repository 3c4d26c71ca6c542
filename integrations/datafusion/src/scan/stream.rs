//! The stream of a file's batches.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion_common::Result;
use datafusion_datasource::PartitionedFile;
use datafusion_physical_expr::projection::Projector;
use datafusion_physical_expr::utils::reassign_expr_columns;
use futures::Stream;
use herringbone::{MetadataHandle, ReadOptions};
use herringbone_remote::{RecordBatchStream, RemoteFile};
use object_store::ObjectMeta;

use super::Scan;
use super::metrics::FileMetrics;
use super::read::FileRead;
use crate::error::{from_library, in_file};

/// The projected batches of one file.
pub(crate) struct FileStream {
    batches: RecordBatchStream,
    projector: Projector,
    output: SchemaRef,
    end: End,
}

/// The work to do at the end of a read, which is to record its counts.
struct End {
    meta: ObjectMeta,
    metrics: FileMetrics,
    limit: Option<Limit>,
}

/// The limit of a read, if nothing else keeps the read from looking at all of its row groups.
struct Limit {
    /// The number of rows that the read will still return.
    rows_left: u64,
    row_groups: usize,
}

impl Limit {
    fn new(options: &ReadOptions, handle: &MetadataHandle) -> Option<Self> {
        // With row selections, the read would not look at row groups without a selected row either.
        let rows_left = options
            .limit
            .filter(|_| options.row_selections.is_empty())?;
        let listed = options.row_groups.as_ref().map(Vec::len);
        Some(Self {
            rows_left,
            row_groups: listed.unwrap_or_else(|| handle.metadata().num_row_groups()),
        })
    }
}

impl FileStream {
    /// Plans the read of a file, or returns `None` if no row is selected.
    ///
    /// # Errors
    /// Fails with Corrupt or Unsupported if the file cannot be read as the table.
    pub(crate) fn open(
        scan: &Arc<Scan>,
        file: &PartitionedFile,
        opened: RemoteFile,
        metrics: FileMetrics,
    ) -> Result<Option<Self>> {
        let handle = opened.metadata_handle().clone();
        let Some(read) = FileRead::new(scan, file, &handle, &metrics)? else {
            return Ok(None);
        };
        let limit = Limit::new(&read.options, &handle);
        let batches = opened.read(read.options).map_err(from_library)?;
        let schema = batches.schema();
        let projection = read
            .projection
            .try_map_exprs(|expr| reassign_expr_columns(expr, &schema))?;
        let meta = file.object_meta.clone();
        Ok(Some(Self {
            projector: projection.make_projector(&schema)?,
            batches,
            output: scan.output.clone(),
            end: End {
                meta,
                metrics,
                limit,
            },
        }))
    }

    fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let batch = self.projector.project_batch(batch)?;
        if batch.schema_ref() == &self.output {
            return Ok(batch);
        }
        // The types are equal, but we take the table's metadata and nullability.
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.columns().to_vec();
        Ok(RecordBatch::try_new_with_options(
            self.output.clone(),
            columns,
            &options,
        )?)
    }
}

impl Stream for FileStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let batch = ready!(Pin::new(&mut this.batches).poll_next(cx));
        if let (Some(Ok(batch)), Some(limit)) = (&batch, &mut this.end.limit) {
            limit.rows_left = limit.rows_left.saturating_sub(batch.num_rows() as u64);
        }
        let batch = batch.map(|batch| {
            let batch = batch.map_err(from_library);
            batch.and_then(|batch| this.project(&batch))
        });
        let named = |error| in_file(&this.end.meta.location, error);
        Poll::Ready(batch.map(|batch| batch.map_err(named)))
    }
}

impl Drop for FileStream {
    fn drop(&mut self) {
        let End {
            meta,
            metrics,
            limit,
        } = &self.end;
        let read = self.batches.metrics();
        metrics.record_read(&read, meta.size);
        if let Some(limit) = limit.as_ref().filter(|limit| limit.rows_left == 0) {
            metrics.record_limit(limit.row_groups, &read);
        }
    }
}
