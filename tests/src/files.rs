//! The locations of test files and the schemas that other readers see in them.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone::ParquetFile;
use herringbone_arrow::ipc;
use herringbone_arrow::schema::Schema;

/// Returns the schema that Arrow C++ reads from a file, which is the value of `ARROW:schema` as
/// `arrow-ipc` decodes it.
pub fn arrow_schema(file: &ParquetFile) -> Schema {
    let pairs = file.metadata().key_value_metadata();
    let pair = pairs.iter().find(|pair| pair.key == "ARROW:schema");
    let text = pair.and_then(|pair| pair.text()).unwrap();
    let bytes = STANDARD.decode(text).unwrap();
    ipc::convert::try_schema_from_ipc_buffer(&bytes).unwrap()
}

/// Returns the repository folder `testdata/`.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// Returns the repository folder `tests/expected/`.
pub fn expected() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("expected")
}

/// Returns a copy of apache/parquet-testing, whose folder `data` is named by `PARQUET_TEST_DATA`.
/// If the variable is not set, prints a message and returns `None`.
pub fn official() -> Option<PathBuf> {
    let folder = std::env::var_os("PARQUET_TEST_DATA").map(|data| PathBuf::from(data).join(".."));
    if folder.is_none() {
        eprintln!("skipped: PARQUET_TEST_DATA does not name the `data` of apache/parquet-testing");
    }
    folder
}

/// Returns a folder's Parquet files, sorted by name.
pub fn parquet_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "parquet"))
        .collect();
    files.sort();
    assert!(
        !files.is_empty(),
        "no Parquet files in {}",
        folder.display()
    );
    files
}

/// Returns the valid files in `testdata/`, each with its expectation next to it.
pub fn generated() -> Vec<PathBuf> {
    ["", "built", "pyarrow", "duckdb", "polars", "fastparquet"]
        .iter()
        .flat_map(|folder| parquet_files(&testdata().join(folder)))
        .collect()
}

/// Returns a path's last two components.
pub fn short(path: &Path) -> String {
    let parts: Vec<_> = path
        .iter()
        .rev()
        .take(2)
        .map(|p| p.to_string_lossy())
        .collect();
    parts
        .iter()
        .rev()
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join("/")
}
