//! Bounds and counts of a file's columns, by row group and in the table's types.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, BooleanArray, Float32Array, Float64Array, UInt64Array};
use arrow::compute::{is_not_null, nullif};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion_common::pruning::PruningStatistics;
use datafusion_common::{Column, Result, ScalarValue};
use herringbone::pruning::ColumnBounds;
use herringbone::{MetadataHandle, ReadOptions, ReadPlan, SchemaOptions};

use crate::error::from_library;
use crate::file_schema::wanted_schema;

/// The bounds of a file's columns, each of them decoded when it is first needed.
#[derive(Debug)]
pub(crate) struct FileBounds {
    handle: MetadataHandle,
    plan: ReadPlan,
    by_name: HashMap<String, usize>,
    /// The slots that row groups have in the arrays, by their ordinals. Row groups without rows
    /// have no slot.
    slots: HashMap<usize, usize>,
    columns: Vec<OnceLock<Option<ColumnBounds>>>,
}

impl FileBounds {
    /// Creates the bounds for the columns of `schema`, which is the schema that the file is read
    /// with.
    ///
    /// # Errors
    /// Fails for the same reasons as [`MetadataHandle::plan`].
    pub(crate) fn new(
        handle: &MetadataHandle,
        options: &SchemaOptions,
        schema: &SchemaRef,
    ) -> Result<Arc<Self>> {
        let read = ReadOptions::new()
            .schema(options.clone())
            .wanted_schema(wanted_schema(schema.clone()));
        let plan = handle.plan(&read).map_err(from_library)?;
        let names = schema.fields().iter().map(|field| field.name().clone());
        Ok(Arc::new(Self {
            by_name: names.zip(0..).collect(),
            slots: plan
                .row_groups()
                .iter()
                .map(|row_group| row_group.ordinal())
                .zip(0..)
                .collect(),
            columns: schema.fields().iter().map(|_| OnceLock::new()).collect(),
            handle: handle.clone(),
            plan,
        }))
    }

    /// Returns the number of row groups that have rows.
    pub(crate) fn num_row_groups(&self) -> usize {
        self.slots.len()
    }

    /// Returns the slot of the row group with this ordinal.
    pub(crate) fn slot(&self, row_group: usize) -> Option<usize> {
        self.slots.get(&row_group).copied()
    }

    /// Returns the file's leaf that a column is read from, unless the column is nested.
    pub(crate) fn leaf(&self, name: &str) -> Option<usize> {
        self.plan.leaf_of_column(*self.by_name.get(name)?)
    }

    /// Returns the path of the leaf that a column is read from, unless the column is nested.
    pub(crate) fn leaf_path(&self, name: &str) -> Option<Vec<String>> {
        let path = self.handle.parquet_schema().path(self.leaf(name)?);
        Some(path.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Returns a column's bounds and counts, with one [slot](Self::slot) per row group. Returns
    /// `None` for nested columns. If the column metadata cannot be used, this also returns `None`,
    /// because the read itself will report that.
    pub(crate) fn column(&self, name: &str) -> Option<&ColumnBounds> {
        let column = *self.by_name.get(name)?;
        let cell = self.columns.get(column)?;
        let bounds = cell.get_or_init(|| {
            self.plan.leaf_of_column(column)?;
            self.plan.row_group_bounds(column).ok().map(without_nan)
        });
        bounds.as_ref()
    }
}

/// Removes those bounds of floating-point numbers that may not cover all values. Bounds never cover
/// NaN, which the engine orders below or above all numbers. Files treat zeros of both signs as
/// equal, while the engine treats them as two values.
pub(crate) fn without_nan(bounds: ColumnBounds) -> ColumnBounds {
    let mut bounds = bounds;
    let data_type = bounds.min.data_type().clone();
    if !matches!(
        data_type,
        DataType::Float16 | DataType::Float32 | DataType::Float64
    ) {
        return bounds;
    }
    // Without a count, there may be NaNs.
    let may_have_nan =
        |slot: usize| bounds.nan_counts.is_null(slot) || bounds.nan_counts.value(slot) > 0;
    let lacks: BooleanArray = (0..bounds.nan_counts.len())
        .map(|i| Some(may_have_nan(i)))
        .collect();
    for bound in [&mut bounds.min, &mut bounds.max] {
        // We drop all bounds of Float16, because it has no arithmetic here, and its bounds are not
        // needed often enough.
        *bound = match (nullif(bound.as_ref(), &lacks), &data_type) {
            (Ok(bound), DataType::Float32 | DataType::Float64) => bound,
            _ => arrow::array::new_null_array(&data_type, bound.len()),
        };
    }
    bounds.min = with_zero(&bounds.min, -0.0);
    bounds.max = with_zero(&bounds.max, 0.0);
    bounds
}

/// Replaces zeros of either sign by `zero`.
fn with_zero(bound: &ArrayRef, zero: f64) -> ArrayRef {
    if let Some(bound) = bound.as_any().downcast_ref::<Float64Array>() {
        let signed = |it: f64| if it == 0.0 { zero } else { it };
        return Arc::new(bound.unary::<_, arrow::datatypes::Float64Type>(signed));
    }
    if let Some(bound) = bound.as_any().downcast_ref::<Float32Array>() {
        let signed = |it: f32| if it == 0.0 { zero as f32 } else { it };
        return Arc::new(bound.unary::<_, arrow::datatypes::Float32Type>(signed));
    }
    bound.clone()
}

/// One row group's statistics, for predicates of the engine.
#[derive(Debug)]
pub(crate) struct RowGroupStatistics<'a> {
    pub(crate) bounds: &'a FileBounds,
    pub(crate) slot: usize,
}

impl RowGroupStatistics<'_> {
    fn slice(&self, column: &Column, of: impl Fn(&ColumnBounds) -> ArrayRef) -> Option<ArrayRef> {
        let bounds = self.bounds.column(column.name())?;
        let array = of(bounds);
        (self.slot < array.len()).then(|| array.slice(self.slot, 1))
    }
}

impl PruningStatistics for RowGroupStatistics<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.slice(column, |bounds| bounds.min.clone())
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.slice(column, |bounds| bounds.max.clone())
    }

    fn num_containers(&self) -> usize {
        1
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.slice(column, |bounds| Arc::new(bounds.null_counts.clone()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let row_group = self.bounds.plan.row_groups().get(self.slot)?.ordinal();
        let header = self
            .bounds
            .plan
            .metadata()
            .row_group_header(row_group)
            .ok()?;
        let rows = u64::try_from(header.num_rows).ok()?;
        Some(Arc::new(UInt64Array::from(vec![rows])))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

/// The page statistics of one column, for predicates of the engine, which know nothing about other
/// columns.
#[derive(Debug)]
pub(crate) struct PageStatistics<'a> {
    pub(crate) column: &'a str,
    /// The bounds, [without NaN](without_nan).
    pub(crate) pages: &'a ColumnBounds,
}

impl PageStatistics<'_> {
    fn of(&self, column: &Column, array: &dyn Fn(&ColumnBounds) -> ArrayRef) -> Option<ArrayRef> {
        (column.name() == self.column).then(|| array(self.pages))
    }
}

impl PruningStatistics for PageStatistics<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.of(column, &|pages| pages.min.clone())
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.of(column, &|pages| pages.max.clone())
    }

    fn num_containers(&self) -> usize {
        self.pages.row_counts.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.of(column, &|pages| Arc::new(pages.null_counts.clone()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(self.pages.row_counts.clone()))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}

/// Returns true if both bounds have a value in all slots, except in row groups that only have
/// nulls.
pub(crate) fn is_complete(bounds: &ColumnBounds) -> bool {
    let has = |array: &ArrayRef| is_not_null(array.as_ref()).ok();
    let (Some(min), Some(max)) = (has(&bounds.min), has(&bounds.max)) else {
        return false;
    };
    (0..bounds.row_counts.len()).all(|i| (min.value(i) && max.value(i)) || is_all_null(bounds, i))
}

/// Returns true if we know that a row group has no value in the column.
pub(crate) fn is_all_null(bounds: &ColumnBounds, row_group: usize) -> bool {
    bounds.null_counts.is_valid(row_group)
        && bounds.null_counts.value(row_group) == bounds.row_counts.value(row_group)
}
