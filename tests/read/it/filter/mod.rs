//! Filters return exactly the rows that a row-by-row test accepts, for any layout of the file.

mod data;
mod random;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use herringbone::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch};
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, Verdict, col};
use herringbone::format::FileMetadata;
use herringbone::push::PushDecoder;
use herringbone::schema::ParquetSchema;
use herringbone::{
    ColumnOptions, Compression, ErrorKind, Limits, ParquetFile, ReadOptions, StatisticsLevel,
    WriteOptions,
};

use crate::push::written;
use crate::random::Random;
use data::{data, write};

/// If a custom predicate requests it, it only sees the rows that its implied predicate accepts.
#[test]
fn what_is_implied_is_tested_first() {
    #[derive(Debug)]
    struct Counted {
        tests_implied: bool,
        seen: Arc<AtomicUsize>,
    }
    impl RowPredicate for Counted {
        fn columns(&self) -> Vec<Vec<String>> {
            vec![vec!["text".to_owned()]]
        }
        fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
            let seen = self.seen.clone();
            Ok(Box::new(move |batch| {
                seen.fetch_add(batch.num_rows(), Relaxed);
                Ok(vec![true; batch.num_rows()].into())
            }))
        }
        fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
            Ok(Some(col("row").between(40, 59)))
        }
        fn tests_implied(&self) -> bool {
            self.tests_implied
        }
    }
    let data = data(300, &mut Random(3));
    let file = ParquetFile::from_bytes(written(&data.batch, WriteOptions::new())).unwrap();
    let read = |change: &dyn Fn(Predicate) -> Predicate, tests_implied| {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Predicate::rows(Counted {
            tests_implied,
            seen: seen.clone(),
        });
        let options = ReadOptions::new().filter(change(counted)).columns(["int"]);
        let batches = file.read(options).unwrap();
        let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
        (seen.load(Relaxed), rows)
    };
    assert_eq!(read(&|it| it, false), (300, 300));
    // The predicate claims an implication that does not hold, so that we can see its effect on the rows.
    assert_eq!(read(&|it| it, true), (20, 20));
    let both: &dyn Fn(Predicate) -> Predicate = &|it| it.and(col("row").ge(50));
    assert_eq!(read(both, true), (10, 10));
    let either: &dyn Fn(Predicate) -> Predicate = &|it| it.or(col("row").ge(290));
    assert_eq!(read(either, true), (30, 30));
    assert_eq!(read(&|it| it.not(), true), (300, 0));
}

/// A custom predicate that selects every third row by its own column.
#[derive(Debug)]
struct EveryThird {
    verdict: Verdict,
}

impl RowPredicate for EveryThird {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["row".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        Ok(Box::new(|batch| {
            let rows = Int64Array::from(batch.column(0).to_data());
            // The result is unknown if the row is divisible by 9.
            Ok(rows
                .iter()
                .map(|row| row.filter(|row| row % 9 != 0).map(|row| row % 3 == 0))
                .collect())
        }))
    }

    fn verdict(&self, _: &FileMetadata, row_group: usize) -> Result<Verdict, RowError> {
        Ok(if row_group == 1 {
            self.verdict
        } else {
            Verdict::Some
        })
    }
}

#[test]
fn predicates_of_ones_own() {
    let random = &mut Random(1);
    let data = data(300, random);
    let mut options = WriteOptions::new();
    options.row_group_rows = 100;
    let file = written(&data.batch, options);
    let file = ParquetFile::from_source(file, Limits::default()).unwrap();
    let rows = |predicate: Predicate| -> Vec<i64> {
        let options = ReadOptions::new().columns(["row"]).filter(predicate);
        let batches = file.read(options).unwrap();
        batches
            .flat_map(|batch| {
                Int64Array::from(batch.unwrap().column(0).to_data())
                    .values()
                    .to_vec()
            })
            .collect()
    };
    let is_third = |row: &i64| row % 3 == 0 && row % 9 != 0;
    let some = || {
        Predicate::rows(EveryThird {
            verdict: Verdict::Some,
        })
    };
    assert_eq!(rows(some()), (0..300).filter(is_third).collect::<Vec<_>>());
    // The negation does not select unknown rows, either.
    assert_eq!(
        rows(some().not()),
        (0..300).filter(|row| row % 3 != 0).collect::<Vec<_>>()
    );
    // The verdict on a row group counts, whether it is right or wrong.
    let none = || {
        Predicate::rows(EveryThird {
            verdict: Verdict::None,
        })
    };
    let outside = |row: &i64| !(100..200).contains(row);
    assert_eq!(
        rows(none()),
        (0..300)
            .filter(|row| is_third(row) && outside(row))
            .collect::<Vec<_>>()
    );
    let all = || {
        Predicate::rows(EveryThird {
            verdict: Verdict::All,
        })
    };
    assert_eq!(
        rows(all()),
        (0..300)
            .filter(|row| is_third(row) || !outside(row))
            .collect::<Vec<_>>()
    );
    let both = rows(some().and(col("row").ge(250)));
    assert_eq!(both, (250..300).filter(is_third).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_tested_is_an_error() {
    let data = data(50, &mut Random(2));
    let bytes = write(&data.batch, &mut Random(2));
    let file = ParquetFile::from_source(bytes, Limits::default()).unwrap();
    for (predicate, message) in [
        (col("none").eq(1), "there is no column `none`"),
        (
            col("s").is_null(),
            "`s` is a group; test one of its columns, such as `s.",
        ),
        (
            col("int").eq("5"),
            "cannot compare Int64 with '5', which is text",
        ),
        (
            col("text").gt(5),
            "cannot compare Utf8 with 5, which is an integer",
        ),
        (col("date").lt("soon"), "cannot compare Date32 with 'soon'"),
        (col("flag").lt(0), "cannot compare Boolean with 0"),
        (col("int").like("5%"), "values of Int64 are not text"),
        (col("text").is_nan(), "values of Utf8 are never NaN"),
        (
            col("list.list.element").eq(1),
            "is in a list: test any(list.list.element)",
        ),
    ] {
        let error = file
            .read(ReadOptions::new().filter(predicate.clone()))
            .err()
            .unwrap();
        assert!(error.message().contains(message), "{predicate}: {error}");
    }
}

/// We skip row groups without a selected row by their bounds or by their values, even if there are many of them.
#[test]
fn many_row_groups_without_a_wanted_row() {
    let rows = 20_000;
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(
        (0..rows).map(|row| row % 7 * 2),
    ));
    let batch = RecordBatch::try_from_iter([("value", values)]).unwrap();
    for statistics in [StatisticsLevel::Counts, StatisticsLevel::Chunk] {
        let mut options = WriteOptions::new();
        options.row_group_rows = 2;
        options.columns = ColumnOptions::new().statistics(statistics);
        let file = ParquetFile::from_source(written(&batch, options), Limits::default()).unwrap();
        let read = |predicate| {
            let options = ReadOptions::new().filter(predicate);
            let batches = file.read(options).unwrap();
            batches
                .map(|batch| batch.unwrap().num_rows())
                .sum::<usize>()
        };
        assert_eq!(read(col("value").eq(5)), 0);
        let expected = (0..rows).filter(|row| row % 7 == 6).count();
        assert_eq!(read(col("value").ge(12)), expected);
    }
}

#[test]
fn threads_split_columns_of_which_some_rows_are_wanted() {
    const ROWS: i64 = 400_000;
    // One filter selects half of the rows, scattered, and the other one selects runs of rows.
    let mixed = |row: i64| row.wrapping_mul(0x1E37_79B9_7F4A_7C15) >> 40 & 0xff;
    let keys = Int64Array::from_iter_values((0..ROWS).map(mixed));
    let runs = Int64Array::from_iter_values((0..ROWS).map(|row| row / 700 % 3));
    let payload = Int64Array::from_iter((0..ROWS).map(|row| (row % 7 != 0).then_some(row)));
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(keys)),
        ("run", Arc::new(runs)),
        ("payload", Arc::new(payload)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for compression in [Compression::Uncompressed, Compression::Snappy] {
        let columns = ColumnOptions::new().compression(compression);
        let columns = columns.page_rows(10_000).dictionary(false);
        let bytes = written(&batch, WriteOptions::new().columns(columns));
        let file = ParquetFile::from_bytes(bytes).unwrap();
        let is_wanted: [(Predicate, &dyn Fn(i64) -> bool); 3] = [
            (col("key").lt(128), &|row| mixed(row) < 128),
            (col("run").eq(1), &|row| row / 700 % 3 == 1),
            (col("key").ge(0), &|_| true),
        ];
        for (predicate, is_wanted) in is_wanted {
            let wanted: Vec<_> = (0..ROWS).filter(|row| is_wanted(*row)).collect();
            for threads in [1, 2, 3] {
                let options = ReadOptions::new()
                    .filter(predicate.clone())
                    .threads(threads);
                let mut next = wanted.chunks(ReadOptions::DEFAULT_BATCH_SIZE);
                for batch in file.read(options.columns(["payload"])).unwrap() {
                    let batch = batch.unwrap();
                    let expected = next.next().unwrap().iter();
                    let expected = expected.map(|row| (row % 7 != 0).then_some(*row));
                    let expected: ArrayRef = Arc::new(Int64Array::from_iter(expected));
                    assert_eq!(batch.column(0), &expected, "{predicate} {threads}");
                }
                assert_eq!(next.next(), None, "{predicate} {threads}");
            }
        }
    }
}

/// Threads read row groups ahead of the next one to emit. Some of these groups have many selected rows, some have few
/// or none.
#[test]
fn row_groups_come_in_order_up_to_a_damaged_one() {
    const ROWS: usize = 20_000;
    let shares = [3, 100, 0, 50, 100, 1, 100, 20];
    let key = |row: usize| ((row * 37 % 100) < shares[row / ROWS]) as i64;
    let rows = shares.len() * ROWS;
    let columns: [(&str, ArrayRef); 2] = [
        (
            "key",
            Arc::new(Int64Array::from_iter_values((0..rows).map(key))),
        ),
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..rows as i64)),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let mut options = WriteOptions::new().columns(columns.dictionary(false));
    options.row_group_rows = ROWS;
    let sound = written(&batch, options);
    // The damaged value is in the sixth row group, in which one row in a hundred is selected.
    let mut damaged = sound.to_vec();
    let value = (5 * ROWS as i64 + 1234).to_le_bytes();
    let at = damaged
        .windows(8)
        .position(|window| window == value)
        .unwrap();
    damaged[at] ^= 1;
    for (bytes, is_sound) in [(sound, true), (damaged.into(), false)] {
        let read = |threads: usize, offset: u64, all: usize| {
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            let options = ReadOptions::new().filter(col("key").eq(1));
            let options = options.threads(threads).batch_size(3000).offset(offset);
            let mut reader = file.read(options).unwrap();
            let mut outcome = Vec::new();
            while outcome.len() < all {
                match reader.next_batch() {
                    Ok(Some(batch)) => outcome.push(Ok(batch)),
                    Ok(None) => break,
                    Err(error) => outcome.push(Err(error.to_string())),
                }
            }
            outcome
        };
        for offset in [0, 1000, 25_000] {
            let expected = read(1, offset, usize::MAX);
            assert_eq!(expected.last().unwrap().is_ok(), is_sound);
            for threads in [2, 3, 8, 100] {
                let got = read(threads, offset, usize::MAX);
                assert_eq!(got, expected, "{threads} threads behind {offset}");
                assert_eq!(read(threads, offset, 3), expected[..3]);
            }
        }
        let wanted = (0..rows).filter(|row| key(*row) == 1);
        let wanted: Vec<_> = wanted
            .take_while(|row| is_sound || *row < 5 * ROWS)
            .collect();
        let mut got = Vec::new();
        for batch in read(4, 0, usize::MAX).into_iter().flatten() {
            let row = batch
                .column(1)
                .as_any()
                .downcast_ref::<Int64Array>()
                .unwrap();
            got.extend(row.values().iter().map(|row| *row as usize));
        }
        assert_eq!(got, wanted);
    }
}

/// From the next row group on, a read continues with a stricter filter.
#[test]
fn filters_are_tightened_on_the_way() {
    // The number of rows is large enough for several threads.
    const ROWS: i64 = 60_000;
    const OF_A_GROUP: i64 = 6000;
    let odd = |row: i64| row % 7 % 2;
    let columns: [(&str, ArrayRef); 3] = [
        (
            "odd",
            Arc::new(Int64Array::from_iter_values((0..ROWS).map(odd))),
        ),
        ("row", Arc::new(Int64Array::from_iter_values(0..ROWS))),
        (
            "again",
            Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| row * 3))),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut options = WriteOptions::new();
    options.row_group_rows = OF_A_GROUP as usize;
    let bytes = written(&batch, options);
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let some = ReadOptions::new().filter(col("odd").eq(1)).batch_size(500);
    let fewer = col("odd").eq(1).and(col("row").ge(57_000));
    let rows_of = |batch: &RecordBatch| -> Vec<i64> {
        let rows = Int64Array::from(batch.column_by_name("row").unwrap().to_data());
        rows.values().to_vec()
    };
    let is_wanted = |row: &i64| odd(*row) == 1;
    // These rows match both filters. Rows that the old filter has selected are emitted before them.
    let tight: Vec<_> = (57_000..ROWS).filter(is_wanted).collect();
    let all: Vec<_> = (0..ROWS).filter(is_wanted).collect();
    for (threads, limit) in [(1, None), (3, None), (1, Some(12_000)), (3, Some(12_000))] {
        let with = |options: &ReadOptions| {
            let options = options.clone().threads(threads);
            limit.map_or(options.clone(), |limit| options.limit(limit))
        };
        let mut reader = file.read(with(&some)).unwrap();
        let mut rows = rows_of(&reader.next_batch().unwrap().unwrap());
        reader.tighten_filter(&fewer).unwrap();
        while let Some(batch) = reader.next_batch().unwrap() {
            rows.extend(rows_of(&batch));
        }
        let old = rows.partition_point(|row| *row < 57_000);
        let (old, new) = rows.split_at(old);
        assert!(all.starts_with(old), "{threads} threads, {limit:?}");
        let most = limit.unwrap_or(u64::MAX) as usize - old.len();
        assert_eq!(
            new,
            &tight[..tight.len().min(most)],
            "{threads} threads, {limit:?}"
        );
        match (threads, limit) {
            // One thread had selected the first batch's rows, and at most the rows of a second batch.
            (1, _) => assert!(old.len() <= 1000, "{}", old.len()),
            // Threads test row groups ahead, but not all of them.
            (_, None) => assert!(old.len() < all.len() - tight.len()),
            // If there is a limit, no row group is tested ahead.
            (_, Some(_)) => assert!(old.last() < Some(&OF_A_GROUP)),
        }
    }
    let plan = |options: &ReadOptions| Arc::new(file.plan(options).unwrap());
    let mut decoder = PushDecoder::new(plan(&some));
    decoder.tighten_filter(&fewer).unwrap();
    for (looser, message) in [
        (col("row").ge(57_000), "combine both"),
        (col("odd").eq(1), "combine both"),
        (fewer.clone().and(col("none").eq(1)), "none"),
    ] {
        let error = decoder.tighten_filter(&looser).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.message().contains(message), "{error}");
    }
    // A limit counts different rows with and without a filter, so this is an error.
    let mut reader = file.read(ReadOptions::new().threads(1).limit(5)).unwrap();
    assert!(reader.tighten_filter(&fewer).is_err());
}
