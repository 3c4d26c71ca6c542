//! Decodes bounds in statistics from PLAIN values to Arrow values.

use herringbone_arrow::array::{ArrayRef, new_null_array};
use herringbone_arrow::buffer::{Buffer, NullBuffer};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::{Conversion, Int96Overflow, ParquetSchema, SchemaOptions};

use herringbone_core::array::{LeafArray, LeafType, leaf_array};

/// The byte width of the widest FixedSizeBinary used for decoded bounds. Every slot takes this memory, even if its
/// bound is missing and only takes one or two bytes of the file.
const WIDEST_SLOT: usize = 64;

/// A decoder for one column's bounds. Used to turn raw bytes from statistics and page indexes into comparable values.
///
/// Bounds have the bytes of PLAIN values, but byte arrays omit their length (parquet.thrift, `Statistics`). We decode
/// them to the column's Arrow type according to the Parquet schema alone, ignoring any Arrow schema embedded in the
/// file. Bounds of type FixedSizeBinary with more than 64 bytes become Binary, so that a missing bound takes no memory.
#[derive(Debug)]
pub struct BoundsDecoder {
    field: Field,
    leaf_type: LeafType,
}

impl BoundsDecoder {
    /// Creates a decoder for the bounds of the column at `leaf`.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such column.
    pub fn new(schema: &ParquetSchema, leaf: usize, options: &SchemaOptions) -> Result<Self> {
        let field = schema.leaf_field(leaf, options);
        let column = schema.leaves().get(leaf).zip(field);
        let (leaf, field) =
            column.ok_or_else(|| Error::argument(format!("the schema has no column {leaf}")))?;
        let is_wide = matches!(field.data_type(), DataType::FixedSizeBinary(_))
            && leaf.type_length > WIDEST_SLOT;
        let field = match is_wide {
            true => field.with_data_type(DataType::Binary),
            false => field,
        };
        Ok(Self {
            leaf_type: LeafType {
                physical_type: leaf.physical_type,
                type_length: leaf.type_length,
                data_type: field.data_type().clone(),
                conversion: Conversion::Identity,
                int96_overflow: Int96Overflow::Error,
                is_ordered: false,
            },
            field,
        })
    }

    /// Creates a decoder for the bounds of a column, using the type a read decodes it to.
    pub(super) fn of_type(leaf_type: LeafType, name: &str) -> Self {
        Self {
            field: Field::new(name, leaf_type.data_type.clone(), true),
            leaf_type,
        }
    }

    /// Returns the values' name and type, as a field.
    #[must_use]
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// Returns one value per bound, or null if the bound is missing or not a value of the type.
    ///
    /// # Errors
    /// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if the column has no Arrow array.
    pub fn decode(&self, bounds: &[Option<&[u8]>]) -> Result<ArrayRef> {
        let mut array = leaf_array(&self.leaf_type)?;
        let (values, validity) = self.plain(bounds, |_| true);
        if let Ok(values) = finish(&mut *array, values, &validity) {
            return Ok(values);
        }
        // Some bytes are not a value of the type, so we check each bound separately.
        let is_value = |bound: &[u8]| {
            let Ok(mut array) = leaf_array(&self.leaf_type) else {
                return false;
            };
            let (values, validity) = self.plain(&[Some(bound)], |_| true);
            finish(&mut *array, values, &validity).is_ok()
        };
        let mut array = leaf_array(&self.leaf_type)?;
        let (values, validity) = self.plain(bounds, is_value);
        let decoded = finish(&mut *array, values, &validity);
        Ok(decoded.unwrap_or_else(|_| new_null_array(self.field.data_type(), bounds.len())))
    }

    /// Encodes the bounds that have a value's length and satisfy `keep` as a PLAIN page. Also returns which bounds were
    /// kept.
    fn plain(
        &self,
        bounds: &[Option<&[u8]>],
        keep: impl Fn(&[u8]) -> bool,
    ) -> (Vec<u8>, Vec<bool>) {
        let mut values = Vec::new();
        let mut bits = Vec::new();
        let mut validity = Vec::with_capacity(bounds.len());
        for bound in bounds {
            let bound = bound.filter(|bound| self.fits(bound) && keep(bound));
            validity.push(bound.is_some());
            match (bound, self.leaf_type.physical_type) {
                (None, _) => {}
                (Some(bound), Type::Boolean) => bits.push(*bound != [0]),
                (Some(bound), Type::ByteArray) => {
                    // `fits` checked the length.
                    values.extend_from_slice(&(bound.len() as u32).to_le_bytes());
                    values.extend_from_slice(bound);
                }
                (Some(bound), _) => values.extend_from_slice(bound),
            }
        }
        for bits in bits.chunks(8) {
            let bits = bits.iter().enumerate();
            values.push(bits.fold(0, |byte, (i, bit)| byte | (u8::from(*bit) << i)));
        }
        (values, validity)
    }

    fn fits(&self, bound: &[u8]) -> bool {
        let bytes = match self.leaf_type.physical_type {
            Type::Boolean => 1,
            Type::Int32 | Type::Float => 4,
            Type::Int64 | Type::Double => 8,
            Type::Int96 => 12,
            Type::FixedLenByteArray => self.leaf_type.type_length,
            Type::ByteArray => return i32::try_from(bound.len()).is_ok(),
        };
        bound.len() == bytes
    }
}

/// Creates an array from PLAIN values for its valid slots.
fn finish(array: &mut dyn LeafArray, values: Vec<u8>, validity: &[bool]) -> Result<ArrayRef> {
    let num_values = validity.iter().filter(|valid| **valid).count();
    let mut slots = Bitmap::new();
    for valid in validity {
        slots.append_run(*valid, 1);
    }
    array.set_page(Encoding::Plain, Buffer::from_vec(values), num_values)?;
    if array.values_that_fit(num_values, usize::MAX)? < num_values {
        return Err(Error::unsupported("the bounds are too long for an array"));
    }
    array.append_spread(num_values, &slots, 0, validity.len())?;
    array.release_page();
    let nulls = NullBuffer::from(validity);
    array.finish(Some(nulls).filter(|nulls| nulls.null_count() > 0))
}
