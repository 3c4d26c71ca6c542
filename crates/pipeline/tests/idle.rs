//! Crews without tasks must hold no threads. This test needs a process of its own, because it counts the process's
//! threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use herringbone_pipeline::{Crew, Shared, Work, threads};

/// Work whose tasks the test adds.
struct Added;

impl Work for Added {
    type State = (usize, usize);
    type Task = ();
    type Output = ();
    type Scratch = ();

    fn take(&self, state: &mut (usize, usize), _: &mut ()) -> Option<()> {
        state.0 = state.0.checked_sub(1)?;
        Some(())
    }

    fn wants_help(&self, state: &mut (usize, usize)) -> bool {
        state.0 > 0
    }

    fn run(&self, (): (), _: &mut (), _: &Shared<Self>) {
        std::thread::yield_now();
    }

    fn finish(&self, state: &mut (usize, usize), (): ()) {
        state.1 += 1;
    }
}

/// Returns the number of this process's threads, or `None` if the system does not list them.
fn num_threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

#[test]
fn two_hundred_crews_share_the_threads_of_one_pool() {
    let Some(before) = num_threads() else {
        eprintln!("threads are not counted: this system does not list them");
        return;
    };
    let work = |crews: &mut Vec<Crew<Added>>| {
        for crew in crews {
            crew.update(|state| *state = (40, 0));
            let done = crew.next(|state| (state.1 == 40).then_some(()));
            assert_eq!(done, Some(()));
        }
    };
    let mut one = vec![Crew::new(Added, (0, 0), 1, None)];
    work(&mut one);
    assert_eq!(num_threads(), Some(before));
    let asked = 2.max(threads(0));
    let mut crews: Vec<_> = (0..200)
        .map(|_| Crew::new(Added, (0, 0), asked, None))
        .collect();
    work(&mut crews);
    work(&mut crews);
    let with_pool = num_threads().unwrap();
    assert!(
        with_pool > before && with_pool <= before + asked,
        "{with_pool} threads"
    );
    // A caller that requests more threads gets more.
    let barrier = std::sync::Arc::new(std::sync::Barrier::new(asked + 3));
    let meets = crowd::Meet(barrier);
    let mut crowd = Crew::new(meets, (0, 0), asked + 3, None);
    // The threads return after they had nothing to do.
    for _ in 0..3 {
        crowd.update(|state| *state = (asked + 3, 0));
        let done = crowd.next(|state| (state.1 == asked + 3).then_some(()));
        assert_eq!(done, Some(()));
    }
    // The caller is one of the threads. If a thread is about to become idle, another thread might be started in its
    // place.
    let with_crowd = num_threads().unwrap();
    assert!(
        (before + asked + 2..=before + asked + 3).contains(&with_crowd),
        "{with_crowd} threads"
    );
}

mod crowd {
    use super::{Shared, Work};
    use std::sync::{Arc, Barrier};

    /// Work whose tasks all run at the same time.
    pub(super) struct Meet(pub(super) Arc<Barrier>);

    impl Work for Meet {
        type State = (usize, usize);
        type Task = ();
        type Output = ();
        type Scratch = ();

        fn take(&self, state: &mut (usize, usize), _: &mut ()) -> Option<()> {
            state.0 = state.0.checked_sub(1)?;
            Some(())
        }

        fn wants_help(&self, state: &mut (usize, usize)) -> bool {
            state.0 > 0
        }

        fn run(&self, (): (), _: &mut (), _: &Shared<Self>) {
            self.0.wait();
        }

        fn finish(&self, state: &mut (usize, usize), (): ()) {
            state.1 += 1;
        }
    }
}
