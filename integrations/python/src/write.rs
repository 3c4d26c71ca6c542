//! Writes: the options, from a Python dict to [`WriteOptions`], and the writer.

use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::{DataType, FieldRef, Schema as ArrowSchema, SchemaRef};
use herringbone::format::{Encoding, KeyValue};
use herringbone::geospatial::Geospatial;
use herringbone::push::WriteSteps;
use herringbone::schema::{HintPolicy, ParquetSchema, WriteSchemaOptions, from_arrow};
use herringbone::variant::extension::VariantExtension;
use herringbone::{
    ColumnEncoder, ColumnOptions, ColumnSelector, Interrupt as _, ParquetFile, SortingColumnOption,
    UnsortedRows, WriteOption, WriteOptions,
};
use herringbone_rewrite::{CarryOver, InputFile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Result, argument, detached};
use crate::exclusive::Exclusive;
use crate::file::File;
use crate::interrupt::{self, WriteInterrupt};
use crate::keys;
use crate::metadata::FileMetaData;
use crate::schema::{BytePairs, Schema};
use crate::sink::Sink;
use crate::table::import;

/// An option's value: Python's keyword, the column if it is for one, the name in the table of
/// [`WriteOption`], and the text.
type Chosen = (String, Option<String>, String, String);

/// Returns a writer's options. Each has its name, true if columns may have their own values, its
/// kind, choices, default and purpose.
#[pyfunction]
pub(crate) fn write_options() -> Vec<Described> {
    let describe = |option: &WriteOption| {
        let kind = format!("{:?}", option.kind).to_lowercase();
        let choices = option.choices();
        (
            option.name,
            option.is_of_columns(),
            kind,
            choices,
            option.default,
            option.help,
        )
    };
    WriteOption::ALL.iter().map(describe).collect()
}

type Described = (
    &'static str,
    bool,
    String,
    Vec<String>,
    &'static str,
    &'static str,
);

/// The options of a file, by the names that the Python modules give them.
#[derive(FromPyObject)]
struct WriteArguments<'py> {
    #[pyo3(item)]
    options: Vec<Chosen>,
    /// True if all columns that may have BYTE_STREAM_SPLIT should use it.
    #[pyo3(item, default)]
    byte_stream_split: bool,
    #[pyo3(item, default)]
    sorting_columns: Vec<(usize, bool, bool)>,
    #[pyo3(item, default)]
    sort_by: Vec<(String, bool, bool)>,
    #[pyo3(item, default)]
    key_value_metadata: Vec<Pair>,
    #[pyo3(item, default)]
    keys: Option<Bound<'py, PyDict>>,
}

impl WriteArguments<'_> {
    fn options(&self, schema: &ArrowSchema) -> Result<WriteOptions> {
        let mut options = WriteOptions::new();
        for (keyword, column, name, text) in &self.options {
            let checked = WriteOption::named(name)?.check(text);
            checked.map_err(|error| argument(format!("{keyword}: {}", error.message())))?;
            if column.is_none() {
                options.set(name, text)?;
            }
        }
        let pairs = self.key_value_metadata.iter();
        options.key_value_metadata = pairs
            .map(|(key, value)| key_value(key, value.as_deref()))
            .collect();
        if let Some(keys) = &self.keys {
            options = options.encryption(Arc::new(keys::encryption(keys)?));
        }
        let (written, _) = from_arrow(schema, &options.schema)?;
        if self.byte_stream_split {
            for &kind in Encoding::ByteStreamSplit.serves() {
                let split = ColumnOptions::new().encoding(Encoding::ByteStreamSplit);
                options = options.physical_type(kind, split);
            }
        }
        options = self.columns_of(&written, options)?;
        if options.schema.arrow_schema_hint != HintPolicy::None {
            for leaf in ordered_leaves(schema) {
                let path = written.path(leaf).into_iter().map(str::to_owned).collect();
                let dictionary = ColumnOptions::new().dictionary(true);
                options = options.column_override(ColumnSelector::Path(path), dictionary);
            }
        }
        let options = options.extension(VariantExtension::new());
        Ok(Geospatial::new().write_options(options))
    }

    /// Adds the options of single columns.
    fn columns_of(
        &self,
        schema: &ParquetSchema,
        mut options: WriteOptions,
    ) -> Result<WriteOptions> {
        for (keyword, column, name, text) in &self.options {
            let Some(column) = column else { continue };
            let mut chosen = ColumnOptions::new();
            chosen.set(name, text)?;
            for leaf in leaves_of(schema, keyword, column)? {
                let path = schema.path(leaf).into_iter().map(str::to_owned).collect();
                options = options.column_override(ColumnSelector::Path(path), chosen.clone());
            }
        }
        let mut sorting = Vec::new();
        for &(leaf, descending, nulls_first) in &self.sorting_columns {
            if leaf >= schema.leaves().len() {
                let columns = schema.leaves().len();
                return Err(argument(format!(
                    "sorting_columns has column {leaf}, but the file has {columns} columns"
                )));
            }
            sorting.push(
                SortingColumnOption::new(schema.path(leaf))
                    .descending(descending)
                    .nulls_first(nulls_first),
            );
        }
        options = options.sorting_columns(sorting);
        let mut sort_by = Vec::new();
        for (name, descending, nulls_first) in &self.sort_by {
            let path = crate::paths::resolve(schema, name);
            sort_by.push(
                SortingColumnOption::new(path)
                    .descending(*descending)
                    .nulls_first(*nulls_first),
            );
        }
        if !sort_by.is_empty() {
            options = options.sort_by(sort_by);
        }
        Ok(options.unsorted_rows(UnsortedRows::Unchecked))
    }
}

/// Returns a dict's options for a table with this schema, including the schema's binary metadata.
pub(crate) fn options(options: &Bound<'_, PyDict>, schema: &Schema) -> Result<WriteOptions> {
    let arguments = options.extract::<WriteArguments<'_>>()?;
    let mut options = arguments.options(schema.arrow())?;
    let named = |key: &str| {
        options
            .key_value_metadata
            .iter()
            .any(|key_value_metadata| key_value_metadata.key == key)
    };
    let pairs = schema.bytes().iter().filter(|(key, _)| !named(key));
    let pairs: Vec<_> = pairs
        .map(|(key, value)| key_value(key, Some(value)))
        .collect();
    options.key_value_metadata.extend(pairs);
    Ok(options)
}

/// Returns the paths of the columns that an Arrow schema has in a file.
#[pyfunction]
pub(crate) fn leaf_paths(schema: Schema) -> Result<Vec<String>> {
    let (written, _) = from_arrow(schema.arrow(), &WriteSchemaOptions::default())?;
    Ok((0..written.leaves().len())
        .map(|leaf| written.path(leaf).join("."))
        .collect())
}

/// Returns the leaves of ordered dictionaries. Readers take the order from their dictionary pages,
/// so these columns have such pages even if `use_dictionary` leaves out others.
fn ordered_leaves(schema: &ArrowSchema) -> Vec<usize> {
    let mut fields: Vec<&FieldRef> = schema.fields().iter().rev().collect();
    let (mut leaf, mut ordered) = (0, Vec::new());
    while let Some(field) = fields.pop() {
        match field.data_type() {
            DataType::Struct(inner) => fields.extend(inner.iter().rev()),
            DataType::List(inner)
            | DataType::LargeList(inner)
            | DataType::ListView(inner)
            | DataType::LargeListView(inner)
            | DataType::FixedSizeList(inner, _)
            | DataType::Map(inner, _)
            | DataType::RunEndEncoded(_, inner) => fields.push(inner),
            _ => {
                if field.dict_is_ordered() == Some(true) {
                    ordered.push(leaf);
                }
                leaf += 1;
            }
        }
    }
    ordered
}

/// Returns the leaves at or below a path that is written with dots.
fn leaves_of(schema: &ParquetSchema, option: &str, name: &str) -> Result<Vec<usize>> {
    let parts = crate::paths::resolve(schema, name);
    let node = schema.node_at(&parts).map_err(|_| {
        argument(format!(
            "{option} names the column {name:?}, but the table has no such column"
        ))
    })?;
    let leaves = schema.nodes().get(node).map(|node| node.leaves.clone());
    Ok(leaves.unwrap_or_default().collect())
}

/// A file that is being written, which the Python module `herringbone` wraps.
#[pyclass(module = "herringbone._core", frozen)]
pub(crate) struct Writer {
    writer: Exclusive<Option<OpenWriter>>,
    schema: Schema,
    interrupt: Arc<WriteInterrupt>,
    /// The properties of the copied file that the new file does not have.
    notes: Vec<String>,
}

#[pymethods]
impl Writer {
    #[new]
    fn new(sink: &Bound<'_, PyAny>, schema: Schema, options: &Bound<'_, PyDict>) -> Result<Self> {
        let interrupt = Arc::<WriteInterrupt>::default();
        let options = self::options(options, &schema)?.interrupt(interrupt.clone());
        let py = sink.py();
        let sink = Sink::open(sink)?;
        let copy = schema.arrow().clone();
        let writer = detached(py, || Ok(herringbone::Writer::new(sink, copy, options)?))?;
        Ok(Self {
            writer: Exclusive::new("writer", Some(writer)),
            schema,
            interrupt,
            notes: Vec::new(),
        })
    }

    /// Starts a file with copies of another file's row groups, whose Arrow schema is `schema`. The
    /// new file has the other's Parquet schema and metadata.
    #[staticmethod]
    fn after(
        file: &Bound<'_, File>,
        sink: &Bound<'_, PyAny>,
        schema: Schema,
        options: &Bound<'_, PyDict>,
    ) -> Result<Self> {
        let py = sink.py();
        interrupt::start(py)?;
        let interrupt = Arc::<WriteInterrupt>::default();
        // We leave the schema's own binary pairs out, because the file's pairs, which may be bytes,
        // are carried over.
        let plain = Schema::new(schema.arrow().clone(), BytePairs::new());
        let mut options = self::options(options, &plain)?
            .interrupt(interrupt.clone())
            .unsorted_rows(UnsortedRows::OmitSortingColumns);
        let sink = Sink::open(sink)?;
        let file = file.get().parquet();
        let (writer, notes) = detached(py, || {
            let (arrow, notes) = carry_over(file, plain.arrow(), &mut options)?;
            let mut writer = herringbone::Writer::new(sink, arrow, options)?;
            writer.check_copy(file)?;
            for row_group in 0..file.metadata().num_row_groups() {
                writer.copy_row_group(file, row_group)?;
                interrupt.check()?;
            }
            Ok((writer, notes))
        })?;
        Ok(Self {
            writer: Exclusive::new("writer", Some(writer)),
            schema,
            interrupt,
            notes,
        })
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Appends the rows of an object that has one of the capsules.
    ///
    /// With `row_group_rows`, row groups have at most this number of rows. With `ends_row_group`,
    /// the last row group ends with these rows, and data without rows becomes a row group, too.
    #[pyo3(signature = (data, row_group_rows=None, ends_row_group=false))]
    fn write(
        &self,
        data: &Bound<'_, PyAny>,
        row_group_rows: Option<usize>,
        ends_row_group: bool,
    ) -> Result<()> {
        if row_group_rows == Some(0) {
            return Err(argument("a row group cannot have at most 0 rows"));
        }
        let py = data.py();
        interrupt::start(py)?;
        let (reader, schema) = import(data)?;
        self.check(&schema)?;
        self.work(py, |slot| {
            let before = open(slot)?.num_rows();
            for batch in reader {
                self.append(slot, &batch?, row_group_rows)?;
            }
            if !ends_row_group {
                return Ok(());
            }
            self.flush(slot)?;
            let writer = open(slot)?;
            match writer.num_rows() == before {
                true => append_empty(writer),
                false => Ok(()),
            }
        })?;
        Ok(py.check_signals()?)
    }

    /// Adds pairs to the file metadata.
    fn add_key_value_metadata(&self, py: Python<'_>, pairs: Vec<Pair>) -> Result<()> {
        detached(py, || {
            let mut slot = self.writer.lock()?;
            let writer = open(&mut slot)?;
            for (key, value) in pairs {
                writer.add_key_value(key_value(&key, value.as_deref()));
            }
            Ok(())
        })
    }

    /// Ends the file and returns its metadata. If the sink is a path, its file appears now.
    fn finish(&self, py: Python<'_>) -> Result<FileMetaData> {
        interrupt::start(py)?;
        self.work(py, |slot| {
            open(slot)?.start_finish()?;
            self.run(slot)?;
            let writer = slot.take().ok_or_else(closed)?;
            let warnings = writer.warnings().to_vec();
            let (metadata, sink) = writer.finish_into()?;
            sink.commit()?;
            FileMetaData::of_written(metadata, warnings)
        })
    }

    /// Drops the file. If the sink is a path, its file does not appear.
    fn abort(&self, py: Python<'_>) -> Result<()> {
        detached(py, || {
            let mut slot = self.writer.lock()?;
            self.interrupt.end();
            drop(slot.take());
            Ok(())
        })
    }

    /// Fails if this call is part of another one, which reads the rows to write.
    fn check_not_in_use(&self) -> Result<()> {
        self.writer.check()
    }

    #[getter]
    fn schema(&self) -> Schema {
        self.schema.clone()
    }
}

type OpenWriter = herringbone::Writer<Sink>;

/// A key and its value in a file's metadata.
type Pair = (String, Option<Vec<u8>>);

fn key_value(key: &str, value: Option<&[u8]>) -> KeyValue {
    match value {
        Some(value) => KeyValue::new(key, value),
        None => KeyValue::without_value(key),
    }
}

fn closed() -> Failure {
    PyValueError::new_err("the writer is closed").into()
}

fn open(slot: &mut Option<OpenWriter>) -> Result<&mut OpenWriter> {
    slot.as_mut().ok_or_else(closed)
}

impl Writer {
    /// Uses the open writer without the GIL, because the sink may need it. After Ctrl-C, the file
    /// cannot be continued, because only a part of the rows is written.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<OpenWriter>) -> Result<T> + Send,
    ) -> Result<T> {
        detached(py, || {
            let mut slot = self.writer.lock()?;
            let done = work(&mut slot);
            if self.interrupt.has_ended() {
                drop(slot.take());
            }
            done.map_err(|error| self.interrupt.cause(error))
        })
    }

    /// Does the work that was started, and asks for Ctrl-C between its parts.
    fn run(&self, slot: &mut Option<OpenWriter>) -> Result<()> {
        while open(slot)?.step()? {
            self.interrupt.check()?;
        }
        Ok(())
    }

    fn flush(&self, slot: &mut Option<OpenWriter>) -> Result<()> {
        open(slot)?.start_flush()?;
        self.run(slot)
    }

    /// Appends a batch and ends a row group when it has `row_group_rows` rows.
    fn append(
        &self,
        slot: &mut Option<OpenWriter>,
        batch: &RecordBatch,
        row_group_rows: Option<usize>,
    ) -> Result<()> {
        let Some(most) = row_group_rows else {
            open(slot)?.start_write(batch)?;
            return self.run(slot);
        };
        let mut first = 0;
        while first < batch.num_rows() {
            let writer = open(slot)?;
            let room = most.saturating_sub(writer.rows_in_progress()).max(1);
            let rows = room.min(batch.num_rows() - first);
            writer.start_write(&batch.slice(first, rows))?;
            self.run(slot)?;
            if open(slot)?.rows_in_progress() >= most {
                self.flush(slot)?;
            }
            first += rows;
        }
        Ok(())
    }

    /// Fails if a table has other columns than the file.
    fn check(&self, found: &Schema) -> Result<()> {
        match found.arrow().fields() == self.schema.arrow().fields() {
            true => Ok(()),
            false => Err(argument(format!(
                "Table schema does not match schema used to create file:\ntable:\n{}\nfile:\n{}",
                found.shown(),
                self.schema.shown()
            ))),
        }
    }
}

/// Adds a file's properties to the options. Returns the Arrow schema with the file metadata, and
/// the properties that are lost.
fn carry_over(
    file: &ParquetFile,
    schema: &SchemaRef,
    options: &mut WriteOptions,
) -> Result<(SchemaRef, Vec<String>)> {
    let given = options.key_value_metadata.clone();
    let row_groups: Vec<_> = (0..file.metadata().num_row_groups()).collect();
    let mut carry_over = CarryOver::new();
    carry_over.add(InputFile::new("the file", file, &row_groups))?;
    let carried = carry_over.apply(schema, options)?;
    let is_replaced = |pair: &KeyValue| given.iter().any(|other| other.key == pair.key);
    options.key_value_metadata.retain(|pair| !is_replaced(pair));
    options.key_value_metadata.extend(given);
    let notes = carried.notes.iter().map(ToString::to_string);
    Ok((carried.schema, notes.collect()))
}

/// Appends a row group without rows, which pyarrow's readers may ask for by its ordinal.
fn append_empty(writer: &mut OpenWriter) -> Result<()> {
    let Ok(encoders) = writer.column_encoders(writer.row_groups().len()) else {
        // We leave it out here, because an extension type will choose its storage by the first
        // rows.
        return Ok(());
    };
    let chunks = encoders.into_iter().map(ColumnEncoder::finish);
    let chunks = chunks.collect::<herringbone::Result<_>>()?;
    Ok(writer.append_row_group(chunks)?)
}
