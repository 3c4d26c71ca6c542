//! Reads pages compressed by this crate with the decompressors, which have their own tests with other libraries' pages.

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

/// Returns the choices with a compiled-in codec, each with its compressor.
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

/// Returns pages of all kinds: empty and short ones, with and without patterns, and larger than Snappy's blocks and
/// LZ4's small tables.
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
            // We append to existing bytes, and compress twice, so that contexts are reused.
            for before in [&b""[..], b"before"] {
                let mut out = before.to_vec();
                compressor
                    .compress_sections(&plain, &[], &mut out, &|| Ok(()))
                    .unwrap();
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
            .compress_sections(&[0; 300_000], &[], &mut zeros, &|| Ok(()))
            .unwrap();
        assert!(zeros.len() < 20_000, "{compression} {}", zeros.len());
        compressor
            .compress_sections(&noise(70_000), &[], &mut random, &|| Ok(()))
            .unwrap();
        // The fastest level of zlib uses the fixed codes, and half of them have nine bits.
        assert!(random.len() < 75_000, "{compression} {}", random.len());
    }
}

#[test]
fn the_compressors_of_a_thread() {
    // There are too many kinds for a thread to retain, and each occurs more than once.
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

/// Returns the compressed form of a page of one byte.
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
    // The page has the length, then a literal of one byte.
    assert_eq!(page_of_one_byte("snappy"), b"\x01\0a");
}

#[cfg(feature = "lz4")]
#[test]
fn an_lz4_page_is_a_bare_block() {
    // The page has a token for one literal and no match.
    assert_eq!(page_of_one_byte("lz4_raw"), b"\x10a");
}

#[cfg(feature = "zstd")]
#[test]
fn a_zstd_page_is_a_frame_that_says_its_size() {
    // The page has the magic number, one segment with a size of one byte and no checksum, and the size.
    let page = page_of_one_byte("zstd");
    assert_eq!(page[..6], *b"\x28\xb5\x2f\xfd\x20\x01");
}

#[cfg(feature = "gzip")]
#[test]
fn a_gzip_page_is_one_member() {
    for text in ["gzip:1", "gzip:9"] {
        let page = page_of_one_byte(text);
        assert_eq!(page[..4], *b"\x1f\x8b\x08\0");
        // The page ends with the CRC-32 of "a" and the size.
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
                .compress_sections(&plain, &[], &mut page, &|| Ok(()))
                .unwrap();
            let mut output = vec![0xa5; plain.len()];
            decompress(CompressionCodec::Brotli, &page, &mut output).unwrap();
            assert!(output == plain, "{level} {}", plain.len());
        }
    }
}

/// The pure Rust decoder reads libzstd's frames at various levels.
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
                    .compress_sections(&plain, &[], &mut page, &|| Ok(()))
                    .unwrap();
                let mut output = vec![0xa5; plain.len()];
                decompress(CompressionCodec::Gzip, &page, &mut output).unwrap();
                assert!(output == plain, "{level} {}", plain.len());
            }
        }
    }
}

/// Blocks end with their sections, but the output is still one frame.
#[cfg(all(
    feature = "snappy",
    feature = "gzip",
    feature = "zstd",
    feature = "lz4"
))]
#[test]
fn inputs_of_sections_come_back() {
    // There are two streams, one of random bytes and one of few distinct bytes.
    let mut input = noise(40_000);
    input.extend((0..40_000_usize).map(|at| [1, 2, 7][(at * at) % 11 % 3]));
    for compression in ["snappy", "gzip", "zstd:1", "zstd:9", "lz4_raw"] {
        let compression: Compression = compression.parse().unwrap();
        for section_starts in [&[][..], &[40_000], &[1, 2, 40_000, 79_999]] {
            let mut out = b"front".to_vec();
            super::compress_sections(compression, &input, section_starts, &mut out, &|| Ok(()))
                .unwrap();
            assert_eq!(&out[..5], b"front");
            let mut back = vec![0; input.len()];
            decompress(compression.codec(), &out[5..], &mut back).unwrap();
            assert!(back == input, "{compression} {section_starts:?}");
        }
        // Matches in an earlier section are found, although the section has its own codes.
        let bytes = |section_starts: &[usize]| {
            let mut out = Vec::new();
            super::compress_sections(compression, &input, section_starts, &mut out, &|| Ok(()))
                .unwrap();
            out.len()
        };
        let is_for = matches!(compression, Compression::Snappy | Compression::Zstd(_));
        assert_eq!(bytes(&[40_000]) < bytes(&[]), is_for, "{compression}");
        // Section starts are ignored if they would leave too few bytes.
        assert_eq!(bytes(&[1, 2, 79_999]), bytes(&[]), "{compression}");
    }
}

/// Returns words in an aperiodic order, with matches of many lengths and distances.
fn words(length: usize) -> Vec<u8> {
    let words = noise(length / 4).into_iter().map(|byte| byte % 60);
    let mut text: Vec<u8> = words
        .flat_map(|word| format!("{}word{word} ", word % 7).into_bytes())
        .collect();
    text.truncate(length);
    text
}

/// Returns the compressed input and the number of questions asked. The answer to question `end` is an error.
fn asked(
    compressor: &mut Compressor,
    (input, section_starts): (&[u8], &[usize]),
    end: usize,
) -> (Result<Vec<u8>>, usize) {
    let asked = std::cell::Cell::new(0);
    let ask = || {
        asked.set(asked.get() + 1);
        match asked.get() == end {
            true => Err(Error::argument("that is enough")),
            false => Ok(()),
        }
    };
    let mut out = b"front".to_vec();
    let done = compressor.compress_sections(input, section_starts, &mut out, &ask);
    if done.is_err() {
        assert_eq!(out, b"front");
    }
    (done.map(|()| out.split_off(5)), asked.get())
}

#[test]
fn slow_levels_ask_between_pieces() {
    // The whole input has two pieces of 131,072 bytes and a rest, so there are two questions. Two sections of 150,000
    // bytes have a piece and a rest each.
    let input = words(300_000);
    let cases: [(&str, &[usize], usize); 8] = [
        ("zstd:1", &[], 0),
        ("zstd:13", &[], 2),
        ("zstd:19", &[], 2),
        ("zstd:16", &[150_000], 2),
        ("brotli:4", &[], 0),
        ("brotli:5", &[], 2),
        ("brotli:10", &[], 2),
        ("snappy", &[], 0),
    ];
    for (text, section_starts, questions) in cases {
        let compression: Compression = text.parse().unwrap();
        let Ok(mut compressor) = Compressor::new(compression) else {
            continue;
        };
        let input = (&input[..], section_starts);
        let (whole, asks) = asked(&mut compressor, input, usize::MAX);
        assert_eq!(asks, questions, "{text} {section_starts:?}");
        let whole = whole.unwrap();
        if questions > 0 {
            let end = questions;
            let (ended, asks) = asked(&mut compressor, input, end);
            assert_eq!(ended.unwrap_err().message(), "that is enough", "{text}");
            assert_eq!(asks, end, "{text}");
            // After the error, the compressor is as good as new.
            let (again, _) = asked(&mut compressor, input, usize::MAX);
            assert!(again.unwrap() == whole, "{text} after question {end}");
        }
        let mut output = vec![0xa5; input.0.len()];
        decompress(compression.codec(), &whole, &mut output).unwrap();
        assert!(output == input.0, "{text}");
    }
}

/// A signal handler might write another file while a page is being compressed.
#[cfg(feature = "zstd")]
#[test]
fn questions_may_compress() {
    let input = words(200_000);
    let level = Compression::Zstd(ZstdLevel::new(13).unwrap());
    let (mut alone, mut within) = (Vec::new(), Vec::new());
    compress(level, &input, &mut alone).unwrap();
    let nested = std::cell::RefCell::new(Vec::new());
    let ask = || compress(level, &input, &mut nested.borrow_mut());
    super::compress_sections(level, &input, &[], &mut within, &ask).unwrap();
    assert!(nested.into_inner() == alone && within == alone);
}

/// The expected stream is from the library itself. This compresses the input as a whole.
#[cfg(feature = "libbrotli")]
#[test]
fn pieces_leave_streams_of_brotli_as_they_are() {
    use std::io::Write;
    for length in [0, 1, 131_072, 131_073, 262_145, 400_000] {
        let input = words(length);
        for level in [0, 4, 5, 9] {
            let encoder = brotlic::BrotliEncoderOptions::new()
                .quality(brotlic::Quality::new(level).unwrap())
                .window_size(brotlic::WindowSize::new(22).unwrap())
                .build()
                .unwrap();
            let mut stream = brotlic::CompressorWriter::with_encoder(encoder, Vec::new());
            stream.write_all(&input).unwrap();
            let whole = stream.into_inner().unwrap();
            let mut page = Vec::new();
            let level = Compression::Brotli(BrotliLevel::new(level.into()).unwrap());
            compress(level, &input, &mut page).unwrap();
            assert!(page == whole, "{level} {length}");
        }
    }
}

#[cfg(feature = "zstd")]
#[test]
fn pieces_hardly_change_the_size_of_frames() {
    let input = words(700_000);
    for level in [13, 16, 19] {
        let whole = ::zstd::bulk::compress(&input, level).unwrap().len();
        let mut page = Vec::new();
        let compression = Compression::Zstd(ZstdLevel::new(level).unwrap());
        compress(compression, &input, &mut page).unwrap();
        assert!(
            page.len().abs_diff(whole) * 500 < whole,
            "{level}: {whole}, {}",
            page.len()
        );
    }
}

/// The encoder asks even if libdeflate is compiled in, and it writes the stream that a single call would write.
#[cfg(feature = "gzip")]
#[test]
fn pieces_leave_streams_of_zlib_as_they_are() {
    use super::compressor::Compress;
    let input = words(400_000);
    for (level, questions) in [(1, 0), (6, 0), (9, 3)] {
        let mut encoder = flate2::Compress::new(flate2::Compression::new(level), false);
        let mut whole = Vec::with_capacity(500_000);
        let status = encoder.compress_vec(&input, &mut whole, flate2::FlushCompress::Finish);
        assert_eq!(status.unwrap(), flate2::Status::StreamEnd);
        let level = GzipLevel::new(level.try_into().unwrap()).unwrap();
        let mut compressor = gzip::GzipCompressor::new(level);
        for end in [usize::MAX, 2, usize::MAX] {
            let asks = std::cell::Cell::new(0);
            let ask = || {
                asks.set(asks.get() + 1);
                match asks.get() == end {
                    true => Err(Error::argument("that is enough")),
                    false => Ok(()),
                }
            };
            let mut page = Vec::new();
            let done = compressor.compress_sections(&input, &[], &mut page, &ask);
            assert_eq!(done.is_err(), end == 2 && questions > 0);
            if done.is_ok() {
                assert_eq!(asks.get(), questions);
                assert!(page[10..page.len() - 8] == whole, "{level}");
            }
        }
    }
}
