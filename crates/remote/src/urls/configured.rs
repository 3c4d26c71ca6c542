//! Configuring stores from the environment and from profiles.

use std::convert::identity;
use std::env;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use object_store_014::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store_014::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store_014::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store_014::http::HttpBuilder;
use object_store_014::{
    BackoffConfig, ClientConfigKey, ClientOptions, HeaderMap, HeaderValue, ObjectStore, RetryConfig,
};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use super::StoreOptions;
use super::profile::Profile;
use crate::http::Bounded;

/// This library's name in requests.
const USER_AGENT: &str = concat!("herringbone/", env!("CARGO_PKG_VERSION"));
/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// The timeout for an answer's next byte.
const SILENCE: Duration = Duration::from_secs(30);
/// The number of retries after a server error or a lost connection.
const RETRIES: usize = 5;
/// The shortest wait before a retry.
const FIRST_WAIT: Duration = Duration::from_millis(400);

/// The timeout for a cloud machine's metadata service.
const METADATA_SERVICE_WAIT: Duration = Duration::from_millis(300);
/// The metadata service's address, the same in all clouds.
const METADATA_SERVICE: ([u8; 4], u16) = ([169, 254, 169, 254], 80);

/// A bucket to configure a store for.
#[derive(Clone, Copy)]
pub(super) struct Bucket<'a> {
    /// The URL without a key.
    pub(super) url: &'a str,
    pub(super) connector: &'a Bounded,
    pub(super) options: &'a StoreOptions,
}

/// A configured store.
pub(super) struct Configured {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The reason for unsigned requests, if no credentials were found.
    pub(super) unsigned: Option<&'static str>,
    /// True for Cloudflare R2, because it requires all parts of an upload except the last to have
    /// the same size.
    pub(super) has_equal_parts: bool,
}

/// Makes TLS use ring's cryptography.
pub(super) fn install_tls() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // This fails if there is already a provider, and that is just as good.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
    });
}

/// Returns the retry configuration. The waits add up to at least 2 s, and about 5 s on average, to
/// give time to a store that asks us to slow down.
fn retries() -> RetryConfig {
    RetryConfig {
        max_retries: RETRIES,
        backoff: BackoffConfig {
            init_backoff: FIRST_WAIT,
            ..BackoffConfig::default()
        },
        ..RetryConfig::default()
    }
}

/// Returns a web server's store. Each object has its own store, with the whole URL, including its
/// query, as the base.
pub(super) fn http(
    mut url: Url,
    settings: &StoreOptions,
) -> object_store_014::Result<Arc<dyn ObjectStore>> {
    let mut options = ClientOptions::new()
        .with_allow_http(true)
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT)
        .with_read_timeout(SILENCE)
        .with_user_agent(HeaderValue::from_static(USER_AGENT));
    for (name, value) in &settings.settings {
        let key: ClientConfigKey = name.to_ascii_lowercase().parse()?;
        options = options.with_config(key, value);
    }
    if let Some(authorization) = authorization(&mut url) {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", authorization);
        options = options.with_default_headers(headers);
    }
    let store = HttpBuilder::new()
        .with_url(url.as_str())
        .with_client_options(options)
        .with_retry(retries())
        .with_http_connector(Bounded::new().share_connections(settings.shares_connections))
        .build()?;
    Ok(Arc::new(store))
}

/// Removes the user information and the fragment from a URL, returning a header for the former.
fn authorization(url: &mut Url) -> Option<HeaderValue> {
    url.set_fragment(None);
    let decoded = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let (user, password) = (decoded(url.username()), url.password().map(decoded));
    if user.is_empty() && password.is_none() {
        return None;
    }
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    let pair = [user, b":".to_vec(), password.unwrap_or_default()].concat();
    let header = format!("Basic {}", BASE64_STANDARD.encode(pair));
    let mut header = HeaderValue::from_str(&header).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Configures a store from its variables, its settings, and anything that `fill` adds. Without
/// variables for the client, our defaults apply.
macro_rules! from_env {
    ($builder:ident, $key:ident, $prefix:literal, $endpoints:expr, $sent:expr, $place:expr, $fill:expr) => {{
        let mut builder = $builder::from_env()
            .with_url($place.url)
            .with_http_connector($place.connector.clone())
            .with_retry(retries());
        for (key, value) in client_defaults() {
            let variable = format!("{}_{}", $prefix, key.as_ref().to_ascii_uppercase());
            if env::var_os(variable).is_none() {
                builder = builder.with_config($key::Client(key), value);
            }
        }
        for (name, value) in &$place.options.settings {
            let key: $key = name.to_ascii_lowercase().parse()?;
            builder = builder.with_config(key, value);
        }
        builder = $fill(builder);
        let mut endpoints = $endpoints.iter();
        let endpoint = endpoints.find_map(|key| builder.get_config_value(key));
        if let Some(endpoint) = endpoint {
            if is_on_this_machine(&endpoint) {
                builder = builder.with_config($key::Client(ClientConfigKey::AllowHttp), "true");
            }
            check_endpoint(&endpoint, $prefix, $place.options)?;
        }
        for key in $sent {
            if let Some(value) = builder.get_config_value(&key) {
                check_sent(key.as_ref(), &value)?;
            }
        }
        builder
    }};
}

/// Returns the default client configuration. A whole answer is allowed to take long, but a silent
/// server is an error.
fn client_defaults() -> [(ClientConfigKey, String); 4] {
    [
        (ClientConfigKey::Timeout, "1 day".into()),
        (
            ClientConfigKey::ConnectTimeout,
            format!("{}s", CONNECT.as_secs()),
        ),
        (
            ClientConfigKey::ReadTimeout,
            format!("{}s", SILENCE.as_secs()),
        ),
        (ClientConfigKey::UserAgent, USER_AGENT.into()),
    ]
}

/// Returns true if an endpoint is on this machine, so that it needs no TLS.
fn is_on_this_machine(endpoint: &str) -> bool {
    let Ok(url) = Url::parse(endpoint) else {
        return false;
    };
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Checks a server address from a variable.
///
/// # Errors
/// Fails with Generic if it is not a server's URL, or if it is another machine's `http` URL and
/// that is not allowed.
fn check_endpoint(
    endpoint: &str,
    prefix: &str,
    options: &StoreOptions,
) -> object_store_014::Result<()> {
    let url = Url::parse(endpoint).ok().filter(Url::has_host);
    // Everything else means true.
    let is_no = |text: &str| ["false", "0", "off", "no", "n"].contains(&&*text.to_lowercase());
    let variable = env::var(format!("{prefix}_ALLOW_HTTP")).ok();
    let allowed = options.get("allow_http").or(variable.as_deref());
    let allowed = allowed.is_some_and(|text| !is_no(text));
    let problem = match url.as_ref().map(Url::scheme) {
        Some("https") => return Ok(()),
        Some("http") if allowed || is_on_this_machine(endpoint) => return Ok(()),
        Some("http") => format!("needs {prefix}_ALLOW_HTTP=true, because it has no TLS"),
        _ => "is not a URL; expected https://HOST or http://HOST:PORT".to_owned(),
    };
    // We leave out the user and the query, because these can be secrets.
    let host = endpoint.rsplit('@').next().unwrap_or_default();
    let host = host.split('?').next().unwrap_or_default();
    Err(object_store_014::Error::Generic {
        store: "configuration",
        source: format!("the endpoint `{host}` {problem}").into(),
    })
}

/// Checks a setting to be sent in headers. We have to do this ourselves, because `object_store`
/// panics if the setting isn't valid in a header.
///
/// # Errors
/// Fails with Generic if the setting has a character not allowed in headers. The message does not
/// show the setting, because it might be a secret.
fn check_sent(name: &str, value: &str) -> object_store_014::Result<()> {
    let is_usual = |it: char| matches!(it, ' '..='~');
    let problem = match value.chars().find(|it| !is_usual(*it)) {
        None => return Ok(()),
        Some('\n' | '\r') => "a line end".to_owned(),
        Some(character) => format!("the character {}", character.escape_unicode()),
    };
    Err(object_store_014::Error::Generic {
        store: "configuration",
        source: format!(
            "the setting `{name}` contains {problem}, which requests cannot have; set its variable without it"
        )
        .into(),
    })
}

/// Returns an S3 bucket's store.
pub(super) fn s3(place: Bucket<'_>) -> object_store_014::Result<Configured> {
    use AmazonS3ConfigKey as Key;
    let options = place.options;
    let endpoints = [Key::S3Endpoint, Key::Endpoint];
    let sent = [
        Key::AccessKeyId,
        Key::SecretAccessKey,
        Key::Token,
        Key::Region,
        Key::DefaultRegion,
    ];
    let profile = Profile::of_environment()?;
    let fill = |builder| profile.fill(builder);
    let mut builder = from_env!(
        AmazonS3Builder,
        AmazonS3ConfigKey,
        "AWS",
        endpoints,
        sent,
        place,
        fill
    );
    let keys = [
        Key::AccessKeyId,
        Key::SecretAccessKey,
        Key::WebIdentityTokenFile,
        Key::ContainerCredentialsRelativeUri,
        Key::ContainerCredentialsFullUri,
        Key::MetadataEndpoint,
    ];
    let is_given = keys
        .iter()
        .any(|key| builder.get_config_value(key).is_some());
    let has_service = || !is_true("AWS_EC2_METADATA_DISABLED") && has_metadata_service();
    let is_unread = profile.is_unread();
    let unsigned =
        !is_chosen("AWS_SKIP_SIGNATURE", options) && !is_given && (is_unread || !has_service());
    if unsigned || options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let endpoint = endpoints
        .iter()
        .find_map(|key| builder.get_config_value(key));
    Ok(Configured {
        store: Arc::new(builder.build()?),
        unsigned: unsigned.then_some(match is_unread {
            true => {
                "the profile has credentials of SSO, a process or a role of another profile, which are not read"
            }
            false => "no credentials such as AWS_ACCESS_KEY_ID were found",
        }),
        has_equal_parts: endpoint.is_some_and(|endpoint| endpoint.contains(".r2.cloudflarestorage.com")),
    })
}

/// Returns a Google Cloud Storage bucket's store.
pub(super) fn google(place: Bucket<'_>) -> object_store_014::Result<Configured> {
    use GoogleConfigKey as Key;
    let options = place.options;
    let endpoints = [Key::BaseUrl];
    let sent = [Key::BearerToken];
    let mut builder = from_env!(
        GoogleCloudStorageBuilder,
        GoogleConfigKey,
        "GOOGLE",
        endpoints,
        sent,
        place,
        identity
    );
    let keys = [
        Key::ServiceAccount,
        Key::ServiceAccountKey,
        Key::ApplicationCredentials,
        Key::BearerToken,
    ];
    let is_given = keys
        .iter()
        .any(|key| builder.get_config_value(key).is_some());
    let is_given = is_given || google_credentials().is_some_and(|path| path.exists());
    let unsigned =
        !is_chosen("GOOGLE_SKIP_SIGNATURE", options) && !is_given && !has_metadata_service();
    if unsigned || options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let reason = "no credentials such as GOOGLE_APPLICATION_CREDENTIALS were found";
    Ok(Configured {
        store: Arc::new(builder.build()?),
        unsigned: unsigned.then_some(reason),
        has_equal_parts: false,
    })
}

/// Returns the path of the file written by `gcloud auth application-default login`.
fn google_credentials() -> Option<PathBuf> {
    let folder = match cfg!(windows) {
        true => PathBuf::from(env::var_os("APPDATA")?),
        false => PathBuf::from(env::var_os("HOME")?).join(".config"),
    };
    Some(folder.join("gcloud/application_default_credentials.json"))
}

/// Returns an Azure container's store.
pub(super) fn azure(place: Bucket<'_>) -> object_store_014::Result<Configured> {
    use AzureConfigKey as Key;
    let options = place.options;
    let endpoints = [Key::Endpoint];
    let sent = [
        Key::AccountName,
        Key::AccessKey,
        Key::SasKey,
        Key::Token,
        Key::ClientId,
        Key::ClientSecret,
        Key::AuthorityId,
    ];
    let mut builder = from_env!(
        MicrosoftAzureBuilder,
        AzureConfigKey,
        "AZURE",
        endpoints,
        sent,
        place,
        identity
    );
    let keys = [
        Key::AccessKey,
        Key::SasKey,
        Key::Token,
        Key::ClientSecret,
        Key::FederatedTokenFile,
        Key::MsiEndpoint,
    ];
    let is_given = keys
        .iter()
        .any(|key| builder.get_config_value(key).is_some())
        || is_true("AZURE_USE_AZURE_CLI")
        || is_true("AZURE_STORAGE_USE_EMULATOR");
    let unsigned =
        !is_chosen("AZURE_SKIP_SIGNATURE", options) && !is_given && !has_metadata_service();
    if unsigned || options.anonymous {
        builder = builder.with_config(Key::SkipSignature, "true");
    }
    let reason = "no credentials such as AZURE_STORAGE_ACCOUNT_KEY were found";
    Ok(Configured {
        store: Arc::new(builder.build()?),
        unsigned: unsigned.then_some(reason),
        has_equal_parts: false,
    })
}

/// Returns true if the scheme's stores have a setting with this name.
pub(super) fn has_setting(scheme: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match scheme {
        "s3" | "s3a" => name.parse::<AmazonS3ConfigKey>().is_ok(),
        "gs" => name.parse::<GoogleConfigKey>().is_ok(),
        "http" | "https" => name.parse::<ClientConfigKey>().is_ok(),
        _ => name.parse::<AzureConfigKey>().is_ok(),
    }
}

/// Returns true if the options or a variable decide whether requests are signed.
fn is_chosen(variable: &str, options: &StoreOptions) -> bool {
    options.anonymous || options.get("skip_signature").is_some() || env::var_os(variable).is_some()
}

/// Returns true if a variable is set to a true value.
fn is_true(variable: &str) -> bool {
    env::var(variable).is_ok_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

/// Returns true if this is a cloud machine with a metadata service, as a source of credentials. We
/// only ask once per process.
fn has_metadata_service() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| {
        let (address, port) = METADATA_SERVICE;
        let address = SocketAddr::new(IpAddr::from(address), port);
        TcpStream::connect_timeout(&address, METADATA_SERVICE_WAIT).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_information_becomes_a_header() {
        let mut url = Url::parse("https://me:p%40w@host/a?b=1#c").unwrap();
        // RFC 7617, with the base64 of `me:p@w`.
        assert_eq!(authorization(&mut url).unwrap(), "Basic bWU6cEB3");
        assert_eq!(url.as_str(), "https://host/a?b=1");
        assert_eq!(authorization(&mut url), None);
    }

    #[test]
    fn settings_with_a_line_end_are_errors_without_the_setting() {
        for (value, expected) in [
            ("AKIA/+= ~", None),
            ("secret\n", Some("contains a line end")),
            ("se\rcret", Some("contains a line end")),
            ("secret\u{7f}", Some("the character \\u{7f}")),
            ("secrét", Some("the character \\u{e9}")),
        ] {
            let checked = check_sent("aws_region", value);
            let message = checked.err().map(|error| error.to_string());
            let message = message.as_deref();
            assert_eq!(message.is_some(), expected.is_some(), "{value:?}");
            assert!(message.is_none_or(|message| message.contains(expected.unwrap())));
            assert!(
                message.is_none_or(
                    |message| message.contains("`aws_region`") && !message.contains("ecr")
                )
            );
        }
    }

    #[test]
    fn only_loopback_endpoints_need_no_tls() {
        for (endpoint, expected) in [
            ("http://localhost:9000", true),
            ("http://127.0.0.1:9000", true),
            ("http://[::1]:9000", true),
            ("http://example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("localhost", false),
        ] {
            assert_eq!(is_on_this_machine(endpoint), expected, "{endpoint}");
        }
    }
}
