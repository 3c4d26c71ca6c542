//! `ParquetSchema` and `ColumnSchema`.

use herringbone::MetadataHandle;
use herringbone::format::{Repetition, SchemaElement};
use pyo3::prelude::*;

use super::{ParquetLogicalType, hash_of, index, lines, same};
use crate::error::Result;
use crate::schema::Schema;

/// A file's Parquet schema.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct ParquetSchema(MetadataHandle, bool);

impl ParquetSchema {
    pub(super) fn new(handle: MetadataHandle, is_for_pyarrow: bool) -> Self {
        Self(handle, is_for_pyarrow)
    }
}

#[pymethods]
impl ParquetSchema {
    /// The last part of each column's path.
    #[getter]
    fn names(&self) -> Vec<String> {
        let schema = self.0.parquet_schema();
        (0..schema.leaves().len())
            .map(|leaf| schema.element(leaf).name.clone())
            .collect()
    }

    /// Returns the column with this number.
    fn column(&self, i: isize) -> PyResult<ColumnSchema> {
        let leaf = index("column", i, self.0.parquet_schema().leaves().len())?;
        Ok(ColumnSchema {
            handle: self.0.clone(),
            leaf,
        })
    }

    /// Returns the file's Arrow schema.
    fn to_arrow_schema<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let schema = Bound::new(py, crate::file::schema_of(&self.0)?)?;
        match self.1 {
            true => Ok(Schema::to_pyarrow(&schema)?),
            false => Ok(schema.into_any()),
        }
    }

    /// Returns true if another schema is equal.
    fn equals(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = same::<Self>(other)?;
        Ok(self.0.metadata().schema() == other.0.metadata().schema())
    }

    fn __hash__(&self) -> Result<u64> {
        Ok(hash_of(&format!("{:?}", self.0.metadata().schema())))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        self.equals(other).unwrap_or(false)
    }

    fn __len__(&self) -> usize {
        self.0.parquet_schema().leaves().len()
    }

    fn __getitem__(&self, i: isize) -> PyResult<ColumnSchema> {
        self.column(i)
    }

    fn __repr__(&self) -> String {
        format!("<herringbone.ParquetSchema>\n{}", shown(&self.0))
    }
}

/// Returns the schema's tree in pyarrow's form.
fn shown(handle: &MetadataHandle) -> String {
    let schema = handle.parquet_schema();
    let mut text = String::new();
    let mut ends: Vec<usize> = Vec::new();
    for (at, node) in schema.nodes().iter().enumerate() {
        close(&mut text, &mut ends, at);
        let element = &node.element;
        let repetition = match (at, node.repetition()) {
            (0, _) | (_, Repetition::Required) => "required",
            (_, Repetition::Optional) => "optional",
            (_, Repetition::Repeated) => "repeated",
        };
        let kind = match element.type_ {
            None => "group".to_owned(),
            Some(kind) => physical(&kind.to_string(), element.type_length),
        };
        let id = element.field_id.unwrap_or(-1);
        let logical = ParquetLogicalType::of(element).name();
        let logical = match logical.as_str() {
            "None" => String::new(),
            logical => format!(" ({logical})"),
        };
        let indent = "  ".repeat(ends.len());
        let end = if node.is_group() { " {" } else { ";" };
        text.push_str(&format!(
            "{indent}{repetition} {kind} field_id={id} {}{logical}{end}\n",
            element.name
        ));
        if node.is_group() {
            ends.push(node.end);
        }
    }
    close(&mut text, &mut ends, schema.nodes().len());
    text
}

/// Closes the groups that end before a node.
fn close(text: &mut String, ends: &mut Vec<usize>, at: usize) {
    while ends.last().is_some_and(|end| *end <= at) {
        ends.pop();
        text.push_str(&"  ".repeat(ends.len()));
        text.push_str("}\n");
    }
}

fn physical(name: &str, length: Option<i32>) -> String {
    match name {
        "BYTE_ARRAY" => "binary".to_owned(),
        "FIXED_LEN_BYTE_ARRAY" => format!("fixed_len_byte_array({})", length.unwrap_or_default()),
        other => other.to_ascii_lowercase(),
    }
}

/// Returns the converted type's name, or NONE.
pub(super) fn converted_type(element: &SchemaElement) -> String {
    use herringbone::format::{LogicalType, TimeUnit};
    if let Some(converted) = element.converted_type {
        return converted.to_string();
    }
    let unit_of = |prefix: &str, unit: TimeUnit| match unit {
        TimeUnit::Millis => format!("{prefix}_MILLIS"),
        TimeUnit::Micros => format!("{prefix}_MICROS"),
        _ => "NONE".to_owned(),
    };
    match &element.logical_type {
        Some(LogicalType::String) => "UTF8".to_owned(),
        Some(LogicalType::Date) => "DATE".to_owned(),
        Some(LogicalType::Decimal { .. }) => "DECIMAL".to_owned(),
        Some(LogicalType::Enum) => "ENUM".to_owned(),
        Some(LogicalType::Json) => "JSON".to_owned(),
        Some(LogicalType::Bson) => "BSON".to_owned(),
        Some(LogicalType::Integer {
            bit_width,
            is_signed,
        }) => {
            format!("{}INT_{bit_width}", if *is_signed { "" } else { "U" })
        }
        Some(LogicalType::Time {
            is_adjusted_to_utc: true,
            unit,
        }) => unit_of("TIME", *unit),
        Some(LogicalType::Timestamp {
            is_adjusted_to_utc: true,
            unit,
        }) => unit_of("TIMESTAMP", *unit),
        _ => "NONE".to_owned(),
    }
}

/// One column of a Parquet schema.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct ColumnSchema {
    handle: MetadataHandle,
    leaf: usize,
}

impl ColumnSchema {
    fn element(&self) -> &SchemaElement {
        self.handle.parquet_schema().element(self.leaf)
    }

    fn levels(&self) -> (u8, u8) {
        let leaf = self.handle.parquet_schema().leaves().get(self.leaf);
        leaf.map_or((0, 0), |leaf| (leaf.max_def_level, leaf.max_rep_level))
    }
}

#[pymethods]
impl ColumnSchema {
    /// The column name.
    #[getter]
    fn name(&self) -> String {
        self.element().name.clone()
    }

    /// The column path, with dots between the names of fields.
    #[getter]
    fn path(&self) -> String {
        self.handle.parquet_schema().path(self.leaf).join(".")
    }

    /// The maximum definition level.
    #[getter]
    fn max_definition_level(&self) -> u8 {
        self.levels().0
    }

    /// The maximum repetition level.
    #[getter]
    fn max_repetition_level(&self) -> u8 {
        self.levels().1
    }

    /// The physical type.
    #[getter]
    fn physical_type(&self) -> String {
        self.element()
            .type_
            .map_or_else(String::new, |type_| type_.to_string())
    }

    /// The logical type.
    #[getter]
    fn logical_type(&self) -> ParquetLogicalType {
        ParquetLogicalType::of(self.element())
    }

    /// The converted type as in older files, or NONE.
    #[getter]
    fn converted_type(&self) -> String {
        converted_type(self.element())
    }

    /// The length of a FIXED_LEN_BYTE_ARRAY, or None.
    #[getter]
    fn length(&self) -> Option<i32> {
        self.element().type_length
    }

    /// The precision of a decimal, or None.
    #[getter]
    fn precision(&self) -> Option<i32> {
        self.element().precision
    }

    /// The scale of a decimal, or None.
    #[getter]
    fn scale(&self) -> Option<i32> {
        self.element().scale
    }

    /// Returns true if another column is equal.
    fn equals(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = same::<Self>(other)?;
        Ok(self.element() == other.element()
            && self.levels() == other.levels()
            && self.path() == other.path())
    }

    fn __hash__(&self) -> Result<u64> {
        Ok(hash_of(&format!("{:?}", self.element())))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        self.equals(other).unwrap_or(false)
    }

    fn __repr__(&self) -> String {
        lines(
            "<ParquetColumnSchema>",
            &[
                ("name", self.name()),
                ("path", self.path()),
                ("max_definition_level", self.levels().0.to_string()),
                ("max_repetition_level", self.levels().1.to_string()),
                ("physical_type", self.physical_type()),
                ("logical_type", self.logical_type().name()),
                ("converted_type (legacy)", self.converted_type()),
            ],
        )
    }
}
