//! Random batches of random schemas are read back as they were written, with any options.

use std::sync::Arc;

use herringbone::ReadOptions;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use super::arrays;
use super::choices;
use super::compare::{difference, read, report, written};
use super::schemas::Menu;
use crate::batches::Random;
use crate::random::cases;
use crate::table::without_panic;

/// Returns a random schema, and some batches of it.
pub(crate) fn case(random: &mut Random, menu: &Menu) -> (SchemaRef, Vec<RecordBatch>) {
    let schema = Arc::new(menu.schema(random));
    let batches = (0..random.below(4))
        .map(|_| {
            let rows = random.pick(&[0, 1, 9, 30, 130]);
            arrays::batch(random, &schema, rows)
        })
        .collect();
    (schema, batches)
}

fn check(seed: u64) -> Option<String> {
    let random = &mut Random(seed);
    let (schema, batches) = case(random, &Menu::everything());
    let options = choices::options(random, &schema);
    let about = format!("{options:?}");
    let file = match written(&schema, &batches, options) {
        Ok(file) => file,
        Err(error) => return Some(format!("{error} in {schema}")),
    };
    let with = ReadOptions::default()
        .threads(random.pick(&[1, 2]))
        .batch_size(random.pick(&[3, 50, 8192]));
    match read(&file, with) {
        Err(error) => Some(format!("{error} in {schema}")),
        Ok((is, _)) if with_wide_keys(&is) != with_wide_keys(&schema) => {
            Some(schema_difference(&is, &schema))
        }
        Ok((_, read)) => difference(&batches, &read, &schema)
            .map(|difference| format!("{difference}, written with {about}")),
    }
}

/// Returns the schema with the widest keys. Keys of 8 and 16 bits may have been widened, because column chunks have
/// more values than the written arrays.
fn with_wide_keys(schema: &Schema) -> Schema {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| wide_field(field))
        .collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn wide_field(field: &Field) -> Field {
    field.clone().with_data_type(wide_type(field.data_type()))
}

fn wide_type(data_type: &DataType) -> DataType {
    use DataType as T;
    let wide = |field: &FieldRef| Arc::new(wide_field(field));
    match data_type {
        T::Dictionary(key, values) => {
            let key = match **key {
                T::Int8 | T::Int16 => T::Int32,
                T::UInt8 | T::UInt16 => T::UInt32,
                ref wide => wide.clone(),
            };
            T::Dictionary(Box::new(key), Box::new(wide_type(values)))
        }
        T::Struct(fields) => T::Struct(fields.iter().map(wide).collect()),
        T::List(child) => T::List(wide(child)),
        T::LargeList(child) => T::LargeList(wide(child)),
        T::ListView(child) => T::ListView(wide(child)),
        T::LargeListView(child) => T::LargeListView(wide(child)),
        T::FixedSizeList(child, size) => T::FixedSizeList(wide(child), *size),
        T::Map(entries, sorted) => T::Map(wide(entries), *sorted),
        T::RunEndEncoded(ends, values) => T::RunEndEncoded(ends.clone(), wide(values)),
        other => other.clone(),
    }
}

fn schema_difference(is: &Schema, want: &Schema) -> String {
    for (is, want) in is.fields().iter().zip(want.fields()) {
        if is != want {
            return format!("the field is {is}, not {want}");
        }
    }
    format!("{:?}, not {:?}", is.metadata(), want.metadata())
}

#[test]
fn what_is_read_is_what_was_written() {
    let wrong: Vec<_> = (0..cases(255))
        .filter_map(|seed| {
            let fault = without_panic(|| check(seed)).unwrap_or_else(Some);
            fault.map(|fault| format!("seed {seed}: {fault}"))
        })
        .collect();
    report(&wrong);
}
