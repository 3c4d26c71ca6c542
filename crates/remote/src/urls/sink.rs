//! New objects at URLs.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::{Error, Result};
use object_store_014::path::Path;
use object_store_014::{Error as StoreError, GetOptions, ObjectStore};

use super::hints::Hints;
use crate::object::BoxFuture;
use crate::object_store_014::{StoreSink, error};
use crate::request::MAX_WHOLE_BYTES;
use crate::sink::{ObjectSink, Upload};

/// The place of a new object.
#[derive(Debug, Clone)]
pub(super) struct UrlSink {
    pub(super) sink: StoreSink,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
    /// True if an existing object must not be replaced.
    pub(super) is_new: bool,
    pub(super) is_web: bool,
    pub(super) hints: Hints,
}

impl UrlSink {
    /// Fails if the object already exists and must not be replaced.
    pub(super) async fn check(&self) -> Result<()> {
        if !self.is_new {
            return Ok(());
        }
        let head = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        match self.store.get_opts(&self.path, head).await {
            Ok(_) => {
                let message = format!(
                    "{}: the object already exists",
                    ObjectSink::name(&self.sink)
                );
                Err(io::Error::new(io::ErrorKind::AlreadyExists, message).into())
            }
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(other) => Err(self.hints.add_to(error(other))),
        }
    }
}

impl ObjectSink for UrlSink {
    fn name(&self) -> &str {
        ObjectSink::name(&self.sink)
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        // Web servers don't support a condition for new objects, so we send the request without
        // one.
        let put = match self.is_new && !self.is_web {
            true => self.sink.clone().create_new().put(bytes),
            false => self.sink.put(bytes),
        };
        let hints = self.hints.clone();
        Box::pin(async move { put.await.map_err(|error| hints.add_to(error)) })
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let sink = self.clone();
        Box::pin(async move {
            if sink.is_web {
                return Err(Error::unsupported(format!(
                    "a web server takes a file in one request, at most {MAX_WHOLE_BYTES} bytes; write it to a local \
                     file, and upload that"
                )));
            }
            let started = sink.sink.start().await;
            let upload = started.map_err(|error| sink.hints.add_to(error))?;
            Ok(Box::new(UrlUpload { upload, sink }) as _)
        })
    }
}

#[derive(Debug)]
struct UrlUpload {
    upload: Box<dyn Upload>,
    sink: UrlSink,
}

impl Upload for UrlUpload {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.upload.put_part(bytes)
    }

    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        Box::pin(async {
            // Note that the object might still appear between this check and the next request.
            self.sink.check().await?;
            self.upload.complete().await
        })
    }

    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.upload.abort()
    }
}
