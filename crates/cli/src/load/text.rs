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
            let blank = rest
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            // Blanks may be a field of CSV, but then no line ends with them.
            let ended = rest.get(..blank)?.iter().rposition(|byte| *byte == b'\n');
            let (before, row) = rest.split_at(ended.map_or(0, |at| at + 1));
            line += line_ends(before);
            let taken = match decoder.decode(row) {
                Ok(taken) => taken,
                Err(error) => return Some((line, error)),
            };
            if let Err(error) = decoder.flush() {
                return Some((line, error));
            }
            if taken == 0 {
                return None;
            }
            let (row, after) = row.split_at(taken);
            line += line_ends(row);
            rest = after;
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
