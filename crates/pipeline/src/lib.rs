//! Runs tasks on several threads on behalf of a caller that takes the results in order.
//!
//! [`Work`] defines the tasks. Its state, under a single lock, contains pending tasks and their results. A [`Crew`] is
//! the caller's handle. The caller asks it for the next result, performing tasks itself instead of waiting. Helpers are
//! threads that a crew borrows while [`Work::wants_help`] is true, and returns once they find no task. They come from
//! the process's pool or from a [`Spawn`] host.
//!
//! A task's life has four steps:
//!
//! 1. [`Work::take`] removes it from the state, under the lock.
//! 2. [`Work::run`] performs it without the lock. It may still change the state while running ([`Shared::update`]).
//! 3. [`Work::finish`] stores its output in the state, under the lock. The thread takes its next task before releasing
//!    the lock.
//! 4. [`Crew::next`] looks at the state and returns a result once it's due.
//!
//! The order of results depends only on the state, so you get the same order for any number of threads. A crew needs no
//! helper to make progress, because the caller performs all tasks if no thread is available. Since it never waits for a
//! thread to become available, tasks may use their own crews, however deeply nested.
//!
//! ```
//! use std::collections::BTreeMap;
//! use herringbone_pipeline::{Crew, Shared, Work};
//!
//! /// Squares of the numbers below a limit.
//! struct Squares(u64);
//!
//! #[derive(Default)]
//! struct State {
//!     next: u64,
//!     due: u64,
//!     squares: BTreeMap<u64, u64>,
//! }
//!
//! impl Work for Squares {
//!     type State = State;
//!     type Task = u64;
//!     type Output = (u64, u64);
//!     type Scratch = ();
//!
//!     fn take(&self, state: &mut State, _: &mut ()) -> Option<u64> {
//!         let number = state.next;
//!         self.wants_help(state).then(|| {
//!             state.next += 1;
//!             number
//!         })
//!     }
//!
//!     fn wants_help(&self, state: &mut State) -> bool {
//!         // At most ten results wait for the caller.
//!         state.next < self.0 && state.next < state.due + 10
//!     }
//!
//!     fn run(&self, number: u64, _: &mut (), _: &Shared<Self>) -> (u64, u64) {
//!         (number, number * number)
//!     }
//!
//!     fn finish(&self, state: &mut State, (number, square): (u64, u64)) {
//!         state.squares.insert(number, square);
//!     }
//! }
//!
//! let mut crew = Crew::new(Squares(4), State::default(), 2, None);
//! let mut squares = Vec::new();
//! while let Some(square) = crew.next(|state| {
//!     let square = state.squares.remove(&state.due)?;
//!     state.due += 1;
//!     Some(square)
//! }) {
//!     squares.push(square);
//! }
//! assert_eq!(squares, [0, 1, 4, 9]);
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod crew;
mod helper_count;
mod pool;

pub use crew::{Crew, Shared, Work};
pub use pool::{ProcessPool, Spawn, threads};
