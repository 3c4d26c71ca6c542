//! Other writers' filters, and examples computed from the specification.

use super::builder::expected;
use super::*;
use herringbone_format::{ErrorKind, Limits};

/// Returns the hashes of `count` numbers.
fn hashes(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|value| hash(&value.to_le_bytes()))
}

/// Returns the filter's false positive rate for other numbers.
fn wrongly_found(filter: &BloomFilter) -> f64 {
    let others = (0..100_000_u64).map(|value| hash(&(value | 1 << 40).to_le_bytes()));
    others.filter(|hash| filter.check_hash(*hash)).count() as f64 / 100_000.0
}

/// Returns the probability of a false positive, as computed from the set bits.
fn likely(filter: &BloomFilter) -> f64 {
    probability(filter.blocks.iter().copied(), filter.blocks.len())
}

fn encoded(filter: &BloomFilter) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(filter.encode_header());
    filter.encode_bits(&mut out);
    out
}

#[test]
fn values_are_hashed_with_xxh64() {
    // These hashes are from the xxHash project.
    assert_eq!(hash(b""), 0xef46_db37_51d8_e999);
    assert_eq!(hash(b"a"), 0xd24e_c4f1_a98c_6e5b);
    assert_eq!(hash(b"abc"), 0x44bc_2cf5_ad77_0999);
}

#[test]
fn false_positives_are_as_likely_as_the_specification_says() {
    for (values, probability) in [(26_214.0, 0.0126), (52_428.0, 0.18), (13_107.0, 0.0004)] {
        let expected = expected(values / 1024.0);
        assert!(
            (expected / probability - 1.0).abs() < 0.1,
            "{values} {expected}"
        );
    }
    for (bits, probability) in [
        (6.0, 0.1),
        (10.5, 0.01),
        (16.9, 0.001),
        (26.4, 1e-4),
        (41.0, 1e-5),
    ] {
        let expected = expected(256.0 / bits);
        assert!(
            (expected / probability - 1.0).abs() < 0.1,
            "{bits} {expected}"
        );
    }
    assert_eq!(expected(0.0), 0.0);
    assert_eq!(expected(1e9), 1.0);
    assert!(expected(499.0) > 0.99);
}

#[test]
fn a_filter_of_the_specified_example() {
    let mut filter = BloomFilter::new(1024 * 32);
    hashes(26_214).for_each(|hash| filter.insert_hash(hash));
    assert!(hashes(26_214).all(|hash| filter.check_hash(hash)));
    for share in [wrongly_found(&filter), likely(&filter)] {
        assert!((0.0115..0.0137).contains(&share), "{share}");
    }
}

#[test]
fn builders_find_the_size() {
    for fpp in [0.1, 0.01, 0.001] {
        for count in [0, 1, 5, 300, 5000, 40_000] {
            let build = |distinct_values| {
                let mut builder = BloomFilterBuilder::new(distinct_values, fpp, 1 << 20).unwrap();
                // We insert each value three times.
                (0..3).for_each(|_| hashes(count).for_each(|hash| builder.insert_hash(hash)));
                builder.finish()
            };
            let filter = build(None);
            assert!(hashes(count).all(|hash| filter.check_hash(hash)));
            let share = wrongly_found(&filter);
            assert!(share <= fpp * 1.2 + 0.0002, "{count} {fpp}: {share}");
            // A filter of half the size wouldn't be enough.
            let half = filter.num_bytes() as f64 / 64.0;
            assert!(filter.num_bytes() == 32 || expected(count as f64 / half) > fpp);
            // With the exact number of values, the size is equal. With too large a number, it is not larger.
            assert_eq!(build(Some(count)).num_bytes(), filter.num_bytes());
            let folded = build(Some(100 * count));
            assert!(folded.num_bytes() <= filter.num_bytes(), "{count} {fpp}");
            assert!(hashes(count).all(|hash| folded.check_hash(hash)));
        }
    }
}

#[test]
fn a_filter_may_become_as_large_as_allowed() {
    for (max_bytes, bytes) in [(0, 32), (33, 32), (1000, 512), (1024, 1024)] {
        let mut builder = BloomFilterBuilder::new(None, 0.01, max_bytes).unwrap();
        hashes(10_000).for_each(|hash| builder.insert_hash(hash));
        let filter = builder.finish();
        assert_eq!(filter.num_bytes(), bytes);
        assert!(hashes(10_000).all(|hash| filter.check_hash(hash)));
    }
}

#[test]
fn a_folded_filter_is_the_filter_of_that_size() {
    let (mut large, mut small) = (BloomFilter::new(4096), BloomFilter::new(256));
    for hash in hashes(40) {
        large.insert_hash(hash);
        small.insert_hash(hash);
    }
    let share = likely(&small);
    large.fold_to(share);
    assert_eq!(large, small);
    // A slightly lower limit requires a larger filter.
    large.fold_to(share * 0.99);
    assert_eq!(large, small);
}

#[test]
fn impossible_shares_are_refused() {
    for fpp in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        let error = BloomFilterBuilder::new(None, fpp, 1024).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
    }
}

#[test]
fn one_value_by_hand() {
    // The hash selects the second of two blocks. Its product with each salt selects a bit by the upper five bits.
    let mut filter = BloomFilter::new(64);
    filter.insert_hash(0x8000_0000_0000_0001);
    let bytes = encoded(&filter);
    assert_eq!(
        bytes[..16],
        *b"\x15\x80\x01\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0"
    );
    assert_eq!(bytes[16..48], [0; 32]);
    let words = [
        0x47 >> 3,
        0x44 >> 3,
        0x88 >> 3,
        0xa2 >> 3,
        0x70 >> 3,
        0x2d >> 3,
        0x9e >> 3,
        0x5c >> 3,
    ];
    let expected: Vec<u8> = words
        .iter()
        .flat_map(|bit| (1_u32 << bit).to_le_bytes())
        .collect();
    assert_eq!(bytes[48..], expected);
}

/// Returns a file of apache/parquet-testing, if the path of its folder `data` is known.
fn official(name: &str) -> Option<Vec<u8>> {
    let Some(data) = std::env::var_os("PARQUET_TEST_DATA") else {
        eprintln!("SKIPPED: set PARQUET_TEST_DATA to the `data` folder of apache/parquet-testing");
        return None;
    };
    Some(std::fs::read(std::path::Path::new(&data).join(name)).unwrap())
}

#[test]
fn the_filter_that_parquet_java_made_bit_by_bit() {
    let Some(bytes) = official("bloom_filter.xxhash.bin") else {
        return;
    };
    let mut filter = BloomFilter::new(1024);
    for value in ["hello", "parquet", "bloom", "filter"] {
        filter.insert_hash(hash(value.as_bytes()));
    }
    assert_eq!(encoded(&filter), bytes);
}

#[test]
fn the_filter_in_a_file_bit_by_bit() {
    let Some(file) = official("data_index_bloom_encoding_stats.parquet") else {
        return;
    };
    // This is the offset that the metadata records.
    let bytes = &file[192..];
    let (header, length) = BloomFilterHeader::decode_prefix(bytes, &Limits::default())
        .unwrap()
        .unwrap();
    let end = length + header.num_bytes as usize;
    let mut filter = BloomFilter::new(header.num_bytes as usize);
    for value in [
        "Hello",
        "This is",
        "a",
        "test",
        "How",
        "are you",
        "doing ",
        "today",
        "the quick",
        "brown fox",
        "jumps",
        "over",
        "the lazy",
        "dog",
    ] {
        filter.insert_hash(hash(value.as_bytes()));
    }
    assert_eq!(encoded(&filter), &bytes[..end]);
}

/// By the specification's formula, 1000 values and one false positive in 100 need 9,682 bits. This is between 1024 and
/// 2048 bytes.
#[test]
fn a_filter_is_as_large_as_its_values_ask() {
    let mut builder = BloomFilterBuilder::new(None, 0.01, 1 << 20).unwrap();
    for hash in hashes(1000) {
        builder.insert_hash(hash);
    }
    assert_eq!(builder.finish().num_bytes(), 2048);
}
