//! Builds lists of every kind, and maps.

use std::sync::Arc;

use herringbone_arrow::array::{
    ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, StructArray,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::{FieldRef, Fields};
use herringbone_text::json::{JsonReader, JsonToken};

use super::structs::{arrow, nulls, whole};
use super::{Column, ParseError, Result, Scalar, Slot};

/// A function that makes a list array from offsets, nulls and items. As usual in Arrow, there is
/// one more offset than there are lists.
pub(super) type Make = Box<dyn Fn(Vec<usize>, Option<NullBuffer>, ArrayRef) -> Result<ArrayRef>>;

/// A column of lists.
pub(super) struct Lists {
    items: Slot,
    /// The list offsets: a zero, then the end of each list.
    ends: Vec<usize>,
    count: usize,
    valid: Vec<bool>,
    /// The number of items per list, for lists of fixed length.
    length: Option<usize>,
    /// The byte count of a null among the items.
    item_bytes: u64,
    make: Make,
}

/// The maximum byte count of a batch's items, for lists of fixed length.
const MAX_ITEM_BYTES: u64 = 1 << 30;

impl Lists {
    pub(super) fn new(items: Slot, length: Option<usize>, item_bytes: u64, make: Make) -> Self {
        Self {
            items,
            item_bytes,
            ends: vec![0],
            count: 0,
            valid: Vec::new(),
            length,
            make,
        }
    }
}

impl Column for Lists {
    fn null(&mut self) {
        for _ in 0..self.length.unwrap_or(0) {
            self.items.fill();
            self.count += 1;
        }
        self.ends.push(self.count);
        self.valid.push(false);
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        match scalar {
            Scalar::Cell(text) => whole(self, text),
            _ => Err(ParseError::invalid(scalar, &"array", "")),
        }
    }

    fn array(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        let before = self.count;
        while json.item()? {
            self.items.json(json)?;
            self.count += 1;
            if (self.count as u64).saturating_mul(self.item_bytes) > MAX_ITEM_BYTES {
                let text = format!("items of a fixed length need more than {MAX_ITEM_BYTES} bytes");
                return Err(ParseError::new(text));
            }
        }
        let found = self.count - before;
        match self.length {
            Some(length) if length != found => {
                let text = format!("expected an array of {length} items, found {found}");
                return Err(ParseError::new(text));
            }
            _ => {}
        }
        self.ends.push(self.count);
        self.valid.push(true);
        Ok(())
    }

    fn object(&mut self, _json: &mut JsonReader<'_>) -> Result<()> {
        Err(ParseError::new("expected an array, found an object"))
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let offsets = std::mem::replace(&mut self.ends, vec![0]);
        self.count = 0;
        (self.make)(offsets, nulls(&mut self.valid).0, self.items.finish()?)
    }
}

fn fitting<O: OffsetSizeTrait>(offsets: Vec<usize>) -> Result<ScalarBuffer<O>> {
    let fitting: Option<Vec<O>> = offsets.into_iter().map(O::from_usize).collect();
    Ok(fitting.ok_or_else(too_many)?.into())
}

fn too_many() -> ParseError {
    ParseError::new("more items than the offsets of the type can number")
}

/// Returns the function that makes contiguous lists.
pub(super) fn lists<O: OffsetSizeTrait>(item: FieldRef) -> Make {
    Box::new(move |offsets, nulls, items| {
        let offsets = OffsetBuffer::new(fitting::<O>(offsets)?);
        let array = GenericListArray::try_new(item.clone(), offsets, items, nulls);
        Ok(Arc::new(array.map_err(arrow)?))
    })
}

/// Returns the function that makes lists with offsets and sizes.
pub(super) fn views<O: OffsetSizeTrait>(item: FieldRef) -> Make {
    Box::new(move |mut offsets, nulls, items| {
        let ends = offsets.iter().skip(1);
        let sizes = ends.zip(&offsets).map(|(end, start)| end - start).collect();
        offsets.pop();
        let (offsets, sizes) = (fitting::<O>(offsets)?, fitting::<O>(sizes)?);
        let array = GenericListViewArray::try_new(item.clone(), offsets, sizes, items, nulls);
        Ok(Arc::new(array.map_err(arrow)?))
    })
}

/// Returns the function that makes lists of fixed length.
pub(super) fn fixed(item: FieldRef, length: i32) -> Make {
    Box::new(move |offsets, nulls, items| {
        let count = offsets.len().saturating_sub(1);
        let array =
            FixedSizeListArray::try_new_with_length(item.clone(), length, items, nulls, count);
        Ok(Arc::new(array.map_err(arrow)?))
    })
}

/// A column of maps. In the text, a map is an array of `[key, value]`, or an object.
pub(super) struct Maps {
    pub(super) keys: Slot,
    pub(super) values: Slot,
    pub(super) entries: FieldRef,
    pub(super) fields: Fields,
    pub(super) ordered: bool,
    pub(super) ends: Vec<usize>,
    pub(super) count: usize,
    pub(super) valid: Vec<bool>,
}

impl Maps {
    fn end(&mut self) {
        self.ends.push(self.count);
        self.valid.push(true);
    }
}

impl Column for Maps {
    fn null(&mut self) {
        self.ends.push(self.count);
        self.valid.push(false);
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        match scalar {
            Scalar::Cell(text) => whole(self, text),
            _ => Err(ParseError::invalid(scalar, &"array of [key, value]", "")),
        }
    }

    fn array(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        let mismatch = || Err(ParseError::new("expected an array of [key, value]"));
        while json.item()? {
            if !matches!(json.value()?, JsonToken::Array) || !json.item()? {
                return mismatch();
            }
            self.keys.json(json)?;
            if !json.item()? {
                return mismatch();
            }
            self.values.json(json)?;
            if json.item()? {
                return mismatch();
            }
            self.count += 1;
        }
        self.end();
        Ok(())
    }

    fn object(&mut self, json: &mut JsonReader<'_>) -> Result<()> {
        while let Some(key) = json.key()? {
            self.keys.scalar(Scalar::Text(&key.to_cow()))?;
            self.values.json(json)?;
            self.count += 1;
        }
        self.end();
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let offsets = std::mem::replace(&mut self.ends, vec![0]);
        self.count = 0;
        let columns = vec![self.keys.finish()?, self.values.finish()?];
        let entries = StructArray::try_new(self.fields.clone(), columns, None).map_err(arrow)?;
        let offsets = OffsetBuffer::new(fitting::<i32>(offsets)?);
        let (entry, nulls) = (self.entries.clone(), nulls(&mut self.valid).0);
        let maps = MapArray::try_new(entry, offsets, entries, nulls, self.ordered);
        Ok(Arc::new(maps.map_err(arrow)?))
    }
}
