//! The targets, by name.

use herringbone::format::{CompressionCodec, Encoding};
use herringbone_interchange::in_memory::Format;

use crate::codec::decompress_and_compress;
use crate::encrypted::encrypted_file;
use crate::import::import;
use crate::metadata::{footer, page_header, page_index};
use crate::page::values;
use crate::peer::against_arrow_rs;
use crate::read::whole_file;
use crate::round_trip::write_then_read;
use crate::store::store_answers;
use crate::variant::variant;

/// A function that runs a target on an input, and panics if a property does not hold.
type Target = fn(&[u8]);

/// All targets.
pub const TARGETS: [(&str, Target); 26] = [
    ("against_arrow_rs", |data| {
        against_arrow_rs(&data.to_vec().into())
    }),
    ("codec_brotli", |data| codec(CompressionCodec::Brotli, data)),
    ("codec_gzip", |data| codec(CompressionCodec::Gzip, data)),
    ("codec_lz4", |data| codec(CompressionCodec::Lz4, data)),
    ("codec_lz4_raw", |data| {
        codec(CompressionCodec::Lz4Raw, data)
    }),
    ("codec_lzo", |data| codec(CompressionCodec::Lzo, data)),
    ("codec_snappy", |data| codec(CompressionCodec::Snappy, data)),
    ("codec_zstd", |data| codec(CompressionCodec::Zstd, data)),
    ("encoding_alp", |data| values(Encoding::Alp, data)),
    ("encoding_byte_stream_split", |data| {
        values(Encoding::ByteStreamSplit, data)
    }),
    ("encoding_delta_binary_packed", |data| {
        values(Encoding::DeltaBinaryPacked, data)
    }),
    ("encoding_delta_byte_array", |data| {
        values(Encoding::DeltaByteArray, data)
    }),
    ("encoding_delta_length_byte_array", |data| {
        values(Encoding::DeltaLengthByteArray, data)
    }),
    ("encoding_plain", |data| values(Encoding::Plain, data)),
    ("encoding_rle_boolean", |data| values(Encoding::Rle, data)),
    ("encoding_rle_dictionary", |data| {
        values(Encoding::RleDictionary, data)
    }),
    ("encrypted_file", encrypted_file),
    ("footer", footer),
    ("import_csv", |data| import(Format::Csv, data)),
    ("import_json_lines", |data| import(Format::JsonLines, data)),
    ("page_header", page_header),
    ("page_index", page_index),
    ("store_answers", store_answers),
    ("variant", variant),
    ("whole_file", whole_file),
    ("write_then_read", write_then_read),
];

fn codec(codec: CompressionCodec, data: &[u8]) {
    decompress_and_compress(codec, data);
}

/// Runs a target on an input.
///
/// # Panics
/// Panics if the target's property does not hold, or if there is no such target.
pub fn run(target: &str, data: &[u8]) {
    let known = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, run) = known.unwrap_or_else(|| panic!("there is no target `{target}`"));
    run(data);
}
