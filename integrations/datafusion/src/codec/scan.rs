//! Scans on the wire. We need a message of our own, because the engine's message for scans lacks
//! the filter, virtual columns, the read order and parts of the files, and cuts the limit to 32
//! bits.

use std::sync::Arc;

use arrow::datatypes::{Fields, Schema};
use datafusion_common::{Result, exec_datafusion_err, exec_err, not_impl_err};
use datafusion_datasource::file_compression_type::FileCompressionType;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::{FileScanConfig, FileScanConfigBuilder};
use datafusion_datasource::source::DataSourceExec;
use datafusion_datasource::{PartitionedFile, TableSchema};
use datafusion_physical_expr::LexOrdering;
use datafusion_physical_expr::utils::{conjunction, split_conjunction};
use datafusion_physical_expr_adapter::DefaultPhysicalExprAdapterFactory;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::from_proto::parse_protobuf_file_scan_config;
use datafusion_proto::physical_plan::to_proto::serialize_file_scan_config;
use datafusion_proto::protobuf::FileScanExecConf;
use herringbone::RowSelection;

use super::message::{FileMessage, OrderMessage, ScanMessage, SelectionMessage, missing};
use super::{Decoder, Encoder, format};
use crate::source::{HerringboneSource, Pushed, ReadOrder};

impl Encoder<'_> {
    /// Encodes a scan.
    ///
    /// # Errors
    /// Fails with Not implemented if a part of the scan has no form on the wire, and returns the
    /// errors of formats and expressions.
    pub(super) fn scan(
        &self,
        config: &FileScanConfig,
        source: &HerringboneSource,
    ) -> Result<ScanMessage> {
        check(config)?;
        let table = config.file_source().table_schema();
        let fields = table.table_schema().fields().clone();
        let schema = Schema::new(fields).with_metadata(table.file_schema().metadata().clone());
        let (options, keys) = source.format();
        let pushed = source.pushed();
        let predicate = pushed.predicate.iter().flat_map(split_conjunction);
        let files = config.file_groups.iter().flat_map(FileGroup::iter);
        Ok(ScanMessage {
            config: Some(FileScanExecConf {
                schema: Some((&schema).try_into()?),
                limit: None,
                ..serialize_file_scan_config(config, self.codec, self.converter)?
            }),
            format: Some(format::encode(options, keys)?),
            partition_columns: table.table_partition_cols().len() as u64,
            virtual_columns: table.virtual_columns().len() as u64,
            limit: config.limit.map(|limit| limit as u64),
            preserve_order: config.preserve_order,
            predicate: predicate
                .map(|expr| self.expr(expr))
                .collect::<Result<_>>()?,
            evaluates: pushed.evaluates,
            order: pushed.order.as_ref().map(order_message),
            batch_size: pushed.batch_size.map(|rows| rows as u64),
            files: files.map(|file| self.file(file)).collect::<Result<_>>()?,
        })
    }

    fn file(&self, file: &PartitionedFile) -> Result<FileMessage> {
        let selection = file.extension::<RowSelection>();
        if file.extensions.len() > usize::from(selection.is_some()) {
            return not_impl_err!(
                "the file {} has an extension that cannot be sent to other machines: only `RowSelection` can",
                file.object_meta.location
            );
        }
        let ordering = file
            .ordering
            .iter()
            .flat_map(|ordering| ordering.iter().cloned());
        Ok(FileMessage {
            e_tag: file.object_meta.e_tag.clone(),
            version: file.object_meta.version.clone(),
            metadata_size_hint: file.metadata_size_hint.map(|bytes| bytes as u64),
            ordering: self.sort_exprs(ordering)?,
            selection: selection.map(selection_message),
        })
    }
}

/// Rejects scans that have parts without a form on the wire.
fn check(config: &FileScanConfig) -> Result<()> {
    if let Some(adapter) = &config.expr_adapter_factory
        && format!("{adapter:?}") != format!("{DefaultPhysicalExprAdapterFactory:?}")
    {
        return not_impl_err!(
            "the expression adapter {adapter:?} cannot be sent to other machines"
        );
    }
    if config.file_compression_type != FileCompressionType::UNCOMPRESSED {
        return not_impl_err!("Parquet files are not compressed as a whole");
    }
    Ok(())
}

fn order_message(order: &ReadOrder) -> OrderMessage {
    match order {
        ReadOrder::By { column, descending } => OrderMessage {
            column: Some(column.clone()),
            descending: *descending,
        },
        ReadOrder::Reversed => OrderMessage {
            column: None,
            descending: true,
        },
    }
}

fn selection_message(selection: &RowSelection) -> SelectionMessage {
    // Positions after the last row are ignored, so the ranges may be open-ended.
    let ranges = selection.ranges(u64::MAX);
    SelectionMessage {
        borders: ranges
            .iter()
            .flat_map(|range| [range.start, range.end])
            .collect(),
        row_group: selection.row_group().map(|ordinal| ordinal as u64),
    }
}

impl Decoder<'_> {
    /// Decodes a scan.
    ///
    /// # Errors
    /// Fails with Execution if parts are missing or contradict each other, and returns the errors
    /// of formats and expressions.
    pub(super) fn scan(&self, message: ScanMessage) -> Result<Arc<dyn ExecutionPlan>> {
        let config = message.config.as_ref();
        let config = config.ok_or_else(|| missing("configuration of a scan"))?;
        let table = table_schema(config, message.partition_columns, message.virtual_columns)?;
        let schema = table.table_schema().clone();
        let (options, keys) = self.codec.decode_format_message(message.format.as_ref())?;
        let predicate = message.predicate.iter();
        let predicate = predicate.map(|expr| self.expr(expr, &schema));
        let predicate = predicate.collect::<Result<Vec<_>>>()?;
        let pushed = Pushed {
            predicate: Some(predicate).filter(|it| !it.is_empty()).map(conjunction),
            evaluates: message.evaluates,
            order: message.order.map(read_order),
            batch_size: message.batch_size.map(to_usize).transpose()?,
        };
        let source = HerringboneSource::new(table)
            .of_format(options, keys)
            .with_runtime(&self.context.task_ctx().runtime_env())
            .with_pushed(pushed);
        let config = parse_protobuf_file_scan_config(
            config,
            &self.context,
            self.converter,
            Arc::new(source),
        )?;
        let groups = self.file_groups(config.file_groups.clone(), message.files, &schema)?;
        let config = FileScanConfigBuilder::from(config)
            .with_file_groups(groups)
            .with_limit(message.limit.map(to_usize).transpose()?)
            .with_preserve_order(message.preserve_order)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    /// Completes the files by the parts that the engine's message lacks.
    fn file_groups(
        &self,
        groups: Vec<FileGroup>,
        files: Vec<FileMessage>,
        schema: &Schema,
    ) -> Result<Vec<FileGroup>> {
        let expected: usize = groups.iter().map(FileGroup::len).sum();
        if files.len() != expected {
            return exec_err!(
                "the encoded scan has {expected} files, and the rest of {}",
                files.len()
            );
        }
        let mut files = files.into_iter();
        let complete = |group: FileGroup| {
            let group = group.into_inner().into_iter().zip(files.by_ref());
            group
                .map(|(file, rest)| self.complete(file, rest, schema))
                .collect::<Result<FileGroup>>()
        };
        groups.into_iter().map(complete).collect()
    }

    fn complete(
        &self,
        mut file: PartitionedFile,
        rest: FileMessage,
        schema: &Schema,
    ) -> Result<PartitionedFile> {
        file.object_meta.e_tag = rest.e_tag;
        file.object_meta.version = rest.version;
        file.metadata_size_hint = rest.metadata_size_hint.map(to_usize).transpose()?;
        file.ordering = LexOrdering::new(self.sort_exprs(&rest.ordering, schema)?);
        Ok(match rest.selection {
            Some(selection) => file.with_extension(row_selection(&selection)?),
            None => file,
        })
    }
}

/// Splits a table's schema into file columns, partition columns and virtual columns.
fn table_schema(
    config: &FileScanExecConf,
    partition_columns: u64,
    virtual_columns: u64,
) -> Result<TableSchema> {
    let schema = config.schema.as_ref().ok_or_else(|| missing("schema"))?;
    let schema = Schema::try_from(schema)?;
    let fields = schema.fields().len();
    let first_virtual = to_usize(virtual_columns)?;
    let first_virtual = fields.checked_sub(first_virtual);
    let partition_columns = to_usize(partition_columns)?;
    let first_partition = first_virtual.and_then(|end| end.checked_sub(partition_columns));
    let (Some(first_virtual), Some(first_partition)) = (first_virtual, first_partition) else {
        return exec_err!(
            "the encoded scan has {fields} columns, fewer than its partition columns"
        );
    };
    let part = |skip, until: usize| -> Fields {
        let fields = schema.fields().iter().take(until).skip(skip);
        fields.cloned().collect()
    };
    let file = Schema::new(part(0, first_partition)).with_metadata(schema.metadata().clone());
    Ok(TableSchema::builder(Arc::new(file))
        .with_table_partition_cols(part(first_partition, first_virtual))
        .with_virtual_columns(part(first_virtual, fields))
        .build())
}

fn read_order(message: OrderMessage) -> ReadOrder {
    let descending = message.descending;
    match message.column {
        Some(column) => ReadOrder::By { column, descending },
        None => ReadOrder::Reversed,
    }
}

fn row_selection(message: &SelectionMessage) -> Result<RowSelection> {
    let mut ranges = Vec::new();
    for range in message.borders.chunks(2) {
        match range {
            [start, end] if start <= end => ranges.push(*start..*end),
            _ => return exec_err!("the encoded selection of rows has a range without an end"),
        }
    }
    let selection = RowSelection::keep(ranges);
    Ok(match message.row_group {
        Some(ordinal) => selection.of_row_group(to_usize(ordinal)?),
        None => selection,
    })
}

fn to_usize(number: u64) -> Result<usize> {
    usize::try_from(number)
        .map_err(|_| exec_datafusion_err!("{number} is too large for this machine"))
}
