//! Passes byte arrays to a function one by one.

use herringbone_arrow::buffer::Buffer;
use herringbone_kernels::Malformed;

use super::{ByteSink, LENGTH_BYTES};

const ENDS_EARLY: Malformed = Malformed("the values of the page end early");

/// A sink that calls a function with each value.
pub(crate) struct EachValue<F>(pub(crate) F);

impl<F: FnMut(&[u8]) -> Result<(), Malformed>> ByteSink for EachValue<F> {
    fn append_plain(
        &mut self,
        page: &Buffer,
        mut position: usize,
        n: usize,
    ) -> Result<usize, Malformed> {
        for _ in 0..n {
            let rest = page.get(position..).unwrap_or_default();
            let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>().ok_or(ENDS_EARLY)?;
            let length = u32::from_le_bytes(*length) as usize;
            (self.0)(rest.get(..length).ok_or(ENDS_EARLY)?)?;
            position += LENGTH_BYTES + length;
        }
        Ok(position)
    }

    fn append_fixed(
        &mut self,
        page: &Buffer,
        position: usize,
        end: usize,
        width: usize,
    ) -> Result<(), Malformed> {
        let bytes = page.get(position..end).unwrap_or_default();
        bytes.chunks_exact(width).try_for_each(&mut self.0)
    }

    fn append_lengths(
        &mut self,
        lengths: &[i32],
        page: &Buffer,
        mut position: usize,
    ) -> Result<usize, Malformed> {
        for length in lengths {
            let length = unsigned(*length)?;
            let rest = page.get(position..).unwrap_or_default();
            (self.0)(rest.get(..length).ok_or(ENDS_EARLY)?)?;
            position += length;
        }
        Ok(position)
    }

    fn append_delta_byte_array(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        bytes: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        let mut position = 0;
        for (prefix, suffix) in prefixes.iter().zip(suffixes) {
            let (prefix, suffix) = (unsigned(*prefix)?, unsigned(*suffix)?);
            if prefix > previous.len() {
                return Err(Malformed(
                    "the prefix of a byte array is longer than the previous byte array",
                ));
            }
            let rest = bytes.get(position..).unwrap_or_default();
            previous.truncate(prefix);
            previous.extend_from_slice(rest.get(..suffix).ok_or(ENDS_EARLY)?);
            position += suffix;
            (self.0)(previous)?;
        }
        Ok(position)
    }
}

fn unsigned(length: i32) -> Result<usize, Malformed> {
    usize::try_from(length).map_err(|_| Malformed("a byte array has a negative length"))
}
