//! A table's files as objects of the library.

use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use datafusion_common::config::TableParquetOptions;
use datafusion_common_runtime::SpawnedTask;
use herringbone::push::FetchPolicy;
use herringbone::{Error, Result};
use herringbone_remote::object_store_013::StoreObject;
use herringbone_remote::{Answer, BoxFuture, Identity, Object};
use object_store::{ObjectMeta, ObjectStore};

/// A file in a store, whose requests run as tasks of the runtime, so that they make progress while
/// the scan decodes. If you drop a request's future, its task ends.
#[derive(Debug)]
pub(crate) struct TableFile(StoreObject);

/// The largest gap that we read over in a local file, instead of sending another request. A page of
/// 20,000 numbers often has 35 to 40 KB, and a selective scan needs one such page after the
/// dictionary and the first page header.
const LOCAL_GAP: u64 = 32 << 10;

/// The way to request the bytes of a table's files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestOptions {
    /// The size of the first request for a footer, in bytes.
    suffix_bytes: Option<usize>,
    /// True if the files are on a local disk.
    pub(crate) is_local: bool,
    /// True if bytes of later row groups are requested before they are needed.
    pub(crate) looks_ahead: bool,
}

impl RequestOptions {
    /// Takes the options from a table's options.
    pub(crate) fn new(options: &TableParquetOptions) -> Self {
        Self {
            suffix_bytes: options.global.metadata_size_hint,
            is_local: false,
            looks_ahead: true,
        }
    }
}

impl TableFile {
    /// Creates the object for a listed file.
    pub(crate) fn new(
        store: &Arc<dyn ObjectStore>,
        meta: &ObjectMeta,
        requests: RequestOptions,
    ) -> Arc<Self> {
        let scan = FetchPolicy::remote_scan();
        let mut policy = match requests.is_local {
            true => FetchPolicy::local_async().max_gap_bytes(LOCAL_GAP),
            false => scan.clone(),
        };
        // A scan's filters are tested with the first lookups, so local files get this value, too.
        policy.round_trip_bytes = scan.round_trip_bytes;
        if let Some(bytes) = requests.suffix_bytes {
            policy.suffix_bytes = bytes as u64;
        }
        if !requests.looks_ahead {
            policy.max_bytes_ahead = 0;
        }
        let object = StoreObject::listed(store.clone(), meta);
        Arc::new(Self(object.fetch_policy(policy)))
    }
}

impl Object for TableFile {
    fn name(&self) -> &str {
        Object::name(&self.0)
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        spawned(self.0.tail(bytes))
    }

    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
        spawned(self.0.range(range, identity))
    }

    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        spawned(self.0.whole(most))
    }

    fn identity(&self) -> Option<Identity> {
        self.0.identity()
    }

    fn fetch_policy(&self) -> FetchPolicy {
        Object::fetch_policy(&self.0)
    }
}

/// Runs a request as a task, which starts when the future is first polled.
fn spawned(
    request: impl Future<Output = Result<Answer>> + Send + 'static,
) -> BoxFuture<Result<Answer>> {
    Box::pin(async move {
        let answer = SpawnedTask::spawn(request).join_unwind().await;
        answer.unwrap_or_else(|error| Err(Error::from(io::Error::other(error))))
    })
}
