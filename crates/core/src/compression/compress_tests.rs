//! Pages compressed by this crate, read by the decompressors, which are tested with pages of other libraries.

use super::compress::Compressor;
use super::*;
use herringbone_format::ErrorKind;

/// Every codec, with some or all of its levels.
const CHOICES: &[&str] = &[
    "none",
    "snappy",
    "lz4_raw",
    "gzip:1",
    "gzip:6",
    "gzip:9",
    "brotli:0",
    "brotli:4",
    "brotli:10",
    "zstd:-50",
    "zstd:0",
    "zstd:1",
    "zstd:3",
    "zstd:19",
];

/// Returns the choices whose codec is compiled in, each with a compressor.
fn compressors() -> impl Iterator<Item = (Compression, Compressor)> {
    CHOICES.iter().filter_map(|text| {
        let compression: Compression = text.parse().unwrap();
        match Compressor::new(compression) {
            Ok(compressor) => Some((compression, compressor)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Feature);
                None
            }
        }
    })
}

/// Returns bytes without any pattern.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(|_| byte()).collect()
}

/// Returns pages of all kinds: empty, short, with and without patterns, larger than the blocks of Snappy and than
/// the small tables of LZ4.
fn plain_pages() -> Vec<Vec<u8>> {
    vec![
        vec![],
        vec![7],
        b"herringbone parquet ".repeat(8),
        vec![0; 300_000],
        noise(70_000),
        (0..60_000_u32)
            .flat_map(|i| (i / 7).to_le_bytes())
            .collect(),
        [noise(1000), vec![1; 100_000], noise(333)].concat(),
    ]
}

#[test]
fn pages_come_back() {
    for (compression, mut compressor) in compressors() {
        let mut decompressor = Decompressor::new(compression.codec()).unwrap();
        for plain in plain_pages() {
            // After existing bytes, and twice, so that contexts are reused.
            for before in [&b""[..], b"before"] {
                let mut out = before.to_vec();
                compressor.compress_sections(&plain, &[], &mut out).unwrap();
                assert_eq!(&out[..before.len()], before);
                let mut output = vec![0xa5; plain.len()];
                decompressor
                    .decompress(&out[before.len()..], &mut output)
                    .unwrap();
                assert!(output == plain, "{compression} {}", plain.len());
            }
        }
    }
}

#[test]
fn patterns_shrink_and_noise_hardly_grows() {
    for (compression, mut compressor) in compressors() {
        if compression == Compression::Uncompressed {
            continue;
        }
        let (mut zeros, mut random) = (Vec::new(), Vec::new());
        compressor
            .compress_sections(&[0; 300_000], &[], &mut zeros)
            .unwrap();
        assert!(zeros.len() < 20_000, "{compression} {}", zeros.len());
        compressor
            .compress_sections(&noise(70_000), &[], &mut random)
            .unwrap();
        // The fastest level of zlib uses the fixed codes. Half of them have nine bits.
        assert!(random.len() < 75_000, "{compression} {}", random.len());
    }
}

#[test]
fn the_compressors_of_a_thread() {
    // More kinds than are retained, each more than once.
    for _again in 0..3 {
        for (compression, _) in compressors() {
            let mut page = Vec::new();
            compress(compression, b"abcabcabcabc", &mut page).unwrap();
            let mut output = [0; 12];
            decompress(compression.codec(), &page, &mut output).unwrap();
            assert_eq!(&output, b"abcabcabcabc");
        }
    }
}

#[test]
fn an_uncompressed_page_is_a_copy() {
    let mut page = b"x".to_vec();
    compress(Compression::Uncompressed, b"abc", &mut page).unwrap();
    assert_eq!(page, b"xabc");
}

/// Returns the page of one byte in this form.
#[cfg(any(
    feature = "snappy",
    feature = "gzip",
    feature = "zstd",
    feature = "lz4"
))]
fn page_of_one_byte(text: &str) -> Vec<u8> {
    let mut page = Vec::new();
    compress(text.parse().unwrap(), b"a", &mut page).unwrap();
    page
}

#[cfg(feature = "snappy")]
#[test]
fn a_snappy_page_is_a_raw_block() {
    // The length, then a literal of one byte.
    assert_eq!(page_of_one_byte("snappy"), b"\x01\0a");
}

#[cfg(feature = "lz4")]
#[test]
fn an_lz4_page_is_a_bare_block() {
    // A token: one literal, no match.
    assert_eq!(page_of_one_byte("lz4_raw"), b"\x10a");
}

#[cfg(feature = "zstd")]
#[test]
fn a_zstd_page_is_a_frame_that_says_its_size() {
    // Magic number; one segment with a size of one byte, no checksum; the size.
    let page = page_of_one_byte("zstd");
    assert_eq!(page[..6], *b"\x28\xb5\x2f\xfd\x20\x01");
}

#[cfg(feature = "gzip")]
#[test]
fn a_gzip_page_is_one_member() {
    for text in ["gzip:1", "gzip:9"] {
        let page = page_of_one_byte(text);
        assert_eq!(page[..4], *b"\x1f\x8b\x08\0");
        // CRC-32 of "a" and the size.
        assert!(page.ends_with(b"\x43\xbe\xb7\xe8\x01\0\0\0"));
    }
}

#[cfg(feature = "brotli")]
#[test]
fn brotli_in_rust_makes_sound_pages_too() {
    use super::compressor::Compress;
    for plain in plain_pages() {
        for level in [0, 4, 9] {
            let mut compressor = brotli::BrotliCompressor::new(BrotliLevel::new(level).unwrap());
            let mut page = Vec::new();
            compressor
                .compress_sections(&plain, &[], &mut page)
                .unwrap();
            let mut output = vec![0xa5; plain.len()];
            decompress(CompressionCodec::Brotli, &page, &mut output).unwrap();
            assert!(output == plain, "{level} {}", plain.len());
        }
    }
}

/// Frames of libzstd at various levels.
#[cfg(all(feature = "zstd", feature = "ruzstd"))]
#[test]
fn ruzstd_reads_what_libzstd_writes() {
    let mut decoder = ruzstd::Ruzstd::new();
    for plain in plain_pages() {
        for level in [-5, 1, 9, 19, 22] {
            let mut page = Vec::new();
            let level = ZstdLevel::new(level).unwrap();
            compress(Compression::Zstd(level), &plain, &mut page).unwrap();
            let mut output = vec![0xa5; plain.len()];
            let written = decoder.decompress(&page, &mut output).unwrap();
            assert!(written == plain.len() && output == plain, "{level}");
        }
    }
}

#[cfg(feature = "gzip")]
#[test]
fn zlib_makes_sound_pages_too() {
    use super::compressor::Compress;
    for plain in plain_pages() {
        for level in [1, 6, 9] {
            let mut compressor = gzip::GzipCompressor::new(GzipLevel::new(level).unwrap());
            for _again in 0..2 {
                let mut page = Vec::new();
                compressor
                    .compress_sections(&plain, &[], &mut page)
                    .unwrap();
                let mut output = vec![0xa5; plain.len()];
                decompress(CompressionCodec::Gzip, &page, &mut output).unwrap();
                assert!(output == plain, "{level} {}", plain.len());
            }
        }
    }
}

/// Blocks end with their sections, but the output is one frame.
#[cfg(all(
    feature = "snappy",
    feature = "gzip",
    feature = "zstd",
    feature = "lz4"
))]
#[test]
fn inputs_of_sections_come_back() {
    // Two streams: one of random bytes, one of few distinct bytes.
    let mut input = noise(40_000);
    input.extend((0..40_000_usize).map(|at| [1, 2, 7][(at * at) % 11 % 3]));
    for compression in ["snappy", "gzip", "zstd:1", "zstd:9", "lz4_raw"] {
        let compression: Compression = compression.parse().unwrap();
        for section_starts in [&[][..], &[40_000], &[1, 2, 40_000, 79_999]] {
            let mut out = b"front".to_vec();
            super::compress_sections(compression, &input, section_starts, &mut out).unwrap();
            assert_eq!(&out[..5], b"front");
            let mut back = vec![0; input.len()];
            decompress(compression.codec(), &out[5..], &mut back).unwrap();
            assert!(back == input, "{compression} {section_starts:?}");
        }
        // Matches in an earlier section are found, and the section has its own codes.
        let bytes = |section_starts: &[usize]| {
            let mut out = Vec::new();
            super::compress_sections(compression, &input, section_starts, &mut out).unwrap();
            out.len()
        };
        let is_for = matches!(compression, Compression::Snappy | Compression::Zstd(_));
        assert_eq!(bytes(&[40_000]) < bytes(&[]), is_for, "{compression}");
        // Sections that would leave too few bytes are ignored.
        assert_eq!(bytes(&[1, 2, 79_999]), bytes(&[]), "{compression}");
    }
}
