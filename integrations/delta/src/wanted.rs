//! The columns that the kernel wants, as a wanted schema for the library, and the batches that the
//! kernel expects.

use std::sync::Arc;

use delta_kernel::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, RecordBatch, RecordBatchOptions,
    StringArray, StructArray,
};
use delta_kernel::arrow::buffer::NullBuffer;
use delta_kernel::arrow::compute::nullif;
use delta_kernel::arrow::datatypes::{DataType as T, Field, FieldRef, Fields, Schema, SchemaRef};
use delta_kernel::arrow::error::ArrowError;
use delta_kernel::engine::arrow_conversion::TryIntoArrow as _;
use delta_kernel::reserved_field_ids;
use delta_kernel::schema::{
    ColumnMetadataKey, DataType, MetadataColumnSpec, MetadataValue, StructField, StructType,
};
use delta_kernel::{KernelError, KernelResult};
use herringbone::extension::VARIANT_EXTENSION_NAME;
use herringbone::{FieldMatching, WantedSchema};

/// The metadata key by which an Arrow field names its extension type.
const EXTENSION_KEY: &str = "ARROW:extension:name";

/// The columns that a scan wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// All columns.
    target: SchemaRef,
    specials: Vec<Option<Special>>,
    /// The columns without row indexes.
    schema: SchemaRef,
}

/// A column that has metadata of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    /// The row's position in the file.
    RowIndex,
    /// The file URL.
    FileName,
}

impl Wanted {
    /// Creates the columns that the kernel wants.
    ///
    /// # Errors
    /// Fails if there is a metadata column that files do not have.
    pub(crate) fn new(wanted: &StructType) -> KernelResult<Self> {
        let target: Schema = wanted.try_into_arrow()?;
        let specials: Vec<_> = wanted.fields().map(special).collect::<KernelResult<_>>()?;
        let columns = wanted.fields().zip(target.fields()).zip(&specials);
        let read = columns.filter(|(_, special)| **special != Some(Special::RowIndex));
        let fields: Fields = read
            .map(|((wanted, field), _)| marked(wanted.data_type(), field))
            .collect();
        Ok(Self {
            target: Arc::new(target),
            specials,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// Returns the columns that predicates may name.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the wanted schema for the file at a URL.
    pub(crate) fn of_file(&self, url: &str) -> WantedSchema {
        let wanted = WantedSchema::new(self.schema.clone())
            .matching(FieldMatching::FieldIdOrName)
            .loose_times(true)
            .nulls_without_fields(true);
        let columns = self.target.fields().iter().zip(&self.specials);
        let names = columns.filter(|(_, special)| **special == Some(Special::FileName));
        names.fold(wanted, |wanted, (field, _)| {
            wanted.constant(field.name(), Arc::new(StringArray::from(vec![url])))
        })
    }

    /// Returns the name of a column for the row indexes, if they are wanted.
    pub(crate) fn row_index(&self) -> Option<String> {
        self.specials.contains(&Some(Special::RowIndex)).then(|| {
            let mut name = "row_index".to_owned();
            while self.schema.index_of(&name).is_ok() {
                name.push('_');
            }
            name
        })
    }

    /// Returns the kernel's columns from a batch of the file at a URL. If row indexes are wanted,
    /// they are the batch's last column.
    ///
    /// # Errors
    /// Fails if a required column has a null.
    pub(crate) fn conform(&self, batch: &RecordBatch, url: &str) -> KernelResult<RecordBatch> {
        let mut read = batch.columns().iter();
        let columns = self.target.fields().iter().zip(&self.specials);
        let columns = columns.map(|(field, special)| {
            let array = match special {
                Some(Special::RowIndex) => batch.columns().last(),
                _ => read.next(),
            };
            below(array.ok_or_else(lost)?, None, field.data_type())
        });
        let columns = columns.collect::<Result<Vec<_>, _>>();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = columns.and_then(|columns| {
            RecordBatch::try_new_with_options(self.target.clone(), columns, &options)
        });
        batch.map_err(|error| KernelError::generic(format!("{url}: {error}")))
    }
}

/// Returns the kind of a metadata column, or `None` for one of the table columns.
fn special(wanted: &StructField) -> KernelResult<Option<Special>> {
    match wanted.get_metadata_column_spec() {
        Some(MetadataColumnSpec::RowIndex) => Ok(Some(Special::RowIndex)),
        Some(MetadataColumnSpec::FilePath) => Ok(Some(Special::FileName)),
        Some(other) => Err(KernelError::unsupported(format!(
            "the metadata column `{}` of the kind {}: files only have row indexes and names",
            wanted.name(),
            other.text_value()
        ))),
        None => {
            let id = wanted.get_config_value(&ColumnMetadataKey::ParquetFieldId);
            let is_name = matches!(id, Some(MetadataValue::Number(id)) if *id == reserved_field_ids::FILE_NAME);
            Ok(is_name.then_some(Special::FileName))
        }
    }
}

/// Returns a field's Arrow form with the extension type of VARIANT, which the kernel leaves out.
/// With it, shredded values are refused, instead of losing their `typed_value`.
fn marked(wanted: &DataType, field: &FieldRef) -> FieldRef {
    let within = |wanted: &StructType, fields: &Fields| -> Fields {
        let fields = wanted.fields().zip(fields);
        fields
            .map(|(wanted, field)| marked(wanted.data_type(), field))
            .collect()
    };
    let mut marked_field = Field::clone(field);
    let data_type = match (wanted, field.data_type()) {
        (DataType::Variant(_), other) => {
            let mut metadata = field.metadata().clone();
            metadata.insert(EXTENSION_KEY.to_owned(), VARIANT_EXTENSION_NAME.to_owned());
            marked_field.set_metadata(metadata);
            other.clone()
        }
        (DataType::Struct(wanted), T::Struct(fields)) => T::Struct(within(wanted, fields)),
        (DataType::Array(wanted), T::List(element)) => {
            T::List(marked(wanted.element_type(), element))
        }
        (DataType::Map(wanted), T::Map(entries, is_sorted)) => match entries.data_type() {
            T::Struct(fields) if fields.len() == 2 => {
                let types = [wanted.key_type(), wanted.value_type()];
                let pair = types
                    .iter()
                    .zip(fields)
                    .map(|(it, field)| marked(it, field));
                let entries = Field::clone(entries).with_data_type(T::Struct(pair.collect()));
                T::Map(Arc::new(entries), *is_sorted)
            }
            _ => field.data_type().clone(),
        },
        (_, other) => other.clone(),
    };
    Arc::new(marked_field.with_data_type(data_type))
}

/// Returns the array as `target`, without marks. `nulls` belongs to the struct around the array. If
/// that struct is null in a slot, the array becomes null there, too, because the kernel only looks
/// at leaves.
fn below(array: &ArrayRef, nulls: Option<&NullBuffer>, target: &T) -> Result<ArrayRef, ArrowError> {
    let nulls_with = |own: Option<&NullBuffer>| NullBuffer::union(nulls, own);
    Ok(match target {
        T::Struct(fields) => {
            let structs = array.as_struct_opt().ok_or_else(lost)?;
            let nulls = nulls_with(structs.nulls());
            let columns = structs.columns().iter().zip(fields);
            let columns = columns.map(|(it, field)| below(it, nulls.as_ref(), field.data_type()));
            let columns = columns.collect::<Result<_, _>>()?;
            let length = array.len();
            Arc::new(StructArray::try_new_with_length(
                fields.clone(),
                columns,
                nulls,
                length,
            )?)
        }
        T::List(element) => {
            let lists = array.as_list_opt::<i32>().ok_or_else(lost)?;
            let values = below(lists.values(), None, element.data_type())?;
            let (offsets, nulls) = (lists.offsets().clone(), nulls_with(lists.nulls()));
            Arc::new(ListArray::try_new(element.clone(), offsets, values, nulls)?)
        }
        T::Map(entries, is_sorted) => {
            let maps = array.as_map_opt().ok_or_else(lost)?;
            let pairs: ArrayRef = Arc::new(maps.entries().clone());
            let pairs = below(&pairs, None, entries.data_type())?;
            let pairs = pairs.as_struct_opt().ok_or_else(lost)?.clone();
            let (offsets, nulls) = (maps.offsets().clone(), nulls_with(maps.nulls()));
            let entries = entries.clone();
            Arc::new(MapArray::try_new(
                entries, offsets, pairs, nulls, *is_sorted,
            )?)
        }
        _ => masked(array, nulls)?,
    })
}

/// Returns the array with additional nulls.
fn masked(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return Ok(array.clone());
    };
    let is_null_type = array.data_type() == &T::Null;
    if is_null_type || array.nulls().is_some_and(|own| own.contains(nulls)) {
        return Ok(array.clone());
    }
    let is_null = BooleanArray::new(!nulls.inner(), None);
    nullif(array, &is_null)
}

fn lost() -> ArrowError {
    ArrowError::ComputeError("the decoded columns are not the wanted ones".to_owned())
}
