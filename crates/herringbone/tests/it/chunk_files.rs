//! Tests of a file with its column chunks in another file.

use bytes::Bytes;
use herringbone::format::RowGroup;
use herringbone::source::Source;
use herringbone::{ChunkFiles, ErrorKind, ParquetFile, ReadOptions, Result};

use crate::common::{file, rest};

/// The only file with column chunks.
struct Part(Bytes);

impl ChunkFiles for Part {
    fn open(&self, path: &str) -> Result<Box<dyn Source>> {
        assert_eq!(path, "part.parquet");
        Ok(Box::new(self.0.clone()))
    }
}

/// Opens a footer without any data. Its column chunks are in `part`, after a change.
fn split(part: &Bytes, change: &dyn Fn(&mut RowGroup)) -> Result<ParquetFile> {
    let whole = ParquetFile::from_bytes(part.clone())?;
    let mut row_group = whole.metadata().row_group(0)?;
    for chunk in &mut row_group.columns {
        chunk.file_path = Some("part.parquet".to_owned());
    }
    change(&mut row_group);
    let footer = whole.metadata().encode_with([Ok(row_group)])?;
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    let own = [b"PAR1", &*footer, &length, b"PAR1"].concat();
    ParquetFile::from_bytes(own)?.with_chunk_files(Part(part.clone()))
}

/// Moves all chunks of a row group to an offset, where they have no bytes.
fn empty_at(row_group: &mut RowGroup, offset: usize) {
    row_group.num_rows = 0;
    for chunk in &mut row_group.columns {
        let metadata = chunk.meta_data.as_mut().unwrap();
        (metadata.num_values, metadata.total_compressed_size) = (0, 0);
        metadata.data_page_offset = offset as i64;
    }
}

#[test]
fn chunks_are_within_their_file() {
    let part = file(1, 100);
    let whole = split(&part, &|_| {}).unwrap();
    let mut reader = whole.read(ReadOptions::new()).unwrap();
    assert_eq!(rest(&mut reader), (0..100).collect::<Vec<_>>());
    // An empty chunk can be anywhere, even at the end of the file.
    let empty = split(&part, &|row_group| empty_at(row_group, part.len())).unwrap();
    let mut reader = empty.read(ReadOptions::new()).unwrap();
    assert!(rest(&mut reader).is_empty());
    let refused = |change: &dyn Fn(&mut RowGroup)| {
        let error = split(&part, change).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains("outside"), "{error}");
    };
    refused(&|row_group| empty_at(row_group, part.len() + 1));
    refused(&|row_group| {
        let metadata = row_group.columns[1].meta_data.as_mut().unwrap();
        metadata.total_compressed_size = part.len() as i64;
    });
}
