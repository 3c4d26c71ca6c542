//! The way in and out of a crew, which helpers pass and an ending crew closes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Counts the helpers that a crew asked for, and those that are with it.
///
/// It outlives the crew, so that a helper which comes late finds it closed.
#[derive(Default)]
pub(crate) struct Gate {
    /// Tickets that were issued and are not back.
    tickets: AtomicUsize,
    door: Mutex<Door>,
    /// The last helper has left.
    empty: Condvar,
}

#[derive(Default)]
struct Door {
    /// Helpers that are with the crew.
    inside: usize,
    is_closed: bool,
}

/// The permission to come and help once. It is back when it is dropped, used or not.
pub(crate) struct Ticket(Arc<Gate>);

/// The presence of a helper, which leaves when this is dropped.
pub(crate) struct Inside(Arc<Gate>);

impl Gate {
    /// Issues a ticket, if fewer than `most` are out. Calls must not overlap.
    pub(crate) fn ticket(self: &Arc<Self>, most: usize) -> Option<Ticket> {
        if self.tickets.load(Ordering::Relaxed) >= most {
            return None;
        }
        self.tickets.fetch_add(1, Ordering::Relaxed);
        Some(Ticket(self.clone()))
    }

    /// Lets no more helpers in, and waits until all have left.
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
