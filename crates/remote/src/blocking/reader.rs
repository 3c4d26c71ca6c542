//! Reading an object as a stream of bytes.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::source::Source as _;

use super::RemoteSource;

/// The number of bytes requested at once.
const REQUEST: u64 = 8 << 20;
/// The number of requests to send together, except at the start, where a single request is enough
/// for short files and first rows.
const MAX_REQUESTS: u64 = 4;

/// A sequential reader of an object. Use this for formats other than Parquet.
#[derive(Debug)]
pub struct RemoteReader {
    source: Arc<RemoteSource>,
    position: u64,
    /// The bytes read ahead from `position` on, in reverse order.
    arrived: Vec<Bytes>,
    /// The number of requests to send next. It grows as long as reads are sequential.
    requests: u64,
}

impl RemoteReader {
    /// Creates a reader, without a request.
    #[must_use]
    pub fn new(source: Arc<RemoteSource>) -> Self {
        Self {
            source,
            position: 0,
            arrived: Vec::new(),
            requests: 1,
        }
    }

    /// Returns the object's length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.source.len()
    }

    /// Requests the next bytes.
    fn fetch(&mut self) -> io::Result<()> {
        let length = self.source.len();
        let starts = (0..self.requests).map(|at| self.position + at * REQUEST);
        let ranges: Vec<Range<u64>> = starts
            .take_while(|start| *start < length)
            .map(|start| start..length.min(start + REQUEST))
            .collect();
        self.arrived = self.source.read_many(&ranges)?;
        self.arrived.reverse();
        self.requests = MAX_REQUESTS;
        Ok(())
    }
}

impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.source.len() || buffer.is_empty() {
            return Ok(0);
        }
        if self.arrived.is_empty() {
            self.fetch()?;
        }
        let Some(bytes) = self.arrived.last_mut() else {
            return Ok(0);
        };
        let part = bytes.split_to(bytes.len().min(buffer.len()));
        if bytes.is_empty() {
            self.arrived.pop();
        }
        if let Some(place) = buffer.get_mut(..part.len()) {
            place.copy_from_slice(&part);
        }
        self.position += part.len() as u64;
        Ok(part.len())
    }
}

impl Seek for RemoteReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.source.len().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        if position != self.position {
            self.position = position;
            self.arrived.clear();
        }
        Ok(position)
    }
}
