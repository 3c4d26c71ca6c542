//! A read that JavaScript drives.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::push::{Poll, PushDecoder, requests};
use herringbone::source::Source as _;
use herringbone::{Error, ReadPlan};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Result;
use crate::file::numbers;
use crate::options::checked;
use crate::output::{Format, Output};
use crate::source::Supplied;

/// A read of rows. `poll` returns the next step.
#[wasm_bindgen]
pub struct Read {
    decoder: PushDecoder,
    source: Arc<Supplied>,
    format: Format,
    schema: SchemaRef,
    /// The file that all pieces belong to, if they do.
    whole: Option<Output>,
    batch: Option<RecordBatch>,
    needs: Vec<Range<u64>>,
}

#[wasm_bindgen]
impl Read {
    /// Decodes until bytes are missing or a batch is there. Returns "needs", "batch" or "finished".
    ///
    /// # Errors
    /// Fails if the bytes cannot be decoded.
    pub fn poll(&mut self) -> Result<String> {
        loop {
            let needs = match checked(self.decoder.poll())? {
                Poll::Batch(batch) => {
                    self.batch = Some(batch);
                    return Ok("batch".to_owned());
                }
                Poll::Finished => return Ok("finished".to_owned()),
                Poll::NeedsKeys(keys) => {
                    let keys = keys.iter().map(|key| format!("{key:?}"));
                    let keys: Vec<String> = keys.collect();
                    let text = format!("these keys are missing: {}", keys.join(", "));
                    return checked(Err(Error::new(herringbone::ErrorKind::Key, text)));
                }
                Poll::Needs(needs) => needs,
            };
            let soon = needs.soon.into_iter().map(|soon| soon.range);
            let policy = self.source.fetch_policy();
            self.needs.clear();
            let mut is_supplied = false;
            // Bytes that came with the footer are not fetched again.
            let mut missing = Vec::new();
            for range in needs.now.into_iter().chain(soon) {
                match self.source.get(&range) {
                    Some(bytes) => {
                        self.decoder.supply(range.start, &bytes);
                        is_supplied = true;
                    }
                    None => missing.push(range),
                }
            }
            let merged = requests(missing, &policy).map(|request| request.range);
            self.needs.extend(merged);
            if !(is_supplied && self.needs.is_empty()) {
                return Ok("needs".to_owned());
            }
        }
    }

    /// Returns the ranges to supply.
    #[must_use]
    pub fn needs(&self) -> JsValue {
        numbers(&self.needs)
    }

    /// Takes bytes of the file from `offset` on.
    pub fn supply(&mut self, offset: f64, bytes: Vec<u8>) {
        self.decoder.supply(offset as u64, &Bytes::from(bytes));
    }

    /// Returns the number of rows of the batch that is there.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.batch.as_ref().map_or(0, RecordBatch::num_rows)
    }

    /// Returns the batch that is there, in the read's format.
    ///
    /// # Errors
    /// Fails if the format has no form for a type.
    pub fn take(&mut self) -> Result<Vec<u8>> {
        let batch = self.batch.take();
        let batch = batch.unwrap_or_else(|| RecordBatch::new_empty(self.schema.clone()));
        match &mut self.whole {
            Some(output) => checked(output.write(&batch)),
            None => {
                let mut output = checked(Output::new(self.format, &self.schema))?;
                let mut bytes = checked(output.write(&batch))?;
                bytes.extend(checked(output.finish())?);
                Ok(bytes)
            }
        }
    }

    /// Returns the end of the file that all pieces belong to.
    ///
    /// # Errors
    /// Fails if the file cannot be finished.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        match self.whole.take() {
            Some(output) => checked(output.finish()),
            None => Ok(Vec::new()),
        }
    }
}

impl Read {
    pub(crate) fn new(
        plan: ReadPlan,
        source: Arc<Supplied>,
        format: &str,
        is_whole: bool,
    ) -> Result<Self> {
        let schema = plan.schema().clone();
        let format = checked(format.parse::<Format>())?;
        let whole = match is_whole {
            true => Some(checked(Output::new(format, &schema))?),
            false => None,
        };
        let policy = source.fetch_policy();
        Ok(Self {
            decoder: PushDecoder::with_policy(Arc::new(plan), policy),
            source,
            format,
            schema,
            whole,
            batch: None,
            needs: Vec::new(),
        })
    }
}
