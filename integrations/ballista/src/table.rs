//! Herringbone's tables on the wire.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::{
    Constraint, Constraints, Result, exec_datafusion_err, exec_err, not_impl_err,
};
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::TaskContext;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::logical_plan::from_proto::parse_sorts;
use datafusion_proto::logical_plan::to_proto::serialize_sorts;
use datafusion_proto::protobuf::{
    ArrowType, ListingTableScanNode, PartitionColumn, SortExprNodeCollection,
};
use herringbone_datafusion::{HerringboneCodec, HerringboneFormat, HerringboneTable};
use prost::Message;

/// A table on the wire, without column defaults, because planned statements contain them already.
#[derive(Clone, PartialEq, Message)]
struct TableMessage {
    /// The paths, the files' schema, the partition columns, the extension and the declared orders.
    #[prost(message, optional, tag = "1")]
    listing: Option<ListingTableScanNode>,
    #[prost(bytes, tag = "2")]
    format: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    constraints: Vec<ConstraintMessage>,
    #[prost(string, optional, tag = "4")]
    definition: Option<String>,
}

/// A primary key, or a set of columns whose values are unique.
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
/// Fails with Not implemented if a part of the table has no form on the wire, and returns the
/// errors of formats and expressions.
pub(crate) fn encode(
    table: &HerringboneTable,
    codec: &HerringboneCodec,
    expressions: &dyn LogicalExtensionCodec,
) -> Result<Vec<u8>> {
    let table = table.listing();
    let options = table.options();
    // We look at the table's text, because the table has no function that returns its adapter.
    if options.output_partitioning.is_some()
        || format!("{table:?}").contains("expr_adapter_factory: Some(")
    {
        return not_impl_err!(
            "a table with a declared partitioning or an expression adapter cannot be sent to other machines"
        );
    }
    let Some(format) = options.format.downcast_ref::<HerringboneFormat>() else {
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
            .flat_map(|constraint| constraint.iter())
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

/// Decodes a table, whose files are listed when it is scanned.
///
/// # Errors
/// Fails with Execution if the bytes are not a table, and returns the errors of formats and
/// expressions.
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
        .map(|stored| constraint(stored, columns));
    let constraints = Constraints::new_unverified(constraints.collect::<Result<_>>()?);
    let table = table
        .with_cache(statistics)
        .with_constraints(constraints)
        .with_definition(message.definition);
    HerringboneTable::new(&table)?.ok_or_else(|| missing("format of Herringbone"))
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
