//! Keeps file metadata between scans, so that the second scan reads no footer and no index.
//!
//! cargo run --example metadata_cache -- FILE...

use std::collections::HashMap;
use std::path::PathBuf;

use herringbone::filter::col;
use herringbone::source::FileSource;
use herringbone::{MetadataHandle, ParquetFile, ReadOptions, Result};

/// Handles of files by path. A real cache also compares each file's size and modification time.
#[derive(Default)]
struct Cache {
    handles: HashMap<PathBuf, MetadataHandle>,
}

impl Cache {
    fn open(&mut self, path: &PathBuf) -> Result<ParquetFile> {
        if let Some(handle) = self.handles.get(path) {
            return ParquetFile::with_metadata(FileSource::open(path)?, handle.clone());
        }
        let file = ParquetFile::open(path)?;
        let metadata = file.metadata();
        let leaves = file.parquet_schema().leaves().len();
        let row_groups = 0..metadata.num_row_groups();
        // This is one request or a few, because the indexes of all columns lie next to each other.
        file.load_page_indexes(row_groups.flat_map(|group| (0..leaves).map(move |i| (group, i))))?;
        self.handles.insert(path.clone(), file.metadata_handle());
        Ok(file)
    }

    fn heap_bytes(&self) -> usize {
        self.handles.values().map(MetadataHandle::heap_bytes).sum()
    }
}

fn main() -> Result<()> {
    let mut paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let is_example = paths.is_empty();
    if is_example {
        paths.push(
            concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../testdata/example.parquet"
            )
            .into(),
        );
    }
    let mut cache = Cache::default();
    for scan in 1..=2 {
        for path in &paths {
            let options = ReadOptions::new().filter(col("id").ge(20));
            let mut reader = cache.open(path)?.read(options)?;
            let mut rows = 0;
            while let Some(batch) = reader.next_batch()? {
                rows += batch.num_rows();
            }
            let fetched = reader.metrics().fetched;
            if is_example {
                assert_eq!(rows, 4);
            }
            println!(
                "scan {scan}: {rows} rows, {} requests, {} bytes",
                fetched.requests, fetched.bytes
            );
        }
    }
    println!("the cache holds {} bytes", cache.heap_bytes());
    Ok(())
}
