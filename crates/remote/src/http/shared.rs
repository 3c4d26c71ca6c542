//! Clients that stores share.

use std::env;
use std::process;
use std::sync::{Mutex, PoisonError};

use object_store_014::client::{HttpClient, HttpConnector, ReqwestConnector};
use object_store_014::{ClientOptions, Result};

/// The number of clients kept, each with other settings.
const MAX_CLIENTS: usize = 16;

/// The variables that a client reads.
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

/// The clients, by the settings from which they were made.
static CLIENTS: Mutex<Vec<(String, HttpClient)>> = Mutex::new(Vec::new());

/// Returns a client with these settings, which others may use, too. To make one, certificates are read, which takes some
/// milliseconds, and its connections are new.
pub(super) fn connect(options: &ClientOptions) -> Result<HttpClient> {
    let settings = format!("{options:?}");
    // The values of headers may be secrets, which the text does not have.
    if !settings.contains("default_headers: None") {
        return ReqwestConnector::default().connect(options);
    }
    let variables = VARIABLES.map(env::var_os);
    // A forked process does not have the connections of its parent.
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
