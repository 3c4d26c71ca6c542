//! Builds dictionary and run-end encoded columns, comparing values by their text.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use herringbone_arrow::array::types::{ArrowDictionaryKeyType, RunEndIndexType};
use herringbone_arrow::array::{ArrayRef, DictionaryArray, PrimitiveArray, RunArray};
use herringbone_arrow::buffer::ArrowNativeType as _;

use super::structs::arrow;
use super::{Column, ParseError, Result, Scalar, Slot};

/// A column whose values are encoded as keys.
pub(super) struct Dictionary<K: ArrowDictionaryKeyType> {
    values: Slot,
    known: HashMap<String, K::Native>,
    keys: Vec<Option<K::Native>>,
}

impl<K: ArrowDictionaryKeyType> Dictionary<K> {
    pub(super) fn new(values: Slot) -> Self {
        Self {
            values,
            known: HashMap::new(),
            keys: Vec::new(),
        }
    }
}

impl<K: ArrowDictionaryKeyType> Column for Dictionary<K> {
    fn null(&mut self) {
        self.keys.push(None);
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        let text = scalar.text();
        if let Some(key) = self.known.get(text) {
            self.keys.push(Some(*key));
            return Ok(());
        }
        let next = self.known.len();
        let key = K::Native::from_usize(next).ok_or_else(|| {
            ParseError::new(format!(
                "more than {next} different values close together, too many for keys of type {}",
                K::DATA_TYPE
            ))
        })?;
        self.values.scalar(scalar)?;
        self.known.insert(text.to_owned(), key);
        self.keys.push(Some(key));
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        self.known.clear();
        let keys = std::mem::take(&mut self.keys).into_iter();
        let keys: PrimitiveArray<K> = keys.collect();
        let array = DictionaryArray::try_new(keys, self.values.finish()?);
        Ok(Arc::new(array.map_err(arrow)?))
    }
}

/// A column that consists of runs of equal values.
pub(super) struct Runs<R> {
    values: Slot,
    /// The text of the last value. The inner `None` is a null.
    last: Option<Option<String>>,
    ends: Vec<usize>,
    count: usize,
    kind: PhantomData<R>,
}

impl<R> Runs<R> {
    pub(super) fn new(values: Slot) -> Self {
        Self {
            values,
            last: None,
            ends: Vec::new(),
            count: 0,
            kind: PhantomData,
        }
    }

    /// Counts a row. Returns true if it extends the last run, or false if it starts a new run.
    fn repeat(&mut self, text: Option<&str>) -> bool {
        self.count += 1;
        let same = self
            .last
            .as_ref()
            .is_some_and(|last| last.as_deref() == text);
        if let (true, Some(end)) = (same, self.ends.last_mut()) {
            *end = self.count;
            return true;
        }
        self.ends.push(self.count);
        self.last = Some(text.map(str::to_owned));
        false
    }
}

impl<R: RunEndIndexType> Column for Runs<R> {
    fn null(&mut self) {
        if !self.repeat(None) {
            self.values.fill();
        }
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        match self.repeat(Some(scalar.text())) {
            true => Ok(()),
            false => self.values.scalar(scalar),
        }
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        (self.last, self.count) = (None, 0);
        let ends = std::mem::take(&mut self.ends).into_iter();
        let ends: Option<Vec<R::Native>> = ends.map(R::Native::from_usize).collect();
        let ends = ends.ok_or_else(|| ParseError::new("more rows than the run ends can number"))?;
        let ends = PrimitiveArray::<R>::from_iter_values(ends);
        let runs = RunArray::try_new(&ends, &self.values.finish()?);
        Ok(Arc::new(runs.map_err(arrow)?))
    }
}
