//! Compares compaction with a loop that filters one slot at a time.

use super::*;
use crate::plain;
use crate::simd_lanes::noise;

fn check<T: Copy + PartialEq + std::fmt::Debug + 'static>(from: impl Fn(usize) -> T) {
    let lengths: &[usize] = if cfg!(miri) {
        &[0, 1, 65]
    } else {
        &[0, 1, 7, 15, 16, 17, 63, 64, 65, 128, 200, 1000]
    };
    for &n in lengths {
        let values: Vec<T> = (0..n).map(&from).collect();
        for first in [0, 1, 8, 13, 64] {
            let random = noise((first + n).div_ceil(8));
            let few = random.iter().map(|byte| byte & byte.rotate_left(3) & 0x49);
            let most = few.clone().map(|byte| !byte);
            let parts = (0..random.len()).map(|i| if i / 16 % 2 == 0 { 0 } else { 0xff });
            let none = vec![0; random.len()];
            let all = vec![0xff; random.len()];
            for bits in [
                random.clone(),
                few.collect(),
                most.collect(),
                parts.collect(),
                none,
                all,
            ] {
                let is_set = |i: usize| bits[(first + i) / 8] >> ((first + i) % 8) & 1 == 1;
                let mut expected = vec![from(9999)];
                expected.extend((0..n).filter(|i| is_set(*i)).map(|i| values[i]));
                let mut out = vec![from(9999)];
                filter(&values, &bits, first, &mut out);
                assert_eq!(out, expected, "n {n}, first {first}");
                out.truncate(1);
                compact_with(Scalar, &values, &bits, first, &mut out);
                assert_eq!(out, expected, "n {n}, first {first}, scalar");
                let mask = BooleanBuffer::new(bits.clone().into(), first, n);
                for is_scalar in [false, true] {
                    let mut kept = vec![from(9999)];
                    kept.extend_from_slice(&values);
                    match is_scalar {
                        true => retain_with(Scalar, &mut kept, 1, &mask),
                        false => retain(&mut kept, 1, &mask),
                    }
                    assert_eq!(kept, expected, "n {n}, first {first}, in place");
                }
            }
        }
    }
}

#[test]
fn values_of_every_size() {
    check(|i| i as u8);
    check(|i| i as i16);
    check(|i| i as i32 - 50);
    check(|i| i as f64 / 3.0);
    check(|i| i as i128 - 50);
    check(|i| (i as u32, i as u8));
}

fn check_plain<T: Plain + PartialEq + std::fmt::Debug>(from: impl Fn(usize) -> T) {
    let lengths: &[usize] = if cfg!(miri) {
        &[0, 65]
    } else {
        &[0, 1, 63, 64, 65, 300]
    };
    for &n in lengths {
        let values: Vec<T> = (0..n).map(&from).collect();
        // There are whole words of selected and unselected values, and mixed words.
        let is_wanted = |i: usize| match i / 64 % 4 {
            0 => i.is_multiple_of(3),
            1 => i % 16 != 5,
            2 => true,
            _ => false,
        };
        let wanted = BooleanBuffer::collect_bool(n + 3, |i| is_wanted(i.wrapping_sub(3)));
        let wanted = wanted.slice(3, n);
        let mut expected = vec![from(9999)];
        expected.extend((0..n).filter(|i| is_wanted(*i)).map(|i| values[i]));
        for shift in 0..2 {
            // An incomplete value follows, and the data is aligned in one case and unaligned in the other.
            let mut page = vec![0; shift];
            page.extend_from_slice(plain::bytes(&values));
            page.push(0xff);
            let mut out = vec![from(9999)];
            filter_plain(&page[shift..], &wanted, &mut out);
            assert_eq!(out, expected, "n {n}, shift {shift}");
            out.truncate(1);
            filter_plain_with(Scalar, &page[shift..], &wanted, &mut out);
            assert_eq!(out, expected, "n {n}, shift {shift}, scalar");
        }
    }
}

#[test]
fn values_of_pages() {
    check_plain(|i| i as u8);
    check_plain(|i| i as i32 - 50);
    check_plain(|i| i as f64 / 3.0);
    check_plain(|i| i as i128 - 50);
}

#[test]
fn bits_that_are_missing_are_zeros() {
    let mut out = Vec::new();
    filter(
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        &[0b1010_0000],
        4,
        &mut out,
    );
    assert_eq!(out, [2, 4]);
    filter(&[1, 2], &[0xff], usize::MAX, &mut out);
    assert_eq!(out.len(), 2);
}
