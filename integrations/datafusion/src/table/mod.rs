//! Tables whose partition columns may be null.
//!
//! The engine's `ListingTable` declares partition columns as not null, and casts directory names
//! while it lists them. So our table consists of two: the declared table, and a table of the same
//! files whose partition columns are text, which lists `__HIVE_DEFAULT_PARTITION__` like any other
//! name. We give the second table the filters on partition columns, with
//! `cast(nullif(k, '__HIVE_DEFAULT_PARTITION__') as …)` in place of `k`. Then we turn the listed
//! texts into values, and plan the scan with nullable columns.
//!
//! ```text
//! factory.rs: CREATE EXTERNAL TABLE ─┐
//! rule.rs: tables in queries ────────┴─► mod.rs: the table ─► scan.rs: plans ─► values.rs: names of directories
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{ScanArgs, ScanResult, Session, TableProvider};
use datafusion::datasource::listing::{ListingTable, ListingTableConfig};
use datafusion_common::{Constraints, DFSchemaRef, Result, Statistics};
use datafusion_expr::dml::{InsertOp, MergeIntoClause};
use datafusion_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableType};
use datafusion_physical_plan::ExecutionPlan;

use crate::format::HerringboneFormat;

mod factory;
mod rule;
mod scan;
mod values;

pub(crate) use factory::HerringboneTableFactory;
pub(crate) use rule::NullablePartitions;

/// A table of Parquet files whose rows in `k=__HIVE_DEFAULT_PARTITION__` have null in the partition
/// column `k`.
///
/// After [`register`](crate::register), `CREATE EXTERNAL TABLE` makes such tables. Queries also use
/// them in place of a [`ListingTable`] that has Herringbone files and partition columns.
#[derive(Debug)]
pub struct HerringboneTable {
    listing: ListingTable,
    partitions: Option<Partitions>,
}

/// The columns and files of a table that has partition columns.
#[derive(Debug)]
struct Partitions {
    /// The files' columns, then the partition columns.
    schema: SchemaRef,
    file_schema: SchemaRef,
    /// The partition columns, which are nullable.
    fields: Vec<FieldRef>,
    /// The table that lists the files, with partition columns of text.
    text: ListingTable,
}

impl HerringboneTable {
    /// Creates a table from the engine's table, or returns `None` if its files have another format.
    ///
    /// If a table has a declared partitioning or an expression adapter, the engine plans it,
    /// without nulls.
    ///
    /// # Errors
    /// Returns the errors of the engine's table.
    pub fn new(listing: &ListingTable) -> Result<Option<Self>> {
        let options = listing.options();
        if !options.format.is::<HerringboneFormat>() {
            return Ok(None);
        }
        let partitions = match options.table_partition_cols.as_slice() {
            [] => None,
            _ if is_of_engine(listing) => None,
            columns => Some(Partitions::new(listing, columns)?),
        };
        Ok(Some(Self {
            listing: listing.clone(),
            partitions,
        }))
    }

    /// Returns the engine's table.
    #[must_use]
    pub fn listing(&self) -> &ListingTable {
        &self.listing
    }
}

/// Returns our table in place of the engine's, if this makes partition columns nullable.
fn with_nulls(table: &dyn TableProvider) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some(listing) = table.downcast_ref::<ListingTable>() else {
        return Ok(None);
    };
    let table = HerringboneTable::new(listing)?.filter(|table| table.partitions.is_some());
    Ok(table.map(|table| Arc::new(table) as Arc<dyn TableProvider>))
}

/// Returns true if a table has a part that only the engine's own scan can use.
fn is_of_engine(listing: &ListingTable) -> bool {
    // We look at the table's text, because the table has no function that returns its adapter.
    listing.options().output_partitioning.is_some()
        || format!("{listing:?}").contains("expr_adapter_factory: Some(")
}

impl Partitions {
    fn new(listing: &ListingTable, columns: &[(String, DataType)]) -> Result<Self> {
        let declared = listing.schema();
        let in_files = declared.fields().len().saturating_sub(columns.len());
        let mut fields: Vec<FieldRef> = declared.fields().iter().take(in_files).cloned().collect();
        let metadata = declared.metadata().clone();
        let file_schema = Arc::new(Schema::new_with_metadata(fields.clone(), metadata.clone()));
        let nullable = |(name, of): &(String, DataType)| Field::new(name, of.clone(), true).into();
        let partitions: Vec<FieldRef> = columns.iter().map(nullable).collect();
        fields.extend(partitions.iter().cloned());
        let as_text = |(name, _): &(String, DataType)| (name.clone(), DataType::Utf8);
        let options = listing
            .options()
            .clone()
            .with_table_partition_cols(columns.iter().map(as_text).collect());
        let text = ListingTableConfig::new_with_multi_paths(listing.table_paths().clone())
            .with_listing_options(options)
            .with_schema(file_schema.clone());
        Ok(Self {
            schema: Arc::new(Schema::new_with_metadata(fields, metadata)),
            file_schema,
            fields: partitions,
            text: ListingTable::try_new(text)?,
        })
    }
}

/// The engine's table answers all calls that do not concern partition columns.
#[async_trait]
impl TableProvider for HerringboneTable {
    fn schema(&self) -> SchemaRef {
        match &self.partitions {
            Some(partitions) => partitions.schema.clone(),
            None => self.listing.schema(),
        }
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.listing.constraints()
    }

    fn table_type(&self) -> TableType {
        self.listing.table_type()
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.listing.get_table_definition()
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        self.listing.get_logical_plan()
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.listing.get_column_default(column)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let args = ScanArgs::default()
            .with_projection(projection.map(Vec::as_slice))
            .with_filters(Some(filters))
            .with_limit(limit);
        Ok(self.scan_with_args(state, args).await?.into_inner())
    }

    async fn scan_with_args<'a>(
        &self,
        state: &dyn Session,
        args: ScanArgs<'a>,
    ) -> Result<ScanResult> {
        match &self.partitions {
            Some(partitions) => {
                let plan = partitions.scan(&self.listing, state, &args).await?;
                Ok(ScanResult::new(plan))
            }
            None => self.listing.scan_with_args(state, args).await,
        }
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.listing.supports_filters_pushdown(filters)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.listing.statistics()
    }

    async fn insert_into(
        &self,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match &self.partitions {
            Some(partitions) => {
                let listing = &self.listing;
                partitions.insert(listing, state, input, insert_op).await
            }
            None => self.listing.insert_into(state, input, insert_op).await,
        }
    }

    async fn delete_from(
        &self,
        state: &dyn Session,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.listing.delete_from(state, filters).await
    }

    async fn update(
        &self,
        state: &dyn Session,
        assignments: Vec<(String, Expr)>,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.listing.update(state, assignments, filters).await
    }

    async fn truncate(&self, state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        self.listing.truncate(state).await
    }

    async fn merge_into(
        &self,
        state: &dyn Session,
        source: Arc<dyn ExecutionPlan>,
        merge_schema: DFSchemaRef,
        on: Expr,
        clauses: Vec<MergeIntoClause>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = &self.listing;
        table
            .merge_into(state, source, merge_schema, on, clauses)
            .await
    }
}
