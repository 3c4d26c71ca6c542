//! Decoded batches as the batches that the kernel expects.

use std::iter::repeat_n;
use std::sync::Arc;

use delta_kernel::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, RecordBatch, RecordBatchOptions,
    StringArray, StructArray, new_null_array,
};
use delta_kernel::arrow::buffer::NullBuffer;
use delta_kernel::arrow::compute::{CastOptions, cast_with_options, nullif};
use delta_kernel::arrow::datatypes::{DataType, Field};
use delta_kernel::arrow::error::ArrowError;
use delta_kernel::{KernelError, KernelResult};

use crate::error::ColumnError;
use crate::matching::{Origin, Plan, Shape, WantedField};

type Result<T> = std::result::Result<T, ColumnError>;

impl Plan {
    /// Returns the wanted columns of a batch of the file at `url`. Its last column has the row indexes, if they are wanted.
    ///
    /// # Errors
    /// If a value does not fit the wanted type, or if a required column has a null.
    pub(crate) fn conform(&self, batch: &RecordBatch, url: &str) -> KernelResult<RecordBatch> {
        let rows = Rows {
            len: batch.num_rows(),
            row_index: batch.columns().last().filter(|_| self.has_row_index()),
            url,
        };
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = rows.fields(&self.fields, batch.columns(), None);
        let wanted = columns.and_then(|columns| {
            let schema = self.schema.clone();
            Ok(RecordBatch::try_new_with_options(
                schema, columns, &options,
            )?)
        });
        wanted.map_err(|error| KernelError::generic(format!("{url}: {error}")))
    }
}

/// The slots of one level of nesting.
struct Rows<'a> {
    len: usize,
    row_index: Option<&'a ArrayRef>,
    url: &'a str,
}

impl Rows<'_> {
    /// Returns the wanted fields. A slot that `nulls`, the struct around the fields, lacks becomes null: the kernel looks at
    /// the leaves alone.
    fn fields(
        &self,
        fields: &[WantedField],
        decoded: &[ArrayRef],
        nulls: Option<&NullBuffer>,
    ) -> Result<Vec<ArrayRef>> {
        let field = |field: &WantedField| {
            let array = match &field.origin {
                Origin::Missing => Ok(missing(&field.target, self.len)),
                Origin::RowIndex => self.row_index.cloned().ok_or_else(lost),
                Origin::FileName => {
                    let names = repeat_n(self.url, self.len);
                    Ok(Arc::new(StringArray::from_iter_values(names)) as ArrayRef)
                }
                Origin::File { place, shape, .. } => {
                    let array = decoded.get(*place).ok_or_else(lost);
                    array
                        .and_then(|array| self.array(shape, array, field.target.data_type(), nulls))
                }
            };
            array.map_err(|error| error.below(field.target.name()))
        };
        fields.iter().map(field).collect()
    }

    fn array(
        &self,
        shape: &Shape,
        array: &ArrayRef,
        target: &DataType,
        nulls: Option<&NullBuffer>,
    ) -> Result<ArrayRef> {
        match (shape, target) {
            (Shape::Struct(fields), DataType::Struct(targets)) => {
                let (_, decoded, own) = parts(array.as_struct_opt())?.clone().into_parts();
                let nulls = NullBuffer::union(nulls, own.as_ref());
                let columns = self.fields(fields, &decoded, nulls.as_ref())?;
                let array =
                    StructArray::try_new_with_length(targets.clone(), columns, nulls, self.len)?;
                Ok(Arc::new(array))
            }
            (Shape::List(element), DataType::List(target)) => {
                let list = parts(array.as_list_opt::<i32>())?.clone();
                let (_, offsets, values, own) = list.into_parts();
                let values = self.below(element, &values, target)?;
                let nulls = NullBuffer::union(nulls, own.as_ref());
                let array = ListArray::try_new(target.clone(), offsets, values, nulls)?;
                Ok(Arc::new(array))
            }
            (Shape::Map(keys, values), DataType::Map(entries, is_sorted)) => {
                let map = parts(array.as_map_opt())?.clone();
                let (_, offsets, decoded, own, _) = map.into_parts();
                let DataType::Struct(targets) = entries.data_type() else {
                    return Err(lost());
                };
                let ([key, value], [key_target, value_target]) = (decoded.columns(), &targets[..])
                else {
                    return Err(lost());
                };
                let keys = self.below(keys, key, key_target)?;
                let values = match values {
                    Some(values) => self.below(values, value, value_target)?,
                    None => missing(value_target, value.len()),
                };
                let decoded = StructArray::try_new(targets.clone(), vec![keys, values], None)?;
                let nulls = NullBuffer::union(nulls, own.as_ref());
                let array =
                    MapArray::try_new(entries.clone(), offsets, decoded, nulls, *is_sorted)?;
                Ok(Arc::new(array))
            }
            (Shape::Leaf, target) => masked(&leaf(array, target)?, nulls),
            _ => Err(lost()),
        }
    }

    /// Returns the elements of a list, or the keys or values of a map.
    fn below(&self, shape: &Shape, array: &ArrayRef, target: &Field) -> Result<ArrayRef> {
        let rows = Rows {
            len: array.len(),
            row_index: None,
            url: self.url,
        };
        rows.array(shape, array, target.data_type(), None)
            .map_err(|error| error.below(target.name()))
    }
}

/// Casts values. One that does not fit is an error. A finer unit of time is truncated toward zero, as the kernel demands.
fn leaf(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if array.data_type() == target {
        return Ok(array.clone());
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    Ok(cast_with_options(array, target, &options)?)
}

/// Returns the array with additional nulls.
fn masked(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return Ok(array.clone());
    };
    let is_null_type = array.data_type() == &DataType::Null;
    if is_null_type || array.nulls().is_some_and(|own| own.contains(nulls)) {
        return Ok(array.clone());
    }
    let is_null = BooleanArray::new(!nulls.inner(), None);
    Ok(nullif(array, &is_null)?)
}

/// Returns the array of a field that the file lacks. A required struct has missing fields.
fn missing(field: &Field, len: usize) -> ArrayRef {
    match field.data_type() {
        DataType::Struct(fields) if !field.is_nullable() => {
            let columns = fields.iter().map(|field| missing(field, len)).collect();
            StructArray::try_new_with_length(fields.clone(), columns, None, len).map_or_else(
                |_| new_null_array(field.data_type(), len),
                |it| Arc::new(it) as _,
            )
        }
        data_type => new_null_array(data_type, len),
    }
}

fn parts<A>(array: Option<&A>) -> Result<&A> {
    array.ok_or_else(lost)
}

fn lost() -> ColumnError {
    ArrowError::ComputeError("the decoded columns are not those of the plan".to_owned()).into()
}
