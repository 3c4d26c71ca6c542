//! Dictionary arrays for values that columns can't decode to dictionaries by themselves.

use std::sync::Arc;

use herringbone_arrow::array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{ArrayRef, DictionaryArray, PrimitiveArray};
use herringbone_arrow::buffer::ArrowNativeType;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Remedy, Result};

use super::same::Distinct;
use super::{gathered, invalid};

/// Encodes the slots as a dictionary with keys of type `key`.
///
/// # Errors
/// Fails with `Unsupported` if there are more distinct values than keys.
pub(super) fn dictionary(
    slots: &ArrayRef,
    distinct: &Distinct,
    key: &DataType,
) -> Result<ArrayRef> {
    match key {
        DataType::Int8 => typed::<Int8Type>(slots, distinct),
        DataType::Int16 => typed::<Int16Type>(slots, distinct),
        DataType::Int32 => typed::<Int32Type>(slots, distinct),
        DataType::Int64 => typed::<Int64Type>(slots, distinct),
        DataType::UInt8 => typed::<UInt8Type>(slots, distinct),
        DataType::UInt16 => typed::<UInt16Type>(slots, distinct),
        DataType::UInt32 => typed::<UInt32Type>(slots, distinct),
        DataType::UInt64 => typed::<UInt64Type>(slots, distinct),
        other => Err(Error::argument(format!(
            "{other} is not a dictionary key type"
        ))),
    }
}

fn typed<K: ArrowDictionaryKeyType>(slots: &ArrayRef, distinct: &Distinct) -> Result<ArrayRef> {
    let keys = distinct.keys.iter().map(|&key| K::Native::from_usize(key));
    let Some(keys) = keys.collect::<Option<Vec<_>>>() else {
        return Err(Error::unsupported(format!(
            "one array has more distinct values than keys of type {} can number",
            K::DATA_TYPE
        ))
        .with_remedy(Remedy::IgnoreArrowSchema));
    };
    let keys = PrimitiveArray::<K>::new(keys.into(), distinct.nulls.clone());
    let values = gathered(slots, &distinct.firsts)?;
    let array = DictionaryArray::try_new(keys, values).map_err(invalid)?;
    Ok(Arc::new(array))
}
