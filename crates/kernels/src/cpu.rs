//! Detects the processor's instruction sets, and returns tokens that kernels take as proof.
//!
//! A token can only be created by detection, so its existence proves that the instructions exist. The choice is made
//! once per process. For tests and measurements, the environment variable `HERRINGBONE_SIMD` lowers it. Its value is
//! one of `scalar`, `avx2`, `avx512` and `neon`. The variable never raises the choice: an instruction set that the
//! processor lacks is ignored.

use std::sync::OnceLock;

/// The instruction sets for which there are kernels, from portable code upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Portable Rust.
    Scalar,
    /// The 128-bit vectors of aarch64.
    Neon,
    /// The 256-bit vectors of x86-64, with the bit instructions that the same processors have.
    Avx2,
    /// The 512-bit vectors of x86-64, which are the extensions F, BW, CD, DQ and VL.
    Avx512,
}

/// Returns the instruction set that kernels use in this process.
#[inline]
pub fn isa() -> Isa {
    static CHOICE: OnceLock<Isa> = OnceLock::new();
    *CHOICE.get_or_init(|| choose(std::env::var("HERRINGBONE_SIMD").ok().as_deref()))
}

/// Returns the processor's best instruction set that does not exceed the `forced` one.
fn choose(forced: Option<&str>) -> Isa {
    // Under Miri we check portable code, because Miri supports few vector instructions.
    let best = if cfg!(miri) { Isa::Scalar } else { best() };
    match forced {
        Some("scalar") => Isa::Scalar,
        Some("avx2") if best >= Isa::Avx2 => Isa::Avx2,
        _ => best,
    }
}

/// Returns the processor's best instruction set.
#[cfg(target_arch = "x86_64")]
fn best() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx512, avx2) {
        (true, _) => Isa::Avx512,
        (_, true) => Isa::Avx2,
        _ => Isa::Scalar,
    }
}

/// Returns the processor's best instruction set, which is NEON because every aarch64 processor has it.
#[cfg(target_arch = "aarch64")]
fn best() -> Isa {
    Isa::Neon
}

/// Returns the processor's best instruction set.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn best() -> Isa {
    Isa::Scalar
}

/// A proof of nothing, for portable code that is called with a token.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

/// A proof of NEON.
#[derive(Debug, Clone, Copy)]
pub struct Neon(());

impl Neon {
    /// Returns the token if the processor has the instructions and portable code is not forced.
    #[inline]
    pub fn detect() -> Option<Self> {
        (isa() == Isa::Neon).then_some(Self(()))
    }
}

/// A proof of AVX2, POPCNT, LZCNT, BMI1 and BMI2. Note that BMI2 is not necessarily fast, so use [`Self::bmi2`] for
/// PDEP and PEXT.
#[derive(Debug, Clone, Copy)]
pub struct Avx2 {
    bmi2: Option<Bmi2>,
}

impl Avx2 {
    /// Returns the token if the processor has the instructions and no lower set is forced.
    #[inline]
    pub fn detect() -> Option<Self> {
        (isa() >= Isa::Avx2).then(|| Self {
            bmi2: Bmi2::detect(),
        })
    }

    /// Returns the proof of PDEP and PEXT if they are fast enough to be worth using.
    #[inline]
    pub fn bmi2(self) -> Option<Bmi2> {
        self.bmi2
    }
}

/// A proof of AVX-512 F, BW, CD, DQ and VL, and of everything that [`Avx2`] and [`Bmi2`] prove.
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

impl Avx512 {
    /// Returns the token if the processor has the instructions and no lower set is forced.
    #[inline]
    pub fn detect() -> Option<Self> {
        (isa() >= Isa::Avx512).then_some(Self(()))
    }

    /// Returns the weaker proof that this one implies.
    #[inline]
    pub fn avx2(self) -> Avx2 {
        Avx2 {
            bmi2: Some(self.bmi2()),
        }
    }

    /// Returns the weaker proof that this one implies, because no processor with AVX-512 has a slow PDEP.
    #[inline]
    pub fn bmi2(self) -> Bmi2 {
        Bmi2(())
    }
}

/// A proof of AES on vectors of any length, and of everything that [`Avx512`] proves.
#[derive(Debug, Clone, Copy)]
pub struct Vaes(());

impl Vaes {
    /// Returns the token if the processor has the instructions and no lower set is forced.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub fn detect() -> Option<Self> {
        Avx512::detect()?;
        let has_aes = is_x86_feature_detected!("aes") && is_x86_feature_detected!("vaes");
        has_aes.then_some(Self(()))
    }

    /// Returns `None`, because the instructions do not exist on other architectures.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    pub fn detect() -> Option<Self> {
        None
    }
}

/// A proof that PDEP and PEXT are worth using, and of POPCNT, LZCNT and BMI1.
///
/// AMD processors before Zen 3 implement both instructions in microcode, which takes hundreds of cycles. So they get no
/// token.
#[derive(Debug, Clone, Copy)]
pub struct Bmi2(());

impl Bmi2 {
    /// Returns the token if both instructions are fast and portable code is not forced.
    #[inline]
    pub fn detect() -> Option<Self> {
        static FAST: OnceLock<bool> = OnceLock::new();
        (isa() >= Isa::Avx2 && *FAST.get_or_init(fast_pdep)).then_some(Self(()))
    }
}

/// Returns true if PDEP and PEXT run in hardware.
#[cfg(target_arch = "x86_64")]
fn fast_pdep() -> bool {
    #[allow(unused_unsafe, reason = "newer compilers know it to be safe")]
    // SAFETY: every x86-64 processor has the instruction and these two leaves.
    let leaf = |leaf| unsafe { std::arch::x86_64::__cpuid(leaf) };
    let vendor = leaf(0);
    let amd = (vendor.ebx, vendor.edx, vendor.ecx)
        == (
            u32::from_le_bytes(*b"Auth"),
            u32::from_le_bytes(*b"enti"),
            u32::from_le_bytes(*b"cAMD"),
        );
    let signature = leaf(1).eax;
    let family = ((signature >> 8) & 0xf) + ((signature >> 20) & 0xff);
    const ZEN_3: u32 = 0x19;
    !amd || family >= ZEN_3
}

/// Returns false, because PDEP and PEXT do not exist on other architectures.
#[cfg(not(target_arch = "x86_64"))]
fn fast_pdep() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_forcing_only_lowers() {
        assert_eq!(choose(Some("scalar")), Isa::Scalar);
        assert!(choose(Some("avx2")) <= choose(None));
        assert_eq!(choose(Some("avx512")), choose(None));
        assert_eq!(choose(Some("nonsense")), choose(None));
    }

    #[test]
    fn scalar_tokens_follow_the_choice() {
        assert_eq!(Avx2::detect().is_some(), isa() >= Isa::Avx2);
        assert_eq!(Avx512::detect().is_some(), isa() == Isa::Avx512);
        assert!(Bmi2::detect().is_none() || Avx2::detect().is_some());
    }
}
