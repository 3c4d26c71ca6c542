//! Reads decimals from integers or from fixed-length or variable-length big-endian bytes.

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, i256};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, Result};
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::decimal::{self, Decimal};
use herringbone_kernels::plain;

use crate::array::byte_array_page::{ByteArrayPage, no_dictionary};
use crate::array::convert::Short;
use crate::array::convert::{Blocks, Convert, Lost};
use crate::array::finish_fixed_width;
use crate::array::fixed_width::{FixedWidth, converted};
use crate::array::fixed_width_buffer::FixedWidthBuffer;
use crate::array::{LeafArray, LeafType, unsupported};
use crate::encoding::Rest;
use crate::encoding::byte_array::ByteArrays;
use crate::malformed;

/// The maximum byte count of a BYTE_ARRAY decimal. A 256-bit value needs 32 bytes, so any further bytes only repeat the
/// sign.
const MAX_BYTES: usize = 256;

/// Returns the array for decimals stored as INT32 and read as a wider Arrow type.
pub(in crate::array) fn from_int32(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    Ok(match leaf.data_type {
        DataType::Decimal64(..) => converted::<i32, _>(leaf, Blocks::new(widen_32::<i64>)),
        DataType::Decimal128(..) => converted::<i32, _>(leaf, Blocks::new(widen_32::<i128>)),
        DataType::Decimal256(..) => converted::<i32, _>(leaf, Blocks::new(widen_32::<i256>)),
        _ => return Err(unsupported(leaf)),
    })
}

/// Returns the array for decimals stored as INT64 and read as an Arrow type of another width.
pub(in crate::array) fn from_int64(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    fn wider<T: Decimal + ArrowNativeType>(leaf: &LeafType) -> Box<dyn LeafArray> {
        let convert = Blocks::new(widen_64::<T>).with_short(Short {
            read: |bytes, _, out| {
                plain::extend(bytes, out);
                Ok(())
            },
            widen: T::extend_i64,
        });
        converted::<i64, _>(leaf, convert)
    }
    Ok(match leaf.data_type {
        DataType::Decimal32(..) => converted::<i64, _>(leaf, Blocks::new(narrow)),
        DataType::Decimal128(..) => wider::<i128>(leaf),
        DataType::Decimal256(..) => wider::<i256>(leaf),
        _ => return Err(unsupported(leaf)),
    })
}

/// Returns the array for decimals stored as FIXED_LEN_BYTE_ARRAY.
pub(in crate::array) fn from_fixed(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    fn array<T: Decimal + ArrowNativeType>(leaf: &LeafType) -> Box<dyn LeafArray> {
        let width = leaf.type_length;
        Box::new(FixedWidth::new(
            leaf.data_type.clone(),
            width,
            BigEndian::<T>::new(width),
        ))
    }
    Ok(match leaf.data_type {
        DataType::Decimal32(..) => array::<i32>(leaf),
        DataType::Decimal64(..) => array::<i64>(leaf),
        DataType::Decimal128(..) => array::<i128>(leaf),
        DataType::Decimal256(..) => array::<i256>(leaf),
        _ => return Err(unsupported(leaf)),
    })
}

/// Returns the array for decimals stored as BYTE_ARRAY.
pub(in crate::array) fn from_byte_array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    let data_type = leaf.data_type.clone();
    Ok(match leaf.data_type {
        DataType::Decimal32(..) => Box::new(ByteArrayDecimal::<i32>::new(data_type)),
        DataType::Decimal64(..) => Box::new(ByteArrayDecimal::<i64>::new(data_type)),
        DataType::Decimal128(..) => Box::new(ByteArrayDecimal::<i128>::new(data_type)),
        DataType::Decimal256(..) => Box::new(ByteArrayDecimal::<i256>::new(data_type)),
        _ => return Err(unsupported(leaf)),
    })
}

fn widen_32<T: Decimal>(bytes: &[u8], out: &mut Vec<T>) -> Result<(), Malformed> {
    T::extend_i32(bytes, out);
    Ok(())
}

fn widen_64<T: Decimal>(bytes: &[u8], out: &mut Vec<T>) -> Result<(), Malformed> {
    T::extend_i64(bytes, out);
    Ok(())
}

fn narrow(bytes: &[u8], out: &mut Vec<i32>) -> Result<(), Malformed> {
    let mut values = plain::values::<i64>(bytes);
    out.extend(values.clone().map(|value| value as i32));
    if values.any(|value| i32::try_from(value).is_err()) {
        return Err(Malformed(
            "a decimal has more digits than its precision allows",
        ));
    }
    Ok(())
}

/// The conversion for big-endian numbers of `width` bytes.
struct BigEndian<T> {
    width: usize,
    to: std::marker::PhantomData<fn() -> T>,
}

impl<T> BigEndian<T> {
    fn new(width: usize) -> Self {
        Self {
            width,
            to: std::marker::PhantomData,
        }
    }
}

impl<T: Decimal + ArrowNativeType> Convert<u8> for BigEndian<T> {
    type To = T;

    fn convert(&self, bytes: &[u8], out: &mut Vec<T>, _lost: &mut Lost) -> Result<()> {
        decimal::extend(bytes, self.width, out).map_err(malformed)
    }

    fn short(&self, _units: usize) -> Option<Short<T>> {
        let fits = self.width <= size_of::<i64>() && size_of::<T>() > size_of::<i64>();
        fits.then_some(Short {
            read: decimal::extend,
            widen: T::extend_i64,
        })
    }
}

/// An array of variable-length decimals, each converted as it is read.
struct ByteArrayDecimal<T> {
    data_type: DataType,
    dictionary: Option<Vec<T>>,
    page: ByteArrayPage,
    values: FixedWidthBuffer<T>,
}

impl<T: Decimal + ArrowNativeType> ByteArrayDecimal<T> {
    fn new(data_type: DataType) -> Self {
        Self {
            data_type,
            dictionary: None,
            page: ByteArrayPage::EMPTY,
            values: FixedWidthBuffer::new(),
        }
    }
}

/// Appends the next `n` values as numbers.
fn extend<T: Decimal>(values: &mut ByteArrays, n: usize, out: &mut Vec<T>) -> Result<()> {
    values.for_each(n, |bytes| {
        if bytes.len() > MAX_BYTES {
            return Err(Malformed("a decimal of more than 256 bytes"));
        }
        out.push(decimal::from_big_endian(bytes)?);
        Ok(())
    })
}

impl<T: Decimal + ArrowNativeType> LeafArray for ByteArrayDecimal<T> {
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        // Each value has a length prefix, so the section's size bounds the number of entries.
        let most = values.len() / size_of::<u32>();
        let mut entries = Vec::with_capacity(num_values.min(most));
        let mut page = ByteArrays::new(Encoding::Plain, values.clone(), None)?;
        extend(&mut page, num_values, &mut entries)?;
        self.dictionary = Some(entries);
        Ok(())
    }

    fn drop_dictionary(&mut self) -> bool {
        self.dictionary = None;
        true
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, _num_values: usize) -> Result<()> {
        self.page = ByteArrayPage::new(encoding, values, None)?;
        Ok(())
    }

    fn release_page(&mut self) {
        self.page = ByteArrayPage::EMPTY;
    }

    fn most_bytes(&mut self, n: usize) -> usize {
        n.saturating_mul(size_of::<T>())
    }

    fn dictionary_bytes(&self, _page_bytes: usize, num_values: usize) -> usize {
        num_values.saturating_mul(size_of::<T>())
    }

    fn append(&mut self, n: usize) -> Result<()> {
        let out = self.values.vector(n);
        match (&mut self.page, &self.dictionary) {
            (ByteArrayPage::Direct(values), _) => extend(values, n, out),
            (ByteArrayPage::Dictionary(indices), Some(entries)) => indices.gather(n, entries, out),
            (ByteArrayPage::Dictionary(_), None) => Err(no_dictionary()),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
    }

    fn rest(&self) -> Rest<'_> {
        self.page.rest()
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        self.values.expand(1, validity, start, slots);
        Ok(())
    }

    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()> {
        let start = self.values.len();
        self.append(wanted.len())?;
        self.values.retain(1, start, wanted);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.values.bytes()
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let slots = self.values.len();
        finish_fixed_width(&self.data_type, slots, self.values.finish(), nulls)
    }
}
