//! Clients, schedulers and executors that have Herringbone's codecs.

use std::sync::Arc;

use ballista::extension::SessionContextExt;
use ballista_core::extension::SessionConfigExt;
use ballista_core::object_store::{session_config_with_s3_support, session_state_with_s3_support};
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use ballista_executor::executor_process::ExecutorProcessConfig;
use ballista_scheduler::config::SchedulerConfig;
use datafusion::error::Result;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::physical_plan::{ComposedPhysicalExtensionCodec, PhysicalExtensionCodec};
use herringbone_datafusion::{
    HerringboneCodec, HerringboneFormatFactory, HerringboneOptions, register_with,
};

use crate::logical::HerringboneLogicalCodec;
use crate::rule::WrapTables;
use crate::stores::runtime_env;
use crate::url_tables::enable_url_tables;

/// Returns the codec of physical plans, which tries Ballista's codec, then Herringbone's.
#[must_use]
pub fn physical_codec(codec: HerringboneCodec) -> Arc<dyn PhysicalExtensionCodec> {
    let engine_codec: Arc<dyn PhysicalExtensionCodec> =
        Arc::new(BallistaPhysicalExtensionCodec::default());
    let codec = codec.with_functions(engine_codec.clone());
    Arc::new(ComposedPhysicalExtensionCodec::new(vec![
        engine_codec,
        Arc::new(codec),
    ]))
}

/// Returns a session whose queries run on the executors of a scheduler at `df://HOST:PORT`. The
/// factory's formats read and write its Parquet tables.
///
/// The session has the options of [`SessionConfigExt::new_with_ballista`], changed by `configure`.
/// It plans queries with the stores that you register in it, but executors open files with their
/// own stores.
///
/// # Errors
/// Fails with Configuration if the URL has no host, and returns the errors of `configure`.
pub async fn connect(
    url: &str,
    factory: HerringboneFormatFactory,
    codec: HerringboneCodec,
    configure: impl FnOnce(&mut SessionConfig) -> Result<()>,
) -> Result<SessionContext> {
    let mut config = herringbone_config()
        .with_ballista_logical_extension_codec(Arc::new(HerringboneLogicalCodec::new(
            codec.clone(),
        )))
        .with_ballista_physical_extension_codec(physical_codec(codec));
    configure(&mut config)?;
    let session = SessionContext::remote_with_state(url, engine_state(config)?).await?;
    let session = enable_url_tables(session);
    register_with(&session, factory)?;
    session.add_analyzer_rule(Arc::new(WrapTables));
    Ok(session)
}

/// Returns a session like [`connect`], but the engine itself reads and writes the Parquet tables.
///
/// # Errors
/// Fails for the same reasons as [`connect`].
pub async fn connect_stock(
    url: &str,
    configure: impl FnOnce(&mut SessionConfig) -> Result<()>,
) -> Result<SessionContext> {
    let mut config = herringbone_config();
    configure(&mut config)?;
    let session = SessionContext::remote_with_state(url, engine_state(config)?).await?;
    Ok(enable_url_tables(session))
}

/// Gives a scheduler Herringbone's codecs and format.
#[must_use]
pub fn scheduler_config(config: SchedulerConfig, codec: HerringboneCodec) -> SchedulerConfig {
    SchedulerConfig {
        override_logical_codec: Some(Arc::new(HerringboneLogicalCodec::new(codec.clone()))),
        override_physical_codec: Some(physical_codec(codec)),
        override_config_producer: Some(Arc::new(herringbone_config)),
        override_session_builder: Some(Arc::new(session_state)),
        ..config
    }
}

/// Gives an executor Herringbone's codecs and lets its tasks spill to its work folder.
#[must_use]
pub fn executor_config(
    config: ExecutorProcessConfig,
    codec: HerringboneCodec,
) -> ExecutorProcessConfig {
    let folder = config.work_dir.clone();
    ExecutorProcessConfig {
        override_logical_codec: Some(Arc::new(HerringboneLogicalCodec::new(codec.clone()))),
        override_physical_codec: Some(physical_codec(codec)),
        override_config_producer: Some(Arc::new(herringbone_config)),
        override_runtime_producer: Some(Arc::new(move |config: &SessionConfig| {
            runtime_env(config, folder.as_deref())
        })),
        ..config
    }
}

/// Returns a session's options with Ballista's defaults. It has our options as well, because a
/// client's options are set in it by name.
fn herringbone_config() -> SessionConfig {
    session_config_with_s3_support().with_option_extension(HerringboneOptions::default())
}

/// Returns a session that has Ballista's functions.
fn engine_state(config: SessionConfig) -> Result<SessionState> {
    let runtime = runtime_env(&config, None)?;
    let state = SessionStateBuilder::new_from_existing(session_state_with_s3_support(config)?);
    Ok(state.with_runtime_env(runtime).build())
}

fn session_state(config: SessionConfig) -> Result<SessionState> {
    let mut state = engine_state(config)?;
    state.register_file_format(Arc::new(HerringboneFormatFactory::new()), true)?;
    Ok(state)
}
