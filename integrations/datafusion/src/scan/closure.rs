//! Engine expressions that the library calls for rows, and asks for verdicts on row groups.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion_common::cast::as_boolean_array;
use datafusion_common::pruning::PruningStatistics;
use datafusion_common::{DataFusionError, Result};
use datafusion_physical_expr::expressions::{DynamicFilterPhysicalExpr, DynamicFilterTracking};
use datafusion_physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion_physical_expr_common::physical_expr::{
    PhysicalExpr, snapshot_generation, snapshot_physical_expr,
};
use datafusion_pruning::{PruningPredicate, PruningPredicateBuilder};
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, Verdict};
use herringbone::format::FileMetadata;
use herringbone::pruning::ColumnBounds;
use herringbone::schema::ParquetSchema;

use super::gain::Gain;
use super::metrics::FileMetrics;
use crate::bounds::{FileBounds, PageStatistics, RowGroupStatistics, without_nan};

/// An engine filter over the columns of one file.
pub(crate) struct Closure {
    expr: Arc<dyn PhysicalExpr>,
    /// The schema that the file is read with.
    schema: SchemaRef,
    /// A weaker predicate, which the library uses to rule out data.
    implied: Option<Predicate>,
    /// False if the scan does not test rows, because an operator of the engine does.
    evaluates: bool,
    bounds: Option<Arc<FileBounds>>,
    /// The columns whose pages a changing filter may rule out, each with its leaf's path.
    page_columns: Vec<(String, Vec<String>)>,
    max_in_list_size: usize,
    pruning: Mutex<Pruning>,
    metrics: FileMetrics,
}

/// The predicate on statistics, made from the expression's current value.
struct Pruning {
    tracking: DynamicFilterTracking,
    predicate: Option<PruningPredicate>,
    is_made: bool,
    /// True if a dynamic filter has changed since it was first used.
    has_changed: bool,
}

/// The parts of a scan that its closures need.
#[derive(Clone, Copy)]
pub(crate) struct ClosureContext<'a> {
    pub(crate) schema: &'a SchemaRef,
    /// The file schema as it is stored.
    pub(crate) stored: &'a SchemaRef,
    /// The file's bounds, or `None` if statistics must not be used.
    pub(crate) bounds: Option<&'a Arc<FileBounds>>,
    pub(crate) evaluates: bool,
    pub(crate) max_in_list_size: usize,
    pub(crate) metrics: &'a FileMetrics,
}

impl Closure {
    /// Creates the filter.
    pub(crate) fn new(
        expr: Arc<dyn PhysicalExpr>,
        implied: Option<Predicate>,
        context: &ClosureContext<'_>,
    ) -> Self {
        let pruning = Pruning {
            tracking: DynamicFilterTracking::classify(&expr),
            predicate: None,
            is_made: false,
            has_changed: false,
        };
        // The library rules out pages by the implied predicate, which has the filter's value at the
        // time when the file is opened. So only dynamic filters need these columns.
        let page_columns = match context.bounds {
            Some(bounds) if pruning.tracking.contains_dynamic_filter() => names(&expr)
                .into_iter()
                .filter_map(|name| bounds.leaf_path(&name).map(|path| (name, path)))
                .collect(),
            _ => Vec::new(),
        };
        Self {
            evaluates: context.evaluates && !separates_zeros(&expr, context.schema),
            expr,
            schema: context.schema.clone(),
            implied,
            page_columns,
            bounds: context.bounds.cloned(),
            max_in_list_size: context.max_in_list_size,
            pruning: Mutex::new(pruning),
            metrics: context.metrics.clone(),
        }
    }

    /// Returns false for each container whose statistics show that no row is selected, or `None` if
    /// nothing is known.
    fn kept(&self, statistics: &impl PruningStatistics) -> Result<Option<Vec<bool>>> {
        let mut pruning = self.pruning.lock().unwrap_or_else(PoisonError::into_inner);
        let has_changed = pruning
            .tracking
            .watcher()
            .is_some_and(|watcher| watcher.changed());
        if has_changed || !pruning.is_made {
            pruning.has_changed |= pruning.is_made;
            pruning.is_made = true;
            pruning.predicate = self.pruning_predicate()?;
        }
        let predicate = pruning.predicate.as_ref();
        predicate
            .map(|predicate| predicate.prune(statistics))
            .transpose()
    }

    /// Returns true if the statistics show that no row of a row group is selected.
    fn is_ruled_out(&self, bounds: &FileBounds, row_group: usize) -> Result<bool> {
        let Some(slot) = bounds.slot(row_group) else {
            return Ok(false);
        };
        let kept = self.kept(&RowGroupStatistics { bounds, slot })?;
        let is_ruled_out = kept.is_some_and(|kept| kept.first() == Some(&false));
        if is_ruled_out && self.has_changed() {
            self.metrics.dynamic_filter.add(1);
        }
        Ok(is_ruled_out)
    }

    /// Returns true if the predicate on statistics has changed since the start of the read.
    fn has_changed(&self) -> bool {
        let pruning = self.pruning.lock().unwrap_or_else(PoisonError::into_inner);
        pruning.has_changed
    }

    fn pruning_predicate(&self) -> Result<Option<PruningPredicate>> {
        let now = snapshot_physical_expr(self.expr.clone())?;
        PruningPredicateBuilder::new()
            .with_file_schema(self.schema.clone())
            .with_error_counter(&self.metrics.evaluation_errors)
            .with_max_in_list_size(self.max_in_list_size)
            .try_build(now)
            .map(|it| Some(it).filter(|it| !it.always_true()))
    }
}

impl fmt::Debug for Closure {
    /// Formats only the name, because a filter's values may not be known yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}

impl RowPredicate for Closure {
    fn columns(&self) -> Vec<Vec<String>> {
        if !self.evaluates {
            return Vec::new();
        }
        let names = names(&self.expr).into_iter();
        names.map(|name| vec![name]).collect()
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        if !self.evaluates {
            return Ok(Box::new(|batch| {
                Ok(BooleanArray::from(vec![true; batch.num_rows()]))
            }));
        }
        let expr = reassign_expr_columns(self.expr.clone(), columns)?;
        let time = self.metrics.row_evaluation_time.clone();
        if expr.downcast_ref::<DynamicFilterPhysicalExpr>().is_none() {
            return Ok(Box::new(move |batch| {
                let _timer = time.timer();
                evaluate(expr.as_ref(), batch).map_err(RowError::from)
            }));
        }
        // The operator that made a dynamic filter tests the rows itself, so the scan is free to
        // leave the test out.
        let gain = Mutex::new(Gain::default());
        Ok(Box::new(move |batch| {
            let _timer = time.timer();
            let mut gain = gain.lock().unwrap_or_else(PoisonError::into_inner);
            if !gain.is_worth_testing(snapshot_generation(&expr)) {
                return Ok(BooleanArray::from(vec![true; batch.num_rows()]));
            }
            let selected = evaluate(expr.as_ref(), batch)?;
            gain.add(selected.len(), selected.true_count());
            Ok(selected)
        }))
    }

    fn knows_file(&self) -> bool {
        true
    }

    fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(self.implied.clone())
    }

    fn page_columns(&self) -> Vec<Vec<String>> {
        let paths = self.page_columns.iter();
        paths.map(|(_, path)| path.clone()).collect()
    }

    fn verdicts_of_pages(
        &self,
        column: usize,
        pages: &ColumnBounds,
    ) -> Result<Vec<Verdict>, RowError> {
        let unknown = vec![Verdict::Some; pages.row_counts.len()];
        let Some((name, _)) = self.page_columns.get(column) else {
            return Ok(unknown);
        };
        let field = self.schema.field_with_name(name)?;
        let Some(pages) = in_type(pages, field.data_type()).map(without_nan) else {
            return Ok(unknown);
        };
        let statistics = PageStatistics {
            column: name,
            pages: &pages,
        };
        let verdict = |kept| match kept {
            true => Verdict::Some,
            false => Verdict::None,
        };
        match self.kept(&statistics) {
            Ok(Some(kept)) => Ok(kept.into_iter().map(verdict).collect()),
            Ok(None) => Ok(unknown),
            Err(_) => {
                self.metrics.evaluation_errors.add(1);
                Ok(unknown)
            }
        }
    }

    fn verdict(&self, _: &FileMetadata, row_group: usize) -> Result<Verdict, RowError> {
        let Some(bounds) = &self.bounds else {
            return Ok(Verdict::Some);
        };
        match self.is_ruled_out(bounds, row_group) {
            Ok(true) => Ok(Verdict::None),
            Ok(false) => Ok(Verdict::Some),
            Err(_) => {
                // This is harmless, because statistics only save work, and the rows are tested in
                // any case.
                self.metrics.evaluation_errors.add(1);
                Ok(Verdict::Some)
            }
        }
    }
}

/// Returns true if an expression is a dynamic filter over floating-point numbers. Such a filter
/// distinguishes zeros by their sign, while the join that made it does not and tests the rows
/// itself.
fn separates_zeros(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> bool {
    let is_float = |key: &&Arc<dyn PhysicalExpr>| {
        let data_type = key.data_type(schema);
        data_type.is_ok_and(|data_type| data_type.is_floating())
    };
    expr.downcast_ref::<DynamicFilterPhysicalExpr>().is_some()
        && expr.children().iter().any(is_float)
}

/// Returns the names of an expression's columns.
fn names(expr: &Arc<dyn PhysicalExpr>) -> Vec<String> {
    let columns = collect_columns(expr).into_iter();
    let mut names: Vec<_> = columns.map(|column| column.name().to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Converts bounds from a file's type to the type in which the scan reads the column. Returns
/// `None` unless the types are equal, or only differ in the layout of text or bytes.
fn in_type(bounds: &ColumnBounds, data_type: &DataType) -> Option<ColumnBounds> {
    let is_text = |it: &DataType| {
        matches!(
            it,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        )
    };
    let is_bytes = |it: &DataType| {
        matches!(
            it,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView
        )
    };
    let from = bounds.min.data_type();
    let is_layout = |of: &dyn Fn(&DataType) -> bool| of(from) && of(data_type);
    let is_same = from == data_type || is_layout(&is_text) || is_layout(&is_bytes);
    is_same.then_some(())?;
    let mut bounds = bounds.clone();
    bounds.min = cast(&bounds.min, data_type).ok()?;
    bounds.max = cast(&bounds.max, data_type).ok()?;
    Some(bounds)
}

fn evaluate(expr: &dyn PhysicalExpr, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
    let array = expr.evaluate(batch)?.into_array(batch.num_rows())?;
    match array.data_type() {
        DataType::Null => Ok(BooleanArray::new_null(array.len())),
        _ => as_boolean_array(&array).cloned(),
    }
}
