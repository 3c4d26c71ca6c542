//! Many files as one table.

use std::ffi::{c_char, c_void};

use herringbone::arrow::array::RecordBatchReader as _;
use herringbone::{Interrupt as _, Limits};
use herringbone_c_check::{ArrowArrayStream, ArrowSchema};
use herringbone_dataset::Dataset;

use crate::error::{HbError, Result, entry};
use crate::export::{Batches, give_schema, give_stream};
use crate::file::{entry_free, give, given};
use crate::place::{Names, Place, open_dataset};
use crate::progress::{HbProgress, Progress};
use crate::texts::{give_text, pairs, text, texts};
use crate::{import, json, options};

/// An open dataset. It belongs to the caller, who frees it by `hb_dataset_free`. Any number of threads may use it at the same time.
pub struct HbDataset {
    dataset: Dataset,
    names: Names,
    limits: Limits,
}

/// Opens the files of directories, files and patterns as one table. The places are either all paths or all URLs. Options:
///
/// - `partitioning`: `hive`, which is the default, `none`, or `directories:NAME,NAME` for values without names, such as `2026/11`
/// - `schema`: `first_file`, which is the default, or `union`
/// - `unreadable_keys`: `skip` leaves objects out whose keys cannot be read, and `fail` is the default
/// - limits `max.NAME`, and `keys` JSON as for `hb_open`
///
/// # Safety
/// `paths` are texts in UTF-8, and NULL at the end. The rest is as for `hb_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_open(
    paths: *const *const c_char,
    options: *const *const c_char,
    dataset: *mut *mut HbDataset,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let places = texts(paths, "the paths")?.into_iter().map(Place::of);
        let places = places.collect::<Result<Vec<_>>>()?;
        let options = options::of_dataset(&pairs(options)?)?;
        let limits = options.dataset.files.open.limits.clone();
        let (opened, names) = open_dataset(places, options.dataset, options.skips_unreadable_keys)?;
        let opened = HbDataset {
            dataset: opened,
            names,
            limits,
        };
        give(dataset, opened)
    })
}

/// Frees a dataset. Streams that were opened from it stay valid. Null is allowed.
///
/// # Safety
/// `dataset` is null, or a dataset that is not freed, and that no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_free(dataset: *mut HbDataset) {
    drop(entry_free(|| {
        if !dataset.is_null() {
            // SAFETY: the caller promises a dataset of `hb_dataset_open`, which is not used afterwards.
            drop(unsafe { Box::from_raw(dataset) });
        }
    }));
}

/// Returns the Arrow schema of all columns. The caller releases it.
///
/// # Safety
/// `dataset` is open, and `schema` is a place for a schema.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_schema(
    dataset: *const HbDataset,
    schema: *mut ArrowSchema,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe { give_schema(schema, given(dataset, "the dataset")?.dataset.schema()) })
}

/// Returns the files as a JSON array: path or URL, bytes and partition columns. The caller frees the text by `hb_text_free`.
///
/// # Safety
/// `dataset` is open, and `json` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_files(
    dataset: *const HbDataset,
    json: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let HbDataset { dataset, names, .. } = given(dataset, "the dataset")?;
        give_text(json, &json::files(dataset, names))
    })
}

/// Starts a read. Its options are those of `hb_read` without `row_group`, `row_range`, `split` and `on_error`. In addition, `part`*
/// `FILE` or `FILE:START..END` chooses a file by its place in `hb_dataset_files`, or its row groups that begin in a range of
/// its bytes; `path_column` NAME adds a column with the paths; and `max_open_files` is a number.
///
/// # Safety
/// As for `hb_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_read(
    dataset: *const HbDataset,
    options: *const *const c_char,
    progress: HbProgress,
    data: *mut c_void,
    stream: *mut ArrowArrayStream,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let HbDataset {
            dataset, limits, ..
        } = given(dataset, "the dataset")?;
        let options = options::of_dataset_read(limits, &pairs(options)?)?;
        let batches = Batches::Dataset(Box::new(dataset.read(options)?));
        give_stream(stream, batches, Progress::new(progress, data))
    })
}

/// Returns the rows that a read with these options rules out, and the bytes that it would fetch, as a JSON object with sums over all files. The caller
/// frees the text by `hb_text_free`.
///
/// # Safety
/// `dataset` is open, `options` are those of `hb_dataset_read`, and `json` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_explain(
    dataset: *const HbDataset,
    options: *const *const c_char,
    json: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments.
    entry(|| unsafe {
        let HbDataset {
            dataset, limits, ..
        } = given(dataset, "the dataset")?;
        let options = options::of_dataset_read(limits, &pairs(options)?)?;
        give_text(json, &json::sums(&dataset.explain(options)?))
    })
}

/// Writes a stream to new files below a directory, or below a prefix of a store. In addition to the options of `hb_write`, `partition_by`* NAME makes directories
/// `NAME=VALUE`, `file_rows` and `file_bytes` bound a file, `file_names` is a pattern with `{}` for the file's number, and
/// `max_open_files` is a number. If `files` is not null, it gets the files as a JSON array, which the caller frees by
/// `hb_text_free`. The library takes the stream, as `hb_write` does.
///
/// # Safety
/// As for `hb_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_dataset_write(
    directory: *const c_char,
    stream: *mut ArrowArrayStream,
    options: *const *const c_char,
    progress: HbProgress,
    data: *mut c_void,
    files: *mut *mut c_char,
) -> *mut HbError {
    // SAFETY: the caller promises valid arguments. The stream is first, because it is taken also after an error.
    entry(|| unsafe {
        let batches = import::batches(stream)?;
        let schema = batches.schema();
        let mut options = options::of_dataset_write(&schema, &pairs(options)?)?;
        let progress = Progress::new(progress, data);
        options.write = options.write.interrupt(progress.clone());
        let _entered = progress.enter();
        let directory = Place::of(text(directory, "the directory")?)?;
        let mut writer = directory.create_dataset(schema, options)?;
        for batch in batches {
            let batch = batch?;
            writer.write(&batch)?;
            progress.add(batch.num_rows())?;
        }
        progress.check()?;
        let written = writer.finish()?;
        match files.is_null() {
            true => Ok(()),
            false => give_text(files, &json::written(&written)),
        }
    })
}
