//! Objects and prefixes at URLs of web servers, S3, Google Cloud Storage and Azure. Stores are
//! configured from the environment. For S3, profile files such as `~/.aws/credentials` are also
//! used.
//!
//! ```text
//! https://HOST/PATH?QUERY   the whole URL is requested, with its query
//! s3://BUCKET/KEY           also s3a, gs, az, azure, adl, abfs and abfss
//! s3://BUCKET/PREFIX/       all objects below a prefix
//! ```
//!
//! We decode a URL once, so `%20` in a key means a space, and `%25` means `%`. Write `?` and `#` in
//! a key as `%3F` and `%23`.
//!
//! Messages never contain a URL's user information or query, because these can be secrets or
//! signatures.
//!
//! If your program accepts paths from strangers, set the variable `HERRINGBONE_NO_URLS=1` to forbid
//! all URLs.

mod configured;
mod hints;
mod profile;
mod sink;

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use herringbone::push::FetchPolicy;
use herringbone::{Error, Result};
use object_store_014::path::Path;
use object_store_014::{ObjectStore, ObjectStoreExt as _};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::http::{Bounded, LeftOut};
use crate::object::{BoxFuture, Object};
use crate::object_store_014::{StoreObject, StoreSink, error};
use crate::plain::plain;
use crate::request::MAX_WHOLE_BYTES;
use crate::secrets::without_secrets;
use crate::sink::ObjectSink;
use crate::url_key::{PATTERN, escaped_key};
use crate::write_options::RemoteWriteOptions;
use configured::{Bucket, azure, google, has_setting, http, install_tls, s3};
use hints::{HintedObject, Hints};
use sink::UrlSink;

/// The schemes of all stores.
pub const SCHEMES: [&str; 10] = [
    "http", "https", "s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss",
];

/// The variable that forbids URLs, unless it is empty or 0.
const NO_URLS: &str = "HERRINGBONE_NO_URLS";

/// Store settings. They take precedence over the environment.
///
/// ```
/// use herringbone_remote::urls::{Location, StoreOptions};
///
/// # fn main() -> herringbone::Result<()> {
/// let options = StoreOptions::new().anonymous(true).setting("aws_region", "eu-central-1");
/// let location = Location::with_options("s3://public/a.parquet", &options)?;
/// assert_eq!(location.path().as_ref(), "a.parquet");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct StoreOptions {
    anonymous: bool,
    shares_connections: bool,
    settings: Vec<(String, String)>,
}

impl fmt::Debug for StoreOptions {
    /// Formats only the settings' names, because their values can be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.settings.iter().map(|(name, _)| name).collect();
        f.debug_struct("StoreOptions")
            .field("anonymous", &self.anonymous)
            .field("shares_connections", &self.shares_connections)
            .field("settings", &names)
            .finish()
    }
}

impl StoreOptions {
    /// Returns options that leave all settings to the environment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects whether requests are sent without a signature, even if there are credentials.
    #[must_use]
    pub fn anonymous(self, anonymous: bool) -> Self {
        Self { anonymous, ..self }
    }

    /// Selects whether stores with the same settings share a client and its connections. If so, all
    /// their requests must run on the same runtime, for example on the one used by `blocking`'s
    /// sources.
    #[must_use]
    pub fn share_connections(self, shares_connections: bool) -> Self {
        Self {
            shares_connections,
            ..self
        }
    }

    /// Adds a setting by its `object_store` name, for example `aws_region`. The name is not
    /// case-sensitive.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Returns true if a scheme's stores have a setting with this name.
    #[must_use]
    pub fn has_setting(scheme: &str, name: &str) -> bool {
        has_setting(&scheme.to_ascii_lowercase(), name)
    }

    /// Returns a setting's last value. Its name can have the store's prefix.
    fn get(&self, name: &str) -> Option<&str> {
        let is_it = |it: &str| {
            let it = it.to_ascii_lowercase();
            let rest = ["aws_", "google_", "azure_"]
                .iter()
                .find_map(|prefix| it.strip_prefix(prefix));
            rest.unwrap_or(&it) == name
        };
        let found = self.settings.iter().rev().find(|(it, _)| is_it(it));
        found.map(|(_, value)| value.as_str())
    }
}

/// The URL of an object, or of all objects below a prefix, together with its store.
///
/// ```
/// use herringbone_remote::urls::Location;
///
/// # fn main() -> herringbone::Result<()> {
/// let location = Location::of("https://me:password@example.com/a.parquet?signature=x")?;
/// assert_eq!(location.name(), "https://example.com/a.parquet?…");
/// let object = location.object()?;
/// assert_eq!(object.name(), location.name());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Location {
    store: Arc<dyn ObjectStore>,
    /// The key as written in the URL. It is empty for a web server, since its store is a single
    /// object.
    key: String,
    path: Path,
    name: String,
    /// The object's name in request errors.
    object_name: String,
    is_web: bool,
    is_signed: bool,
    /// True if all parts of an upload except the last must have the same size.
    has_equal_parts: bool,
    hints: Hints,
    left_out: LeftOut,
    policy: FetchPolicy,
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Location").field(&self.name).finish()
    }
}

impl Location {
    /// Finds a URL's store. This sends no requests, except that a cloud machine's metadata service
    /// is asked if the environment has no credentials.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the URL is malformed, if its
    /// scheme or its key is not supported, or if the store's configuration is wrong.
    pub fn of(url: &str) -> Result<Self> {
        Self::with_options(url, &StoreOptions::new())
    }

    /// Finds a URL's store with your own settings.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::of`], and with
    /// [Argument](herringbone::ErrorKind::Argument) if a setting is unknown.
    pub fn with_options(url: &str, options: &StoreOptions) -> Result<Self> {
        check_allowed(url)?;
        let name = without_secrets(url);
        let wrong = |message: &dyn fmt::Display| Error::argument(format!("{name}: {message}"));
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(wrong(&"not a URL: it has no `://`"));
        };
        install_tls();
        let scheme = scheme.to_ascii_lowercase();
        let store_error = |error: object_store_014::Error| wrong(&plain(&error));
        if matches!(scheme.as_str(), "http" | "https") {
            let parsed = Url::parse(url);
            let parsed = parsed.map_err(|error| wrong(&format_args!("not a URL: {error}")))?;
            return Ok(Self {
                store: http(parsed, options).map_err(store_error)?,
                key: String::new(),
                path: Path::default(),
                object_name: name.clone(),
                name,
                is_web: true,
                is_signed: false,
                has_equal_parts: false,
                hints: Hints::default(),
                left_out: LeftOut::default(),
                policy: FetchPolicy::remote(),
            });
        }
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if rest.contains(['?', '#']) {
            return Err(wrong(&"write `?` and `#` in a key as %3F and %23"));
        }
        let path = path_of(key).map_err(|message| wrong(&message))?;
        let root = format!("{scheme}://{bucket}");
        let parsed =
            Url::parse(&root).map_err(|error| wrong(&format_args!("not a URL: {error}")))?;
        if parsed.host_str().is_none_or(str::is_empty) {
            return Err(wrong(&"not a URL: it names no bucket"));
        }
        let connector = Bounded::new().share_connections(options.shares_connections);
        let left_out = connector.left_out().clone();
        let place = Bucket {
            url: &root,
            connector: &connector,
            options,
        };
        let configured = match scheme.as_str() {
            "s3" | "s3a" => s3(place),
            "gs" => google(place),
            "az" | "azure" | "adl" | "abfs" | "abfss" => azure(place),
            other => {
                let message = format!("URLs of `{other}` are not supported");
                return Err(wrong(&message));
            }
        };
        let configured = configured.map_err(store_error)?;
        Ok(Self {
            store: configured.store,
            hints: Hints::new(configured.unsigned, key),
            key: key.to_owned(),
            path,
            object_name: name.clone(),
            name,
            is_web: false,
            is_signed: configured.unsigned.is_none() && !options.anonymous,
            has_equal_parts: configured.has_equal_parts,
            left_out,
            policy: FetchPolicy::remote(),
        })
    }

    /// Sets the object's name in request errors. The default is the URL without secrets.
    #[must_use]
    pub fn named(self, object_name: impl Into<String>) -> Self {
        Self {
            object_name: object_name.into(),
            ..self
        }
    }

    /// Sets the objects' fetch policy. The default is [`FetchPolicy::remote`].
    #[must_use]
    pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Returns the location of another object in the store. Pass its path in decoded form.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the key is not supported.
    pub fn at(&self, path: &str) -> Result<Self> {
        let key = escaped_key(path);
        // These are the scheme and the bucket.
        let root: Vec<&str> = self.name.split('/').take(3).collect();
        let name = format!("{}/{key}", root.join("/"));
        let path = path_of(&key);
        let path = path.map_err(|message| Error::argument(format!("{name}: {message}")))?;
        Ok(Self {
            key,
            path,
            object_name: name.clone(),
            name,
            ..self.clone()
        })
    }

    /// Returns a path below this prefix as a path in the store, which [`Self::at`] takes.
    #[must_use]
    pub fn below(&self, path: &str) -> String {
        match self.path.as_ref() {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        }
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// Returns the path in the store, that is, the decoded key without a trailing slash. It is
    /// empty for a web server.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the URL without secrets.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true for a web server. These support neither listings nor uploads in parts.
    #[must_use]
    pub fn is_web(&self) -> bool {
        self.is_web
    }

    /// Returns true if requests are signed. This requires that credentials were found and that the
    /// [options](StoreOptions::anonymous) do not refuse them.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// Returns true if the URL names all objects of a bucket, or all objects below a prefix.
    #[must_use]
    pub fn is_prefix(&self) -> bool {
        !self.is_web && (self.key.is_empty() || self.key.ends_with('/'))
    }

    /// Returns true if the key has wildcards, so that it is a pattern. But if an object has this
    /// very key, the URL still names that object.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        self.key.contains(PATTERN)
    }

    /// Returns the path for a listing, that is, the decoded key including its trailing slash. If
    /// the key has wildcards, the path is a pattern. Any escaped wildcards in it stand for
    /// themselves.
    #[must_use]
    pub fn listed(&self) -> String {
        let mut listed = self.path.to_string();
        if self.is_pattern() {
            let key = self.key.replace("%5B", "%5B[%5D").replace("%5b", "%5B[%5D");
            let key = key.replace("%3F", "[%3F]").replace("%3f", "[%3F]");
            let key = key.replace("%2A", "[%2A]").replace("%2a", "[%2A]");
            let key = key.trim_end_matches('/');
            listed = percent_decode_str(key).decode_utf8_lossy().into_owned();
        }
        if self.is_prefix() && !listed.is_empty() {
            // The slash shows that there's no object to look for at this path.
            listed.push('/');
        }
        listed
    }

    /// Returns the object.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the URL names a prefix.
    pub fn object(&self) -> Result<Arc<dyn Object>> {
        self.check_object()?;
        Ok(self.object_at(self.path.clone(), |object| object))
    }

    /// Returns the object at a path from a listing of the store, using the listed identity. This
    /// sends no request.
    #[must_use]
    pub fn listed_object(&self, path: &str, identity: crate::Identity) -> Arc<dyn Object> {
        // An unparsable path can't have been listed, so the store won't find it.
        let path = Path::parse(path).unwrap_or_else(|_| Path::from(path));
        self.object_at(path, |object| object.known_identity(identity))
    }

    fn object_at(
        &self,
        path: Path,
        known: impl FnOnce(StoreObject) -> StoreObject,
    ) -> Arc<dyn Object> {
        let object = StoreObject::new(self.store.clone(), path);
        let object = object
            .name(&self.object_name)
            .fetch_policy(self.policy.clone());
        Arc::new(HintedObject::new(known(object), self.hints.clone()))
    }

    /// Fails unless the URL names a single object.
    fn check_object(&self) -> Result<()> {
        let message = match (self.is_prefix(), self.key.is_empty()) {
            (false, _) => return Ok(()),
            (true, true) => {
                "the URL names no object in the bucket; end it with `/` for all of them"
            }
            (true, false) => {
                "the URL ends with `/`, so it names all objects below it and not one object"
            }
        };
        Err(Error::argument(format!("{}: {message}", self.name)))
    }

    /// Returns a sink for a new object. If it must not replace an existing object, a condition in
    /// the request ensures this for small objects in a store. Otherwise, we check the store just
    /// before the upload ends.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the URL names a prefix.
    pub fn sink(&self, replaces: bool) -> Result<Arc<dyn ObjectSink>> {
        Ok(Arc::new(self.url_sink(replaces)?))
    }

    /// Checks that the object does not exist yet.
    ///
    /// # Errors
    /// Fails with an I/O error of the kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if
    /// the object exists, and with [Argument](herringbone::ErrorKind::Argument) if the URL names a
    /// prefix. The store's errors are returned, too.
    pub fn check_new(&self) -> BoxFuture<Result<()>> {
        let sink = self.url_sink(false);
        Box::pin(async move { sink?.check().await })
    }

    /// Removes the object.
    ///
    /// # Errors
    /// Returns the store's errors. Fails with [Argument](herringbone::ErrorKind::Argument) if the
    /// URL names a prefix.
    pub fn delete(&self) -> BoxFuture<Result<()>> {
        let checked = self.check_object();
        let (store, path, hints) = (self.store.clone(), self.path.clone(), self.hints.clone());
        Box::pin(async move {
            checked?;
            let deleted = store.delete(&path).await;
            deleted.map_err(|failed| hints.add_to(error(failed)))
        })
    }

    fn url_sink(&self, replaces: bool) -> Result<UrlSink> {
        self.check_object()?;
        let (store, path) = (self.store.clone(), self.path.clone());
        Ok(UrlSink {
            sink: StoreSink::new(store.clone(), path.clone()).name(&self.object_name),
            store,
            path,
            is_new: !replaces,
            is_web: self.is_web,
            hints: self.hints.clone(),
        })
    }

    /// Returns options with suitable part sizes for this store.
    #[must_use]
    pub fn write_options(&self) -> RemoteWriteOptions {
        match (self.is_web, self.has_equal_parts) {
            (true, _) => RemoteWriteOptions::new().part_bytes(MAX_WHOLE_BYTES),
            // With 10,000 parts, this allows 625 GiB.
            (false, true) => RemoteWriteOptions::new()
                .part_bytes(64 << 20)
                .equal_parts(true),
            (false, false) => RemoteWriteOptions::new().part_bytes(16 << 20),
        }
    }

    /// Adds helpful hints to the message of an error from this store. Errors from this location's
    /// objects already have them.
    #[must_use]
    pub fn explained(&self, error: Error) -> Error {
        self.hints.add_to(error)
    }

    /// Returns the keys left out of this store's listings because `object_store` cannot represent
    /// them.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

/// Fails if the variable `HERRINGBONE_NO_URLS` forbids URLs.
///
/// # Errors
/// Fails with [Argument](herringbone::ErrorKind::Argument) if URLs are forbidden.
pub fn check_allowed(url: &str) -> Result<()> {
    match env::var_os(NO_URLS).is_some_and(|it| !it.is_empty() && it != "0") {
        false => Ok(()),
        true => Err(Error::argument(format!(
            "{}: the variable {NO_URLS} forbids URLs",
            without_secrets(url)
        ))),
    }
}

/// Returns the path of a `file` URL.
///
/// # Errors
/// Fails with [Argument](herringbone::ErrorKind::Argument) if the URL is malformed, or names
/// another host.
pub fn local_path(url: &str) -> Result<PathBuf> {
    let wrong = |message: &dyn fmt::Display| {
        Error::argument(format!("{}: {message}", without_secrets(url)))
    };
    let parsed = Url::parse(url);
    let parsed = parsed.map_err(|error| wrong(&format_args!("not a URL: {error}")))?;
    let path = parsed.to_file_path();
    path.map_err(|()| wrong(&"expected file:///PATH, a file of this machine"))
}

/// Returns the path for a key in a URL. The key is decoded, but its path isn't resolved, because
/// `a/../b` and `b` are different objects in a store.
fn path_of(key: &str) -> std::result::Result<Path, String> {
    let decoded = percent_decode_str(key).decode_utf8();
    let decoded = decoded.map_err(|_| "the decoded key is not UTF-8".to_owned())?;
    let unusual = |problem: &str| {
        format!("the key has {problem}; objects with such keys can be neither read nor written")
    };
    let whole = decoded.strip_suffix('/').unwrap_or(&decoded);
    for part in whole.split('/') {
        match part {
            "" if !decoded.is_empty() => return Err(unusual("an empty part between two slashes")),
            "." | ".." => return Err(unusual(&format!("the part `{part}`"))),
            _ if part.contains(|it: char| it.is_ascii_control()) => {
                return Err(unusual("a control character"));
            }
            _ => {}
        }
    }
    Path::parse(whole).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_must_name_an_object() {
        for (url, message) in [
            ("s3://bucket", "names no object"),
            ("s3://bucket/a/", "and not one object"),
            ("s3://bucket/a?b", "%3F"),
            ("http://", "not a URL"),
            ("a.parquet", "not a URL"),
            ("s3:///a.parquet", "names no bucket"),
            ("ftp://me:pw@host/a", "ftp://host/a: URLs of `ftp`"),
        ] {
            let object = Location::of(url).and_then(|location| location.object());
            let error = object.expect_err("an error");
            assert!(error.message().contains(message), "{url}: {error}");
        }
    }

    #[test]
    fn settings_precede_the_environment_and_stay_secret() {
        let endpoint = |it: &str| StoreOptions::new().setting("AWS_ENDPOINT_URL", it);
        let of = |options: &StoreOptions| Location::with_options("s3://b/a", options);
        let plain = endpoint("http://store.example:1");
        let error = of(&plain).unwrap_err();
        assert!(
            error.message().contains("needs AWS_ALLOW_HTTP=true"),
            "{error}"
        );
        let allowed = plain.setting("allow_http", "true").anonymous(true);
        assert!(!of(&allowed).unwrap().is_signed());
        let unknown = StoreOptions::new().setting("color", "red");
        assert!(of(&unknown).unwrap_err().message().contains("color"));
        let secret = StoreOptions::new().setting("aws_session_token", "secret\n");
        let error = of(&secret.anonymous(true)).unwrap_err();
        assert!(error.message().contains("line end") && !error.message().contains("secret"));
        let secret = StoreOptions::new().setting("aws_secret_access_key", "secret-1");
        assert!(!format!("{secret:?}").contains("secret-1"));
        let signed = secret.setting("aws_access_key_id", "a");
        assert!(of(&signed).unwrap().is_signed());
    }

    /// `s3://b/a%2Fb` and `s3://b/a/b` have the same key, because S3 receives the same bytes for
    /// both.
    #[test]
    fn a_key_is_decoded_once_and_never_resolved() {
        for (key, expected) in [
            ("a%20b/c=1", Ok("a b/c=1")),
            ("a%2520b", Ok("a%20b")),
            ("a+b%2Bc", Ok("a+b+c")),
            ("a%2Fb", Ok("a/b")),
            ("a%zz", Ok("a%zz")),
            ("a[1]", Ok("a[1]")),
            ("%E2%82%AC", Ok("€")),
            ("a...b/..c", Ok("a...b/..c")),
            ("a/", Ok("a")),
            ("", Ok("")),
            ("a/../b", Err("`..`")),
            ("./a", Err("`.`")),
            ("a/%2E%2e/b", Err("`..`")),
            ("a/%2e", Err("`.`")),
            ("a//b", Err("empty part")),
            ("a//", Err("empty part")),
            ("/", Err("empty part")),
            ("/a", Err("empty part")),
            ("a%0Ab", Err("control character")),
            ("a%7F", Err("control character")),
            ("%FF", Err("UTF-8")),
        ] {
            let path = path_of(key);
            match expected {
                Ok(expected) => assert_eq!(path.unwrap().as_ref(), expected, "{key}"),
                Err(part) => {
                    let message = path.unwrap_err();
                    assert!(message.contains(part), "{key}: {message}");
                }
            }
        }
    }
}
