//! Bounds of statistics, which are PLAIN values, as values of Arrow.

use herringbone_arrow::array::{ArrayRef, new_null_array};
use herringbone_arrow::buffer::{Buffer, NullBuffer};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::{Conversion, Int96Overflow, ParquetSchema, SchemaOptions};

use herringbone_core::array::{LeafArray, LeafType, leaf_array};

/// Bytes of the widest FixedSizeBinary that bounds are decoded to. A slot takes them whether there is a bound or not, and
/// a bound that is missing takes one or two bytes of the file.
const WIDEST_SLOT: usize = 64;

/// Decodes bounds of one column.
///
/// Bounds have the bytes of PLAIN values, byte arrays without their length (parquet.thrift,
/// `Statistics`). They become values of the Arrow type that the column has by its Parquet schema alone:
/// what a file's own Arrow schema makes of the column is not asked. Bounds that would be FixedSizeBinary of more than
/// 64 bytes become Binary, so that a bound that is missing takes no memory.
#[derive(Debug)]
pub struct BoundsDecoder {
    field: Field,
    leaf_type: LeafType,
}

impl BoundsDecoder {
    /// A decoder for bounds of the column at `leaf`.
    ///
    /// # Errors
    /// Argument where there is no such column.
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

    /// The name and type of the values.
    #[must_use]
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// One value a bound: null where there is none, and where its bytes are no value of the type.
    ///
    /// # Errors
    /// Unsupported where the column has no Arrow array.
    pub fn decode(&self, bounds: &[Option<&[u8]>]) -> Result<ArrayRef> {
        let mut array = leaf_array(&self.leaf_type)?;
        let (values, validity) = self.plain(bounds, |_| true);
        if let Ok(values) = finish(&mut *array, values, &validity) {
            return Ok(values);
        }
        // Some bytes are no value of the type, so each bound is looked at by itself.
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

    /// The bounds that have as many bytes as a value, and that `keep` accepts, as the values of a PLAIN
    /// page; and which they are.
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
                    // It was checked to fit.
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

/// An array of these PLAIN values, at the slots that are valid.
fn finish(array: &mut dyn LeafArray, values: Vec<u8>, validity: &[bool]) -> Result<ArrayRef> {
    let num_values = validity.iter().filter(|valid| **valid).count();
    let mut slots = Bitmap::new();
    for valid in validity {
        slots.append_run(*valid, 1);
    }
    array.set_page(Encoding::Plain, Buffer::from_vec(values), num_values)?;
    if array.values_that_fit(num_values, usize::MAX)? < num_values {
        return Err(Error::unsupported("bounds that are too long for an array"));
    }
    array.append_spread(num_values, &slots, 0, validity.len())?;
    array.leave_page();
    let nulls = NullBuffer::from(validity);
    array.finish(Some(nulls).filter(|nulls| nulls.null_count() > 0))
}
