//! Splits Parquet files into seeds for every target.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use herringbone::ParquetFile;
use herringbone::format::{ColumnMetaData, CompressionCodec, PageHeader};
use herringbone_core::compression::decompress;

use crate::page::seed_of_values;
use crate::random::Random;

/// The files that the `parquet` crate reads differently from the specification. It reads BIT_PACKED
/// levels from the wrong end, and returns no rows if the footer declares none. It stops at a page
/// without values, and loses rows of a repeated field.
const THEIR_FAULTS: [&str; 4] = [
    "bit_packed_levels",
    "footer_of_no_rows",
    "pages_without_values",
    "repeated_no_annotation",
];

/// The size in bytes above which a page does not become a seed.
const LARGEST_PAGE: usize = 16 << 20;

/// The size in bytes above which we skip a file, because it would make a fuzzer slow.
const MOST: usize = 32 << 10;

/// Adds one folder per target to `corpus`, made from all files in `folders`, and returns the number
/// of files.
pub(crate) fn write(corpus: &Path, folders: &[PathBuf]) -> usize {
    let seeds = Seeds {
        corpus: corpus.to_owned(),
    };
    seeds.choices();
    for (target, text) in crate::import::SEEDS {
        for choice in 0..4_u8 {
            seeds.add(target, &[&[choice], text.as_bytes()].concat());
        }
    }
    for seed in crate::store::seeds() {
        seeds.add("store_answers", &seed);
    }
    for seed in crate::variant::seeds() {
        seeds.add("variant", &seed);
    }
    let mut files = 0;
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(folder) else {
            eprintln!("skipped: no folder {}", folder.display());
            continue;
        };
        for entry in entries {
            let path = entry.expect("a folder").path();
            if path.extension().is_some_and(|e| e == "encrypted") {
                seeds.add("encrypted_file", &std::fs::read(&path).expect("a file"));
            }
            if path.extension().is_some_and(|e| e == "parquet") {
                let bytes = std::fs::read(&path).expect("a file");
                if bytes.len() <= MOST {
                    seeds.of_file(&bytes);
                    let name = path.file_stem().unwrap_or_default();
                    if !THEIR_FAULTS.iter().any(|fault| name == *fault) {
                        seeds.add("against_arrow_rs", &bytes);
                    }
                    files += 1;
                }
            }
        }
    }
    files
}

struct Seeds {
    corpus: PathBuf,
}

impl Seeds {
    fn add(&self, target: &str, bytes: &[u8]) {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let folder = self.corpus.join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        let path: &Path = &folder.join(format!("{:016x}", hasher.finish()));
        std::fs::write(path, bytes).expect("a file");
    }

    /// Adds random inputs of 16 to 2048 bytes for `write_then_read`, which takes them as choices.
    fn choices(&self) {
        for seed in 0..60 {
            let mut random = Random::new(&[seed, seed]);
            let length = 16 << random.below(8);
            let choices: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            self.add("write_then_read", &choices);
        }
    }

    fn of_file(&self, bytes: &[u8]) {
        self.add("whole_file", bytes);
        self.add("encrypted_file", bytes);
        let [.., a, b, c, d, b'P', b'A', b'R', b'1'] = *bytes else {
            return;
        };
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if let Some(start) = bytes.len().checked_sub(length + 8) {
            self.add("footer", &bytes[start..bytes.len() - 8]);
        }
        let Ok(file) = ParquetFile::from_bytes(bytes.to_vec()) else {
            return;
        };
        for row_group in 0..file.metadata().num_row_groups().min(2) {
            for leaf in 0..file.metadata().num_columns(row_group) {
                self.of_chunk(bytes, &file, row_group, leaf);
            }
        }
    }

    fn of_chunk(&self, bytes: &[u8], file: &ParquetFile, row_group: usize, leaf: usize) {
        let Ok(chunk) = file.metadata().column_chunk(row_group, leaf) else {
            return;
        };
        let indexes = [
            (0, chunk.column_index_offset, chunk.column_index_length),
            (1, chunk.offset_index_offset, chunk.offset_index_length),
        ];
        for (which, offset, length) in indexes {
            if let (Some(offset), Some(length)) = (offset, length)
                && let Some(index) =
                    bytes.get(offset as usize..(offset + i64::from(length)) as usize)
            {
                self.add("page_index", &[&[which], index].concat());
            }
        }
        let Some(metadata) = chunk.meta_data else {
            return;
        };
        if let Some(offset) = metadata.bloom_filter_offset {
            let header = bytes.get(offset as usize..).unwrap_or_default();
            self.add(
                "page_index",
                &[&[2], &header[..header.len().min(40)]].concat(),
            );
        }
        let Ok(pages) = file.pages(row_group, leaf) else {
            return;
        };
        for page in pages.take(3).flatten() {
            let body = page.start.offset as usize + page.header_bytes;
            self.add("page_header", &bytes[page.start.offset as usize..body]);
            let end = body + page.header.compressed_page_size as usize;
            if let Some(body) = bytes.get(body..end) {
                self.of_page(file, leaf, &metadata, &page.header, body);
            }
        }
    }

    fn of_page(
        &self,
        file: &ParquetFile,
        leaf: usize,
        metadata: &ColumnMetaData,
        header: &PageHeader,
        body: &[u8],
    ) {
        let plain = header.uncompressed_page_size.max(0) as usize;
        if plain > LARGEST_PAGE {
            return;
        }
        let mut values = body.to_vec();
        if metadata.codec != CompressionCodec::Uncompressed {
            if let Ok(size) = u16::try_from(plain) {
                let target = format!("codec_{}", metadata.codec).to_lowercase();
                self.add(&target, &[&size.to_le_bytes(), body].concat());
            }
            values = vec![0; plain];
            if decompress(metadata.codec, body, &mut values).is_err() {
                return;
            }
        }
        let leaf = &file.parquet_schema().leaves()[leaf];
        let Some(v1) = &header.data_page_header else {
            return;
        };
        // The levels come before the values, each kind with its length.
        let mut rest = Bytes::from(values);
        for max_level in [leaf.max_rep_level, leaf.max_def_level] {
            if max_level > 0 {
                let Some(&length) = rest.first_chunk::<4>() else {
                    return;
                };
                let length = 4 + u32::from_le_bytes(length) as usize;
                if length > rest.len() {
                    return;
                }
                rest = rest.slice(length..);
            }
        }
        let seed = seed_of_values(v1.encoding, metadata.type_, v1.num_values, &rest);
        if let Some((target, seed)) = seed {
            self.add(&format!("encoding_{target}"), &seed);
        }
    }
}
