//! Puts a whole file around the values of one page, so that the bytes reach the encodings'
//! decoders.
//!
//! ```text
//! choice u8 | number of values u16 | validity u8 | values of the page
//! ```
//!
//! The choice selects one of the encoding's physical types, and the way of the second read. The
//! pattern in `validity` repeats over the rows and marks nulls. If all of its bits are set, the
//! column is required.

use bytes::Bytes;
use herringbone::format::{
    CompressionCodec, ConvertedType, Encoding, Repetition, SchemaElement, Type,
};

use crate::crafted::{Chunk, Page, file, group, leaf};
use crate::read::{in_two_ways, open};

/// Returns the physical types that an encoding serves.
fn types(encoding: Encoding) -> &'static [Type] {
    use Type::*;
    match encoding {
        Encoding::Rle => &[Boolean],
        Encoding::DeltaBinaryPacked => &[Int32, Int64],
        Encoding::DeltaLengthByteArray => &[ByteArray],
        Encoding::DeltaByteArray => &[ByteArray, FixedLenByteArray],
        Encoding::ByteStreamSplit => &[Int32, Int64, Float, Double, FixedLenByteArray],
        Encoding::Alp => &[Float, Double],
        Encoding::RleDictionary => &[Int32, Int64, Int96, Double, ByteArray, FixedLenByteArray],
        _ => &[
            Boolean,
            Int32,
            Int64,
            Int96,
            Float,
            Double,
            ByteArray,
            FixedLenByteArray,
        ],
    }
}

/// Reads `data` as the values of a page in this encoding.
pub fn values(encoding: Encoding, data: &[u8]) {
    let &[choice, low, high, validity, ref values @ ..] = data else {
        return;
    };
    let types = types(encoding);
    let num_values = u16::from_le_bytes([low, high]) % 1000;
    let column = Column {
        physical: types[usize::from(choice) % types.len()],
        is_text: choice & 0x80 != 0,
        nullable: validity != 0xff,
    };
    let file = column.file(encoding, num_values.into(), validity, values);
    in_two_ways(|| open(&file), true, choice >> 4);
}

/// One column of one page.
struct Column {
    physical: Type,
    is_text: bool,
    nullable: bool,
}

impl Column {
    fn file(&self, encoding: Encoding, num_values: usize, validity: u8, values: &[u8]) -> Bytes {
        let mut pages = Vec::new();
        if encoding == Encoding::RleDictionary {
            pages.push(Page::dictionary(5, &self.five_entries()));
        }
        let levels = match self.nullable {
            true => bit_packed(num_values.div_ceil(8), validity),
            false => Vec::new(),
        };
        pages.push(Page::v2(num_values, encoding, &levels, values));
        let chunk = Chunk {
            physical: self.physical,
            codec: CompressionCodec::Uncompressed,
            num_values: num_values as u64,
            pages,
        };
        let schema = vec![group("schema", None, 1), self.element()];
        file(schema, &[(num_values as u64, vec![chunk])]).into()
    }

    fn element(&self) -> SchemaElement {
        let repetition = match self.nullable {
            true => Repetition::Optional,
            false => Repetition::Required,
        };
        let mut element = leaf("x", self.physical, repetition);
        if self.physical == Type::FixedLenByteArray {
            element.type_length = Some(i32::from(width(self.physical)));
        }
        if self.is_text && self.physical == Type::ByteArray {
            element.converted_type = Some(ConvertedType::Utf8);
        }
        element
    }

    /// Returns a dictionary that indices may refer to.
    fn five_entries(&self) -> Vec<u8> {
        if self.physical == Type::ByteArray {
            let entries = ["", "a", "bb", "\u{e9}", "twenty bytes of text"];
            return entries
                .iter()
                .flat_map(|text| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat())
                .collect();
        }
        (0..5 * width(self.physical)).collect()
    }
}

/// Returns one run of groups of eight equal levels, in the hybrid encoding.
fn bit_packed(groups: usize, levels: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut header = groups << 1 | 1;
    while header >= 0x80 {
        out.push(header as u8 | 0x80);
        header >>= 7;
    }
    out.push(header as u8);
    out.resize(out.len() + groups, levels);
    out
}

/// Returns a value's byte count, which is arbitrary for FIXED_LEN_BYTE_ARRAY.
fn width(physical: Type) -> u8 {
    match physical {
        Type::Int32 | Type::Float => 4,
        Type::Int64 | Type::Double => 8,
        Type::Int96 => 12,
        _ => 3,
    }
}

/// Returns an encoding's target, and the target's input for the values of a page.
pub fn seed_of_values(
    encoding: Encoding,
    physical: Type,
    num_values: i32,
    values: &Bytes,
) -> Option<(&'static str, Vec<u8>)> {
    let target = match encoding {
        Encoding::Plain => "plain",
        Encoding::Rle => "rle_boolean",
        Encoding::RleDictionary | Encoding::PlainDictionary => "rle_dictionary",
        Encoding::DeltaBinaryPacked => "delta_binary_packed",
        Encoding::DeltaLengthByteArray => "delta_length_byte_array",
        Encoding::DeltaByteArray => "delta_byte_array",
        Encoding::ByteStreamSplit => "byte_stream_split",
        Encoding::Alp => "alp",
        _ => return None,
    };
    let encoding = match encoding {
        Encoding::PlainDictionary => Encoding::RleDictionary,
        other => other,
    };
    let choice = types(encoding)
        .iter()
        .position(|known| *known == physical)?;
    let [low, high] = u16::try_from(num_values).ok()?.to_le_bytes();
    Some((
        target,
        [&[choice as u8, low, high, 0xff], &values[..]].concat(),
    ))
}
