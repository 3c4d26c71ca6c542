//! Checks values in Arrow arrays, shredded and back.

mod extension;
mod hostile;
mod infer;
mod one_path;
mod read;
mod round_trip;
mod write;

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array, ArrayRef, BinaryArray, Int32Array, StructArray};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::Field;
use herringbone_variant::json::JsonWriter;
use herringbone_variant::shredding::{Shredder, ShreddingType, UnshredOptions, VariantArray};
use herringbone_variant::{PrimitiveType, VariantBuf};

fn primitive(primitive: PrimitiveType) -> ShreddingType {
    ShreddingType::Primitive(primitive)
}

fn object(fields: &[(&str, ShreddingType)]) -> ShreddingType {
    let fields = fields.iter();
    ShreddingType::Object(
        fields
            .map(|(name, it)| ((*name).to_owned(), it.clone()))
            .collect(),
    )
}

fn lenient() -> UnshredOptions {
    let mut options = UnshredOptions::default();
    options.lenient = true;
    options
}

/// Returns an array's values as JSON.
fn json(array: &dyn Array, options: &UnshredOptions) -> Vec<Option<String>> {
    let array = VariantArray::try_new(array).unwrap();
    let values = (0..array.len()).map(|row| {
        array.value(row, options).unwrap().map(|value| {
            let mut out = String::new();
            JsonWriter::new()
                .write(value.as_variant(), &mut out)
                .unwrap();
            out
        })
    });
    values.collect()
}

fn shred(values: &[Option<&str>], shredding: ShreddingType) -> StructArray {
    let expected = shredding.storage_type().unwrap();
    let mut shredder = Shredder::new(shredding).unwrap();
    for value in values {
        match value {
            Some(text) => {
                let value = VariantBuf::from_json(text).unwrap();
                shredder.append(value.as_variant()).unwrap();
            }
            None => shredder.append_null().unwrap(),
        }
    }
    let array = shredder.finish().unwrap();
    assert_eq!(array.data_type(), &expected);
    array
}

fn column<'a>(array: &'a StructArray, path: &str) -> &'a ArrayRef {
    let mut names = path.split('/');
    let mut column = array.column_by_name(names.next().unwrap()).unwrap();
    for name in names {
        column = column.as_struct().column_by_name(name).unwrap();
    }
    column
}

fn values(array: &StructArray, path: &str) -> Vec<Option<Vec<u8>>> {
    let column = column(array, path).as_binary_view();
    column
        .iter()
        .map(|value| value.map(<[u8]>::to_vec))
        .collect()
}

/// Builds a shredded column by hand, with its columns in any order, and possibly without `value`.
fn by_hand(columns: Vec<(&str, ArrayRef)>) -> StructArray {
    let len = columns[0].1.len();
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, it)| Field::new(*name, it.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    StructArray::try_new_with_length(fields.into(), columns, None, len).unwrap()
}

fn binary(values: Vec<Option<&[u8]>>) -> ArrayRef {
    Arc::new(BinaryArray::from(values))
}

const NO_NAMES: &[u8] = &[0x11, 0, 0];

/// Returns `{"a"}` as a dictionary.
const NAME_A: &[u8] = &[0x11, 1, 0, 1, b'a'];

/// Returns an object whose field a is shredded as an integer. The columns are `value`,
/// `typed_value`, which can be null, and `a`.
fn shredded_object(value: Option<&[u8]>, is_typed: bool, a: Option<i32>) -> StructArray {
    let typed: ArrayRef = Arc::new(Int32Array::from(vec![a]));
    let field = by_hand(vec![("value", binary(vec![None])), ("typed_value", typed)]);
    let fields = vec![Field::new("a", field.data_type().clone(), false)];
    let nulls = Some(NullBuffer::from(vec![is_typed]));
    let object = StructArray::try_new(fields.into(), vec![Arc::new(field)], nulls).unwrap();
    by_hand(vec![
        ("metadata", binary(vec![Some(NAME_A)])),
        ("value", binary(vec![value])),
        ("typed_value", Arc::new(object)),
    ])
}
