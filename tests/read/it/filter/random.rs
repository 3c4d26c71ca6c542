//! Random predicates return the rows for which an oracle finds the same predicate true.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::array::{Array, Int64Array, RecordBatch};
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::{
    Literal, Predicate, PruningStep, PruningSteps, RowError, RowPredicate, RowTest, col, col_at,
};
use herringbone::schema::ParquetSchema;
use herringbone::{Limits, ParquetFile, ReadOptions};

use crate::push::{SUPPLIES, pushed};
use crate::random::{Random, cases};
use crate::table::Table;

use super::data::{Data, Plain, data, write};

/// The oracle, whose result for a row is true, false or unknown.
type Oracle = Box<dyn Fn(usize) -> Option<bool>>;

/// Returns a predicate and its oracle.
fn test(data: &Data, random: &mut Random) -> (Predicate, Oracle) {
    let tested = &data.tested[random.below(data.tested.len())];
    let cells = tested.cells.clone();
    let column = || col_at(tested.path.iter().copied());
    let (literal, value) = random.pick(&tested.literals);
    let compare = move |is_true: fn(Ordering) -> bool, value: Plain| -> Oracle {
        Box::new(move |row| cells[row].as_ref().map(|cell| is_true(cell.order(&value))))
    };
    let cells = tested.cells.clone();
    match random.below(11) {
        0 => (column().eq(literal), compare(Ordering::is_eq, value)),
        1 => (column().ne(literal), compare(Ordering::is_ne, value)),
        2 => (column().lt(literal), compare(Ordering::is_lt, value)),
        3 => (column().le(literal), compare(Ordering::is_le, value)),
        4 => (column().gt(literal), compare(Ordering::is_gt, value)),
        5 => (column().ge(literal), compare(Ordering::is_ge, value)),
        6 => {
            let (second, other) = random.pick(&tested.literals);
            (
                column().between(literal, second),
                Box::new(move |row| {
                    let cell = cells[row].as_ref()?;
                    Some(cell.order(&value).is_ge() && cell.order(&other).is_le())
                }),
            )
        }
        7 => {
            // The list has an existing value, another value, and sometimes a null.
            let with_null = random.below(3) == 0;
            let (second, other) = random.pick(&tested.literals);
            let mut literals = vec![literal, second];
            literals.extend(with_null.then_some(Literal::Null));
            (
                column().is_in(literals),
                Box::new(move |row| {
                    let cell = cells[row].as_ref()?;
                    let is_one = cell.order(&value).is_eq() || cell.order(&other).is_eq();
                    if is_one {
                        Some(true)
                    } else {
                        (!with_null).then_some(false)
                    }
                }),
            )
        }
        8 => (
            column().is_null(),
            Box::new(move |row| Some(cells[row].is_none())),
        ),
        9 => (column().eq(Literal::Null), Box::new(|_| None)),
        _ => {
            let like = ["k005%", "%1é", "k0_50_", "%"][random.below(4)];
            let cells = data
                .tested
                .iter()
                .find(|tested| tested.path == ["text"])
                .unwrap()
                .cells
                .clone();
            (
                col("text").like(like),
                Box::new(move |row| {
                    let Some(Plain::Text(text)) = &cells[row] else {
                        return None;
                    };
                    let characters: Vec<_> = text.chars().collect();
                    Some(match like {
                        "k005%" => text.starts_with("k005"),
                        "%1é" => text.ends_with("1é"),
                        "k0_50_" => {
                            characters.len() == 6
                                && text.starts_with("k0")
                                && characters[3..5] == ['5', '0']
                        }
                        _ => true,
                    })
                }),
            )
        }
    }
}

fn predicate(data: &Data, random: &mut Random, depth: usize) -> (Predicate, Oracle) {
    if depth == 0 {
        return test(data, random);
    }
    let (one, is_one) = predicate(data, random, depth - 1);
    match random.below(4) {
        0 => (one.not(), Box::new(move |row| is_one(row).map(|is| !is))),
        1 => {
            let (two, is_two) = predicate(data, random, depth - 1);
            let both: Oracle = Box::new(move |row| match (is_one(row), is_two(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            });
            (one.and(two), both)
        }
        2 => {
            let (two, is_two) = predicate(data, random, depth - 1);
            let either: Oracle = Box::new(move |row| match (is_one(row), is_two(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            });
            (one.or(two), either)
        }
        _ if random.below(2) == 0 => third_of(test(data, random), data, random),
        _ => (one, is_one),
    }
}

/// Returns a predicate that selects the rows that the test accepts and whose number is divisible by three, so that it
/// implies the test. Also returns its oracle.
fn third_of(
    (implied, oracle): (Predicate, Oracle),
    data: &Data,
    random: &mut Random,
) -> (Predicate, Oracle) {
    let rows = (0..data.batch.num_rows()).map(|row| Some(oracle(row)? && row % 3 == 0));
    let wanted: Arc<[Option<bool>]> = rows.collect();
    let third = ThirdOf {
        wanted: wanted.clone(),
        implied,
        tests_implied: random.below(3) > 0,
    };
    (Predicate::rows(third), Box::new(move |row| wanted[row]))
}

#[derive(Debug)]
struct ThirdOf {
    wanted: Arc<[Option<bool>]>,
    implied: Predicate,
    tests_implied: bool,
}

impl RowPredicate for ThirdOf {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["row".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        let wanted = self.wanted.clone();
        Ok(Box::new(move |batch| {
            let rows = Int64Array::from(batch.column(0).to_data());
            let wanted = rows.values().iter().map(|row| wanted[*row as usize]);
            Ok(wanted.collect())
        }))
    }

    fn implied(&self, _: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(Some(self.implied.clone()))
    }

    fn tests_implied(&self) -> bool {
        self.tests_implied
    }
}

fn ranges(wanted: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for row in wanted {
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
    ranges
}

fn table(batches: &[RecordBatch], schema: &herringbone::arrow::schema::Schema) -> Table {
    let mut table = Table::empty(schema);
    batches.iter().for_each(|batch| table.push(batch));
    table
}

/// Returns all pruning steps, none, or some of them.
fn steps(random: &mut Random) -> PruningSteps {
    let all = [
        PruningStep::Statistics,
        PruningStep::BloomFilters,
        PruningStep::Dictionaries,
        PruningStep::ColumnIndexes,
        PruningStep::PageMaps,
    ];
    match random.below(3) {
        0 => PruningSteps::all(),
        _ => all
            .into_iter()
            .fold(PruningSteps::none(), |steps, step| match random.below(2) {
                0 => steps,
                _ => steps.with(step),
            }),
    }
}

#[test]
fn random_predicates_give_the_rows_that_match() {
    for seed in 0..cases(20) {
        let random = &mut Random(seed);
        // Some files have enough rows for several threads, and for page indexes of their column chunks.
        let rows = [1200, 1200, 1200, 1200, 6000, 12_000][random.below(6)];
        let data = data(rows, random);
        let bytes = write(&data.batch, random);
        let file = ParquetFile::from_source(bytes.clone(), Limits::default()).unwrap();
        let all = Table::read(file.read(ReadOptions::new()).unwrap()).unwrap();
        for _ in 0..12 {
            let depth = random.below(4);
            let (predicate, oracle) = predicate(&data, random, depth);
            let mut options = ReadOptions::new().filter(predicate.clone());
            // Small batches of many rows take long, but add little coverage.
            let batch_sizes = match rows {
                1200 => [1, 7, 100, 8192],
                _ => [100, 300, 1000, 8192],
            };
            options.batch_size = batch_sizes[random.below(4)];
            options.pruning = steps(random);
            let mut wanted: Vec<_> = (0..rows).filter(|row| oracle(*row) == Some(true)).collect();
            if random.below(3) == 0 {
                options.row_ranges = Some(vec![100..333, 700..1150]);
                wanted.retain(|row| (100..333).contains(row) || (700..1150).contains(row));
            }
            if random.below(3) == 0 {
                let (offset, limit) = (random.below(50), random.below(300));
                options = options.offset(offset as u64).limit(limit as u64);
                wanted = wanted.into_iter().skip(offset).take(limit).collect();
            }
            let mut expected = all.rows_of(&ranges(wanted.iter().copied()));
            let names = [
                vec!["row"],
                vec!["int", "text", "row", "list"],
                vec!["s", "word"],
                vec![],
            ];
            if random.below(2) == 0 {
                let names = names[random.below(4)].clone();
                let ordinals: Vec<_> = (0..data.batch.num_columns())
                    .filter(|at| names.contains(&data.batch.schema().field(*at).name().as_str()))
                    .collect();
                expected = expected.columns_of(&ordinals);
                options = options.columns(names);
            }
            let what = format!("seed {seed}: {predicate} with {options:?}");
            let read = |threads| -> Vec<RecordBatch> {
                let reader = file.read(options.clone().threads(threads)).unwrap();
                reader.map(|batch| batch.unwrap()).collect()
            };
            let found = read(1);
            let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(rows, wanted.len(), "{what}");
            assert!(
                found
                    .iter()
                    .all(|batch| (1..=options.batch_size).contains(&batch.num_rows()))
            );
            let schema = file.plan(&options).unwrap().schema().clone();
            let difference = table(&found, &schema).difference(&expected, true);
            assert_eq!(difference, None, "{what}");
            // The other drivers return the same batches.
            assert!(read(3) == found, "{what}, 3 threads");
            let how = SUPPLIES[random.below(3)];
            assert!(
                pushed(&bytes, &options, how).unwrap() == found,
                "{what} {how:?}"
            );
        }
    }
}
