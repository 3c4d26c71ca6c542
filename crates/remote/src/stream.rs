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
use herringbone::filter::ReadMetrics;
use herringbone::modular_encryption::{KeyRequest, KeyStep};
use herringbone::push::{self, Needs, PushDecoder};
use herringbone::{Losses, ReadPlan, Result, Spawn};

use crate::fetches::Fetches;
use crate::keys::KeyService;
use crate::object::BoxFuture;
use crate::seat::Job;

/// A stream of the record batches of a read.
///
/// The batches are those of a [`Reader`](herringbone::Reader), in the same order. After an error there are no more.
///
/// Only the task that polls the stream sends requests and takes their answers. It also decodes, unless the options of
/// the read have threads ([`ReadOptions::spawn`](herringbone::ReadOptions::spawn)). Then one of these decodes the next
/// batch, while the task takes answers or works on the last batch. A host that does not run the job may drop it; the
/// task then decodes.
///
/// Dropping the stream drops its requests and its decoder. A thread finishes the batch that it
/// decodes, and then drops the decoder.
pub struct RecordBatchStream {
    plan: Arc<ReadPlan>,
    state: State,
    fetches: Fetches,
    keys: Vec<Key>,
    key_service: Option<Arc<dyn KeyService>>,
    host: Option<Arc<dyn Spawn>>,
    /// True if everything was requested when the decoder last looked ahead.
    is_all_requested: bool,
    progress: Progress,
}

/// The place of the decoder.
enum State {
    /// Between steps.
    Idle(Box<PushDecoder>),
    /// In a step.
    Decoding(Job<(Box<PushDecoder>, Step)>),
    /// There are no more batches.
    Over,
}

/// The outcome of a step.
struct Step {
    result: Result<push::Poll>,
    /// The ranges needed later, if the step looked ahead after a batch.
    ahead: Option<Needs>,
}

/// Decodes the next batch, or lists missing ranges. If fewer than `look_ahead` bytes are buffered after that, it also
/// lists the ranges needed later.
fn step(decoder: &mut PushDecoder, look_ahead: u64) -> Step {
    let mut result = decoder.poll();
    let mut ahead = None;
    let may_look = decoder.buffered_bytes() < look_ahead && !decoder.is_refused_memory();
    if may_look && matches!(result, Ok(push::Poll::Batch(_))) {
        match decoder.look_ahead() {
            Ok(needs) => ahead = Some(needs),
            Err(error) => result = Err(error),
        }
    }
    Step { result, ahead }
}

/// A requested key.
struct Key {
    request: KeyRequest,
    future: BoxFuture<Result<Vec<u8>>>,
    key: Option<Vec<u8>>,
}

/// The numbers that the stream knows after a step.
struct Progress {
    rows_left: u64,
    metrics: ReadMetrics,
    losses: Losses,
}

/// The state of a read after a step.
enum After {
    Batch(RecordBatch),
    /// Bytes or keys are missing.
    Waits,
    Finished,
}

impl Progress {
    /// Records the progress of a decoder, which may be with a thread later.
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
        let decoder = PushDecoder::with_policy(plan.clone(), fetches.policy().clone());
        Self {
            host: plan.options().spawn.clone(),
            plan,
            fetches,
            keys: Vec::new(),
            key_service,
            is_all_requested: false,
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

    /// Returns the plan of the read.
    #[must_use]
    pub fn plan(&self) -> &Arc<ReadPlan> {
        &self.plan
    }

    /// Returns an upper bound on the number of rows not yet returned.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        self.progress.rows_left
    }

    /// Returns the data lost to damage so far, if the options [tolerate](herringbone::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.progress.losses
    }

    /// Takes the losses since the last call. [`Self::losses`] does not return them again.
    #[must_use]
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.progress.losses)
    }

    /// Returns the counts of the read so far: row groups, rows, pages, requests, bytes and rounds.
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
    /// The future may be dropped at any time. A later call continues after it.
    ///
    /// # Errors
    /// Errors in the file's bytes, with their location. Errors of the store, with the name of the object and the range:
    /// Io, or Replaced if the object was replaced. Errors of the key service.
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
            // While a thread decodes, answers are taken all the same.
            let fetched = self.fetches.poll(cx)?;
            if let State::Decoding(job) = &self.state {
                let (mut decoder, step) = ready!(job.poll(cx));
                let after = self.finish_step(step, &mut decoder);
                self.progress.record(&mut decoder);
                self.state = State::Idle(decoder);
                match after? {
                    After::Waits => continue,
                    After::Finished => return Poll::Ready(Ok(None)),
                    After::Batch(batch) => {
                        // The next requests are sent before the batch is worked on. An error waits for the next call.
                        self.fetches.advance(cx);
                        if self.host.is_some() {
                            self.start_step();
                        }
                        return Poll::Ready(Ok(Some(batch)));
                    }
                }
            }
            ready!(self.poll_keys(cx))?;
            // While the decoder waits, answers may decide which later bytes it needs.
            if fetched.is_pending() && !self.fetches.has_decided() {
                return Poll::Pending;
            }
            if let State::Over = self.state {
                return Poll::Ready(Ok(None));
            }
            self.start_step();
        }
    }

    /// Starts the next step of the decoder, with the bytes that arrived.
    fn start_step(&mut self) {
        let State::Idle(mut decoder) = mem::replace(&mut self.state, State::Over) else {
            return;
        };
        self.is_all_requested &= !self.fetches.has_decided();
        self.fetches.supply(&mut decoder);
        // Requests are made in lots of half of what may be ahead: one per batch would be many small ones.
        let ahead = self.fetches.policy().max_bytes_ahead / 2;
        let look_ahead = match self.is_all_requested {
            true => 0,
            false => ahead.saturating_sub(self.fetches.bytes_under_way()),
        };
        let step = move || {
            let step = step(&mut decoder, look_ahead);
            (decoder, step)
        };
        self.state = State::Decoding(Job::start(self.host.as_deref(), step));
    }

    /// Handles the outcome of a step.
    fn finish_step(&mut self, step: Step, decoder: &mut PushDecoder) -> Result<After> {
        match step.result? {
            push::Poll::Batch(batch) => {
                if let Some(needs) = step.ahead {
                    self.is_all_requested = !self.fetches.plan_ahead(needs, decoder);
                }
                Ok(After::Batch(batch))
            }
            push::Poll::Needs(needs) => {
                self.fetches.plan(needs, decoder);
                self.is_all_requested = false;
                Ok(After::Waits)
            }
            push::Poll::NeedsKeys(keys) => self.request_keys(keys).map(|()| After::Waits),
            push::Poll::Finished => Ok(After::Finished),
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

    /// Waits for keys, and supplies the decoder with them.
    fn poll_keys(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        for key in self.keys.iter_mut().filter(|it| it.key.is_none()) {
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
