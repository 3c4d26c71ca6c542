//! Hints for store errors.

use std::io::ErrorKind;
use std::ops::Range;

use herringbone::push::FetchPolicy;
use herringbone::{Error, Result};

use crate::object::{Answer, BoxFuture, Identity, Object};
use crate::object_store_014::StoreObject;
use crate::request::with_message;

/// Facts about a store, used to add hints to its error messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Hints {
    /// The reason for unsigned requests, if no credentials were found.
    unsigned: Option<&'static str>,
    /// True if the URL has a key. A web server's URL never has one.
    has_key: bool,
    has_percent: bool,
}

impl Hints {
    pub(super) fn new(unsigned: Option<&'static str>, key: &str) -> Self {
        Self {
            unsigned,
            has_key: !key.is_empty(),
            has_percent: key.contains('%'),
        }
    }

    /// Adds hints to an error's message.
    pub(super) fn add_to(&self, error: Error) -> Error {
        let mut message = error.message().to_owned();
        match error.io_error().map(std::io::Error::kind) {
            Some(ErrorKind::PermissionDenied) => {
                if let Some(reason) = self.unsigned {
                    message += &format!("; the request was not signed, because {reason}");
                }
            }
            Some(ErrorKind::NotFound) if self.has_key => {
                message += "; a URL that ends with `/` names all objects below it";
                if self.has_percent {
                    message += ", and `%` in a key is written as %25";
                }
            }
            _ => {}
        }
        match message.len() == error.message().len() {
            true => error,
            false => with_message(error, message),
        }
    }
}

/// An object that adds hints to its errors.
#[derive(Debug)]
pub(super) struct HintedObject {
    object: StoreObject,
    hints: Hints,
}

impl HintedObject {
    pub(super) fn new(object: StoreObject, hints: Hints) -> Self {
        Self { object, hints }
    }

    fn hinted(&self, request: BoxFuture<Result<Answer>>) -> BoxFuture<Result<Answer>> {
        let hints = self.hints.clone();
        Box::pin(async move { request.await.map_err(|error| hints.add_to(error)) })
    }
}

impl Object for HintedObject {
    fn name(&self) -> &str {
        Object::name(&self.object)
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        self.hinted(self.object.tail(bytes))
    }

    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
        self.hinted(self.object.range(range, identity))
    }

    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        self.hinted(self.object.whole(most))
    }

    fn identity(&self) -> Option<Identity> {
        Object::identity(&self.object)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        Object::fetch_policy(&self.object)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn hinted(hints: &Hints, kind: ErrorKind) -> String {
        let error = hints.add_to(io::Error::new(kind, "x").into());
        assert_eq!(error.io_error().unwrap().kind(), kind);
        error.message().to_owned()
    }

    #[test]
    fn a_denied_request_without_credentials_names_them() {
        let unsigned = Hints::new(Some("no KEY was found"), "a%20b");
        let denied = hinted(&unsigned, ErrorKind::PermissionDenied);
        assert!(denied.ends_with("because no KEY was found"), "{denied}");
        let signed = Hints::new(None, "a");
        assert_eq!(hinted(&signed, ErrorKind::PermissionDenied), "x");
        assert_eq!(hinted(&unsigned, ErrorKind::Other), "x");
    }

    #[test]
    fn a_missing_object_may_be_a_prefix_or_have_a_percent_sign() {
        let missing = |key: &str| hinted(&Hints::new(None, key), ErrorKind::NotFound);
        assert_eq!(
            missing("a"),
            "x; a URL that ends with `/` names all objects below it"
        );
        assert!(missing("a%3A").ends_with("written as %25"));
        assert_eq!(hinted(&Hints::default(), ErrorKind::NotFound), "x");
    }
}
