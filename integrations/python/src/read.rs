//! A read's options, from a Python dict to [`ReadOptions`].

use std::collections::{HashMap, HashSet};

use herringbone::arrow::schema::{SchemaRef, TimeUnit};
use herringbone::geospatial::Geospatial;
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::variant::extension::{VariantExtension, VariantGet};
use herringbone::{
    FieldMatching, Int96Overflow, Limits, OnError, Projection, ReadOptions, RowSelection,
    SchemaOptions, VirtualColumn, WantedSchema,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::dictionary::PlainDictionaries;
use crate::error::{Failure, Result, argument};
use crate::filter::{self, Resolve};

/// A read's options, by the names that the Python modules give them.
#[derive(FromPyObject)]
pub(crate) struct ReadArguments<'py> {
    #[pyo3(item, default)]
    columns: Option<Vec<Bound<'py, PyAny>>>,
    #[pyo3(item, default)]
    filter: Option<Bound<'py, PyAny>>,
    #[pyo3(item, default)]
    row_groups: Option<Vec<usize>>,
    #[pyo3(item, default)]
    batch_size: Option<usize>,
    #[pyo3(item, default)]
    threads: Option<usize>,
    #[pyo3(item, default)]
    on_error: Option<String>,
    #[pyo3(item, default)]
    wanted_schema: Option<crate::schema::Schema>,
    #[pyo3(item, default)]
    match_fields: Option<String>,
    #[pyo3(item, default)]
    row_numbers: Option<String>,
    #[pyo3(item, default)]
    offset: Option<u64>,
    #[pyo3(item, default)]
    limit: Option<u64>,
    #[pyo3(item, default)]
    deleted_rows: Option<Bound<'py, PyAny>>,
    #[pyo3(item, default)]
    variants: HashMap<String, (String, String, Option<String>)>,
    #[pyo3(item, default)]
    page_checksum_verification: bool,
    #[pyo3(item)]
    schema: SchemaArguments,
}

/// The choice of Arrow types.
#[derive(FromPyObject, Default)]
pub(crate) struct SchemaArguments {
    #[pyo3(item, default)]
    dictionary: Option<Vec<String>>,
    #[pyo3(item, default)]
    binary_type: Option<String>,
    #[pyo3(item, default)]
    list_type: Option<String>,
    #[pyo3(item, default)]
    int96_unit: Option<String>,
    #[pyo3(item, default)]
    int96_overflow: Option<String>,
    #[pyo3(item)]
    ignore_arrow_schema: bool,
    /// The Arrow schema to use instead of the file's.
    #[pyo3(item, default)]
    arrow_schema: Option<crate::schema::Schema>,
    #[pyo3(item, default)]
    ignore_annotations: Vec<String>,
}

impl SchemaArguments {
    pub(crate) fn options(&self, resolve: Resolve<'_>) -> Result<SchemaOptions> {
        let paths = |names: &[String]| -> Vec<Vec<String>> {
            names.iter().map(|name| resolve(name)).collect()
        };
        let mut options = SchemaOptions::default();
        if let Some(names) = &self.dictionary {
            options.dictionary = DictionaryOutput::Columns(paths(names));
        }
        if let Some(name) = &self.binary_type {
            options.strings = match name.as_str() {
                "binary" => ByteLayout::Offsets,
                "large_binary" => ByteLayout::LargeOffsets,
                "binary_view" => ByteLayout::Views,
                _ => {
                    return Err(unknown(
                        "binary_type",
                        name,
                        "binary, large_binary, binary_view",
                    ));
                }
            };
        }
        if let Some(name) = &self.list_type {
            options.lists = match name.as_str() {
                "list" => ListLayout::Offsets,
                "large_list" => ListLayout::LargeOffsets,
                "list_view" => ListLayout::Views,
                _ => return Err(unknown("list_type", name, "list, large_list, list_view")),
            };
        }
        if let Some(name) = &self.int96_unit {
            options.int96_unit = match name.as_str() {
                "s" => TimeUnit::Second,
                "ms" => TimeUnit::Millisecond,
                "us" => TimeUnit::Microsecond,
                "ns" => TimeUnit::Nanosecond,
                _ => {
                    return Err(unknown(
                        "coerce_int96_timestamp_unit",
                        name,
                        "s, ms, us, ns",
                    ));
                }
            };
        }
        if let Some(name) = &self.int96_overflow {
            options.int96_overflow = match name.as_str() {
                "error" => Int96Overflow::Error,
                "null" => Int96Overflow::Null,
                "wrap" => Int96Overflow::Wrap,
                "coarser_unit" => Int96Overflow::CoarserUnit,
                _ => {
                    return Err(unknown(
                        "int96_overflow",
                        name,
                        "error, null, wrap, coarser_unit",
                    ));
                }
            };
        }
        options.use_arrow_schema = !self.ignore_arrow_schema;
        options.arrow_schema = self
            .arrow_schema
            .as_ref()
            .map(|arrow_schema| arrow_schema.arrow().clone());
        options.ignore_annotations = paths(&self.ignore_annotations);
        Ok(options)
    }
}

/// Returns the error for a value that an option cannot have.
pub(crate) fn unknown(option: &str, value: &str, values: &str) -> Failure {
    argument(format!(
        "{option} cannot be {value:?}; it is one of {values}"
    ))
}

/// Returns the default limits with these changes.
pub(crate) fn limits(changes: &HashMap<String, u64>) -> Result<Limits> {
    let mut limits = Limits::default();
    for (name, &value) in changes {
        macro_rules! change {
            ($($field:ident)*) => {
                match name.as_str() {
                    $(stringify!($field) => {
                        limits.$field = value.try_into().map_err(|_| {
                            argument(format!("the limit {name} cannot be {value}"))
                        })?;
                    })*
                    _ => {
                        let names = [$(stringify!($field)),*].join(", ");
                        return Err(unknown("limits", name, &names));
                    }
                }
            };
        }
        change!(footer_bytes schema_depth schema_nodes row_groups page_header_bytes page_bytes
                decompression_ratio page_values dictionary_values page_index_bytes
                bloom_filter_bytes batch_column_bytes overlap_ratio memory_bytes);
    }
    Ok(limits)
}

/// A column's path, with true for a column that the read adds.
type ColumnPath = (Vec<String>, bool);

impl ReadArguments<'_> {
    /// Fails if damage may be left out, because a read of several files does not list its losses.
    pub(crate) fn refuse_losses(&self) -> Result<()> {
        match self.on_error.as_deref() {
            None | Some("fail") => Ok(()),
            Some(_) => Err(argument(
                "on_error= works for one file at a time; read the damaged file alone",
            )),
        }
    }

    pub(crate) fn wanted_schema(&self) -> Option<&crate::schema::Schema> {
        self.wanted_schema.as_ref()
    }

    /// Returns the options for a file whose columns have these paths.
    pub(crate) fn options(&self, resolve: Resolve<'_>) -> Result<ReadOptions> {
        let mut options = ReadOptions::new()
            .schema(self.schema.options(resolve)?)
            .verify_crc(self.page_checksum_verification)
            .extension(PlainDictionaries)
            .extension(Geospatial::new())
            .extension(VariantExtension::new());
        if let Some(columns) = self.paths(resolve)? {
            let in_file = columns.into_iter().filter(|(_, is_added)| !is_added);
            let paths = in_file.map(|(path, _)| path).collect();
            options = options.projection(Projection::Paths(paths));
        }
        if let Some(tree) = &self.filter {
            options = options.filter(filter::predicate(tree, resolve)?);
        }
        if let Some(row_groups) = &self.row_groups {
            options = options.row_groups(row_groups.clone());
        }
        options.batch_size = self.batch_size.unwrap_or(options.batch_size);
        options.threads = self.threads.unwrap_or(options.threads);
        options.offset = self.offset.unwrap_or_default();
        options.limit = self.limit;
        if let Some(rows) = &self.deleted_rows {
            options = options.row_selection(RowSelection::delete(row_ranges(rows)?));
        }
        if let Some(name) = &self.on_error {
            options = options.on_error(match name.as_str() {
                "fail" => OnError::Fail,
                "null_page" => OnError::NullPage,
                "skip_row_group" => OnError::SkipRowGroup,
                _ => return Err(unknown("on_error", name, "fail, null_page, skip_row_group")),
            });
        }
        self.with_more_columns(options, resolve)
    }

    /// Returns the paths of the columns, or `None` for all columns.
    fn paths(&self, resolve: Resolve<'_>) -> Result<Option<Vec<ColumnPath>>> {
        let Some(columns) = &self.columns else {
            return Ok(None);
        };
        let mut all = Vec::with_capacity(columns.len());
        for column in columns {
            all.push(match column.cast::<PyString>() {
                Ok(name) if self.adds(&name.to_string()) => (vec![name.to_string()], true),
                Ok(name) => (resolve(&name.to_string()), false),
                Err(_) => (column.extract()?, false),
            });
        }
        Ok(Some(all))
    }

    /// Returns true if the read adds a column with this name.
    fn adds(&self, column: &str) -> bool {
        let mut added = self.row_numbers.iter().chain(self.variants.keys());
        added.any(|name| name == column)
    }

    fn with_more_columns(
        &self,
        mut options: ReadOptions,
        resolve: Resolve<'_>,
    ) -> Result<ReadOptions> {
        if let Some(wanted) = &self.wanted_schema {
            let wanted = WantedSchema::new(wanted.arrow().clone());
            options = options.wanted_schema(wanted.matching(match self.match_fields.as_deref() {
                None | Some("name") => FieldMatching::Name,
                Some("name_ignoring_case") => FieldMatching::NameIgnoringCase,
                Some("position") => FieldMatching::Position,
                Some("field_id") => FieldMatching::FieldId(Vec::new()),
                Some("field_id_or_name") => FieldMatching::FieldIdOrName,
                Some(other) => {
                    let names = "name, name_ignoring_case, position, field_id, field_id_or_name";
                    return Err(unknown("match_fields", other, names));
                }
            }));
        }
        for (name, (column, path, kind)) in &self.variants {
            let mut get = VariantGet::new(path.parse()?);
            if let Some(kind) = kind {
                get = get.as_type(herringbone_cli::variant_type(kind).map_err(argument)?);
            }
            options = options.extension_column(name, resolve(column), get);
        }
        if let Some(name) = &self.row_numbers {
            options = options.virtual_column(VirtualColumn::row_number(name));
        }
        Ok(options)
    }

    /// Returns the places of the read columns in the order in which the caller named them, if that
    /// order differs.
    pub(crate) fn order(
        &self,
        resolve: Resolve<'_>,
        read: &SchemaRef,
    ) -> Result<Option<Vec<usize>>> {
        let Some(paths) = self.paths(resolve)? else {
            return Ok(None);
        };
        let fields = read.fields().iter().enumerate();
        let places: HashMap<&str, usize> = fields
            .map(|(at, field)| (field.name().as_str(), at))
            .collect();
        let mut seen = HashSet::new();
        let mut order = Vec::with_capacity(read.fields().len());
        for (path, _) in &paths {
            if let Some(&at) = path.first().and_then(|name| places.get(name.as_str()))
                && seen.insert(at)
            {
                order.push(at);
            }
        }
        // Columns that the read adds stay at the end.
        order.extend((0..read.fields().len()).filter(|at| !seen.contains(at)));
        Ok((!order.is_sorted()).then_some(order))
    }
}

/// Returns ranges of rows, from a Python `range` or an iterable of row numbers.
fn row_ranges(rows: &Bound<'_, PyAny>) -> Result<Vec<std::ops::Range<u64>>> {
    if let (Ok(start), Ok(stop), Ok(1)) = (
        rows.getattr("start")
            .and_then(|attribute| attribute.extract::<u64>()),
        rows.getattr("stop")
            .and_then(|attribute| attribute.extract::<u64>()),
        rows.getattr("step")
            .and_then(|attribute| attribute.extract::<i64>()),
    ) {
        return Ok(std::iter::once(start..stop.max(start)).collect());
    }
    let mut numbers = Vec::new();
    for row in rows.try_iter()? {
        let row = row?;
        let row = match row.hasattr("as_py")? {
            true => row.call_method0("as_py")?,
            false => row,
        };
        let number: u64 = row.extract().map_err(|_| {
            PyValueError::new_err(format!(
                "deleted_rows has {row}, but row numbers are needed"
            ))
        })?;
        numbers.push(number);
    }
    numbers.sort_unstable();
    let mut ranges: Vec<std::ops::Range<u64>> = Vec::new();
    for number in numbers {
        let Some(end) = number.checked_add(1) else {
            return Err(argument(format!("row {number} is beyond any file")));
        };
        match ranges.last_mut() {
            Some(last) if last.end >= number => last.end = end,
            _ => ranges.push(number..end),
        }
    }
    Ok(ranges)
}

/// Extracts a dict's options.
pub(crate) fn arguments<'py>(options: &Bound<'py, PyDict>) -> Result<ReadArguments<'py>> {
    options.extract().map_err(|error: PyErr| {
        let py = options.py();
        let text = error.value(py).to_string();
        let field = text.strip_prefix("failed to extract field ReadArguments.");
        let mut text = field.map_or(text.clone(), |field| format!("the option {field}"));
        let mut cause = error.cause(py);
        while let Some(inner) = cause {
            text = format!("{text}: {}", inner.value(py));
            cause = inner.cause(py);
        }
        PyTypeError::new_err(text).into()
    })
}
