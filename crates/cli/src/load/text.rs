//! Text into batches, with line numbers for what is wrong.
//!
//! The decoders know no lines. So the text of a batch is kept until the batch is there; if it does
//! not come about, its rows are decoded once more, one by one, up to the first that fails.

use std::io::BufRead;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::ArrowError;

use crate::failure::{Failure, Result};

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Turns text into rows.
pub(super) trait Decode {
    /// Bytes at the beginning of `text`, where a row may begin, that belong to lines without any.
    fn blank(&self, text: &[u8]) -> usize;

    /// Takes as many bytes as it likes; fewer than there are when a batch is full.
    fn decode(&mut self, text: &[u8]) -> Result<usize, ArrowError>;

    /// The rows so far.
    fn flush(&mut self) -> Result<Option<RecordBatch>, ArrowError>;
}

/// What to make decoders of.
pub(super) trait Text {
    /// A decoder of batches of so many rows; `first` where the text begins.
    fn decoder(&self, rows: usize, first: bool) -> Result<Box<dyn Decode>, ArrowError>;

    /// What is wrong, in words for somebody who sees the text.
    fn explain(&self, error: ArrowError) -> String;
}

/// The batches of a text.
pub(super) struct Batches<R, T> {
    name: String,
    input: R,
    text: T,
    decoder: Box<dyn Decode>,
    /// The text of the batch under construction.
    kept: Vec<u8>,
    /// The number of the line that it begins in.
    line: usize,
    first: bool,
    failed: bool,
}

impl<R: BufRead, T: Text> Batches<R, T> {
    pub(super) fn new(name: String, input: R, text: T) -> Result<Self> {
        let decoder = text
            .decoder(BATCH_ROWS, true)
            .map_err(|error| Failure::Data(format!("{name}: {}", text.explain(error))))?;
        Ok(Self {
            name,
            input,
            text,
            decoder,
            kept: Vec::new(),
            line: 1,
            first: true,
            failed: false,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let ended = self.fill()?;
            let batch = match self.decoder.flush() {
                Ok(batch) => batch,
                Err(error) => return Err(self.locate(error)),
            };
            // A header is no batch, but not the end either.
            if batch.is_some() || ended {
                self.line += line_ends(&self.kept);
                self.first = false;
                self.kept.clear();
                return Ok(batch);
            }
        }
    }

    /// Gives text to the decoder until it is full; true at the end of the text.
    fn fill(&mut self) -> Result<bool> {
        loop {
            let bytes = self
                .input
                .fill_buf()
                .map_err(|error| Failure::System(format!("{}: {error}", self.name)))?;
            let available = bytes.len();
            match self.decoder.decode(bytes) {
                Ok(taken) => {
                    self.kept
                        .extend_from_slice(bytes.get(..taken).unwrap_or(bytes));
                    self.input.consume(taken);
                    // A decoder wants to see the end.
                    if available == 0 || taken < available {
                        return Ok(available == 0);
                    }
                }
                Err(error) => {
                    self.kept.extend_from_slice(bytes);
                    return Err(self.locate(error));
                }
            }
        }
    }

    /// Finds the line of an error in the text of the batch.
    fn locate(&self, error: ArrowError) -> Failure {
        let (line, error) = self
            .first_failure()
            .unwrap_or_else(|| (self.line + line_ends(&self.kept), error));
        let text = self.text.explain(error);
        Failure::Data(format!("{}: line {line}: {text}", self.name))
    }

    fn first_failure(&self) -> Option<(usize, ArrowError)> {
        let mut decoder = self.text.decoder(1, self.first).ok()?;
        let mut line = self.line;
        let mut rest = self.kept.as_slice();
        loop {
            let (before, row) = rest.split_at_checked(decoder.blank(rest))?;
            line += line_ends(before);
            let taken = match decoder.decode(row) {
                Ok(taken) => taken,
                Err(error) => return Some((line, error)),
            };
            match decoder.flush() {
                Ok(None) if taken == 0 => return None,
                // The row is not complete: what is wrong there is wrong where it begins.
                Ok(None) if taken == row.len() => {}
                Ok(_) => line += line_ends(row.get(..taken)?),
                Err(error) => return Some((line, error)),
            }
            rest = row.get(taken..)?;
        }
    }
}

impl<R: BufRead, T: Text> Iterator for Batches<R, T> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.next_batch();
        self.failed = batch.is_err();
        batch.transpose()
    }
}

fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}
