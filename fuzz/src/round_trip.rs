//! Writes random batches of a random schema with random options. The fuzzer makes all choices.

use std::sync::Arc;

use herringbone::{Compression, ReadOptions, ZstdLevel};

use crate::random::Random;
use crate::write::compare::{difference, read, written};
use crate::write::schemas::Menu;
use crate::write::{arrays, choices};

/// Writes a file that the bytes choose, reads it, and compares.
pub fn write_then_read(data: &[u8]) {
    let random = &mut Random::new(data);
    let schema = Arc::new(Menu::everything().schema(random));
    let batches: Vec<_> = (0..random.below(3))
        .map(|_| {
            let rows = random.pick(&[0, 1, 9, 30, 130]);
            arrays::batch(random, &schema, rows)
        })
        .collect();
    let mut options = choices::options(random, &schema);
    let columns = options.overrides.iter_mut().map(|(_, columns)| columns);
    for columns in columns.chain([&mut options.columns]) {
        columns.compression = columns.compression.map(fast);
    }
    let about = format!("{options:?}");
    let file = written(&schema, &batches, options.threads(1)).expect("all types are written");
    let with = ReadOptions::default()
        .threads(1)
        .batch_size(random.pick(&[3, 50, 8192]));
    let (is, rows) = read(&file, with).expect("what was written");
    assert_eq!(is, schema, "written with {about}");
    assert_eq!(
        difference(&batches, &rows, &schema),
        None,
        "written with {about}"
    );
}

/// Replaces a codec by a fast one, because the codecs have their own targets.
fn fast(compression: Compression) -> Compression {
    match compression {
        Compression::Uncompressed | Compression::Lz4Raw => compression,
        Compression::Zstd(_) => Compression::Zstd(ZstdLevel::default()),
        _ => Compression::Snappy,
    }
}
