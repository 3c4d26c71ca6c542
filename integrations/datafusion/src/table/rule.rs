//! The rule for tables that `CREATE EXTERNAL TABLE` did not make.

use std::sync::Arc;

use arrow::datatypes::Field;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::optimizer::AnalyzerRule;
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion_common::{DFSchema, Result};
use datafusion_expr::logical_plan::{TableScan, TableScanBuilder, Union};
use datafusion_expr::{LogicalPlan, TableSource};

use super::with_nulls;

/// A rule that replaces the engine's tables of Herringbone files by tables with nulls in partition
/// columns. Such tables come from paths in queries, and from programs.
#[derive(Debug)]
pub(crate) struct NullablePartitions;

impl NullablePartitions {
    pub(crate) const NAME: &str = "nullable_partition_columns";
}

impl AnalyzerRule for NullablePartitions {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let mut is_needed = false;
        plan.apply_with_subqueries(|node| {
            is_needed |= match node {
                LogicalPlan::TableScan(scan) => replaced(&scan.source)?.is_some(),
                LogicalPlan::Dml(statement) => replaced(&statement.target)?.is_some(),
                _ => false,
            };
            Ok(match is_needed {
                true => TreeNodeRecursion::Stop,
                false => TreeNodeRecursion::Continue,
            })
        })?;
        if !is_needed {
            return Ok(plan);
        }
        let plan = plan.transform_up_with_subqueries(|node| {
            let node = match node {
                LogicalPlan::TableScan(scan) => LogicalPlan::TableScan(scanned(scan)?),
                LogicalPlan::Dml(mut statement) => {
                    if let Some(target) = replaced(&statement.target)? {
                        statement.target = target;
                    }
                    LogicalPlan::Dml(statement)
                }
                // We recompute the schema, because the columns below may have become nullable.
                LogicalPlan::Union(union) => LogicalPlan::Union(nullable(union)?),
                other => other.recompute_schema()?,
            };
            Ok(Transformed::yes(node))
        });
        plan.map(|plan| plan.data)
    }

    fn name(&self) -> &str {
        Self::NAME
    }
}

fn replaced(source: &Arc<dyn TableSource>) -> Result<Option<Arc<dyn TableSource>>> {
    let Ok(provider) = source_as_provider(source) else {
        return Ok(None);
    };
    Ok(with_nulls(provider.as_ref())?.map(provider_as_source))
}

fn scanned(scan: TableScan) -> Result<TableScan> {
    let Some(source) = replaced(&scan.source)? else {
        return Ok(scan);
    };
    TableScanBuilder::new(scan.table_name, source)
        .with_projection(scan.projection)
        .with_filters(scan.filters)
        .with_fetch(scan.fetch)
        .with_statistics_requests(scan.statistics_requests)
        .build()
}

/// Makes a union's columns nullable if an input's are. We do this ourselves, because the engine
/// keeps the union's schema with all of its columns.
fn nullable(union: Union) -> Result<Union> {
    let mut columns = Vec::new();
    for (at, (table, field)) in union.schema.iter().enumerate() {
        let mut inputs = union.inputs.iter().map(|input| input.schema().fields());
        let is_nullable = inputs.any(|of| of.get(at).is_some_and(|field| field.is_nullable()));
        let field = Field::clone(field).with_nullable(field.is_nullable() || is_nullable);
        columns.push((table.cloned(), Arc::new(field)));
    }
    let schema = DFSchema::new_with_metadata(columns, union.schema.metadata().clone())?;
    let schema = Arc::new(schema);
    Ok(Union { schema, ..union })
}
