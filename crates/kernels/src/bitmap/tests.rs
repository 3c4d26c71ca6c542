//! Compares the bitmap with a vector of booleans.

use proptest::prelude::*;

use super::*;

/// One call to a bitmap.
#[derive(Debug, Clone)]
enum Step {
    Run(bool, usize),
    Packed(Vec<u8>, usize, usize),
    Truncate(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (any::<bool>(), 0_usize..200).prop_map(|(bit, n)| Step::Run(bit, n)),
        3 => (prop::collection::vec(prop_oneof![Just(0xff), any::<u8>()], 0..40), 0_usize..20,
              0_usize..330).prop_map(|(data, first, n)| Step::Packed(data, first, n)),
        1 => (0_usize..300).prop_map(Step::Truncate),
    ];
    prop::collection::vec(step, 0..12)
}

fn bit(data: &[u8], index: usize) -> bool {
    data[index / 8] >> (index % 8) & 1 == 1
}

fn check(bitmap: &Bitmap, model: &[bool]) {
    let ones = model.iter().filter(|bit| **bit).count();
    assert_eq!(bitmap.len(), model.len());
    assert_eq!(bitmap.is_empty(), model.is_empty());
    assert_eq!(bitmap.count_set(), ones);
    assert_eq!(bitmap.null_count(), model.len() - ones);
    for (index, expected) in model.iter().enumerate() {
        assert_eq!(bitmap.get(index), *expected, "bit {index}");
    }
    assert!(!bitmap.get(model.len()));
    if let Some(bytes) = bitmap.as_bytes() {
        assert_eq!(bytes.len(), model.len().div_ceil(8));
        assert!(
            model
                .iter()
                .enumerate()
                .all(|(index, expected)| bit(bytes, index) == *expected)
        );
    }
    for (start, end) in [(0, 10), (3, 64), (64, 129), (70, 1000), (5, 5)] {
        let (from, to) = (start.min(model.len()), end.min(model.len()));
        let expected = model[from..to].iter().filter(|bit| **bit).count();
        assert_eq!(bitmap.set_in(start..end), expected, "{start}..{end}");
        let bits = bitmap.bits(start, end - start);
        for index in 0..64 {
            let expected = index < end - start && model.get(start + index) == Some(&true);
            assert_eq!(bits >> index & 1 == 1, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn scalar_bitmap_is_a_vector_of_booleans(steps in steps()) {
        let (mut bitmap, mut model) = (Bitmap::new(), Vec::new());
        for step in steps {
            match step {
                Step::Run(bit, n) => {
                    bitmap.append_run(bit, n);
                    model.resize(model.len() + n, bit);
                }
                Step::Packed(data, first, n) => {
                    let appended = bitmap.append_packed(&data, first, n);
                    if first + n > data.len() * 8 {
                        prop_assert!(appended.is_err());
                        continue;
                    }
                    let bits: Vec<bool> = (first..first + n).map(|index| bit(&data, index)).collect();
                    prop_assert_eq!(appended, Ok(bits.iter().filter(|bit| **bit).count()));
                    model.extend(bits);
                }
                Step::Truncate(len) => {
                    bitmap.truncate(len);
                    model.truncate(len);
                }
            }
            check(&bitmap, &model);
        }
        let nulls = bitmap.clone().finish();
        prop_assert_eq!(nulls.is_none(), model.iter().all(|bit| *bit));
        if let Some(nulls) = nulls {
            prop_assert_eq!(nulls.null_count(), model.iter().filter(|bit| !**bit).count());
            prop_assert!(nulls.iter().eq(model.iter().copied()));
        }
        prop_assert!(bitmap.finish_boolean().iter().eq(model.iter().copied()));
        check(&bitmap, &[]);
    }
}

#[test]
fn scalar_all_set_is_a_mere_length() {
    let mut bitmap = Bitmap::new();
    bitmap.append_run(true, 1000);
    assert_eq!(bitmap.append_packed(&[0xff; 20], 3, 150), Ok(150));
    assert_eq!((bitmap.len(), bitmap.heap_bytes()), (1150, 0));
    assert_eq!((bitmap.words(), bitmap.as_bytes()), (None, None));
    assert_eq!(bitmap.finish(), None);
    assert!(bitmap.is_empty());
    bitmap.append_run(true, 70);
    bitmap.append_run(false, 1);
    assert_eq!(bitmap.words(), Some(&[u64::MAX, 0x3f][..]));
}

#[test]
fn scalar_hostile_lengths_are_errors() {
    let mut bitmap = Bitmap::new();
    assert!(bitmap.append_packed(&[0], usize::MAX, 2).is_err());
    assert!(bitmap.append_packed(&[0], 8, 1).is_err());
    assert_eq!(bitmap.append_packed(&[], 0, 0), Ok(0));
    assert!(bitmap.is_empty());
}

#[test]
fn selected_bits_are_those_that_are_wanted() {
    let noise = |n: usize, seed: u64| -> Vec<bool> {
        let mixed = |i: u64| (i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        // There are stretches with few, most, some and only wanted bits.
        let is_set = |i: usize| match i / 100 % 4 {
            0 => mixed(i as u64) % 20 == 0,
            1 => mixed(i as u64) % 20 != 0,
            2 => mixed(i as u64) % 2 == 0,
            _ => true,
        };
        (0..n).map(is_set).collect()
    };
    for n in [0, 1, 63, 64, 65, 500, 1000] {
        for shift in [0, 3] {
            let (bits, wanted) = (noise(n, 1), noise(n + shift, 77));
            let mask = BooleanBuffer::from(wanted.clone()).slice(shift, n);
            let wanted = &wanted[shift..];
            let mut bitmap = Bitmap::new();
            bits.iter().for_each(|bit| bitmap.append_run(*bit, 1));
            let expected = |of: &[bool], by: &[bool]| -> Vec<bool> {
                let kept = of.iter().zip(by).filter(|(_, is_wanted)| **is_wanted);
                kept.map(|(bit, _)| *bit).collect()
            };
            check(&bitmap.select(&mask), &expected(&bits, wanted));
            let (from, by) = (bitmap.clone().finish_boolean(), mask.bit_chunks());
            let words = from.bit_chunks();
            let words = words.iter_padded().zip(by.iter_padded());
            check(&selected_by(words, selected_bits), &expected(&bits, wanted));
            let of: Vec<bool> = bitmap.select_of(&mask).iter().collect();
            assert_eq!(of, expected(wanted, &bits));
            // This bitmap has only set bits, so it has no words.
            let mut all = Bitmap::new();
            all.append_run(true, n);
            check(&all.select(&mask), &expected(&vec![true; n], wanted));
            assert_eq!(all.select_of(&mask), mask);
            all.append_all(&bitmap);
            check(&all, &[vec![true; n], bits].concat());
        }
    }
}
