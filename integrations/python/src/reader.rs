//! Streams of record batches from files, URLs and other libraries.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use herringbone::arrow::array::{self, ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use herringbone::arrow::schema::{ArrowError, SchemaRef};
use herringbone::{Losses, Lost, Reader};
use herringbone_dataset::{DatasetReader, DatasetStream};
use herringbone_remote::RecordBatchStream;
use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyTuple};

use crate::allocator::keep_memory_of;
use crate::error::{Failure, Result, argument, detached, package};
use crate::exclusive::Exclusive;
use crate::interrupt;
use crate::listing::PythonListing;
use crate::schema::{BytePairs, Schema};
use crate::table::{Loss, Stream, Table, export, import};

/// The source of a reader's batches.
pub(crate) enum Batches {
    File(Box<Reader>),
    /// Files, with their Python filesystem, unless they are on this machine.
    Files(Box<DatasetReader>, Option<PythonListing>),
    /// Files at URLs, which are read with many requests in flight.
    Urls(Box<DatasetStream>),
    /// A file at a URL, which is read for a coroutine.
    Url(Box<RecordBatchStream>),
    /// The readers or tables that a Python iterator returns, one after the other, with their
    /// schema.
    Chain(Py<PyIterator>, Option<Stream>, SchemaRef),
}

/// The parts of a reader that is open.
struct Open {
    batches: Batches,
    schema: SchemaRef,
    /// The columns' places in the batches, if the caller wants them in another order.
    order: Option<Vec<usize>>,
}

impl Open {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let batch = match &mut self.batches {
            Batches::File(reader) => reader.next_batch()?,
            Batches::Files(reader, listing) => {
                reader.next_batch().map_err(|error| match listing {
                    Some(listing) => listing.cause(error.into()),
                    None => error.into(),
                })?
            }
            Batches::Urls(stream) => interrupt::block_on(stream.next_batch())?,
            Batches::Url(stream) => interrupt::block_on(stream.next_batch())?,
            Batches::Chain(parts, current, schema) => next_of_chain(parts, current, schema)?,
        };
        self.ordered(batch)
    }

    /// Asks for the next batch, if the source sends requests, and calls the waker when it is worth
    /// asking again.
    fn poll(&mut self, cx: &mut Context<'_>) -> Result<Poll<Option<RecordBatch>>> {
        let next = match &mut self.batches {
            Batches::Urls(stream) => pin!(stream.next_batch()).poll(cx),
            Batches::Url(stream) => pin!(stream.next_batch()).poll(cx),
            Batches::File(_) | Batches::Files(..) | Batches::Chain(..) => {
                return Err(argument("this reader waits for its source"));
            }
        };
        match next {
            Poll::Ready(batch) => Ok(Poll::Ready(self.ordered(batch?)?)),
            Poll::Pending => Ok(Poll::Pending),
        }
    }

    /// Puts a batch's columns into the order that the caller wants.
    fn ordered(&self, batch: Option<RecordBatch>) -> Result<Option<RecordBatch>> {
        Ok(match (batch, &self.order) {
            (Some(batch), Some(order)) => Some(batch.project(order)?),
            (batch, _) => batch,
        })
    }
}

/// A Python function that is called when a batch may be ready.
struct Wakes(Py<PyAny>);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        // We ignore an error, because an event loop that has ended needs no call.
        Python::try_attach(|py| self.0.call0(py).ok());
    }
}

fn next_of_chain(
    parts: &Py<PyIterator>,
    current: &mut Option<Stream>,
    schema: &SchemaRef,
) -> Result<Option<RecordBatch>> {
    loop {
        if let Some(reader) = current {
            if let Some(batch) = reader.next() {
                let batch = batch?;
                check_names(&batch, schema)?;
                let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let columns = batch.columns().to_vec();
                let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &rows);
                return Ok(Some(batch.map_err(|error| {
                    argument(format!("a part of the stream has another schema: {error}"))
                })?));
            }
            *current = None;
        }
        let next = Python::try_attach(|py| -> Result<_> {
            match parts.bind(py).clone().next() {
                Some(part) => Ok(Some(part_of_chain(&part?)?)),
                None => Ok(None),
            }
        });
        match next {
            Some(Ok(Some(reader))) => *current = Some(reader),
            Some(Ok(None)) | None => return Ok(None),
            Some(Err(error)) => return Err(error),
        }
    }
}

/// Fails if a part's columns have other names than the stream's.
fn check_names(batch: &RecordBatch, schema: &SchemaRef) -> Result<()> {
    let names = |of: &SchemaRef| -> Vec<String> {
        let fields = of.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    };
    let (found, expected) = (batch.schema(), schema);
    let same = found.fields().len() == expected.fields().len()
        && found
            .fields()
            .iter()
            .zip(expected.fields())
            .all(|(a, b)| a.name() == b.name());
    match same {
        true => Ok(()),
        false => Err(argument(format!(
            "a part of the stream has the columns {}, and the stream has {}",
            names(&found).join(", "),
            names(expected).join(", ")
        ))),
    }
}

/// Returns a part's batches, with errors of our own readers in their own type.
fn part_of_chain(part: &Bound<'_, PyAny>) -> Result<Stream> {
    match part.cast::<RecordBatchReader>() {
        Ok(reader) => Ok(Box::new(Owned(reader.get().take(part.py())?))),
        Err(_) => Ok(import(part)?.0),
    }
}

/// A reader's open part, as an Arrow reader.
struct Owned(Open);

impl Iterator for Owned {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.next().transpose()?;
        Some(next.map_err(|error| match error {
            Failure::Parquet(error) => error.into(),
            Failure::Python(error) => herringbone::Error::from(std::io::Error::other(error)).into(),
        }))
    }
}

impl array::RecordBatchReader for Owned {
    fn schema(&self) -> SchemaRef {
        self.0.schema.clone()
    }
}

/// A stream of rows that holds one batch at a time, and that you can read once.
///
/// Iterating over it yields tables. You can use it as a context manager, which ends the read.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct RecordBatchReader {
    open: Exclusive<Option<Open>>,
    schema: Schema,
    losses: Mutex<Vec<Loss>>,
}

impl RecordBatchReader {
    /// Creates a reader. `order` has its columns' places in the batches, and `bytes` has the binary
    /// metadata.
    pub(crate) fn new_of(
        batches: Batches,
        order: Option<Vec<usize>>,
        bytes: BytePairs,
    ) -> Result<Self> {
        let whole = match &batches {
            Batches::File(reader) => reader.schema(),
            Batches::Files(reader, _) => reader.schema(),
            Batches::Urls(stream) => stream.schema(),
            Batches::Url(stream) => stream.schema(),
            Batches::Chain(.., schema) => schema.clone(),
        };
        let schema = match &order {
            Some(order) => Arc::new(whole.project(order)?),
            None => whole,
        };
        let schema = Schema::new(schema, bytes);
        Ok(Self::new(batches, schema, order))
    }

    fn new(batches: Batches, schema: Schema, order: Option<Vec<usize>>) -> Self {
        let open = Open {
            batches,
            schema: schema.arrow().clone(),
            order,
        };
        Self {
            schema,
            open: Exclusive::new("reader", Some(open)),
            losses: Mutex::default(),
        }
    }

    /// Takes the batches out of the reader.
    fn take(&self, py: Python<'_>) -> Result<Open> {
        let open = detached(py, || Ok(self.open.lock()?.take()))?;
        open.ok_or_else(|| PyValueError::new_err("the reader is at its end, or was closed").into())
    }

    /// Returns the next batch. Call this only without the GIL, because the read may need it.
    fn next(&self) -> Result<Option<RecordBatch>> {
        let mut open = self.open.lock()?;
        let Some(reader) = open.as_mut() else {
            return Ok(None);
        };
        let next = reader.next();
        if !matches!(next, Ok(Some(_))) {
            let ended = open.take();
            self.keep_losses(ended.as_ref());
        }
        next
    }

    fn keep_losses(&self, ended: Option<&Open>) {
        let losses = match ended.map(|open| &open.batches) {
            Some(Batches::File(reader)) => listed(reader.losses()),
            Some(Batches::Url(stream)) => listed(stream.losses()),
            _ => return,
        };
        *self.losses.lock().unwrap_or_else(PoisonError::into_inner) = losses;
    }
}

fn listed(losses: &Losses) -> Vec<Loss> {
    let mut listed: Vec<_> = losses
        .kept()
        .iter()
        .map(|loss| {
            let (what, count) = match loss.lost {
                Lost::Rows(count) => ("rows", count),
                Lost::Values(count) => ("values", count),
            };
            (what.to_owned(), count, crate::error::text(&loss.error))
        })
        .collect();
    if losses.not_kept() > 0 {
        listed.push(("more losses".to_owned(), losses.not_kept(), String::new()));
    }
    listed
}

#[pymethods]
impl RecordBatchReader {
    /// Joins tables and readers with this schema into one stream.
    #[staticmethod]
    fn from_parts(schema: Schema, parts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let parts = parts.try_iter()?.unbind();
        let batches = Batches::Chain(parts, None, schema.arrow().clone());
        Ok(Self::new(batches, schema, None))
    }

    /// The Arrow schema.
    #[getter]
    fn schema(&self) -> Schema {
        self.schema.clone()
    }

    /// The dropped parts of a damaged file, which are known at the end of the stream. See
    /// `Table.losses`.
    #[getter]
    fn losses(&self) -> Vec<Loss> {
        self.losses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Reads the rest of the stream.
    fn read_all(&self, py: Python<'_>) -> Result<Table> {
        interrupt::start(py)?;
        let batches = detached(py, || {
            let mut batches = Vec::new();
            while let Some(batch) = self.next()? {
                batches.push(batch);
                interrupt::check()?;
            }
            let bytes = batches.iter().map(RecordBatch::get_array_memory_size);
            keep_memory_of(bytes.sum());
            Ok(batches)
        })?;
        let schema = self.schema.clone();
        Ok(Table::new(batches, schema).with_losses(self.losses()))
    }

    /// Reads the next batch as a table, or raises StopIteration at the end.
    fn read_next_batch(&self, py: Python<'_>) -> Result<Table> {
        let next = self.__next__(py)?;
        next.ok_or_else(|| PyStopIteration::new_err(()).into())
    }

    /// Ends the read, and frees its memory.
    fn close(&self, py: Python<'_>) -> Result<()> {
        detached(py, || {
            drop(self.open.lock()?.take());
            Ok(())
        })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Result<Option<Table>> {
        interrupt::start(py)?;
        let batch = detached(py, || self.next())?;
        Ok(batch.map(|batch| Table::new(vec![batch], self.schema.clone())))
    }

    fn __aiter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py()
            .import("herringbone._async")?
            .call_method1("batches", (slf,))
    }

    /// True if the rows need requests, for which `_poll` waits.
    #[getter]
    fn _has_requests(&self, py: Python<'_>) -> Result<bool> {
        detached(py, || {
            let open = self.open.lock()?;
            let batches = open.as_ref().map(|open| &open.batches);
            Ok(matches!(batches, Some(Batches::Urls(_) | Batches::Url(_))))
        })
    }

    /// Asks for the next batch without waiting. Returns true and a table, or true and None at the
    /// end. Otherwise it calls `wake`, on any thread, when it is worth asking again.
    fn _poll(&self, py: Python<'_>, wake: Py<PyAny>) -> Result<(bool, Option<Table>)> {
        let waker = Waker::from(Arc::new(Wakes(wake)));
        let next = detached(py, || {
            let mut open = self.open.lock()?;
            let Some(reader) = open.as_mut() else {
                return Ok(Poll::Ready(None));
            };
            let next = reader.poll(&mut Context::from_waker(&waker));
            if !matches!(next, Ok(Poll::Pending | Poll::Ready(Some(_)))) {
                let ended = open.take();
                self.keep_losses(ended.as_ref());
            }
            next
        })?;
        Ok(match next {
            Poll::Pending => (false, None),
            Poll::Ready(batch) => {
                let table = |batch| Table::new(vec![batch], self.schema.clone());
                (true, batch.map(table))
            }
        })
    }

    /// Makes a table from these parts of the stream.
    fn _joined(&self, parts: Vec<PyRef<'_, Table>>) -> Table {
        let batches = parts.iter().flat_map(|part| part.batches()).cloned();
        Table::new(batches.collect(), self.schema.clone()).with_losses(self.losses())
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> Result<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        format!("herringbone.RecordBatchReader\n{}", self.schema.shown())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        self.schema.__arrow_c_schema__(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Result<Bound<'py, PyCapsule>> {
        let mut open = Some(self.take(py)?);
        // We release the GIL, because the caller may hold it while the read needs it.
        let arrays = std::iter::from_fn(move || {
            let next = Python::try_attach(|py| {
                detached(py, || open.as_mut().map_or(Ok(None), Open::next))
            })?;
            if !matches!(next, Ok(Some(_))) {
                drop(open.take());
            }
            let next = next.transpose()?;
            Some(match next {
                Ok(batch) => Ok(Arc::new(StructArray::from(batch)) as ArrayRef),
                Err(error) => Err(said(error)),
            })
        });
        export(py, self.schema.arrow(), Box::new(arrays), requested_schema)
    }

    /// Returns a `pyarrow.RecordBatchReader`, which reads the rest of the stream.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let class = package(slf.py(), "pyarrow", "to_pyarrow()")?.getattr("RecordBatchReader")?;
        let schema = Bound::new(slf.py(), slf.get().schema.clone())?;
        let reader = class.call_method1("from_stream", (slf,))?;
        match schema.get().bytes().is_empty() {
            true => Ok(reader),
            false => class.call_method1("from_batches", (Schema::to_pyarrow(&schema)?, reader)),
        }
    }

    /// Reads the rest of the stream into a `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        package(slf.py(), "polars", "to_polars()")?.call_method1("DataFrame", (slf,))
    }

    /// Reads the rest of the stream into a `pandas.DataFrame`, for which pyarrow must be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_pyarrow(slf)?
            .call_method0("read_all")?
            .call_method0("to_pandas")
    }
}

/// Returns a stream's error, without zero bytes, because the message crosses a C interface that
/// ends it there.
fn said(failure: Failure) -> ArrowError {
    let text = PyErr::from(failure).to_string().replace('\0', " ");
    ArrowError::ExternalError(text.into())
}
