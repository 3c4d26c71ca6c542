//! The entrance and exit of a crew: helpers pass through it, and the crew closes it when it ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Counts the helpers requested by a crew, and those working for it.
///
/// The gate outlives the crew, so that late helpers find it closed.
#[derive(Default)]
pub(crate) struct Gate {
    /// The number of tickets issued and not returned yet.
    tickets: AtomicUsize,
    door: Mutex<Door>,
    /// Notified when the last helper has left.
    empty: Condvar,
}

#[derive(Default)]
struct Door {
    /// The number of helpers working for the crew.
    inside: usize,
    is_closed: bool,
}

/// A permission to help once. It is returned on drop, used or not.
pub(crate) struct Ticket(Arc<Gate>);

/// The presence of a helper, which ends on drop.
pub(crate) struct Inside(Arc<Gate>);

impl Gate {
    /// Issues a ticket, if fewer than `most` are in use. Calls must not overlap.
    pub(crate) fn ticket(self: &Arc<Self>, most: usize) -> Option<Ticket> {
        if self.tickets.load(Ordering::Relaxed) >= most {
            return None;
        }
        self.tickets.fetch_add(1, Ordering::Relaxed);
        Some(Ticket(self.clone()))
    }

    /// Stops admitting helpers, and waits until all have left.
    pub(crate) fn close(&self) {
        let mut door = self.lock();
        door.is_closed = true;
        while door.inside > 0 {
            door = self
                .empty
                .wait(door)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Door> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Enters, unless the gate is closed.
    pub(crate) fn enter(&self) -> Option<Inside> {
        let mut door = self.0.lock();
        if door.is_closed {
            return None;
        }
        door.inside += 1;
        Some(Inside(self.0.clone()))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.tickets.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut door = self.0.lock();
        door.inside -= 1;
        if door.is_closed && door.inside == 0 {
            self.0.empty.notify_one();
        }
    }
}
