//! Reports slow reads while they run, so that we know the location of a hang.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time after which a read is slow. It exceeds the time for any small file, on a busy machine and without
/// optimisation.
const PATIENCE: Duration = Duration::from_secs(10);

/// The current read and its start time. The flag is true if the read was reported.
type Current = Option<(Instant, String, bool)>;

/// A thread that watches the current read.
pub(crate) struct Watchdog(Arc<Mutex<Current>>);

impl Watchdog {
    pub(crate) fn new() -> Self {
        let current: Arc<Mutex<Current>> = Arc::default();
        let watched = Arc::downgrade(&current);
        std::thread::spawn(move || {
            while let Some(current) = watched.upgrade() {
                if let Some((start, what, reported)) = &mut *current.lock().unwrap()
                    && start.elapsed() > PATIENCE
                    && !*reported
                {
                    *reported = true;
                    eprintln!("slow: {what} takes more than {PATIENCE:?}");
                }
                drop(current);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        Self(current)
    }

    /// Runs `work`, and returns its result and its duration.
    pub(crate) fn watch<T>(&self, what: String, work: impl FnOnce() -> T) -> (T, Duration) {
        let start = Instant::now();
        *self.0.lock().unwrap() = Some((start, what, false));
        let result = work();
        *self.0.lock().unwrap() = None;
        (result, start.elapsed())
    }
}
