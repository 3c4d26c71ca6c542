//! Reads a file with its column chunks in several other files.

use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, RecordBatch, StringArray};
use herringbone::filter::col;
use herringbone::{ErrorKind, LocalChunkFiles, ParquetFile, ReadOptions, Result};

use crate::files::{Folder, batch, file};

/// Returns a footer as a file without any data.
fn as_file(footer: &[u8]) -> Vec<u8> {
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", footer, &length, b"PAR1"].concat()
}

/// Returns 2,500 rows of two columns.
fn rows() -> RecordBatch {
    let ids = batch(0..2500).column(0).clone();
    let texts = (0..2500).map(|id| (id % 7 != 0).then(|| format!("text {}", id % 100)));
    let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
    RecordBatch::try_from_iter_with_nullable([("id", ids, false), ("text", texts, true)]).unwrap()
}

/// Writes each column to its own file, joining their footers in `split.parquet`. That file refers
/// to the others by path.
fn split(folder: &Folder, paths: [&str; 2]) {
    let rows = rows();
    let whole = ParquetFile::from_bytes(file(&rows)).unwrap();
    let columns = [("ids.parquet", 0), ("below/texts.parquet", 1)].map(|(path, column)| {
        let bytes = file(&rows.project(&[column]).unwrap());
        folder.put(path, &bytes);
        ParquetFile::from_bytes(bytes).unwrap()
    });
    let row_groups = (0..3).map(|ordinal| {
        let mut row_group = whole.metadata().row_group(ordinal)?;
        for (leaf, chunk) in row_group.columns.iter_mut().enumerate() {
            *chunk = columns[leaf].metadata().column_chunk(ordinal, 0)?;
            chunk.file_path = Some(paths[leaf].to_owned());
        }
        Ok(row_group)
    });
    let footer = whole.metadata().encode_with(row_groups).unwrap();
    folder.put("split.parquet", &as_file(&footer));
}

const PATHS: [&str; 2] = ["ids.parquet", "below/texts.parquet"];

fn open(folder: &Folder) -> Result<ParquetFile> {
    let file = ParquetFile::open(folder.0.join("split.parquet"))?;
    file.with_chunk_files(LocalChunkFiles::new(&folder.0))
}

fn read(file: &ParquetFile, options: ReadOptions) -> Result<Vec<RecordBatch>> {
    let mut reader = file.read(options)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}

#[test]
fn columns_are_read_from_their_files() {
    let folder = Folder::new("split");
    split(&folder, PATHS);
    let file = open(&folder).unwrap();
    assert_eq!(file.metadata().num_rows(), 2500);
    let rows = rows();
    for threads in [1, 4] {
        let options = ReadOptions::new().threads(threads);
        let batches = read(&file, options.clone()).unwrap();
        assert_eq!(
            batches,
            [0, 1000, 2000].map(|row| rows.slice(row, 1000.min(2500 - row)))
        );
        // The chunk statistics rule out two row groups.
        let filter = options.filter(col("id").ge(2400).and(col("text").is_not_null()));
        let found = read(&file, filter.clone()).unwrap();
        // Of 100 rows, 15 have a null text.
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 85);
        let mut reader = file.read(filter).unwrap();
        while reader.next_batch().unwrap().is_some() {}
        assert_eq!(reader.metrics().row_groups_pruned, 2);
    }
    // Without these files, the error names the first one.
    let plain = ParquetFile::open(folder.0.join("split.parquet")).unwrap();
    let error = read(&plain, ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("`ids.parquet`"), "{error}");
    // A file with all of its own chunks stays as it is.
    let ids = ParquetFile::open(folder.0.join("ids.parquet")).unwrap();
    let same = ids
        .with_chunk_files(LocalChunkFiles::new("nowhere"))
        .unwrap();
    assert_eq!(
        read(&same, ReadOptions::new()).unwrap(),
        read(&ids, ReadOptions::new()).unwrap()
    );
}

#[test]
fn paths_stay_below_the_directory_unless_allowed() {
    let folder = Folder::new("split-paths");
    let absolute = folder.0.join("ids.parquet");
    let absolute = absolute.to_str().unwrap();
    for path in [
        absolute,
        "../x/ids.parquet",
        "below/../ids.parquet",
        "s3://b/ids.parquet",
        "",
        "a\\b",
    ] {
        split(&folder, [path, PATHS[1]]);
        let error = open(&folder).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.message().contains(&format!("`{path}`")), "{error}");
        assert_eq!(error.location().row_group, Some(0));
    }
    for (path, is_read) in [
        (absolute, true),
        ("below/../ids.parquet", true),
        ("s3://b/ids.parquet", false),
    ] {
        split(&folder, [path, PATHS[1]]);
        let file = ParquetFile::open(folder.0.join("split.parquet")).unwrap();
        let files = LocalChunkFiles::new(&folder.0).allow_any_path(true);
        let found = file
            .with_chunk_files(files)
            .and_then(|file| read(&file, ReadOptions::new()));
        assert_eq!(found.is_ok(), is_read, "{path}");
    }
    split(&folder, ["missing.parquet", PATHS[1]]);
    let error = open(&folder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("missing.parquet"), "{error}");
}

#[test]
fn chunks_outside_their_files_are_errors() {
    let folder = Folder::new("split-outside");
    split(&folder, PATHS);
    let ids = folder.0.join("ids.parquet");
    let whole: Bytes = fs::read(&ids).unwrap().into();
    let file = open(&folder).unwrap();
    fs::write(&ids, &whole[..100]).unwrap();
    // Here the file became shorter after it was opened.
    let error = read(&file, ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replaced, "{error}");
    assert!(error.message().contains("ids.parquet"), "{error}");
    // Here it was short from the start, so its last row group is not in it.
    let error = open(&folder).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(
        error
            .message()
            .contains("ids.parquet: the column chunk is outside"),
        "{error}"
    );
    assert_eq!(error.location().column.as_deref(), Some("id"));
    // Hostile offsets never lead to the bytes of another file.
    fs::write(&ids, &whole).unwrap();
    for hostile in [i64::MIN, -1, 1 << 40, i64::MAX] {
        let file = ParquetFile::open(folder.0.join("split.parquet")).unwrap();
        let row_groups = (0..3).map(|ordinal| {
            let mut row_group = file.metadata().row_group(ordinal)?;
            let chunk = row_group.columns[1].meta_data.as_mut().unwrap();
            match hostile {
                0.. => chunk.data_page_offset = hostile,
                _ => chunk.dictionary_page_offset = Some(1 << 41),
            }
            chunk.total_compressed_size = hostile.saturating_abs();
            Ok(row_group)
        });
        let footer = file.metadata().encode_with(row_groups).unwrap();
        folder.put("split.parquet", &as_file(&footer));
        let error = open(&folder).and_then(|file| read(&file, ReadOptions::new()));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{hostile}");
        split(&folder, PATHS);
    }
}
