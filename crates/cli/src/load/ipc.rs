//! Arrow IPC files and streams.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use arrow_ipc::reader::{FileReader, StreamReader};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{ArrowError, SchemaRef};

use super::{Rows, Stream, Work};
use crate::failure::{Failure, Result};

/// What an IPC file begins with, unlike a stream.
pub(super) const MAGIC: &[u8] = b"ARROW1";

/// Reads what is there, whichever of the two it is called.
///
/// # Errors
/// Data where it is neither, System.
pub(crate) fn ipc_file_or_stream(path: &Path) -> Result<Rows<'static>> {
    let mut stream = Stream::open(path)?;
    let name = stream.name.clone();
    let work = stream.work();
    let refused = |error: io::Error| Failure::System(format!("{name}: {error}"));
    let mut beginning = Vec::new();
    stream
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut beginning)
        .map_err(refused)?;
    let is_file = beginning == MAGIC;
    if is_file && matches!(work, Work::Bytes(..)) {
        let mut file = File::open(path).map_err(refused)?;
        file.seek(SeekFrom::Start(0)).map_err(refused)?;
        return file_rows(&name, BufReader::new(file));
    }
    let mut all = Cursor::new(beginning).chain(stream);
    if is_file {
        let mut bytes = Vec::new();
        all.read_to_end(&mut bytes).map_err(refused)?;
        return file_rows(&name, Cursor::new(bytes));
    }
    let reader = guarded(&name, || StreamReader::try_new(BufReader::new(all), None))?;
    Ok(Rows {
        schema: reader.schema(),
        batches: batches(name, reader),
        work,
    })
}

/// The schema of an IPC file or stream.
///
/// # Errors
/// As of the rows.
pub(crate) fn schema_of(path: &Path) -> Result<SchemaRef> {
    ipc_file_or_stream(path).map(|rows| rows.schema)
}

fn file_rows(name: &str, bytes: impl Read + Seek + 'static) -> Result<Rows<'static>> {
    let reader = guarded(name, || FileReader::try_new(bytes, None))?;
    Ok(Rows {
        schema: reader.schema(),
        work: Work::Batches(reader.num_batches() as u64),
        batches: batches(name.to_owned(), reader),
    })
}

fn batches(
    name: String,
    mut reader: impl Iterator<Item = Result<RecordBatch, ArrowError>> + 'static,
) -> Box<dyn Iterator<Item = Result<RecordBatch>>> {
    let mut failed = false;
    Box::new(std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let batch = guarded(&name, || reader.next().transpose());
        failed = batch.is_err();
        batch.transpose()
    }))
}

/// Reads something. arrow-ipc panics where offsets in damaged files lie outside of their buffers; that
/// is no more than an error for somebody who only wants to know what is wrong with a file.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    match read {
        Ok(read) => read.map_err(|error| wrong(name, error)),
        Err(_) => Err(wrong(
            name,
            ArrowError::IpcError("lengths or offsets contradict each other".into()),
        )),
    }
}

/// Whether it is the bytes or the system.
fn wrong(name: &str, error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            Failure::System(format!("{name}: {error}"))
        }
        other => Failure::Data(format!("{name}: no Arrow data, or damaged: {other}")),
    }
}
