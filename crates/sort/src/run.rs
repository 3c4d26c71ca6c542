//! Runs: sorted rows spilled to a temporary file as an Arrow IPC stream.
//!
//! We use Arrow's own format because it restores arrays unchanged at the speed of a copy.

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::ipc::reader::StreamReader;
use herringbone_arrow::ipc::writer::StreamWriter;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::Result;

use super::memory::bytes_of;
use super::temporary::{BlockReader, Spill, TemporaryFile};
use super::unsortable;

/// Sorted rows in a temporary file.
pub(super) struct Run {
    file: TemporaryFile,
    /// The rows' in-memory size, in bytes.
    pub(super) bytes: usize,
    pub(super) num_rows: usize,
    /// The number of times the rows have been merged. Used to pick the runs to merge next.
    pub(super) level: u32,
}

impl Run {
    /// Returns a reader of the run's batches, in order.
    ///
    /// # Errors
    /// Fails with Io if the file cannot be read.
    pub(super) fn read(self) -> Result<RunReader> {
        let reader = StreamReader::try_new(BlockReader::new(self.file), None);
        Ok(RunReader(reader.map_err(unsortable)?))
    }
}

/// A run's batches, read back in order.
pub(super) struct RunReader(StreamReader<BlockReader>);

impl RunReader {
    /// Returns the next batch, or `None` after the last one.
    ///
    /// # Errors
    /// Fails with Io if the file cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.0.next().transpose().map_err(unsortable)
    }
}

/// A writer for one run.
pub(super) struct RunWriter<'a> {
    spill: &'a mut Spill,
    run: Run,
    stream: StreamWriter<Vec<u8>>,
}

impl<'a> RunWriter<'a> {
    /// Starts a run for batches with this schema. `level` says how often their rows have been
    /// merged.
    ///
    /// # Errors
    /// Fails with Io if the file cannot be created.
    pub(super) fn new(spill: &'a mut Spill, schema: &SchemaRef, level: u32) -> Result<Self> {
        Ok(Self {
            run: Run {
                file: spill.create()?,
                bytes: 0,
                num_rows: 0,
                level,
            },
            spill,
            stream: StreamWriter::try_new(Vec::new(), schema).map_err(unsortable)?,
        })
    }

    /// Appends the next sorted rows.
    ///
    /// # Errors
    /// Fails with Io if the file cannot be written.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.stream.write(batch).map_err(unsortable)?;
        self.run.bytes += bytes_of(batch);
        self.run.num_rows += batch.num_rows();
        self.write_block()
    }

    /// Finishes the run.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`].
    pub(super) fn finish(mut self) -> Result<Run> {
        self.stream.finish().map_err(unsortable)?;
        self.write_block()?;
        Ok(self.run)
    }

    fn write_block(&mut self) -> Result<()> {
        let bytes = self.stream.get_mut();
        self.run.file.write(bytes, self.spill)?;
        bytes.clear();
        Ok(())
    }
}
