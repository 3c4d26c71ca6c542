//! Tests every option that changes the decoding path with one suite. The logical data must stay the same.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::{Error, ParquetFile, Projection, ReadOptions, SchemaOptions};

use crate::files;
use crate::remote;
use crate::table::{Table, without_panic};

/// A file in memory, and the table that a plain read returns.
struct Case {
    name: String,
    bytes: Bytes,
    whole: Table,
    /// True if async reads are compared, too.
    compares_async: bool,
}

impl Case {
    fn read(&self, options: ReadOptions) -> Result<Table, Error> {
        let file = ParquetFile::from_bytes(self.bytes.clone())?;
        if self.compares_async {
            remote::compare(&file, &options);
        }
        Table::read(file.read(options)?)
    }
}

/// Runs `check` on every valid file, and fails if `check` returns any faults.
fn on_every_file(check: impl Fn(&Case) -> Result<Vec<String>, Error>) {
    let mut wrong = Vec::new();
    for (number, path) in files::generated().into_iter().enumerate() {
        let name = files::short(&path);
        let case = || {
            let compares_async = number % remote::EVERY_NTH_CASE == 0;
            Ok::<_, Error>(Case {
                compares_async,
                ..open(&path)?
            })
        };
        match without_panic(|| check(&case()?)) {
            Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
            Ok(Err(error)) => wrong.push(format!("{name}: {error}")),
            Ok(Ok(found)) => wrong.extend(found.iter().map(|w| format!("{name}: {w}"))),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn open(path: &Path) -> Result<Case, Error> {
    let bytes = Bytes::from(std::fs::read(path).unwrap());
    let options = ReadOptions::default()
        .threads(1)
        .batch_size(usize::MAX >> 8);
    let whole = Table::read(ParquetFile::from_bytes(bytes.clone())?.read(options)?)?;
    Ok(Case {
        name: files::short(path),
        bytes,
        whole,
        compares_async: false,
    })
}

fn fault(wrong: &mut Vec<String>, what: &str, is: &Table, want: &Table, types: bool) {
    if let Some(difference) = is.difference(want, types) {
        wrong.push(format!("{what}: {difference}"));
    }
}

#[test]
fn threads_give_the_same_batches_in_the_same_order() {
    on_every_file(|case| {
        let mut wrong = Vec::new();
        for batch_size in [7, 8192] {
            let options = || ReadOptions::default().batch_size(batch_size);
            let plain = case.read(options().threads(1))?;
            for threads in [0, 2, 4] {
                let table = case.read(options().threads(threads))?;
                fault(
                    &mut wrong,
                    &format!("{threads} threads"),
                    &table,
                    &plain,
                    true,
                );
                if table.batches != plain.batches {
                    wrong.push(format!(
                        "{threads} threads: batches of {:?}, not {:?}",
                        table.batches, plain.batches
                    ));
                }
            }
        }
        Ok(wrong)
    });
}

#[test]
fn batch_sizes_only_cut() {
    on_every_file(|case| {
        let mut wrong = Vec::new();
        for batch_size in [1, 7, 1000] {
            let table = case.read(ReadOptions::default().threads(1).batch_size(batch_size))?;
            fault(
                &mut wrong,
                &format!("batches of {batch_size}"),
                &table,
                &case.whole,
                true,
            );
            if table
                .batches
                .iter()
                .any(|rows| *rows > batch_size || *rows == 0)
            {
                wrong.push(format!(
                    "batch size {batch_size}: batches of {:?}",
                    table.batches
                ));
            }
        }
        for batch_bytes in [1, 500, 1 << 20] {
            let table = case.read(ReadOptions::default().threads(1).batch_bytes(batch_bytes))?;
            fault(
                &mut wrong,
                &format!("{batch_bytes} bytes a batch"),
                &table,
                &case.whole,
                true,
            );
        }
        Ok(wrong)
    });
}

#[test]
fn sources_are_alike() {
    for path in files::generated() {
        let case = open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = Table::read(herringbone::open(&path).unwrap()).unwrap();
        assert_eq!(file.difference(&case.whole, true), None, "{}", case.name);
    }
}

/// Tests limits, offsets and ranges around both ends and through the middle.
#[test]
fn rows_are_selected() {
    on_every_file(|case| {
        let n = case.whole.rows;
        let mut wrong = Vec::new();
        for (offset, limit) in [
            (0, 0),
            (0, 1),
            (1, 1),
            (n / 2, 3),
            (n.saturating_sub(1), 5),
            (n, 1),
            (n + 9, 1),
            (3, n),
        ] {
            let options = ReadOptions::default().threads(1).batch_size(5);
            let table = case.read(options.offset(offset as u64).limit(limit as u64))?;
            let start = offset.min(n);
            let want = case.whole.rows_of(&[start..(start + limit).min(n)]);
            fault(
                &mut wrong,
                &format!("offset {offset} limit {limit}"),
                &table,
                &want,
                true,
            );
        }
        for ranges in range_sets(n) {
            for threads in [1, 2] {
                let asked: Vec<_> = ranges
                    .iter()
                    .map(|r| r.start as u64..r.end as u64)
                    .collect();
                let options = ReadOptions::default().threads(threads).batch_size(7);
                let table = case.read(options.row_ranges(asked))?;
                let want = case.whole.rows_of(&ranges);
                fault(&mut wrong, &format!("rows {ranges:?}"), &table, &want, true);
            }
        }
        Ok(wrong)
    });
}

fn range_sets(n: usize) -> Vec<Vec<Range<usize>>> {
    let every_third: Vec<_> = (0..n).step_by(3).map(|i| i..i + 1).collect();
    let long: Vec<_> = (0..n).step_by(20).map(|i| i..(i + 11).min(n)).collect();
    vec![
        Vec::new(),
        vec![0..n],
        vec![n / 3..n / 3 + n / 4],
        every_third,
        long,
    ]
}

#[test]
fn row_groups_are_selected() {
    on_every_file(|case| {
        let file = ParquetFile::from_bytes(case.bytes.clone())?;
        let groups = file.metadata().num_row_groups();
        let mut starts = vec![0];
        for group in 0..groups {
            let rows = usize::try_from(file.metadata().row_group_header(group)?.num_rows).unwrap();
            starts.push(starts[group] + rows);
        }
        let mut wrong = Vec::new();
        let mut asked: Vec<Vec<usize>> = (0..groups).map(|group| vec![group]).collect();
        asked.push((0..groups).step_by(2).collect());
        for groups in asked {
            let table = case.read(ReadOptions::default().row_groups(groups.clone()))?;
            let ranges: Vec<_> = groups.iter().map(|g| starts[*g]..starts[g + 1]).collect();
            let want = case.whole.rows_of(&ranges);
            fault(
                &mut wrong,
                &format!("row groups {groups:?}"),
                &table,
                &want,
                true,
            );
        }
        Ok(wrong)
    });
}

#[test]
fn columns_are_selected() {
    on_every_file(|case| {
        let mut wrong = Vec::new();
        let names: Vec<_> = case
            .whole
            .fields
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
        // We read one column at a time, every other column, and no column. Rows are also counted without columns.
        let mut asked: Vec<Vec<usize>> = (0..names.len()).map(|i| vec![i]).collect();
        asked.push((0..names.len()).step_by(2).collect());
        asked.push(Vec::new());
        for ordinals in asked {
            if !ordinals.iter().all(|i| unique(&names[*i])) {
                continue;
            }
            let columns: Vec<_> = ordinals.iter().map(|i| names[*i].clone()).collect();
            let options = ReadOptions::default().threads(1).batch_size(50);
            let table = case.read(options.projection(Projection::Names(columns.clone())))?;
            let want = case.whole.columns_of(&ordinals);
            fault(
                &mut wrong,
                &format!("columns {columns:?}"),
                &table,
                &want,
                true,
            );
        }
        Ok(wrong)
    });
}

/// Reads each leaf alone. The pruned column must equal the whole column without the sibling leaves.
#[test]
fn leaves_are_selected() {
    on_every_file(|case| {
        let file = ParquetFile::from_bytes(case.bytes.clone())?;
        let leaves = file.parquet_schema().leaves().len();
        let mut wrong = Vec::new();
        let mut all = vec![Table::default(); case.whole.columns.len()];
        for leaf in 0..leaves {
            let options = || ReadOptions::default().projection(Projection::Leaves(vec![leaf]));
            let table = case.read(options().threads(1))?;
            if table.rows != case.whole.rows || table.columns.len() != 1 {
                let columns = table.columns.len();
                wrong.push(format!(
                    "leaf {leaf}: {} rows, {columns} columns",
                    table.rows
                ));
                continue;
            }
            let small = case.read(options().batch_size(3))?;
            fault(
                &mut wrong,
                &format!("leaf {leaf} in small batches"),
                &small,
                &table,
                true,
            );
            let column = column_of(&file, leaf);
            // A flat column does not change at all, but in a nested column, only the nulls must agree.
            let whole = &case.whole.columns[column];
            let flat = file.parquet_schema().path(leaf).len() == 1;
            for (row, (part, full)) in table.columns[0].iter().zip(whole).enumerate() {
                if (flat && part != full) || ((part == "null") != (full == "null")) {
                    wrong.push(format!("leaf {leaf}: row {row} is {part}, of {full}"));
                    break;
                }
            }
            all[column] = table;
        }
        // All leaves together must be the whole file again.
        let projection = Projection::Leaves((0..leaves).collect());
        let together = case.read(ReadOptions::default().projection(projection))?;
        if !case
            .whole
            .fields
            .iter()
            .any(|(_, t)| t.contains("struct<>"))
        {
            fault(&mut wrong, "all leaves", &together, &case.whole, true);
        }
        Ok(wrong)
    });
}

/// Returns the ordinal of the top-level column that contains a leaf.
fn column_of(file: &ParquetFile, leaf: usize) -> usize {
    use herringbone_arrow::schema::DataType;
    fn leaves(data_type: &DataType) -> usize {
        match data_type {
            DataType::Struct(fields) => fields.iter().map(|f| leaves(f.data_type())).sum(),
            DataType::List(f)
            | DataType::LargeList(f)
            | DataType::ListView(f)
            | DataType::LargeListView(f)
            | DataType::FixedSizeList(f, _)
            | DataType::Map(f, _) => leaves(f.data_type()),
            _ => 1,
        }
    }
    let schema = file.arrow_schema(&SchemaOptions::default()).unwrap();
    let mut seen = 0;
    schema
        .fields()
        .iter()
        .position(|field| {
            seen += leaves(field.data_type());
            leaf < seen
        })
        .unwrap()
}

#[test]
fn layouts_hold_the_same_values() {
    let schemas = [
        ("views", layout(|o| o.strings = ByteLayout::Views)),
        (
            "large offsets",
            layout(|o| o.strings = ByteLayout::LargeOffsets),
        ),
        (
            "large lists",
            layout(|o| o.lists = ListLayout::LargeOffsets),
        ),
        (
            "dictionaries",
            layout(|o| o.dictionary = DictionaryOutput::Always),
        ),
        (
            "no dictionaries",
            layout(|o| o.dictionary = DictionaryOutput::Never),
        ),
        ("no hints", layout(|o| o.use_arrow_schema = false)),
        ("small decimals", layout(|o| o.smallest_decimals = true)),
    ];
    on_every_file(|case| {
        let mut wrong = Vec::new();
        for (name, schema) in &schemas {
            for (threads, batch_size) in [(1, 8192), (1, 7), (2, 33)] {
                let options = ReadOptions::default()
                    .threads(threads)
                    .batch_size(batch_size);
                let table = case.read(options.schema(schema.clone()))?;
                let whole = if *name == "no hints" {
                    without_units(case, &table)
                } else {
                    case.whole.clone()
                };
                fault(&mut wrong, name, &table, &whole, false);
            }
        }
        Ok(wrong)
    });
}

/// Changes the expected table to one without the Arrow schema hint, in which a duration is an integer and a time zone
/// is UTC. Durations are not compared.
fn without_units(case: &Case, table: &Table) -> Table {
    let mut whole = case.whole.clone();
    for (i, (_, data_type)) in whole.fields.iter().enumerate() {
        if data_type.contains("duration") {
            whole.columns[i].clone_from(&table.columns[i]);
        }
    }
    whole
}

fn layout(change: impl Fn(&mut SchemaOptions)) -> SchemaOptions {
    let mut options = SchemaOptions::default();
    change(&mut options);
    options
}

/// The layouts that a read emits are the requested ones.
#[test]
fn layouts_are_what_was_asked_for() {
    let path = files::testdata().join("pyarrow/without_hint.parquet");
    let type_of = |schema: &SchemaOptions, column: &str| {
        let options = ReadOptions::default()
            .schema(schema.clone())
            .columns([column]);
        let reader = ParquetFile::open(&path).unwrap().read(options).unwrap();
        Table::read(reader).unwrap().fields[0].1.clone()
    };
    let views = layout(|o| o.strings = ByteLayout::Views);
    assert_eq!(type_of(&views, "dictionary"), "utf8_view");
    let large = layout(|o| o.strings = ByteLayout::LargeOffsets);
    assert_eq!(type_of(&large, "dictionary"), "large_utf8");
    let lists = layout(|o| o.lists = ListLayout::LargeOffsets);
    assert_eq!(type_of(&lists, "large_list"), "large_list<int32>");
    let dictionary = layout(|o| o.dictionary = DictionaryOutput::Always);
    assert_eq!(
        type_of(&dictionary, "dictionary"),
        "dictionary<int32, utf8>"
    );
}
