//! Pages compressed by other libraries, both intact and damaged.

use super::*;
use CompressionCodec::{Brotli, Gzip, Lz4, Lz4Raw, Lzo, Snappy, Zstd};
use herringbone_format::ErrorKind;

/// The 20 bytes that each page of [`PAGES`] repeats eight times.
const WORDS: &[u8] = b"herringbone parquet ";

/// Pages that all decompress to the same text of 160 bytes. Arrow C++ (Snappy, Brotli, Zstandard, LZ4 blocks and
/// frames) and zlib wrote most of them. Hadoop's framing and the LZO blocks were written by hand.
const PAGES: &[(&str, CompressionCodec, &[u8])] = &[
    (
        "snappy",
        Snappy,
        b"\xa0\x01Lherringbone parquet \xfe\x14\x00\xfe\x14\x00.\x14\x00",
    ),
    (
        "gzip",
        Gzip,
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH-*\xca\xccKO\xca\xcfKU(H,*,M-Q\xc8\x18Db\0]F\xff<\xa0\0\0\0",
    ),
    (
        "gzip, three members, one of them empty",
        Gzip,
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH-*\xca\xccKO\xca\xcfKU(H,*,M-Q\xc8 Y\x0c\0CE\xcc\xb1F\0\0\0\
          \x1f\x8b\x08\0\0\0\0\0\x02\x03\x03\0\0\0\0\0\0\0\0\0\
          \x1f\x8b\x08\0\0\0\0\0\x02\x03KU(H,*,M-Q\xc8H-*\xca\xccKO\xca\xcfK\xa5\x8a\x18\0\xdbs\x15\xe7Z\0\0\0",
    ),
    (
        "brotli",
        Brotli,
        b"\x1b\x9f\0\0\xc4ml]\xf75\x10ZUR\xa5\x89\x80EqR\xee\xbd\x11]\xc2\xd0\xfb:8",
    ),
    (
        "zstd",
        Zstd,
        b"(\xb5/\xfd \xa0\xdd\0\0\xa0herringbone parquet \x01\0\x12GM&",
    ),
    (
        "zstd, two frames and a skippable one between them",
        Zstd,
        b"(\xb5/\xfd F\xdd\0\0\xa0herringbone parquet \x01\0\xbeh2\x01\
          \x50\x2a\x4d\x18\x03\0\0\0abc\
          (\xb5/\xfd Z\xdd\0\0\xa0e parquet herringbon\x01\0\xe6\xd0\xc9\x04",
    ),
    (
        "lz4 raw",
        Lz4Raw,
        b"\xff\x05herringbone parquet \x14\0tPquet ",
    ),
    (
        "lz4, bare block",
        Lz4,
        b"\xff\x05herringbone parquet \x14\0tPquet ",
    ),
    (
        "lz4, frame",
        Lz4,
        b"\x04\"M\x18`@\x82\x1f\0\0\0\xff\x05herringbone parquet \x14\0tPquet \0\0\0\0",
    ),
    (
        "lz4, two frames",
        Lz4,
        b"\x04\"M\x18`@\x82\x1f\0\0\0\xff\x05herringbone parquet \x14\0\x1aPngbon\0\0\0\0\
          \x04\"M\x18`@\x82\x1f\0\0\0\xff\x05e parquet herringbon\x14\0.Pquet \0\0\0\0",
    ),
    (
        "lz4, Hadoop",
        Lz4,
        b"\0\0\0\xa0\0\0\0\x1f\xff\x05herringbone parquet \x14\0tPquet ",
    ),
    (
        "lz4, Hadoop, one block of two parts",
        Lz4,
        b"\0\0\0\xa0\0\0\0\x1f\xff\x05herringbone parquet \x14\0\x1aPngbon\
          \0\0\0\x1f\xff\x05e parquet herringbon\x14\0.Pquet ",
    ),
    (
        "lz4, Hadoop, two blocks",
        Lz4,
        b"\0\0\0\x46\0\0\0\x1f\xff\x05herringbone parquet \x14\0\x1aPngbon\
          \0\0\0\x5a\0\0\0\x1f\xff\x05e parquet herringbon\x14\0.Pquet ",
    ),
    (
        "lzo",
        Lzo,
        b"\0\0\0\xa0\0\0\0\x1c%herringbone parquet  kL\0\x11\0\0",
    ),
    (
        "lzo, one block of two parts",
        Lzo,
        b"\0\0\0\xa0\0\0\0\x1c%herringbone parquet  \x11L\0\x11\0\0\
          \0\0\0\x1c%e parquet herringbon %L\0\x11\0\0",
    ),
    (
        "lzo, two blocks",
        Lzo,
        b"\0\0\0\x46\0\0\0\x1c%herringbone parquet  \x11L\0\x11\0\0\
          \0\0\0\x5a\0\0\0\x1c%e parquet herringbon %L\0\x11\0\0",
    ),
];

/// Returns the pages with a compiled-in codec, once for each library that can decompress them.
fn pages() -> impl Iterator<Item = (&'static str, Decompressor, &'static [u8])> {
    let all = |codec| match Decompressor::new(codec) {
        Ok(decompressor) => {
            let mut all = others(codec);
            all.push(decompressor);
            all
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Feature);
            Vec::new()
        }
    };
    PAGES.iter().flat_map(move |&(name, codec, page)| {
        all(codec).into_iter().map(move |it| (name, it, page))
    })
}

/// Returns the slower decompressors for a codec. We test these even if a faster one replaces them.
fn others(codec: CompressionCodec) -> Vec<Decompressor> {
    let inner: Vec<Box<dyn Codec>> = match codec {
        #[cfg(feature = "brotli")]
        Brotli => vec![Box::new(brotli::Brotli)],
        #[cfg(feature = "ruzstd")]
        Zstd => vec![Box::new(ruzstd::Ruzstd::new())],
        _ => Vec::new(),
    };
    let decompressors = inner.into_iter();
    decompressors
        .map(|inner| Decompressor { codec, inner })
        .collect()
}

/// Decompresses into a slice that initially contains bytes other than zeros.
fn decompress(decompressor: &mut Decompressor, page: &[u8], size: usize) -> Result<Vec<u8>> {
    let mut output = vec![0xa5; size];
    decompressor.decompress(page, &mut output)?;
    Ok(output)
}

#[test]
fn pages_of_other_writers() {
    let plain = WORDS.repeat(8);
    for (name, mut decompressor, page) in pages() {
        for _again in 0..3 {
            let output = decompress(&mut decompressor, page, plain.len());
            assert_eq!(output.unwrap(), plain, "{name}");
        }
    }
}

#[test]
fn the_announced_size_is_exact() {
    for (name, mut decompressor, page) in pages() {
        for size in [0, 1, 70, 159, 161, 320, 100_000] {
            let error = decompress(&mut decompressor, page, size).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{name} {size}: {error}");
        }
        decompress(&mut decompressor, page, 160).expect(name);
    }
}

#[test]
fn truncated_pages_never_give_wrong_bytes() {
    let plain = WORDS.repeat(8);
    for (name, mut decompressor, page) in pages() {
        for end in 0..page.len() {
            match decompress(&mut decompressor, &page[..end], plain.len()) {
                // LZ4 frames decode even without their end mark.
                Ok(output) => assert!(output == plain && name.starts_with("lz4, "), "{name}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt),
            }
        }
        let output = decompress(&mut decompressor, page, plain.len());
        assert_eq!(output.unwrap(), plain, "{name} after errors");
    }
}

#[test]
fn bytes_behind_the_data_are_an_error() {
    for (name, mut decompressor, page) in pages() {
        let longer = [page, &[0xee; 5]].concat();
        let error = decompress(&mut decompressor, &longer, 160).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
        // libdeflate does not report a second copy of the member, so we leave out gzip.
        if name != "gzip" {
            let twice = [page, page].concat();
            let error = decompress(&mut decompressor, &twice, 160).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
        }
    }
}

#[test]
fn damaged_pages_do_not_panic() {
    for (_, mut decompressor, page) in pages() {
        let mut page = page.to_vec();
        for place in 0..page.len() {
            let sound = page[place];
            for byte in [
                0,
                0xff,
                0x7f,
                0x80,
                sound.wrapping_add(1),
                sound.wrapping_sub(1),
            ]
            .into_iter()
            .chain((0..8).map(|bit| sound ^ (1 << bit)))
            {
                page[place] = byte;
                for size in [0, 3, 160, 5000] {
                    let _any = decompress(&mut decompressor, &page, size);
                }
            }
            page[place] = sound;
        }
    }
}

#[test]
fn random_bytes_do_not_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    };
    for (_, mut decompressor, page) in pages() {
        for length in 1..120 {
            // Valid bytes at the start make the decoder read past the header.
            for kept in [0, 4, 12, 30] {
                let mut damaged = page[..kept.min(page.len())].to_vec();
                damaged.extend((0..length).map(|_| byte()));
                let _any = decompress(&mut decompressor, &damaged, 160);
            }
        }
    }
}

#[test]
fn pages_without_a_byte() {
    let empty: &[(CompressionCodec, &[u8])] = &[
        (Snappy, b"\0"),
        (
            Gzip,
            b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\x03\0\0\0\0\0\0\0\0\0",
        ),
        (Brotli, b"\x3b"),
        (Zstd, b"(\xb5/\xfd \0\x01\0\0"),
        (Lz4Raw, b"\0"),
        (Lz4, b"\0\0\0\0"),
        (Lz4, b"\0"),
        (Lzo, b"\0\0\0\0"),
    ];
    for &(codec, page) in empty {
        if let Ok(mut decompressor) = Decompressor::new(codec) {
            decompressor.decompress(page, &mut []).unwrap();
            decompressor.decompress(&[], &mut []).unwrap();
            assert!(decompressor.decompress(&[], &mut [0]).is_err(), "{codec}");
        }
    }
}

#[test]
fn uncompressed_pages_are_copied() {
    let mut decompressor = Decompressor::new(CompressionCodec::Uncompressed).unwrap();
    assert_eq!(decompress(&mut decompressor, b"abc", 3).unwrap(), b"abc");
    for size in [2, 4] {
        let error = decompress(&mut decompressor, b"abc", size).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn codecs_of_the_future_are_unsupported() {
    let error = Decompressor::new(CompressionCodec::Unknown(42))
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("42"), "{error}");
}

#[test]
fn a_codec_that_was_left_out_names_its_feature() {
    let error = absent(Lz4Raw);
    assert_eq!(error.kind(), ErrorKind::Feature);
    assert!(error.message().contains("`lz4`"), "{error}");
}

#[cfg(any(feature = "brotli", feature = "libbrotli"))]
#[test]
fn brotli_streams_are_counted_as_far_as_it_matters() {
    type Count = fn(&[u8], usize) -> herringbone_format::Result<usize>;
    let counts: &[Count] = &[
        #[cfg(feature = "brotli")]
        super::brotli::count,
        #[cfg(feature = "libbrotli")]
        super::libbrotli::count,
    ];
    let plain = vec![7; 1 << 20];
    let mut stream = Vec::new();
    super::compress(
        Compression::Brotli(BrotliLevel::default()),
        &plain,
        &mut stream,
    )
    .unwrap();
    for count in counts {
        assert_eq!(count(&stream, plain.len()).unwrap(), plain.len());
        let enough = count(&stream, 1 << 10).unwrap();
        assert!((1 << 10..plain.len()).contains(&enough), "{enough}");
        assert!(count(&stream[..stream.len() - 1], plain.len()).is_err());
    }
}
