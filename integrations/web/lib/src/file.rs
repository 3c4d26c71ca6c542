//! A file that JavaScript opens.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::{OpenOptions, ParquetFile, SchemaOptions};
use js_sys::Float64Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Result, argument};
use crate::json;
use crate::options::{self, checked};
use crate::read::Read;
use crate::source::Supplied;

/// A Parquet file, whose bytes JavaScript supplies.
///
/// Functions that may need bytes return an array of the missing ranges, as pairs of start and end. JavaScript supplies their
/// bytes, and calls the function again.
#[wasm_bindgen]
pub struct File {
    source: Arc<Supplied>,
    options: OpenOptions,
    file: Option<ParquetFile>,
}

#[wasm_bindgen]
impl File {
    /// Prepares a file of `size` bytes.
    ///
    /// # Errors
    /// Fails if the options are wrong.
    #[wasm_bindgen(constructor)]
    pub fn new(size: f64, is_remote: bool, options: &str) -> Result<Self> {
        let policy = match is_remote {
            true => FetchPolicy::remote(),
            false => FetchPolicy::local_async(),
        };
        Ok(Self {
            source: Arc::new(Supplied::new(size as u64, policy)),
            options: options::of_open(options)?,
            file: None,
        })
    }

    /// Keeps bytes of the file, for functions that are called again.
    pub fn supply(&self, offset: f64, bytes: Vec<u8>) {
        self.source.supply(offset as u64, bytes.into());
    }

    /// Decodes the footer. Returns `undefined` when it is done.
    ///
    /// # Errors
    /// Fails if the footer cannot be used.
    pub fn open(&mut self) -> Result<JsValue> {
        let (source, options) = (self.source.clone(), self.options.clone());
        let file = self.answer(|| ParquetFile::from_source(source, options))?;
        Ok(match file {
            Answer::Missing(ranges) => numbers(&ranges),
            Answer::Ready(file) => {
                self.file = Some(file);
                JsValue::UNDEFINED
            }
        })
    }

    /// Returns the metadata as JSON.
    ///
    /// # Errors
    /// Fails if the metadata of a row group cannot be used.
    pub fn metadata(&self) -> Result<String> {
        checked(herringbone_cli::json::metadata(
            &self.file()?.metadata_handle(),
        ))
    }

    /// Returns the columns as JSON, with their Arrow types.
    ///
    /// # Errors
    /// Fails if a column has no Arrow type.
    pub fn schema(&self) -> Result<String> {
        let schema = self.file()?.arrow_schema(&SchemaOptions::default());
        Ok(json::schema(&*checked(schema)?))
    }

    /// Returns the bounds and counts of each column, from the metadata, as JSON.
    ///
    /// # Errors
    /// Fails if the metadata of a row group cannot be used.
    pub fn stats(&self) -> Result<String> {
        checked(json::stats(self.file()?))
    }

    /// Returns the bounds and counts of the pages of a column chunk as JSON.
    ///
    /// # Errors
    /// Fails if there is no such chunk, or if its page index cannot be used.
    pub fn page_bounds(&self, row_group: usize, leaf: usize) -> Result<JsValue> {
        let file = self.file()?;
        self.text(|| {
            let bounds = file.page_bounds(row_group, leaf)?;
            herringbone_cli::json::bounds(bounds.as_ref())
        })
    }

    /// Returns the rows that a read rules out, and the bytes that it would fetch, as JSON.
    ///
    /// # Errors
    /// Fails if the options are wrong, or if a page index cannot be used.
    pub fn explain(&self, options: &str) -> Result<JsValue> {
        let file = self.file()?;
        let options = options::of_read(options)?;
        self.text(|| Ok(herringbone_cli::json::explanation(&file.explain(&options)?)))
    }

    /// Returns the report as JSON, with its page. With all bytes of the file, it also verifies them.
    ///
    /// # Errors
    /// Fails if the metadata cannot be used.
    pub fn report(&self, name: &str, all: Option<Vec<u8>>) -> Result<JsValue> {
        let file = self.file()?;
        let Some(all) = all else {
            return self.text(|| {
                let report = herringbone_cli::report(name, file, false)?;
                Ok(json::report(&report))
            });
        };
        let file = ParquetFile::with_metadata(Bytes::from(all), file.metadata_handle());
        let report = herringbone_cli::report(name, &checked(file)?, true);
        Ok(JsValue::from_str(&json::report(&checked(report)?)))
    }

    /// Starts a read. `format` is the form of each piece, and `is_whole` makes one file of all pieces.
    ///
    /// # Errors
    /// Fails if the options are wrong.
    pub fn read(&self, options: &str, format: &str, is_whole: bool) -> Result<Read> {
        let plan = checked(self.file()?.plan(&options::of_read(options)?))?;
        Read::new(plan, self.source.clone(), format, is_whole)
    }
}

/// The answer of a function that may need bytes.
enum Answer<T> {
    Ready(T),
    Missing(Vec<Range<u64>>),
}

impl File {
    fn file(&self) -> Result<&ParquetFile> {
        self.file
            .as_ref()
            .ok_or_else(|| argument("the file is not open"))
    }

    /// Calls a function. If bytes were missing, its result does not count, because some functions go on without them.
    fn answer<T>(&self, function: impl FnOnce() -> herringbone::Result<T>) -> Result<Answer<T>> {
        let result = function();
        let missing = self.source.take_missing();
        match missing.is_empty() {
            true => Ok(Answer::Ready(checked(result)?)),
            false => Ok(Answer::Missing(missing)),
        }
    }

    fn text(&self, function: impl FnOnce() -> herringbone::Result<String>) -> Result<JsValue> {
        Ok(match self.answer(function)? {
            Answer::Ready(text) => JsValue::from_str(&text),
            Answer::Missing(ranges) => numbers(&ranges),
        })
    }
}

/// Returns ranges as pairs of numbers.
pub(crate) fn numbers(ranges: &[Range<u64>]) -> JsValue {
    let numbers = ranges.iter().flat_map(|range| [range.start, range.end]);
    let numbers: Vec<f64> = numbers.map(|number| number as f64).collect();
    Float64Array::from(numbers.as_slice()).into()
}
