//! Lets the program act while a caller is waiting for its helpers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use herringbone_pipeline::{Crew, Shared, Work};

/// A caller waiting for a helper lets the program act. The helper's task only ends after that.
#[test]
fn a_waiting_caller_attends() {
    struct Attentive {
        caller: ThreadId,
        helps: AtomicBool,
        attended: AtomicBool,
    }
    impl Work for Attentive {
        /// True while the caller's task and the helper's task are waiting to be taken, and the number of finished
        /// tasks.
        type State = (bool, bool, usize);
        type Task = bool;
        type Output = ();
        type Scratch = ();

        fn take(&self, state: &mut Self::State, (): &mut ()) -> Option<bool> {
            let is_caller = thread::current().id() == self.caller;
            let place = if is_caller {
                &mut state.0
            } else {
                &mut state.1
            };
            std::mem::take(place).then_some(is_caller)
        }

        fn wants_help(&self, state: &mut Self::State) -> bool {
            state.1
        }

        fn run(&self, is_caller: bool, (): &mut (), _: &Shared<Self>) {
            let flag = match is_caller {
                true => &self.helps,
                false => &self.attended,
            };
            self.helps.fetch_or(!is_caller, Ordering::SeqCst);
            while !flag.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        }

        fn finish(&self, state: &mut Self::State, (): ()) {
            state.2 += 1;
        }

        fn patience(&self) -> Option<Duration> {
            Some(Duration::from_millis(1))
        }

        fn attend(&self) {
            self.attended.store(true, Ordering::SeqCst);
        }
    }
    let work = Attentive {
        caller: thread::current().id(),
        helps: AtomicBool::new(false),
        attended: AtomicBool::new(false),
    };
    let mut crew = Crew::new(work, (true, true, 0), 2, None);
    let done = crew.next(|state| (state.2 == 2).then_some(()));
    assert!(done.is_some() && crew.work().attended.load(Ordering::SeqCst));
}
