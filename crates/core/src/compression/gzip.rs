//! GZIP through zlib-rs. A page is one or more gzip members (RFC 1952; Compression, "GZIP").
//!
//! ```text
//! page   = member+
//! member = header, deflate stream, u32 LE CRC-32 of the uncompressed bytes, u32 LE their number mod 2^32
//! header = 1f 8b 08 flags, 6 bytes of time and system, the optional fields declared by the flags
//! ```

use super::compressor::{Ask, Compress, PIECE, failed};
use super::{Codec, GzipLevel, broken, too_long};
use flate2::{Decompress, FlushCompress, FlushDecompress, Status};
use herringbone_format::Result;

/// A decoder for one or more consecutive gzip members.
pub(super) struct Gzip(Decompress);

impl Gzip {
    pub(super) fn new() -> Self {
        Self(Decompress::new(false))
    }

    /// Inflates the deflate stream at the front of `input` to the front of `output`. Returns the number of bytes read
    /// and the number of bytes written.
    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize)> {
        self.0.reset(false);
        let status = self
            .0
            .decompress(input, output, FlushDecompress::Finish)
            .map_err(|error| broken("GZIP", error))?;
        // The casts are lossless, because neither number exceeds the length of its slice.
        let (read, written) = (self.0.total_in() as usize, self.0.total_out() as usize);
        match status {
            Status::StreamEnd => Ok((read, written)),
            _ if written == output.len() && read < input.len() => Err(too_long("GZIP")),
            _ => Err(broken("GZIP", "a deflate stream ends early")),
        }
    }
}

impl Codec for Gzip {
    fn decompress(&mut self, mut input: &[u8], output: &mut [u8]) -> Result<usize> {
        let mut written = 0;
        while !input.is_empty() {
            let deflate =
                skip_header(input).ok_or_else(|| broken("GZIP", "the gzip header is missing"))?;
            let rest = output.get_mut(written..).unwrap_or_default();
            let (read, inflated) = self.inflate(deflate, rest)?;
            let uncompressed = rest.get(..inflated).unwrap_or_default();
            let (trailer, behind) = deflate
                .get(read..)
                .and_then(<[u8]>::split_first_chunk)
                .ok_or_else(|| broken("GZIP", "a member ends early"))?;
            if *trailer != member_trailer(uncompressed) {
                return Err(broken("GZIP", "the checksum or size of a member is wrong"));
            }
            written += inflated;
            input = behind;
        }
        Ok(written)
    }
}

/// An encoder for pages with one gzip member.
#[cfg_attr(
    feature = "libdeflate",
    allow(dead_code, reason = "libdeflate makes them faster")
)]
pub(super) struct GzipCompressor {
    encoder: flate2::Compress,
    /// The maximum number of bytes passed to the codec at once.
    piece: usize,
}

#[cfg_attr(
    feature = "libdeflate",
    allow(dead_code, reason = "libdeflate makes them faster")
)]
impl GzipCompressor {
    pub(super) fn new(level: GzipLevel) -> Self {
        // The cast is lossless, because a checked level isn't negative.
        let number = flate2::Compression::new(level.get().unsigned_abs());
        Self {
            encoder: flate2::Compress::new(number, false),
            piece: match level.get() <= GzipLevel::default().get() {
                true => usize::MAX,
                false => PIECE,
            },
        }
    }
}

impl Compress for GzipCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.compress_sections(input, &[], out, &|| Ok(()))
    }

    fn compress_sections(
        &mut self,
        input: &[u8],
        _: &[usize],
        out: &mut Vec<u8>,
        ask: Ask<'_>,
    ) -> Result<()> {
        // The header has no time, no flags and an unknown operating system.
        out.extend_from_slice(b"\x1f\x8b\x08\0\0\0\0\0\0\xff");
        self.encoder.reset();
        // This is seldom too little, because even the fastest level expands data without patterns only slightly.
        out.reserve(input.len() + input.len() / 1024 + 64);
        loop {
            // The cast is lossless, because the number does not exceed the length of the input.
            let read = self.encoder.total_in() as usize;
            let rest = input.get(read..).unwrap_or_default();
            let (piece, flush) = match rest.get(..self.piece) {
                Some(piece) => (piece, FlushCompress::None),
                None => (rest, FlushCompress::Finish),
            };
            let status = self.encoder.compress_vec(piece, out, flush);
            match status.map_err(|error| failed("GZIP", error))? {
                Status::StreamEnd => break,
                Status::Ok | Status::BufError if out.len() == out.capacity() => {
                    out.reserve(input.len() / 4 + 64);
                }
                Status::Ok | Status::BufError => ask()?,
            }
        }
        out.extend_from_slice(&member_trailer(input));
        Ok(())
    }
}

/// Returns the eight bytes that follow the deflate stream for these uncompressed bytes.
fn member_trailer(uncompressed: &[u8]) -> [u8; 8] {
    // The format stores the size modulo 2^32.
    let size = uncompressed.len() as u32;
    (u64::from(size) << 32 | u64::from(crc32fast::hash(uncompressed))).to_le_bytes()
}

/// Returns the bytes after the header of the member at the front of `input`, or `None` if there is no valid header.
fn skip_header(input: &[u8]) -> Option<&[u8]> {
    const HEADER_CRC: u8 = 1 << 1;
    const EXTRA: u8 = 1 << 2;
    const NAME: u8 = 1 << 3;
    const COMMENT: u8 = 1 << 4;
    const RESERVED: u8 = 0b1110_0000;

    let [0x1f, 0x8b, 0x08, flags, _, _, _, _, _, _, rest @ ..] = input else {
        return None;
    };
    let mut rest = rest;
    if flags & RESERVED != 0 {
        return None;
    }
    if flags & EXTRA != 0 {
        let (length, behind) = rest.split_first_chunk()?;
        rest = behind.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_header_fields_are_passed_over() {
        let header = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff\x03\0xyzname\0comment\0\xaa\xbbdeflate";
        assert_eq!(skip_header(header), Some(&b"deflate"[..]));
        for end in 0..header.len() - b"deflate".len() {
            assert_eq!(skip_header(&header[..end]), None, "{end}");
        }
    }

    #[test]
    fn zlib_streams_and_reserved_flags_are_not_gzip() {
        assert_eq!(skip_header(b"\x78\x9c\x03\0\0\0\0\x01\0\0\0\0"), None);
        assert_eq!(skip_header(b"\x1f\x8b\x08\x20\0\0\0\0\0\xff\x03\0"), None);
    }
}
