//! Tests limits on row groups and memory, which do not depend on the number of threads.

use std::sync::Arc;

use herringbone::{Compression, ParquetFile, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use crate::batches::Random;
use crate::write::choices;
use crate::write::compare::written;
use crate::write::properties::case;
use crate::write::schemas::Menu;

/// Returns rows of `n` columns that all differ, in which every tenth column has long texts.
fn skewed(random: &mut Random, n: usize, rows: usize) -> RecordBatch {
    let columns = (0..n).map(|i| {
        let array: ArrayRef = if i % 10 == 0 {
            let text = |random: &mut Random| format!("{:016x}", random.next()).repeat(1 + i % 23);
            Arc::new(StringArray::from_iter_values(
                (0..rows).map(|_| text(random)),
            ))
        } else {
            let distinct = 1 + i % 300;
            Arc::new(Int64Array::from_iter_values(
                (0..rows).map(|_| random.below(distinct) as i64),
            ))
        };
        (format!("c{i}"), array)
    });
    RecordBatch::try_from_iter(columns).unwrap()
}

fn row_groups(file: &[u8]) -> Vec<(usize, usize)> {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    (0..file.metadata().num_row_groups())
        .map(|group| {
            let group = file.metadata().row_group(group).unwrap();
            let bytes = group.total_compressed_size.unwrap();
            (group.num_rows as usize, bytes as usize)
        })
        .collect()
}

#[test]
fn row_groups_have_no_more_rows_than_asked_for() {
    let batch = skewed(&mut Random(1), 3, 1000);
    let batches = [batch.clone(), batch.slice(10, 777), batch];
    for rows in [1000, 999, 70] {
        let options = WriteOptions::new().row_group_rows(rows);
        let groups = row_groups(&written(&batches[0].schema(), &batches, options).unwrap());
        assert!(
            groups[..groups.len() - 1]
                .iter()
                .all(|group| group.0 == rows),
            "{groups:?}"
        );
        assert_eq!(groups.iter().map(|group| group.0).sum::<usize>(), 2777);
    }
}

#[test]
fn row_groups_have_about_the_bytes_asked_for() {
    let random = &mut Random(2);
    let batches: Vec<_> = (0..40).map(|_| skewed(random, 20, 1024)).collect();
    // A row group may exceed the limit by three slices.
    let slice = row_groups(&written(&batches[0].schema(), &batches[..1], plain()).unwrap())[0].1;
    for bytes in [1 << 20, 2 << 20] {
        let options = plain().row_group_bytes(bytes);
        let groups = row_groups(&written(&batches[0].schema(), &batches, options).unwrap());
        assert!(groups.len() > 2);
        for (_, size) in &groups[..groups.len() - 1] {
            assert!(
                *size < bytes * 5 / 4 + 3 * slice,
                "{size} bytes, not {bytes}: {groups:?}"
            );
            assert!(*size > bytes / 2, "{size} bytes, not {bytes}: {groups:?}");
        }
    }
}

fn plain() -> WriteOptions {
    WriteOptions::new().compression(Compression::Uncompressed)
}

/// The writer of 400 columns of different sizes reports its memory. It stays below the budget except for one slice,
/// which is a batch here.
#[test]
fn memory_stays_below_its_budget() {
    let batch = skewed(&mut Random(3), 400, 300);
    const BUDGET: usize = 16 << 20;
    let slack = 2 * batch.get_array_memory_size();
    for threads in [1, 3] {
        let options = WriteOptions::new().memory_bytes(BUDGET).threads(threads);
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
        let mut most = 0;
        for _ in 0..25 {
            writer.write(&batch).unwrap();
            most = most.max(writer.memory_size());
        }
        writer.finish().unwrap();
        assert!(most > BUDGET / 2, "{most} bytes held");
        assert!(
            most < BUDGET + slack,
            "{most} bytes held, with {threads} threads"
        );
        assert!(row_groups(&file).len() > 1);
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let random = &mut Random(4);
    let batches: Vec<_> = (0..12).map(|_| skewed(random, 12, 1200)).collect();
    let schema = batches[0].schema();
    for options in [
        WriteOptions::new(),
        WriteOptions::new().row_group_bytes(150_000),
        WriteOptions::new().memory_bytes(300_000),
        WriteOptions::new().row_group_rows(4000),
    ] {
        let one = written(&schema, &batches, options.clone().threads(1)).unwrap();
        for threads in [2, 3, 8] {
            let many = written(&schema, &batches, options.clone().threads(threads)).unwrap();
            assert!(
                one == many,
                "{threads} threads, {:?}",
                options.row_group_bytes
            );
        }
    }
}

#[test]
fn the_same_bytes_of_random_batches() {
    for seed in 0..40 {
        let random = &mut Random(1000 + seed);
        let (schema, batches) = case(random, &Menu::everything());
        let options = choices::options(random, &schema);
        let with = |threads| written(&schema, &batches, options.clone().threads(threads)).unwrap();
        assert!(with(1) == with(4), "seed {seed}");
    }
}
