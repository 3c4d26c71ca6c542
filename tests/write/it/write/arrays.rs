//! Random arrays of any Arrow type, which are as awkward as Arrow allows. They are sliced, and have values under nulls,
//! lists out of order, and dictionaries with null and duplicate values.

use std::sync::Arc;

use herringbone_arrow::array::types::*;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};

use super::leaves;
use super::schemas::is_null;
use crate::batches::{self, Nulls, Random};

/// Returns a batch of `n` rows, which is sometimes a slice of a longer one.
pub(crate) fn batch(random: &mut Random, schema: &Arc<Schema>, n: usize) -> RecordBatch {
    let columns = schema
        .fields()
        .iter()
        .map(|field| array(random, field, n, None))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(n));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).unwrap()
}

/// Returns random values of a field. If the field is not nullable, values are only null at null slots of `around`.
pub(crate) fn array(
    random: &mut Random,
    field: &Field,
    n: usize,
    around: Option<&NullBuffer>,
) -> ArrayRef {
    let (before, behind) = if random.below(3) == 0 && around.is_none() {
        (random.below(20), random.below(5))
    } else {
        (0, 0)
    };
    let slots = before + n + behind;
    let nulls = match (field.is_nullable(), around) {
        (true, _) => {
            let nulls = random.pick(&[
                Nulls::None,
                Nulls::Sparse,
                Nulls::Sparse,
                Nulls::Runs,
                Nulls::All,
            ]);
            batches::validity(random, nulls, slots)
        }
        (false, Some(around)) if random.below(2) == 0 => Some(around.clone()),
        (false, _) => None,
    };
    values(random, field, nulls, slots).slice(before, n)
}

fn values(random: &mut Random, field: &Field, nulls: Option<NullBuffer>, n: usize) -> ArrayRef {
    match field.data_type() {
        DataType::List(child) => Arc::new(list::<i32>(random, child, nulls, n)),
        DataType::LargeList(child) => Arc::new(list::<i64>(random, child, nulls, n)),
        DataType::ListView(child) => Arc::new(list_view::<i32>(random, child, nulls, n)),
        DataType::LargeListView(child) => Arc::new(list_view::<i64>(random, child, nulls, n)),
        DataType::FixedSizeList(child, size) => {
            let per_slot = usize::try_from(*size).unwrap();
            let around = nulls.as_ref().map(|nulls| nulls.expand(per_slot));
            let elements = array(random, child, n * per_slot, around.as_ref());
            Arc::new(FixedSizeListArray::new(
                child.clone(),
                *size,
                elements,
                nulls,
            ))
        }
        DataType::Struct(fields) => Arc::new(structs(random, fields, nulls, n)),
        DataType::Map(entries, sorted) => {
            let DataType::Struct(fields) = entries.data_type() else {
                panic!("a map of {entries}");
            };
            let (offsets, slots) = offsets(random, n);
            let all = structs(random, fields, None, slots);
            Arc::new(MapArray::new(entries.clone(), offsets, all, nulls, *sorted))
        }
        DataType::Dictionary(keys, of) => {
            let may_be_null = field.is_nullable() && random.below(2) == 0;
            let entry = Field::new("", of.as_ref().clone(), may_be_null);
            dictionary(random, keys, &entry, nulls, n)
        }
        DataType::RunEndEncoded(ends, of) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(random, field, of, n),
            DataType::Int32 => runs::<Int32Type>(random, field, of, n),
            _ => runs::<Int64Type>(random, field, of, n),
        },
        leaf => leaves::values(random, leaf, nulls, n),
    }
}

/// Returns offsets of lists that neither start at 0 nor end at the last slot, and the number of slots.
fn offsets<O: OffsetSizeTrait>(random: &mut Random, n: usize) -> (OffsetBuffer<O>, usize) {
    let mut at = random.below(3);
    let mut all = vec![O::usize_as(at)];
    for _ in 0..n {
        at += random.below(4);
        all.push(O::usize_as(at));
    }
    (OffsetBuffer::new(all.into()), at + random.below(3))
}

/// Returns random lists, in which null lists have hidden elements, too.
fn list<O: OffsetSizeTrait>(
    random: &mut Random,
    child: &Arc<Field>,
    nulls: Option<NullBuffer>,
    n: usize,
) -> GenericListArray<O> {
    let (offsets, slots) = offsets(random, n);
    let elements = array(random, child, slots, None);
    GenericListArray::new(child.clone(), offsets, elements, nulls)
}

/// Returns random lists that are out of order and share elements.
fn list_view<O: OffsetSizeTrait>(
    random: &mut Random,
    child: &Arc<Field>,
    nulls: Option<NullBuffer>,
    n: usize,
) -> GenericListViewArray<O> {
    let slots = 4 + 2 * n;
    let elements = array(random, child, slots, None);
    let sizes: Vec<O> = (0..n).map(|_| O::usize_as(random.below(4))).collect();
    let offsets: Vec<O> = (0..n)
        .map(|_| O::usize_as(random.below(slots - 3)))
        .collect();
    GenericListViewArray::new(child.clone(), offsets.into(), sizes.into(), elements, nulls)
}

fn structs(
    random: &mut Random,
    fields: &Fields,
    nulls: Option<NullBuffer>,
    n: usize,
) -> StructArray {
    let columns = fields
        .iter()
        .map(|field| array(random, field, n, nulls.as_ref()))
        .collect();
    StructArray::new(fields.clone(), columns, nulls)
}

fn dictionary(
    random: &mut Random,
    keys: &DataType,
    of: &Field,
    nulls: Option<NullBuffer>,
    n: usize,
) -> ArrayRef {
    let entries = 1 + random.below(100);
    let entries = array(random, of, entries, None);
    fn of_keys<K: ArrowDictionaryKeyType>(
        random: &mut Random,
        entries: ArrayRef,
        nulls: Option<NullBuffer>,
        n: usize,
    ) -> ArrayRef {
        let keys: ScalarBuffer<K::Native> = (0..n)
            .map(|_| K::Native::from_usize(random.below(entries.len())).unwrap())
            .collect();
        let keys = PrimitiveArray::<K>::new(keys, nulls);
        Arc::new(DictionaryArray::new(keys, entries))
    }
    match keys {
        DataType::Int8 => of_keys::<Int8Type>(random, entries, nulls, n),
        DataType::Int16 => of_keys::<Int16Type>(random, entries, nulls, n),
        DataType::Int32 => of_keys::<Int32Type>(random, entries, nulls, n),
        DataType::Int64 => of_keys::<Int64Type>(random, entries, nulls, n),
        DataType::UInt8 => of_keys::<UInt8Type>(random, entries, nulls, n),
        DataType::UInt16 => of_keys::<UInt16Type>(random, entries, nulls, n),
        DataType::UInt32 => of_keys::<UInt32Type>(random, entries, nulls, n),
        _ => of_keys::<UInt64Type>(random, entries, nulls, n),
    }
}

fn runs<R: RunEndIndexType>(random: &mut Random, field: &Field, of: &Field, n: usize) -> ArrayRef {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < n.max(1) {
        at = (at + 1 + random.below(9)).min(n.max(1));
        ends.push(R::Native::from_usize(at).unwrap());
    }
    let value = Field::new(
        "",
        of.data_type().clone(),
        (field.is_nullable() && of.is_nullable()) || is_null(of.data_type()),
    );
    let values = array(random, &value, ends.len(), None);
    let ends = PrimitiveArray::<R>::new(ends.into(), None);
    let runs = RunArray::<R>::try_new(&ends, &values).unwrap().into_data();
    let runs = runs.into_builder().data_type(field.data_type().clone());
    make_array(runs.build().unwrap()).slice(0, n)
}
