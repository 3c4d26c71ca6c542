//! Tests pages that have something after their last value, such as padding that writers leave, and levels that a header
//! hides.
//!
//! We build the files byte by byte. Column `a` has three pages, and `b` is plain and sound. All values are functions of
//! the row, so that shifted rows differ.

use bytes::Bytes;
use herringbone::arrow::array::builder::{Int32Builder, ListBuilder};
use herringbone::arrow::array::{ArrayRef, BooleanArray, Int32Array};
use herringbone::filter::col;
use herringbone::format::{CompressionCodec, Encoding, Repetition, SchemaElement, Type};
use herringbone::{ErrorKind, OnError, ParquetFile, ReadOptions};
use herringbone_inspect::repair::{Repair, RepairOptions};
use herringbone_inspect::verify::{Finding, FindingKind, Severity};

use crate::canonical::lines;
use crate::contradictions::{Outcome, read};
use crate::crafted::{Chunk, Page, file, group, leaf};
use crate::dismantled::Dismantled;
use crate::push::{SUPPLIES, pushed};

const PAGES: usize = 3;

/// The bytes that a writer leaves after a page's last value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    /// DuckDB 1.3 writes a packed block of definition levels after full blocks.
    LevelBlock,
    /// fastparquet 2023 writes a group of definition levels after full groups, in one run.
    LevelGroup,
    /// Impala 1.0.4 writes a repeated definition level too many.
    LevelRun,
    /// A group of both kinds of levels below a list.
    ListLevels,
    /// DuckDB 1.3 writes a packed block of dictionary indices.
    IndexBlock,
    /// A group of dictionary indices, in the same run as the last one.
    IndexGroup,
    /// DuckDB 1.3 writes a packed block of indices, after a full one, in a column with nulls.
    NullableIndexBlock,
    /// fastparquet 2026 writes a run header of no groups and eight zeros, in a page of nulls.
    NoGroups,
    /// php-parquet, parquet-mr 1.10.1 and HVR write fewer bytes than one value takes.
    Bytes,
    /// fastparquet 2023 writes a byte without booleans, and eight zeros.
    Booleans,
    /// The library of hangxie writes no number of rows in headers of version 2.
    NoRows,
}

use Padding::*;

pub(crate) const ALL: [Padding; 11] = [
    LevelBlock,
    LevelGroup,
    LevelRun,
    ListLevels,
    IndexBlock,
    IndexGroup,
    NullableIndexBlock,
    NoGroups,
    Bytes,
    Booleans,
    NoRows,
];

/// Returns a packed run of whole groups, with one or two bits per value. The bits after the values are ones.
fn packed(values: &[u32], width: usize, groups: usize) -> Vec<u8> {
    let mut run = Vec::new();
    let mut header = groups << 1 | 1;
    while header >= 0x80 {
        run.push((header & 0x7f) as u8 | 0x80);
        header >>= 7;
    }
    run.push(header as u8);
    let mut bytes = vec![0xff; groups * width];
    for (index, value) in values.iter().enumerate() {
        for bit in 0..width {
            let at = index * width + bit;
            let mask = 1 << (at % 8);
            bytes[at / 8] &= !mask;
            bytes[at / 8] |= if value >> bit & 1 == 1 { mask } else { 0 };
        }
    }
    run.extend(bytes);
    run
}

fn with_length(levels: &[u8]) -> Vec<u8> {
    [&(levels.len() as u32).to_le_bytes()[..], levels].concat()
}

fn plain(values: impl Iterator<Item = i32>) -> Vec<u8> {
    values.flat_map(i32::to_le_bytes).collect()
}

impl Padding {
    /// Returns the number of rows in each page.
    pub(crate) fn rows(self) -> usize {
        match self {
            LevelBlock | IndexBlock => 256,
            NullableIndexBlock => 384,
            LevelRun | Bytes | NoRows => 10,
            NoGroups | ListLevels => 8,
            LevelGroup | IndexGroup | Booleans => 16,
        }
    }

    pub(crate) fn is_nullable(self) -> bool {
        matches!(
            self,
            LevelBlock | LevelGroup | LevelRun | NullableIndexBlock | NoGroups
        )
    }

    fn has_dictionary(self) -> bool {
        matches!(
            self,
            IndexBlock | IndexGroup | NullableIndexBlock | NoGroups
        )
    }

    fn schema(self) -> SchemaElement {
        let repetition = match self {
            ListLevels => Repetition::Repeated,
            _ if self.is_nullable() => Repetition::Optional,
            _ => Repetition::Required,
        };
        let physical = match self {
            Booleans => Type::Boolean,
            _ => Type::Int32,
        };
        leaf("a", physical, repetition)
    }

    /// Returns the value of a row, or `None` for null.
    pub(crate) fn value(self, row: usize) -> Option<i32> {
        let is_null = match self {
            NoGroups => true,
            LevelRun => false,
            _ => self.is_nullable() && row.is_multiple_of(3),
        };
        let value = if self.has_dictionary() {
            10 * (row * row / 3 % 4)
        } else {
            row
        };
        (!is_null).then_some(value as i32)
    }

    /// Returns the values of all rows.
    fn array(self) -> ArrayRef {
        let rows = 0..PAGES * self.rows();
        match self {
            ListLevels => {
                let mut lists = ListBuilder::new(Int32Builder::new());
                rows.for_each(|row| lists.append_value([Some(row as i32), Some(-(row as i32))]));
                std::sync::Arc::new(lists.finish())
            }
            Booleans => std::sync::Arc::new(BooleanArray::from_iter(
                rows.map(|row| Some(row * row / 3 % 2 == 1)),
            )),
            _ => std::sync::Arc::new(Int32Array::from_iter(rows.map(|row| self.value(row)))),
        }
    }

    /// Returns a page of column `a`.
    fn page(self, number: usize, is_padded: bool) -> Page {
        let rows = number * self.rows()..(number + 1) * self.rows();
        let is_value: Vec<u32> = rows
            .clone()
            .map(|row| u32::from(self.value(row).is_some()))
            .collect();
        let values = rows.clone().filter_map(|row| self.value(row));
        let indices: Vec<u32> = values.clone().map(|value| value as u32 / 10).collect();
        let more = usize::from(is_padded);
        let block = |runs: Vec<u8>| match is_padded {
            true => [runs, packed(&[], 1, 32)].concat(),
            false => runs,
        };
        let index_block = |runs: Vec<u8>| match is_padded {
            true => [runs, packed(&[], 2, 32)].concat(),
            false => runs,
        };
        let n = self.rows();
        let body = match self {
            LevelBlock => [with_length(&block(packed(&is_value, 1, 32))), plain(values)].concat(),
            LevelGroup => [with_length(&packed(&is_value, 1, 2 + more)), plain(values)].concat(),
            LevelRun => [with_length(&[((n + more) << 1) as u8, 1]), plain(values)].concat(),
            ListLevels => {
                let starts = [0, 1].repeat(n);
                let elements = rows.flat_map(|row| [row as i32, -(row as i32)]);
                let levels = [
                    with_length(&packed(&starts, 1, 2 + more)),
                    with_length(&packed(&vec![1; 2 * n], 1, 2 + more)),
                ];
                return Page::v1(2 * n, &[levels.concat(), plain(elements)].concat());
            }
            IndexBlock => [vec![2], index_block(packed(&indices, 2, 32))].concat(),
            IndexGroup => [vec![2], packed(&indices, 2, 2 + more)].concat(),
            NullableIndexBlock => [
                with_length(&packed(&is_value, 1, 48)),
                vec![2],
                index_block(packed(&indices, 2, 32)),
            ]
            .concat(),
            NoGroups => {
                let padding: &[u8] = if is_padded {
                    &[1, 0, 0, 0, 0, 0, 0, 0, 0]
                } else {
                    &[]
                };
                [with_length(&[(n << 1) as u8, 0]), vec![2], padding.to_vec()].concat()
            }
            Bytes => [plain(values), vec![0xaa; 3 * more]].concat(),
            Booleans => {
                let mut bits = packed(
                    &rows
                        .map(|row| (row * row / 3 % 2) as u32)
                        .collect::<Vec<_>>(),
                    1,
                    2,
                );
                bits.remove(0);
                bits.extend(vec![0; 9 * more]);
                bits
            }
            NoRows => {
                let mut page = Page::v2(n, Encoding::Plain, &[], &plain(values));
                let header = page.header.data_page_header_v2.as_mut().unwrap();
                header.num_rows = if is_padded { 0 } else { header.num_rows };
                return page;
            }
        };
        let page = Page::v1(n, &body);
        match self.has_dictionary() {
            true => page.with_encoding(Encoding::RleDictionary),
            false => page,
        }
    }

    /// Writes a file in which the pages in `padded` have padding, after it applies `change` to the pages of `a`.
    pub(crate) fn file_with(self, padded: &[usize], change: impl FnOnce(&mut [Page])) -> Bytes {
        let rows = self.rows();
        let mut pages: Vec<_> = (0..PAGES)
            .map(|number| self.page(number, padded.contains(&number)))
            .collect();
        change(&mut pages);
        if self.has_dictionary() {
            let entries = plain([0, 10, 20, 30].into_iter());
            pages.insert(0, Page::dictionary(4, &entries));
        }
        let levels = if self == ListLevels { 2 } else { 1 };
        let a = Chunk {
            physical: if self == Booleans {
                Type::Boolean
            } else {
                Type::Int32
            },
            codec: CompressionCodec::Uncompressed,
            num_values: (PAGES * rows * levels) as u64,
            pages,
        };
        let b = Chunk {
            physical: Type::Int32,
            codec: CompressionCodec::Uncompressed,
            num_values: (PAGES * rows) as u64,
            pages: vec![Page::v1(PAGES * rows, &plain(0..(PAGES * rows) as i32))],
        };
        let schema = vec![
            group("schema", None, 2),
            self.schema(),
            leaf("b", Type::Int32, Repetition::Required),
        ];
        let bytes = Bytes::from(file(schema, &[((PAGES * rows) as u64, vec![a, b])]));
        if self != Booleans {
            return bytes;
        }
        let mut parts = Dismantled::new(&bytes);
        parts.created_by("fastparquet-python version 2023.10.1 (build 0)");
        parts.assemble()
    }

    pub(crate) fn file(self, padded: &[usize]) -> Bytes {
        self.file_with(padded, |_| {})
    }

    /// Returns the rows of both columns.
    pub(crate) fn expected(self) -> Vec<Vec<String>> {
        let b = (0..PAGES * self.rows()).map(|row| row.to_string());
        let a = lines(&self.array()).into_iter();
        a.zip(b).map(|(a, b)| vec![a, b]).collect()
    }
}

fn rows_of(file: &Bytes, options: ReadOptions) -> Vec<Vec<String>> {
    let outcome = read(file, options);
    assert!(!outcome.is_failed, "{:?}", error_of(file));
    outcome.rows
}

fn error_of(file: &Bytes) -> Option<String> {
    let file = ParquetFile::from_bytes(file.clone()).ok()?;
    let error = file.read(ReadOptions::new()).unwrap().find_map(Result::err);
    error.map(|error| error.to_string())
}

/// Returns the number of rows that a repair keeps.
fn repaired(file: &Bytes, ignore_footer: bool) -> usize {
    let mut options = RepairOptions::default();
    options.ignore_footer = ignore_footer;
    let Ok(mut repair) = Repair::open(file.clone(), &options) else {
        return 0;
    };
    repair.check(&ReadOptions::default(), |_| {}).unwrap();
    let reader = repair.read(ReadOptions::default()).unwrap();
    reader.map(|batch| batch.unwrap().num_rows()).sum()
}

#[test]
fn padding_is_read_at_a_middle_page_at_the_last_and_at_all() {
    for kind in ALL {
        let expected = kind.expected();
        for padded in [&[][..], &[0], &[1], &[2], &[0, 1, 2]] {
            let file = kind.file(padded);
            let what = format!("{kind:?} {padded:?}");
            for threads in [1, 2] {
                for batch in [7, 100_000] {
                    let options = ReadOptions::new().threads(threads).batch_size(batch);
                    assert_eq!(rows_of(&file, options), expected, "{what}");
                }
            }
            for how in SUPPLIES {
                let batches = pushed(&file, &ReadOptions::new(), how).unwrap();
                let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
                assert_eq!(rows, expected.len(), "{what}");
            }
            let kept = expected.len() as i32 - 5;
            let filter = ReadOptions::new().filter(col("b").ge(kept));
            assert_eq!(rows_of(&file, filter), expected[kept as usize..], "{what}");
            for on_error in [OnError::SkipRowGroup, OnError::NullPage] {
                let options = ReadOptions::new().on_error(on_error);
                assert_eq!(rows_of(&file, options), expected, "{what}");
            }
        }
    }
}

#[test]
fn repair_keeps_rows_before_padding() {
    for kind in ALL {
        for padded in [&[1][..], &[2], &[0, 1, 2]] {
            let file = kind.file(padded);
            let rows = kind.expected().len();
            for ignore_footer in [false, true] {
                let kept = repaired(&file, ignore_footer);
                assert_eq!(kept, rows, "{kind:?} {padded:?} {ignore_footer}");
            }
        }
    }
}

#[test]
fn verify_notes_padding() {
    for kind in ALL {
        if matches!(kind, NoGroups | NoRows | Booleans) {
            continue;
        }
        let file = ParquetFile::from_bytes(kind.file(&[1])).unwrap();
        let findings: Vec<_> = herringbone_inspect::verify(&file)
            .map(Result::unwrap)
            .collect();
        let is_page = |it: &&Finding| it.kind == FindingKind::Page;
        let notes: Vec<_> = findings.iter().filter(is_page).collect();
        assert_eq!(notes.len(), 1, "{kind:?} {findings:?}");
        assert_eq!(notes[0].severity, Severity::Note, "{kind:?}");
    }
}

/// Reads a file in which page 1 of `a` declares `by` more levels than it has. Returns the result and the file.
fn with_lie(kind: Padding, by: i32, options: ReadOptions) -> (Outcome, Bytes) {
    let file = kind.file_with(&[], |pages| {
        let header = &mut pages[1].header;
        if let Some(v1) = &mut header.data_page_header {
            v1.num_values += by;
        }
    });
    (read(&file, options), file)
}

#[test]
fn a_header_that_hides_a_level_is_found_before_the_next_page() {
    for kind in [
        LevelRun, LevelBlock, LevelGroup, IndexGroup, Bytes, ListLevels,
    ] {
        // This is the number of levels that fit into this form of padding.
        let hidden = match kind {
            LevelGroup | IndexGroup | ListLevels => 8,
            _ => 1,
        };
        let expected = kind.expected();
        let right = 2 * kind.rows();
        for threads in [1, 2] {
            for batch in [1, 7, 100_000] {
                let options = ReadOptions::new().threads(threads).batch_size(batch);
                let (outcome, file) = with_lie(kind, -hidden, options);
                let what = format!("{kind:?} {threads} {batch}");
                assert!(outcome.is_failed, "{what}");
                assert!(outcome.rows.len() < right, "{what}");
                assert_eq!(outcome.rows, expected[..outcome.rows.len()], "{what}");
                let error = error_of(&file).unwrap();
                assert!(error.contains("page"), "{error}");
            }
        }
        // A read that stops earlier needs no more than its rows.
        let rows = kind.rows() + 1;
        let (outcome, file) = with_lie(kind, -hidden, ReadOptions::new().limit(rows as u64));
        assert_eq!(outcome.rows, expected[..rows], "{kind:?}");
        assert!(!outcome.is_failed);
        for on_error in [OnError::SkipRowGroup, OnError::NullPage] {
            let outcome = read(&file, ReadOptions::new().on_error(on_error));
            assert_eq!(outcome.rows, expected[..outcome.rows.len()], "{kind:?}");
        }
        for ignore_footer in [false, true] {
            assert_eq!(repaired(&file, ignore_footer), 0, "{kind:?}");
        }
    }
}

#[test]
fn the_error_names_both_numbers() {
    let (_, file) = with_lie(IndexGroup, -8, ReadOptions::new());
    let error = error_of(&file).unwrap();
    assert!(error.contains("40 of its 48 values"), "{error}");
    // The page has number 2, because the dictionary is page 0.
    assert!(error.contains("column a, row group 0, page 2"), "{error}");
}

#[test]
fn two_headers_that_hide_a_level_from_the_sum_are_found() {
    // The pages declare 9 and 11 values in place of 10 and 10. The sum is right, but the PLAIN bytes have room for a
    // value.
    for kind in [LevelRun, Bytes] {
        let file = kind.file_with(&[], |pages| {
            for (page, by) in [(1, -1), (2, 1)] {
                pages[page]
                    .header
                    .data_page_header
                    .as_mut()
                    .unwrap()
                    .num_values += by;
            }
        });
        let outcome = read(&file, ReadOptions::new().batch_size(1));
        assert!(outcome.is_failed, "{kind:?}");
        assert_eq!(
            outcome.rows,
            kind.expected()[..outcome.rows.len()],
            "{kind:?}"
        );
        assert!(outcome.rows.len() < 2 * kind.rows());
    }
}

#[test]
fn a_flipped_definition_level_is_found() {
    // The levels start after their length and the run header, and row 1 has a value.
    for kind in [LevelBlock, LevelGroup] {
        let file = kind.file_with(&[], |pages| pages[0].body[4 + 1] ^= 2);
        let outcome = read(&file, ReadOptions::new().batch_size(1));
        assert!(outcome.is_failed, "{kind:?}");
        assert!(outcome.rows.len() < kind.rows(), "{kind:?}");
        let file = ParquetFile::from_bytes(file).unwrap();
        let error = file.read(ReadOptions::new()).unwrap();
        let error = error.filter_map(Result::err).next().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn a_page_without_rows_is_compared_before_its_rows() {
    let file = NoRows.file_with(&[0, 1, 2], |pages| {
        let header = pages[1].header.data_page_header_v2.as_mut().unwrap();
        header.num_values -= 1;
    });
    let outcome = read(&file, ReadOptions::new().batch_size(1));
    assert!(outcome.is_failed);
    assert!(outcome.rows.len() <= NoRows.rows());
}

#[test]
fn the_error_of_a_page_without_rows_says_what_is_wrong() {
    let file = NoRows.file_with(&[0, 1, 2], |pages| {
        let header = pages[1].header.data_page_header_v2.as_mut().unwrap();
        header.num_values -= 1;
    });
    let error = error_of(&file).unwrap();
    for part in [
        "declares 0 rows and 10 values",
        "29 of its 30 values",
        "column a, row group 0, page 0",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains("more levels"), "{error}");
}
