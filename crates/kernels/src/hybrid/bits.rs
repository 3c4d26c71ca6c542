//! Runs of values of one bit: they are copied into a bitmap, or counted.

use super::HybridDecoder;
use super::run::Run;
use crate::Malformed;
use crate::bit_unpack;
use crate::bitmap::{Bitmap, load_bits};

/// See [`HybridDecoder::extend_bitmap`].
#[inline(always)]
pub(super) fn extend_bitmap(
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
    out: &mut Bitmap,
) -> Result<usize, Malformed> {
    let mut local = decoder.clone();
    let before = out.count_set();
    let mut left = n;
    while left > 0 {
        let run = local.take(data, left)?;
        match run {
            Run::Repeated { value, left } => out.append_run(value != 0, left),
            Run::Packed { start, next, left } => {
                out.append_packed(data.get(start..).unwrap_or_default(), next, left)?;
            }
        }
        left -= run.left();
    }
    *decoder = local;
    Ok(out.count_set() - before)
}

/// See [`HybridDecoder::skip_count_ones`].
#[inline(always)]
pub(super) fn skip_count_ones(
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
) -> Result<usize, Malformed> {
    let mut local = decoder.clone();
    let mut ones = 0;
    let mut left = n;
    while left > 0 {
        let run = local.take(data, left)?;
        match run {
            Run::Repeated { value, left } => ones += if value != 0 { left } else { 0 },
            Run::Packed { start, next, left } => {
                let bytes = data.get(start..).unwrap_or_default();
                bit_unpack::check_end(bytes, next, 1, left)?;
                for done in (0..left).step_by(64) {
                    let bits = load_bits(bytes, next + done, (left - done).min(64));
                    ones += bits.count_ones() as usize;
                }
            }
        }
        left -= run.left();
    }
    *decoder = local;
    Ok(ones)
}
