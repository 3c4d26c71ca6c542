//! Decodes one value at a time, in portable code.

use super::AlpFloat;
use crate::simd_lanes::Packed;

macro_rules! decode {
    ($float:ident, $integer:ident) => {
        /// Implements [`AlpFloat::decode`].
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        pub(super) fn $float(
            run: &Packed<'_>,
            base: $integer,
            powers: [$float; 2],
            out: &mut Vec<$float>,
        ) {
            out.reserve(run.n());
            run.for_each(|n| {
                out.push($float::scale(
                    base.wrapping_add(n.cast_signed() as _),
                    powers,
                ));
            });
        }
    };
}
decode!(f32, i32);
decode!(f64, i64);
