//! Random nested arrays: every kind of list, structs, maps, dictionaries and runs. They have nulls at all levels,
//! elements outside of all lists, and slices of slices.

use std::sync::Arc;

use herringbone_arrow::array::types::{Int8Type, Int32Type};
use herringbone_arrow::array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Int8Array, Int32Array, LargeListArray,
    LargeListViewArray, ListArray, ListViewArray, MapArray, RunArray, StructArray,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone_arrow::schema::{DataType, Field};

/// A small generator of pseudo-random numbers (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns the validity of `len` slots, with no nulls, few, many, or only nulls.
    fn nulls(&mut self, len: usize) -> Option<NullBuffer> {
        let rare = [0, 1, 2, 10, 100][self.below(5)];
        (rare > 0).then(|| (0..len).map(|_| !self.one_in(rare)).collect())
    }
}

/// Creates a struct with the given fields.
pub(super) fn struct_array(
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(StructArray::new(fields.into(), columns, nulls))
}

/// Returns a field for an array. It is nullable if the array has nulls, and otherwise at random.
fn field(name: &str, array: &ArrayRef, random: &mut Random) -> Field {
    let nullable = array.is_nullable() || random.one_in(2);
    Field::new(name, array.data_type().clone(), nullable)
}

/// Returns an array of `len` slots, sliced out of a longer one. Integers ascend, so that all of an array's values
/// differ.
pub(super) fn array(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let before = random.below(3) * random.below(70);
    let whole = before + len + random.below(3);
    any(random, whole, depth).slice(before, len)
}

fn any(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    if depth == 0 {
        return leaf(random, len);
    }
    match random.below(12) {
        0 => leaf(random, len),
        1..=3 => structs(random, len, depth),
        4 | 5 => lists(random, len, depth),
        6 => large_lists(random, len, depth),
        7 => views(random, len, depth),
        8 => fixed_size_lists(random, len, depth),
        9 => maps(random, len, depth),
        10 => dictionary(random, len, depth),
        _ => runs(random, len, depth),
    }
}

fn leaf(random: &mut Random, len: usize) -> ArrayRef {
    match random.below(6) {
        0 => dictionary(random, len, 0),
        1 => runs(random, len, 0),
        _ => ints(random, len),
    }
}

fn ints(random: &mut Random, len: usize) -> ArrayRef {
    let first = random.below(1 << 20) as i32;
    let values: Vec<i32> = (first..).take(len).collect();
    Arc::new(Int32Array::new(values.into(), random.nulls(len)))
}

/// Returns the values for dictionaries and runs: integers, or nested values.
fn encoded(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    match depth {
        0 => ints(random, len),
        depth => match random.below(2) {
            0 => structs(random, len, depth),
            _ => lists(random, len, depth),
        },
    }
}

fn structs(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let columns: Vec<ArrayRef> = (0..1 + random.below(2))
        .map(|_| array(random, len, depth - 1))
        .collect();
    let fields = columns.iter().map(|column| field("field", column, random));
    let fields = fields.collect();
    struct_array(fields, columns, random.nulls(len))
}

/// Returns list lengths of at most 4, with few or many zeros.
fn lengths(random: &mut Random, len: usize) -> Vec<usize> {
    let (least, most) = ([0, 1][random.below(2)], 1 + random.below(5));
    (0..len)
        .map(|_| (least + random.below(most)).saturating_sub(1))
        .collect()
}

fn lists(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths(random, len));
    let unseen = random.below(2);
    let elements = array(random, offsets[len] as usize + unseen, depth - 1);
    let element = Arc::new(field("element", &elements, random));
    Arc::new(ListArray::new(
        element,
        offsets,
        elements,
        random.nulls(len),
    ))
}

fn large_lists(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths(random, len));
    let unseen = random.below(2);
    let elements = array(random, offsets[len] as usize + unseen, depth - 1);
    let element = Arc::new(field("element", &elements, random));
    Arc::new(LargeListArray::new(
        element,
        offsets,
        elements,
        random.nulls(len),
    ))
}

fn views(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let num_elements = 8 + random.below(2 * len + 1);
    let elements = array(random, num_elements, depth - 1);
    let element = Arc::new(field("element", &elements, random));
    let sizes = lengths(random, len);
    let offsets = sizes
        .iter()
        .map(|size| random.below(num_elements - size + 1));
    let offsets: Vec<_> = offsets.collect();
    let nulls = random.nulls(len);
    if random.one_in(2) {
        let offsets: Vec<i32> = offsets.into_iter().map(|offset| offset as i32).collect();
        let sizes: Vec<i32> = sizes.into_iter().map(|size| size as i32).collect();
        let (offsets, sizes) = (offsets.into(), sizes.into());
        return Arc::new(ListViewArray::new(element, offsets, sizes, elements, nulls));
    }
    let offsets: Vec<i64> = offsets.into_iter().map(|offset| offset as i64).collect();
    let sizes: Vec<i64> = sizes.into_iter().map(|size| size as i64).collect();
    let (offsets, sizes) = (offsets.into(), sizes.into());
    Arc::new(LargeListViewArray::new(
        element, offsets, sizes, elements, nulls,
    ))
}

fn fixed_size_lists(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let size = random.below(4);
    let elements = array(random, size * len, depth - 1);
    let element = Arc::new(field("element", &elements, random));
    let nulls = random.nulls(len);
    let lists = FixedSizeListArray::try_new_with_length(element, size as i32, elements, nulls, len);
    Arc::new(lists.unwrap())
}

fn maps(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths(random, len));
    let num_entries = offsets[len] as usize;
    let keys: ArrayRef = Arc::new(Int32Array::from_iter_values(0..num_entries as i32));
    let values = array(random, num_entries, depth - 1);
    let fields = vec![
        Field::new("key", DataType::Int32, false),
        field("value", &values, random),
    ];
    let entries = StructArray::new(fields.into(), vec![keys, values], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    Arc::new(MapArray::new(
        field,
        offsets,
        entries,
        random.nulls(len),
        false,
    ))
}

fn dictionary(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let num_values = 1 + random.below(20);
    let values = encoded(random, num_values, depth);
    let keys: Vec<i8> = (0..len).map(|_| random.below(num_values) as i8).collect();
    let keys = Int8Array::new(keys.into(), random.nulls(len));
    Arc::new(DictionaryArray::<Int8Type>::new(keys, values))
}

fn runs(random: &mut Random, len: usize, depth: usize) -> ArrayRef {
    let mut ends = vec![1 + random.below(4) as i32];
    while (ends[ends.len() - 1] as usize) < len {
        ends.push(ends[ends.len() - 1] + 1 + random.below(4) as i32);
    }
    let values = encoded(random, ends.len(), depth);
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(ends), &values).unwrap();
    Arc::new(runs.slice(0, len))
}
