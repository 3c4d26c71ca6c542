//! Columns that say where rows come from.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, Int64Array, StringArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::{Error, Result};

use super::RowGroupPlan;
use super::wanted_schema::Constant;
use crate::column::selection::{Selection, SelectionRun, WantedPiece};

/// A column that says where the rows come from, behind those that are read.
#[derive(Debug, Clone)]
pub struct VirtualColumn {
    field: FieldRef,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    RowNumber,
    RowGroup,
    Constant(Constant),
}

impl VirtualColumn {
    /// The number of the row in the file, counted from 0 over all rows, wanted or not: `Int64`, never null.
    #[must_use]
    pub fn row_number(name: impl Into<String>) -> Self {
        Self::new(name, DataType::Int64, Kind::RowNumber)
    }

    /// The ordinal of the row group in the file: `Int64`, never null.
    #[must_use]
    pub fn row_group(name: impl Into<String>) -> Self {
        Self::new(name, DataType::Int64, Kind::RowGroup)
    }

    /// The name that the caller knows the file by: `Utf8`, never null.
    #[must_use]
    pub fn file_name(name: impl Into<String>, file: &str) -> Self {
        Self::constant(name, Arc::new(StringArray::from(vec![file])))
    }

    /// The only slot of an array in each row, such as the value of a partition. It is a null only where the slot is.
    /// An array of another length is an error of the read.
    #[must_use]
    pub fn constant(name: impl Into<String>, value: ArrayRef) -> Self {
        let (data_type, is_null) = (value.data_type().clone(), value.logical_null_count() > 0);
        let kind = Kind::Constant(Constant::Value(value));
        let column = Self::new(name, data_type, kind);
        let field = Field::clone(&column.field).with_nullable(is_null);
        Self {
            field: Arc::new(field),
            ..column
        }
    }

    fn new(name: impl Into<String>, data_type: DataType, kind: Kind) -> Self {
        Self {
            field: Arc::new(Field::new(name, data_type, false)),
            kind,
        }
    }

    /// Sets the metadata of the field.
    #[must_use]
    pub fn metadata(self, metadata: HashMap<String, String>) -> Self {
        let field = Field::clone(&self.field).with_metadata(metadata);
        Self {
            field: Arc::new(field),
            ..self
        }
    }

    /// The field.
    #[must_use]
    pub fn field(&self) -> &FieldRef {
        &self.field
    }

    /// Refuses a constant that is not one value.
    pub(super) fn check(&self) -> Result<()> {
        match &self.kind {
            Kind::Constant(Constant::Value(value)) if value.len() != 1 => {
                let (name, values) = (self.field.name(), value.len());
                Err(Error::argument(format!(
                    "the constant for the column `{name}` has {values} values instead of one"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Bytes that it takes in a batch of so many rows, roughly.
    pub(super) fn bytes(&self, rows: usize) -> usize {
        match &self.kind {
            Kind::RowNumber | Kind::RowGroup => rows.saturating_mul(size_of::<i64>()),
            Kind::Constant(constant) => constant.bytes(rows),
        }
    }

    fn is_row_number(&self) -> bool {
        matches!(self.kind, Kind::RowNumber)
    }
}

/// Where the rows of a read come from, batch after batch.
#[derive(Debug)]
pub(super) struct RowOrigins {
    /// Where the rows of the row group begin.
    first_row: u64,
    row_group: usize,
    /// Over the wanted rows of the row group.
    walk: Selection,
}

impl RowOrigins {
    pub(super) fn new() -> Self {
        Self {
            first_row: 0,
            row_group: 0,
            walk: Selection::new([].into()),
        }
    }

    /// Goes to the start of a row group, of which all planned rows come.
    pub(super) fn open(&mut self, row_group: &RowGroupPlan) {
        self.first_row = row_group.first_row;
        self.row_group = row_group.ordinal();
        self.walk = Selection::new(row_group.ranges.clone());
        for piece in row_group.found().pieces {
            self.walk.extend(piece);
        }
    }

    /// The same, for no rows but those that are [added](Self::extend).
    pub(super) fn open_selecting(&mut self, row_group: &RowGroupPlan) {
        self.open(row_group);
        self.walk = Selection::new([].into());
        self.walk.open();
    }

    /// These rows come too, behind all others.
    pub(super) fn extend(&mut self, piece: &WantedPiece) {
        self.walk.extend(piece.clone());
    }

    /// The columns of the next `rows` rows.
    ///
    /// # Errors
    /// Unsupported where a row number does not fit 64 bits.
    pub(super) fn next(&mut self, columns: &[VirtualColumn], rows: usize) -> Result<Vec<ArrayRef>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = match columns.iter().any(VirtualColumn::is_row_number) {
            true => self.row_numbers(rows)?,
            false => Arc::new(Int64Array::from(Vec::<i64>::new())),
        };
        let array = |column: &VirtualColumn| match &column.kind {
            Kind::RowNumber => Ok(numbers.clone()),
            // A file cannot have that many.
            Kind::RowGroup => {
                let value: ArrayRef = Arc::new(Int64Array::from(vec![self.row_group as i64; rows]));
                Ok(value)
            }
            Kind::Constant(constant) => constant.array(rows),
        };
        columns.iter().map(array).collect()
    }

    fn row_numbers(&mut self, rows: usize) -> Result<ArrayRef> {
        let mut numbers: Vec<i64> = Vec::with_capacity(rows);
        while numbers.len() < rows {
            let run = match self.walk.run() {
                SelectionRun::Skip(run) => {
                    self.walk.advance(run);
                    continue;
                }
                SelectionRun::Take(run) => run.min(rows - numbers.len()),
                SelectionRun::Unknown | SelectionRun::Done => {
                    return Err(Error::argument("a batch has rows that nobody asked for"));
                }
            };
            let start = self.first_row.checked_add(self.walk.position());
            let end = start.and_then(|start| start.checked_add(run as u64));
            let range = start.zip(end).and_then(|(start, end)| {
                Some(i64::try_from(start).ok()?..i64::try_from(end).ok()?)
            });
            let range =
                range.ok_or_else(|| Error::unsupported("row numbers of more than 63 bits"))?;
            numbers.extend(range);
            self.walk.advance(run);
        }
        Ok(Arc::new(Int64Array::from(numbers)))
    }
}
