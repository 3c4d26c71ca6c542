//! Reads files at URLs through an engine:
//!
//! herringbone-doors datafusion | delta
//!
//! Each line of standard input has a length and a URL. The program answers it with one line, which
//! is `rows COUNT SUM` with the sum of the column `id`, or the error's kind and message. Stores
//! take their configuration from the environment variables that `object_store` knows.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::schema::{DataType, StructField, StructType};
use delta_kernel::{FileMeta, ParquetHandler};
use delta_kernel_default_engine::executor::tokio::TokioBackgroundExecutor;
use herringbone::ErrorKind;
use herringbone_datafusion::ReadParquet;
use herringbone_delta::HerringboneParquetHandler;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use url::Url;

type Result<T> = std::result::Result<T, Box<dyn StdError + Send + Sync>>;

/// Creates the store for a URL, which tries each request three times.
fn store(url: &Url) -> Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        max_retries: 2,
        retry_timeout: Duration::from_secs(10),
        ..Default::default()
    };
    let bucket = url.host_str().unwrap_or_default();
    Ok(match url.scheme() {
        "s3" => Arc::new(
            AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                .with_retry(retry)
                .build()?,
        ),
        "az" => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_container_name(bucket)
                .with_retry(retry)
                .build()?,
        ),
        _ => Arc::new(
            HttpBuilder::new()
                .with_url(&url[..url::Position::BeforePath])
                .with_client_options(ClientOptions::new().with_allow_http(true))
                .with_retry(retry)
                .build()?,
        ),
    })
}

async fn by_datafusion(url: &Url) -> Result<Vec<RecordBatch>> {
    let session = SessionContext::new();
    herringbone_datafusion::register(&session)?;
    session.register_object_store(url, store(url)?);
    let table = session
        .read_parquet_files(url.as_str(), HashMap::new())
        .await?;
    Ok(table.collect().await?)
}

fn by_delta(url: &Url, length: u64) -> Result<Vec<RecordBatch>> {
    let executor = Arc::new(TokioBackgroundExecutor::new());
    let handler = HerringboneParquetHandler::new(store(url)?, executor);
    let fields = ["id", "value"].map(|name| StructField::nullable(name, DataType::LONG));
    let schema = Arc::new(StructType::try_new(fields)?);
    let file = FileMeta::new(url.clone(), 0, length);
    let read = handler.read_parquet_files(&[file], schema, None)?;
    let batches = read.map(|data| {
        let data = ArrowEngineData::try_from_engine_data(data?)?;
        Ok((*data).into())
    });
    batches.collect()
}

/// Returns the line that answers a read.
fn answer(read: Result<Vec<RecordBatch>>) -> Result<String> {
    let error = match read {
        Ok(batches) => {
            let Some(first) = batches.first() else {
                return Ok("rows 0 0".to_owned());
            };
            let rows = concat_batches(first.schema_ref(), &batches)?;
            let ids = rows.column_by_name("id").ok_or("no column `id`")?;
            let sum: i64 = ids.as_primitive::<Int64Type>().values().iter().sum();
            return Ok(format!("rows {} {sum}", rows.num_rows()));
        }
        Err(error) => error,
    };
    let message = error.to_string().replace('\n', " ");
    Ok(format!("{} {message}", kind(error.as_ref())))
}

/// Returns the kind of the library's error among an error's causes. If there is none, the error
/// must be a store's.
fn kind(error: &(dyn StdError + 'static)) -> &'static str {
    let mut next = Some(error);
    while let Some(error) = next {
        // We look inside I/O errors ourselves, because their `source` hides the error that they
        // wrap.
        let within = error.downcast_ref::<io::Error>();
        let within = within.and_then(|error| error.get_ref()?.downcast_ref());
        if let Some(error) = within.or_else(|| error.downcast_ref::<herringbone::Error>()) {
            return match error.kind() {
                ErrorKind::Replaced => "replaced",
                ErrorKind::Corrupt => "corrupt",
                ErrorKind::Io => "io",
                _ => "other",
            };
        }
        next = error.source();
    }
    "io"
}

fn main() -> Result<()> {
    let door = std::env::args().nth(1).unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new()?;
    for line in io::stdin().lines() {
        let line = line?;
        let (length, url) = line.split_once(' ').ok_or("no length and URL")?;
        let (length, url) = (length.parse()?, Url::parse(url)?);
        let read = match door.as_str() {
            "datafusion" => runtime.block_on(by_datafusion(&url)),
            "delta" => by_delta(&url, length),
            other => Err(format!("{other}: neither datafusion nor delta"))?,
        };
        println!("{}", answer(read)?);
    }
    Ok(())
}
