//! Reads that give a schema of the caller's, whatever the file has.
//!
//! ```text
//! wanted schema + fields of the file ── matching ──► what each wanted field is made from
//!                                                    ├─► leaves and Arrow types to decode (search.rs)
//!                                                    └─► conversions of the finished arrays (conversion.rs, crate::cast)
//! ```
//!
//! What columns can decode to by themselves (layouts of text, dictionaries, zones) is asked of them, as if the file's
//! own Arrow schema said so. The rest is done to the arrays of a record batch: structs get the wanted fields in
//! the wanted order, values are cast, and what the file does not have becomes a constant.

mod conversion;
mod matching;
mod resolution;
mod search;

use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use herringbone_format::{Error, Result};
use herringbone_schema::Projection;

pub(crate) use conversion::{ArrayConversion, unwanted_null};
pub(crate) use resolution::Root;
pub(super) use resolution::resolve;

/// A schema that batches shall have, and how its fields are found in a file.
///
/// Columns come in the order of the schema. What the file has besides is not read; what it does not have is null,
/// or a [default](Self::default_value). So it is with the fields of structs, also below lists and maps.
///
/// Values are cast where the wanted type has all values of that in the file: integers to wider ones, to decimals
/// and floating-point numbers that hold each of them, `Float32` to `Float64`, decimals to such of more digits on
/// both sides of the point, dates to timestamps, text to bytes, and any layout of text, bytes, lists and
/// dictionaries to any other. Two casts depend on the values: units of time may become finer or coarser as long as
/// no value is lost, and bytes become text if they are UTF-8. A wanted field that may not be null takes from one
/// that may, unless there is a null.
#[derive(Debug, Clone)]
pub struct WantedSchema {
    schema: SchemaRef,
    matching: FieldMatching,
    /// By column: its place in the file, if that is what it is found by.
    places: Vec<usize>,
    defaults: Vec<DefaultValue>,
}

/// How wanted fields are found among those of a file, at each level of nesting. The elements of lists, and the keys
/// and values of maps, are found by their place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FieldMatching {
    /// By the same name.
    #[default]
    Name,
    /// By the same name; else by one that differs in case alone.
    NameIgnoringCase,
    /// By the same id: that under `PARQUET:field_id` in the metadata of the wanted field. Fields of the file that
    /// have no id are found by the names that the id has here.
    FieldId(Vec<FieldNames>),
    /// By the same place.
    Position,
}

/// Names of fields that were written without their id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldNames {
    /// The id.
    pub field_id: i32,
    /// The names that the field had in the course of time.
    pub names: Vec<String>,
}

/// A value for a field that the file does not have.
#[derive(Debug, Clone)]
struct DefaultValue {
    path: Vec<String>,
    value: ArrayRef,
}

impl WantedSchema {
    /// This schema, whose fields are found by name.
    #[must_use]
    pub fn new(schema: SchemaRef) -> Self {
        Self {
            places: (0..schema.fields().len()).collect(),
            schema,
            matching: FieldMatching::Name,
            defaults: Vec::new(),
        }
    }

    /// Says how fields are found.
    #[must_use]
    pub fn matching(self, matching: FieldMatching) -> Self {
        Self { matching, ..self }
    }

    /// Gives a value to a field for files that do not have it: an array of one slot, of the type of the field. The path has
    /// the wanted names, without those of the elements of lists and of the entries of maps.
    #[must_use]
    pub fn default_value<S: Into<String>>(
        mut self,
        path: impl IntoIterator<Item = S>,
        value: ArrayRef,
    ) -> Self {
        let path = path.into_iter().map(Into::into).collect();
        self.defaults.push(DefaultValue { path, value });
        self
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The same with only those of its columns that a projection names.
    ///
    /// # Errors
    /// Argument where it names something else.
    pub(super) fn projected(&self, projection: &Projection) -> Result<Self> {
        let columns = match projection {
            Projection::All => return Ok(self.clone()),
            Projection::Names(names) => {
                let paths = names.iter().map(|name| vec![name.clone()]);
                self.columns_of(&paths.collect::<Vec<_>>())?
            }
            Projection::Paths(paths) if paths.iter().all(|path| path.len() == 1) => {
                self.columns_of(paths)?
            }
            Projection::Paths(_) | Projection::Leaves(_) | Projection::FieldIds(_) => {
                return Err(Error::argument(
                    "beside a wanted schema, columns are chosen by the names of its fields at the top alone",
                ));
            }
        };
        self.only(&columns)
    }

    /// The same with only these columns.
    ///
    /// # Errors
    /// Argument where there is no such column.
    pub(super) fn only(&self, columns: &[usize]) -> Result<Self> {
        let schema = self.schema.project(columns);
        let schema = schema.map_err(|error| Error::argument(error.to_string()))?;
        let places = columns.iter().filter_map(|column| self.places.get(*column));
        let mut defaults = self.defaults.clone();
        defaults.retain(|default| field_at(schema.fields(), &default.path).is_some());
        Ok(Self {
            places: places.copied().collect(),
            schema: Arc::new(schema),
            matching: self.matching.clone(),
            defaults,
        })
    }

    /// The columns that these paths lead to or into, ascending.
    ///
    /// # Errors
    /// Argument where one leads to none.
    pub(super) fn columns_of(&self, paths: &[Vec<String>]) -> Result<Vec<usize>> {
        let mut columns = Vec::new();
        for path in paths {
            let column = path
                .first()
                .and_then(|name| self.schema.index_of(name).ok());
            columns.push(column.ok_or_else(|| {
                let path = path.join(".");
                Error::argument(format!("the wanted schema has no column `{path}`"))
            })?);
        }
        columns.sort_unstable();
        columns.dedup();
        Ok(columns)
    }

    /// The default of a field; none where it has none.
    ///
    /// # Errors
    /// Argument where it is not one value of the type of the field.
    fn default_of(&self, path: &[String], field: &Field) -> Result<Option<ArrayRef>> {
        let found = self.defaults.iter().find(|default| default.path == path);
        let Some(DefaultValue { value, .. }) = found else {
            return Ok(None);
        };
        let error = if value.len() != 1 {
            format!("its default has {} values instead of one", value.len())
        } else if value.data_type() != field.data_type() {
            let (wanted, given) = (field.data_type(), value.data_type());
            format!("it is to be {wanted}, and its default is {given}")
        } else if !field.is_nullable() && value.logical_null_count() > 0 {
            "it may not be null, and its default is".to_owned()
        } else {
            return Ok(Some(value.clone()));
        };
        Err(Error::argument(error).in_column(path.join(".")))
    }

    /// Refuses defaults for fields that are not wanted.
    fn check_defaults(&self) -> Result<()> {
        for default in &self.defaults {
            if field_at(self.schema.fields(), &default.path).is_none() {
                let path = default.path.join(".");
                return Err(Error::argument(format!(
                    "there is a default for `{path}`, which the wanted schema does not have"
                )));
            }
        }
        Ok(())
    }
}

/// The field at a path that leaves out elements of lists and entries of maps.
fn field_at<'a>(fields: &'a Fields, path: &[String]) -> Option<&'a FieldRef> {
    let (first, rest) = path.split_first()?;
    let (_, field) = fields.find(first)?;
    match rest {
        [] => Some(field),
        rest => field_at(fields_below(field.data_type())?, rest),
    }
}

/// The fields of a struct, or of the structs in a list.
fn fields_below(data_type: &DataType) -> Option<&Fields> {
    match data_type {
        DataType::Struct(fields) => Some(fields),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _)
        | DataType::Map(element, _) => fields_below(element.data_type()),
        _ => None,
    }
}

/// The schema of the wanted columns and of those that come behind them.
pub(super) fn with_fields_behind(wanted: &WantedSchema, behind: &[FieldRef]) -> SchemaRef {
    if behind.is_empty() {
        return wanted.schema.clone();
    }
    let fields = wanted.schema.fields().iter().chain(behind).cloned();
    let fields: Fields = fields.collect();
    let metadata = wanted.schema.metadata().clone();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}
