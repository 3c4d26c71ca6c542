//! Rewrites a file with the `parquet` crate, for `sizes.py`:
//! `write-peer IN OUT CODEC ROW_GROUP_ROWS 1|2`.

use std::fs::File;
use std::path::PathBuf;

use herringbone_benches::{Result, arrow_rs};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, target, codec, rows, version] = arguments.as_slice() else {
        return Err("usage: write-peer IN OUT CODEC ROW_GROUP_ROWS 1|2".into());
    };
    let source = File::open(PathBuf::from(source))?;
    let target = File::create(PathBuf::from(target))?;
    arrow_rs::rewrite(
        source,
        target,
        codec.parse()?,
        rows.parse()?,
        version == "2",
    )
}
