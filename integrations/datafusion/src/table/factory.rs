//! `CREATE EXTERNAL TABLE`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion_common::Result;
use datafusion_expr::CreateExternalTable;

use super::with_nulls;

/// A factory that creates another factory's tables, but with nulls in the partition columns of
/// Herringbone files.
#[derive(Debug)]
pub(crate) struct HerringboneTableFactory(pub(crate) Arc<dyn TableProviderFactory>);

#[async_trait]
impl TableProviderFactory for HerringboneTableFactory {
    async fn create(
        &self,
        state: &dyn Session,
        statement: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        let table = self.0.create(state, statement).await?;
        Ok(with_nulls(table.as_ref())?.unwrap_or(table))
    }
}
