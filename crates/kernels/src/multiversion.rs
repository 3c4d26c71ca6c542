//! Compiles portable loops once per instruction set.

/// The whole body of a function. It calls `$inner`, which is an `#[inline(always)]` function of portable code, from a
/// function that enables the processor's best instructions.
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

/// Implements a trait for tokens of instruction sets. Each method is an ordinary one, except that its `self` has
/// another name. Its body is compiled once per token, with the attribute that follows the token, such as
/// `target_feature(enable = "avx2")`. A method's own attributes belong to this compiled function, which the method
/// calls.
///
/// The attribute must enable no instructions other than the ones that the token proves to be available. Bodies should
/// call `#[inline(always)]` functions, because other functions are not compiled anew.
macro_rules! per_instruction_set {
    (
        $methods:tt
        $($(#[$platform:meta])? impl $trait:ident for $token:ty: $features:meta;)+
    ) => {$(
        $(#[$platform])?
        $crate::multiversion::per_instruction_set! { @one $methods $trait ($token) ($features) }
    )+};
    (
        @one {$(
            $(#[$attribute:meta])*
            fn $name:ident $([$($generics:tt)*])? (
                self as $cpu:tt $(, $argument:ident: $type:ty)* $(,)?
            ) $(-> $result:ty)? $body:block
        )+}
        $trait:ident ($token:ty) ($features:meta)
    ) => {
        #[allow(unused_unsafe, reason = "portable functions are safe to call")]
        impl $trait for $token {$(
            #[inline(always)]
            fn $name $(<$($generics)*>)? (self $(, $argument: $type)*) $(-> $result)? {
                $(#[$attribute])*
                #[$features]
                fn compiled $(<$($generics)*>)? (
                    $cpu: $token $(, $argument: $type)*
                ) $(-> $result)? $body
                // SAFETY: the token proves that the instructions are available.
                unsafe { compiled(self $(, $argument)*) }
            }
        )+}
    };
}
pub(crate) use per_instruction_set;
