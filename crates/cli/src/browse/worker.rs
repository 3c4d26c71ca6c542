//! The reading thread. With reads off the drawing thread, keys never have to wait.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::Event;
use super::need::Need;
use super::reads::{Reads, Watch};

/// The drawing thread's handle to the reading thread.
pub(super) struct Worker {
    needs: Sender<(u64, Need)>,
    /// The ordinal of the newest need. Reads for older needs stop at their next batch.
    newest: Arc<AtomicU64>,
}

/// Reports the thread's end on drop, which includes panics.
struct End(Sender<Event>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.send(Event::WorkerEnded).ok();
    }
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the system cannot start another thread.
    pub(super) fn start(mut reads: Reads, events: Sender<Event>) -> std::io::Result<Self> {
        let (needs, asked) = mpsc::channel::<(u64, Need)>();
        let newest = Arc::new(AtomicU64::new(0));
        let latest = newest.clone();
        thread::Builder::new().spawn(move || {
            let end = End(events);
            for (ordinal, need) in asked {
                let is_wanted = || latest.load(Ordering::SeqCst) == ordinal;
                if !is_wanted() {
                    continue;
                }
                let shown = Cell::new(0);
                let progress = |done: u64, all: u64| {
                    let percent = (done as f64 / all.max(1) as f64 * 100.0) as u8;
                    if percent != shown.replace(percent) && is_wanted() {
                        end.0.send(Event::Progress(need.clone(), percent)).ok();
                    }
                };
                let watch = Watch {
                    is_wanted: &is_wanted,
                    progress: &progress,
                };
                let reply = reads.answer(&need, &watch);
                if is_wanted() {
                    end.0.send(Event::Answer(need, reply)).ok();
                }
            }
        })?;
        Ok(Self { needs, newest })
    }

    /// Asks for the current need, replacing any earlier need.
    pub(super) fn ask(&self, need: Option<Need>) {
        let ordinal = self.newest.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(need) = need {
            // This fails if the thread has ended, but an event already reports that.
            self.needs.send((ordinal, need)).ok();
        }
    }
}
