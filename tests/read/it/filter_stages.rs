//! A filter's operands are tested in order, and each sees only the rows that the previous operands selected.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, StructArray,
};
use herringbone::arrow::buffer::NullBuffer;
use herringbone::arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone::filter::{
    Predicate, PruningStep, ReadMetrics, RowError, RowPredicate, RowTest, Verdict, col,
};
use herringbone::pruning::ColumnBounds;
use herringbone::schema::ParquetSchema;
use herringbone::{
    ColumnOptions, ErrorKind, ParquetFile, ReadOptions, StatisticsLevel, WantedSchema, WriteOptions,
};

use crate::push::written;

const ROWS: usize = 10_000;
const PAGE: usize = 100;

/// Writes a file with one row group and pages of 100 rows. `row` counts the rows, `mark` is 1 in the rows 4,000 to
/// 4,099 and 0 elsewhere, and `text` is a text of each row. The file has no bounds by which we could skip rows.
fn file() -> ParquetFile {
    file_of(ROWS)
}

fn file_of(num_rows: usize) -> ParquetFile {
    let marks = (0..num_rows).map(|row| i64::from((4000..4100).contains(&row)));
    let columns: [(&str, ArrayRef); 3] = [
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..num_rows as i64)),
        ),
        ("mark", Arc::new(Int64Array::from_iter_values(marks))),
        (
            "text",
            Arc::new(StringArray::from_iter_values(
                (0..num_rows).map(|row| format!("text {row}")),
            )),
        ),
    ];
    of_pages(
        &RecordBatch::try_from_iter(columns).unwrap(),
        StatisticsLevel::Counts,
    )
}

fn of_pages(batch: &RecordBatch, statistics: StatisticsLevel) -> ParquetFile {
    let mut options = WriteOptions::new();
    options.columns = ColumnOptions::new()
        .page_rows(PAGE)
        .dictionary(false)
        .statistics(statistics);
    ParquetFile::from_bytes(written(batch, options)).unwrap()
}

/// A custom predicate that selects the rows whose number in the column `row` or `text` is accepted by a function. It
/// counts the rows that it sees.
#[derive(Debug, Clone)]
struct Custom {
    column: &'static str,
    accepts: fn(usize) -> bool,
    seen: Arc<AtomicUsize>,
    bound: Arc<AtomicUsize>,
}

impl Custom {
    fn new(column: &'static str, accepts: fn(usize) -> bool) -> Self {
        Self {
            column,
            accepts,
            seen: Arc::default(),
            bound: Arc::default(),
        }
    }

    fn predicate(&self) -> Predicate {
        Predicate::rows(self.clone())
    }
}

fn number(array: &ArrayRef, at: usize) -> usize {
    match array.as_string_opt::<i32>() {
        Some(text) => text.value(at).trim_start_matches("text ").parse().unwrap(),
        None => array.as_primitive::<Int64Type>().value(at) as usize,
    }
}

impl RowPredicate for Custom {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec![self.column.to_owned()]]
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        assert_eq!(columns.fields().len(), 1);
        assert_eq!(columns.field(0).name(), self.column);
        self.bound.fetch_add(1, Relaxed);
        let it = self.clone();
        let columns = columns.clone();
        Ok(Box::new(move |batch| {
            assert_eq!(batch.schema(), columns);
            it.seen.fetch_add(batch.num_rows(), Relaxed);
            let accepted =
                (0..batch.num_rows()).map(|at| (it.accepts)(number(batch.column(0), at)));
            Ok(BooleanArray::from(accepted.collect::<Vec<_>>()))
        }))
    }
}

/// Returns the selected rows, and the read's metrics.
fn read(file: &ParquetFile, options: ReadOptions) -> (Vec<usize>, ReadMetrics) {
    let mut reader = file.read(options).unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        let column = batch.column_by_name("row").unwrap();
        rows.extend((0..batch.num_rows()).map(|at| number(column, at)));
    }
    (rows, reader.metrics())
}

/// Returns how many rows a pruning step refused, and how many it accepted.
fn decided(metrics: &ReadMetrics, step: PruningStep) -> (u64, u64) {
    let step = metrics.steps.iter().find(|it| it.step == step).unwrap();
    (step.rows_ruled_out, step.rows_accepted)
}

fn options(filter: Predicate) -> ReadOptions {
    ReadOptions::new()
        .filter(filter)
        .columns(["row"])
        .threads(1)
}

#[test]
fn a_custom_predicate_sees_the_rows_that_operands_before_it_left() {
    let file = file();
    let even = Custom::new("text", |row| row % 2 == 0);
    let marked = || col("mark").eq(1);
    let expected: Vec<usize> = (4000..4100).filter(|row| row % 2 == 0).collect();
    let (rows, metrics) = read(&file, options(marked().and(even.predicate())));
    assert_eq!(rows, expected);
    assert_eq!(
        (even.seen.load(Relaxed), even.bound.load(Relaxed)),
        (100, 1)
    );
    // The read has all 100 pages of `mark`, and the other two columns' pages with the rows 4,000 to 4,099.
    assert_eq!(metrics.pages_read, 100 + 2);
    for threads in [1, 3] {
        let even = Custom::new("text", |row| row % 2 == 0);
        let all = ReadOptions::new().filter(marked().and(even.predicate()));
        assert_eq!(read(&file, all.threads(threads)).0, expected);
        assert_eq!(even.seen.load(Relaxed), 100, "{threads} threads");
    }
    // In the other order, the predicate sees all rows.
    let even = Custom::new("text", |row| row % 2 == 0);
    let (rows, metrics) = read(&file, options(even.predicate().and(marked())));
    assert_eq!(rows, expected);
    assert_eq!(
        (even.seen.load(Relaxed), metrics.pages_read),
        (10_000, 100 + 100 + 1)
    );
}

#[test]
fn each_custom_predicate_is_a_stage() {
    let file = file();
    let tenth = Custom::new("row", |row| row % 10 == 0);
    let hundredth = Custom::new("text", |row| row % 100 == 0);
    let last = Custom::new("mark", |mark| mark == 0);
    let custom = tenth.predicate().and(hundredth.predicate());
    let filter = col("row").ge(5000).and(custom.and(last.predicate()));
    let (rows, _) = read(&file, options(filter));
    assert_eq!(
        rows,
        (50..100).map(|hundred| hundred * 100).collect::<Vec<_>>()
    );
    let seen = [&tenth, &hundredth, &last].map(|it| it.seen.load(Relaxed));
    assert_eq!(seen, [5000, 500, 50]);
    // A limit ends the read as soon as it is reached. By then, the last stage has seen at most two batches of 10 rows
    // more than the limit.
    let last = Custom::new("text", |_| true);
    let filter = tenth.predicate().and(last.predicate());
    let (rows, _) = read(&file, options(filter).batch_size(10).limit(15));
    assert_eq!(rows, (0..15).map(|ten| ten * 10).collect::<Vec<_>>());
    assert!(last.seen.load(Relaxed) <= 15 + 2 * 10, "{last:?}");
}

#[test]
fn nested_operands_are_tested_in_order_too() {
    let file = file();
    let seen_by = |filter: &dyn Fn(Predicate) -> Predicate| {
        let custom = Custom::new("text", |row| row % 1000 == 0);
        let (rows, _) = read(&file, options(filter(custom.predicate())));
        (custom.seen.load(Relaxed), rows.len())
    };
    let marked = || col("mark").eq(1);
    // The predicate selects 10 rows, including 1 marked row.
    assert_eq!(seen_by(&|it| marked().or(it)), (9900, 109));
    assert_eq!(seen_by(&|it| marked().not().or(it).not()), (100, 99));
    let within = |it| col("row").lt(10).or(marked().and(it));
    assert_eq!(seen_by(&within), (100, 11));
    assert_eq!(seen_by(&|it| marked().and(it.not())), (100, 99));
    assert_eq!(
        seen_by(&|it| marked().and(col("row").lt(0)).and(it)),
        (0, 0)
    );
}

/// If threads share the columns of a row group, they only stop testing when the last operand has selected enough rows.
#[test]
fn a_limit_counts_the_rows_that_the_last_operand_selects() {
    let file = file_of(140_000);
    let text = Custom::new("text", |row| row % 2000 == 0);
    let filter = col("row").ge(1).and(text.predicate());
    let expected: Vec<_> = (6..56).map(|row| row * 2000).collect();
    for threads in [1, 3] {
        let options = options(filter.clone()).offset(5).limit(50);
        let (rows, _) = read(&file, options.threads(threads));
        assert_eq!(rows, expected, "{threads} threads");
    }
}

#[test]
fn stages_under_a_wanted_schema() {
    let file = file();
    let fields = [
        ("text", DataType::Utf8),
        ("row", DataType::Int64),
        ("mark", DataType::Int64),
    ];
    let fields = fields.map(|(name, of)| Field::new(name, of, true));
    let missing = Field::new("missing", DataType::Int64, true);
    let schema = herringbone::arrow::schema::Schema::new([&fields[..], &[missing]].concat());
    let seen_by = |first: Predicate| {
        let custom = Custom::new("text", |row| row % 1000 == 0);
        let filter = first.and(custom.predicate());
        let wanted = WantedSchema::new(Arc::new(schema.clone()));
        let mut options = options(filter);
        options.wanted_schema = Some(wanted);
        let (rows, _) = read(&file, options);
        (custom.seen.load(Relaxed), rows)
    };
    assert_eq!(seen_by(col("mark").eq(1)), (100, vec![4000]));
    // The file lacks this column, so it is null.
    let missing_test = col("missing").is_null().and(col("row").lt(1500));
    assert_eq!(seen_by(missing_test), (1500, vec![0, 1000]));
    assert_eq!(seen_by(col("missing").eq(1)), (0, vec![]));
}

/// Operands in an earlier stage rule out rows before any row is read.
#[test]
fn earlier_operands_rule_rows_out_by_dictionaries() {
    let words = StringArray::from_iter_values((0..1000).map(|row| ["a", "c"][row % 2]));
    let columns: [(&str, ArrayRef); 2] = [
        ("word", Arc::new(words)),
        ("row", Arc::new(Int64Array::from_iter_values(0..1000))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = ParquetFile::from_bytes(written(&batch, WriteOptions::new())).unwrap();
    let custom = Custom::new("row", |_| true);
    let filter = col("word").eq("b").and(custom.predicate());
    let (rows, metrics) = read(&file, options(filter));
    assert_eq!((rows.len(), custom.seen.load(Relaxed)), (0, 0));
    assert_eq!(decided(&metrics, PruningStep::Dictionaries), (1000, 0));
}

/// A custom predicate that reads fields of structs, and fails with the given error.
#[derive(Debug)]
struct Fields {
    error: Option<fn() -> RowError>,
}

impl RowPredicate for Fields {
    fn columns(&self) -> Vec<Vec<String>> {
        [&["s", "b"][..], &["row"], &["s"], &["s", "a"]]
            .map(|path| path.iter().map(|part| (*part).to_owned()).collect())
            .to_vec()
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        let fields = columns.fields().iter();
        let fields: Vec<_> = fields
            .map(|fields| (fields.name().as_str(), fields.is_nullable()))
            .collect();
        assert_eq!(
            fields,
            [("b", true), ("row", false), ("s", true), ("a", true)]
        );
        let error = self.error;
        Ok(Box::new(move |batch| {
            if let Some(error) = error {
                return Err(error());
            }
            let column = |at: usize| batch.column(at).as_primitive::<Int64Type>();
            let (b, row, a) = (column(0), column(1), column(3));
            let expected = |row: i64, of: i64| (row % 3 > 0).then_some(of * row);
            for (at, row) in row.values().iter().enumerate() {
                assert_eq!(a.iter().nth(at).unwrap(), expected(*row, 2));
                assert_eq!(b.iter().nth(at).unwrap(), expected(*row, 3));
            }
            // The value is null if the struct is null.
            Ok(a.iter().map(|it| it.map(|it| it % 4 == 0)).collect())
        }))
    }
}

#[test]
fn a_custom_predicate_has_the_columns_that_it_named() {
    let column = |of: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..200).map(|row| row * of)))
    };
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int64, false));
    let nulls = NullBuffer::from_iter((0..200).map(|row| row % 3 > 0));
    let fields = vec![field("a"), field("b"), field("c")];
    let arrays = vec![column(2), column(3), column(4)];
    let s: ArrayRef = Arc::new(StructArray::new(fields.into(), arrays, Some(nulls)));
    let schema = [
        Arc::new(Field::new("s", s.data_type().clone(), true)),
        field("row"),
    ];
    let schema = Arc::new(herringbone::arrow::schema::Schema::new(schema.to_vec()));
    let batch = RecordBatch::try_new(schema, vec![s, column(1)]).unwrap();
    let file = of_pages(&batch, StatisticsLevel::Page);
    // `a` is divisible by four in even rows. Another test reads another field of the struct.
    let fields = |error| Predicate::rows(Fields { error });
    let filter = col("s.c").ge(0).and(col("row").ge(10)).and(fields(None));
    let (rows, _) = read(&file, options(filter));
    let expected = (10..200).filter(|row| row % 3 > 0 && row % 2 == 0);
    assert_eq!(rows, expected.clone().collect::<Vec<_>>());
    let found = fields(None).evaluate(&batch).unwrap();
    assert_eq!(
        found.true_count(),
        (0..200).filter(|row| row % 3 > 0 && row % 2 == 0).count()
    );
    // The predicate's error is preserved.
    let failed = |error: fn() -> RowError| {
        let mut reader = file.read(options(fields(Some(error)))).unwrap();
        reader.next_batch().unwrap_err()
    };
    let error = failed(|| Box::new("x".parse::<i32>().unwrap_err()));
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.source().unwrap().is::<std::num::ParseIntError>());
    let error = failed(|| Box::new(herringbone::Error::unsupported("y")));
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Unsupported, "y")
    );
}

/// A custom predicate that rules out pages by the bounds of `row`.
#[derive(Debug)]
struct Least(i64, Arc<AtomicUsize>);

impl RowPredicate for Least {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["row".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        let (least, seen) = (self.0, self.1.clone());
        Ok(Box::new(move |batch| {
            seen.fetch_add(batch.num_rows(), Relaxed);
            let rows = batch.column(0).as_primitive::<Int64Type>();
            Ok(rows.iter().map(|row| row.map(|row| row >= least)).collect())
        }))
    }

    fn page_columns(&self) -> Vec<Vec<String>> {
        self.columns()
    }

    fn verdicts_of_pages(
        &self,
        column: usize,
        pages: &ColumnBounds,
    ) -> Result<Vec<Verdict>, RowError> {
        assert_eq!(column, 0);
        let bounds = |array: &ArrayRef| array.as_primitive::<Int64Type>().values().to_vec();
        let pages = bounds(&pages.min).into_iter().zip(bounds(&pages.max));
        let verdict = |(min, max)| match (min >= self.0, max < self.0) {
            (true, _) => Verdict::All,
            (_, true) => Verdict::None,
            _ => Verdict::Some,
        };
        Ok(pages.map(verdict).collect())
    }
}

#[test]
fn a_custom_predicate_rules_pages_out() {
    let rows = Int64Array::from_iter_values(0..ROWS as i64);
    let again = Int64Array::from_iter_values(0..ROWS as i64);
    let columns: [(&str, ArrayRef); 2] = [("row", Arc::new(rows)), ("again", Arc::new(again))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = of_pages(&batch, StatisticsLevel::Page);
    let seen_by = |filter: &dyn Fn(Predicate) -> Predicate, columns: &[&str]| {
        let seen = Arc::new(AtomicUsize::new(0));
        let filter = filter(Predicate::rows(Least(9750, seen.clone())));
        let options = ReadOptions::new().filter(filter).threads(1);
        let mut reader = file.read(options.columns(columns.to_vec())).unwrap();
        let batches = std::iter::from_fn(|| reader.next_batch().unwrap());
        let rows: usize = batches.map(|batch| batch.num_rows()).sum();
        let (refused, accepted) = decided(&reader.metrics(), PruningStep::ColumnIndexes);
        (seen.load(Relaxed), rows, refused, accepted)
    };
    // The row 9,750 is in the middle of a page. The pages after it are selected without a test.
    assert_eq!(seen_by(&|it| it, &["again"]), (100, 250, 9700, 200));
    assert_eq!(seen_by(&Predicate::not, &["again"]), (9800, 9750, 200, 0));
    assert_eq!(seen_by(&|it| it, &["row"]), (300, 250, 9700, 200));
}

/// A custom predicate that selects rows like [`Least`], but knows that the file has the same numbers in `again`.
#[derive(Debug)]
struct OfFile {
    least: Least,
    knows_file: bool,
}

impl RowPredicate for OfFile {
    fn columns(&self) -> Vec<Vec<String>> {
        self.least.columns()
    }

    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
        self.least.bind(columns)
    }

    fn knows_file(&self) -> bool {
        self.knows_file
    }

    fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(Some(col("again").ge(self.least.0)))
    }
}

#[test]
fn a_custom_predicate_for_the_file_prunes_reads_with_a_wanted_schema() {
    let numbers = || -> ArrayRef { Arc::new(Int64Array::from_iter_values(0..ROWS as i64)) };
    let batch = RecordBatch::try_from_iter([("row", numbers()), ("again", numbers())]).unwrap();
    let file = of_pages(&batch, StatisticsLevel::Page);
    // The schema lacks `again`, and gives `other` a name that the file does not have.
    let fields = ["other", "row"].map(|name| Field::new(name, DataType::Int64, true));
    let wanted = WantedSchema::new(Arc::new(Schema::new(fields.to_vec())));
    for (knows_file, expected) in [(true, 300), (false, ROWS)] {
        let seen = Arc::new(AtomicUsize::new(0));
        let least = Least(9750, seen.clone());
        let filter = Predicate::rows(OfFile { least, knows_file });
        let options = ReadOptions::new().wanted_schema(wanted.clone()).threads(1);
        let mut reader = file.read(options.filter(filter)).unwrap();
        let batches = std::iter::from_fn(|| reader.next_batch().unwrap());
        let rows: usize = batches.map(|batch| batch.num_rows()).sum();
        assert_eq!((rows, seen.load(Relaxed)), (250, expected));
    }
}
