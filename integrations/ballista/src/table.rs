//! Tables of Herringbone, in a form that other machines can be sent.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::{ScanArgs, ScanResult, Session, TableProvider};
use datafusion::common::{
    Constraint, Constraints, DFSchemaRef, Result, Statistics, exec_datafusion_err, exec_err,
    not_impl_err,
};
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::dml::{InsertOp, MergeIntoClause};
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::logical_plan::from_proto::parse_sorts;
use datafusion_proto::logical_plan::to_proto::serialize_sorts;
use datafusion_proto::protobuf::{
    ArrowType, ListingTableScanNode, PartitionColumn, SortExprNodeCollection,
};
use herringbone_datafusion::{HerringboneCodec, HerringboneFormat};
use prost::Message;

/// A listing table of Herringbone files. Only the engine's own formats can be sent to other machines in listing tables,
/// so [`WrapTables`](crate::WrapTables) wraps those of Herringbone.
#[derive(Debug)]
pub struct HerringboneTable(ListingTable);

impl HerringboneTable {
    /// Wraps a table. Returns `None` if it is not a listing table of Herringbone files.
    #[must_use]
    pub fn wrap(table: &dyn TableProvider) -> Option<Self> {
        let table = table.downcast_ref::<ListingTable>()?;
        format_of(table).map(|_| Self(table.clone()))
    }
}

fn format_of(table: &ListingTable) -> Option<&HerringboneFormat> {
    table.options().format.downcast_ref::<HerringboneFormat>()
}

/// A table on the wire. Defaults of columns are not in it, because statements contain them once they are planned.
#[derive(Clone, PartialEq, Message)]
struct TableMessage {
    /// The paths, the schema of files, the partition columns, the extension and the declared orders.
    #[prost(message, optional, tag = "1")]
    listing: Option<ListingTableScanNode>,
    #[prost(bytes, tag = "2")]
    format: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    constraints: Vec<ConstraintMessage>,
    #[prost(string, optional, tag = "4")]
    definition: Option<String>,
}

/// A primary key, or columns whose values are unique.
#[derive(Clone, PartialEq, Message)]
struct ConstraintMessage {
    #[prost(bool, tag = "1")]
    is_primary_key: bool,
    #[prost(uint64, repeated, tag = "2")]
    columns: Vec<u64>,
}

/// Encodes a table.
///
/// # Errors
/// Not implemented if a part of the table has no form on the wire; the errors of formats and expressions.
pub(crate) fn encode(
    HerringboneTable(table): &HerringboneTable,
    codec: &HerringboneCodec,
    expressions: &dyn LogicalExtensionCodec,
) -> Result<Vec<u8>> {
    let options = table.options();
    // The table has no call that returns its adapter.
    if options.output_partitioning.is_some()
        || format!("{table:?}").contains("expr_adapter_factory: Some(")
    {
        return not_impl_err!(
            "a table with a declared partitioning or an expression adapter cannot be sent to other machines"
        );
    }
    let Some(format) = format_of(table) else {
        return exec_err!("the table has the format {:?}", options.format);
    };
    let schema = table.schema();
    let file_columns = schema.fields().len() - options.table_partition_cols.len();
    let fields: Vec<_> = schema.fields().iter().take(file_columns).cloned().collect();
    let schema = Schema::new(fields).with_metadata(schema.metadata().clone());
    let mut partition_columns = Vec::new();
    for (name, data_type) in &options.table_partition_cols {
        partition_columns.push(PartitionColumn {
            name: name.clone(),
            arrow_type: Some(ArrowType::try_from(data_type)?),
        });
    }
    let mut orders = Vec::new();
    for order in &options.file_sort_order {
        let sort_expr_nodes = serialize_sorts(order, expressions)?;
        orders.push(SortExprNodeCollection { sort_expr_nodes });
    }
    let message = TableMessage {
        listing: Some(ListingTableScanNode {
            paths: table
                .table_paths()
                .iter()
                .map(ToString::to_string)
                .collect(),
            file_extension: options.file_extension.clone(),
            schema: Some((&schema).try_into()?),
            table_partition_cols: partition_columns,
            file_sort_order: orders,
            ..ListingTableScanNode::default()
        }),
        format: codec.encode_format(format)?,
        constraints: table
            .constraints()
            .into_iter()
            .flat_map(|it| it.iter())
            .map(constraint_message)
            .collect(),
        definition: table.get_table_definition().map(str::to_owned),
    };
    Ok(message.encode_to_vec())
}

fn constraint_message(constraint: &Constraint) -> ConstraintMessage {
    let (is_primary_key, columns) = match constraint {
        Constraint::PrimaryKey(columns) => (true, columns),
        Constraint::Unique(columns) => (false, columns),
    };
    let columns = columns.iter().map(|column| *column as u64).collect();
    ConstraintMessage {
        is_primary_key,
        columns,
    }
}

/// Decodes a table. Its files are listed when it is scanned.
///
/// # Errors
/// Execution if the bytes are not a table; the errors of formats and expressions.
pub(crate) fn decode(
    bytes: &[u8],
    codec: &HerringboneCodec,
    expressions: &dyn LogicalExtensionCodec,
    context: &TaskContext,
) -> Result<HerringboneTable> {
    let message = TableMessage::decode(bytes);
    let message =
        message.map_err(|error| exec_datafusion_err!("the encoded table is damaged: {error}"))?;
    let missing = |part| exec_datafusion_err!("the encoded table has no {part}");
    let listing = message.listing.ok_or_else(|| missing("listing"))?;
    let schema = listing.schema.as_ref().ok_or_else(|| missing("schema"))?;
    let paths = listing.paths.iter().map(ListingTableUrl::parse);
    let paths = paths.collect::<Result<Vec<_>>>()?;
    let mut partition_columns = Vec::new();
    for column in &listing.table_partition_cols {
        let data_type = column
            .arrow_type
            .as_ref()
            .ok_or_else(|| missing("type of a column"))?;
        partition_columns.push((column.name.clone(), DataType::try_from(data_type)?));
    }
    let mut orders = Vec::new();
    for order in &listing.file_sort_order {
        orders.push(parse_sorts(&order.sort_expr_nodes, context, expressions)?);
    }
    let options = ListingOptions::new(Arc::new(codec.decode_format(&message.format)?))
        .with_file_extension(listing.file_extension)
        .with_table_partition_cols(partition_columns)
        .with_file_sort_order(orders);
    let config = ListingTableConfig::new_with_multi_paths(paths)
        .with_listing_options(options)
        .with_schema(Arc::new(Schema::try_from(schema)?));
    let statistics = context
        .runtime_env()
        .cache_manager
        .get_file_statistic_cache();
    let table = ListingTable::try_new(config)?;
    let columns = table.schema().fields().len();
    let constraints = message
        .constraints
        .into_iter()
        .map(|it| constraint(it, columns));
    Ok(HerringboneTable(
        table
            .with_cache(statistics)
            .with_constraints(Constraints::new_unverified(
                constraints.collect::<Result<_>>()?,
            ))
            .with_definition(message.definition),
    ))
}

fn constraint(message: ConstraintMessage, columns: usize) -> Result<Constraint> {
    let mut constrained = Vec::new();
    for column in message.columns {
        match usize::try_from(column) {
            Ok(column) if column < columns => constrained.push(column),
            _ => {
                return exec_err!(
                    "the encoded table has a constraint on column {column}, and {columns} columns"
                );
            }
        }
    }
    Ok(match message.is_primary_key {
        true => Constraint::PrimaryKey(constrained),
        false => Constraint::Unique(constrained),
    })
}

/// All calls are those of the listing table.
#[async_trait]
impl TableProvider for HerringboneTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.0.constraints()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.0.get_table_definition()
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        self.0.get_logical_plan()
    }

    fn get_column_default(&self, column: &str) -> Option<&Expr> {
        self.0.get_column_default(column)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.scan(state, projection, filters, limit).await
    }

    async fn scan_with_args<'a>(
        &self,
        state: &dyn Session,
        args: ScanArgs<'a>,
    ) -> Result<ScanResult> {
        self.0.scan_with_args(state, args).await
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.0.supports_filters_pushdown(filters)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.0.statistics()
    }

    async fn insert_into(
        &self,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.insert_into(state, input, insert_op).await
    }

    async fn delete_from(
        &self,
        state: &dyn Session,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.delete_from(state, filters).await
    }

    async fn update(
        &self,
        state: &dyn Session,
        assignments: Vec<(String, Expr)>,
        filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.update(state, assignments, filters).await
    }

    async fn truncate(&self, state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.truncate(state).await
    }

    async fn merge_into(
        &self,
        state: &dyn Session,
        source: Arc<dyn ExecutionPlan>,
        merge_schema: DFSchemaRef,
        on: Expr,
        clauses: Vec<MergeIntoClause>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = &self.0;
        table
            .merge_into(state, source, merge_schema, on, clauses)
            .await
    }
}
