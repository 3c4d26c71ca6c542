//! Compresses and decompresses the bytes of pages.

use herringbone::format::CompressionCodec;
use herringbone::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use herringbone_core::compression::{compress, decompress};

/// Decompresses `data` into as many bytes as its first two bytes declare, then compresses `data`
/// itself and decompresses it again.
pub fn decompress_and_compress(codec: CompressionCodec, data: &[u8]) {
    let &[low, high, ref input @ ..] = data else {
        return;
    };
    let mut output = vec![0; u16::from_le_bytes([low, high]).into()];
    let is_right = decompress(codec, input, &mut output).is_ok();
    if codec == CompressionCodec::Snappy && !(input.is_empty() && output.is_empty()) {
        // Compare our decoder with the reference decoder.
        let mut theirs = vec![0; output.len()];
        let reference = snap::raw::Decoder::new().decompress(input, &mut theirs);
        assert_eq!(reference == Ok(output.len()), is_right);
        assert!(!is_right || theirs == output);
    }
    let Some(compression) = writer_of(codec) else {
        return;
    };
    let mut packed = Vec::new();
    compress(compression, data, &mut packed).expect("any bytes can be compressed");
    let mut plain = vec![0; data.len()];
    decompress(codec, &packed, &mut plain).expect("what was compressed");
    assert_eq!(plain, data);
}

/// Returns the compression that writes a codec's pages, or `None` if we only read the codec.
fn writer_of(codec: CompressionCodec) -> Option<Compression> {
    Some(match codec {
        CompressionCodec::Snappy => Compression::Snappy,
        CompressionCodec::Gzip => Compression::Gzip(GzipLevel::default()),
        CompressionCodec::Brotli => Compression::Brotli(BrotliLevel::default()),
        CompressionCodec::Zstd => Compression::Zstd(ZstdLevel::default()),
        CompressionCodec::Lz4Raw => Compression::Lz4Raw,
        _ => return None,
    })
}
