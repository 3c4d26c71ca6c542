//! The parts of a source that are sent to other machines.

use std::sync::Arc;

use datafusion_common::config::TableParquetOptions;
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;

use super::{HerringboneSource, ReadOrder};
use crate::encryption::TableKeys;

/// The parts of a query that were pushed down into a scan, except for its projection.
pub(crate) struct Pushed {
    pub(crate) predicate: Option<Arc<dyn PhysicalExpr>>,
    pub(crate) evaluates: bool,
    pub(crate) order: Option<ReadOrder>,
    pub(crate) batch_size: Option<usize>,
}

impl HerringboneSource {
    /// Returns the table options and keys.
    pub(crate) fn format(&self) -> (&TableParquetOptions, &TableKeys) {
        (&self.options, &self.keys)
    }

    pub(crate) fn pushed(&self) -> Pushed {
        Pushed {
            predicate: self.predicate.clone(),
            evaluates: self.evaluates,
            order: self.order.clone(),
            batch_size: self.batch_size,
        }
    }

    pub(crate) fn with_pushed(self, pushed: Pushed) -> Self {
        let Pushed {
            predicate,
            evaluates,
            order,
            batch_size,
        } = pushed;
        Self {
            predicate,
            evaluates,
            order,
            batch_size,
            ..self
        }
    }
}
