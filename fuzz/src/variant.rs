//! Reads bytes as variants, in columns with any shredding.

use std::sync::Arc;

use herringbone::arrow::array::{
    Array, ArrayRef, BinaryArray, Int64Array, ListArray, RecordBatch, StructArray,
};
use herringbone::arrow::buffer::OffsetBuffer;
use herringbone::arrow::schema::{Field, Schema};
use herringbone::variant::extension::{Shredding, VariantExtension};
use herringbone::variant::json::JsonWriter;
use herringbone::variant::shredding::{
    GetOptions, InferOptions, Shredder, ShreddingType, UnshredOptions, VariantArray, variant_field,
};
use herringbone::variant::{Limits, PrimitiveType, Variant, VariantPath};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};

/// The values that seeds are built from.
#[cfg(test)]
const VALUES: [&str; 4] = [
    r#"{"a":1,"b":[true,null,"x"],"c":{"a":2.5}}"#,
    r#"[{"a":"text"},{"a":3}]"#,
    "\"a string\"",
    "12345678901",
];

/// Returns seeds, which have the metadata's byte count, the metadata and the value.
#[cfg(test)]
pub(crate) fn seeds() -> impl Iterator<Item = Vec<u8>> {
    VALUES.into_iter().map(|text| {
        let value = herringbone::variant::VariantBuf::from_json(text).expect("JSON");
        let size = value.metadata_bytes().len() as u8;
        [&[size], value.metadata_bytes(), value.value_bytes()].concat()
    })
}

/// Checks that arbitrary bytes cause no panic, and that valid values come back from a file that
/// shreds them.
pub fn variant(data: &[u8]) {
    let Some((size, data)) = data.split_first() else {
        return;
    };
    let (metadata, value) = data.split_at(usize::from(*size).min(data.len()));
    for array in columns(metadata, value) {
        look(&array);
    }
    if let Ok(variant) = Variant::validated(metadata, value, &Limits::default()) {
        // We ignore the result, because types of newer specifications have no JSON form.
        let _text = JsonWriter::new().write(variant, &mut String::new());
        come_back(variant);
    }
}

/// Returns columns of these bytes, next to shredded values and below them.
fn columns(metadata: &[u8], value: &[u8]) -> Vec<StructArray> {
    let names: ArrayRef = Arc::new(BinaryArray::from_vec(vec![metadata; 3]));
    let bytes = || -> ArrayRef {
        let rest = value.get(1..);
        Arc::new(BinaryArray::from_opt_vec(vec![Some(value), None, rest]))
    };
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(1), Some(2)]));
    let group = |typed: Option<&ArrayRef>| -> ArrayRef {
        let typed = typed.map(|typed| ("typed_value", typed.clone()));
        let columns = [("value", bytes())].into_iter().chain(typed);
        Arc::new(of_columns(columns.collect()))
    };
    let objects: ArrayRef = Arc::new(of_columns(vec![
        ("a", group(Some(&numbers))),
        ("b", group(None)),
    ]));
    let elements = group(Some(&objects));
    let field = Field::new("element", elements.data_type().clone(), false);
    let lists: ArrayRef = Arc::new(ListArray::new(
        Arc::new(field),
        OffsetBuffer::from_lengths([2, 0, 1]),
        elements,
        None,
    ));
    let typed = [None, Some(numbers), Some(objects), Some(lists)];
    let columns = typed.into_iter().map(|typed| {
        let typed = typed.map(|typed| ("typed_value", typed));
        let columns = [("metadata", names.clone()), ("value", bytes())];
        of_columns(columns.into_iter().chain(typed).collect())
    });
    columns.collect()
}

fn of_columns(columns: Vec<(&str, ArrayRef)>) -> StructArray {
    let columns = columns.into_iter();
    let columns: Vec<(Arc<Field>, ArrayRef)> = columns
        .map(|(name, it)| (Arc::new(Field::new(name, it.data_type().clone(), true)), it))
        .collect();
    StructArray::from(columns)
}

fn look(array: &StructArray) {
    let array = VariantArray::try_new(array).expect("columns of a variant");
    for lenient in [false, true] {
        let mut get = GetOptions::default();
        get.unshred.lenient = lenient;
        let _all = array.unshred(&get.unshred);
        for path in ["$", "$.a", "$.b.a", "$[1]", "$[0].a"] {
            let path: VariantPath = path.parse().expect("a path");
            let _typed = array.get_all_as(&path, PrimitiveType::Int64, &get);
            let _text = array.get_all_as(&path, PrimitiveType::String, &get);
            let _values = array.get_all(&path, &get);
        }
    }
}

fn come_back(variant: Variant<'_>) {
    let int = ShreddingType::Primitive(PrimitiveType::Int64);
    let object = ShreddingType::Object(vec![
        ("a".to_owned(), int.clone()),
        ("b".to_owned(), ShreddingType::Array(Box::new(int))),
    ]);
    let inferred = Shredding::Infer(InferOptions::default());
    for shredding in [Shredding::None, Shredding::As(object), inferred] {
        let mut values = Shredder::new(ShreddingType::Unshredded).expect("a shredding");
        values.append(variant).expect("a value");
        let values = values.finish().expect("a value");
        let field = variant_field("v", values.data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(values)]).expect("a batch");
        let options = WriteOptions::new().threads(1);
        let options = options.extension(VariantExtension::new().shredding(shredding));
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, schema, options).expect("a file");
        writer.write(&batch).expect("a value that is shredded");
        writer.finish().expect("a file");
        let file = ParquetFile::from_bytes(file).expect("a file");
        let options = ReadOptions::new().threads(1);
        let options = options.extension(VariantExtension::new());
        let batch = file.read(options).expect("a file").next_batch();
        let batch = batch.expect("what was written").expect("a row");
        let array = VariantArray::try_new(batch.column(0)).expect("a variant");
        let back = array.value(0, &UnshredOptions::default());
        let back = back.expect("a value").expect("a value");
        let equal = variant.equals(&back.as_variant(), &Limits::default());
        assert!(equal.expect("values that were checked"));
    }
}
