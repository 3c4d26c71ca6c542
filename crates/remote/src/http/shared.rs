//! Clients that stores share.

use std::env;
use std::process;
use std::sync::{Mutex, PoisonError};

use object_store_014::client::{HttpClient, HttpConnector, ReqwestConnector};
use object_store_014::{ClientOptions, Result};

/// The number of clients that we keep, each with other settings.
const MAX_CLIENTS: usize = 16;

/// The environment variables that a client reads.
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

/// The clients, by the settings that they were made from.
static CLIENTS: Mutex<Vec<(String, HttpClient)>> = Mutex::new(Vec::new());

/// Returns a client with these settings, which others may use, too. We share it because making one
/// takes some milliseconds to read certificates, and its connections would be new.
pub(super) fn connect(options: &ClientOptions) -> Result<HttpClient> {
    let settings = format!("{options:?}");
    // A header's value may be a secret, which the text does not have, so such clients are not
    // shared.
    if !settings.contains("default_headers: None") {
        return ReqwestConnector::default().connect(options);
    }
    let variables = VARIABLES.map(env::var_os);
    // The key has the process, because a forked process does not have its parent's connections.
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
