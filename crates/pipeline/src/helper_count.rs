//! Counts a crew's requested and working helpers, so that an ending crew can wait for the helpers at work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A count of a crew's requested helpers and of its helpers at work.
///
/// The count outlives the crew. Helpers that start late then find it closed and do nothing.
#[derive(Default)]
pub(crate) struct HelperCount {
    /// The number of outstanding permits.
    permits: AtomicUsize,
    state: Mutex<HelperState>,
    /// Notified when the last helper has left.
    empty: Condvar,
}

#[derive(Default)]
struct HelperState {
    /// The number of helpers working for the crew.
    at_work: usize,
    is_closed: bool,
}

/// A permission to help once. Dropping it returns it, used or not.
pub(crate) struct HelpPermit(Arc<HelperCount>);

/// A helper at work. Dropping it ends its work.
pub(crate) struct HelperAtWork(Arc<HelperCount>);

impl HelperCount {
    /// Issues a permit if there are fewer than `most` outstanding permits. Calls must not overlap, because the check
    /// and the increment are two steps.
    pub(crate) fn permit(self: &Arc<Self>, most: usize) -> Option<HelpPermit> {
        if self.permits.load(Ordering::Relaxed) >= most {
            return None;
        }
        self.permits.fetch_add(1, Ordering::Relaxed);
        Some(HelpPermit(self.clone()))
    }

    /// Stops admitting helpers and waits until they have all left.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        while state.at_work > 0 {
            state = self
                .empty
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HelperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HelpPermit {
    /// Begins to help, unless the crew has ended.
    pub(crate) fn begin(&self) -> Option<HelperAtWork> {
        let mut state = self.0.lock();
        if state.is_closed {
            return None;
        }
        state.at_work += 1;
        Some(HelperAtWork(self.0.clone()))
    }
}

impl Drop for HelpPermit {
    fn drop(&mut self) {
        self.0.permits.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for HelperAtWork {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.at_work -= 1;
        if state.is_closed && state.at_work == 0 {
            self.0.empty.notify_one();
        }
    }
}
