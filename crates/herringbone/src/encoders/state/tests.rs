//! Tests of the state, without threads.

use std::sync::Arc;

use herringbone_arrow::array::Int32Array;
use herringbone_arrow::schema::{DataType, Field, Schema};
use herringbone_write::{WriteOptions, WritePlan};

use super::*;

/// Returns a state whose columns have no tasks.
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

/// Takes the next job, and returns its column.
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
    // The stale entries of column 0 before that are no jobs.
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
