//! Reads with a schema supplied by the caller, independent of the file.
//!
//! ```text
//! wanted schema + fields of the file ── matching ──► the origin of each wanted field
//!                                                    ├─► leaves and Arrow types to decode (search.rs)
//!                                                    └─► conversions of the finished arrays (conversion.rs, crate::cast)
//! ```
//!
//! Columns can decode to some types by themselves: text layouts, dictionaries and time zones. We request these types as
//! if the Arrow schema in the file had them. Everything else is applied to a record batch's arrays: structs get the
//! wanted fields in the wanted order, values are cast, and fields missing from the file become constants.

mod conversion;
mod matching;
mod resolution;
mod search;

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use herringbone_core::cast::TimeCasts;
use herringbone_format::{Error, Result};
use herringbone_schema::Projection;

pub(crate) use conversion::{ArrayConversion, unwanted_null};
pub(crate) use resolution::Root;
pub(super) use resolution::resolve;

/// A schema for a read's batches, and the rule for finding its fields in a file. Use this if your files' schemas have
/// changed over time, or if an engine dictates the schema.
///
/// Columns have the schema's order, and any other columns of the file are not read. A column missing from the file is
/// null, or has a [default](Self::default_value). This also holds for struct fields, including those below lists and
/// maps.
///
/// Values are cast if the wanted type can represent all values of the file's type:
///
/// - integers to wider integers, and to decimals and floating-point numbers that can represent each of them,
/// - `Float32` to `Float64`,
/// - decimals to decimals with at least as many digits on both sides of the decimal point,
/// - dates to timestamps,
/// - text to bytes,
/// - any layout of text, bytes, lists and dictionaries to any other.
///
/// Two casts depend on the values. Time units can become finer or coarser as long as no value is lost, and bytes become
/// text if they are UTF-8. A required field can be read from a nullable one as long as no value is null.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use std::sync::Arc;
/// use herringbone::arrow::array::{Array, Int32Array};
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone::{ParquetFile, ReadOptions, WantedSchema};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// // The file does not have the column `tax`, and `price` is Int64 in it.
/// let tax = Field::new("tax", DataType::Int32, true);
/// let price = Field::new("price", DataType::Decimal128(20, 0), true);
/// let wanted = WantedSchema::new(Arc::new(Schema::new(vec![tax, price])))
///     .default_value(["tax"], Arc::new(Int32Array::from(vec![7])));
/// let batch = file.read(ReadOptions::new().wanted_schema(wanted))?.next_batch()?.ok_or("no rows")?;
/// assert_eq!(batch.column(0).as_ref(), &Int32Array::from(vec![7; 50]) as &dyn Array);
/// assert_eq!(batch.column(1).data_type(), &DataType::Decimal128(20, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct WantedSchema {
    schema: SchemaRef,
    matching: FieldMatching,
    /// Each column's place. It stays the same after other columns have been left out.
    places: Vec<Place>,
    defaults: Vec<DefaultValue>,
    /// The names of columns never read from the file.
    constants: Vec<String>,
    times: TimeCasts,
    nulls_without_fields: bool,
}

/// The rule for finding wanted fields in a file. It applies at each nesting level, except that list elements, and map
/// keys and values, are always found by position.
///
/// ```
/// # use herringbone::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use std::sync::Arc;
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone::{FieldMatching, ParquetFile, ReadOptions, WantedSchema};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let schema = Schema::new(vec![Field::new("ID", DataType::Int64, true)]);
/// let wanted = WantedSchema::new(Arc::new(schema)).matching(FieldMatching::NameIgnoringCase);
/// let batch = file.read(ReadOptions::new().wanted_schema(wanted))?.next_batch()?.ok_or("no rows")?;
/// assert_eq!(batch.schema().field(0).name(), "ID");
/// assert_eq!(batch.column(0).null_count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FieldMatching {
    /// The field with an equal name.
    #[default]
    Name,
    /// The field with an equal name. If there is none, a field whose name differs only in case.
    NameIgnoringCase,
    /// The field with an equal name, in order, since several fields in the file might share it. The first wanted field
    /// with this name is the file's first one, the second is the second, and so on.
    NameInOrder,
    /// The field with an equal id, taken from `PARQUET:field_id` in the wanted field's metadata. Fields of the file
    /// without an id are found by the names listed here for the id.
    FieldId(Vec<FieldNames>),
    /// The field with an equal id. If the wanted field has no id, or if the id is missing from the file, the field with
    /// an equal name is taken, unless its id belongs to another wanted field. If the ids of the two fields differ, the
    /// read fails.
    FieldIdOrName,
    /// The field at an equal position.
    Position,
}

/// A field's names in files written without its id.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone::schema::FIELD_ID_KEY;
/// use herringbone::{FieldMatching, FieldNames, ParquetFile, ReadOptions, WantedSchema, Writer};
///
/// // A file without field ids, from the time when the column was called `number`.
/// let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
/// let batch = RecordBatch::try_from_iter([("number", numbers)])?;
/// let mut writer = Writer::new(Vec::new(), batch.schema(), Default::default())?;
/// writer.write(&batch)?;
/// let (_, file) = writer.finish_into()?;
///
/// let id = HashMap::from([(FIELD_ID_KEY.to_owned(), "7".to_owned())]);
/// let field = Field::new("id", DataType::Int64, true).with_metadata(id);
/// let names = FieldNames::new(7, ["number", "id"]);
/// let wanted = WantedSchema::new(Arc::new(Schema::new(vec![field])))
///     .matching(FieldMatching::FieldId(vec![names]));
/// let options = ReadOptions::new().wanted_schema(wanted);
/// let read = ParquetFile::from_bytes(file)?.read(options)?.next_batch()?.ok_or("no rows")?;
/// assert_eq!(read.schema().field(0).name(), "id");
/// assert_eq!(read.columns(), batch.columns());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldNames {
    /// The field's id.
    pub field_id: i32,
    /// All names the field has had over time.
    pub names: Vec<String>,
}

impl FieldNames {
    /// Creates the list of all names that the field with this id has had.
    #[must_use]
    pub fn new<S: Into<String>>(field_id: i32, names: impl IntoIterator<Item = S>) -> Self {
        Self {
            field_id,
            names: names.into_iter().map(Into::into).collect(),
        }
    }
}

/// A value for a field missing from the file.
#[derive(Debug, Clone)]
struct DefaultValue {
    path: Vec<String>,
    value: ArrayRef,
}

impl WantedSchema {
    /// Creates a wanted schema with fields found by name.
    #[must_use]
    pub fn new(schema: SchemaRef) -> Self {
        Self {
            places: places(schema.fields()),
            schema,
            matching: FieldMatching::Name,
            defaults: Vec::new(),
            constants: Vec::new(),
            times: TimeCasts::Exact,
            nulls_without_fields: false,
        }
    }

    /// Sets the rule for finding fields in the file.
    #[must_use]
    pub fn matching(self, matching: FieldMatching) -> Self {
        Self { matching, ..self }
    }

    /// Sets a field's value for files that lack it, as an array with one slot and the field's type. The path consists
    /// of wanted names, but skips list elements and map entries.
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

    /// Sets a column's value for all files, for example a partition value, as an array with one slot and the column's
    /// type. If the file has a matching column, it is not read.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use herringbone::arrow::array::Int64Array;
    /// use herringbone::arrow::schema::{DataType, Field, Schema};
    /// use herringbone::WantedSchema;
    ///
    /// let schema = Arc::new(Schema::new(vec![Field::new("year", DataType::Int64, false)]));
    /// let wanted = WantedSchema::new(schema).constant("year", Arc::new(Int64Array::from(vec![2024])));
    /// ```
    #[must_use]
    pub fn constant(mut self, column: impl Into<String>, value: ArrayRef) -> Self {
        let column = column.into();
        self.constants.push(column.clone());
        self.default_value([column], value)
    }

    /// Selects if times are cast the way engines do. In that case, a coarser unit truncates values toward zero, and
    /// timestamps without a time zone can become timestamps in UTC or the reverse. By default, it is an error if a
    /// value would lose precision, or if the two kinds of timestamps differ.
    #[must_use]
    pub fn loose_times(self, loose: bool) -> Self {
        let times = match loose {
            true => TimeCasts::Loose,
            false => TimeCasts::Exact,
        };
        Self { times, ..self }
    }

    /// Selects if structs are null when the file has none of their wanted fields. This includes structs in lists and
    /// maps: a list of them is null, and a map only has its keys. If such a struct cannot be null, its fields are null
    /// instead. By default, structs keep their place and have null fields.
    #[must_use]
    pub fn nulls_without_fields(self, nulls: bool) -> Self {
        Self {
            nulls_without_fields: nulls,
            ..self
        }
    }

    /// Returns the wanted schema.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the wanted schema, reduced to the columns named by a projection.
    ///
    /// # Errors
    /// Fails with `Argument` if the projection does not consist of column names.
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
            _ => {
                return Err(Error::argument(
                    "with a wanted schema, a projection can only name its top-level fields",
                ));
            }
        };
        self.only(&columns)
    }

    /// Returns the wanted schema, reduced to these columns.
    ///
    /// # Errors
    /// Fails with `Argument` if there is no such column.
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
            constants: self.constants.clone(),
            ..*self
        })
    }

    /// Returns the columns that these paths lead to or enter, in ascending order.
    ///
    /// # Errors
    /// Fails with `Argument` if a path does not lead to a column.
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

    /// Returns a field's default, or `None` if it does not have one.
    ///
    /// # Errors
    /// Fails with `Argument` if the default is not a single value of the field's type.
    fn default_of(&self, path: &[String], field: &Field) -> Result<Option<ArrayRef>> {
        let found = self.defaults.iter().find(|default| default.path == path);
        let Some(DefaultValue { value, .. }) = found else {
            return Ok(None);
        };
        let error = if value.len() != 1 {
            format!("its default has {} values instead of one", value.len())
        } else if value.data_type() != field.data_type() {
            let (wanted, given) = (field.data_type(), value.data_type());
            format!("its type is {wanted}, but its default is {given}")
        } else if !field.is_nullable() && value.logical_null_count() > 0 {
            "it is not nullable, but its default is null".to_owned()
        } else {
            return Ok(Some(value.clone()));
        };
        Err(Error::argument(error).in_column(path.join(".")))
    }

    /// Rejects a missing field, unless it can be null or has a default.
    fn check_missing(&self, path: &[String], field: &Field) -> Result<()> {
        match field.is_nullable() || self.default_of(path, field)?.is_some() {
            true => Ok(()),
            false => Err(Error::argument(format!(
                "the file does not contain `{}`, which is not nullable in the wanted schema and does \
                 not have a default",
                path.join(".")
            ))),
        }
    }

    /// Rejects defaults for fields missing from the schema.
    fn check_defaults(&self) -> Result<()> {
        for default in &self.defaults {
            if field_at(self.schema.fields(), &default.path).is_none() {
                let path = default.path.join(".");
                return Err(Error::argument(format!(
                    "there is a default for `{path}`, which is not in the wanted schema"
                )));
            }
        }
        Ok(())
    }
}

/// A wanted field's place among its siblings.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The number of fields before it.
    position: usize,
    /// The number of fields before it that have the same name.
    namesakes: usize,
}

/// Returns the place of each field.
fn places(fields: &Fields) -> Vec<Place> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut places = Vec::with_capacity(fields.len());
    for (position, field) in fields.iter().enumerate() {
        let namesakes = seen.entry(field.name().as_str()).or_default();
        places.push(Place {
            position,
            namesakes: *namesakes,
        });
        *namesakes += 1;
    }
    places
}

/// Returns the field at a path that omits list elements and map entries.
fn field_at<'a>(fields: &'a Fields, path: &[String]) -> Option<&'a FieldRef> {
    let (first, rest) = path.split_first()?;
    let (_, field) = fields.find(first)?;
    match rest {
        [] => Some(field),
        rest => field_at(fields_below(field.data_type())?, rest),
    }
}

/// Returns a struct's fields, or those of the structs in a list or map.
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

/// Returns the schema of the wanted columns, followed by additional fields.
pub(super) fn with_fields_behind(wanted: &WantedSchema, behind: &[FieldRef]) -> SchemaRef {
    if behind.is_empty() {
        return wanted.schema.clone();
    }
    let fields = wanted.schema.fields().iter().chain(behind).cloned();
    let fields: Fields = fields.collect();
    let metadata = wanted.schema.metadata().clone();
    Arc::new(Schema::new_with_metadata(fields, metadata))
}
