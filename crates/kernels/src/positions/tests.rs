use super::*;

fn bytes(positions: &[(f64, f64)]) -> Vec<PositionBytes> {
    let position = |(x, y): &(f64, f64)| [x.to_le_bytes(), y.to_le_bytes()];
    positions.iter().map(position).collect()
}

#[test]
fn bounds_and_how_far_positions_are_from_the_first_one() {
    let line = bytes(&[(3.0, 4.0), (5.0, f64::NAN), (-1.0, 4.5)]);
    let point = bytes(&[(100.0, -7.0)]);
    let bounds = position_bounds::<true>(&[&line[..], &[], &point]);
    assert_eq!(bounds.min, [-1.0, -7.0]);
    assert_eq!(bounds.max, [100.0, 4.5]);
    assert_eq!(bounds.x_spread, 4.0);
    assert_eq!(position_bounds::<false>(&[&line]).x_spread, 0.0);
    assert_eq!(position_bounds::<true>(&[[]]), PositionBounds::NONE);
}

/// Checks sequences of all lengths that the loops treat differently. Each position in turn has an extreme number or
/// NaN.
#[test]
fn like_one_position_after_the_other() {
    let numbers = [
        1e300,
        -1e300,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
    ];
    for length in 0..13 {
        for at in 0..length.max(1) {
            for number in numbers {
                let position = |it: i32| (f64::from(it % 7), f64::from(it % 5) - 9.25);
                let mut positions: Vec<_> = (0..length).map(position).collect();
                for (index, position) in positions.iter_mut().enumerate() {
                    match (index as i32 == at, at % 2) {
                        (true, 0) => position.0 = number,
                        (true, _) => position.1 = number,
                        (false, _) => {}
                    }
                }
                let (line, others) = (bytes(&positions), bytes(&[(2.0, 2.0), (2.5, 1.5)]));
                let sequences = [line.as_slice(), &others, &line];
                let bits = |it: PositionBounds| (it.min, it.max, it.x_spread);
                let (expected, got) = (
                    bits(scalar::bounds::<true>(&sequences)),
                    bits(position_bounds::<true>(&sequences)),
                );
                assert_eq!(got, expected, "{number} at {at} of {length}");
            }
        }
    }
}
