//! Prints nested values (structs, lists and maps) as well as dictionary and run-end encoded values.

use std::ops::Range;

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::types::{ArrowDictionaryKeyType, RunEndIndexType};
use herringbone_arrow::array::{
    Array, DictionaryArray, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, PrimitiveArray, RunArray, StructArray,
};
use herringbone_arrow::buffer::{ArrowNativeType, OffsetBuffer};
use herringbone_arrow::schema::{Field, FieldRef, Fields};
use herringbone_text::json::push_quoted;

use super::value::{Boxed, Value, of};
use crate::error::{Error, Result};

/// Appends `[…]`, calling `item` for each of `rows`.
fn push_array(out: &mut String, rows: Range<usize>, item: impl Fn(usize, &mut String)) {
    out.push('[');
    for row in rows.clone() {
        if row != rows.start {
            out.push(',');
        }
        item(row, out);
    }
    out.push(']');
}

/// The columns of a struct, or of a whole batch, printed as JSON objects.
///
/// Duplicate names are written twice. For JSON lines that can't happen, since `keys.rs` rejects
/// them earlier.
pub struct Struct<'a> {
    /// The columns, each with its name as a JSON string, followed by a colon.
    columns: Vec<(String, Boxed<'a>)>,
}

impl<'a> Struct<'a> {
    /// Wraps the columns of a struct.
    pub fn new(fields: &Fields, array: &'a StructArray) -> Result<Self> {
        Self::of_columns(fields, array.columns().iter().map(AsRef::as_ref))
    }

    /// Wraps the columns of a batch.
    pub fn of_columns(
        fields: &Fields,
        columns: impl Iterator<Item = &'a dyn Array>,
    ) -> Result<Self> {
        let named = |(field, column): (&FieldRef, _)| {
            let mut key = String::new();
            push_quoted(&mut key, field.name());
            key.push(':');
            Ok((key, of(field, column)?))
        };
        let columns = fields
            .iter()
            .zip(columns)
            .map(named)
            .collect::<Result<_>>()?;
        Ok(Self { columns })
    }
}

impl Value for Struct<'_> {
    fn json(&self, row: usize, out: &mut String) {
        let mut before = '{';
        for (key, column) in &self.columns {
            out.push(before);
            before = ',';
            out.push_str(key);
            column.json(row, out);
        }
        out.push_str(if self.columns.is_empty() { "{}" } else { "}" });
    }

    fn text(&self, row: usize, out: &mut String) {
        self.json(row, out);
    }

    fn lost(&self) -> LostTypes {
        let columns = self.columns.iter().map(|(_, column)| column.lost());
        columns.fold(LostTypes::default(), LostTypes::union)
    }
}

/// Lists of every kind, printed as JSON arrays.
pub struct List<'a, F> {
    /// The function that returns the items in a row.
    range: F,
    items: Boxed<'a>,
}

impl<'a> List<'a, ()> {
    /// Wraps contiguous lists.
    pub fn of_list<O: OffsetSizeTrait>(
        item: &Field,
        array: &'a GenericListArray<O>,
    ) -> Result<List<'a, impl Fn(usize) -> Range<usize> + 'a>> {
        let offsets = array.offsets();
        let items = of(item, array.values().as_ref())?;
        Ok(List {
            range: move |row| range_at(offsets, row),
            items,
        })
    }

    /// Wraps list views, whose items can be anywhere.
    pub fn of_views<O: OffsetSizeTrait>(
        item: &Field,
        array: &'a GenericListViewArray<O>,
    ) -> Result<List<'a, impl Fn(usize) -> Range<usize> + 'a>> {
        let range = move |row| {
            let start = array.value_offset(row).as_usize();
            start..start + array.value_size(row).as_usize()
        };
        Ok(List {
            range,
            items: of(item, array.values().as_ref())?,
        })
    }

    /// Wraps lists of fixed length.
    pub fn of_fixed(
        item: &Field,
        array: &'a FixedSizeListArray,
    ) -> Result<List<'a, impl Fn(usize) -> Range<usize> + 'a>> {
        let length = array.value_length().as_usize();
        let items = of(item, array.values().as_ref())?;
        Ok(List {
            range: move |row| row * length..(row + 1) * length,
            items,
        })
    }
}

fn range_at<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, row: usize) -> Range<usize> {
    let at = |row| offsets.get(row).map_or(0, |offset: &O| offset.as_usize());
    at(row)..at(row + 1)
}

impl<F: Fn(usize) -> Range<usize>> Value for List<'_, F> {
    fn json(&self, row: usize, out: &mut String) {
        push_array(out, (self.range)(row), |item, out| {
            self.items.json(item, out)
        });
    }

    fn text(&self, row: usize, out: &mut String) {
        self.json(row, out);
    }

    fn lost(&self) -> LostTypes {
        self.items.lost()
    }
}

/// Maps, printed as JSON arrays of `[key, value]`. We can't use objects, because keys need not be
/// strings and can occur twice.
pub struct Map<'a> {
    offsets: &'a OffsetBuffer<i32>,
    keys: Boxed<'a>,
    values: Boxed<'a>,
}

impl<'a> Map<'a> {
    /// Wraps the maps of an array.
    pub fn new(array: &'a MapArray) -> Result<Self> {
        let [key, value] = array.entries().fields().as_ref() else {
            return Err(Error::Data("a map whose entries are not pairs".into()));
        };
        Ok(Self {
            offsets: array.offsets(),
            keys: of(key, array.keys().as_ref())?,
            values: of(value, array.values().as_ref())?,
        })
    }
}

impl Value for Map<'_> {
    fn json(&self, row: usize, out: &mut String) {
        push_array(out, range_at(self.offsets, row), |entry, out| {
            out.push('[');
            self.keys.json(entry, out);
            out.push(',');
            self.values.json(entry, out);
            out.push(']');
        });
    }

    fn text(&self, row: usize, out: &mut String) {
        self.json(row, out);
    }

    fn lost(&self) -> LostTypes {
        self.keys.lost().union(self.values.lost())
    }
}

/// Values encoded as keys of other values.
pub struct Dictionary<'a, K: ArrowDictionaryKeyType> {
    keys: &'a PrimitiveArray<K>,
    values: Boxed<'a>,
}

impl<'a, K: ArrowDictionaryKeyType> Dictionary<'a, K> {
    /// Wraps the values of an array that belongs to `field`.
    pub fn new(field: &Field, array: &'a DictionaryArray<K>) -> Result<Self> {
        let values = of(field, array.values().as_ref())?;
        Ok(Self {
            keys: array.keys(),
            values,
        })
    }

    fn key(&self, row: usize) -> usize {
        self.keys.value(row).as_usize()
    }
}

impl<K: ArrowDictionaryKeyType> Value for Dictionary<'_, K> {
    fn json(&self, row: usize, out: &mut String) {
        self.values.json(self.key(row), out);
    }

    fn text(&self, row: usize, out: &mut String) {
        self.values.text(self.key(row), out);
    }

    fn cell(&self, row: usize, out: &mut String) {
        self.values.cell(self.key(row), out);
    }

    /// Returns true if the value is null. The caller has already checked the key.
    fn is_null(&self, row: usize) -> bool {
        self.values.is_null(self.key(row))
    }

    fn lost(&self) -> LostTypes {
        self.values.lost()
    }
}

/// Values encoded as runs.
pub struct Runs<'a, R: RunEndIndexType> {
    array: &'a RunArray<R>,
    values: Boxed<'a>,
}

impl<'a, R: RunEndIndexType> Runs<'a, R> {
    /// Wraps the values of an array.
    pub fn new(values: &Field, array: &'a RunArray<R>) -> Result<Self> {
        Ok(Self {
            array,
            values: of(values, array.values().as_ref())?,
        })
    }

    fn run(&self, row: usize) -> usize {
        self.array.get_physical_index(row)
    }
}

impl<R: RunEndIndexType> Value for Runs<'_, R> {
    fn json(&self, row: usize, out: &mut String) {
        self.values.json(self.run(row), out);
    }

    fn text(&self, row: usize, out: &mut String) {
        self.values.text(self.run(row), out);
    }

    fn cell(&self, row: usize, out: &mut String) {
        self.values.cell(self.run(row), out);
    }

    fn is_null(&self, row: usize) -> bool {
        self.values.is_null(self.run(row))
    }

    fn lost(&self) -> LostTypes {
        self.values.lost()
    }
}
