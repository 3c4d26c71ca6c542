//! The footers, indexes and page headers of the official test files.
//!
//! `PARQUET_TEST_DATA` names the `data` folder of apache/parquet-testing. Without it, these tests are skipped with a
//! message on standard error.

#![allow(missing_docs, unreachable_pub, reason = "a test")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the files are known, and what is unexpected must fail the test"
)]

mod golden;

use std::{
    fs,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use golden::{Chunk, FILES};
use herringbone_format::{
    BloomFilterHeader, ColumnChunk, ColumnIndex, ColumnOrder, Error, FileMetadata,
    FileMetadataParts, Limits, LogicalType, OffsetIndex, PageHeader, PageType, RawStruct, Result,
    footer::{FOOTER_TAIL_BYTES, MAGIC, Tail},
    thrift::CompactWriter,
};

fn test_data() -> Option<PathBuf> {
    // Folders such as `bad_data` are next to the folder in the variable.
    let data = std::env::var_os("PARQUET_TEST_DATA").map(|data| PathBuf::from(data).join(".."));
    if data.is_none() {
        eprintln!("SKIPPED: set PARQUET_TEST_DATA to the `data` folder of apache/parquet-testing");
    }
    data
}

/// Returns all files below `folder` that start like a Parquet file with a plaintext footer.
fn parquet_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(parquet_files(&path));
        } else if fs::read(&path).unwrap().starts_with(&MAGIC) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the whole file and its metadata's range.
fn read(path: &Path) -> Result<(Bytes, std::ops::Range<usize>)> {
    let bytes = Bytes::from(fs::read(path)?);
    let tail = bytes
        .last_chunk::<FOOTER_TAIL_BYTES>()
        .ok_or_else(|| Error::corrupt("no tail"))?;
    let end = bytes.len() - FOOTER_TAIL_BYTES;
    let start = end
        .checked_sub(Tail::decode(tail)?.metadata_length as usize)
        .ok_or_else(|| Error::corrupt("metadata is longer than the file"))?;
    Ok((bytes, start..end))
}

fn metadata(path: &Path) -> Result<FileMetadata> {
    let (bytes, range) = read(path)?;
    let offset = range.start as u64;
    FileMetadata::decode(bytes.slice(range), offset, &Limits::default())
}

/// Decodes all metadata into a writable struct.
fn parts(metadata: &FileMetadata) -> Result<FileMetadataParts> {
    Ok(FileMetadataParts::new(
        metadata.version(),
        metadata.schema().to_vec(),
        metadata.num_rows(),
        (0..metadata.num_row_groups())
            .map(|row_group| metadata.row_group(row_group))
            .collect::<Result<_>>()?,
    )
    .key_value_metadata(metadata.key_value_metadata().to_vec())
    .created_by(metadata.created_by().map(String::from))
    .column_orders(metadata.column_orders().map(<[ColumnOrder]>::to_vec))
    .encryption_algorithm(
        metadata
            .encryption_algorithm()
            .map(|bytes| RawStruct(bytes.to_vec())),
    )
    .footer_signing_key_metadata(metadata.footer_signing_key_metadata().map(Vec::from)))
}

fn encoded(parts: &FileMetadataParts) -> Bytes {
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    writer.finish().into()
}

#[test]
fn says_what_pyarrow_says() {
    let Some(data) = test_data() else { return };
    for file in FILES {
        let metadata = metadata(&data.join("data").join(file.name)).unwrap();
        let name = file.name;
        assert_eq!(metadata.num_rows(), file.num_rows, "{name}");
        assert_eq!(metadata.num_row_groups(), file.num_row_groups, "{name}");
        assert_eq!(metadata.num_columns(0), file.num_columns, "{name}");
        assert_eq!(
            metadata.created_by().unwrap_or(""),
            file.created_by,
            "{name}"
        );
        assert_eq!(metadata.encoded_len(), file.metadata_length, "{name}");
        let first = metadata.column_chunk(0, 0).unwrap();
        check_chunk(name, &first, &file.first);
        let (row_group, leaf) = (file.num_row_groups - 1, file.num_columns - 1);
        let last = metadata.column_chunk(row_group, leaf).unwrap();
        check_chunk(name, &last, &file.last);
        assert_eq!(
            metadata.row_group(row_group).unwrap().columns.last(),
            Some(&last)
        );
        let rows: i64 = (0..file.num_row_groups)
            .map(|row_group| metadata.row_group_header(row_group).unwrap().num_rows)
            .sum();
        assert_eq!(rows, file.num_rows, "{name}");
    }
}

fn check_chunk(name: &str, chunk: &ColumnChunk, expected: &Chunk) {
    let found = chunk.meta_data.as_ref().unwrap();
    assert_eq!(found.path_in_schema.join("."), expected.path, "{name}");
    assert_eq!(found.type_, expected.type_, "{name}");
    assert_eq!(found.codec, expected.codec, "{name}");
    let encodings: Vec<_> = found.encodings.iter().map(ToString::to_string).collect();
    assert_eq!(encodings.join(" "), expected.encodings, "{name}");
    assert_eq!(found.num_values, expected.num_values, "{name}");
    assert_eq!(found.data_page_offset, expected.data_page_offset, "{name}");
    assert_eq!(
        found.dictionary_page_offset, expected.dictionary_page_offset,
        "{name}"
    );
    let sizes = (found.total_compressed_size, found.total_uncompressed_size);
    assert_eq!(sizes, expected.sizes, "{name}");
    assert_eq!(
        chunk.offset_index_offset.is_some(),
        expected.indexed,
        "{name}"
    );
    let statistics = found.statistics.clone().unwrap_or_default();
    if expected.null_count.is_some() {
        assert_eq!(statistics.null_count, expected.null_count, "{name}");
    }
    if let Some((min, max)) = expected.bounds {
        let found_min = statistics.min_value.or(statistics.min).unwrap();
        let found_max = statistics.max_value.or(statistics.max).unwrap();
        assert_eq!((&*found_min, &*found_max), (min, max), "{name}");
    }
}

#[test]
fn newer_fields_are_decoded() {
    let Some(data) = test_data() else { return };
    let data = data.join("data");

    let sorted = metadata(&data.join("sort_columns.parquet")).unwrap();
    let sorting = sorted
        .row_group_header(1)
        .unwrap()
        .sorting_columns
        .clone()
        .unwrap();
    let sorting: Vec<_> = sorting
        .iter()
        .map(|sorting| (sorting.column_idx, sorting.descending, sorting.nulls_first))
        .collect();
    assert_eq!(sorting, [(0, true, true), (1, false, false)]);

    let geospatial = metadata(&data.join("geospatial/geospatial.parquet")).unwrap();
    assert_eq!(
        geospatial.schema().last().unwrap().logical_type,
        Some(LogicalType::Geometry { crs: None })
    );
    let chunk = geospatial.column_chunk(0, 2).unwrap().meta_data.unwrap();
    let statistics = chunk.geospatial_statistics.unwrap();
    let bbox = statistics.bbox.unwrap();
    assert_eq!(
        (bbox.xmin, bbox.xmax, bbox.ymin, bbox.ymax),
        (10.0, 40.0, 10.0, 40.0)
    );
    assert_eq!((bbox.zmin, bbox.zmax), (Some(30.0), Some(80.0)));
    assert_eq!((bbox.mmin, bbox.mmax), (Some(200.0), Some(1600.0)));
    assert_eq!(statistics.geospatial_types.unwrap().len(), 28);

    let orders = metadata(&data.join("floating_orders_nan_count.parquet")).unwrap();
    let orders = orders.column_orders().unwrap();
    assert!(orders.contains(&ColumnOrder::Ieee754Total), "{orders:?}");

    let unknown = metadata(&data.join("unknown-logical-type.parquet")).unwrap();
    let mut types = unknown
        .schema()
        .iter()
        .filter_map(|schema| schema.logical_type.clone());
    assert!(types.any(|type_| matches!(type_, LogicalType::Unrecognized { .. })));

    let pairs = metadata(&data.join("column_chunk_key_value_metadata.parquet")).unwrap();
    let chunk = pairs.column_chunk(0, 0).unwrap().meta_data.unwrap();
    let pairs: Vec<_> = chunk
        .key_value_metadata
        .iter()
        .flatten()
        .map(|pair| (&*pair.key, pair.text()))
        .collect();
    assert_eq!(
        pairs,
        [("foo", Some("bar")), ("thisiskeywithoutvalue", None)]
    );
}

#[test]
fn every_footer_comes_back_from_the_writer() {
    let Some(data) = test_data() else { return };
    let files = parquet_files(&data);
    assert!(files.len() > 150, "only {} files", files.len());
    let mut footers = 0;
    for path in &files {
        let Ok(metadata) = metadata(path) else {
            assert!(
                path.starts_with(data.join("bad_data")),
                "{}",
                path.display()
            );
            continue;
        };
        let Ok(parts_read) = parts(&metadata) else {
            assert!(
                path.starts_with(data.join("bad_data")),
                "{}",
                path.display()
            );
            continue;
        };
        let again = FileMetadata::decode(encoded(&parts_read), 0, &Limits::default()).unwrap();
        assert_eq!(parts(&again).unwrap(), parts_read, "{}", path.display());
        footers += 1;
    }
    eprintln!("{footers} footers of {} files", files.len());
}

#[test]
fn every_page_header_and_index_is_decoded() {
    let Some(data) = test_data() else { return };
    let limits = Limits::default();
    let (mut pages, mut indexes, mut filters) = (0, 0, 0);
    for path in parquet_files(&data.join("data")) {
        let name = path.display();
        let metadata = metadata(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        for chunk in chunks(&metadata) {
            let Some(meta_data) = &chunk.meta_data else {
                continue;
            };
            // An encrypted chunk contains nothing to decode.
            if chunk.crypto_metadata.is_some() {
                continue;
            }
            pages +=
                check_pages(&bytes, meta_data).unwrap_or_else(|error| panic!("{name}: {error}"));
            let range = |offset: Option<i64>, length: Option<i32>| {
                let start = usize::try_from(offset?).ok()?;
                Some(start..start + usize::try_from(length?).ok()?)
            };
            let mut num_pages = None;
            if let Some(range) = range(chunk.offset_index_offset, chunk.offset_index_length) {
                let index = OffsetIndex::decode(&bytes[range], &limits).unwrap();
                num_pages = Some(index.page_locations.len());
                indexes += 1;
            }
            if let Some(range) = range(chunk.column_index_offset, chunk.column_index_length) {
                let index = ColumnIndex::decode(&bytes[range], &limits).unwrap();
                assert_eq!(Some(index.null_pages.len()), num_pages, "{name}");
            }
            if let Some(offset) = meta_data.bloom_filter_offset {
                let (header, length) =
                    BloomFilterHeader::decode_prefix(&bytes[offset as usize..], &limits)
                        .unwrap()
                        .unwrap();
                if let Some(total) = meta_data.bloom_filter_length {
                    assert_eq!(length as i32 + header.num_bytes, total, "{name}");
                }
                filters += 1;
            }
        }
    }
    assert!(
        pages > 1000 && indexes > 50 && filters > 0,
        "{pages} {indexes} {filters}"
    );
    eprintln!("{pages} page headers, {indexes} offset indexes, {filters} bloom filters");
}

fn chunks(metadata: &FileMetadata) -> Vec<ColumnChunk> {
    (0..metadata.num_row_groups())
        .flat_map(|row_group| metadata.row_group(row_group).unwrap().columns)
        .collect()
}

/// Iterates over a chunk's pages. Checks that their values add up to the chunk's values, and returns the page count.
fn check_pages(bytes: &[u8], chunk: &herringbone_format::ColumnMetaData) -> Result<usize> {
    let dictionary = chunk.dictionary_page_offset.filter(|&offset| offset > 0);
    let start = dictionary.map_or(chunk.data_page_offset, |offset| {
        offset.min(chunk.data_page_offset)
    });
    let (mut position, mut values, mut pages) = (start as usize, 0, 0);
    while values < chunk.num_values {
        let rest = &bytes[position..];
        let (header, length) = PageHeader::decode(rest, &Limits::default())?;
        assert_eq!(
            PageHeader::decode_prefix(&rest[..length - 1], &Limits::default())?,
            None
        );
        let mut writer = CompactWriter::new();
        header.encode(&mut writer);
        let (again, _) = PageHeader::decode(&writer.finish(), &Limits::default())?;
        assert_eq!(again, header);
        values += i64::from(match header.type_ {
            PageType::DataPage => header.data_page_header.unwrap().num_values,
            PageType::DataPageV2 => header.data_page_header_v2.unwrap().num_values,
            _ => 0,
        });
        position += length + header.compressed_page_size as usize;
        pages += 1;
    }
    assert_eq!(values, chunk.num_values);
    Ok(pages)
}

/// Decodes everything, tolerating errors.
fn exhaust(bytes: Vec<u8>) {
    if let Ok(metadata) = FileMetadata::decode(bytes.into(), 0, &Limits::default()) {
        // We don't use `parts` here, because it stops at the first error.
        for row_group in 0..metadata.num_row_groups() {
            for leaf in 0..metadata.num_columns(row_group) {
                drop(metadata.column_chunk(row_group, leaf));
            }
        }
    }
}

#[test]
fn no_truncation_and_no_changed_byte_panics() {
    let Some(data) = test_data() else { return };
    for name in [
        "alltypes_plain.parquet",
        "binary_truncated_min_max.parquet",
        "sort_columns.parquet",
        "unknown-logical-type.parquet",
        "encrypt_columns_plaintext_footer.parquet.encrypted",
    ] {
        let path = data.join("data").join(name);
        let (bytes, range) = read(&path).unwrap();
        let footer = &bytes[range];
        let encoded_len = metadata(&path).unwrap().encoded_len();
        for length in 0..encoded_len {
            let cut = Bytes::copy_from_slice(&footer[..length]);
            assert!(
                FileMetadata::decode(cut, 0, &Limits::default()).is_err(),
                "{name} {length}"
            );
        }
        for index in 0..encoded_len {
            for flip in [0x01, 0x02, 0x08, 0x10, 0x80, 0x7f, 0xff] {
                let mut changed = footer.to_vec();
                changed[index] ^= flip;
                exhaust(changed);
            }
        }
    }
}
