//! Gives scans turns, if a pool is too small for all of them at once. While one scan has its turn,
//! the others give back their bytes and wait, so that at least one of them can go on.
//!
//! ```text
//! refused a page ─► gives back all ─► others hold bytes? ─ no ──► the scan fails
//!                                       └ yes ─► its turn: the pool refuses the other scans, which give back all and wait
//! ```
//!
//! A turn ends when the scan holds nothing, and the scan that has waited longest gets the next
//! turn. If an engine does not poll a scan, that scan keeps its bytes, so no scan waits longer than
//! [`PATIENCE`] without a sign of another one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use datafusion_execution::memory_pool::MemoryPool;

/// The time that a scan waits for memory after the last sign of the others.
const PATIENCE: Duration = Duration::from_secs(1);

/// The scans and sinks that use a pool.
#[derive(Debug)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Debug)]
struct State {
    members: BTreeMap<u64, Member>,
    next: u64,
    /// The only scan that may take bytes.
    holder: Option<u64>,
    /// The time at which the holder last took bytes, or another member gave bytes back.
    last_sign: Instant,
}

/// A scan of a partition, or a sink.
#[derive(Debug, Default)]
struct Member {
    bytes: u64,
    /// True if the pool refused the bytes last asked for.
    is_refused: bool,
    /// True if the pool refused the bytes last asked for, while no other member held any.
    was_alone: bool,
    /// True if another member has given back all of its bytes since the last refusal.
    may_try: bool,
    /// The place among the waiting scans, where the lowest number has waited longest.
    place: u64,
    is_watched: bool,
    waker: Option<Waker>,
}

/// The pools that have scans or sinks, by address.
static POOLS: Mutex<BTreeMap<usize, Weak<Turns>>> = Mutex::new(BTreeMap::new());

impl Turns {
    fn new() -> Self {
        Self(Mutex::new(State {
            members: BTreeMap::new(),
            next: 0,
            holder: None,
            last_sign: Instant::now(),
        }))
    }

    /// Returns a pool's turns. The caller must keep the pool for as long as the turns, because we
    /// find them by the pool's address.
    pub(crate) fn of(pool: &Arc<dyn MemoryPool>) -> Arc<Self> {
        let address = Arc::as_ptr(pool).cast::<()>() as usize;
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = pools.get(&address).and_then(Weak::upgrade) {
            return turns;
        }
        pools.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Self::new());
        pools.insert(address, Arc::downgrade(&turns));
        turns
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a scan or a sink and returns its number.
    pub(crate) fn join(&self) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let member = state.next;
        state.members.insert(member, Member::default());
        member
    }

    /// Removes a scan or a sink that holds nothing any more.
    pub(crate) fn leave(&self, member: u64) {
        let mut state = self.state();
        state.members.remove(&member);
        state.end_turn(member);
        state.give_sign(member);
    }

    /// Takes bytes for a member by calling `take`, unless it is another member's turn. A sink is
    /// never refused for that reason.
    pub(crate) fn take(
        &self,
        (member, is_sink): (u64, bool),
        bytes: u64,
        take: impl FnOnce() -> bool,
    ) -> bool {
        let mut state = self.state();
        let is_turn_of_other = !is_sink && state.holder.is_some_and(|holder| holder != member);
        let is_taken = !is_turn_of_other && take();
        let was_alone = !is_turn_of_other && state.is_alone(member);
        if is_taken && state.holder == Some(member) {
            state.last_sign = Instant::now();
        }
        if let Some(member) = state.members.get_mut(&member) {
            (member.is_refused, member.was_alone) = (!is_taken, was_alone);
            member.bytes += if is_taken { bytes } else { 0 };
        }
        is_taken
    }

    /// Records that a member gave back bytes.
    pub(crate) fn give_back(&self, member: u64, bytes: u64) {
        let mut state = self.state();
        let Some(giver) = state.members.get_mut(&member) else {
            return;
        };
        giver.bytes = giver.bytes.saturating_sub(bytes);
        if giver.bytes > 0 {
            return;
        }
        // A refused scan gives back all of its bytes before it waits for room, but it keeps its
        // turn.
        if !giver.is_refused {
            state.end_turn(member);
        }
        state.give_sign(member);
    }

    /// Decides whether a refused scan should try again.
    pub(crate) fn poll_room(
        self: &Arc<Self>,
        member: u64,
        context: &mut Context<'_>,
    ) -> Poll<bool> {
        let mut state = self.state();
        let is_over = state.last_sign.elapsed() >= PATIENCE;
        let is_alone = state.is_alone(member);
        let holder = state.holder;
        let Some(waiting) = state.members.get_mut(&member) else {
            return Poll::Ready(false);
        };
        waiting.waker = None;
        if waiting.was_alone || (holder == Some(member) && is_over) {
            waiting.place = 0;
            state.end_turn(member);
            return Poll::Ready(false);
        }
        let may_hold = holder.is_none_or(|holder| holder == member);
        if may_hold && (std::mem::take(&mut waiting.may_try) || is_alone) {
            waiting.place = 0;
            state.begin_turn(member);
            return Poll::Ready(true);
        }
        waiting.waker = Some(context.waker().clone());
        let is_watched = std::mem::replace(&mut waiting.is_watched, true);
        if may_hold || is_over {
            state.begin_turn(member);
        } else {
            state.queue(member);
        }
        drop(state);
        if !is_watched && !self.watch(member) {
            return Poll::Ready(false);
        }
        Poll::Pending
    }

    /// Wakes a waiting scan after a while, or returns false if no thread can be started.
    fn watch(self: &Arc<Self>, member: u64) -> bool {
        let turns = Arc::downgrade(self);
        let watch = move || {
            thread::sleep(PATIENCE);
            let Some(turns) = turns.upgrade() else {
                return;
            };
            if let Some(member) = turns.state().members.get_mut(&member) {
                member.is_watched = false;
                member.waker.take().into_iter().for_each(Waker::wake);
            }
        };
        let builder = thread::Builder::new().name("herringbone-turns".to_owned());
        builder.spawn(watch).is_ok()
    }
}

impl State {
    /// Returns true if no other member holds bytes.
    fn is_alone(&self, member: u64) -> bool {
        let mut members = self.members.iter();
        members.all(|(other, held)| *other == member || held.bytes == 0)
    }

    /// Begins a member's turn, in which only it may take bytes.
    fn begin_turn(&mut self, member: u64) {
        if self.holder != Some(member) {
            self.holder = Some(member);
            self.last_sign = Instant::now();
        }
    }

    /// Adds a member to the end of the queue for a turn.
    fn queue(&mut self, member: u64) {
        let next = self.next + 1;
        if let Some(waiting) = self.members.get_mut(&member)
            && waiting.place == 0
        {
            (waiting.place, self.next) = (next, next);
        }
    }

    /// Ends a member's turn and begins the turn of the member that has waited longest.
    fn end_turn(&mut self, member: u64) {
        if self.holder != Some(member) {
            return;
        }
        self.last_sign = Instant::now();
        let waiting = self.members.iter_mut();
        let waiting = waiting.filter(|(_, waiting)| waiting.waker.is_some());
        let next = waiting.min_by_key(|(_, waiting)| waiting.place);
        self.holder = next.map(|(number, next)| {
            next.waker.take().into_iter().for_each(Waker::wake);
            *number
        });
    }

    /// Lets the scan whose turn it is try again, because a member has given back all of its bytes.
    fn give_sign(&mut self, giver: u64) {
        self.last_sign = Instant::now();
        let holder = self.holder.filter(|holder| *holder != giver);
        if let Some(holder) = holder.and_then(|holder| self.members.get_mut(&holder)) {
            holder.may_try = true;
            holder.waker.take().into_iter().for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(members: usize) -> (Arc<Turns>, Vec<u64>) {
        let turns = Arc::new(Turns::new());
        let members = (0..members).map(|_| turns.join()).collect();
        (turns, members)
    }

    fn poll(turns: &Arc<Turns>, member: u64) -> Poll<bool> {
        turns.poll_room(member, &mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn scans_have_turns_in_the_order_of_their_refusals() {
        let (turns, members) = turns(3);
        let (first, second, third) = (members[0], members[1], members[2]);
        let take = |member, is_granted| turns.take((member, false), 10, || is_granted);
        for member in [first, second, third] {
            assert!(take(member, true));
        }
        // The first scan is refused and gives back its bytes, while the others still hold theirs.
        assert!(!take(first, false));
        turns.give_back(first, 10);
        assert_eq!(poll(&turns, first), Poll::Pending);
        // Now the pool refuses the others, although it has room.
        for member in [third, second] {
            assert!(!take(member, true));
            assert_eq!(poll(&turns, first), Poll::Pending);
            turns.give_back(member, 10);
            assert_eq!(poll(&turns, member), Poll::Pending);
            assert_eq!(poll(&turns, first), Poll::Ready(true));
            // One of the two gave back too little, so the first scan tries twice.
            assert_eq!(take(first, member == second), member == second);
        }
        assert_eq!(poll(&turns, third), Poll::Pending);
        // A turn ends with the last byte. The third scan has waited longer than the second one.
        turns.give_back(first, 10);
        assert_eq!(poll(&turns, second), Poll::Pending);
        assert_eq!(poll(&turns, third), Poll::Ready(true));
        assert!(take(third, true) && !take(second, true));
        turns.leave(third);
        assert_eq!(poll(&turns, second), Poll::Ready(true));
        assert!(take(second, true));
        turns.give_back(second, 10);
        assert!(take(first, true) && take(second, true));
    }

    #[test]
    fn a_scan_that_is_refused_alone_fails() {
        let (turns, members) = turns(2);
        assert!(!turns.take((members[0], false), 10, || false));
        assert_eq!(poll(&turns, members[0]), Poll::Ready(false));
        assert!(turns.take((members[1], false), 10, || true));
    }

    #[test]
    fn a_scan_waits_a_second_for_bytes_that_another_one_keeps() {
        let (turns, members) = turns(2);
        assert!(turns.take((members[1], false), 10, || true));
        assert!(!turns.take((members[0], false), 10, || false));
        assert_eq!(poll(&turns, members[0]), Poll::Pending);
        thread::sleep(PATIENCE);
        assert_eq!(poll(&turns, members[0]), Poll::Ready(false));
        assert!(turns.take((members[1], false), 10, || true));
    }
}
