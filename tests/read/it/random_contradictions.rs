//! Tests random tables and predicates over files that have one contradiction or one damaged page. A read never returns
//! a wrong row without an error or a reported loss.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use herringbone::arrow::array::builder::{Int64Builder, ListBuilder};
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray,
};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::{Predicate, col};
use herringbone::{
    ColumnOptions, Compression, DataPageVersion, Lost, OnError, ParquetFile, ReadOptions,
    WriteOptions, Writer,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::canonical::lines;
use crate::contradictions::{batch, cut_bounds, read, shift};
use crate::dismantled::{Chunk, Dismantled};
use crate::random::Random;

/// Returns the time for random cases, which is 3 seconds, or the number of seconds in `HERRINGBONE_CONTRADICTIONS`.
fn patience() -> Duration {
    let seconds = std::env::var("HERRINGBONE_CONTRADICTIONS").ok();
    Duration::from_secs(
        seconds
            .and_then(|seconds| seconds.parse().ok())
            .unwrap_or(3),
    )
}

/// Returns the seed of the random cases. For each long run, set `HERRINGBONE_SEED` to a different value.
fn seed() -> u64 {
    let seed = std::env::var("HERRINGBONE_SEED").ok();
    seed.and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Returns a table of lists, text and numbers in stretches, so that indexes are useful.
fn random_table(random: &mut Random, rows: usize) -> RecordBatch {
    let mut lists = ListBuilder::new(Int64Builder::new());
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    let stretch = 1 + random.below(300);
    for row in 0..rows {
        let base = (row / stretch % 9) as i64 * 10;
        match random.below(8) {
            0 => lists.append_null(),
            1 => lists.append(true),
            n => {
                for _ in 0..n % 4 {
                    let value = base + random.below(10) as i64;
                    lists
                        .values()
                        .append_option((random.below(3) > 0).then_some(value));
                }
                lists.append(true);
            }
        }
        let number = base + random.below(10) as i64;
        numbers.push((random.below(6) > 0).then_some(number));
        texts.push(format!("text of more than 16 bytes {number:03}"));
    }
    batch(vec![
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..rows as i64)),
        ),
        ("list", Arc::new(lists.finish())),
        ("number", Arc::new(Int64Array::from(numbers))),
        ("text", Arc::new(StringArray::from(texts))),
    ])
}

fn written(random: &mut Random, table: &RecordBatch) -> Bytes {
    let page = 20 + random.below(200);
    if random.below(2) == 0 {
        let version = random.pick(&[DataPageVersion::V1, DataPageVersion::V2]);
        let columns = ColumnOptions::new().page_rows(page);
        let columns = columns.dictionary(random.below(2) == 0);
        let columns =
            columns.compression(random.pick(&[Compression::Uncompressed, Compression::Snappy]));
        let mut options = WriteOptions::new().columns(columns);
        options.row_group_rows = 500 + random.below(1000);
        options.data_page_version = Some(version);
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, table.schema(), options).unwrap();
        writer.write(table).unwrap();
        writer.finish().unwrap();
        return file.into();
    }
    let version = random.pick(&[
        parquet::file::properties::WriterVersion::PARQUET_1_0,
        parquet::file::properties::WriterVersion::PARQUET_2_0,
    ]);
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(page)
        .set_write_batch_size(page)
        .set_writer_version(version)
        .set_dictionary_enabled(random.below(2) == 0)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    file.into()
}

/// Returns the number of rows, and a file that this library, arrow-rs or pyarrow wrote.
fn file(random: &mut Random) -> (usize, Bytes) {
    match random.below(5) {
        0 => {
            let name = random.pick(&["lists_with_indexes_v1", "lists_with_indexes_v2"]);
            let path = crate::files::testdata().join(format!("pyarrow/{name}.parquet"));
            (700, std::fs::read(path).unwrap().into())
        }
        _ => {
            let rows = 200 + random.below(2000);
            let table = random_table(random, rows);
            (rows, written(random, &table))
        }
    }
}

/// Makes one part of a chunk contradict the others. Returns true if this part is a page header.
fn contradict(random: &mut Random, chunk: &mut Chunk) -> bool {
    let pages = chunk.num_data_pages();
    let page = random.below(pages);
    let by = random.pick(&[-2_i64, -1, 1, 2]);
    let kind = random.below(7);
    match kind {
        // These shift all pages after the first one, or a single page.
        0 if pages > 1 => shift(chunk, 1..pages, by),
        1 if page > 0 => shift(chunk, page..page + 1, by),
        2 => {
            let is_flat = chunk
                .columns
                .as_ref()
                .is_none_or(|index| index.repetition_level_histograms.is_none());
            let page = chunk.data_page(page);
            let declared = page.num_values() - 8 - random.below(8) as i32;
            page.declare(declared.max(0), is_flat);
        }
        3 => {
            if let Some(index) = &mut chunk.columns {
                index.null_pages[page] = !index.null_pages[page];
            }
        }
        4 => {
            if let Some(counts) = chunk
                .columns
                .as_mut()
                .and_then(|columns| columns.null_counts.as_mut())
            {
                counts[page] += by;
            }
        }
        5 => {
            if let Some(index) = &mut chunk.columns {
                *index = cut_bounds(index);
            }
        }
        _ => {
            if let Some(index) = &mut chunk.columns {
                (
                    index.repetition_level_histograms,
                    index.definition_level_histograms,
                ) = (None, None);
                index.null_pages[page] = true;
            }
        }
    }
    kind == 2
}

fn predicate(random: &mut Random) -> Predicate {
    let value = random.below(95) as i64;
    let list = col("list");
    match random.below(6) {
        0 => list.any().eq(value),
        1 => list.any().gt(value),
        2 => list.all().lt(value),
        3 => col("number").eq(value),
        4 => col("number").is_null().and(list.any().lt(value)),
        _ => col("text").eq(format!("text of more than 16 bytes {value:03}").as_str()),
    }
}

/// Random predicates test lists, numbers and text, in files with one contradiction. The read returns the undamaged
/// file's rows or an error.
#[test]
fn contradictions_lead_to_no_wrong_row() {
    let mut random = Random(seed());
    let start = Instant::now();
    let (mut cases, mut failed) = (0, 0);
    while start.elapsed() < patience() {
        let (rows, file) = file(&mut random);
        for _ in 0..6 {
            let at = random.0;
            let mut parts = Dismantled::new(&file);
            let row_group = random.below(parts.row_groups.len());
            let leaf = random.below(4);
            let is_header = contradict(&mut random, &mut parts.row_groups[row_group][leaf]);
            let changed = parts.assemble();
            let options = match random.below(4) {
                // If we skip pages by their headers alone, there is nothing else to compare the headers with.
                _ if is_header => ReadOptions::new(),
                0 => {
                    let first = random.below(rows) as u64;
                    let last = (first + 1 + random.below(5) as u64).min(rows as u64);
                    ReadOptions::new().row_ranges(vec![first..last])
                }
                _ => ReadOptions::new().filter(predicate(&mut random)),
            };
            let options = options.threads(1 + random.below(2));
            let right = read(&file, options.clone());
            let outcome = read(&changed, options);
            cases += 1;
            failed += usize::from(outcome.is_failed);
            let n = outcome.rows.len();
            assert!(!right.is_failed);
            assert!(
                outcome.rows.get(..n) == right.rows.get(..n)
                    && (outcome.is_failed || n == right.rows.len()),
                "state {at}, leaf {leaf}: {n} rows instead of {}, failed: {}",
                right.rows.len(),
                outcome.is_failed
            );
        }
    }
    assert!(cases > failed, "{cases} cases, {failed} errors");
    println!("{cases} cases, {failed} errors");
}

/// Returns nullable columns, some inside structs.
fn nullable_table(random: &mut Random, rows: usize) -> RecordBatch {
    let number = |random: &mut Random, row: usize| (random.below(4) > 0).then_some(row as i64);
    let numbers = |random: &mut Random| -> ArrayRef {
        Arc::new(
            (0..rows)
                .map(|row| number(random, row))
                .collect::<Int64Array>(),
        )
    };
    let text = (0..rows).map(|row| (random.below(5) > 0).then(|| format!("text {}", row % 50)));
    let text: ArrayRef = Arc::new(text.collect::<StringArray>());
    let nulls = (0..rows).map(|_| random.below(3) > 0).collect::<Vec<_>>();
    let fields = vec![
        Field::new("p", DataType::Int64, true),
        Field::new("q", DataType::Int64, true),
    ];
    let members = vec![numbers(random), numbers(random)];
    let group = StructArray::new(fields.into(), members, Some(nulls.into()));
    let schema = Schema::new(vec![
        Field::new("row", DataType::Int64, false),
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Utf8, true),
        Field::new("s", group.data_type().clone(), true),
    ]);
    let row = Int64Array::from_iter_values(0..rows as i64);
    let columns: Vec<ArrayRef> = vec![Arc::new(row), numbers(random), text, Arc::new(group)];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

/// Compares the rows that remain of a damaged file with the undamaged file's rows, which are matched by `row`. Returns
/// the number of values that became null.
fn compare(kept: &RecordBatch, sound: &RecordBatch) -> u64 {
    let mut nulls = 0;
    let rows = kept["row"].as_primitive::<Int64Type>().values().to_vec();
    let flat = |batch: &RecordBatch| -> Vec<ArrayRef> {
        let group = batch["s"].as_struct();
        let mut columns = vec![batch["a"].clone(), batch["b"].clone()];
        columns.extend(group.flatten().1);
        columns
    };
    for (kept, sound) in flat(kept).iter().zip(flat(sound)) {
        let (kept, sound) = (lines(&**kept), lines(&*sound));
        for (slot, row) in rows.iter().enumerate() {
            let right = &sound[usize::try_from(*row).unwrap()];
            if kept[slot] != *right {
                assert_eq!(kept[slot], "null", "row {row} was {right}");
                nulls += 1;
            }
        }
    }
    let (kept, sound) = (kept["s"].as_struct(), sound["s"].as_struct());
    for (slot, row) in rows.iter().enumerate() {
        // At most one of the two fields is damaged.
        let row = usize::try_from(*row).unwrap();
        assert_eq!(kept.is_null(slot), sound.is_null(row), "row {row}");
    }
    nulls
}

/// Every row that remains of a damaged file is a row of the undamaged file, and every lost row or value is reported.
#[test]
fn what_is_kept_of_a_damaged_file_is_right() {
    let mut random = Random(seed() + 1000);
    let start = Instant::now();
    let mut cases = 0;
    while start.elapsed() < patience() {
        let rows = 300 + random.below(1500);
        let table = nullable_table(&mut random, rows);
        let file = written(&mut random, &table);
        for _ in 0..6 {
            let at = random.0;
            let mut parts = Dismantled::new(&file);
            let row_group = random.below(parts.row_groups.len());
            let leaf = random.below(5);
            let chunk = &mut parts.row_groups[row_group][leaf];
            let number = random.below(chunk.num_data_pages());
            let page = chunk.data_page(number);
            match random.below(3) {
                // This CRC matches no body.
                0 => page.header.crc = Some(1),
                1 => page.declare((page.num_values() - 8).max(0), true),
                _ if page.body.is_empty() => {}
                _ => {
                    let mut body = page.body.to_vec();
                    page.header.crc = Some(crc32fast::hash(&body) as i32);
                    let byte = random.below(body.len());
                    body[byte] ^= 1 << random.below(8);
                    page.body = body.into();
                }
            }
            let changed = parts.assemble();
            for on_error in [OnError::SkipRowGroup, OnError::NullPage] {
                let options = ReadOptions::new().on_error(on_error).batch_size(64);
                let options = options.threads(1 + random.below(2));
                let mut reader = ParquetFile::from_bytes(changed.clone())
                    .unwrap()
                    .read(options)
                    .unwrap();
                let (mut kept, mut nulls, mut last) = (0, 0, -1);
                while let Some(batch) = reader.next_batch().unwrap() {
                    for row in batch["row"].as_primitive::<Int64Type>().values() {
                        assert!(*row > last, "state {at}");
                        last = *row;
                    }
                    kept += batch.num_rows() as u64;
                    nulls += compare(&batch, &table);
                }
                let (mut lost_rows, mut lost_values) = (0, 0);
                for loss in reader.losses().kept() {
                    match loss.lost {
                        Lost::Rows(rows) => lost_rows += rows,
                        Lost::Values(values) => lost_values += values,
                    }
                }
                assert_eq!(kept + lost_rows, rows as u64, "state {at}, {on_error:?}");
                assert!(nulls <= lost_values, "state {at}, {on_error:?}");
                cases += 1;
            }
        }
    }
    println!("{cases} cases");
}
