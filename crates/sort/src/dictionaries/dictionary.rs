//! The values of one dictionary.

use std::collections::HashMap;

use herringbone_arrow::array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{
    Array as _, ArrayRef, DictionaryArray, UInt32Array, make_array, new_empty_array,
};
use herringbone_arrow::buffer::{ArrowNativeType as _, Buffer};
use herringbone_arrow::data::{ArrayData, ArrayDataBuilder};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use super::super::gather::{RowPosition, gather};
use super::super::unsortable;
use super::too_few;
use super::value_bytes::bytes_of;

/// Calls a function with the Arrow type of dictionary keys as its type parameter.
macro_rules! with_keys {
    ($key_type:expr, $function:ident, $($argument:expr),*) => {
        match $key_type {
            DataType::Int8 => $function::<Int8Type>($($argument),*),
            DataType::Int16 => $function::<Int16Type>($($argument),*),
            DataType::Int32 => $function::<Int32Type>($($argument),*),
            DataType::Int64 => $function::<Int64Type>($($argument),*),
            DataType::UInt8 => $function::<UInt8Type>($($argument),*),
            DataType::UInt16 => $function::<UInt16Type>($($argument),*),
            DataType::UInt32 => $function::<UInt32Type>($($argument),*),
            DataType::UInt64 => $function::<UInt64Type>($($argument),*),
            other => Err(Error::unsupported(format!("dictionary keys of type {other}"))),
        }
    };
}
/// One dictionary's values, merged from all batches.
pub(super) struct Dictionary {
    /// The column name.
    column: String,
    is_ordered: bool,
    /// The values that batches added.
    parts: Vec<ArrayRef>,
    /// All values as one array, built on first use.
    whole: Option<ArrayRef>,
    num_values: usize,
    /// Each value's key, if the values can be viewed as bytes.
    keys: HashMap<Box<[u8]>, u32>,
    /// The key for null values.
    null: Option<u32>,
    /// The last batch's dictionary and its values' keys in this dictionary. If the next batch
    /// shares the dictionary, we don't have to look its values up again.
    last: Option<(ArrayData, Vec<u32>)>,
    pub(super) bytes: usize,
}

impl Dictionary {
    pub(super) fn new(column: &str, is_ordered: bool) -> Self {
        Self {
            column: column.to_owned(),
            is_ordered,
            parts: Vec::new(),
            whole: None,
            num_values: 0,
            keys: HashMap::new(),
            null: None,
            last: None,
            bytes: 0,
        }
    }

    /// Merges a dictionary array's values into this dictionary and returns its keys, translated to
    /// this dictionary.
    pub(super) fn take_out(&mut self, key_type: &DataType, data: &ArrayData) -> Result<ArrayData> {
        let values = data.child_data().first().ok_or_else(too_few)?;
        if !self
            .last
            .as_ref()
            .is_some_and(|(last, _)| last.ptr_eq(values))
        {
            let keys = self.keys_of(values)?;
            self.last = Some((values.clone(), keys));
        }
        let ours = self.last.as_ref().map_or(&[][..], |(_, keys)| keys);
        let keys = with_keys!(key_type, keys_of_slots, data, ours)?;
        let builder = ArrayDataBuilder::new(DataType::UInt32).len(data.len());
        let builder = builder.nulls(data.nulls().cloned());
        builder
            .add_buffer(Buffer::from_vec(keys))
            .build()
            .map_err(unsortable)
    }

    /// Returns the values' keys in this dictionary, adding any new values.
    fn keys_of(&mut self, values: &ArrayData) -> Result<Vec<u32>> {
        let array = make_array(values.clone());
        let mut new = Vec::new();
        let mut keys = Vec::with_capacity(array.len());
        let bytes = bytes_of(&array);
        for ordinal in 0..array.len() {
            let added = u32::try_from(self.num_values + new.len());
            let added = added.map_err(|_| self.too_many())?;
            let key = match &bytes {
                _ if array.is_null(ordinal) => *self.null.get_or_insert(added),
                // We can't compare these values cheaply, so we treat them as distinct.
                None => added,
                Some(bytes) => {
                    let value = bytes.value(ordinal);
                    match self.keys.get(value) {
                        Some(key) => *key,
                        None => {
                            self.bytes += value.len() + 32;
                            self.keys.insert(value.into(), added);
                            added
                        }
                    }
                }
            };
            if key == added {
                new.push(RowPosition::new(0, ordinal));
            }
            keys.push(key);
        }
        let in_order = keys.iter().enumerate().all(|(at, key)| at == *key as usize);
        if self.is_ordered && !in_order {
            return Err(Error::argument(
                "batches have different ordered dictionaries, so their rows cannot be sorted \
                 together",
            )
            .in_column(&self.column));
        }
        if !new.is_empty() || self.parts.is_empty() {
            self.num_values += new.len();
            let part = gather(std::slice::from_ref(&array), &new, usize::MAX)?;
            self.bytes += part.get_array_memory_size();
            self.parts.push(part);
            self.whole = None;
        }
        Ok(keys)
    }

    /// Turns an array of keys into this dictionary back into a dictionary array.
    pub(super) fn put_back(&mut self, data: ArrayData, values: &DataType) -> Result<ArrayData> {
        let whole = self.whole(values)?;
        let array = DictionaryArray::<UInt32Type>::try_new(UInt32Array::from(data), whole);
        Ok(array.map_err(unsortable)?.to_data())
    }

    /// Returns all values as one array of type `data_type`.
    fn whole(&mut self, data_type: &DataType) -> Result<ArrayRef> {
        if let Some(whole) = &self.whole {
            return Ok(whole.clone());
        }
        let part = |(source, part): (usize, &ArrayRef)| {
            let places = (0..part.len()).map(move |row| RowPosition::new(source, row));
            places.collect::<Vec<_>>()
        };
        let whole = match self.parts.as_slice() {
            [] => new_empty_array(data_type),
            [part] => part.clone(),
            parts => {
                let places: Vec<RowPosition> = parts.iter().enumerate().flat_map(part).collect();
                gather(parts, &places, usize::MAX)?
            }
        };
        self.parts = vec![whole.clone()];
        Ok(self.whole.insert(whole).clone())
    }

    #[cold]
    fn too_many(&self) -> Error {
        Error::unsupported(
            "the dictionaries of all rows together have more than 2^32 values, so rows cannot be sorted",
        )
        .in_column(&self.column)
    }
}

/// Returns a dictionary array's keys, each translated by `ours`.
fn keys_of_slots<K: ArrowPrimitiveType>(data: &ArrayData, ours: &[u32]) -> Result<Vec<u32>> {
    let keys = data.buffers().first().ok_or_else(too_few)?;
    let keys = keys.typed_data::<K::Native>();
    let keys = keys.iter().skip(data.offset()).take(data.len());
    // Null slots can hold any key, so we map out-of-range keys to 0.
    let ours = |key: &K::Native| ours.get(key.to_usize().unwrap_or(usize::MAX)).copied();
    Ok(keys.map(|key| ours(key).unwrap_or(0)).collect())
}
