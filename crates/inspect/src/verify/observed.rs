//! Collects the actual contents of levels and values for comparison with metadata.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_core::physical::Block;
use herringbone_core::statistics::BoundsBuilder;
use herringbone_schema::ColumnOrderKind;

use super::column::Column;

/// The actual counts and bounds of a page or a column chunk.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    /// The histogram of repetition levels, starting at level 0.
    pub(super) rep_histogram: Vec<u64>,
    /// The histogram of definition levels, starting at level 0.
    pub(super) def_histogram: Vec<u64>,
    /// The number of bytes in BYTE_ARRAY values.
    pub(super) byte_array_bytes: u64,
    pub(super) bounds: BoundsBuilder,
    /// The bounds in the orders of the deprecated fields, if there are any to compare.
    pub(super) old_bounds: Option<OldBounds>,
}

impl Observed {
    /// Creates empty counts and bounds.
    pub(super) fn new(column: &Column, old_bounds: bool) -> Self {
        Self {
            rep_histogram: vec![0; usize::from(column.leaf.max_rep_level) + 1],
            def_histogram: vec![0; usize::from(column.leaf.max_def_level) + 1],
            byte_array_bytes: 0,
            bounds: column.bounds(),
            old_bounds: old_bounds.then(|| OldBounds::new(column)),
        }
    }

    /// Adds a block of a data page.
    pub(super) fn add(&mut self, block: &Block<'_>) {
        count(&mut self.rep_histogram, block.rep);
        count(&mut self.def_histogram, block.def);
        add_values(&mut self.bounds, &block.values);
        if let Some(old) = &mut self.old_bounds {
            old.add(&block.values);
        }
        if let Some(bytes) = block.values.as_binary_opt::<i32>() {
            self.byte_array_bytes += bytes.value_data().len() as u64;
        }
    }

    /// Adds the counts and bounds of another part.
    pub(super) fn merge(&mut self, other: &Self) {
        let sum = |to: &mut Vec<u64>, from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        sum(&mut self.rep_histogram, &other.rep_histogram);
        sum(&mut self.def_histogram, &other.def_histogram);
        self.byte_array_bytes += other.byte_array_bytes;
        self.bounds.merge(&other.bounds);
        if let (Some(old), Some(other)) = (&mut self.old_bounds, &other.old_bounds) {
            old.merge(other);
        }
    }

    /// Returns the number of rows that start here.
    pub(super) fn rows(&self) -> u64 {
        self.rep_histogram.first().copied().unwrap_or_default()
    }

    pub(super) fn levels(&self) -> u64 {
        self.def_histogram.iter().sum()
    }

    /// Returns the number of values, without nulls.
    pub(super) fn values(&self) -> u64 {
        self.def_histogram.last().copied().unwrap_or_default()
    }

    /// Returns the number of levels without a value. These are nulls of the leaf or above it, and
    /// empty lists.
    pub(super) fn without_value(&self) -> u64 {
        self.levels() - self.values()
    }

    /// Returns the leaf's number of null slots. A null element of a list counts, but a null or
    /// empty list does not.
    pub(super) fn null_slots(&self, column: &Column) -> u64 {
        let max = usize::from(column.leaf.max_def_level);
        let slots = self
            .def_histogram
            .get(usize::from(column.slot_def)..max)
            .unwrap_or_default();
        slots.iter().sum()
    }
}

fn count(histogram: &mut [u64], levels: &[u8]) {
    for &level in levels {
        if let Some(count) = histogram.get_mut(usize::from(level)) {
            *count += 1;
        }
    }
}

/// The bounds in all orders known to be used for `min` and `max`, before `min_value` and
/// `max_value` existed. The specification required "signed", but writers disagreed.
#[derive(Debug, Clone)]
pub(super) struct OldBounds {
    pub(super) orders: Vec<(ColumnOrderKind, BoundsBuilder)>,
    /// The bounds of values with the high bit of each byte flipped. Their unsigned order is the
    /// original's order by signed bytes.
    pub(super) signed_bytes: Option<BoundsBuilder>,
}

impl OldBounds {
    fn new(column: &Column) -> Self {
        use ColumnOrderKind as Order;
        let physical = column.leaf.physical_type;
        let orders = match column.natural_order {
            Order::Signed | Order::Unsigned => vec![Order::Signed, Order::Unsigned],
            Order::UnsignedBytes | Order::SignedBytes => {
                vec![Order::UnsignedBytes, Order::SignedBytes]
            }
            // The specification didn't define an order for INT96 and writers compared its bytes in
            // several ways, so we can't check such bounds.
            Order::Undefined | Order::Int96 => Vec::new(),
            order => vec![order],
        };
        let builder = |order| BoundsBuilder::new(order, physical);
        let bytes = matches!(
            column.natural_order,
            Order::UnsignedBytes | Order::SignedBytes
        );
        Self {
            orders: orders
                .into_iter()
                .map(|order| (order, builder(order)))
                .collect(),
            signed_bytes: bytes.then(|| builder(Order::UnsignedBytes)),
        }
    }

    fn add(&mut self, values: &ArrayRef) {
        for (_, bounds) in &mut self.orders {
            add_values(bounds, values);
        }
        let Some(bounds) = &mut self.signed_bytes else {
            return;
        };
        if let Some(fixed) = values.as_fixed_size_binary_opt() {
            let width = usize::try_from(fixed.value_length()).unwrap_or_default();
            bounds.fixed(&flipped(fixed.value_data()), width);
        } else if let Some(bytes) = values.as_binary_opt::<i32>() {
            bytes
                .iter()
                .flatten()
                .for_each(|value| bounds.bytes(&flipped(value)));
        }
    }

    fn merge(&mut self, other: &Self) {
        for ((_, bounds), (_, other)) in self.orders.iter_mut().zip(&other.orders) {
            bounds.merge(other);
        }
        if let (Some(bounds), Some(other)) = (&mut self.signed_bytes, &other.signed_bytes) {
            bounds.merge(other);
        }
    }
}

/// Returns the bytes with the highest bit of each byte flipped.
pub(super) fn flipped(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ 0x80).collect()
}

/// Extends bounds by physical values.
fn add_values(bounds: &mut BoundsBuilder, values: &ArrayRef) {
    match values.data_type() {
        DataType::Boolean => {
            let bits = values.as_boolean().values();
            bounds.bits(bits.values(), bits.offset(), bits.len());
        }
        DataType::Int32 => bounds.i32(values.as_primitive::<Int32Type>().values()),
        DataType::Int64 => bounds.i64(values.as_primitive::<Int64Type>().values()),
        DataType::Float32 => bounds.f32(values.as_primitive::<Float32Type>().values()),
        DataType::Float64 => bounds.f64(values.as_primitive::<Float64Type>().values()),
        DataType::FixedSizeBinary(width) => {
            let width = usize::try_from(*width).unwrap_or_default();
            bounds.fixed(values.as_fixed_size_binary().value_data(), width);
        }
        DataType::Binary => {
            bounds.byte_arrays(values.as_binary::<i32>().iter().flatten());
        }
        _ => {}
    }
}

/// Calls `see` with each value in the PLAIN encoding, except for lengths, which are left out, and
/// booleans, which take one byte each.
pub(super) fn for_each_plain(values: &ArrayRef, mut see: impl FnMut(&[u8])) {
    match values.data_type() {
        DataType::Boolean => {
            let bits = values.as_boolean().values();
            bits.iter().for_each(|bit| see(&[u8::from(bit)]));
        }
        DataType::Int32 => {
            let values = values.as_primitive::<Int32Type>().values();
            values.iter().for_each(|value| see(&value.to_le_bytes()));
        }
        DataType::Int64 => {
            let values = values.as_primitive::<Int64Type>().values();
            values.iter().for_each(|value| see(&value.to_le_bytes()));
        }
        DataType::Float32 => {
            let values = values.as_primitive::<Float32Type>().values();
            values.iter().for_each(|value| see(&value.to_le_bytes()));
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>().values();
            values.iter().for_each(|value| see(&value.to_le_bytes()));
        }
        DataType::FixedSizeBinary(_) => {
            values.as_fixed_size_binary().iter().flatten().for_each(see);
        }
        DataType::Binary => values.as_binary::<i32>().iter().flatten().for_each(see),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flipped bytes must be in the order of signed bytes, from -128 to 127.
    #[test]
    fn flipped_bytes_have_the_order_of_signed_bytes() {
        let signed: Vec<u8> = (i8::MIN..=i8::MAX).map(|byte| byte as u8).collect();
        let unsigned: Vec<u8> = (0..=u8::MAX).collect();
        assert_eq!(flipped(&signed), unsigned);
        assert_eq!(flipped(&unsigned), signed);
    }
}
