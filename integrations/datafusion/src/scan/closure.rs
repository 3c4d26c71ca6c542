//! Expressions of the engine that the library calls for rows, and asks for verdicts on row groups.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion_common::cast::as_boolean_array;
use datafusion_common::{DataFusionError, Result};
use datafusion_physical_expr::expressions::DynamicFilterTracking;
use datafusion_physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion_physical_expr_common::physical_expr::{PhysicalExpr, snapshot_physical_expr};
use datafusion_pruning::{PruningPredicate, PruningPredicateBuilder};
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, Verdict};
use herringbone::format::FileMetadata;
use herringbone::schema::ParquetSchema;

use super::metrics::FileMetrics;
use crate::bounds::{FileBounds, RowGroupStatistics};

/// A filter of the engine over the columns of one file.
pub(crate) struct Closure {
    expr: Arc<dyn PhysicalExpr>,
    /// The schema that the file is read with.
    schema: SchemaRef,
    /// A weaker predicate, which rules out data.
    implied: Option<Predicate>,
    /// False if rows are not tested, because the engine does that.
    evaluates: bool,
    bounds: Option<Arc<FileBounds>>,
    max_in_list_size: usize,
    pruning: Mutex<Pruning>,
    metrics: FileMetrics,
}

/// The predicate on statistics, made from the current value of the expression.
struct Pruning {
    tracking: DynamicFilterTracking,
    predicate: Option<PruningPredicate>,
    is_made: bool,
}

/// The parts of a scan that its closures need.
pub(crate) struct ClosureContext<'a> {
    pub(crate) schema: &'a SchemaRef,
    /// The bounds of the file, or `None` if statistics must not be used.
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
        };
        Self {
            expr,
            schema: context.schema.clone(),
            implied,
            evaluates: context.evaluates,
            bounds: context.bounds.cloned(),
            max_in_list_size: context.max_in_list_size,
            pruning: Mutex::new(pruning),
            metrics: context.metrics.clone(),
        }
    }

    /// Returns true if statistics show that no row of a row group is selected.
    fn is_ruled_out(&self, bounds: &FileBounds, row_group: usize) -> Result<bool> {
        let _timer = self.metrics.statistics_time.timer();
        let mut pruning = self.pruning.lock().unwrap_or_else(PoisonError::into_inner);
        let has_changed = pruning.tracking.watcher().is_some_and(|it| it.changed());
        if has_changed || !pruning.is_made {
            pruning.is_made = true;
            pruning.predicate = self.pruning_predicate()?;
        }
        let Some(predicate) = &pruning.predicate else {
            return Ok(false);
        };
        let Some(slot) = bounds.slot(row_group) else {
            return Ok(false);
        };
        let statistics = RowGroupStatistics { bounds, slot };
        let kept = predicate.prune(&statistics)?;
        let is_ruled_out = kept.first() == Some(&false);
        if is_ruled_out && pruning.tracking.contains_dynamic_filter() {
            self.metrics.dynamic_filter.add(1);
        }
        Ok(is_ruled_out)
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
    /// Formats the name alone: values of a filter may not be known yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}

impl RowPredicate for Closure {
    fn columns(&self) -> Vec<Vec<String>> {
        if !self.evaluates {
            return Vec::new();
        }
        let mut names: Vec<_> = collect_columns(&self.expr)
            .into_iter()
            .map(|it| it.name().to_owned())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| vec![name]).collect()
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        if !self.evaluates {
            return Ok(Box::new(|batch| {
                Ok(BooleanArray::from(vec![true; batch.num_rows()]))
            }));
        }
        let expr = reassign_expr_columns(self.expr.clone(), columns)?;
        let time = self.metrics.row_evaluation_time.clone();
        Ok(Box::new(move |batch| {
            let _timer = time.timer();
            evaluate(expr.as_ref(), batch).map_err(RowError::from)
        }))
    }

    fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(self.implied.clone())
    }

    fn verdict(&self, _: &FileMetadata, row_group: usize) -> Result<Verdict, RowError> {
        let Some(bounds) = &self.bounds else {
            return Ok(Verdict::Some);
        };
        match self.is_ruled_out(bounds, row_group) {
            Ok(true) => Ok(Verdict::None),
            Ok(false) => Ok(Verdict::Some),
            Err(_) => {
                // Statistics only save work. The rows are tested in any case.
                self.metrics.evaluation_errors.add(1);
                Ok(Verdict::Some)
            }
        }
    }
}

fn evaluate(expr: &dyn PhysicalExpr, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
    let array = expr.evaluate(batch)?.into_array(batch.num_rows())?;
    match array.data_type() {
        DataType::Null => Ok(BooleanArray::new_null(array.len())),
        _ => as_boolean_array(&array).cloned(),
    }
}
