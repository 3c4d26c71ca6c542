//! Parts of a source for other machines.

use std::sync::Arc;

use datafusion_common::config::TableParquetOptions;
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;

use super::{HerringboneSource, ReadOrder};
use crate::encryption::TableKeys;

/// The parts of a query pushed down into a scan, apart from its projection.
pub(crate) struct Pushed {
    pub(crate) predicate: Option<Arc<dyn PhysicalExpr>>,
    pub(crate) evaluates: bool,
    pub(crate) order: Option<ReadOrder>,
    pub(crate) batch_size: Option<usize>,
}

impl HerringboneSource {
    /// Returns the options and keys of the table.
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
