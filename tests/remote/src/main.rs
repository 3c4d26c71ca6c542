//! Reads and writes against servers, which `tests/interop_remote.sh` starts:
//!
//! herringbone-remote-servers s3 | azure | faulty | nginx | manners ENDPOINT FOLDER [DOOR...]
//!
//! A door is another program that reads, given as `NAME=PROGRAM ARGUMENT...`.

mod data;
mod doors;
mod faults;
mod manners;
mod stores;

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

/// The account and key of azurite, which are the same everywhere.
const AZURITE_ACCOUNT: &str = "devstoreaccount1";
const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The name of the bucket or container.
const BUCKET: &str = "herringbone";

fn client() -> ClientOptions {
    ClientOptions::new().with_allow_http(true)
}

/// Returns options without retries, because the tests expect errors and should not wait for them.
fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..Default::default()
    }
}

fn s3(endpoint: &str) -> Arc<dyn ObjectStore> {
    let builder = AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_bucket_name(BUCKET)
        .with_region("us-east-1")
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .with_client_options(client())
        .with_retry(retry());
    Arc::new(builder.build().expect("a store"))
}

fn azure(endpoint: &str) -> Arc<dyn ObjectStore> {
    let builder = MicrosoftAzureBuilder::new()
        .with_endpoint(format!("{endpoint}/{AZURITE_ACCOUNT}"))
        .with_account(AZURITE_ACCOUNT)
        .with_access_key(AZURITE_KEY)
        .with_container_name(BUCKET)
        .with_client_options(client())
        .with_retry(retry());
    Arc::new(builder.build().expect("a store"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    rustls::crypto::ring::default_provider()
        .install_default()
        .expect("no other provider");
    let (arguments, doors) = arguments.split_at(arguments.len().min(3));
    let mut doors: Vec<_> = doors.iter().map(|door| doors::Door::start(door)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        match arguments[..] {
            ["s3", endpoint, _] => {
                stores::check(s3(endpoint)).await;
                stores::check_s3_uploads(s3(endpoint), endpoint).await;
                stores::check_416(s3(endpoint)).await;
                stores::check_doors(&s3(endpoint), "s3", &mut doors).await;
            }
            ["azure", endpoint, _] => {
                stores::check(azure(endpoint)).await;
                stores::check_doors(&azure(endpoint), "az", &mut doors).await;
            }
            ["nginx", endpoint, folder] => {
                faults::nginx(endpoint, folder).await;
                faults::nginx_doors(endpoint, folder, &mut doors).await;
            }
            ["faulty", endpoint, folder] => faults::faulty(endpoint, folder).await,
            ["manners", endpoint, folder] => {
                manners::check(endpoint, folder, &mut doors).await;
            }
            _ => panic!("unknown arguments: {arguments:?}"),
        }
    });
}
