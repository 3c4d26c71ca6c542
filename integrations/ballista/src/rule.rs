//! The rule that allows a client to send its plans to a scheduler.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::config::ConfigOptions;
use datafusion::datasource::file_format::{file_type_to_format, format_as_file_type};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::dml::CopyTo;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::optimizer::AnalyzerRule;
use herringbone_datafusion::{HerringboneFormatFactory, HerringboneTable};

/// Wraps Herringbone's tables in a plan and moves the options of `COPY` into its format. We need
/// both because the engine refuses to send foreign listing tables, and drops the options. Add the
/// rule after [`register`](herringbone_datafusion::register), whose own rule makes partition
/// columns nullable.
#[derive(Debug, Default)]
pub struct WrapTables;

impl AnalyzerRule for WrapTables {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::TableScan(mut scan) => Ok(match wrapped(&scan.source)? {
                Some(source) => {
                    scan.source = source;
                    Transformed::yes(LogicalPlan::TableScan(scan))
                }
                None => Transformed::no(LogicalPlan::TableScan(scan)),
            }),
            LogicalPlan::Dml(mut statement) => Ok(match wrapped(&statement.target)? {
                Some(target) => {
                    statement.target = target;
                    Transformed::yes(LogicalPlan::Dml(statement))
                }
                None => Transformed::no(LogicalPlan::Dml(statement)),
            }),
            LogicalPlan::Copy(copy) => with_options(copy),
            other => Ok(Transformed::no(other)),
        });
        plan.map(|plan| plan.data)
    }

    fn name(&self) -> &str {
        "wrap_herringbone_tables"
    }
}

/// Returns the wrapped source for a table, if it is Herringbone's.
fn wrapped(source: &Arc<dyn TableSource>) -> Result<Option<Arc<dyn TableSource>>> {
    let Ok(provider) = source_as_provider(source) else {
        return Ok(None);
    };
    let Some(listing) = provider.downcast_ref::<ListingTable>() else {
        return Ok(None);
    };
    let table = HerringboneTable::new(listing)?;
    Ok(table.map(|table| provider_as_source(Arc::new(table))))
}

fn with_options(mut copy: CopyTo) -> Result<Transformed<LogicalPlan>> {
    let factory = file_type_to_format(&copy.file_type)?;
    let factory = factory.downcast_ref::<HerringboneFormatFactory>();
    let (Some(factory), false) = (factory, copy.options.is_empty()) else {
        return Ok(Transformed::no(LogicalPlan::Copy(copy)));
    };
    let options: HashMap<_, _> = std::mem::take(&mut copy.options);
    let factory = factory.clone().with_options(options);
    copy.file_type = format_as_file_type(Arc::new(factory));
    Ok(Transformed::yes(LogicalPlan::Copy(copy)))
}
