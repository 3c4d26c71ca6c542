//! Sharing clients between stores.

use std::env;
use std::process;
use std::sync::{Mutex, PoisonError};

use object_store_014::client::{HttpClient, HttpConnector, ReqwestConnector};
use object_store_014::{ClientOptions, Result};

/// The most clients to keep, each with different settings.
const MAX_CLIENTS: usize = 16;

/// The environment variables read by a client.
const VARIABLES: [&str; 10] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The clients by their settings.
static CLIENTS: Mutex<Vec<(String, HttpClient)>> = Mutex::new(Vec::new());

/// Returns a shared client with these settings. Sharing pays off, because a new client takes some
/// milliseconds to read certificates and starts without connections.
pub(super) fn connect(options: &ClientOptions) -> Result<HttpClient> {
    let settings = format!("{options:?}");
    // Header values can be secrets and don't appear in this text, so we can't share clients with
    // default headers.
    if !settings.contains("default_headers: None") {
        return ReqwestConnector::default().connect(options);
    }
    let variables = VARIABLES.map(env::var_os);
    // The key includes the process, because a forked process doesn't have its parent's connections.
    let key = format!("{}{variables:?}{settings}", process::id());
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, client)) = clients.iter().find(|(of, _)| *of == key) {
        return Ok(client.clone());
    }
    let client = ReqwestConnector::default().connect(options)?;
    if clients.len() == MAX_CLIENTS {
        clients.remove(0);
    }
    clients.push((key, client.clone()));
    Ok(client)
}
