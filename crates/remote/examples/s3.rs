//! Counts the rows with an id of at least 20 in a file of S3 or at any other URL.
//!
//! cargo run -p herringbone-remote --features blocking,urls --example s3 -- s3://BUCKET/KEY

// docs: read
use herringbone::{OpenOptions, ReadOptions, Result, filter::col};
use herringbone_remote::{RemoteFile, urls::Location};

async fn count(url: &str) -> Result<usize> {
    // The environment has the region and the credentials, such as AWS_REGION and AWS_ACCESS_KEY_ID.
    let object = Location::of(url)?.object()?;
    let file = RemoteFile::open(object, OpenOptions::new()).await?;
    let options = ReadOptions::new().filter(col("id").ge(20)).columns(["id"]);
    let mut batches = file.read(options)?;
    let mut rows = 0;
    while let Some(batch) = batches.next_batch().await? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("usage: s3 URL")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    println!("{} rows", runtime.block_on(count(&url))?);
    Ok(())
}
// docs: end
