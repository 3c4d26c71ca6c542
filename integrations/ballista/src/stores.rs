//! The object stores and the temporary files that sessions and executors use.

use std::sync::Arc;

use ballista_core::object_store::{CustomObjectStoreRegistry, S3Options};
use datafusion::common::{Result, config_datafusion_err, config_err};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionConfig;
use object_store::ObjectStore;
use url::Url;

/// Returns a runtime that reads local files, web servers, S3, and the stores that a program
/// registers. S3 takes the session options `s3.*` and the variables `AWS_*`. Operators spill to
/// `folder`, or to the system's folder if it is `None`.
///
/// # Errors
/// Fails with Configuration if the session has no [`S3Options`].
pub fn runtime_env(config: &SessionConfig, folder: Option<&str>) -> Result<Arc<RuntimeEnv>> {
    let s3 = config.options().extensions.get::<S3Options>();
    let s3 = s3.ok_or_else(|| config_datafusion_err!("the session has no options `s3.*`"))?;
    let mut builder = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores {
        registered: DefaultObjectStoreRegistry::new(),
        created: CustomObjectStoreRegistry::new(s3.clone()),
    }));
    if let Some(folder) = folder {
        builder = builder.with_temp_file_path(folder);
    }
    builder.build_arc()
}

/// The stores that a program registered, and the stores that Ballista creates when a query names
/// them.
#[derive(Debug)]
struct Stores {
    registered: DefaultObjectStoreRegistry,
    created: CustomObjectStoreRegistry,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(
        &self,
        url: &Url,
        store: Arc<dyn ObjectStore>,
    ) -> Option<Arc<dyn ObjectStore>> {
        self.registered.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.registered.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.registered.get_store(url) {
            return Ok(store);
        }
        match url.scheme() {
            "http" | "https" | "s3" => self.created.get_store(url),
            scheme => config_err!(
                "there is no store for {scheme}:// URLs: file, http, https and s3 are known. A program registers others by \
                 `SessionContext::register_object_store`, and in executors by `override_runtime_producer`"
            ),
        }
    }
}
