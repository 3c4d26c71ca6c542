//! Writing: a stream of Arrow as a file.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use herringbone::arrow::array::RecordBatchReader as _;
use herringbone::{Limits, MetadataHandle, Writer};
use herringbone_c_check::ArrowArrayStream;

use crate::error::{HbError, Result, entry};
use crate::file::given;
use crate::import;
use crate::place::Place;
use crate::progress::{HbProgress, Progress};
use crate::sink::{HbSink, Sink};
use crate::texts::{give_text, pairs, text};
use crate::{json, options};

/// Writes a stream to a path or URL. The file appears when it is complete, and replaces an existing one. The options are those
/// that `hb_write_options` lists. `PATH:NAME` sets an option of columns for one column, as `a.b:compression`, and `metadata:KEY`
/// adds a pair to the metadata. `sort_by`* `COLUMN,COLUMN:desc:nulls-first` sorts the rows, with at most `sort_memory_bytes` of
/// them in memory, and the others in temporary files in `sort_folder`. `keys` JSON encrypts the file, with the members of the
/// command's keys file. If `metadata` is not null, it gets the metadata of the file as JSON, which the caller frees by
/// `hb_text_free`.
///
/// The library takes the stream, and releases it, also after an error. Its structs are checked: a stream whose numbers contradict
/// each other is an error. Its pointers and the sizes of its buffers are believed.
///
/// # Safety
/// `place` is a text in UTF-8. `stream` is an initialized stream that its owner does not use afterwards. `options` are as for
/// `hb_open`. `progress` may be called with `data` until this returns. `metadata` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_write(
    place: *const c_char,
    stream: *mut ArrowArrayStream,
    options: *const *const c_char,
    progress: HbProgress,
    data: *mut c_void,
    metadata: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let place = text(place, "the place");
        let progress = Progress::new(progress, data);
        written(
            || Place::of(place?)?.create(),
            stream,
            options,
            &progress,
            metadata,
        )
    })
}

/// Writes a stream to a callback. All else is as for `hb_write`. After an error, the bytes so far are no file.
///
/// # Safety
/// The callback does what `HbSink` describes. The rest is as for `hb_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_write_sink(
    sink: *const HbSink,
    stream: *mut ArrowArrayStream,
    options: *const *const c_char,
    progress: HbProgress,
    data: *mut c_void,
    metadata: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let sink = given(sink, "the sink");
        let progress = Progress::new(progress, data);
        let open = || Sink::callback(*sink?);
        written(open, stream, options, &progress, metadata)
    })
}

/// # Safety
/// As for [`hb_write`].
unsafe fn written(
    open: impl FnOnce() -> Result<Sink>,
    stream: *mut ArrowArrayStream,
    options: *const *const c_char,
    progress: &Arc<Progress>,
    json: *mut *mut c_char,
) -> Result {
    // SAFETY: as for this function. The stream is first, because it is taken also after an error.
    let (batches, pairs) = unsafe { (import::batches(stream)?, pairs(options)?) };
    let options = options::of_write(&pairs)?.interrupt(progress.clone());
    let _entered = progress.enter();
    let mut writer = Writer::new(open()?, batches.schema(), options)?;
    for batch in batches {
        let batch = batch?;
        writer.write(&batch)?;
        progress.add(batch.num_rows())?;
    }
    let (metadata, sink) = writer.finish_into()?;
    sink.commit()?;
    if !json.is_null() {
        let handle = MetadataHandle::new(metadata, u64::MAX, Limits::default())?;
        // SAFETY: it is a place for a pointer.
        unsafe { give_text(json, &herringbone_cli::json::metadata(&handle)?)? };
    }
    Ok(())
}

/// Returns the options of `hb_write` as a JSON array: name, kind, choices, default, purpose, and whether columns may have values of
/// their own. The caller frees the text by `hb_text_free`.
///
/// # Safety
/// `json` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_write_options(json: *mut *mut c_char) -> *mut HbError {
    // SAFETY: the caller promises a valid argument.
    entry(|| unsafe { give_text(json, &json::write_options()) })
}
