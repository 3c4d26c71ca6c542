//! Shapes the output's columns by choosing, renaming, casting and reordering them.

use std::collections::HashSet;
use std::sync::Arc;

use herringbone_arrow::array::make_array;
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use herringbone_interchange::read::cast::Cast;
use herringbone_rewrite::ColumnOrigin;

use crate::args::{Selection, Taken};
use crate::base::failure::{Failure, Result};

/// Converts batches as read to batches of the output.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    schema: SchemaRef,
    columns: Vec<Column>,
}

/// A column of the output.
#[derive(Debug, Clone)]
struct Column {
    /// The input column's index, followed by field indexes down to the values.
    place: Vec<usize>,
    cast: Option<Cast>,
    origin: ColumnOrigin,
}

impl Shape {
    /// Creates the shape for batches with this schema. Without a selection, batches stay unchanged.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if a column does not exist, or if two columns get the same
    /// name.
    pub(crate) fn new(selection: Option<&Selection>, schema: &SchemaRef) -> Result<Self> {
        let taken = match selection {
            Some(selection) => selection.of(schema.fields()),
            None => Vec::new(),
        };
        if selection.is_none() {
            let place = |at| Column {
                place: vec![at],
                cast: None,
                origin: ColumnOrigin::new([schema.field(at).name()], schema.field(at).name()),
            };
            return Ok(Self {
                schema: schema.clone(),
                columns: (0..schema.fields().len()).map(place).collect(),
            });
        }
        let (mut fields, mut columns): (Vec<FieldRef>, Vec<Column>) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for one in &taken {
            if !one.is_new() && one.path.len() > 1 {
                // Fields of one column stay together in that column.
                alone(one, &taken)?;
                let is_there = |column: &Column| {
                    !column.origin.is_cast && column.origin.path.get(..1) == one.path.get(..1)
                };
                if columns.iter().any(is_there) {
                    continue;
                }
            }
            let (place, field) = found(schema, one)?;
            let (field, cast) = changed(one, &field);
            if !names.insert(field.name().clone()) {
                return Err(Failure::Usage(format!(
                    "--columns: two columns are called `{}`; give one of them another name, as in \
                     `other={}`",
                    field.name(),
                    one.path.join(".")
                )));
            }
            // A column reduced to some of its fields still counts as the same column.
            let path = one.path.get(..place.len()).unwrap_or_default();
            columns.push(Column {
                place,
                origin: ColumnOrigin::new(path, field.name()).cast(cast.is_some()),
                cast,
            });
            fields.push(field);
        }
        let metadata = schema.metadata().clone();
        Ok(Self {
            schema: Arc::new(Schema::new_with_metadata(fields, metadata)),
            columns,
        })
    }

    /// Returns the schema of the output.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns each column's origin if any column has a new name or type, or nothing if columns are
    /// only left out or moved.
    pub(crate) fn renamed(&self) -> Vec<ColumnOrigin> {
        let origins = self.columns.iter().map(|column| &column.origin);
        let is_new = |origin: &&ColumnOrigin| {
            origin.is_cast || origin.path.len() > 1 || origin.path.first() != Some(&origin.name)
        };
        match origins.clone().any(|origin| is_new(&origin)) {
            true => origins.cloned().collect(),
            false => Vec::new(),
        }
    }

    /// Returns an output column's path in the input.
    pub(crate) fn path_of(&self, name: &str) -> Option<&[String]> {
        let origins = self.columns.iter().map(|column| &column.origin);
        let mut named = origins.filter(|origin| origin.name == name);
        named.next().map(|origin| origin.path.as_slice())
    }

    /// Converts a batch.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if a value cannot be cast.
    pub(crate) fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.columns.iter().map(|column| {
            let array = array_at(batch, &column.place)?;
            match &column.cast {
                Some(cast) => Ok(cast.apply(&array)?),
                None => Ok(array),
            }
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = self.schema.clone();
        RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(|error| Failure::Data(error.to_string()))
    }
}

/// Checks that no other output column is taken from this field's column.
fn alone(one: &Taken, all: &[Taken]) -> Result<()> {
    let inside = |other: &&Taken| other.is_new() && other.path.get(..1) == one.path.get(..1);
    match all.iter().find(inside) {
        None => Ok(()),
        Some(other) => Err(Failure::Usage(format!(
            "--columns: `{}` is taken out of its column, but `{}` is not; give it a name too, as \
             in `name={1}`",
            other.path.join("."),
            one.path.join(".")
        ))),
    }
}

/// Returns the place and the field of an output column. The field is nullable if a struct around it
/// is.
fn found(schema: &Schema, taken: &Taken) -> Result<(Vec<usize>, FieldRef)> {
    let shown = taken.path.join(".");
    let missing = || Failure::Usage(format!("there is no column `{shown}`"));
    let (first, mut rest) = taken.path.split_first().ok_or_else(missing)?;
    let (at, mut field) = schema.fields().find(first).ok_or_else(missing)?;
    let mut place = vec![at];
    if !taken.is_new() {
        rest = &[];
    }
    let mut nullable = field.is_nullable();
    for name in rest {
        let DataType::Struct(fields) = field.data_type() else {
            return Err(Failure::Usage(format!(
                "--columns: `{shown}` is in a list or map, so it cannot be a column of its own; \
                 take it without a new name or type"
            )));
        };
        let (at, inner) = fields.find(name).ok_or_else(missing)?;
        place.push(at);
        nullable |= inner.is_nullable();
        field = inner;
    }
    let field = Field::clone(field).with_nullable(nullable);
    Ok((place, Arc::new(field)))
}

/// Returns the output field and the cast for its values, if they need one.
fn changed(taken: &Taken, from: &FieldRef) -> (FieldRef, Option<Cast>) {
    let name = taken.name.as_ref().unwrap_or(from.name());
    let Some(to) = &taken.field else {
        return (Arc::new(Field::clone(from).with_name(name)), None);
    };
    let to = Arc::new(to.clone().with_name(name).with_nullable(from.is_nullable()));
    let cast = Cast::new(from.clone(), to.clone());
    (to, Some(cast))
}

/// Returns the array at a place, applying the nulls of enclosing structs.
fn array_at(batch: &RecordBatch, place: &[usize]) -> Result<ArrayRef> {
    let missing = || Failure::Data("a column is missing in a batch".into());
    let (root, below) = place.split_first().ok_or_else(missing)?;
    let mut array = batch.columns().get(*root).ok_or_else(missing)?;
    let mut nulls: Option<NullBuffer> = None;
    for index in below {
        use herringbone_arrow::array::cast::AsArray as _;
        let parent = array.as_struct_opt().ok_or_else(missing)?;
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        array = parent.columns().get(*index).ok_or_else(missing)?;
    }
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return Ok(array.clone());
    };
    if matches!(
        array.data_type(),
        DataType::Null | DataType::RunEndEncoded(..) | DataType::Union(..)
    ) {
        return Err(Failure::Data(format!(
            "values of type {} cannot be taken out of a struct with nulls",
            array.data_type()
        )));
    }
    let nulls = NullBuffer::union(Some(&nulls), array.nulls());
    let data = array.to_data().into_builder().nulls(nulls).build();
    Ok(make_array(
        data.map_err(|error| Failure::Data(error.to_string()))?,
    ))
}
