use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// Returns a table that uses portable code, and one that uses vectors if the processor supports them.
fn tables() -> Vec<ByteArrayTable> {
    let mut tables = vec![ByteArrayTable::with(None)];
    tables.extend(Vaes::detect().map(|vaes| ByteArrayTable::with(Some(vaes))));
    tables
}

/// The arrays of a dictionary page without their lengths, and each array's end.
#[derive(Default)]
struct Page {
    plain: Vec<u8>,
    ends: Vec<usize>,
}

/// Returns the indices of values, after assigning the next index to each new value.
fn indices(table: &mut ByteArrayTable, page: &mut Page, values: &[Vec<u8>]) -> Vec<u32> {
    let mut indices = vec![u32::MAX; values.len()];
    let mut pairs = values.iter().map(Vec::as_slice).zip(&mut indices);
    while let Some((value, hash, index)) = table.find_known(&page.plain, &mut pairs) {
        *index = page.ends.len() as u32;
        page.plain.extend_from_slice(value);
        page.ends.push(page.plain.len());
        table.insert(&page.plain, value.len(), hash);
    }
    indices
}

/// Computes the indices with the standard library's hash table.
fn expected(values: &[Vec<u8>]) -> Vec<u32> {
    let mut known = HashMap::new();
    let index_of = |value| {
        let next = known.len() as u32;
        *known.entry(value).or_insert(next)
    };
    values.iter().map(index_of).collect()
}

fn check(values: &[Vec<u8>]) {
    for mut table in tables() {
        let mut page = Page::default();
        let (first, rest) = values.split_at(values.len() / 3);
        let mut found = indices(&mut table, &mut page, first);
        found.extend(indices(&mut table, &mut page, rest));
        assert_eq!(found, expected(values), "{:?}", table.vaes);
        for (value, index) in values.iter().zip(found) {
            assert_eq!(table.find(&page.plain, value), Ok(index));
        }
    }
}

#[test]
fn each_array_has_one_index() {
    let words = ["a", "", "bc", "a", "bc", ""].map(|word| word.as_bytes().to_vec());
    check(&words);
    assert_eq!(expected(&words), [0, 1, 2, 0, 2, 1]);
    check(&[]);
}

/// Checks arrays of all lengths that differ in one byte, or in their number of trailing zeros.
#[test]
fn arrays_are_told_apart_by_each_byte_and_their_length() {
    let mut values = Vec::new();
    for length in (0..=70).chain([100, 1000]) {
        values.push(vec![0; length]);
        for at in 0..length.min(100) {
            let mut value = vec![0; length];
            value[at] = 1;
            values.push(value);
        }
    }
    values.extend_from_within(..);
    check(&values);
}

#[test]
fn tables_grow() {
    // We take the first thousand values repeatedly, and then all values.
    let number = |i: usize| format!("value number {i}").into_bytes();
    let values: Vec<_> = (0..3000).map(|i| number(i % 1000)).collect();
    check(&values);
    let many = if cfg!(miri) { 300 } else { 40_000 };
    let values: Vec<_> = (0..2 * many).map(|i| number(i % many)).collect();
    check(&values);
}

#[test]
fn a_table_is_rebuilt_in_another_order() {
    for mut table in tables() {
        let mut page = Page::default();
        let values = [
            "b",
            "a",
            "long enough to be of another kind, with 33 and more bytes",
        ];
        let values = values.map(|value| value.as_bytes().to_vec());
        indices(&mut table, &mut page, &values);
        // Each value follows a prefix of two bytes.
        let (mut plain, mut ends) = (Vec::new(), Vec::new());
        for value in values.iter().rev() {
            plain.extend_from_slice(b"__");
            plain.extend_from_slice(value);
            ends.push(plain.len());
        }
        table.rebuild(&plain, &ends, 2);
        for (value, index) in values.iter().rev().zip(0..) {
            assert_eq!(table.find(&plain, value), Ok(index));
        }
        // If we did not ignore the surplus, more ends than arrays would fill the table.
        let many = vec![plain.len(); 1000];
        table.rebuild(&plain, &[&ends[..], &many].concat(), 2);
        assert_eq!(table.find(&plain, &values[0]), Ok(2));
        // The next array gets the next index.
        let hash = table.find(&plain, b"c").unwrap_err();
        plain.push(b'c');
        table.insert(&plain, 1, hash);
        assert_eq!(table.find(&plain, b"c"), Ok(3));
        assert!(table.heap_bytes() >= 4 * 16);
    }
}

/// An equal hash does not make an array equal. We compare each candidate, in all classes of lengths.
#[test]
fn the_same_hash_is_not_enough() {
    for length in [1, 4, 10, 16, 20, 32, 33, 64, 65, 100] {
        let value = vec![b'x'; length];
        let mut changed = value.clone();
        changed[length - 1] = b'y';
        let longer = [value.clone(), vec![b'x']].concat();
        for other in [&value[1..], &changed, &longer] {
            for mut table in tables() {
                let hash = table.find(&[], &value).unwrap_err();
                table.insert(other, other.len(), hash);
                assert_eq!(table.find(other, &value), Err(hash), "{length}");
            }
        }
    }
}

/// Arrays that lie elsewhere, or nowhere, must not be found.
#[test]
fn a_page_that_is_not_the_table_s_is_no_danger() {
    for mut table in tables() {
        let mut page = Page::default();
        indices(&mut table, &mut page, &[b"abc".to_vec(), vec![7; 60]]);
        assert!(table.find(b"", b"abc").is_err());
        assert!(table.find(b"ab", b"abc").is_err());
        assert!(table.find(&page.plain[..20], &[7; 60]).is_err());
    }
}

/// Checks how many places a lookup probes. If there are four times as many places as arrays, this is 1.13 on average
/// for random hashes. Arrays are not worse if they differ in one bit or in bytes that a round of AES mixes, or if their
/// halves are swapped.
#[test]
#[cfg(target_arch = "x86_64")]
fn vectors_spread_arrays_over_all_places() {
    if Vaes::detect().is_none() {
        eprintln!("not run: this processor has no AES on vectors");
        return;
    }
    let bits = |length: usize| {
        (0..8 * length).map(move |bit| {
            let mut value = vec![b'x'; length];
            value[bit / 8] ^= 1 << (bit % 8);
            value
        })
    };
    // These arrays have one byte each in two lanes.
    let pairs = |length: usize, other: usize| {
        (0..4096).map(move |i| {
            let mut value = vec![b'x'; length];
            (value[3], value[3 + other]) = (i as u8, (i >> 4) as u8);
            value
        })
    };
    // These arrays differ in the four bytes of a block that one round of AES mixes into the same column.
    let columns = |length: usize, block: usize| {
        (0..4096_u32).map(move |i| {
            let mut value = vec![b'x'; length];
            for at in 0..4 {
                value[16 * block + 5 * at] = (i >> (3 * at) & 7) as u8;
            }
            value
        })
    };
    let swapped = |length: usize| {
        (0..1000_u32).flat_map(move |i| {
            let mut value = vec![b'x'; length];
            value[..4].copy_from_slice(&i.to_le_bytes());
            let mut other = value.clone();
            other.rotate_left(length / 2);
            [value, other]
        })
    };
    let all: [Vec<Vec<u8>>; 13] = [
        bits(5).collect(),
        bits(16).collect(),
        bits(32).collect(),
        bits(64).collect(),
        pairs(32, 16).collect(),
        pairs(64, 16).collect(),
        pairs(64, 32).collect(),
        columns(32, 0).collect(),
        columns(32, 1).collect(),
        columns(64, 2).collect(),
        columns(64, 3).collect(),
        swapped(32).collect(),
        swapped(64).collect(),
    ];
    for values in all {
        let places = (4 * values.len()).next_power_of_two();
        let mut is_taken = vec![false; places];
        let mut looks = 0;
        for value in &values {
            // SAFETY: the token was detected above.
            let hash = unsafe { avx512::hash(value, 1) };
            let at = first_place(key(hash, value.len())) % places;
            let free = (at..).position(|at| !is_taken[at % places]).unwrap();
            is_taken[(at + free) % places] = true;
            looks += free + 1;
        }
        let len = values.len();
        assert!(
            looks <= 3 * len / 2 + 8,
            "{looks} for {len} like {:?}",
            values[0]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 200 }))]
    #[test]
    fn indices_are_those_of_the_library(
        values in prop::collection::vec(prop::collection::vec(0_u8..3, 0..80), 0..200),
    ) {
        check(&values);
    }
}
