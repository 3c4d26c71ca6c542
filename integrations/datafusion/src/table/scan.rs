//! Plans scans and `INSERT INTO`.

use std::sync::Arc;

use arrow::datatypes::Fields;
use datafusion::catalog::{ScanArgs, Session, TableProvider};
use datafusion::datasource::listing::helpers::{expr_applicable_for_cols, pruned_partition_list};
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion_common::stats::Precision;
use datafusion_common::{Result, SchemaExt, Statistics, plan_err, project_schema};
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::{
    FileScanConfig, FileScanConfigBuilder, output_partitioning_from_partition_fields,
};
use datafusion_datasource::file_sink_config::{FileOutputMode, FileSinkConfig};
use datafusion_datasource::{TableSchemaBuilder, compute_all_files_statistics};
use datafusion_execution::cache::cache_manager::TableScopedPath;
use datafusion_expr::Expr;
use datafusion_expr::dml::InsertOp;
use datafusion_physical_expr_common::sort_expr::LexOrdering;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_physical_plan::empty::EmptyExec;
use futures::TryStreamExt;

use super::Partitions;
use super::values::{over_text, with_values};

/// The files of a scan.
struct Listed {
    groups: Vec<FileGroup>,
    statistics: Statistics,
    /// True if no two groups have rows of the same partition.
    is_by_partition: bool,
}

impl Partitions {
    /// Plans a scan as the engine's table does, but with our columns and values.
    pub(super) async fn scan(
        &self,
        listing: &ListingTable,
        state: &dyn Session,
        args: &ScanArgs<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let projection = args.projection().map(<[usize]>::to_vec);
        let empty = || project_schema(&self.schema, projection.as_ref()).map(EmptyExec::new);
        let Some(url) = listing.table_paths().first() else {
            return Ok(Arc::new(empty()?));
        };
        let columns: Vec<_> = self
            .fields
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        let filters = args.filters().unwrap_or_default().iter().cloned();
        let (on_partitions, others): (Vec<_>, Vec<_>) =
            filters.partition(|filter| expr_applicable_for_cols(&columns, filter));
        let limit = args.limit();
        // The limit only applies to the listed files if no other filter drops rows.
        let limit_of_files = limit.filter(|_| others.is_empty());
        let mut listed = self.list(state, &on_partitions, limit_of_files).await?;
        if listed.groups.is_empty() {
            return Ok(Arc::new(empty()?));
        }
        let orderings =
            listing.try_create_output_ordering(state.execution_props(), &listed.groups)?;
        let execution = &state.config_options().execution;
        if let Some(order) = orderings.first()
            && execution.split_file_groups_by_statistics
        {
            self.split_by_statistics(&mut listed, order, state.config().target_partitions());
        }
        let partitioning = listed.is_by_partition.then(|| {
            let columns = Fields::from(self.fields.clone());
            output_partitioning_from_partition_fields(&self.schema, &columns, listed.groups.len())
        });
        let schema = TableSchemaBuilder::from(&self.file_schema)
            .with_table_partition_cols(self.fields.clone())
            .build();
        let format = &listing.options().format;
        let config = FileScanConfigBuilder::new(url.object_store(), format.file_source(schema))
            .with_file_groups(listed.groups)
            .with_constraints(listing.constraints().cloned().unwrap_or_default())
            .with_statistics(listed.statistics)
            .with_projection_indices(projection)?
            .with_limit(limit)
            .with_output_ordering(orderings)
            .with_output_partitioning(partitioning.flatten())
            .build();
        format.create_physical_plan(state, config).await
    }

    /// Lists the files whose values satisfy the filters, with their statistics.
    async fn list(
        &self,
        state: &dyn Session,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Listed> {
        let statistics = state.runtime_env().cache_manager.get_file_statistic_cache();
        let text = self.text.clone().with_cache(statistics);
        let filters = over_text(filters, &self.fields)?;
        let listed = text.list_files_for_scan(state, &filters, limit).await?;
        let mut groups = Vec::with_capacity(listed.file_groups.len());
        for group in listed.file_groups {
            let files = group.into_inner().into_iter();
            let files = files.map(|file| with_values(file, &self.fields));
            groups.push(FileGroup::new(files.collect::<Result<_>>()?));
        }
        let mut is_by_partition = listed.grouped_by_partition;
        if is_by_partition {
            // We group the files again, because several texts may be the same value.
            let all = FileGroup::new(groups.into_iter().flat_map(FileGroup::into_inner).collect());
            let (count, at_least) = (
                state.config().target_partitions(),
                state.config_options().optimizer.preserve_file_partitions,
            );
            groups = all.clone().group_by_partition_values(count);
            is_by_partition = groups.len() >= at_least;
            if !is_by_partition {
                groups = all.split_files(count);
            }
        }
        let is_inexact = !matches!(listed.statistics.num_rows, Precision::Exact(_));
        let collects = state.config().collect_statistics();
        let (groups, statistics) =
            compute_all_files_statistics(groups, self.schema.clone(), collects, is_inexact)?;
        Ok(Listed {
            groups,
            statistics,
            is_by_partition,
        })
    }

    /// Makes groups whose files are in order, if this gives no more groups than partitions.
    fn split_by_statistics(&self, listed: &mut Listed, order: &LexOrdering, partitions: usize) {
        let groups = FileScanConfig::split_groups_by_statistics_with_target_partitions(
            &self.schema,
            &listed.groups,
            order,
            partitions,
        );
        // Without statistics, files are read in the groups that they already have.
        if let Some(groups) = groups.ok().filter(|groups| groups.len() <= partitions) {
            listed.groups = groups;
        }
    }

    /// Plans `INSERT INTO` as the engine's table does, but with nullable partition columns.
    pub(super) async fn insert(
        &self,
        listing: &ListingTable,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.schema
            .logically_equivalent_names_and_types(&input.schema())?;
        let Some(url) = listing
            .table_paths()
            .first()
            .filter(|url| url.is_collection())
        else {
            return plan_err!(
                "rows are inserted into a table of a directory: end its location with `/`"
            );
        };
        let options = listing.options();
        let store = state.runtime_env().object_store(url)?;
        let files = pruned_partition_list(
            state,
            store.as_ref(),
            url,
            &[],
            &options.file_extension,
            &self.text.options().table_partition_cols,
        );
        let files: Vec<_> = files.await?.try_collect().await?;
        forget_listing(state, url);
        let config = FileSinkConfig {
            original_url: String::default(),
            object_store_url: url.object_store(),
            table_paths: listing.table_paths().clone(),
            file_group: files.into(),
            output_schema: self.schema.clone(),
            table_partition_cols: options.table_partition_cols.clone(),
            insert_op,
            keep_partition_by_columns: state.config_options().execution.keep_partition_by_columns,
            file_extension: options.format.get_ext(),
            file_output_mode: FileOutputMode::Automatic,
        };
        let orderings = listing.try_create_output_ordering(state.execution_props(), &[])?;
        let order = orderings.into_iter().next().map(Into::into);
        let format = &options.format;
        format
            .create_writer_physical_plan(input, state, config, order)
            .await
    }
}

/// Removes a table's files from the session cache, because the table gets more of them.
fn forget_listing(state: &dyn Session, url: &ListingTableUrl) {
    if let Some(cache) = state.runtime_env().cache_manager.get_list_files_cache() {
        let _files = cache.remove(&TableScopedPath {
            table: url.get_table_ref().clone(),
            path: url.prefix().clone(),
        });
    }
}
