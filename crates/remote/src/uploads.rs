//! An upload's requests, from its start over its parts to its end.

use std::future::poll_fn;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use herringbone::{Error, ErrorKind, Result};

use crate::object::BoxFuture;
use crate::parts::{MAX_PARTS, PartBuffer};
use crate::request::{named, with_message};
use crate::sink::{ObjectSink, Upload};

/// An upload's requests. Dropping them cancels any in flight, and aborts the upload if the sink has
/// a runtime.
#[derive(Debug)]
pub(crate) struct Uploads {
    sink: Arc<dyn ObjectSink>,
    state: State,
    in_flight: Vec<InFlight>,
    /// The most bytes in flight. A single part is always allowed, even if it is larger.
    max_bytes_in_flight: u64,
    /// The number of parts sent so far and their byte count.
    sent: (u64, u64),
}

enum State {
    /// No upload yet.
    None,
    Starting(BoxFuture<Result<Box<dyn Upload>>>),
    Started(Box<dyn Upload>),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Starting(_) => "Starting",
            Self::Started(_) => "Started",
        })
    }
}

struct InFlight {
    /// The part's number, counted from 1.
    number: u64,
    range: Range<u64>,
    future: BoxFuture<Result<()>>,
}

impl std::fmt::Debug for InFlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.number, self.range)
    }
}

impl Uploads {
    pub(crate) fn new(sink: Arc<dyn ObjectSink>, max_bytes_in_flight: u64) -> Self {
        Self {
            sink,
            state: State::None,
            in_flight: Vec::new(),
            max_bytes_in_flight,
            sent: (0, 0),
        }
    }

    /// Returns the number of bytes in flight.
    pub(crate) fn bytes_in_flight(&self) -> u64 {
        let ranges = self.in_flight.iter().map(|part| &part.range);
        ranges.map(|range| range.end - range.start).sum()
    }

    /// Polls the parts in flight.
    ///
    /// # Errors
    /// Returns the first error of a part, with the part's number and range.
    pub(crate) fn advance(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let mut first = None;
        self.in_flight
            .retain_mut(|part| match part.future.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(())) => false,
                Poll::Ready(Err(error)) => {
                    let Range { start, end } = part.range;
                    let what = format!("part {}, bytes {start}..{end}", part.number);
                    first.get_or_insert(named(self.sink.name(), &what, error));
                    false
                }
            });
        first.map_or(Ok(()), Err)
    }

    /// Sends a buffer's full parts. Returns pending while a part is waiting for others to arrive.
    ///
    /// # Errors
    /// Returns the store's errors, with the object's name. Fails with Limit if there are too many
    /// parts.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut PartBuffer,
    ) -> Poll<Result<()>> {
        loop {
            self.advance(cx)?;
            let Some(bytes) = buffer.next_len() else {
                return Poll::Ready(Ok(()));
            };
            let in_flight = self.bytes_in_flight();
            if in_flight > 0 && in_flight.saturating_add(bytes) > self.max_bytes_in_flight {
                return Poll::Pending;
            }
            ready!(self.poll_start(cx))?;
            if let Some(part) = buffer.take_full() {
                self.send(part)?;
            }
        }
    }

    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let State::None = self.state {
            self.state = State::Starting(self.sink.start());
        }
        if let State::Starting(future) = &mut self.state {
            let started = ready!(future.as_mut().poll(cx));
            // We must not poll the future again, so we drop it.
            self.state = State::None;
            let what = "the start of the upload";
            let started = started.map_err(|error| named(self.sink.name(), &what, error))?;
            self.state = State::Started(started);
        }
        Poll::Ready(Ok(()))
    }

    fn send(&mut self, part: Bytes) -> Result<()> {
        let (parts, start) = self.sent;
        if parts == MAX_PARTS {
            let message = format!(
                "{}: {start} bytes are {MAX_PARTS} parts, which is the most that stores accept, and the file is longer; \
                 raise `part_bytes`, or allow parts to grow",
                self.sink.name()
            );
            return Err(Error::new(ErrorKind::Limit, message));
        }
        if let State::Started(upload) = &mut self.state {
            let end = start + part.len() as u64;
            self.sent = (parts + 1, end);
            self.in_flight.push(InFlight {
                number: parts + 1,
                range: start..end,
                future: upload.put_part(part),
            });
        }
        Ok(())
    }

    /// Returns true if an upload in parts has started.
    #[cfg(feature = "blocking")]
    pub(crate) fn is_started(&self) -> bool {
        !matches!(self.state, State::None)
    }

    /// Waits for all parts in flight.
    pub(crate) fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        match self.advance(cx) {
            Ok(()) if !self.in_flight.is_empty() => Poll::Pending,
            done => Poll::Ready(done),
        }
    }

    /// Returns the number of bytes sent in parts.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.sent.1
    }

    /// Sends the rest of a buffer in parts, leaving only the final request. For a small file, this
    /// returns its bytes instead, because they will be that request.
    ///
    /// # Errors
    /// Returns the store's errors, with the object's name.
    pub(crate) async fn send_rest(&mut self, mut buffer: PartBuffer) -> Result<Option<Bytes>> {
        let is_small = matches!(self.state, State::None) && !buffer.has_full();
        buffer.end();
        if is_small {
            return Ok(Some(buffer.take_full().unwrap_or_default()));
        }
        poll_fn(|cx| self.poll_send(cx, &mut buffer)).await?;
        poll_fn(|cx| self.poll_sent(cx)).await?;
        Ok(None)
    }

    /// Creates the object. A small file takes a single request with its bytes. Any other file is
    /// assembled from its parts once all of them have arrived.
    ///
    /// # Errors
    /// Returns the store's errors, with the object's name.
    pub(crate) async fn complete(&mut self, small: Option<Bytes>) -> Result<()> {
        if let Some(bytes) = small {
            let what = format!("{} bytes", bytes.len());
            let put = self.sink.put(bytes).await;
            return put.map_err(|error| named(self.sink.name(), &what, error));
        }
        if let State::Started(upload) = &mut self.state {
            let completed = upload.complete().await;
            let what = format!("the end of the upload of {} parts", self.sent.0);
            completed.map_err(|error| named(self.sink.name(), &what, error))?;
            self.state = State::None;
        }
        Ok(())
    }

    /// Aborts the upload because of an error, returning that error. If the abort fails too, its
    /// error is added to the message.
    pub(crate) async fn abort_after(&mut self, error: Error) -> Error {
        match self.abort().await {
            Ok(()) => error,
            Err(other) => {
                let message = format!("{}; then {}", error.message(), other.message());
                with_message(error, message)
            }
        }
    }

    /// Cancels all requests and removes the parts from the store.
    ///
    /// # Errors
    /// Returns the store's error, with the object's name.
    pub(crate) async fn abort(&mut self) -> Result<()> {
        self.in_flight.clear();
        if let State::Starting(future) = &mut self.state {
            // If the upload couldn't be started, there's nothing to remove.
            self.state = match future.await {
                Ok(upload) => State::Started(upload),
                Err(_) => State::None,
            };
        }
        // We keep the state until the store has answered. If this function's future is dropped
        // before that, the upload is then aborted once more.
        if let State::Started(upload) = &mut self.state {
            let aborted = upload.abort().await;
            self.state = State::None;
            let what = "the abort of the upload, whose parts may stay in the store";
            aborted.map_err(|error| named(self.sink.name(), &what, error))?;
        }
        Ok(())
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        self.in_flight.clear();
        // We drop any errors, because there's nobody left to receive them.
        let abort: BoxFuture<()> = match mem::replace(&mut self.state, State::None) {
            State::None => return,
            State::Starting(future) => Box::pin(async move {
                if let Ok(mut upload) = future.await {
                    drop(upload.abort().await);
                }
            }),
            State::Started(mut upload) => Box::pin(async move { drop(upload.abort().await) }),
        };
        self.sink.run_detached(abort);
    }
}
