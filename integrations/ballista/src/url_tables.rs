//! Files that queries name.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::common::{Result, plan_datafusion_err, plan_err};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use datafusion_session::SessionStore;
use futures::StreamExt;

/// The ways in which a user can give the credentials of S3.
const S3_HELP: &str = "credentials of S3 are the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
    `SET s3.access_key_id = …` and `SET s3.secret_access_key = …`; AWS_SKIP_SIGNATURE=true reads public buckets";

/// Lets queries name files and URLs, as [`SessionContext::enable_url_table`] does. If a store
/// cannot be read, users see its error instead of "table not found".
#[must_use]
pub fn enable_url_tables(session: SessionContext) -> SessionContext {
    let factory = Arc::new(UrlTables(DynamicListTableFactory::new(SessionStore::new())));
    let catalogs = session.state().catalog_list().clone();
    let id = session.session_id();
    let session: SessionContext = session
        .into_state_builder()
        .with_session_id(id)
        .with_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, factory.clone())))
        .build()
        .into();
    factory
        .0
        .session_store()
        .with_state(session.state_weak_ref());
    session
}

/// The engine's tables, and the reasons why there are none.
#[derive(Debug)]
struct UrlTables(DynamicListTableFactory);

#[async_trait]
impl UrlTableFactory for UrlTables {
    async fn try_new(&self, url: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let found = self.0.try_new(url).await?;
        // The name of a table may look like a path, so only a URL must be one.
        if found.is_none() && url.contains("://") {
            self.check(url).await?;
        }
        Ok(found)
    }
}

impl UrlTables {
    /// Returns the error for a URL that has no table.
    async fn check(&self, url: &str) -> Result<()> {
        let table = ListingTableUrl::parse(url)?;
        let session = self.0.session_store().get_session().upgrade();
        let session = session.ok_or_else(|| plan_datafusion_err!("the session was dropped"))?;
        let state = session
            .read()
            .as_any()
            .downcast_ref::<SessionState>()
            .cloned();
        let Some(state) = state else {
            return Ok(());
        };
        let store = state.runtime_env().object_store(&table)?;
        let first = match table.list_all_files(&state, store.as_ref(), "").await {
            Ok(mut files) => files.next().await,
            Err(error) => Some(Err(error)),
        };
        match first {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) if table.scheme() == "s3" => plan_err!("{url}: {error}; {S3_HELP}"),
            Some(Err(error)) => plan_err!("{url}: {error}"),
            None => plan_err!("{url}: there are no files"),
        }
    }
}
