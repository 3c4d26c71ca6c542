//! Portable loops, compiled once per instruction set.

/// The whole body of a function. Calls `$inner`, an `#[inline(always)]` function of portable code, from a function
/// that enables the best instructions of this processor.
macro_rules! multiversion {
    (
        $inner:ident $(<$($generic:ident: $bound:path),+>)? ($($argument:ident: $type:ty),*)
        $(-> $result:ty)?
    ) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx512 $(<$($generic: $bound),+>)? ($($argument: $type),*) $(-> $result)? {
                $inner($($argument),*)
            }
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2 $(<$($generic: $bound),+>)? ($($argument: $type),*) $(-> $result)? {
                $inner($($argument),*)
            }
            if $crate::cpu::Avx512::detect().is_some() {
                // SAFETY: the token proves that the instructions are available.
                return unsafe { avx512($($argument),*) };
            }
            if $crate::cpu::Avx2::detect().is_some() {
                // SAFETY: the token proves that the instructions are available.
                return unsafe { avx2($($argument),*) };
            }
        }
        $inner($($argument),*)
    }};
}
pub(crate) use multiversion;
