//! Makes one array from the slots of several arrays.
//!
//! If dictionary keys are narrow, they might not be able to address all values of the joined arrays. For example, two
//! arrays with `Int8` keys and 100 values each have more than the 128 values addressable by such keys. In this case we
//! only keep the values in use.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{Array as _, ArrayRef, PrimitiveArray, make_array};
use herringbone_arrow::buffer::ArrowNativeType as _;
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::data::transform::MutableArrayData;
use herringbone_arrow::schema::{ArrowError, DataType};
use herringbone_format::{Error, Result};

use super::dictionary::max_values;

/// Starts an array that takes slots from `arrays`, which must all have the same type. Use this instead of
/// `MutableArrayData::new`, which panics if dictionaries have more values than their keys can address.
///
/// # Errors
/// Fails with [Limit](herringbone_format::ErrorKind::Limit) if the arrays have more dictionary values than their keys
/// can address.
pub fn slots_of<'a>(
    arrays: Vec<&'a ArrayData>,
    use_nulls: bool,
    capacity: usize,
) -> Result<MutableArrayData<'a>> {
    match excess(&arrays) {
        Some((values, key)) => Err(too_many(values, &key)),
        None => Ok(MutableArrayData::new(arrays, use_nulls, capacity)),
    }
}

/// Concatenates arrays of one type, or returns `None` if there are none.
///
/// # Errors
/// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the joined arrays are too long for a single
/// array's offsets, and with [Limit](herringbone_format::ErrorKind::Limit) if they use more dictionary values than
/// their keys can address.
pub fn concat(arrays: &[ArrayRef]) -> Result<Option<ArrayRef>> {
    if let [array] = arrays {
        return Ok(Some(array.clone()));
    }
    if arrays.is_empty() {
        return Ok(None);
    }
    let mut data: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    if excess(&data.iter().collect::<Vec<_>>()).is_some() {
        data = fitted(data)?;
    }
    let capacity = data.iter().map(ArrayData::len).sum();
    let mut all = slots_of(data.iter().collect(), false, capacity)?;
    for (index, data) in data.iter().enumerate() {
        all.try_extend(index, 0, data.len()).map_err(too_long)?;
    }
    Ok(Some(make_array(all.freeze())))
}

/// Returns the number of leading arrays that can be [concatenated](concat()). This is at least one. Note that `arrays`
/// can be called several times, once for each attempt.
pub fn num_joinable<I: ExactSizeIterator<Item = ArrayRef>>(arrays: impl Fn() -> I) -> usize {
    let (first, num_arrays) = (arrays().next(), arrays().len());
    if !first.is_some_and(|first| has_narrow_keys(first.data_type())) {
        return num_arrays;
    }
    // There can be many arrays, but often the first few already use up the keys. So we start with a few arrays and keep
    // doubling.
    let mut window = 1_usize;
    loop {
        window = num_arrays.min(window.saturating_mul(2));
        let data: Vec<_> = arrays().take(window).map(|array| array.to_data()).collect();
        let found = joinable(&data.iter().collect::<Vec<_>>());
        if found < window || window == num_arrays {
            return found;
        }
    }
}

/// Returns true if a type has a dictionary with keys of at most 16 bits.
fn has_narrow_keys(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(key, values) => {
            max_values(key).is_some_and(|most| most <= 1 << 16) || has_narrow_keys(values)
        }
        DataType::Struct(fields) => fields
            .iter()
            .any(|field| has_narrow_keys(field.data_type())),
        DataType::Union(fields, _) => fields
            .iter()
            .any(|(_, field)| has_narrow_keys(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => has_narrow_keys(field.data_type()),
        _ => false,
    }
}

fn joinable(arrays: &[&ArrayData]) -> usize {
    let mut found = arrays.len();
    if let Some(dictionaries) = Dictionaries::of(arrays) {
        let (mut values, mut slots) = (0_usize, 0_usize);
        let ends = arrays.iter().zip(&dictionaries.values).map(|(array, own)| {
            values = values.saturating_add(own.len());
            slots = slots.saturating_add(array.len());
            values.min(slots)
        });
        let fits = |least: usize| least <= dictionaries.most;
        if !dictionaries.are_one() {
            found = ends.take_while(|least| fits(*least)).count().max(1);
        }
    }
    for child in children(arrays) {
        let child = child.get(..found).unwrap_or(&child);
        found = found.min(joinable(child));
    }
    found
}

/// The dictionaries of some arrays to join.
struct Dictionaries<'a> {
    key: &'a DataType,
    /// The number of values addressable by the keys.
    most: usize,
    values: Vec<&'a ArrayData>,
}

impl<'a> Dictionaries<'a> {
    /// Returns the arrays' dictionaries, or `None` for arrays of another type.
    fn of(arrays: &[&'a ArrayData]) -> Option<Self> {
        let DataType::Dictionary(key, _) = arrays.first()?.data_type() else {
            return None;
        };
        let values = arrays.iter().filter_map(|array| array.child_data().first());
        Some(Self {
            key,
            most: max_values(key)?,
            values: values.collect(),
        })
    }

    /// Returns true if all arrays share one dictionary. Such a dictionary is kept unchanged.
    fn are_one(&self) -> bool {
        let mut neighbours = self.values.windows(2);
        neighbours.all(|pair| matches!(pair, [a, b] if a.ptr_eq(b)))
    }

    /// Returns the number of values in the joined dictionary.
    fn num_values(&self) -> usize {
        let lengths = self.values.iter().map(|values| values.len());
        match self.are_one() {
            true => lengths.max().unwrap_or(0),
            false => lengths.fold(0, usize::saturating_add),
        }
    }
}

/// Returns the arrays' children, grouped by child. That is, for each child of the type, this returns that child from
/// every array.
fn children<'a>(arrays: &[&'a ArrayData]) -> Vec<Vec<&'a ArrayData>> {
    let num_children = arrays.first().map_or(0, |array| array.child_data().len());
    let child = |ordinal| {
        let all = arrays.iter();
        all.filter_map(|array| array.child_data().get(ordinal))
            .collect()
    };
    (0..num_children).map(child).collect()
}

/// Returns the number of values in a joined dictionary and its key type, if such keys cannot address all these values.
fn excess(arrays: &[&ArrayData]) -> Option<(usize, DataType)> {
    let dictionaries = Dictionaries::of(arrays);
    if let Some(dictionaries) = &dictionaries {
        let values = dictionaries.num_values();
        if values > dictionaries.most {
            return Some((values, dictionaries.key.clone()));
        }
        if dictionaries.are_one() {
            return None;
        }
    }
    children(arrays).iter().find_map(|child| excess(child))
}

/// Drops unused values from dictionaries too large to be joined.
fn fitted(mut arrays: Vec<ArrayData>) -> Result<Vec<ArrayData>> {
    let all: Vec<_> = arrays.iter().collect();
    if excess(&all).is_none() {
        return Ok(arrays);
    }
    if let Some(dictionaries) = Dictionaries::of(&all) {
        if dictionaries.num_values() > dictionaries.most {
            arrays = arrays.iter().map(with_used_values).collect::<Result<_>>()?;
        }
    } else {
        // We copy the arrays, because a copy has no child slots outside of its own slots.
        arrays = arrays.iter().map(copied).collect::<Result<_>>()?;
    }
    let all: Vec<_> = arrays.iter().collect();
    let mut fitted_children = Vec::new();
    for child in children(&all) {
        fitted_children.push(fitted(child.into_iter().cloned().collect())?.into_iter());
    }
    let arrays = arrays.into_iter().map(|array| {
        let children = fitted_children.iter_mut().filter_map(Iterator::next);
        let children = children.collect();
        array
            .into_builder()
            .child_data(children)
            .build()
            .map_err(too_long)
    });
    arrays.collect()
}

fn copied(array: &ArrayData) -> Result<ArrayData> {
    let mut copy = slots_of(vec![array], false, array.len())?;
    copy.try_extend(0, 0, array.len()).map_err(too_long)?;
    Ok(copy.freeze())
}

/// Returns the dictionary array without any unused dictionary values.
fn with_used_values(array: &ArrayData) -> Result<ArrayData> {
    let DataType::Dictionary(key, _) = array.data_type() else {
        return Ok(array.clone());
    };
    let array = make_array(array.clone());
    match **key {
        DataType::Int8 => used::<Int8Type>(&array),
        DataType::Int16 => used::<Int16Type>(&array),
        DataType::Int32 => used::<Int32Type>(&array),
        DataType::Int64 => used::<Int64Type>(&array),
        DataType::UInt8 => used::<UInt8Type>(&array),
        DataType::UInt16 => used::<UInt16Type>(&array),
        DataType::UInt32 => used::<UInt32Type>(&array),
        _ => used::<UInt64Type>(&array),
    }
}

fn used<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> Result<ArrayData> {
    let Some(array) = array.as_dictionary_opt::<K>() else {
        return Ok(array.to_data());
    };
    let values = array.values().to_data();
    let mut places: Vec<Option<usize>> = vec![None; values.len()];
    let mut used = Vec::new();
    let keys = array.keys().iter().map(|key| {
        let key = key?.to_usize()?;
        let place = places.get_mut(key)?.get_or_insert_with(|| {
            used.push(key);
            used.len() - 1
        });
        K::Native::from_usize(*place)
    });
    let keys: PrimitiveArray<K> = keys.collect();
    let mut kept = slots_of(vec![&values], false, used.len())?;
    for value in used {
        kept.try_extend(0, value, value + 1).map_err(too_long)?;
    }
    let data_type = array.data_type().clone();
    let array = keys.into_data().into_builder().data_type(data_type);
    array
        .child_data(vec![kept.freeze()])
        .build()
        .map_err(too_long)
}

#[cold]
fn too_many(values: usize, key: &DataType) -> Error {
    let most = max_values(key).unwrap_or(0) as u64;
    let what = format!("dictionary values in one array with keys of type {key}");
    Error::beyond_format(&what, values as u64, most)
}

#[cold]
fn too_long(error: ArrowError) -> Error {
    Error::unsupported(format!(
        "values of one batch are too long for an array: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::{
        Array, DictionaryArray, Int8Array, ListArray, StringArray, StructArray,
    };
    use herringbone_arrow::buffer::OffsetBuffer;
    use herringbone_arrow::schema::Field;
    use herringbone_format::ErrorKind;

    use super::*;

    /// Returns an array with `used` slots, whose dictionary has 100 values.
    fn dictionary(from: usize, used: usize) -> ArrayRef {
        let values = (from..from + 100).map(|i| Some(i.to_string()));
        let values: StringArray = values.collect();
        let keys = (0..used).map(|slot| (slot % 7 != 6).then_some(slot as i8));
        let keys: Int8Array = keys.collect();
        Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(values)).unwrap())
    }

    /// Returns the texts of a dictionary array.
    fn texts(array: &ArrayRef) -> Vec<Option<String>> {
        let array = array.as_dictionary::<Int8Type>();
        let array = array.downcast_dict::<StringArray>().unwrap();
        let texts = array.into_iter();
        texts.map(|text| text.map(str::to_owned)).collect()
    }

    fn expected(from: usize, used: usize) -> Vec<Option<String>> {
        let text = |slot: usize| (slot % 7 != 6).then(|| (from + slot).to_string());
        (0..used).map(text).collect()
    }

    fn joinable_of(arrays: &[ArrayRef]) -> usize {
        num_joinable(|| arrays.iter().cloned())
    }

    #[test]
    fn only_used_values_count() {
        let parts = [dictionary(0, 60), dictionary(1000, 10), dictionary(50, 58)];
        assert_eq!(joinable_of(&parts), 3);
        let all = concat(&parts).unwrap().unwrap();
        let expected = [expected(0, 60), expected(1000, 10), expected(50, 58)].concat();
        assert_eq!(texts(&all), expected);
        // The 60 + 10 + 59 slots are more than the 128 values addressable by such keys.
        let parts = [dictionary(0, 60), dictionary(1000, 10), dictionary(50, 59)];
        assert_eq!(joinable_of(&parts), 2);
        let one = [dictionary(0, 100), dictionary(0, 100)];
        assert_eq!(joinable_of(&one), 1);
    }

    #[test]
    fn a_shared_dictionary_is_kept() {
        let part = dictionary(0, 100);
        let parts = vec![part.slice(0, 90), part.slice(3, 80), part.clone()];
        assert_eq!(joinable_of(&parts), 3);
        let all = concat(&parts).unwrap().unwrap();
        assert_eq!(all.len(), 270);
        assert_eq!(all.as_dictionary::<Int8Type>().values().len(), 100);
    }

    #[test]
    fn dictionaries_in_structs_and_lists_are_joined() {
        let list = |from: usize| -> ArrayRef {
            let element = dictionary(from, 50);
            let field = Field::new("element", element.data_type().clone(), true);
            let offsets = OffsetBuffer::from_lengths([20, 0, 30]);
            let list = ListArray::new(Arc::new(field), offsets, element, None);
            let field = Field::new("l", list.data_type().clone(), true);
            Arc::new(StructArray::new(
                vec![field].into(),
                vec![Arc::new(list)],
                None,
            ))
        };
        // The arrays use four times 43 values, because every seventh of the 50 slots is null.
        let parts = [list(0), list(500), list(900), list(700)];
        assert_eq!(concat(&parts).unwrap_err().kind(), ErrorKind::Limit);
        let parts = [list(0).slice(0, 2), list(500), list(900).slice(2, 1)];
        let all = concat(&parts).unwrap().unwrap();
        let lists = all.as_struct().column(0).as_list::<i32>();
        let found: Vec<_> = (0..lists.len())
            .flat_map(|row| texts(&lists.value(row)))
            .collect();
        let mut wanted = expected(0, 50)[..20].to_vec();
        wanted.extend(expected(500, 50));
        wanted.extend_from_slice(&expected(900, 50)[20..]);
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_excess_of_values_is_an_error() {
        let (a, b) = (dictionary(0, 100).to_data(), dictionary(0, 100).to_data());
        let error = slots_of(vec![&a, &b], false, 0).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(
            error.to_string().contains("200 dictionary values"),
            "{error}"
        );
        assert!(slots_of(vec![&a, &a], false, 0).is_ok());
    }
}
