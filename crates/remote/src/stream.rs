//! The stream of record batches.

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::{Predicate, ReadMetrics};
use herringbone::modular_encryption::{KeyRequest, KeyStep};
use herringbone::push::{self, DetachedRowGroup, Needs, PushDecoder};
use herringbone::{Losses, ReadPlan, Result, Spawn};

use crate::fetches::Fetches;
use crate::keys::KeyService;
use crate::object::BoxFuture;
use crate::row_groups::RowGroups;
use crate::seat::Job;

/// A stream of a read's record batches.
///
/// You get the same batches as from a [`Reader`](herringbone::Reader), in the same order, and none
/// after an error.
///
/// Requests are only sent, and answers only taken, by the task polling the stream. This task also
/// decodes, unless the read's options have threads
/// ([`ReadOptions::spawn`](herringbone::ReadOptions::spawn)). In that case, the threads decode
/// while the task takes answers or works on the last batch. Each job decodes one batch. Up to
/// [`ReadOptions::threads`](herringbone::ReadOptions) completely fetched row groups are decoded
/// concurrently, within the read's memory. Your host is allowed to drop a job instead of running
/// it, and the task then decodes by itself.
///
/// Dropping the stream also drops its requests and decoders. But a thread in the middle of a batch
/// finishes decoding it before dropping its decoder.
///
/// ```
/// # use std::ops::Range;
/// # use bytes::Bytes;
/// # use herringbone_remote::{Answer, BoxFuture, Identity, Object};
/// # #[derive(Debug)]
/// # struct InMemory(Bytes);
/// # impl InMemory {
/// #     fn answer(&self, range: Range<u64>) -> BoxFuture<herringbone::Result<Answer>> {
/// #         let bytes = self.0.slice(range.start as usize..range.end as usize);
/// #         let identity = Identity::new(self.0.len() as u64).e_tag(Some("\"1\"".to_owned()));
/// #         Box::pin(async move { Ok(Answer { bytes, range, identity }) })
/// #     }
/// # }
/// # impl Object for InMemory {
/// #     fn name(&self) -> &str { "example.parquet" }
/// #     fn tail(&self, bytes: u64) -> BoxFuture<herringbone::Result<Answer>> {
/// #         let length = self.0.len() as u64;
/// #         self.answer(length.saturating_sub(bytes)..length)
/// #     }
/// #     fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<herringbone::Result<Answer>> {
/// #         self.answer(range)
/// #     }
/// # }
/// # futures::executor::block_on(async {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// # let object = std::sync::Arc::new(InMemory(std::fs::read("testdata/example.parquet")?.into()));
/// use herringbone::filter::col;
/// use herringbone::{OpenOptions, ReadOptions};
/// use herringbone_remote::RemoteFile;
///
/// // `object` has 24 rows, with `id` from 0 to 23.
/// let file = RemoteFile::open(object, OpenOptions::new()).await?;
/// let mut batches = file.read(ReadOptions::new().filter(col("id").ge(4)).columns(["id"]))?;
/// // A filter can be tightened before rows are decoded.
/// batches.tighten_filter(&col("id").ge(20))?;
/// let mut rows = 0;
/// while let Some(batch) = batches.next_batch().await? {
///     rows += batch.num_rows();
/// }
/// assert_eq!(rows, 4);
/// assert_eq!(batches.metrics().row_groups_pruned, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordBatchStream {
    plan: Arc<ReadPlan>,
    /// True if there is a new plan that the decoder doesn't have yet, because a thread has the
    /// decoder.
    is_plan_new: bool,
    state: State,
    fetches: Fetches,
    keys: Vec<Key>,
    key_service: Option<Arc<dyn KeyService>>,
    host: Option<Arc<dyn Spawn>>,
    row_groups: RowGroups,
    /// True if the decoder might have more completely fetched row groups.
    has_more_row_groups: bool,
    /// True if the decoder found nothing new to request when it last looked ahead.
    is_all_requested: bool,
    /// True if the last step was refused memory, but the pool might have it later.
    is_refused: bool,
    progress: Progress,
}

/// The whereabouts of the decoder.
enum State {
    /// Here, between two steps.
    Idle(Box<PushDecoder>),
    /// In a step, possibly on a thread.
    Decoding(Job<(Box<PushDecoder>, Step)>),
    /// Nowhere, because there are no more batches.
    Over,
}

/// The instructions for a decoder step.
struct Order {
    /// True if no earlier batches are decoded elsewhere. The step then decodes the next one, unless
    /// its row group is detached.
    is_due: bool,
    /// The most row groups to detach.
    room: usize,
    /// The number of buffered bytes below which the decoder should look ahead.
    look_ahead: u64,
}

/// The outcome of a decoder step.
#[derive(Default)]
struct Step {
    /// The decoder's result, if it was due.
    result: Option<Result<push::Poll>>,
    /// The ranges needed later, if the step looked ahead.
    ahead: Option<Result<Needs>>,
    /// Completely fetched row groups, to be decoded elsewhere.
    row_groups: Vec<DetachedRowGroup>,
    /// True if there might be more such row groups.
    has_more: bool,
}

impl Step {
    /// Detaches completely fetched row groups. If there are none, decodes the next batch or lists
    /// missing ranges. In between, lists the ranges needed later.
    fn run(decoder: &mut PushDecoder, order: &Order) -> Self {
        let mut step = Self::default();
        step.detach(decoder, order.room);
        if order.is_due && step.row_groups.is_empty() {
            step.result = Some(decoder.poll());
        }
        let waits = !matches!(step.result, None | Some(Ok(push::Poll::Batch(_))));
        let may_look = !waits && !decoder.is_refused_memory();
        if may_look && decoder.buffered_bytes() < order.look_ahead {
            step.ahead = Some(decoder.look_ahead());
        }
        if !waits {
            step.detach(decoder, order.room);
        }
        step
    }

    fn detach(&mut self, decoder: &mut PushDecoder, room: usize) {
        while self.row_groups.len() < room {
            let Some(row_group) = decoder.take_complete_row_group() else {
                self.has_more = false;
                return;
            };
            self.row_groups.push(row_group);
        }
        self.has_more = true;
    }
}

/// A requested key.
struct Key {
    request: KeyRequest,
    future: BoxFuture<Result<Vec<u8>>>,
    key: Option<Vec<u8>>,
}

/// The decoder's progress after each step, kept because the decoder might be with a thread when the
/// program asks.
struct Progress {
    rows_left: u64,
    metrics: ReadMetrics,
    losses: Losses,
}

/// The state of a read after a step.
enum After {
    Batch(RecordBatch),
    /// The decoder lacks bytes or keys.
    Waits,
    Finished,
}

impl Progress {
    /// Records a decoder's progress, since the decoder might be with a thread later.
    fn record(&mut self, decoder: &mut PushDecoder) {
        self.rows_left = decoder.rows_left();
        self.metrics = decoder.metrics();
        self.losses.append(decoder.take_losses());
    }
}

impl fmt::Debug for RecordBatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordBatchStream")
            .field("schema", self.plan.schema())
            .field("rows_left", &self.rows_left())
            .finish_non_exhaustive()
    }
}

impl RecordBatchStream {
    pub(crate) fn new(
        plan: Arc<ReadPlan>,
        fetches: Fetches,
        key_service: Option<Arc<dyn KeyService>>,
    ) -> Self {
        let mut decoder = PushDecoder::with_policy(plan.clone(), fetches.policy().clone());
        decoder.wait_for_memory(true);
        let threads = match &plan.options().spawn {
            Some(_) => herringbone_pipeline::threads(plan.options().threads),
            None => 0,
        };
        // We pass no limit, because whole row groups are fetched regardless of the policy for bytes
        // ahead.
        let fetched_bytes = match fetches.policy().in_memory {
            true => 0,
            false => usize::MAX,
        };
        push::keep_memory_of_read(&plan, threads.max(1), fetched_bytes);
        Self {
            row_groups: RowGroups::new(threads),
            host: plan.options().spawn.clone(),
            plan,
            is_plan_new: false,
            fetches,
            keys: Vec::new(),
            key_service,
            has_more_row_groups: false,
            is_all_requested: false,
            is_refused: false,
            progress: Progress {
                rows_left: decoder.rows_left(),
                metrics: decoder.metrics(),
                losses: Losses::default(),
            },
            state: State::Idle(Box::new(decoder)),
        }
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.plan.schema().clone()
    }

    /// Returns the read's plan.
    #[must_use]
    pub fn plan(&self) -> &Arc<ReadPlan> {
        &self.plan
    }

    /// Replaces the filter with an equal or tighter one. The new filter applies to all rows not yet
    /// tested by the old one, and it also prunes row groups not yet started. Note that rows already
    /// selected by the old filter are still returned, including row groups decoded ahead by
    /// threads.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the form of the new filter does
    /// not show that it [implies](Predicate::implies) the old one, because rows selected only by
    /// the new one might already be gone. Also fails with
    /// [Argument](herringbone::ErrorKind::Argument) if the filter does not fit the file, or if the
    /// read has a limit or an offset but no filter.
    pub fn tighten_filter(&mut self, filter: &Predicate) -> Result<()> {
        self.plan = Arc::new(self.plan.tightened(filter)?);
        self.is_plan_new = true;
        Ok(())
    }

    /// Returns an upper bound on the number of rows not yet returned.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        let detached = self.row_groups.rows_left();
        self.progress.rows_left.saturating_add(detached)
    }

    /// Returns the data lost to damage so far. This is always empty unless the options
    /// [tolerate](herringbone::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.progress.losses
    }

    /// Takes the losses since the last call. [`Self::losses`] does not return them again.
    #[must_use]
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.progress.losses)
    }

    /// Returns the read's metrics so far: row groups, rows, pages, requests, bytes and rounds.
    ///
    /// The requests for the footer are not included.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        let mut metrics = self.progress.metrics.clone();
        let counts = self.fetches.counts;
        metrics.fetched.requests = counts.requests;
        metrics.fetched.bytes = counts.bytes;
        metrics.rounds = counts.rounds;
        metrics
    }

    /// Returns the next batch, or `None` after the last one and after an error.
    ///
    /// You can drop the future at any time, because a later call continues where it left off.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone::ErrorKind::Corrupt) or
    /// [Unsupported](herringbone::ErrorKind::Unsupported) if the file's bytes cannot be decoded,
    /// with [Limit](herringbone::ErrorKind::Limit) if they need too much memory, and with
    /// [Key](herringbone::ErrorKind::Key) if they are not authentic. These errors have their
    /// location. Fails with [Io](herringbone::ErrorKind::Io) if the store fails, and with
    /// [Replaced](herringbone::ErrorKind::Replaced) if the object was replaced, both with the
    /// object's name and the range. Errors from your own predicates and key service keep their
    /// kind.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        poll_fn(|cx| self.poll_batch(cx)).await
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RecordBatch>>> {
        let batch = ready!(self.poll_decoder(cx));
        if !matches!(batch, Ok(Some(_))) {
            self.end();
        }
        Poll::Ready(batch)
    }

    fn poll_decoder(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RecordBatch>>> {
        loop {
            // We take answers here, even while threads decode.
            let fetched = self.fetches.poll(cx)?;
            match self.poll_step(cx)? {
                Some(After::Waits) => continue,
                Some(After::Finished) => return Poll::Ready(Ok(None)),
                Some(After::Batch(batch)) => return Poll::Ready(Ok(Some(self.emit(batch, cx)))),
                None => {}
            }
            self.row_groups.poll(self.host.as_deref(), cx);
            if let Some(batch) = self.row_groups.next_batch(&mut self.progress.losses) {
                return Poll::Ready(Ok(Some(self.emit(batch.batch, cx))));
            }
            let State::Idle(decoder) = &mut self.state else {
                return match self.state {
                    State::Over => Poll::Ready(Ok(None)),
                    _ => Poll::Pending,
                };
            };
            self.row_groups.put_back_failed(decoder);
            ready!(self.poll_keys(cx))?;
            ready!(self.poll_room(cx));
            let may_start = match self.row_groups.is_empty() {
                // While the decoder is waiting, an answer might already decide which later bytes it
                // needs.
                true => fetched.is_ready() || self.fetches.has_decided(),
                false => self.may_detach(),
            };
            if !may_start {
                return Poll::Pending;
            }
            self.start_step();
        }
    }

    /// Takes the outcome of the decoder's current step, if there is one.
    fn poll_step(&mut self, cx: &Context<'_>) -> Result<Option<After>> {
        let State::Decoding(job) = &self.state else {
            return Ok(None);
        };
        let Poll::Ready((mut decoder, step)) = job.poll(cx) else {
            return Ok(None);
        };
        let after = self.finish_step(step, &mut decoder);
        self.progress.record(&mut decoder);
        self.state = State::Idle(decoder);
        after.map(Some)
    }

    /// Sends the next requests and starts the next jobs before the program gets to work on a batch.
    /// Errors are kept for the next call.
    fn emit(&mut self, batch: RecordBatch, cx: &mut Context<'_>) -> RecordBatch {
        self.fetches.advance(cx);
        self.row_groups.poll(self.host.as_deref(), cx);
        let may_request = !self.is_all_requested && self.bytes_to_request() > 0;
        let has_work = self.row_groups.is_empty() || self.may_detach() || may_request;
        if self.host.is_some() && has_work {
            self.start_step();
        }
        batch
    }

    /// Returns true if a decoder step might be able to detach row groups.
    fn may_detach(&self) -> bool {
        let may_have_some = self.has_more_row_groups || self.fetches.has_arrived();
        self.row_groups.room() > 0 && may_have_some
    }

    /// Returns the number of bytes to request ahead now. We only use half of the bytes allowed
    /// ahead at a time, because topping up after each batch would make many small requests.
    fn bytes_to_request(&self) -> u64 {
        let ahead = self.fetches.policy().max_bytes_ahead / 2;
        ahead.saturating_sub(self.fetches.bytes_under_way())
    }

    /// Starts the decoder's next step with the arrived bytes, unless a step is already running.
    fn start_step(&mut self) {
        let mut decoder = match mem::replace(&mut self.state, State::Over) {
            State::Idle(decoder) => decoder,
            state => {
                self.state = state;
                return;
            }
        };
        if mem::take(&mut self.is_plan_new) {
            decoder.replace_plan(self.plan.clone());
        }
        self.is_all_requested &= !self.fetches.has_decided();
        self.fetches.supply(&mut decoder);
        let order = Order {
            is_due: self.row_groups.is_empty(),
            room: self.row_groups.room(),
            look_ahead: match self.is_all_requested {
                true => 0,
                false => self.bytes_to_request(),
            },
        };
        let step = move || {
            let step = Step::run(&mut decoder, &order);
            (decoder, step)
        };
        self.state = State::Decoding(Job::start(self.host.as_deref(), step));
    }

    /// Handles a step's outcome.
    fn finish_step(&mut self, step: Step, decoder: &mut PushDecoder) -> Result<After> {
        let row_groups = step.row_groups.into_iter();
        row_groups.for_each(|row_group| self.row_groups.push(row_group));
        self.has_more_row_groups = step.has_more;
        let result = match step.result {
            Some(Err(_)) if decoder.waits_for_memory() => {
                self.is_refused = true;
                None
            }
            result => result.transpose()?,
        };
        if let Some(needs) = step.ahead {
            self.is_all_requested = !self.fetches.plan_ahead(needs?, decoder);
        }
        match result {
            None => Ok(After::Waits),
            Some(push::Poll::Batch(batch)) => Ok(After::Batch(batch)),
            Some(push::Poll::Needs(needs)) => {
                self.fetches.plan(needs, decoder);
                self.is_all_requested = false;
                Ok(After::Waits)
            }
            Some(push::Poll::NeedsKeys(keys)) => self.request_keys(keys).map(|()| After::Waits),
            Some(push::Poll::Finished) => Ok(After::Finished),
        }
    }

    fn request_keys(&mut self, requests: Vec<KeyRequest>) -> Result<()> {
        for request in requests {
            let Some(service) = &self.key_service else {
                return KeyStep::NeedKey(request).ready();
            };
            self.keys.push(Key {
                future: service.key(&request),
                request,
                key: None,
            });
        }
        Ok(())
    }

    /// Waits until the pool has memory for a refused step, or definitely won't have it. In that
    /// case, the decoder makes a last attempt, since the read might be able to go on without the
    /// row group.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let (true, State::Idle(decoder)) = (self.is_refused, &mut self.state) {
            if !ready!(decoder.poll_room(cx)) {
                decoder.wait_no_longer();
            }
            self.is_refused = false;
        }
        Poll::Ready(())
    }

    /// Waits for keys and supplies the decoder with them.
    fn poll_keys(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        for key in self.keys.iter_mut().filter(|key| key.key.is_none()) {
            if let Poll::Ready(result) = key.future.as_mut().poll(cx) {
                key.key = Some(result?);
            }
        }
        if self.keys.iter().any(|key| key.key.is_none()) {
            return Poll::Pending;
        }
        if let State::Idle(decoder) = &self.state {
            for Key { request, key, .. } in mem::take(&mut self.keys) {
                decoder.supply_key(&request, &key.unwrap_or_default())?;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Drops the decoder and all requests.
    fn end(&mut self) {
        self.state = State::Over;
        self.fetches.clear();
        self.row_groups.clear();
        self.keys.clear();
        self.progress.rows_left = 0;
    }
}

impl Stream for RecordBatchStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_batch(cx).map(Result::transpose)
    }
}
