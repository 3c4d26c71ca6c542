//! Normalizes floating-point numbers, so that both zeros count as the same value, as do all NaNs.

use std::sync::Arc;

use half::f16;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Float16Type, Float32Type, Float64Type};
use herringbone_arrow::array::{Array as _, ArrayRef, make_array};
use herringbone_arrow::schema::DataType;

/// Returns the array with -0.0 replaced by 0.0 and all NaNs by the same NaN, since conditions treat
/// these as equal. Arrays of other types are returned unchanged.
pub(crate) fn one_per_number(array: &ArrayRef) -> ArrayRef {
    macro_rules! floats {
        ($type:ident, $native:ident) => {{
            let same = |value: $native| match value {
                value if value.is_nan() => $native::NAN,
                value if value == $native::default() => $native::default(),
                value => value,
            };
            let values = array.as_primitive::<$type>();
            Arc::new(values.unary::<_, $type>(same)) as ArrayRef
        }};
    }
    match array.data_type() {
        DataType::Float16 => floats!(Float16Type, f16),
        DataType::Float32 => floats!(Float32Type, f32),
        DataType::Float64 => floats!(Float64Type, f64),
        DataType::Dictionary(_, values) if values.is_floating() => {
            let dictionary = array.as_any_dictionary();
            dictionary.with_values(one_per_number(dictionary.values()))
        }
        DataType::RunEndEncoded(_, values) if values.data_type().is_floating() => {
            let data = array.to_data();
            let [ends, values] = data.child_data() else {
                return array.clone();
            };
            let values = one_per_number(&make_array(values.clone())).to_data();
            let children = vec![ends.clone(), values];
            match data.clone().into_builder().child_data(children).build() {
                Ok(data) => make_array(data),
                Err(_) => array.clone(),
            }
        }
        _ => array.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_arrow::array::{DictionaryArray, Float32Array, Float64Array, RunArray};
    use herringbone_arrow::array::{Int32Array, types::Int32Type};

    #[test]
    fn zeros_are_one_value() {
        let numbers = Float64Array::from(vec![Some(-0.0), Some(0.0), None, Some(-f64::NAN)]);
        let expected = Float64Array::from(vec![Some(0.0), Some(0.0), None, Some(f64::NAN)]);
        let numbers: ArrayRef = Arc::new(numbers);
        assert_eq!(one_per_number(&numbers).as_primitive(), &expected);
        let zeros = || Arc::new(Float32Array::from(vec![-0.0, 0.0])) as ArrayRef;
        let one: ArrayRef = Arc::new(Float32Array::from(vec![0.0, 0.0]));
        let keys = Int32Array::from(vec![1, 0]);
        let dictionary = DictionaryArray::<Int32Type>::new(keys, zeros());
        let found = one_per_number(&(Arc::new(dictionary) as ArrayRef));
        assert_eq!(found.as_any_dictionary().values(), &one);
        let ends = Int32Array::from(vec![2, 5]);
        let runs = RunArray::try_new(&ends, &zeros()).unwrap();
        let found = one_per_number(&(Arc::new(runs) as ArrayRef));
        assert_eq!(found.as_run::<Int32Type>().values(), &one);
    }
}
