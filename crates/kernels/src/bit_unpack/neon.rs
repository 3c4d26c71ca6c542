//! Unpacking with NEON: eight values at a time, or sixteen of at most eight bits.
//!
//! One table lookup moves to each lane the bytes that contain its value, a shift by lane moves the value to bit 0,
//! and a mask clears the bits of the next value. Lanes of 32 bits hold a value of up to 25 bits wherever in a byte it
//! starts, and wider ones pass through lanes of 64 bits. Portable code unpacks the beginning and the end.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::scalar;
use crate::bitmap::low_bits;
use crate::cpu::Neon;

/// The number of values that start and end on byte boundaries together, for every width.
const GROUP: usize = 8;

/// Writes all of `out`: the values of `data` from value `first` on.
#[inline(always)]
pub(super) fn unpack_u8(
    _: Neon,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u8>],
) {
    // SAFETY: the token proves that the instructions are available.
    unsafe { bytes(data, first, width, out) }
}

/// Writes all of `out`: the values of `data` from value `first` on.
#[inline(always)]
pub(super) fn unpack_u32(
    _: Neon,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u32>],
) {
    // SAFETY: the token proves that the instructions are available.
    unsafe { words(data, first, width, out) }
}

#[inline]
#[target_feature(enable = "neon")]
fn words(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<u32>]) {
    let mut done = 0;
    if first.is_multiple_of(GROUP) && (1..=Plan::WIDEST).contains(&width) && out.len() >= GROUP {
        let bytes = group_bytes(data, first, width);
        let plan = Plan::new(width);
        let (groups, _) = out.as_chunks_mut::<GROUP>();
        let whole = plan.groups(bytes.len(), groups.len());
        for (index, to) in groups[..whole].iter_mut().enumerate() {
            // SAFETY: `index` is below the number of groups that `groups` returns, and the slots have room for both vectors.
            unsafe {
                let [low, high] = plan.values(bytes.as_ptr().add(index * plan.step));
                vst1q_u32(to.as_mut_ptr().cast(), low);
                vst1q_u32(to.as_mut_ptr().cast::<u32>().add(4), high);
            }
        }
        done = whole * GROUP;
    }
    if done < out.len() {
        scalar::unpack(data, first + done, width, &mut out[done..]);
    }
}

/// Returns how many of `wanted` loads of `load` bytes, each `step` bytes after the one before, lie within this many bytes.
#[inline(always)]
pub(crate) fn groups(bytes: usize, load: usize, step: usize, wanted: usize) -> usize {
    // Nearly always, all of them do. This needs no division.
    if wanted.saturating_mul(step).saturating_add(load) <= bytes {
        return wanted;
    }
    let groups = bytes.checked_sub(load).map_or(0, |rest| rest / step + 1);
    groups.min(wanted)
}

/// Returns the bytes from value `first` on, which starts a group.
#[inline(always)]
fn group_bytes(data: &[u8], first: usize, width: u8) -> &[u8] {
    let start = (first / GROUP).saturating_mul(width.into());
    data.get(start..).unwrap_or_default()
}

/// The positions of eight values of 1 to 32 bits, which start on a byte boundary.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The first and the last four values: four lanes of 32 bits, or twice two lanes of 64 bits.
    halves: [[Lanes; 2]; 2],
    mask: uint32x4_t,
    /// The byte in which the last four values start, or zero if one load has all values.
    middle: usize,
    /// The number of bytes in a group, which is that of bits in a value.
    step: usize,
    is_wide: bool,
}

impl Plan {
    /// The widest values that a plan unpacks, in bits.
    pub(crate) const WIDEST: u8 = 32;

    /// The widest values, in bits, that lie within four bytes wherever in the first of them they start.
    const NARROW: u8 = 25;

    /// Creates a plan for values of `width` bits, 1 to [`Self::WIDEST`].
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn new(width: u8) -> Self {
        let (is_wide, step) = (width > Self::NARROW, usize::from(width));
        // Eight values of at most 16 bits lie within sixteen bytes.
        let middle = if step <= 16 { 0 } else { 4 * step / 8 };
        let half = |first| match is_wide {
            false => [Lanes::four(width, first); 2],
            true => [
                Lanes::two(width, first),
                Lanes::two(width, first + 2 * step),
            ],
        };
        Self {
            halves: [half(0), half(4 * step - 8 * middle)],
            mask: vdupq_n_u32(low_bits(step) as u32),
            middle,
            step,
            is_wide,
        }
    }

    /// Returns how many of `wanted` groups may be loaded from this many bytes.
    #[inline(always)]
    pub(crate) fn groups(&self, bytes: usize, wanted: usize) -> usize {
        groups(
            bytes,
            self.middle + size_of::<uint8x16_t>(),
            self.step,
            wanted,
        )
    }

    /// Returns the eight values of the group at `bytes`.
    ///
    /// # Safety
    /// The sixteen bytes from `bytes` on are readable, and so are those from byte `middle` on: the group is one of those
    /// that [`Self::groups`] counts.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) unsafe fn values(&self, bytes: *const u8) -> [uint32x4_t; 2] {
        // SAFETY: the caller's contract. Loads need no alignment.
        let low = unsafe { vld1q_u8(bytes) };
        let high = match self.middle {
            0 => low,
            // SAFETY: the caller's contract.
            middle => unsafe { vld1q_u8(bytes.add(middle)) },
        };
        [self.four(low, 0), self.four(high, 1)]
    }

    /// Returns the four values of a half of a group.
    #[inline]
    #[target_feature(enable = "neon")]
    fn four(&self, bytes: uint8x16_t, half: usize) -> uint32x4_t {
        let [low, high] = &self.halves[half];
        let values = if self.is_wide {
            let (low, high) = (low.of_64_bits(bytes), high.of_64_bits(bytes));
            // The lower halves of all four lanes.
            vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high))
        } else {
            vshlq_u32(vreinterpretq_u32_u8(low.look_up(bytes)), low.shifts)
        };
        vandq_u32(values, self.mask)
    }
}

/// The bytes that a table lookup moves to each lane, and the shifts that then move the values to bit 0.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// Indices past the sixteenth byte select zeros.
    bytes: uint8x16_t,
    /// The numbers of bits by which the lanes are shifted to the left, which are negative. Of each lane, the instruction
    /// takes the lowest byte.
    shifts: int32x4_t,
}

impl Lanes {
    /// Returns four lanes of 32 bits. The first value starts in bit `first`.
    #[inline]
    #[target_feature(enable = "neon")]
    fn four(width: u8, first: usize) -> Self {
        Self::new(width, first, [0, 1, 2, 3], [0x0302_0100; 4])
    }

    /// Returns two lanes of 64 bits. The first value starts in bit `first`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn two(width: u8, first: usize) -> Self {
        const BYTES: [u32; 2] = [0x0302_0100, 0x0706_0504];
        Self::new(
            width,
            first,
            [0, 0, 1, 1],
            [BYTES[0], BYTES[1], BYTES[0], BYTES[1]],
        )
    }

    /// Returns lanes with these values, and these bytes from the one on in which a value starts.
    #[inline]
    #[target_feature(enable = "neon")]
    fn new(width: u8, first: usize, values: [u32; 4], bytes: [u32; 4]) -> Self {
        // SAFETY: both arrays are whole vectors.
        let (values, bytes) = unsafe { (vld1q_u32(values.as_ptr()), vld1q_u32(bytes.as_ptr())) };
        let bits = vmlaq_n_u32(vdupq_n_u32(first as u32), values, width.into());
        let start = vshrq_n_u32::<3>(bits);
        let inside = vandq_u32(bits, vdupq_n_u32(7));
        Self {
            // The start is below 256, so it does not carry into the next byte.
            bytes: vreinterpretq_u8_u32(vmlaq_n_u32(bytes, start, 0x0101_0101)),
            shifts: vnegq_s32(vreinterpretq_s32_u32(inside)),
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn look_up(&self, bytes: uint8x16_t) -> uint8x16_t {
        vqtbl1q_u8(bytes, self.bytes)
    }

    /// Returns two lanes of 64 bits, which begin with their values.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn of_64_bits(&self, bytes: uint8x16_t) -> uint64x2_t {
        let lanes = vreinterpretq_u64_u8(self.look_up(bytes));
        vshlq_u64(lanes, vreinterpretq_s64_s32(self.shifts))
    }
}

/// Unpacks values of up to 8 bits, sixteen at a time: two groups, in lanes of 16 bits that are narrowed.
#[inline]
#[target_feature(enable = "neon")]
fn bytes(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<u8>]) {
    let mut done = 0;
    if first.is_multiple_of(GROUP) && (1..=8).contains(&width) && out.len() >= 2 * GROUP {
        let bytes = group_bytes(data, first, width);
        let step = 2 * usize::from(width);
        // Value `i` starts in bit `i * width`, so eight lanes of 16 bits have the bytes of a group.
        const VALUES: [u16; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
        // SAFETY: the array is a whole vector.
        let values = unsafe { vld1q_u16(VALUES.as_ptr()) };
        let bits = vmulq_n_u16(values, width.into());
        let shifts = vnegq_s16(vreinterpretq_s16_u16(vandq_u16(bits, vdupq_n_u16(7))));
        let start = vshrq_n_u16::<3>(bits);
        let low = vreinterpretq_u8_u16(vmlaq_n_u16(vdupq_n_u16(0x0100), start, 0x0101));
        let high = vaddq_u8(low, vdupq_n_u8(width));
        let mask = vdupq_n_u8(low_bits(width.into()) as u8);
        let (pairs, _) = out.as_chunks_mut::<{ 2 * GROUP }>();
        let whole = groups(bytes.len(), size_of::<uint8x16_t>(), step, pairs.len());
        for (index, to) in pairs[..whole].iter_mut().enumerate() {
            // SAFETY: the last of `whole` loads ends within `bytes`, and the slots have room for a vector.
            unsafe {
                let loaded = vld1q_u8(bytes.as_ptr().add(index * step));
                let lanes = |index| vreinterpretq_u16_u8(vqtbl1q_u8(loaded, index));
                let (low, high) = (
                    vshlq_u16(lanes(low), shifts),
                    vshlq_u16(lanes(high), shifts),
                );
                let values = vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
                vst1q_u8(to.as_mut_ptr().cast(), vandq_u8(values, mask));
            }
        }
        done = whole * 2 * GROUP;
    }
    if done < out.len() {
        scalar::unpack(data, first + done, width, &mut out[done..]);
    }
}
