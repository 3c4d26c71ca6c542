//! Reads return the rows that a loop over all row numbers finds, however a file is written and read.

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::filter::{Predicate, PruningSteps, col, col_at};
use herringbone::{
    BloomFilterOptions, ColumnOptions, DataPageVersion, Limits, ReadOptions, RowSelection,
    StatisticsLevel, VirtualColumn,
};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Int64Type;

use crate::table::{
    GROUP, ROWS, compare, file, kind, open, options, pushed, read, rows_of, tags, text,
};

/// Files of the table that differ in everything a reader can use to skip rows.
fn files() -> Vec<(&'static str, Bytes)> {
    let columns = ColumnOptions::new;
    vec![
        ("with page indexes", file(options())),
        ("without page indexes", file(options().page_index(false))),
        (
            "without page indexes, in pages of version 2",
            file(
                options()
                    .page_index(false)
                    .data_page_version(DataPageVersion::V2),
            ),
        ),
        (
            "with dictionaries",
            file(options().columns(columns().dictionary(true))),
        ),
        (
            "without statistics",
            file(options().columns(columns().statistics(StatisticsLevel::Counts))),
        ),
        (
            "with bloom filters",
            file(options().columns(columns().bloom_filter(BloomFilterOptions::default()))),
        ),
    ]
}

/// Reads a file in several ways, comparing each result with the expected rows.
fn check(name: &str, file: &Bytes, options: &ReadOptions, expected: &[usize]) {
    compare(&pushed(file, options), expected, &format!("{name}, pushed"));
    for threads in [1, 3] {
        let batches = read(file, &options.clone().threads(threads));
        compare(&batches, expected, &format!("{name}, {threads} threads"));
    }
    // Pruning must only save work, so testing alone has to find these rows, too.
    let without_steps = options.clone().pruning(PruningSteps::none());
    let context = format!("{name}, without pruning");
    compare(&pushed(file, &without_steps), expected, &context);
}

/// Returns the row numbers that a function accepts.
fn rows(accepts: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..ROWS).filter(|row| accepts(*row)).collect()
}

/// Filters, each with its selected rows.
fn filters() -> Vec<(Predicate, Vec<usize>)> {
    let has_tag = |row: usize, tag: i32| tags(row).is_some_and(|tags| tags.contains(&tag));
    vec![
        (col("row").eq(299), vec![299]),
        (col("row").ne(299), rows(|row| row != 299)),
        (col("row").lt(301), rows(|row| row < 301)),
        (col("row").le(300), rows(|row| row <= 300)),
        (col("row").gt(949), rows(|row| row > 949)),
        (col("row").ge(600), rows(|row| row >= 600)),
        (
            col("row").between(345, 655),
            rows(|row| (345..=655).contains(&row)),
        ),
        (col("row").is_in([7, 310, 999, 5_000]), vec![7, 310, 999]),
        (col("row").lt(0), Vec::new()),
        (col("row").ge(0), rows(|_| true)),
        (col("text").is_null(), rows(|row| row % 5 == 0)),
        (col("text").is_not_null(), rows(|row| row % 5 > 0)),
        (col("text").eq("text 402"), vec![402]),
        (
            col("text").starts_with("text 99"),
            rows(|row| text(row).is_some_and(|it| it.starts_with("text 99"))),
        ),
        (
            col("text").gt("text 5").not(),
            rows(|row| text(row).is_some_and(|it| *it <= *"text 5")),
        ),
        (col("kind").eq("green"), rows(|row| kind(row) == "green")),
        (col("kind").eq("grey"), Vec::new()),
        (col("kind").ne("red"), rows(|row| kind(row) != "red")),
        (col_at(["place", "x"]).eq(301), vec![301]),
        (
            col_at(["place", "x"]).is_null(),
            rows(|row| row % 3 == 0 || row % 11 == 0),
        ),
        (
            col_at(["place", "y"]).lt(-990),
            rows(|row| row > 990 && row % 11 > 0),
        ),
        (col("tags").any().eq(505), rows(|row| has_tag(row, 505))),
        (
            col("tags").all().ge(900),
            rows(|row| tags(row).is_some_and(|tags| tags.iter().all(|tag| *tag >= 900))),
        ),
        (
            col("kind")
                .eq("blue")
                .and(col("row").ge(450))
                .and(col("text").is_not_null()),
            rows(|row| kind(row) == "blue" && row >= 450 && row % 5 > 0),
        ),
        (
            col("row")
                .lt(20)
                .or(col("text").eq("text 777"))
                .or(col("kind").eq("grey")),
            rows(|row| row < 20 || row == 777),
        ),
        (
            col("row")
                .lt(20)
                .or(col("row").ge(980))
                .not()
                .and(col("tags").any().ge(970)),
            rows(|row| {
                (20..980).contains(&row)
                    && tags(row).is_some_and(|tags| tags.iter().any(|tag| *tag >= 970))
            }),
        ),
    ]
}

#[test]
fn filters_select_the_rows_that_a_loop_finds() {
    for (name, file) in files() {
        for (filter, expected) in filters() {
            let context = format!("{name}, {filter:?}");
            let options = ReadOptions::new().filter(filter);
            check(&context, &file, &options.clone().batch_size(64), &expected);
            // The tested columns are either not emitted, or emitted alone.
            let narrow = options.columns(["row", "kind"]);
            check(&context, &file, &narrow, &expected);
        }
    }
}

#[test]
fn selections_of_rows_are_combined() {
    let selection = RowSelection::delete_rows((0..ROWS as u64).filter(|row| row % 7 == 0));
    let second = RowSelection::keep([10..290]).of_row_group(1);
    for (name, file) in files() {
        let all = ReadOptions::new().batch_size(45);
        check(name, &file, &all, &rows(|_| true));
        let window = all.clone().offset(280).limit(333);
        check(name, &file, &window, &rows(|row| (280..613).contains(&row)));
        let ranges = all
            .clone()
            .row_ranges(vec![598..603, 0..1, 600..610, 990..2_000]);
        let is_in_range = |row: usize| row == 0 || (598..610).contains(&row) || row >= 990;
        check(name, &file, &ranges, &rows(is_in_range));
        let both = all
            .clone()
            .row_selection(selection.clone())
            .row_selection(second.clone());
        let is_kept = |row: usize| {
            let is_second = row / GROUP == 1;
            !row.is_multiple_of(7) && (!is_second || (310..590).contains(&row))
        };
        check(name, &file, &both, &rows(is_kept));
        let filter = col("row").ge(305).and(col("kind").ne("red"));
        let filtered = both.filter(filter).offset(100).limit(200);
        let expected = rows(|row| is_kept(row) && row >= 305 && kind(row) != "red");
        check(name, &file, &filtered, &expected[100..300]);
    }
}

#[test]
fn row_groups_are_read_in_the_order_of_the_options() {
    for (name, file) in files() {
        let options = ReadOptions::new().row_groups([3, 0, 3]);
        let group = |ordinal: usize| ordinal * GROUP..ROWS.min((ordinal + 1) * GROUP);
        let expected: Vec<usize> = [3, 0, 3].into_iter().flat_map(group).collect();
        check(name, &file, &options, &expected);
        let filtered = options.filter(col("row").is_in([905, 33, 600]));
        check(name, &file, &filtered, &[905, 33, 905]);
        let error = open(&file)
            .plan(&ReadOptions::new().row_groups([4]))
            .unwrap_err();
        assert!(error.to_string().contains('4'), "{error}");
    }
}

/// A batch ends at its largest number of rows, or at the end of its row group.
#[test]
fn batches_have_the_chosen_size() {
    let file = file(options());
    let lengths = |options: &ReadOptions| -> Vec<usize> {
        let batches = pushed(&file, options);
        batches.iter().map(RecordBatch::num_rows).collect()
    };
    let of_100 = ReadOptions::new().batch_size(100);
    assert_eq!(lengths(&of_100), [100; 10]);
    let of_130 = ReadOptions::new().batch_size(130);
    assert_eq!(
        lengths(&of_130),
        [130, 130, 40, 130, 130, 40, 130, 130, 40, 100]
    );
    // A row takes 8 bytes, and its share of the page headers.
    let of_bytes = ReadOptions::new().columns(["row"]).batch_bytes(100);
    let lengths = lengths(&of_bytes);
    // Only the last batch of each of the four row groups is smaller.
    let full = lengths
        .iter()
        .filter(|rows| (8..=12).contains(*rows))
        .count();
    assert!(full + 4 >= lengths.len(), "{lengths:?}");
    // With a filter, each batch has this many selected rows.
    let few = of_130.filter(col("kind").eq("red")).columns(["row"]);
    let batches = pushed(&file, &few);
    let rows = rows_of(&batches).len();
    assert_eq!(rows, (0..ROWS).filter(|row| kind(*row) == "red").count());
    assert!(batches.iter().all(|batch| batch.num_rows() <= 130));
}

#[test]
fn virtual_columns_have_the_origins_of_rows() {
    let options = || {
        ReadOptions::new()
            .columns(["row"])
            .batch_size(70)
            .virtual_column(VirtualColumn::row_number("number"))
            .virtual_column(VirtualColumn::row_group("group"))
            .virtual_column(VirtualColumn::file_name("file", "a.parquet"))
    };
    for (name, file) in files() {
        for (options, expected) in [
            (options(), rows(|_| true)),
            (
                options().offset(250).limit(100),
                rows(|row| (250..350).contains(&row)),
            ),
            (
                options().filter(col("kind").eq("blue")),
                rows(|row| kind(row) == "blue"),
            ),
            (
                options().row_ranges(vec![290..310, 899..902]),
                rows(|row| (290..310).contains(&row) || (899..902).contains(&row)),
            ),
        ] {
            for batches in [
                pushed(&file, &options),
                read(&file, &options.clone().threads(3)),
            ] {
                assert_eq!(rows_of(&batches), expected, "{name}");
                for batch in &batches {
                    let numbers =
                        |column| batch.column(column).as_primitive::<Int64Type>().values();
                    assert_eq!(numbers(1), numbers(0), "{name}");
                    let groups: Vec<i64> =
                        numbers(0).iter().map(|row| row / GROUP as i64).collect();
                    assert_eq!(numbers(2).to_vec(), groups, "{name}");
                    let names = batch.column(3).as_string::<i32>();
                    assert!(names.iter().all(|name| name == Some("a.parquet")));
                }
            }
        }
    }
}

/// If the budget refuses memory, a read drops its work ahead and starts the row group again. Even then, it returns each
/// row once.
#[test]
fn rows_stay_complete_if_memory_is_short() {
    let file = file(options());
    let (mut refused, mut read_all) = (0, 0);
    for kilobytes in (4..120).step_by(4) {
        let mut limits = Limits::default();
        limits.memory_bytes = kilobytes << 10;
        let options = ReadOptions::new().batch_size(100).limits(limits);
        for options in [options.clone(), options.filter(col("kind").ne("red"))] {
            let expected = match options.filter {
                None => rows(|_| true),
                Some(_) => rows(|row| kind(row) != "red"),
            };
            for threads in [1, 3] {
                let mut reader = open(&file).read(options.clone().threads(threads)).unwrap();
                let mut batches = Vec::new();
                let end = loop {
                    match reader.next_batch() {
                        Ok(Some(batch)) => batches.push(batch),
                        end => break end,
                    }
                };
                let found = rows_of(&batches);
                let context = format!("{kilobytes} KiB, {threads} threads");
                compare(&batches, &expected[..found.len()], &context);
                match end {
                    Ok(_) => {
                        assert_eq!(found.len(), expected.len());
                        read_all += 1;
                    }
                    Err(error) => {
                        assert!(error.to_string().contains("memory_bytes"), "{error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 0 && read_all > 0, "{refused} {read_all}");
}
