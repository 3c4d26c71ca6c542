//! Tests `repair`. The recovered rows of damaged files are rows of the originals, and never anything else.

mod by_value;
mod readings;

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int32Array, ListArray, RecordBatch, types::Int32Type};
use herringbone::format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone::{
    ColumnOptions, Compression, DataPageVersion, Error, ErrorKind, ParquetFile, ReadOptions,
    WriteOptions, Writer,
};
use herringbone_inspect::repair::{Repair, RepairOptions, RepairSchema, RepairSource};

use crate::damage::{ID, LIST, NAME, body, sound};
use crate::files;
use crate::table::Table;

/// The values in a row group, column by column.
type Rows = Vec<Vec<String>>;

/// Returns the given row groups of a file.
fn row_groups(file: &ParquetFile, ordinals: impl IntoIterator<Item = usize>) -> Vec<Rows> {
    let rows = |ordinal| {
        let options = ReadOptions::default().row_groups(vec![ordinal]);
        Table::read(file.read(options).unwrap()).unwrap().columns
    };
    ordinals.into_iter().map(rows).collect()
}

fn all(file: &ParquetFile) -> Vec<Rows> {
    row_groups(file, 0..file.metadata().num_row_groups())
}

fn opened(bytes: &[u8]) -> ParquetFile {
    ParquetFile::from_bytes(bytes.to_vec()).unwrap()
}

/// Returns the offset at which the metadata starts.
fn footer(file: &[u8]) -> usize {
    let tail = file.last_chunk::<FOOTER_TAIL_BYTES>().unwrap();
    let length = Tail::decode(tail).unwrap().metadata_length as usize;
    file.len() - FOOTER_TAIL_BYTES - length
}

fn repaired(bytes: &[u8], options: &RepairOptions) -> Result<Repair, Error> {
    let mut repair = Repair::open(Bytes::copy_from_slice(bytes), options)?;
    repair.check(&ReadOptions::default(), |_| {})?;
    Ok(repair)
}

/// Returns options with another file's schema.
fn like(sibling: &ParquetFile) -> RepairOptions {
    let mut options = RepairOptions::default();
    options.schema = Some(RepairSchema::of_file(sibling));
    options
}

/// Returns the recovered row groups.
fn had_back(bytes: &[u8], options: &RepairOptions) -> Result<Vec<Rows>, Error> {
    let repair = repaired(bytes, options)?;
    Ok(row_groups(
        repair.file(),
        repair.valid_row_groups().iter().copied(),
    ))
}

/// Returns the ordinals of the recovered row groups. Panics if one of them is not in the file, or is out of order.
fn which(all: &[Rows], had_back: &[Rows]) -> Vec<usize> {
    let mut next = 0;
    let find = |rows: &Rows| {
        let found = all.iter().skip(next).position(|it| it == rows);
        let found = next + found.expect("what comes back was there before");
        next = found + 1;
        found
    };
    had_back.iter().map(find).collect()
}

/// Writes a file of two similar columns without dictionaries, in two row groups with two pages per column.
fn alike() -> Vec<u8> {
    let numbers =
        |from: i32| -> ArrayRef { Arc::new(Int32Array::from_iter_values(from..from + 24)) };
    let columns = [("a", numbers(0)), ("b", numbers(1000))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(6).dictionary(false))
        .compression(Compression::Uncompressed)
        .row_group_rows(12);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn a_whole_file_comes_back_whole() {
    let file = sound(DataPageVersion::V1);
    let repair = repaired(&file, &RepairOptions::default()).unwrap();
    assert_eq!(repair.source(), RepairSource::Footer);
    assert_eq!((repair.num_rows(), repair.lost().len()), (24, 0));
    let mut options = RepairOptions::default();
    options.ignore_footer = true;
    let repair = repaired(&file, &options).unwrap();
    assert_eq!(repair.source(), RepairSource::Pages);
    assert_eq!((repair.num_rows(), repair.lost().len()), (24, 0));
    let back = row_groups(repair.file(), [0, 1]);
    assert_eq!(back, all(&opened(&file)));
}

#[test]
fn with_a_footer_a_damaged_page_costs_its_row_group() {
    let mut file = sound(DataPageVersion::V1);
    let originals = all(&opened(&file));
    let place = body(&file, ID, 1);
    file[place.start] ^= 1;
    let repair = repaired(&file, &RepairOptions::default()).unwrap();
    assert_eq!(repair.valid_row_groups(), [1]);
    assert_eq!(row_groups(repair.file(), [1]), originals[1..]);
    let [lost] = repair.lost() else {
        panic!("{:?}", repair.lost());
    };
    assert_eq!(lost.rows, Some(12));
    assert_eq!(lost.location.row_group, Some(0));
    assert_eq!(lost.location.column.as_deref(), Some("id"));
    assert_eq!(lost.location.page, Some(1));
    assert!(
        lost.reason.starts_with("page checksum is "),
        "{}",
        lost.reason
    );
}

#[test]
fn without_a_schema_nothing_comes_back() {
    let file = sound(DataPageVersion::V1);
    let error = repaired(&file[..footer(&file)], &RepairOptions::default())
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.message(), "the schema is lost with the footer");
}

#[test]
fn the_schema_may_be_an_arrow_schema() {
    let file = sound(DataPageVersion::V2);
    let original = opened(&file);
    let schema = original.arrow_schema(&Default::default()).unwrap();
    let mut options = RepairOptions::default();
    options.schema = Some(RepairSchema::of_arrow(&schema).unwrap());
    let back = had_back(&file[..footer(&file)], &options).unwrap();
    assert_eq!(back, all(&original));
}

/// A file may end anywhere. The complete row groups before its end are recovered, and nothing else.
#[test]
fn truncated_files() {
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        let file = sound(version);
        let original = opened(&file);
        let originals = all(&original);
        // These are the end of each row group, and the end of the bloom filter after it.
        let metadata = |row_group, leaf| {
            let chunk = original.metadata().column_chunk(row_group, leaf).unwrap();
            chunk.meta_data.unwrap()
        };
        let ends = [0, 1].map(|row_group| {
            let (last, name) = (metadata(row_group, LIST), metadata(row_group, NAME));
            let end = last.data_page_offset + last.total_compressed_size;
            let bloom = name.bloom_filter_offset.unwrap();
            assert_eq!(bloom, end);
            (
                end as usize,
                (bloom + i64::from(name.bloom_filter_length.unwrap())) as usize,
            )
        });
        let borders = ends.iter().flat_map(|(end, bloom)| [*end, *bloom]);
        let borders = borders.flat_map(|border| [border - 1, border, border + 1]);
        for length in (0..file.len()).step_by(11).chain(borders) {
            let back = had_back(&file[..length], &like(&original)).unwrap();
            let found = which(&originals, &back);
            let whole = ends.iter().filter(|(end, _)| *end <= length).count();
            // A list may continue in a missing page.
            let open = ends
                .iter()
                .any(|(end, bloom)| (*end..*bloom).contains(&length));
            let least = whole - usize::from(open && version == DataPageVersion::V1);
            assert_eq!(
                found,
                (0..found.len()).collect::<Vec<_>>(),
                "{length} bytes"
            );
            assert!(
                (least..=whole).contains(&found.len()),
                "{length} bytes: {found:?}"
            );
            // If enough of the footer remains, all rows are recovered. Otherwise there is no schema.
            match repaired(&file[..length], &RepairOptions::default()) {
                Ok(repair) => assert_eq!(repair.num_rows(), 24, "{length} bytes"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{length} bytes"),
            }
        }
    }
}

/// Returns each page's byte range and row group.
fn pages(file: &ParquetFile) -> Vec<(std::ops::Range<usize>, usize)> {
    let mut pages = Vec::new();
    for row_group in 0..file.metadata().num_row_groups() {
        for leaf in 0..file.parquet_schema().leaves().len() {
            for page in file.pages(row_group, leaf).unwrap() {
                let page = page.unwrap();
                let start = page.start.offset as usize;
                let body = start + page.header_bytes;
                let end = body + page.header.compressed_page_size as usize;
                pages.push((start..end, row_group));
            }
        }
    }
    pages
}

/// Damages a page in three ways.
fn damaged(file: &[u8], page: &std::ops::Range<usize>) -> [Vec<u8>; 3] {
    let mut flipped = file.to_vec();
    flipped[page.end - 1] ^= 0x10;
    let mut zeros = file.to_vec();
    zeros[page.clone()].fill(0);
    let mut random = file.to_vec();
    let mut state = page.start as u32;
    for byte in &mut random[page.clone()] {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    [flipped, zeros, random]
}

/// If there is no footer, any damage to a page costs its row group.
#[test]
fn without_a_footer_a_damaged_page_costs_its_row_group() {
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        let file = sound(version);
        let original = opened(&file);
        let originals = all(&original);
        for (page, row_group) in pages(&original) {
            for (way, damaged) in damaged(&file[..footer(&file)], &page).iter().enumerate() {
                let back = had_back(damaged, &like(&original)).unwrap();
                let found = which(&originals, &back);
                assert_eq!(found, [1 - row_group], "page {page:?}, way {way}");
            }
        }
    }
}

/// Checks that the recovered rows are in the original, in order. Returns the number of missing rows.
fn rows_in_order(all: &[String], back: &[String]) -> usize {
    let mut left = all.iter();
    for row in back {
        let found = left.any(|left| left == row);
        assert!(found, "{row} was not there, or not there");
    }
    all.len() - back.len()
}

/// Writes 240 distinct lists, in two row groups and pages of 10 rows.
fn lists(version: DataPageVersion) -> Vec<u8> {
    let lists = (0..240).map(|row| match row % 5 {
        0 => Some(vec![Some(row)]),
        1 => Some(vec![Some(row), None]),
        2 => Some(vec![None, Some(row), Some(-row)]),
        _ => Some(
            (0..row % 7)
                .map(|i| Some(row * 10 + i))
                .chain([Some(row)])
                .collect(),
        ),
    });
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let batch = RecordBatch::try_from_iter([("lists", lists)]).unwrap();
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(10).dictionary(false))
        .compression(Compression::Uncompressed)
        .data_page_version(version)
        .row_group_rows(120);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

/// If a file has a single column of lists, the rows around a damaged page are recovered row by row. In version 1, a
/// list may continue in the next page, so more rows than the page's may be lost.
#[test]
fn a_single_column_of_lists_comes_back_in_part() {
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        let file = lists(version);
        let original = opened(&file);
        let rows = |file: &ParquetFile, ordinals: &[usize]| {
            let options = ReadOptions::default().row_groups(ordinals.to_vec());
            Table::read(file.read(options).unwrap())
                .unwrap()
                .columns
                .remove(0)
        };
        let all = rows(&original, &[0, 1]);
        let mut in_part = 0;
        for (page, _) in pages(&original) {
            for (way, damaged) in damaged(&file[..footer(&file)], &page).iter().enumerate() {
                let repair = repaired(damaged, &like(&original)).unwrap();
                let back = rows(repair.file(), repair.valid_row_groups());
                let lost = rows_in_order(&all, &back);
                assert!(lost >= 10, "page {page:?}, way {way}: {lost} rows are lost");
                in_part += usize::from(!back.is_empty());
            }
        }
        // All 24 pages are damaged, each in three ways.
        assert_eq!(in_part, 72, "{version:?}");
    }
}

/// Similar columns are never confused, because uncertain rows are not recovered.
#[test]
fn columns_that_look_alike_are_not_confused() {
    let file = alike();
    let original = opened(&file);
    let originals = all(&original);
    let cut = &file[..footer(&file)];
    let error = had_back(cut, &like(&original)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error.message().contains("have 6 or 12 or 18 or 24 rows"),
        "{error}"
    );
    let mut knowing = like(&original);
    knowing.row_group_rows = Some(12);
    assert_eq!(had_back(cut, &knowing).unwrap(), originals);
    let mut came_back = 0;
    for (page, row_group) in pages(&original) {
        for damaged in damaged(cut, &page) {
            let back = had_back(&damaged, &like(&original)).unwrap_or_default();
            which(&originals, &back);
            let back = had_back(&damaged, &knowing).unwrap_or_default();
            let found = which(&originals, &back);
            assert!(!found.contains(&row_group), "page {page:?}");
            came_back += found.len();
        }
    }
    // There are eight pages, and each is damaged in three ways. After damage, pages of 6 rows could also be a shorter
    // last row group.
    assert_eq!(came_back, 12);
}

/// Repairs files by other writers, without the end of their footers, and without footers.
#[test]
fn files_of_others_come_back() {
    let (mut wrong, mut whole, mut parts, mut tails) = (Vec::new(), 0, 0, 0);
    for path in files::generated() {
        let name = files::short(&path);
        let bytes = std::fs::read(&path).unwrap();
        let original = opened(&bytes);
        let leaves = original.parquet_schema().leaves().len();
        if leaves == 0 || original.metadata().num_rows() == 0 {
            continue;
        }
        // The column chunk in this file claims to extend into the footer.
        if name == "built/index_and_unknown_pages.parquet" {
            continue;
        }
        let rows = |file: &ParquetFile, ordinals: Vec<usize>| {
            let options = ReadOptions::default().row_groups(ordinals);
            Table::read(file.read(options).unwrap()).unwrap().columns
        };
        let wanted = rows(
            &original,
            (0..original.metadata().num_row_groups()).collect(),
        );
        let without_tail = &bytes[..bytes.len() - FOOTER_TAIL_BYTES];
        let repair = repaired(without_tail, &RepairOptions::default()).unwrap();
        if rows(repair.file(), repair.valid_row_groups().to_vec()) != wanted
            || !repair.lost().is_empty()
        {
            wrong.push(format!("{name} without tail: {:?}", repair.lost()));
        }
        tails += 1;
        let repair = match repaired(&bytes[..footer(&bytes)], &like(&original)) {
            Ok(repair) => repair,
            Err(error) if error.kind() == ErrorKind::Argument => continue,
            Err(error) => {
                wrong.push(format!("{name} without footer: {error}"));
                continue;
            }
        };
        if i64::try_from(repair.num_rows()) == Ok(original.metadata().num_rows()) {
            whole += 1;
            if rows(repair.file(), repair.valid_row_groups().to_vec()) != wanted {
                wrong.push(format!("{name} without footer: other rows"));
            }
        } else if leaves > 1 {
            let back = row_groups(repair.file(), repair.valid_row_groups().iter().copied());
            which(&all(&original), &back);
        } else {
            // If there is a single column, we do not know the ends of row groups.
            let back = rows(repair.file(), repair.valid_row_groups().to_vec());
            rows_in_order(&wanted[0], &back[0]);
            parts += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tails > 140, "{tails} files without tail");
    assert!(whole > 70, "{whole} files without footer");
    assert!(
        parts > 0,
        "some have one column, of which a part comes back"
    );
}

/// A page with an unknown type is skipped. The column then lacks rows, but it does not continue with the next column's
/// pages.
#[test]
fn a_column_chunk_does_not_go_on_into_the_next() {
    let mut file = alike();
    // The first page's header starts with its type, which is 0.
    assert_eq!(file[4..6], [0x15, 0x00]);
    file[5] = 0x20;
    let file = ParquetFile::from_bytes(file).unwrap();
    for column in [None, Some("a")] {
        let options = match column {
            None => ReadOptions::default(),
            Some(column) => ReadOptions::default().columns([column]),
        };
        let error = Table::read(file.read(options).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error
                .message()
                .contains("column chunk ends after 6 of its 12 values"),
            "{error}"
        );
    }
}
