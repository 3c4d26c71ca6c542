//! Tests of the state, without threads.

use std::sync::Arc;

use herringbone_arrow::array::Int32Array;
use herringbone_arrow::schema::{DataType, Field, Schema};
use herringbone_format::Error;
use herringbone_write::{WriteOptions, WritePlan};

use super::*;

/// Returns a state with this many columns, all without tasks.
fn state(columns: usize) -> State {
    let fields = (0..columns).map(|i| Field::new(format!("c{i}"), DataType::Int32, false));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let plan = WritePlan::new(schema, &WriteOptions::default(), None).unwrap();
    let columns = (0..columns).map(|i| Column::new(Writing::new(&plan, i, 0, None).unwrap()));
    State::new(columns.collect(), 0)
}

fn append(slice: usize, values: usize) -> Task {
    Task::Append {
        slice,
        array: Arc::new(Int32Array::from(vec![7; values])),
        array_bytes: 4 * values,
        rows: 0..values,
    }
}

fn end(slice: usize) -> Task {
    Task::End {
        slice,
        row_group: 0,
        is_last: false,
    }
}

/// Takes the next job, returning its column.
fn next(state: &mut State, last: Option<usize>) -> Option<usize> {
    state.next_job(last).and_then(|job| job.column())
}

#[test]
fn what_came_first_is_done_first_and_of_that_what_is_most() {
    let mut state = state(4);
    for (column, slice, values) in [(0, 0, 10), (1, 0, 10), (2, 0, 99), (3, 1, 999)] {
        state.push(column, append(slice, values));
    }
    state.push(0, end(0));
    assert!(state.has_jobs());
    let order: Vec<_> = (0..4).map_while(|_| next(&mut state, None)).collect();
    assert_eq!(order, [2, 0, 1, 3]);
    // There are no more jobs, because a thread is working on each column.
    assert!(!state.has_jobs());
    assert_eq!(next(&mut state, Some(0)), None);
}

#[test]
fn a_thread_goes_on_with_its_column_while_others_are_near() {
    let mut state = state(2);
    for slice in 0..12 {
        state.push(0, append(slice, 10));
    }
    let slices_in_a_row = |state: &mut State| {
        let mut slices = 0;
        while let Some(Job::Column(job)) = state.next_job(Some(0))
            && job.column == 0
        {
            slices += 1;
            state.columns[0].writing = Some(job.writing);
            state.note_ready(0);
        }
        slices
    };
    state.push(1, append(0, 9));
    // Column 1 waits at the first slice, so it is its turn after eight more slices.
    assert_eq!(slices_in_a_row(&mut state), 1 + SLICES_IN_A_ROW);
    assert_eq!(next(&mut state, Some(1)), Some(0));
    // Column 0's stale entries before that don't count as jobs.
    assert!(!state.has_jobs());
}

#[test]
fn large_pages_are_handed_out_and_small_ones_if_a_thread_has_nothing_to_do() {
    let mut state = state(2);
    let has_room = |state: &mut State, bytes| {
        let has_room = state.make_room(bytes, 16 * LARGE_PAGE);
        if has_room {
            state.page_is_finished(bytes);
        }
        has_room
    };
    assert!(!has_room(&mut state, LARGE_PAGE), "one thread");
    state.threads = 2;
    assert!(has_room(&mut state, 10));
    state.push(0, append(0, 9));
    state.push(1, append(0, 9));
    assert!(!has_room(&mut state, LARGE_PAGE - 1));
    assert!(has_room(&mut state, LARGE_PAGE));
    state.page_bytes_out = 1;
    assert!(
        !has_room(&mut state, LARGE_PAGE),
        "more than a part of the memory"
    );
    (state.page_bytes_out, state.pages_out) = (0, 4);
    assert!(!has_room(&mut state, LARGE_PAGE), "two a thread");
}

/// Ends are not taken out of turn, because a row group's end is most of the work.
#[test]
fn ends_come_in_their_turn() {
    let mut state = state(2);
    state.push(0, end(0));
    state.push(1, append(0, 9));
    assert_eq!(next(&mut state, Some(0)), Some(1));
    assert_eq!(next(&mut state, Some(0)), Some(0));
}

/// Adds a slice of row group 0, on which all columns still work.
fn begin_slice(state: &mut State, rows: usize) {
    let columns_left = state.columns.len();
    state.slices.push_back(Slice {
        row_group: 0,
        rows,
        array_bytes: 4 * rows,
        columns_left,
        estimated_bytes: 0,
        heap_bytes: 0,
    });
}

/// Reports a slice of a column, with these bytes or an error.
fn report(state: &mut State, slice: usize, column: usize, result: Result<usize, &str>) {
    state.report(Report {
        column,
        row_group: 0,
        slice,
        done: Done::Append {
            estimated_bytes: result.unwrap_or(0),
            heap_bytes: 2 * result.unwrap_or(0),
        },
        error: result.err().map(Error::argument),
    });
}

/// A row group is large enough by the sum of what its columns report after a slice, as bytes in the file or in memory.
#[test]
fn a_row_group_is_as_large_as_its_columns_together() {
    let is_large = |row_group_bytes, memory_bytes| {
        let mut state = state(3);
        state.threads = 2;
        // The caller can be two slices ahead, or more if slices are small.
        for slice in 0..3 {
            begin_slice(&mut state, 1 << 17);
            (0..3).for_each(|column| report(&mut state, slice, column, Ok(40_000_000)));
        }
        let mut options = WriteOptions::default();
        (options.row_group_bytes, options.memory_bytes) = (row_group_bytes, memory_bytes);
        let mut is_large = false;
        state.catch_up(&options, &mut is_large).unwrap();
        assert_eq!(state.next_slice(), 3);
        is_large
    };
    assert!(is_large(120_000_000, usize::MAX));
    assert!(!is_large(120_000_001, usize::MAX));
    assert!(is_large(usize::MAX, 240_000_000));
}

/// The first error in the order of slices, then of columns, is reported once no unfinished work can fail before it.
#[test]
fn the_first_error_is_known_once_all_work_before_it_is_done() {
    let mut state = state(2);
    for _ in 0..3 {
        begin_slice(&mut state, 10);
    }
    let error = |state: &State| {
        let failure = state.error.as_ref().unwrap();
        let message = failure.error.message().to_owned();
        (message, state.is_first(failure))
    };
    report(&mut state, 1, 1, Err("later column"));
    assert_eq!(error(&state), ("later column".to_owned(), false));
    report(&mut state, 2, 0, Err("later slice"));
    assert_eq!(error(&state), ("later column".to_owned(), false));
    report(&mut state, 1, 0, Err("first"));
    assert_eq!(error(&state), ("first".to_owned(), false));
    report(&mut state, 0, 0, Ok(1));
    assert_eq!(error(&state), ("first".to_owned(), false));
    report(&mut state, 0, 1, Ok(1));
    // Column 1 is still working on the last slice, but that comes later.
    assert_eq!(error(&state), ("first".to_owned(), true));
}

#[test]
fn pages_in_progress_are_counted_until_they_are_finished() {
    let mut state = state(1);
    state.threads = 2;
    // Two for each thread.
    for _ in 0..4 {
        assert!(state.make_room(10, 1 << 20));
    }
    assert!(!state.make_room(10, 1 << 20));
    assert_eq!(state.heap_bytes(), 40);
    state.page_is_finished(10);
    assert!(state.make_room(10, 1 << 20));
}
