//! Small files whose structure could make a reader use much memory.

use herringbone::format::{CompressionCodec, Repetition, Type};
use herringbone::{Compression, ZstdLevel};
use herringbone_core::compression::compress;

use crate::crafted::{Chunk, Page, file, group, leaf};

/// Returns the files' names and bytes.
pub(crate) fn files() -> Vec<(String, Vec<u8>)> {
    vec![
        ("a long name above many leaves".to_owned(), long_name()),
        ("bombs in empty pages".to_owned(), bombs()),
        ("row groups without rows".to_owned(), empty_row_groups()),
    ]
}

fn numbers(pages: Vec<Page>, num_values: u64, codec: CompressionCodec) -> Chunk {
    Chunk {
        physical: Type::Int32,
        codec,
        num_values,
        pages,
    }
}

/// Returns a file in which a path of 1 MiB for each of 2000 leaves would take 2 GiB.
fn long_name() -> Vec<u8> {
    const LEAVES: usize = 2000;
    let mut schema = vec![group("schema", None, 1)];
    schema.push(group(
        &"n".repeat(1 << 20),
        Some(Repetition::Required),
        LEAVES,
    ));
    schema.extend((0..LEAVES).map(|i| leaf(&i.to_string(), Type::Int32, Repetition::Required)));
    let chunk = |_| {
        let page = Page::v1(1, &[1, 0, 0, 0]);
        numbers(vec![page], 1, CompressionCodec::Uncompressed)
    };
    file(schema, &[(1, (0..LEAVES).map(chunk).collect())])
}

/// Returns a file with pages that have no values, but decompress to 16 MiB each.
fn bombs() -> Vec<u8> {
    let mut bomb = Vec::new();
    let plain = vec![0; 16 << 20];
    let level = Compression::Zstd(ZstdLevel::default());
    compress(level, &plain, &mut bomb).unwrap();
    let mut four = Vec::new();
    compress(level, &[1, 0, 0, 0], &mut four).unwrap();
    let mut pages: Vec<_> = (0..500)
        .map(|_| Page::v1(0, &bomb).with_plain_size(plain.len()))
        .collect();
    pages.push(Page::v1(1, &four).with_plain_size(4));
    let schema = vec![
        group("schema", None, 1),
        leaf("x", Type::Int32, Repetition::Required),
    ];
    file(
        schema,
        &[(1, vec![numbers(pages, 1, CompressionCodec::Zstd)])],
    )
}

fn empty_row_groups() -> Vec<u8> {
    let schema = vec![
        group("schema", None, 1),
        leaf("x", Type::Int32, Repetition::Required),
    ];
    let groups: Vec<_> = (0..20_000)
        .map(|_| {
            let chunk = numbers(Vec::new(), 0, CompressionCodec::Uncompressed);
            (0, vec![chunk])
        })
        .collect();
    file(schema, &groups)
}
