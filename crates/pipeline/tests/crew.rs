//! Tests crews of several threads: their order, helpers, panics and ends, and crews within tasks.

#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use herringbone_pipeline::{Crew, Shared, Spawn, Work};

type Job = Box<dyn FnOnce() + Send>;

/// The tasks 0 to `count`, each running a function. At most `ahead` tasks are started before they're due.
struct Numbered<F> {
    count: usize,
    ahead: usize,
    run: F,
}

#[derive(Default)]
struct State {
    taken: usize,
    due: usize,
    done: BTreeMap<usize, usize>,
}

impl<F: Fn(usize) -> usize + Send + Sync + 'static> Work for Numbered<F> {
    type State = State;
    type Task = usize;
    type Output = (usize, usize);
    type Scratch = ();

    fn take(&self, state: &mut State, _: &mut ()) -> Option<usize> {
        let task = state.taken;
        self.wants_help(state).then(|| {
            state.taken += 1;
            task
        })
    }

    fn wants_help(&self, state: &mut State) -> bool {
        state.taken < self.count.min(state.due + self.ahead)
    }

    fn run(&self, task: usize, _: &mut (), _: &Shared<Self>) -> (usize, usize) {
        (task, (self.run)(task))
    }

    fn finish(&self, state: &mut State, (task, output): (usize, usize)) {
        state.done.insert(task, output);
    }
}

type Numbers<F> = Crew<Numbered<F>>;

fn crew<F: Fn(usize) -> usize + Send + Sync + 'static>(
    (count, ahead): (usize, usize),
    threads: usize,
    host: Option<Arc<dyn Spawn>>,
    run: F,
) -> Numbers<F> {
    Crew::new(
        Numbered { count, ahead, run },
        State::default(),
        threads,
        host,
    )
}

fn next<F: Fn(usize) -> usize + Send + Sync + 'static>(crew: &mut Numbers<F>) -> Option<usize> {
    crew.next(|state| {
        let output = state.done.remove(&state.due)?;
        state.due += 1;
        Some(output)
    })
}

fn all<F: Fn(usize) -> usize + Send + Sync + 'static>(crew: &mut Numbers<F>) -> Vec<usize> {
    std::iter::from_fn(|| next(crew)).collect()
}

/// A host that passes jobs to a function.
struct Host<F>(F);

impl<F> fmt::Debug for Host<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host")
    }
}

impl<F: Fn(Job) + Send + Sync> Spawn for Host<F> {
    fn spawn(&self, job: Job) {
        (self.0)(job);
    }
}

fn host(spawn: impl Fn(Job) + Send + Sync + 'static) -> Option<Arc<dyn Spawn>> {
    Some(Arc::new(Host(spawn)))
}

/// Returns a host that starts one new thread per job.
///
/// Use it for tests with tasks waiting for each other, because the pool drops jobs while 1,024 others are queued.
fn new_threads() -> Option<Arc<dyn Spawn>> {
    host(|job| drop(std::thread::spawn(job)))
}

/// Returns hosts of every kind, and the process's pool.
fn hosts() -> Vec<Option<Arc<dyn Spawn>>> {
    let kept = Mutex::new(Vec::new());
    vec![
        None,
        new_threads(),
        host(|job| job()),
        host(drop),
        host(move |job| kept.lock().unwrap().push(job)),
    ]
}

#[test]
fn results_are_in_order_whoever_has_the_threads() {
    for threads in [0, 1, 2, 3, 8] {
        for host in hosts() {
            let run = |task| {
                // Later tasks finish earlier, so that results must be put in order.
                for _ in 0..(500 - task) % 7 {
                    std::thread::yield_now();
                }
                3 * task
            };
            let mut crew = crew((500, 10), threads, host, run);
            let tripled: Vec<usize> = (0..500).map(|task| 3 * task).collect();
            assert_eq!(all(&mut crew), tripled, "{threads} threads");
            assert_eq!(next(&mut crew), None);
        }
    }
}

#[test]
fn tasks_run_at_the_same_time_and_no_more_of_them_than_threads() {
    for threads in [2, 4] {
        let barrier = Barrier::new(threads);
        let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let seen = most.clone();
        let run = move |task| {
            seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            if task < threads {
                barrier.wait();
            }
            now.fetch_sub(1, Ordering::SeqCst);
            task
        };
        assert_eq!(
            all(&mut crew((200, 100), threads, new_threads(), run)).len(),
            200
        );
        assert_eq!(most.load(Ordering::SeqCst), threads);
    }
}

/// Sums the tasks in a tree of crews, one per node.
fn tree(depth: usize, host: Option<Arc<dyn Spawn>>) -> usize {
    let inner = host.clone();
    let run = move |task| match depth {
        0 => task,
        _ => tree(depth - 1, inner.clone()),
    };
    all(&mut crew((3, 3), 3, host, run)).iter().sum()
}

#[test]
fn tasks_have_crews_of_their_own_deeper_than_there_are_threads() {
    for host in hosts() {
        // There are 3^7 leaf crews with the sum 0 + 1 + 2.
        assert_eq!(tree(7, host), 6561);
    }
    // A crew is within a task within a task, fifty levels deep, and the outer tasks are all waiting.
    fn line(depth: usize) -> usize {
        let run = move |_| if depth == 0 { 1 } else { 1 + line(depth - 1) };
        all(&mut crew((1, 1), 4, None, run))[0]
    }
    assert_eq!(line(50), 51);
}

#[test]
fn the_first_panic_of_a_task_reaches_the_caller() {
    for threads in [1, 4] {
        for host in hosts() {
            let run = |task| match task {
                30 => std::panic::panic_any("task 30"),
                task => task,
            };
            let mut crew = crew((100, 5), threads, host, run);
            let panic = catch_unwind(AssertUnwindSafe(|| all(&mut crew))).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"task 30"));
            // The crew doesn't wait for the lost task.
            let panic = catch_unwind(AssertUnwindSafe(|| next(&mut crew))).unwrap_err();
            let message: &&str = panic.downcast_ref().unwrap();
            assert!(message.contains("panicked before"));
        }
    }
}

/// The caller must be woken, because it sleeps while its helper has the only task.
#[test]
fn a_panic_wakes_the_caller() {
    let (begun, begins) = mpsc::channel();
    let begins = Mutex::new(begins);
    let caller = std::thread::current().id();
    let run = move |task| {
        if std::thread::current().id() == caller {
            // The other task has started.
            begins.lock().unwrap().recv().unwrap();
            return task;
        }
        begun.send(()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        std::panic::panic_any("a helper's")
    };
    let mut crew = crew((2, 2), 2, new_threads(), run);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        crew.next(|state| (state.done.len() == 2).then_some(()))
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"a helper's"));
}

#[test]
fn a_crew_that_is_dropped_lets_its_tasks_end_and_begins_no_more() {
    for round in 0..50 {
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counts = (begun.clone(), ended.clone());
        let run = move |task| {
            counts.0.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(200));
            counts.1.fetch_add(1, Ordering::SeqCst);
            task
        };
        let mut crew = crew((1000, 1000), 4, None, run);
        for _ in 0..round % 5 {
            next(&mut crew).unwrap();
        }
        drop(crew);
        // Only this test still refers to the counts, so the work was dropped, even if helpers start later.
        let all_begun = Arc::try_unwrap(begun).unwrap().into_inner();
        assert_eq!(Arc::try_unwrap(ended).unwrap().into_inner(), all_begun);
        assert!(all_begun < 1000);
    }
}

/// A job that a host retains must not keep the work alive.
#[test]
fn a_job_that_never_runs_holds_no_work() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let jobs = kept.clone();
    let held = Arc::new(());
    let work = held.clone();
    let run = move |task| task + Arc::strong_count(&work) - 2;
    let mut crew = crew(
        (100, 100),
        4,
        host(move |job| jobs.lock().unwrap().push(job)),
        run,
    );
    assert_eq!([next(&mut crew), next(&mut crew)], [Some(0), Some(1)]);
    drop(crew);
    assert_eq!(Arc::strong_count(&held), 1);
    let jobs = std::mem::take(&mut *kept.lock().unwrap());
    // The crew has requested all three of its helpers.
    assert_eq!(jobs.len(), 3);
    jobs.into_iter().for_each(|job| job());
}

/// A task that splits off parts of itself and waits until another thread has finished a part.
struct Parts;

#[derive(Default)]
struct PartsState {
    is_begun: bool,
    waiting: Vec<mpsc::Sender<()>>,
    done: bool,
}

enum Part {
    Whole,
    Part(mpsc::Sender<()>),
}

impl Work for Parts {
    type State = PartsState;
    type Task = Part;
    type Output = bool;
    type Scratch = ();

    fn take(&self, state: &mut PartsState, _: &mut ()) -> Option<Part> {
        if !std::mem::replace(&mut state.is_begun, true) {
            return Some(Part::Whole);
        }
        state.waiting.pop().map(Part::Part)
    }

    fn wants_help(&self, state: &mut PartsState) -> bool {
        !state.is_begun || !state.waiting.is_empty()
    }

    fn run(&self, task: Part, _: &mut (), shared: &Shared<Self>) -> bool {
        match task {
            Part::Whole => {
                let (done, is_done) = mpsc::channel();
                shared.update(|state| state.waiting.push(done));
                is_done.recv_timeout(Duration::from_secs(60)).is_ok()
            }
            Part::Part(done) => {
                done.send(()).unwrap();
                false
            }
        }
    }

    fn finish(&self, state: &mut PartsState, is_whole: bool) {
        state.done |= is_whole;
    }
}

#[test]
fn what_a_task_hands_out_is_done_while_it_runs() {
    for _ in 0..200 {
        let mut crew = Crew::new(Parts, PartsState::default(), 2, new_threads());
        assert_eq!(crew.next(|state| state.done.then_some(())), Some(()));
    }
}

#[test]
fn scratch_stays_with_the_crew() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    struct Scratch;
    impl Default for Scratch {
        fn default() -> Self {
            MADE.fetch_add(1, Ordering::SeqCst);
            Self
        }
    }
    struct Count;
    impl Work for Count {
        type State = (usize, usize);
        type Task = ();
        type Output = ();
        type Scratch = Scratch;

        fn take(&self, state: &mut (usize, usize), _: &mut Scratch) -> Option<()> {
            state.0 = state.0.checked_sub(1)?;
            Some(())
        }

        fn wants_help(&self, state: &mut (usize, usize)) -> bool {
            state.0 > 0
        }

        fn run(&self, (): (), _: &mut Scratch, _: &Shared<Self>) {
            std::thread::yield_now();
        }

        fn finish(&self, state: &mut (usize, usize), (): ()) {
            state.1 += 1;
        }
    }
    let mut crew = Crew::new(Count, (0, 0), 3, None);
    for round in 1..=100 {
        crew.update(|state| state.0 = 20);
        crew.next(|state| (state.1 == 20 * round).then_some(()))
            .unwrap();
    }
    assert_eq!(crew.look(|state| *state), (0, 2000));
    let made = MADE.load(Ordering::SeqCst);
    assert!((1..=3).contains(&made), "{made} for three threads");
}
