//! Reads Arrow's dictionary arrays, taking their keys directly from the pages' indices.
//!
//! ```text
//! dictionary page  → values   of every array of the column chunk, decoded once
//! index pages      → keys
//! other pages      → keys that count up, and their values after those of the dictionary
//! ```
//!
//! If a dictionary page has more values than the keys can address, we can't use it this way, so its index pages are
//! treated like other pages. For example, a writer can end up with such a dictionary by merging several small ones, one
//! per batch.
//!
//! The values are a separate array, built by the layout for the value type.

use herringbone_arrow::array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{Array, ArrayRef, make_array};
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::data::transform::{Capacities, MutableArrayData};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, Error, Remedy, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::dictionary_keys::KeyBuilder;

use super::max_values;
use crate::array::{LeafArray, LeafType, leaf_array};
use crate::encoding::Rest;
use crate::encoding::dictionary::Indices;
use crate::malformed;

/// Returns the array for a leaf read as a dictionary, or `None` for any other leaf.
///
/// # Errors
/// Fails with the errors of the value type's layout.
pub(crate) fn dictionary_leaf_array(leaf: &LeafType) -> Result<Option<Box<dyn LeafArray>>> {
    let DataType::Dictionary(key, value) = &leaf.data_type else {
        return Ok(None);
    };
    let max_values = max_values(key)
        .ok_or_else(|| Error::argument(format!("{key} is not a dictionary key type")))?;
    let value = LeafType {
        data_type: value.as_ref().clone(),
        ..leaf.clone()
    };
    Ok(Some(Box::new(DictionaryLeaf {
        key: key.as_ref().clone(),
        max_values,
        keys: KeyBuilder::default(),
        entries: leaf_array(&value)?,
        others: leaf_array(&value)?,
        num_others: 0,
        dictionary: None,
        is_too_large: false,
        is_ordered: leaf.is_ordered,
        base: None,
        parts: Vec::new(),
        num_values: 0,
        closed_bytes: 0,
        page: Page::Others,
    })))
}

/// A dictionary array under construction.
struct DictionaryLeaf {
    key: DataType,
    /// The number of values addressable by the keys.
    max_values: usize,
    keys: KeyBuilder,
    /// The layout used to convert dictionary pages to arrays.
    entries: Box<dyn LeafArray>,
    /// The values from pages without indices, placed after all parts.
    others: Box<dyn LeafArray>,
    num_others: usize,
    /// The decoded dictionary page.
    dictionary: Option<ArrayRef>,
    /// The index of `dictionary`'s first value in the current array, once the dictionary has become one of the parts.
    base: Option<usize>,
    /// True if the dictionary page has more values than the keys can address.
    is_too_large: bool,
    /// True if the values' order is significant.
    is_ordered: bool,
    /// The first `num_values` values of the current array, in parts.
    parts: Vec<ArrayRef>,
    num_values: usize,
    /// The byte count of the non-dictionary parts.
    closed_bytes: usize,
    page: Page,
}

enum Page {
    Indices(Indices),
    Others,
}

impl DictionaryLeaf {
    /// Moves the values from pages without indices to the parts.
    fn close_others(&mut self) -> Result<()> {
        if self.num_others > 0 {
            self.closed_bytes += self.others.bytes();
            let values = self.others.finish(None)?;
            self.num_values += std::mem::take(&mut self.num_others);
            self.parts.push(values);
        }
        Ok(())
    }

    /// Adds the dictionary to the current array's parts unless it's already there. Returns the index of its first value
    /// and its length.
    fn open_dictionary(&mut self) -> Result<(usize, usize)> {
        let Some(dictionary) = self.dictionary.clone() else {
            return Err(Error::corrupt(
                "dictionary indices without a dictionary page",
            ));
        };
        let entries = dictionary.len();
        if let Some(base) = self.base {
            return Ok((base, entries));
        }
        self.close_others()?;
        let base = self.num_values;
        self.num_values += entries;
        if self.num_values > self.max_values {
            return Err(self.too_many(self.num_values));
        }
        self.parts.push(dictionary);
        self.base = Some(base);
        Ok((base, entries))
    }

    /// Returns the number of values in the current array.
    fn all_values(&self) -> usize {
        self.num_values + self.num_others
    }

    #[cold]
    fn too_many(&self, values: usize) -> Error {
        let what = match self.is_ordered {
            true => "an ordered dictionary",
            false => "a dictionary",
        };
        Error::unsupported(format!(
            "{what} of {values} values for keys of type {}",
            self.key
        ))
        .with_remedy(Remedy::IgnoreArrowSchema)
    }
}

impl LeafArray for DictionaryLeaf {
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        if num_values == 0 && !values.is_empty() {
            return Err(Error::corrupt("a dictionary page of 0 values is not empty"));
        }
        (self.dictionary, self.base) = (None, None);
        self.is_too_large = num_values > self.max_values;
        if self.is_too_large && self.is_ordered {
            return Err(self.too_many(num_values));
        }
        if self.is_too_large {
            return self.others.set_dictionary(values, num_values);
        }
        self.entries
            .set_page(Encoding::Plain, values.clone(), num_values)?;
        self.entries.append(num_values)?;
        self.entries.release_page();
        self.dictionary = Some(self.entries.finish(None)?);
        Ok(())
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.page = match encoding {
            Encoding::RleDictionary | Encoding::PlainDictionary if values.is_empty() => {
                self.others.set_page(Encoding::Plain, values, num_values)?;
                Page::Others
            }
            Encoding::RleDictionary | Encoding::PlainDictionary if !self.is_too_large => {
                Page::Indices(Indices::new(values)?)
            }
            _ => {
                self.others.set_page(encoding, values, num_values)?;
                Page::Others
            }
        };
        Ok(())
    }

    fn release_page(&mut self) {
        self.others.release_page();
        self.page = Page::Others;
    }

    fn values_that_fit(&mut self, n: usize, budget: usize) -> Result<usize> {
        let fitting = n.min(budget / size_of::<u32>());
        let values_left = self.max_values.saturating_sub(self.all_values());
        match &self.page {
            Page::Indices(_) if self.base.is_some() || self.all_values() == 0 => Ok(fitting),
            Page::Indices(_) => {
                let entries = self.dictionary.as_ref().map_or(0, |entries| entries.len());
                // If the dictionary doesn't fit here, we end the array so that the dictionary goes into a new one.
                Ok(if entries <= values_left { fitting } else { 0 })
            }
            Page::Others => {
                // Values can be much larger than keys, and only the values that fit need a key. So we count twice:
                // first without keys, then with keys for the values found.
                let fitting = self
                    .others
                    .values_that_fit(fitting.min(values_left), budget)?;
                let budget = budget.saturating_sub(fitting * size_of::<u32>());
                self.others.values_that_fit(fitting, budget)
            }
        }
    }

    fn most_bytes(&mut self, n: usize) -> usize {
        let keys = n.saturating_mul(size_of::<u32>());
        match self.page {
            Page::Indices(_) => keys,
            Page::Others => self.others.most_bytes(n).saturating_add(keys),
        }
    }

    fn dictionary_bytes(&self, page_bytes: usize, num_values: usize) -> usize {
        // This is an array of the entries, which might itself be built from a dictionary.
        let entries = self.entries.dictionary_bytes(page_bytes, num_values);
        entries.saturating_add(page_bytes)
    }

    fn page_bytes(&self, encoding: Encoding, value_bytes: usize) -> usize {
        self.others.page_bytes(encoding, value_bytes)
    }

    fn finishing_bytes(&self) -> usize {
        let width = self.key.primitive_width().unwrap_or_default();
        let keys = match width == size_of::<u32>() {
            true => 0,
            false => self.keys.len().saturating_mul(width),
        };
        if self.parts.len() + usize::from(self.num_others > 0) < 2 {
            return keys;
        }
        // All parts are concatenated into one new array.
        let parts = self.parts.iter().map(|part| slice_bytes(&part.to_data()));
        let parts = parts.fold(self.others.bytes(), usize::saturating_add);
        keys.saturating_add(parts)
    }

    fn borrows_pages(&self) -> bool {
        !self.parts.is_empty() || self.others.borrows_pages()
    }

    fn append(&mut self, n: usize) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        if matches!(self.page, Page::Indices(_)) {
            let (base, entries) = self.open_dictionary()?;
            if let Page::Indices(indices) = &mut self.page {
                let (indices, runs) = indices.parts();
                self.keys
                    .append_indices(indices, runs, n, base, entries)
                    .map_err(malformed)?;
            }
            return Ok(());
        }
        let base = self.all_values();
        if n > self.max_values.saturating_sub(base) {
            return Err(self.too_many(base.saturating_add(n)));
        }
        self.others.append(n)?;
        self.num_others += n;
        self.keys.append_sequence(base, n).map_err(malformed)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match &mut self.page {
            Page::Indices(indices) => indices.skip(n),
            Page::Others => self.others.skip(n),
        }
    }

    fn rest(&self) -> Rest<'_> {
        match &self.page {
            Page::Indices(indices) => indices.rest(),
            Page::Others => self.others.rest(),
        }
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        self.keys.expand(validity, start, slots).map_err(malformed)
    }

    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()> {
        let start = self.keys.len();
        self.append(wanted.len())?;
        self.keys.retain(start, wanted);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.keys.len() * size_of::<u32>() + self.closed_bytes + self.others.bytes()
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        if self.parts.is_empty()
            && self.num_others == 0
            && let Some(dictionary) = self.dictionary.clone()
        {
            // We return the dictionary even though no row uses a value.
            self.parts.push(dictionary);
        }
        if self.parts.is_empty() || self.num_others > 0 {
            let others = self.others.finish(None)?;
            self.parts.push(others);
        }
        let values = match self.parts.as_slice() {
            [one] => one.clone(),
            parts => concatenated(parts)?,
        };
        self.parts.clear();
        (self.num_values, self.num_others, self.base) = (0, 0, None);
        self.closed_bytes = 0;
        let keys = &mut self.keys;
        match self.key {
            DataType::Int8 => keys.finish::<Int8Type>(values, nulls),
            DataType::Int16 => keys.finish::<Int16Type>(values, nulls),
            DataType::Int32 => keys.finish::<Int32Type>(values, nulls),
            DataType::Int64 => keys.finish::<Int64Type>(values, nulls),
            DataType::UInt8 => keys.finish::<UInt8Type>(values, nulls),
            DataType::UInt16 => keys.finish::<UInt16Type>(values, nulls),
            DataType::UInt32 => keys.finish::<UInt32Type>(values, nulls),
            _ => keys.finish::<UInt64Type>(values, nulls),
        }
        .map_err(malformed)
    }
}

/// Concatenates the values of all `parts`.
///
/// # Errors
/// Fails with Unsupported if the value type's offsets cannot address all of them.
fn concatenated(parts: &[ArrayRef]) -> Result<ArrayRef> {
    let parts: Vec<_> = parts.iter().map(|part| part.to_data()).collect();
    let values = parts.iter().map(ArrayData::len).sum();
    let capacities = match parts.first().map(ArrayData::data_type) {
        Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary) => {
            let bytes = parts.iter().map(slice_bytes).sum();
            Capacities::Binary(values, Some(bytes))
        }
        _ => Capacities::Array(values),
    };
    let mut all = MutableArrayData::with_capacities(parts.iter().collect(), false, capacities);
    for (i, part) in parts.iter().enumerate() {
        all.try_extend(i, 0, part.len())
            .map_err(|error| Error::unsupported(error.to_string()))?;
    }
    Ok(make_array(all.freeze()))
}

/// Returns the byte count of a part's values. If the part is a slice of larger buffers, the rest of the buffers isn't
/// counted.
fn slice_bytes(part: &ArrayData) -> usize {
    part.get_slice_memory_size().unwrap_or(usize::MAX)
}
