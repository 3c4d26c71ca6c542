use super::*;

fn int96(day: i32, nanos: i64) -> [u8; 12] {
    let mut value = [0; 12];
    value[..8].copy_from_slice(&nanos.to_le_bytes());
    value[8..].copy_from_slice(&day.to_le_bytes());
    value
}

fn read(value: [u8; 12], layout: Layout, per_second: i64) -> (i64, bool) {
    let mut out = Vec::new();
    let any = extend(&value, layout, per_second, &mut out);
    assert_eq!(
        overflows(&value, layout, per_second).collect::<Vec<_>>(),
        [any]
    );
    (out[0], any)
}

#[test]
fn julian_days_in_every_unit() {
    let layout = Layout::JulianDay;
    // 1970-01-02 00:00:01.000000001
    let value = int96(2_440_589, 1_000_000_001);
    assert_eq!(read(value, layout, 1), (86_401, false));
    assert_eq!(read(value, layout, 1_000), (86_401_000, false));
    assert_eq!(read(value, layout, 1_000_000), (86_401_000_000, false));
    assert_eq!(
        read(value, layout, 1_000_000_000),
        (86_401_000_000_001, false)
    );
    // One nanosecond before the epoch rounds down, in both ways in which it can be written.
    for value in [int96(2_440_587, 86_399_999_999_999), int96(2_440_588, -1)] {
        assert_eq!(read(value, layout, 1_000_000_000), (-1, false));
        assert_eq!(read(value, layout, 1_000), (-1, false));
    }
}

#[test]
fn julian_days_beyond_64_bits() {
    // The year 9999 does not fit into nanoseconds.
    let value = int96(5_373_484, 0);
    let seconds = (5_373_484 - 2_440_588) * 86_400i64;
    assert_eq!(
        read(value, Layout::JulianDay, 1_000_000),
        (seconds * 1_000_000, false)
    );
    let wrapped = (i128::from(seconds) * 1_000_000_000) as i64;
    assert_eq!(
        read(value, Layout::JulianDay, 1_000_000_000),
        (wrapped, true)
    );
    // The last day with valid timestamps is incomplete, because i64::MAX is within it.
    let (day, nanos) = (i64::MAX / 86_400_000_000_000, i64::MAX % 86_400_000_000_000);
    let last = int96((day + 2_440_588) as i32, nanos);
    assert_eq!(
        read(last, Layout::JulianDay, 1_000_000_000),
        (i64::MAX, false)
    );
    let behind = int96((day + 2_440_588) as i32, nanos + 1);
    assert_eq!(
        read(behind, Layout::JulianDay, 1_000_000_000),
        (i64::MIN, true)
    );
    // i64::MIN needs a day that does not fit by itself, but its nanoseconds bring the sum back into range.
    let day = i64::MIN.div_euclid(86_400_000_000_000);
    let first = int96(
        (day + 2_440_588) as i32,
        i64::MIN.rem_euclid(86_400_000_000_000),
    );
    assert_eq!(
        read(first, Layout::JulianDay, 1_000_000_000),
        (i64::MIN, false)
    );
}

#[test]
fn counts_of_96_bits() {
    let bytes = |value: i128| -> [u8; 12] { std::array::from_fn(|i| value.to_le_bytes()[i]) };
    let nanos = Layout::Count {
        per_second: 1_000_000_000,
    };
    assert_eq!(read(bytes(-1), nanos, 1_000_000_000), (-1, false));
    assert_eq!(read(bytes(-1), nanos, 1_000), (-1, false));
    assert_eq!(read(bytes(1_999_999), nanos, 1_000), (1, false));
    assert_eq!(read(bytes(1 << 63), nanos, 1_000_000_000), (i64::MIN, true));
    assert_eq!(
        read(bytes(1 << 63), nanos, 1_000),
        (9_223_372_036_854, false)
    );
    let millis = Layout::Count { per_second: 1_000 };
    assert_eq!(read(bytes(-5), millis, 1_000_000), (-5_000, false));
    assert_eq!(read(bytes(-(1 << 95)), millis, 1_000_000_000), (0, true));
}

/// Compares every block size and remainder with an exact conversion of one value at a time.
#[test]
fn many_are_converted_like_one() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let all = (0..40).chain([1001]);
    for n in all.step_by(if cfg!(miri) { 13 } else { 1 }) {
        // These are usual values, including the ends of the day and of the range.
        let mut values: Vec<[u8; 12]> = (0..n)
            .map(|i| {
                let nanos = match i % 5 {
                    0 => 0,
                    1 => 86_399_999_999_999,
                    _ => (next() % 86_400_000_000_000) as i64,
                };
                let day = match i % 7 {
                    0 => 2_440_588 - 106_750,
                    1 => 2_440_588 + 106_750,
                    _ => 2_440_588 + (next() % 200_000) as i32 - 100_000,
                };
                int96(day, nanos)
            })
            .collect();
        check(&values);
        // There is one unusual value, at each position in turn.
        for (i, unusual) in [
            int96(i32::MIN, 1),
            int96(i32::MAX, -1),
            int96(2_440_588, i64::MAX),
            int96(2_440_588, i64::MIN),
            int96(2_440_588 + 106_751, 86_399_999_999_999),
            int96(2_440_588, 86_400_000_000_000),
            int96(0, 5),
        ]
        .into_iter()
        .enumerate()
        {
            if n > 0 {
                let at = (i * 11) % n;
                let usual = std::mem::replace(&mut values[at], unusual);
                check(&values);
                values[at] = usual;
            }
        }
    }
}

fn check(values: &[[u8; 12]]) {
    let layout = Layout::JulianDay;
    for per_second in [1, 1_000, 1_000_000, NANOS_PER_SECOND] {
        let mut out = vec![7];
        let any = extend(values.as_flattened(), layout, per_second, &mut out);
        let one_by_one: Vec<_> = values
            .iter()
            .map(|value| convert(value, layout, per_second))
            .collect();
        assert_eq!(any, one_by_one.iter().any(|(_, overflow)| *overflow));
        assert!(
            out[1..]
                .iter()
                .eq(one_by_one.iter().map(|(units, _)| units))
        );
    }
}
