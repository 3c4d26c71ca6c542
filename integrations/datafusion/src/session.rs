//! Functions that set up a session.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::dataframe::DataFrame;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::provider::DefaultTableFactory;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use datafusion_common::{GetExt, Result};
use datafusion_datasource::file_format::FileFormatFactory;

use crate::format::HerringboneFormatFactory;
use crate::options::HerringboneOptions;
use crate::table::{HerringboneTableFactory, NullablePartitions};

/// The name of Parquet in `STORED AS`.
const STORED_AS: &str = "PARQUET";

/// Makes a session read and write Parquet by Herringbone. This covers tables `STORED AS PARQUET`,
/// `COPY`, `INSERT INTO` and files named in queries.
///
/// Tables that the session already has do not change. The session gets the options
/// [`HerringboneOptions`].
///
/// # Errors
/// Returns the session's errors.
pub fn register(session: &SessionContext) -> Result<()> {
    register_with(session, HerringboneFormatFactory::new())
}

/// Makes a session read and write Parquet by a factory's formats, for example by a factory that has
/// keys.
///
/// # Errors
/// Returns the session's errors.
pub fn register_with(session: &SessionContext, factory: HerringboneFormatFactory) -> Result<()> {
    let state = session.state_ref();
    let mut state = state.write();
    let extensions = &mut state.config_mut().options_mut().extensions;
    if extensions.get::<HerringboneOptions>().is_none() {
        extensions.insert(HerringboneOptions::default());
    }
    // If the engine was built without its own Parquet reader, it has no factory for such tables.
    let tables = state.table_factories_mut();
    let engine_factory = tables.remove(STORED_AS);
    let engine_factory = engine_factory.unwrap_or_else(|| Arc::new(DefaultTableFactory::new()));
    let nulls_factory = HerringboneTableFactory(engine_factory);
    tables.insert(STORED_AS.to_owned(), Arc::new(nulls_factory));
    let mut rules = state.analyzer().rules.iter();
    if !rules.any(|rule| rule.name() == NullablePartitions::NAME) {
        state.add_analyzer_rule(Arc::new(NullablePartitions));
    }
    state.register_file_format(Arc::new(factory), true)
}

/// Functions that read Parquet files by Herringbone without SQL, with the options and keys of the
/// registered factory. The session's own functions with similar names use the engine's reader.
#[async_trait]
pub trait ReadParquet {
    /// Reads one file, or all files below a path that ends with `/`, with options as in
    /// `OPTIONS (…)`.
    ///
    /// # Errors
    /// Fails with Configuration if an option is unknown, and returns the errors of files.
    async fn read_parquet_files(
        &self,
        path: &str,
        options: HashMap<String, String>,
    ) -> Result<DataFrame>;

    /// Registers one file, or all files below a path that ends with `/`, as a table.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read_parquet_files`].
    async fn register_parquet_files(
        &self,
        table: &str,
        path: &str,
        options: HashMap<String, String>,
    ) -> Result<()>;
}

#[async_trait]
impl ReadParquet for SessionContext {
    async fn read_parquet_files(
        &self,
        path: &str,
        options: HashMap<String, String>,
    ) -> Result<DataFrame> {
        self.read_table(Arc::new(table(self, path, &options).await?))
    }

    async fn register_parquet_files(
        &self,
        table_name: &str,
        path: &str,
        options: HashMap<String, String>,
    ) -> Result<()> {
        let table = table(self, path, &options).await?;
        self.register_table(table_name, Arc::new(table)).map(drop)
    }
}

async fn table(
    session: &SessionContext,
    path: &str,
    options: &HashMap<String, String>,
) -> Result<ListingTable> {
    let state = session.state();
    let format = factory(&state).create(&state, options)?;
    let options = ListingOptions::new(format);
    let config =
        ListingTableConfig::new(ListingTableUrl::parse(path)?).with_listing_options(options);
    let statistics = state.runtime_env().cache_manager.get_file_statistic_cache();
    let table = ListingTable::try_new(config.infer_schema(&state).await?)?;
    Ok(table.with_cache(statistics))
}

/// Returns the session's factory, which may have its own options and keys.
fn factory(state: &SessionState) -> Arc<dyn FileFormatFactory> {
    let registered = state.get_file_format_factory(&HerringboneFormatFactory::new().get_ext());
    let is_ours = |factory: &Arc<dyn FileFormatFactory>| {
        let factory: &dyn Any = factory.as_ref();
        factory.is::<HerringboneFormatFactory>()
    };
    let registered = registered.filter(is_ours);
    registered.unwrap_or_else(|| Arc::new(HerringboneFormatFactory::new()))
}
