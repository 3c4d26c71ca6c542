//! A read's requests, whether queued, in flight or answered.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use herringbone::push::{FetchPolicy, Needs, PushDecoder};
use herringbone::{Error, ErrorKind, Result};
use herringbone_core::fetch::{Tail, bytes, requests_within, union, without};

use crate::chunk_objects::Objects;
use crate::object::BoxFuture;

/// A read's requests. Dropping them cancels any in flight.
pub(crate) struct Fetches {
    objects: Arc<Objects>,
    policy: FetchPolicy,
    /// The file's last bytes, fetched along with the footer.
    tail: Tail,
    /// The ranges that the decoder is waiting for, without any bytes already supplied.
    now: Vec<Range<u64>>,
    /// True if the decoder was waiting for bytes when it was last supplied. Used to count rounds.
    waited: bool,
    /// The ranges that decide which further ranges the decoder needs.
    deciding: Vec<Range<u64>>,
    /// The queued requests, urgent ones first.
    waiting: VecDeque<Range<u64>>,
    sent: Vec<Sent>,
    pub(crate) counts: Counts,
}

/// Counts of requests, of requested bytes, and of rounds, that is, of times that the decoder had to
/// wait.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) rounds: u64,
}

struct Sent {
    range: Range<u64>,
    state: SentState,
}

enum SentState {
    InFlight(BoxFuture<Result<Bytes>>),
    /// The answer, until the decoder takes it.
    Arrived(Bytes),
    /// The error, until the decoder needs these bytes.
    Failed(Option<Error>),
}

impl Fetches {
    pub(crate) fn new(objects: Arc<Objects>, policy: FetchPolicy, tail: Tail) -> Self {
        Self {
            objects,
            policy,
            tail,
            now: Vec::new(),
            waited: false,
            deciding: Vec::new(),
            waiting: VecDeque::new(),
            sent: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Plans requests for the ranges that the decoder is waiting for, and for those it needs soon.
    pub(crate) fn plan(&mut self, needs: Needs, decoder: &mut PushDecoder) {
        self.now = needs.now.clone();
        self.plan_all(needs, decoder);
        self.counts.rounds += u64::from(self.lacks_bytes() && !self.waited);
    }

    /// Plans requests for ranges that the decoder needs later. Returns false if all of them are
    /// already requested.
    pub(crate) fn plan_ahead(&mut self, needs: Needs, decoder: &mut PushDecoder) -> bool {
        self.plan_all(needs, decoder);
        !self.waiting.is_empty()
    }

    /// Plans requests for new ranges, supplying the decoder with any bytes that came with the
    /// footer.
    fn plan_all(&mut self, needs: Needs, decoder: &mut PushDecoder) {
        let deciding = needs.soon.iter().filter(|soon| soon.decides);
        self.deciding = deciding.map(|soon| soon.range.clone()).collect();
        let soon: Vec<_> = needs.soon.into_iter().map(|soon| soon.range).collect();
        let all = union([&*needs.now, &*soon].concat());
        self.supply_tail(&all, decoder);
        if decoder.is_refused_memory() {
            let now = &self.now;
            self.sent.retain(|sent| overlaps(&sent.range, now));
        }
        self.waiting = self.requests(&all, &needs.now, decoder);
        if !decoder.reserve_in_flight(self.bytes_ahead()) {
            // There's no memory for bytes ahead, so we only request the ranges that the decoder is
            // waiting for.
            self.waiting = self.requests(&self.now, &[], decoder);
            decoder.reserve_in_flight(self.bytes_ahead());
        }
    }

    /// Returns the requests for the new parts of ranges, urgent ones first.
    fn requests(
        &self,
        ranges: &[Range<u64>],
        urgent: &[Range<u64>],
        decoder: &PushDecoder,
    ) -> VecDeque<Range<u64>> {
        let known: Vec<_> = self.sent.iter().map(|sent| sent.range.clone()).collect();
        let new = without(ranges, &union([known, vec![self.tail.range()]].concat()));
        let requests = requests_within(&new, &self.policy, decoder.free_memory());
        let (due, ahead): (Vec<_>, Vec<_>) = requests
            .into_iter()
            .partition(|range| overlaps(range, urgent));
        due.into_iter().chain(ahead).collect()
    }

    /// Supplies the parts of the ranges that came with the footer.
    fn supply_tail(&mut self, ranges: &[Range<u64>], decoder: &mut PushDecoder) {
        for range in ranges {
            let (head, rest) = self.tail.split(range);
            if !rest.is_empty() {
                decoder.supply(head.end, &rest);
            }
        }
        self.now = without(&self.now, &[self.tail.range()]);
    }

    /// Returns the number of outstanding bytes, not counting any that the decoder is waiting for.
    fn bytes_ahead(&self) -> u64 {
        let sent = self.sent.iter().map(|sent| &sent.range);
        let ranges: Vec<_> = sent.chain(&self.waiting).cloned().collect();
        bytes(&without(&union(ranges), &self.now))
    }

    /// Returns the number of outstanding bytes, queued or in flight or not yet supplied.
    pub(crate) fn bytes_under_way(&self) -> u64 {
        let sent = self.sent.iter().map(|sent| &sent.range);
        sent.chain(&self.waiting)
            .map(|range| range.end - range.start)
            .sum()
    }

    /// Sends requests and takes answers. Returns pending as long as the decoder is waiting for
    /// missing bytes.
    ///
    /// # Errors
    /// Returns the error of a request for such bytes. Fails with Replaced if the object was
    /// replaced.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.advance(cx);
        if let Some(error) = self.take_error() {
            return Poll::Ready(Err(error));
        }
        match self.lacks_bytes() {
            true => Poll::Pending,
            false => Poll::Ready(Ok(())),
        }
    }

    /// Sends queued requests within the policy's limit and takes answers.
    pub(crate) fn advance(&mut self, cx: &mut Context<'_>) {
        loop {
            self.send();
            let mut has_answers = false;
            for sent in &mut self.sent {
                let SentState::InFlight(future) = &mut sent.state else {
                    continue;
                };
                let Poll::Ready(answer) = future.as_mut().poll(cx) else {
                    continue;
                };
                has_answers = true;
                sent.state = match answer {
                    Ok(bytes) => SentState::Arrived(bytes),
                    Err(error) => SentState::Failed(Some(error)),
                };
            }
            if !has_answers || self.waiting.is_empty() {
                break;
            }
        }
    }

    fn send(&mut self) {
        let in_flight = self.sent.iter().filter(|sent| sent.is_in_flight()).count();
        let most = self.policy.max_requests_in_flight.max(1);
        for _ in in_flight..most {
            let Some(range) = self.waiting.pop_front() else {
                break;
            };
            self.counts.requests += 1;
            self.counts.bytes += range.end - range.start;
            let future = self.objects.range(range.clone());
            let state = SentState::InFlight(future);
            self.sent.push(Sent { range, state });
        }
    }

    /// Takes the error to return now. Other errors are kept back, because bytes ahead might turn
    /// out to be unnecessary.
    fn take_error(&mut self) -> Option<Error> {
        let now = &self.now;
        self.sent.iter_mut().find_map(|sent| match &mut sent.state {
            SentState::Failed(error) => error
                .take_if(|error| error.kind() == ErrorKind::Replaced || overlaps(&sent.range, now)),
            _ => None,
        })
    }

    /// Returns true if any bytes that the decoder is waiting for are still missing.
    fn lacks_bytes(&self) -> bool {
        let in_flight = self.sent.iter().filter(|sent| sent.is_in_flight());
        let mut missing = in_flight.map(|sent| &sent.range).chain(&self.waiting);
        missing.any(|range| overlaps(range, &self.now))
    }

    /// Returns true if an arrived answer decides which further ranges the decoder needs.
    pub(crate) fn has_decided(&self) -> bool {
        let arrived = |sent: &&Sent| matches!(sent.state, SentState::Arrived(_));
        let mut arrived = self.sent.iter().filter(arrived);
        arrived.any(|sent| overlaps(&sent.range, &self.deciding))
    }

    /// Returns true if any arrived answers have not been supplied yet.
    pub(crate) fn has_arrived(&self) -> bool {
        let arrived = |sent: &Sent| matches!(sent.state, SentState::Arrived(_));
        self.sent.iter().any(arrived)
    }

    /// Supplies the decoder with the arrived answers.
    pub(crate) fn supply(&mut self, decoder: &mut PushDecoder) {
        let (arrived, sent) = std::mem::take(&mut self.sent)
            .into_iter()
            .partition(|sent| matches!(sent.state, SentState::Arrived(_)));
        self.sent = sent;
        self.waited = self.lacks_bytes();
        self.now.clear();
        let arrived: Vec<Sent> = arrived;
        if arrived.is_empty() {
            return;
        }
        // From here on, the decoder itself counts the arrived bytes.
        decoder.reserve_in_flight(self.bytes_ahead());
        for Sent { range, state } in arrived {
            if let SentState::Arrived(bytes) = state {
                decoder.supply(range.start, &bytes);
            }
        }
    }

    /// Drops all requests, along with the bytes that came with the footer.
    pub(crate) fn clear(&mut self) {
        self.now.clear();
        self.waiting.clear();
        self.sent.clear();
        self.tail = Tail::default();
    }

    /// Returns the fetch policy.
    pub(crate) fn policy(&self) -> &FetchPolicy {
        &self.policy
    }
}

impl Sent {
    fn is_in_flight(&self) -> bool {
        matches!(self.state, SentState::InFlight(_))
    }
}

/// Returns true if a range overlaps any of the others.
fn overlaps(range: &Range<u64>, others: &[Range<u64>]) -> bool {
    let mut others = others.iter();
    others.any(|other| range.start < other.end && other.start < range.end)
}
