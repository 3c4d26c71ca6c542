//! Custom predicates: the columns and rows that they see, and their verdicts on row groups and pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int32Type;
use herringbone::arrow::array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StructArray};
use herringbone::arrow::buffer::NullBuffer;
use herringbone::arrow::schema::{DataType, Field, Fields, SchemaRef};
use herringbone::filter::{Predicate, ReadMetrics, RowError, RowPredicate, RowTest, Verdict, col};
use herringbone::format::FileMetadata;
use herringbone::pruning::ColumnBounds;
use herringbone::schema::ParquetSchema;
use herringbone::{ColumnOptions, ParquetFile, ReadOptions, WriteOptions, Writer};

/// A predicate that selects all numbers but multiples of three and counts the rows it sees. Multiples of five are null.
#[derive(Debug, Clone, Default)]
struct Custom {
    path: Vec<String>,
    seen: Arc<AtomicUsize>,
    /// The verdicts on row groups and pages, in their order.
    row_groups: Vec<Verdict>,
    pages: Vec<Verdict>,
    implied: Option<Predicate>,
    /// The number of results left out by the predicate, to break its contract.
    too_few: usize,
}

impl Custom {
    fn of(path: &[&str]) -> Self {
        Self {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            ..Self::default()
        }
    }

    fn predicate(&self) -> Predicate {
        Predicate::rows(self.clone())
    }

    fn take_seen(&self) -> usize {
        self.seen.swap(0, Ordering::Relaxed)
    }
}

impl RowPredicate for Custom {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![self.path.clone()]
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        assert_eq!(columns.fields().len(), 1);
        let custom = self.clone();
        Ok(Box::new(move |batch| {
            custom.seen.fetch_add(batch.num_rows(), Ordering::Relaxed);
            let numbers = batch.column(0).as_primitive::<Int32Type>().iter();
            let found = numbers.map(|number| {
                number
                    .filter(|number| number % 5 > 0)
                    .map(|number| number % 3 > 0)
            });
            Ok(found
                .take(batch.num_rows() - custom.too_few)
                .collect::<BooleanArray>())
        }))
    }

    fn implied(&self, _schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(self.implied.clone())
    }

    fn verdict(&self, _metadata: &FileMetadata, row_group: usize) -> Result<Verdict, RowError> {
        Ok(self
            .row_groups
            .get(row_group)
            .copied()
            .unwrap_or(Verdict::Some))
    }

    fn page_columns(&self) -> Vec<Vec<String>> {
        match self.pages.is_empty() {
            true => Vec::new(),
            false => vec![self.path.clone()],
        }
    }

    fn verdicts_of_pages(
        &self,
        column: usize,
        pages: &ColumnBounds,
    ) -> Result<Vec<Verdict>, RowError> {
        assert_eq!((column, pages.row_counts.len()), (0, 4));
        Ok(self.pages.clone())
    }
}

/// Returns the numbers 1 to 80 in `n` and in `s.x`, in two row groups with four pages each. `s` is null in each fourth
/// row.
fn batch() -> RecordBatch {
    let numbers = || Arc::new(Int32Array::from_iter_values(1..=80)) as ArrayRef;
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, false)]);
    let nulls: NullBuffer = (1..=80).map(|row| row % 4 > 0).collect();
    let structs = StructArray::new(fields, vec![numbers()], Some(nulls));
    let columns = [
        ("n", numbers(), false),
        ("s", Arc::new(structs) as ArrayRef, true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn file() -> ParquetFile {
    let columns = ColumnOptions::new().page_rows(10).dictionary(false);
    let options = WriteOptions::new().row_group_rows(40).columns(columns);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch().schema(), options).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(bytes).unwrap()
}

/// Reads a single column and returns its batches and the metrics.
fn batches(predicate: Predicate, column: &str) -> (Vec<RecordBatch>, ReadMetrics) {
    let options = ReadOptions::new()
        .filter(predicate)
        .columns([column])
        .threads(1);
    let mut reader = file().read(options).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        batches.push(batch);
    }
    (batches, reader.metrics())
}

/// Returns the selected numbers.
fn read(predicate: Predicate) -> Vec<i32> {
    let (batches, _) = batches(predicate, "n");
    let column = |batch: &RecordBatch| {
        batch
            .column(0)
            .as_primitive::<Int32Type>()
            .values()
            .to_vec()
    };
    batches.iter().flat_map(column).collect()
}

fn numbers(accepts: impl Fn(i32) -> bool) -> Vec<i32> {
    (1..=80).filter(|number| accepts(*number)).collect()
}

#[test]
fn a_custom_predicate_and_its_negation_leave_nulls_out() {
    let custom = Custom::of(&["n"]);
    let of = |predicate: Predicate| {
        let found = predicate.evaluate(&batch()).unwrap();
        (1..=80)
            .zip(&found)
            .filter(|(_, it)| *it == Some(true))
            .map(|(number, _)| number)
            .collect::<Vec<i32>>()
    };
    let accepted = numbers(|it| it % 3 > 0 && it % 5 > 0);
    let refused = numbers(|it| it % 3 == 0 && it % 5 > 0);
    assert_eq!(of(custom.predicate()), accepted);
    assert_eq!(of(custom.predicate().not()), refused);
    assert_eq!(read(custom.predicate()), accepted);
    assert_eq!(read(custom.predicate().not()), refused);
    // A null struct around the column hides its values.
    let within = Custom::of(&["s", "x"]);
    let visible = numbers(|it| it % 3 > 0 && it % 5 > 0 && it % 4 > 0);
    assert_eq!(of(within.predicate()), visible);
    assert_eq!(read(within.predicate()), visible);
    assert!(Custom::of(&["m"]).predicate().evaluate(&batch()).is_err());
}

#[test]
fn a_custom_predicate_sees_the_rows_that_are_left() {
    let custom = Custom::of(&["n"]);
    custom.take_seen();
    let both = col("n").le(10).and(custom.predicate());
    assert_eq!(read(both), [1, 2, 4, 7, 8]);
    assert_eq!(custom.take_seen(), 10);
    // In an `or`, the predicate sees the rows refused by earlier operands.
    let either = col("n").between(5, 6).or(custom.predicate());
    let expected = numbers(|it| it == 5 || it == 6 || it % 3 > 0 && it % 5 > 0);
    assert_eq!(read(either), expected);
    assert_eq!(custom.take_seen(), 78);
    assert_eq!(
        read(col("n").gt(100).and(custom.predicate())),
        [] as [i32; 0]
    );
    assert_eq!(custom.take_seen(), 0);
}

#[test]
fn verdicts_and_implied_predicates_rule_rows_out() {
    // The tested column is not emitted, so accepted rows need no test.
    let tested = |custom: &Custom, predicate: Predicate| {
        custom.take_seen();
        let (batches, metrics) = batches(predicate, "s");
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        (rows, custom.take_seen(), metrics.row_groups_pruned)
    };
    let first = Custom {
        row_groups: vec![Verdict::None, Verdict::Some],
        ..Custom::of(&["n"])
    };
    let of_second = numbers(|it| it > 40 && it % 3 > 0 && it % 5 > 0).len();
    assert_eq!(tested(&first, first.predicate()), (of_second, 40, 1));
    // If a predicate selects none of the rows, it might be null for all of them, so its negation has to test them.
    let refused = numbers(|it| it % 3 == 0 && it % 5 > 0).len();
    assert_eq!(tested(&first, first.predicate().not()), (refused, 80, 0));
    let all = Custom {
        row_groups: vec![Verdict::All, Verdict::None],
        ..Custom::of(&["n"])
    };
    assert_eq!(tested(&all, all.predicate()), (40, 0, 1));
    let pages = vec![Verdict::None, Verdict::All, Verdict::Some, Verdict::None];
    let of_pages = Custom {
        pages,
        ..Custom::of(&["n"])
    };
    let rest = |it: i32| (20..30).contains(&((it - 1) % 40)) && it % 3 > 0 && it % 5 > 0;
    let (rows, seen, _) = tested(&of_pages, of_pages.predicate());
    assert_eq!(rows, 20 + numbers(rest).len());
    assert_eq!(seen, 20);
    let implies = Custom {
        implied: Some(col("n").gt(40)),
        ..Custom::of(&["n"])
    };
    assert_eq!(tested(&implies, implies.predicate()), (of_second, 40, 1));
    let (_, seen, _) = tested(&implies, implies.predicate().not());
    assert_eq!(seen, 80, "a negation implies nothing");
}

#[test]
fn wrong_numbers_of_results_are_errors() {
    let short = Custom {
        too_few: 1,
        ..Custom::of(&["n"])
    };
    let error = short.predicate().evaluate(&batch()).unwrap_err();
    assert!(
        error.to_string().contains("79 results for 80 rows"),
        "{error}"
    );
    let pages = Custom {
        pages: vec![Verdict::None; 3],
        ..Custom::of(&["n"])
    };
    let mut reader = file()
        .read(ReadOptions::new().filter(pages.predicate()).threads(1))
        .unwrap();
    let error = reader.next_batch().unwrap_err();
    assert!(
        error.to_string().contains("3 results for 4 pages"),
        "{error}"
    );
}
