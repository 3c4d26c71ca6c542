//! Decodes runs, and compares them with the values from which they were written.

use super::*;
use crate::bit_unpack::Unpack;

/// A run that the test writes.
#[derive(Debug, Clone)]
enum Written {
    Repeated(u32, usize),
    /// Values that are padded with ones to whole groups, which only a page's last run needs.
    Packed(Vec<u32>),
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write(width: u8, runs: &[Written]) -> (Vec<u8>, Vec<u32>) {
    let (mut data, mut values) = (Vec::new(), Vec::new());
    for run in runs {
        match run {
            Written::Repeated(value, count) => {
                varint((*count as u64) << 1, &mut data);
                data.extend(&value.to_le_bytes()[..usize::from(width.div_ceil(8))]);
                values.extend(std::iter::repeat_n(*value, *count));
            }
            Written::Packed(packed) => {
                let groups = packed.len().div_ceil(8);
                varint((groups as u64) << 1 | 1, &mut data);
                let mut bytes = vec![0; groups * usize::from(width)];
                for bit in 0..bytes.len() * 8 {
                    let value = packed.get(bit / usize::from(width)).unwrap_or(&u32::MAX);
                    bytes[bit / 8] |=
                        ((value >> (bit % usize::from(width)) & 1) as u8) << (bit % 8);
                }
                data.extend(bytes);
                values.extend(packed);
            }
        }
    }
    (data, values)
}

fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns runs of all kinds and lengths, with values below `limit`.
fn runs(width: u8, limit: u64, seed: u64) -> Vec<Written> {
    let state = &mut (seed + u64::from(width));
    let count = if cfg!(miri) { 6 } else { 40 };
    let mut runs: Vec<Written> = (0..count)
        .map(|_| match random(state) % 5 {
            0 => Written::Repeated((random(state) % limit) as u32, random(state) as usize % 9),
            1 => Written::Repeated((random(state) % limit) as u32, random(state) as usize % 300),
            2 => Written::Packed((0..8).map(|_| (random(state) % limit) as u32).collect()),
            3 => Written::Packed((0..0).collect()),
            _ => {
                let groups = random(state) % if cfg!(miri) { 4 } else { 80 };
                Written::Packed(
                    (0..groups * 8)
                        .map(|_| (random(state) % limit) as u32)
                        .collect(),
                )
            }
        })
        .collect();
    runs.push(Written::Packed(
        (0..13).map(|_| (random(state) % limit) as u32).collect(),
    ));
    runs
}

/// Splits `total` into random steps.
fn steps(total: usize, seed: u64) -> Vec<usize> {
    let state = &mut (seed * 77 + 5);
    let mut steps = Vec::new();
    let mut left = total;
    while left > 0 {
        let range = if random(state) & 1 == 0 { 12 } else { 700 };
        steps.push((random(state) as usize % range).min(left));
        left -= steps[steps.len() - 1];
    }
    steps
}

fn widths() -> impl Iterator<Item = u8> {
    (1..=32).filter(|width| !cfg!(miri) || [1, 3, 8, 13, 32].contains(width))
}

#[test]
fn scalar_u32_of_every_width_in_steps() {
    for width in widths() {
        for seed in 0..4 {
            let (data, values) = write(width, &runs(width, 1 << width, seed));
            let mut decoder = HybridDecoder::new(width);
            let mut out = Vec::new();
            for step in steps(values.len(), seed) {
                assert_eq!(decoder.extend_u32(&data, step, &mut out), Ok(()));
            }
            assert_eq!(out, values, "width {width}");
            // There are exactly three padding values.
            assert_eq!(decoder.clone().extend_u32(&data, 3, &mut out), Ok(()));
            assert!(decoder.extend_u32(&data, 4, &mut out).is_err());
        }
    }
}

#[test]
fn scalar_u8_checks_the_greatest_level() {
    for width in widths().filter(|width| *width <= 8) {
        for seed in 0..4 {
            let max = ((1_u32 << width) - 1 - (seed as u32).min((1 << width) - 2)) as u8;
            let (data, values) = write(width, &runs(width, u64::from(max) + 1, seed));
            let mut decoder = HybridDecoder::new(width);
            let mut out = Vec::new();
            for step in steps(values.len(), seed) {
                assert_eq!(decoder.extend_u8(&data, step, max, &mut out), Ok(()));
            }
            assert!(
                out.iter()
                    .map(|value| u32::from(*value))
                    .eq(values.iter().copied())
            );
            let greatest = out.iter().copied().max().unwrap_or_default();
            if greatest > 0 {
                let all = HybridDecoder::new(width).extend_u8(
                    &data,
                    values.len(),
                    greatest - 1,
                    &mut out,
                );
                assert!(all.is_err());
            }
        }
    }
}

#[test]
fn scalar_bitmap_and_counts() {
    for seed in 0..20 {
        let (data, values) = write(1, &runs(1, 2, seed));
        let mut decoder = HybridDecoder::new(1);
        let mut out = Bitmap::new();
        let mut expected = values.iter().map(|value| *value as usize);
        for step in steps(values.len(), seed) {
            let skipped = decoder.clone().skip_count_ones(&data, step);
            let ones = decoder.extend_bitmap(&data, step, &mut out);
            assert_eq!(ones, Ok(expected.by_ref().take(step).sum()));
            assert_eq!(skipped, ones);
        }
        assert_eq!(out.len(), values.len());
        assert!(
            out.finish_boolean()
                .iter()
                .eq(values.iter().map(|value| *value == 1))
        );
    }
}

/// Checks runs of one-bit values at all positions within a word. Their lengths are around the ones that take another
/// path.
#[test]
fn scalar_bits_of_short_and_long_runs() {
    let lengths = if cfg!(miri) {
        &[63, 64][..]
    } else {
        &[1, 7, 62, 63, 64, 65, 127, 128, 200]
    };
    for before in (0..130).step_by(if cfg!(miri) { 31 } else { 1 }) {
        for &length in lengths {
            let packed = |groups| Written::Packed((0..groups * 8).map(|i| i % 3 % 2).collect());
            let mut written = vec![Written::Repeated(0, before)];
            for bit in [1, 0] {
                written.push(Written::Repeated(bit, length));
                written.push(packed(length.div_ceil(8) as u32));
            }
            written.push(packed(2));
            let (data, values) = write(1, &written);
            let mut out = Bitmap::new();
            let ones = HybridDecoder::new(1).extend_bitmap(&data, values.len(), &mut out);
            assert_eq!(ones, Ok(values.iter().filter(|value| **value == 1).count()));
            assert_eq!(out.count_set(), ones.unwrap_or_default());
            let bits = out.finish_boolean();
            assert!(bits.iter().eq(values.iter().map(|value| *value == 1)));
        }
    }
    // There is an invalid value between valid runs.
    let fine = [4, 0, 4, 1].repeat(40);
    let data = [&fine[..], &[4, 2], &fine[..]].concat();
    let mut decoder = HybridDecoder::new(1);
    assert!(
        decoder
            .extend_bitmap(&data, 300, &mut Bitmap::new())
            .is_err()
    );
    let mut decoder = HybridDecoder::new(1);
    assert_eq!(
        decoder.extend_bitmap(&data, 160, &mut Bitmap::new()),
        Ok(80)
    );
}

fn check_gather<T>(entry: impl Fn(u32) -> T)
where
    T: Copy + PartialEq + std::fmt::Debug + 'static,
{
    for width in widths().filter(|width| *width <= if cfg!(miri) { 8 } else { 20 }) {
        for (seed, len) in [
            (0, 1_u64 << width),
            (1, (1 << width) - 1),
            (2, (1 << width) / 2 + 1),
        ] {
            let len = len.max(1);
            let dictionary: Vec<T> = (0..len as u32).map(&entry).collect();
            let (data, values) = write(width, &runs(width, len, seed));
            let mut decoder = HybridDecoder::new(width);
            let mut out = Vec::new();
            for step in steps(values.len(), seed) {
                assert_eq!(decoder.gather(&data, step, &dictionary, &mut out), Ok(()));
            }
            assert!(
                out.iter().copied().eq(values.iter().copied().map(&entry)),
                "width {width}"
            );
            let greatest = values.iter().copied().max().unwrap_or_default() as usize;
            let short = &dictionary[..greatest];
            let all = HybridDecoder::new(width).gather(&data, values.len(), short, &mut out);
            assert_eq!(all, Err(gather::BEYOND));
        }
    }
}

#[test]
fn scalar_gather_of_every_entry_size() {
    check_gather(|index| index as u8);
    check_gather(|index| index as i16);
    check_gather(|index| f32::from_bits(index.wrapping_mul(31)).to_bits());
    check_gather(|index| i64::from(index) << 31 | 5);
    check_gather(|index| i128::from(index) << 77 | 5);
    check_gather(|index| [index as u8, 1, 2]);
}

#[test]
fn scalar_skip_stops_anywhere() {
    for width in widths() {
        let (data, values) = write(width, &runs(width, 1 << width, 9));
        let mut decoder = HybridDecoder::new(width);
        let mut at = 0;
        for (index, step) in steps(values.len(), 9).into_iter().enumerate() {
            if index % 2 == 0 {
                assert_eq!(decoder.skip(&data, step), Ok(()));
            } else {
                let mut out = Vec::new();
                assert_eq!(decoder.extend_u32(&data, step, &mut out), Ok(()));
                assert_eq!(out, &values[at..at + step]);
            }
            at += step;
        }
    }
}

#[test]
fn scalar_width_zero_needs_no_bytes() {
    let mut decoder = HybridDecoder::new(0);
    let mut out = Vec::new();
    assert_eq!(decoder.gather(&[], 3, &["a"], &mut out), Ok(()));
    assert_eq!(out, ["a"; 3]);
    assert_eq!(decoder.gather(&[], 3, &[], &mut out), Err(gather::BEYOND));
    assert_eq!(decoder.skip(&[], usize::MAX), Ok(()));
    assert_eq!(decoder.skip_count_ones(&[], 9), Ok(0));
    let mut levels = Vec::new();
    assert_eq!(decoder.extend_u8(&[], 2, 0, &mut levels), Ok(()));
    assert_eq!(levels, [0, 0]);
    let mut bits = Bitmap::new();
    assert_eq!(decoder.extend_bitmap(&[], 2, &mut bits), Ok(0));
    assert_eq!(bits.len(), 2);
}

#[test]
fn scalar_a_last_run_without_its_padding_is_read() {
    // The run has one group of eight 3-bit values, but the two existing bytes contain only five of them.
    let mut out = Vec::new();
    let mut decoder = HybridDecoder::new(3);
    assert_eq!(decoder.extend_u32(&[3, 0x88, 0xc6], 5, &mut out), Ok(()));
    assert_eq!(out, [0, 1, 2, 3, 4]);
    assert!(decoder.extend_u32(&[3, 0x88, 0xc6], 1, &mut out).is_err());
}

#[test]
fn scalar_hostile_runs_are_errors() {
    let mut out = Vec::new();
    for (width, data) in [
        (1, &[][..]),
        (1, &[0x02][..]),
        (1, &[0x03][..]),
        (1, &[0x80][..]),
        (1, &[0x80; 6][..]),
        (1, &[0xff, 0xff, 0xff, 0xff, 0x7f][..]),
        (1, &[0xff, 0xff, 0xff, 0xff, 0x0f][..]),
        (1, &[0x02, 0x02][..]),
        (9, &[0x02, 0x00][..]),
        (33, &[0x02, 0, 0, 0, 0, 0][..]),
        (255, &[0x02, 0, 0, 0, 0, 0][..]),
    ] {
        assert!(
            HybridDecoder::new(width)
                .extend_u32(data, 1, &mut out)
                .is_err(),
            "{data:?}"
        );
    }
    assert!(
        HybridDecoder::new(2)
            .extend_bitmap(&[2, 0], 1, &mut Bitmap::new())
            .is_err()
    );
    assert!(
        HybridDecoder::new(9)
            .extend_u8(&[2, 0, 0], 1, 255, &mut Vec::new())
            .is_err()
    );
}

#[test]
fn scalar_other_bytes_than_before_are_safe() {
    let (data, values) = write(11, &runs(11, 1 << 11, 3));
    let dictionary = vec![1_u64; 1 << 11];
    for cut in (0..data.len()).step_by(if cfg!(miri) { 40 } else { 1 }) {
        let mut decoder = HybridDecoder::new(11);
        let mut out = Vec::new();
        assert_eq!(
            decoder.gather(&data, values.len() / 2 + 1, &dictionary, &mut out),
            Ok(())
        );
        // The result depends on the remaining bytes, so the test only requires that the call returns.
        let _ = decoder.gather(&data[..cut], values.len() / 3, &dictionary, &mut out);
        let _ = decoder.gather(&vec![0xff; cut], 100, &dictionary, &mut out);
    }
}

/// Checks bits, levels and indices with the loops of one instruction set.
fn check_loops(cpu: impl Loops + Unpack) {
    for width in widths() {
        let max = if width <= 8 {
            (1_u32 << width) - 1 - u32::from(width > 1)
        } else {
            0
        };
        let limit = if width <= 8 {
            u64::from(max) + 1
        } else {
            1 << width
        };
        let (data, values) = write(width, &runs(width, limit, 5));
        let (mut numbers, mut levels, mut bits) = (Vec::new(), Vec::new(), Bitmap::new());
        let decoders = &mut [(); 4].map(|()| HybridDecoder::new(width));
        let mut ones = 0;
        for step in steps(values.len(), 5) {
            let indices = Indices { cpu, width };
            assert_eq!(
                cpu.extend(&indices, &mut decoders[0], &data, step, &mut numbers),
                Ok(())
            );
            if width <= 8 {
                let of = Levels::new(cpu, width, max as u8);
                assert_eq!(
                    cpu.extend(&of, &mut decoders[1], &data, step, &mut levels),
                    Ok(())
                );
            }
            if width == 1 {
                let set = cpu.extend_bitmap(&mut decoders[2], &data, step, &mut bits);
                assert_eq!(cpu.skip_count_ones(&mut decoders[3], &data, step), set);
                ones += set.unwrap();
            }
        }
        assert_eq!(numbers, values);
        if width <= 8 {
            assert!(
                levels
                    .iter()
                    .map(|level| u32::from(*level))
                    .eq(values.iter().copied())
            );
            for greatest in 0..levels.iter().copied().max().unwrap_or_default() {
                let (of, mut decoder) =
                    (Levels::new(cpu, width, greatest), HybridDecoder::new(width));
                assert!(
                    cpu.extend(&of, &mut decoder, &data, values.len(), &mut levels)
                        .is_err()
                );
            }
        }
        if width == 1 {
            assert_eq!(ones, values.iter().filter(|value| **value == 1).count());
            assert!(
                bits.finish_boolean()
                    .iter()
                    .eq(values.iter().map(|value| *value == 1))
            );
        }
    }
}

#[test]
fn scalar_loops() {
    check_loops(Scalar);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_loops() {
    Avx2::detect().into_iter().for_each(check_loops);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_loops() {
    Avx512::detect().into_iter().for_each(check_loops);
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_loops() {
    Neon::detect().into_iter().for_each(check_loops);
}

/// A function that gathers the values of some runs in two steps.
type Way<'a, T> = &'a dyn Fn(Entries<'_, T>, &[u8], usize, &mut Vec<T>) -> Result<(), Malformed>;

/// Checks dictionaries of all lengths, with and without an index that is one too large.
fn check_way<T>(way: Way<'_, T>, widths: std::ops::RangeInclusive<u8>, entry: impl Fn(u32) -> T)
where
    T: Copy + PartialEq + std::fmt::Debug,
{
    for width in widths {
        let most = (1_u64 << width).min(600);
        for len in (1..=most).filter(|len| {
            [1, 2, 3, 8, 15, 16, 17, 31, 32, 33].contains(len) || len % 61 == 0 || most - len < 3
        }) {
            let (data, values) = write(width, &runs(width, len, len));
            let dictionary: Vec<T> = (0..len as u32).map(&entry).collect();
            let expected: Vec<T> = values.iter().map(|index| entry(*index)).collect();
            let mut out = Vec::new();
            let all = || Entries {
                width,
                dictionary: &dictionary,
            };
            assert_eq!(way(all(), &data, values.len(), &mut out), Ok(()));
            assert_eq!(out, expected, "width {width}, {len} entries");
            let greatest = values.iter().copied().max().unwrap_or_default() as usize;
            let short = Entries {
                width,
                dictionary: &dictionary[..greatest],
            };
            assert_eq!(
                way(short, &data, values.len(), &mut out),
                Err(gather::BEYOND)
            );
            assert_eq!(out, expected);
        }
    }
}

fn check_ways<T>(entry: impl Fn(u32) -> T)
where
    T: Copy + PartialEq + std::fmt::Debug + 'static,
{
    let scalar = |entries: Entries<'_, T>, data: &[u8], n: usize, out: &mut Vec<T>| {
        Scalar.extend(
            &entries,
            &mut HybridDecoder::new(entries.width),
            data,
            n,
            out,
        )
    };
    check_way(&scalar, 1..=if cfg!(miri) { 2 } else { 12 }, &entry);
    #[cfg(target_arch = "aarch64")]
    if let Some(cpu) = Neon::detect() {
        let neon = |entries: Entries<'_, T>, data: &[u8], n: usize, out: &mut Vec<T>| {
            let mut decoder = HybridDecoder::new(entries.width);
            gather_neon::extend(cpu, entries, &mut decoder, data, n, out)
        };
        check_way(&neon, 1..=12, &entry);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx2::detect() {
        let avx2 = |entries: Entries<'_, T>, data: &[u8], n: usize, out: &mut Vec<T>| {
            let mut decoder = HybridDecoder::new(entries.width);
            gather_x86_64::extend(cpu, entries, &mut decoder, data, n, out)
        };
        check_way(&avx2, 1..=12, &entry);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx512::detect() {
        let avx512 = |entries: Entries<'_, T>, data: &[u8], n: usize, out: &mut Vec<T>| {
            let mut decoder = HybridDecoder::new(entries.width);
            let other = Entries { ..entries };
            match InRegisters::new(cpu, entries) {
                Some(entries) => cpu.extend(&entries, &mut decoder, data, n, out),
                None => Scalar.extend(&other, &mut decoder, data, n, out),
            }
        };
        check_way(&avx512, 1..=7, &entry);
    }
}

#[test]
fn scalar_and_other_ways_to_gather() {
    check_ways(|index| index as u8);
    check_ways(|index| index.wrapping_mul(77));
    check_ways(|index| i64::from(index) << 31 | 5);
    check_ways(|index| f64::from(index) / 3.0);
    check_ways(|index| u128::from(index) << 77 | 5);
}

/// Skips `n` values of `width` bits, and returns the part after them.
fn leftover(width: u8, data: &[u8], n: usize) -> Leftover {
    let mut decoder = HybridDecoder::new(width);
    decoder.skip(data, n).unwrap();
    decoder.leftover(data)
}

/// Returns a packed run of `groups` groups, at most 63: its header, and its values, which are all ones of width 1.
fn ones(groups: u8) -> Vec<u8> {
    let mut run = vec![groups << 1 | 1];
    run.extend(vec![0xff; usize::from(groups)]);
    run
}

#[test]
fn the_end_of_a_group_or_a_block_is_not_a_value() {
    let two_groups = ones(2);
    for (n, expected) in [
        (16, Leftover::Nothing),
        (9, Leftover::Nothing),
        (8, Leftover::Padding(8)),
        (1, Leftover::Padding(15)),
    ] {
        assert_eq!(leftover(1, &two_groups, n), expected, "{n}");
    }
    // DuckDB writes blocks of 256 values, and the last ones may be arbitrary.
    for n in [1, 8, 255, 256] {
        assert_eq!(leftover(1, &ones(32), n), Leftover::Nothing, "{n}");
    }
}

#[test]
fn the_rest_of_the_last_run_may_be_padding() {
    let ten_ones = [20, 1];
    assert_eq!(leftover(1, &ten_ones, 10), Leftover::Nothing);
    assert_eq!(leftover(1, &ten_ones, 9), Leftover::Padding(1));
    assert_eq!(leftover(1, &[20, 1, 0, 0], 9), Leftover::Padding(1));
    assert_eq!(leftover(1, &[20, 1, 2, 0], 9), Leftover::Values);
}

#[test]
fn one_packed_run_at_the_end_may_be_padding() {
    let blocks = [ones(32), ones(32)].concat();
    assert_eq!(leftover(1, &blocks, 256), Leftover::Padding(256));
    assert_eq!(leftover(1, &blocks, 512), Leftover::Nothing);
    let three = [ones(32), ones(32), ones(1)].concat();
    assert_eq!(leftover(1, &three, 256), Leftover::Values);
    assert_eq!(leftover(1, &[20, 1, 3, 0xff], 10), Leftover::Padding(8));
    // The run ends before its last value.
    assert_eq!(leftover(1, &[20, 1, 5, 0xff], 10), Leftover::Padding(8));
    // In these sections, another byte follows it, or the run is a repeated one, which is never padding.
    assert_eq!(leftover(1, &[20, 1, 3, 0xff, 0], 10), Leftover::Values);
    assert_eq!(leftover(1, &[20, 1, 2, 0], 10), Leftover::Values);
    // The rest of a run and one more run are too much for padding.
    assert_eq!(leftover(1, &[20, 1, 3, 0xff], 9), Leftover::Values);
}

#[test]
fn runs_without_values_are_padding() {
    let zeros = [20, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(leftover(1, &zeros, 10), Leftover::Nothing);
    // When fastparquet writes only nulls, there is a header of no groups, then zeros, and no value before.
    assert_eq!(
        leftover(1, &[1, 0, 0, 0, 0, 0, 0, 0, 0], 0),
        Leftover::Nothing
    );
    // These sections end with a header.
    assert_eq!(leftover(1, &[20, 1, 3], 10), Leftover::Nothing);
    assert_eq!(leftover(1, &[20, 1, 2], 10), Leftover::Nothing);
    assert_eq!(leftover(1, &[20, 1, 0x80], 10), Leftover::Nothing);
    assert_eq!(leftover(9, &[20, 1, 0, 2, 1], 10), Leftover::Nothing);
    // These are a value that is too wide, and a header that never ends.
    assert_eq!(leftover(1, &[20, 1, 2, 7], 10), Leftover::Values);
    assert_eq!(
        leftover(1, &[20, 1, 255, 255, 255, 255, 255], 10),
        Leftover::Values
    );
}

#[test]
fn values_of_width_0_are_counted_by_their_headers() {
    for (data, n, expected) in [
        (&[20][..], 10, Leftover::Nothing),
        (&[], 10, Leftover::Nothing),
        (&[5], 9, Leftover::Nothing),
        (&[20], 9, Leftover::Padding(1)),
        (&[5], 8, Leftover::Padding(8)),
        (&[65, 65], 256, Leftover::Padding(256)),
        (&[65], 200, Leftover::Padding(56)),
        (&[65, 65, 65], 256, Leftover::Values),
        (&[20, 20], 10, Leftover::Values),
    ] {
        assert_eq!(leftover(0, data, n), expected, "{data:?} {n}");
    }
}
