//! Files: opening, looking into them, and reading.

use std::ffi::{c_char, c_void};

use herringbone::ParquetFile;
use herringbone_c_check::{ArrowArrayStream, ArrowSchema};

use crate::error::{HbError, Result, argument, entry};
use crate::export::{Batches, give_schema, give_stream};
use crate::options;
use crate::place::Place;
use crate::progress::{HbProgress, Progress};
use crate::source::{Buffer, Callbacks, HbRelease, HbSource};
use crate::texts::{give_text, pairs, text};

/// An open file. It belongs to the caller, who frees it by `hb_file_free`. Any number of threads may use it at the same time.
pub struct HbFile {
    file: ParquetFile,
}

/// Gives an open file to C.
///
/// # Safety
/// `out` must be null or a place for a pointer.
unsafe fn give_file(out: *mut *mut HbFile, file: ParquetFile) -> Result {
    // SAFETY: `out` is null or a place.
    unsafe { give(out, HbFile { file }) }
}

/// Gives a value to C.
///
/// # Safety
/// `out` must be null or a place for a pointer.
pub(crate) unsafe fn give<T>(out: *mut *mut T, value: T) -> Result {
    if out.is_null() {
        return Err(argument("the place for the result is null"));
    }
    // SAFETY: it is not null, and a place for a pointer.
    unsafe { out.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Returns the value of a pointer.
///
/// # Safety
/// The pointer must be null or valid.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    // SAFETY: it is null or valid.
    unsafe { pointer.as_ref() }.ok_or_else(|| argument(format!("{name} is null")))
}

/// Opens the file at a path or URL. Options: limits, such as `max.memory_bytes`, and `keys` JSON for an encrypted file, with the
/// members of the command's keys file.
///
/// # Safety
/// `place` is a text in UTF-8. `options` are keys and values in turn, and NULL at the end, or null. `file` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_open(
    place: *const c_char,
    options: *const *const c_char,
    file: *mut *mut HbFile,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let place = Place::of(text(place, "the place")?)?;
        let options = options::of_open(&pairs(options)?, place.key_material())?;
        give_file(file, place.open(options)?)
    })
}

/// Opens a file in memory, without a copy. The buffer must stay unchanged until the library calls `release` with `data`, which
/// it does once, on any thread, when the file and all arrays that were read from it are freed, or after an error.
///
/// # Safety
/// `bytes` has `length` bytes. The rest is as for `hb_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_open_buffer(
    bytes: *const u8,
    length: usize,
    release: HbRelease,
    data: *mut c_void,
    options: *const *const c_char,
    file: *mut *mut HbFile,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let bytes = Buffer::bytes(bytes, length, release, data)?;
        let options = options::of_open(&pairs(options)?, None)?;
        give_file(file, ParquetFile::from_bytes_with(bytes, options)?)
    })
}

/// Opens a file whose bytes callbacks read. The library calls `release` also after an error.
///
/// # Safety
/// The callbacks do what `HbSource` describes, on any thread. The rest is as for `hb_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_open_source(
    source: *const HbSource,
    options: *const *const c_char,
    file: *mut *mut HbFile,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let source = Callbacks::open(*given(source, "the source")?)?;
        let options = options::of_open(&pairs(options)?, None)?;
        give_file(file, ParquetFile::from_source(source, options)?)
    })
}

/// Frees a file. Streams that were opened from it stay valid. Null is allowed.
///
/// # Safety
/// `file` is null, or a file that is not freed, and that no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_file_free(file: *mut HbFile) {
    drop(entry_free(|| {
        if !file.is_null() {
            // SAFETY: the caller promises a file of `give_file`, which is not used afterwards.
            drop(unsafe { Box::from_raw(file) });
        }
    }));
}

/// Frees something. Nothing can be told about a panic.
pub(crate) fn entry_free(free: impl FnOnce()) -> Result {
    crate::error::guarded(|| {
        free();
        Ok(())
    })
}

/// Returns the Arrow schema that `hb_read` with these options has. The caller releases it.
///
/// # Safety
/// As for `hb_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_schema(
    file: *const HbFile,
    options: *const *const c_char,
    schema: *mut ArrowSchema,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let file = &given(file, "the file")?.file;
        let options = options::of_read(file, &pairs(options)?)?;
        give_schema(schema, file.plan(&options)?.schema())
    })
}

/// Starts a read. Errors of the stream have a text, and `hb_stream_error` has their parts. The caller releases the stream, which
/// one thread at a time may use. Options, of which those with * may be repeated:
///
/// - `column`* NAME, `column_path`* `a.b`, `columns` `none`: the columns, in the order of the file; all without these
/// - `where`* CONDITION: rows for which a condition in SQL is true, such as `a > 5 and b like 'x%'`
/// - `offset`, `limit`: numbers of rows
/// - `row_group`* NUMBER, `row_range`* `START..END`
/// - `split`* `START..END`: row groups that begin in a range of the file's bytes
/// - `threads`: 0, which is the default, is one per core
/// - `batch_rows`, `batch_bytes`: the largest size of a batch
/// - `memory_bytes` and other limits `max.NAME`, which a size such as `64MiB` may be
/// - `verify_crc` `off`; `on_error` `null_page` or `skip_row_group`
///
/// # Safety
/// `file` is open. `options` are as for `hb_open`. `progress` may be called with `data` while a function of the stream runs.
/// `stream` is a place for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_read(
    file: *const HbFile,
    options: *const *const c_char,
    progress: HbProgress,
    data: *mut c_void,
    stream: *mut ArrowArrayStream,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let file = &given(file, "the file")?.file;
        let options = options::of_read(file, &pairs(options)?)?;
        let progress = Progress::new(progress, data);
        let _entered = progress.enter();
        let reader = match progress.is_needed() {
            true => {
                let source = progress.watch(file.source().clone());
                ParquetFile::with_metadata(source, file.metadata_handle())?.read(options)?
            }
            false => file.read(options)?,
        };
        let batches = Batches::File(Box::new(reader));
        give_stream(stream, batches, progress.clone())
    })
}

/// Returns the metadata of the file as JSON. The caller frees the text by `hb_text_free`.
///
/// # Safety
/// `file` is open, and `json` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_metadata(file: *const HbFile, json: *mut *mut c_char) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let file = &given(file, "the file")?.file;
        give_text(
            json,
            &herringbone_cli::json::metadata(&file.metadata_handle())?,
        )
    })
}

/// Returns the bounds and counts of the pages of a column chunk as a JSON array with an object for each page, or `null` if there is
/// no page index. The caller frees the text by `hb_text_free`.
///
/// # Safety
/// `file` is open, `column` is a path such as `a.b`, and `json` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_page_bounds(
    file: *const HbFile,
    row_group: usize,
    column: *const c_char,
    json: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let file = &given(file, "the file")?.file;
        let leaf = file
            .parquet_schema()
            .leaf_at(text(column, "the column")?.split('.'))?;
        let bounds = file.page_bounds(row_group, leaf)?;
        give_text(json, &herringbone_cli::json::bounds(bounds.as_ref())?)
    })
}

/// Returns the rows that a read with these options rules out, and the bytes that it would fetch, as a JSON array with an object for each row
/// group. The caller frees the text by `hb_text_free`.
///
/// # Safety
/// `file` is open, `options` are those of `hb_read`, and `json` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_explain(
    file: *const HbFile,
    options: *const *const c_char,
    json: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let file = &given(file, "the file")?.file;
        let options = options::of_read(file, &pairs(options)?)?;
        give_text(
            json,
            &herringbone_cli::json::explanation(&file.explain(&options)?),
        )
    })
}
