//! Tests the pages of a column that several threads finish. The bytes and errors must be the ones that one thread
//! makes, and pages are processed concurrently.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use herringbone::format::{ColumnChunk, Encoding, FileMetadataParts};
use herringbone::modular_encryption::{
    Encryption, FileEncryption, ModuleCipher, ModuleId, PageToEncrypt,
};
use herringbone::{
    ColumnOptions, Compatibility, DataPageVersion, Error, ErrorKind, ParquetFile, ReadOptions,
    Result, WriteOptions, Writer,
};
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::*;

use super::compare::{difference, in_batches, read, written};
use crate::batches::Random;
use crate::table::without_panic;

/// A cipher that prefixes each page with its id, and records the order of pages.
#[derive(Debug, Default)]
struct Watched {
    /// The pages that fail, by row group, column and ordinal.
    failing: BTreeSet<(usize, usize, usize)>,
    /// A page that waits until a later page has started, too.
    waiting: Option<(usize, usize, usize)>,
    /// The pages that have started.
    begun: Mutex<BTreeSet<(usize, usize, usize)>>,
    begins: Condvar,
}

impl Watched {
    /// Waits for a page after this one. Returns true if one started.
    fn wait_for_one_behind(&self, place: (usize, usize, usize)) -> bool {
        let begun = self.begun.lock().unwrap();
        let most = Duration::from_secs(60);
        let is_last = |begun: &mut BTreeSet<_>| begun.last() == Some(&place);
        let waited = self.begins.wait_timeout_while(begun, most, is_last);
        !waited.unwrap().1.timed_out()
    }
}

#[derive(Debug, Clone)]
struct Cipher(Arc<Watched>);

impl ModuleCipher for Cipher {
    fn module_bytes(&self, _: &ModuleId, _: &[u8], _: usize) -> Result<Option<usize>> {
        Err(Error::unsupported("nothing is read"))
    }

    fn decrypt(&self, _: &ModuleId, _: &[u8], _: usize, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("nothing is read"))
    }

    fn encrypt(&self, id: &ModuleId, plaintext: &[u8], module: &mut Vec<u8>) -> Result<()> {
        module.extend_from_slice(id.to_string().as_bytes());
        module.extend_from_slice(plaintext);
        Ok(())
    }

    fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize> {
        let id = &page.body_id;
        let watched = &self.0;
        let place = (id.row_group, id.column, id.page);
        watched.begun.lock().unwrap().insert(place);
        watched.begins.notify_all();
        if watched.failing.contains(&place) {
            // Later pages may fail earlier.
            std::thread::sleep(Duration::from_millis(30 / (1 + id.page as u64)));
            return Err(Error::argument(format!("no {id}")));
        }
        if watched.waiting == Some(place) && !watched.wait_for_one_behind(place) {
            return Err(Error::argument("no page is under way beside another"));
        }
        let front = id.to_string().into_bytes();
        page.body
            .extend_from_slice(b"behind a body, and longer than there is room");
        let header = (page.header)([&front, &page.body[page.start..]])?;
        self.encrypt(&page.header_id, &header, head)?;
        let header_bytes = head.len();
        head.extend(front);
        Ok(header_bytes)
    }
}

impl Encryption for Cipher {
    fn open(&self, _: Option<&Path>, _: &[Vec<String>]) -> Result<Option<Arc<dyn FileEncryption>>> {
        Ok(Some(Arc::new(self.clone())))
    }
}

impl FileEncryption for Cipher {
    fn column(&self, _: usize) -> Option<Arc<dyn ModuleCipher>> {
        Some(Arc::new(self.clone()))
    }

    fn seal_chunk(&self, _: &ModuleId, _: &mut ColumnChunk) -> Result<()> {
        Ok(())
    }

    fn encrypts_footer(&self) -> bool {
        false
    }

    fn complete_metadata(&self, _: &mut FileMetadataParts) {}

    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>> {
        Ok(metadata)
    }
}

fn encrypted(options: &WriteOptions, watched: Watched) -> WriteOptions {
    let cipher = Cipher(Arc::new(watched));
    options.clone().encryption(Arc::new(cipher))
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

const ROWS: usize = 9_000;

/// Returns one column of each kind, with its possible encodings. `None` lets the writer choose.
fn kinds() -> Vec<(ArrayRef, Vec<Option<Encoding>>)> {
    use Encoding::{
        Alp, ByteStreamSplit, DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain, Rle,
        RleDictionary,
    };
    let mut random = Random(3);
    let numbers: Vec<Option<u64>> = (0..ROWS)
        .map(|_| (random.below(12) > 0).then(|| random.next() >> 4))
        .collect();
    let each = || numbers.iter().copied();
    let longs = each().map(|it| it.map(|it| (it >> 20).cast_signed()));
    let few = each().map(|it| it.map(|it| (it % 90) as i32));
    let required = each().map(|it| it.unwrap_or(1) as i32);
    let rounded = each().map(|it| it.map(|it| (it % 1_000_000) as f64 / 100.0));
    let flags = each().map(|it| it.map(|it| it % 5 == 0));
    let texts = each().map(|it| it.map(|it| format!("{it:x}").repeat(it as usize % 4)));
    let words = each().map(|it| it.map(|it| format!("word {}", it % 30)));
    let fixed = each().map(|it| it.map(|it| [it.to_le_bytes(), [7; 8]].concat()));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed, 16).unwrap();
    let lists = each().map(|it| it.map(|it| vec![Some(it as i32); it as usize % 4]));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    vec![
        (
            Arc::new(longs.collect::<Int64Array>()),
            vec![
                None,
                Some(Plain),
                Some(DeltaBinaryPacked),
                Some(ByteStreamSplit),
            ],
        ),
        (
            Arc::new(few.collect::<Int32Array>()),
            vec![None, Some(RleDictionary)],
        ),
        (
            Arc::new(Int32Array::from_iter_values(required)),
            vec![None, Some(Plain)],
        ),
        (
            Arc::new(rounded.collect::<Float64Array>()),
            vec![None, Some(ByteStreamSplit), Some(Alp)],
        ),
        (
            Arc::new(flags.collect::<BooleanArray>()),
            vec![None, Some(Plain), Some(Rle)],
        ),
        (
            Arc::new(texts.collect::<StringArray>()),
            vec![
                None,
                Some(Plain),
                Some(DeltaLengthByteArray),
                Some(DeltaByteArray),
            ],
        ),
        (Arc::new(words.collect::<StringArray>()), vec![None]),
        (Arc::new(fixed), vec![None, Some(ByteStreamSplit)]),
        (Arc::new(lists), vec![None]),
    ]
}

/// Checks that the bytes are the same for any number of threads, and returns them.
fn check(batches: &[RecordBatch], options: &WriteOptions, what: &str) -> Vec<u8> {
    let write = |threads| {
        let options = options.clone().threads(threads);
        written(&batches[0].schema(), batches, options).unwrap()
    };
    let alone = write(1);
    for threads in [2, 8] {
        assert!(write(threads) == alone, "{what}, {threads} threads");
    }
    alone
}

#[test]
fn threads_change_no_byte_of_a_single_column() {
    for (ordinal, (array, encodings)) in kinds().into_iter().enumerate() {
        let batch = table(vec![("a", array)]);
        let batches = in_batches(&batch, 700);
        for encoding in encodings {
            for version in [DataPageVersion::V1, DataPageVersion::V2] {
                for codec in ["none", "snappy", "zstd"] {
                    let columns = ColumnOptions::new().page_rows(150);
                    let columns = columns.compression(codec.parse().unwrap());
                    let options = WriteOptions::new()
                        .compatibility(Compatibility::Newest)
                        .data_page_version(version)
                        .row_group_rows(4_000)
                        .columns(match encoding {
                            Some(encoding) => columns.encoding(encoding),
                            None => columns,
                        });
                    let what = format!("{ordinal} {encoding:?} {version:?} {codec}");
                    let file = check(&batches, &options, &what);
                    let (_, back) = read(&file, ReadOptions::default()).unwrap();
                    let batch = std::slice::from_ref(&batch);
                    assert_eq!(difference(batch, &back, &batch[0].schema()), None, "{what}");
                    check(&batches, &encrypted(&options, Watched::default()), &what);
                }
            }
        }
    }
}

/// The ends of row groups depend on the columns' contents, and not on the threads that finish their pages.
#[test]
fn row_groups_end_for_their_bytes_where_one_thread_ends_them() {
    let mut random = Random(5);
    let texts: Vec<String> = (0..16_000)
        .map(|_| format!("{:x}", random.next()).repeat(random.below(9)))
        .collect();
    let numbers = Int64Array::from_iter_values((0..16_000).map(|_| random.next().cast_signed()));
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    let numbers: ArrayRef = Arc::new(numbers);
    let tables = [
        table(vec![("s", texts.clone())]),
        table(vec![("s", texts), ("n", numbers)]),
    ];
    for batch in &tables {
        let batches = in_batches(batch, 1_500);
        for version in [DataPageVersion::V1, DataPageVersion::V2] {
            for codec in ["none", "snappy", "zstd"] {
                for dictionary in [false, true] {
                    // Some pages are small, and others are large enough to become parts of their own.
                    for page_bytes in [20_000, 400_000] {
                        let columns = ColumnOptions::new()
                            .dictionary(dictionary)
                            .page_bytes(page_bytes)
                            .compression(codec.parse().unwrap());
                        let options = WriteOptions::new()
                            .data_page_version(version)
                            .columns(columns);
                        for options in [
                            options.clone().memory_bytes(300_000),
                            options.row_group_bytes(50_000),
                        ] {
                            let what = format!("{version:?} {codec} {dictionary} {page_bytes}");
                            let file = check(&batches, &options, &what);
                            let file = ParquetFile::from_bytes(file).unwrap();
                            let row_groups = file.metadata().num_row_groups();
                            assert!(row_groups > 1 || codec != "none", "{what}");
                            check(&batches, &encrypted(&options, Watched::default()), &what);
                        }
                    }
                }
            }
        }
    }
}

fn noise(rows: usize) -> ArrayRef {
    let mut random = Random(9);
    let values = (0..rows).map(|_| random.next().cast_signed());
    Arc::new(Int64Array::from_iter_values(values))
}

#[test]
fn a_page_is_under_way_while_others_are() {
    let batches = in_batches(&table(vec![("a", noise(9_000))]), 3_000);
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(300).dictionary(false))
        .row_group_rows(3_000);
    for threads in [2, 3] {
        // Threads start with the second batch.
        let watched = Watched {
            waiting: Some((1, 0, 0)),
            ..Watched::default()
        };
        let options = encrypted(&options, watched).threads(threads);
        written(&batches[0].schema(), &batches, options).unwrap();
    }
}

#[test]
fn the_error_is_that_of_one_thread() {
    let decimals = (0..9_000).map(|row| if row == 7_700 { 100_000 } else { row });
    let decimals = Decimal128Array::from_iter_values(decimals)
        .with_precision_and_scale(4, 0)
        .unwrap();
    let batch = table(vec![
        ("a", noise(9_000)),
        ("b", noise(9_000)),
        ("c", Arc::new(decimals)),
    ]);
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(100).dictionary(false))
        .row_group_rows(5_000);
    for (columns, failing) in [
        (vec![0], vec![(0, 0, 23), (0, 0, 24)]),
        (vec![0], vec![(0, 0, 49)]),
        (vec![0], vec![(1, 0, 7), (1, 0, 39)]),
        (vec![0, 1], vec![(0, 1, 21), (0, 0, 33)]),
        (vec![0, 1], vec![(0, 1, 21), (0, 0, 25), (0, 0, 26)]),
        (vec![0, 1], vec![(0, 1, 49), (1, 0, 3)]),
        // The pages are in the slice of the value that is too large, and before and after it.
        (vec![2], vec![(1, 0, 26)]),
        (vec![2], vec![(1, 0, 28)]),
        (vec![0, 2], vec![(1, 0, 26)]),
        (vec![2, 0], vec![(1, 1, 26)]),
    ] {
        let batches = in_batches(&batch.project(&columns).unwrap(), 1_200);
        let error = |threads| {
            let watched = Watched {
                failing: failing.iter().copied().collect(),
                ..Watched::default()
            };
            let options = encrypted(&options, watched).threads(threads);
            let written = without_panic(|| written(&batches[0].schema(), &batches, options));
            let error = written.unwrap().map(|file| file.len());
            error.unwrap_err().to_string()
        };
        let alone = error(1);
        for threads in [2, 8, 2, 8] {
            assert_eq!(
                error(threads),
                alone,
                "{columns:?} {failing:?}, {threads} threads"
            );
        }
    }
}

/// An output that accepts this number of bytes.
struct Limited(usize);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let n = bytes.len().min(self.0);
        self.0 -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// If an output fails or a writer is abandoned, this leaves no threads that wait for each other.
#[test]
fn an_output_may_fail_while_pages_are_under_way() {
    let batches = in_batches(&table(vec![("a", noise(9_000))]), 1_000);
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(100).dictionary(false))
        .row_group_rows(2_000);
    let options = encrypted(&options, Watched::default());
    let whole = written(&batches[0].schema(), &batches, options.clone()).unwrap();
    for room in (0..whole.len()).step_by(997) {
        for threads in [1, 2, 4] {
            let options = options.clone().threads(threads);
            let mut writer = match Writer::new(Limited(room), batches[0].schema(), options) {
                Ok(writer) => writer,
                Err(error) => {
                    assert_eq!((error.kind(), room), (ErrorKind::Io, 0));
                    continue;
                }
            };
            let wrote = batches.iter().try_for_each(|batch| writer.write(batch));
            let error = match wrote {
                Ok(()) if room % 2 == 0 => continue,
                Ok(()) => writer.finish().map(drop).unwrap_err(),
                Err(error) => error,
            };
            assert_eq!(error.kind(), ErrorKind::Io, "{room} bytes");
        }
    }
}
