//! Decompresses gzip and Zstandard, recognized by their magic numbers.

#[cfg(feature = "codecs")]
use std::io::BufReader;
use std::io::{self, Read};

use herringbone::Limits;

use super::stream::Source;

/// The read buffer's size in bytes.
#[cfg(feature = "codecs")]
const BUFFER: usize = 256 << 10;

/// The magic number of gzip.
const GZIP: &[u8] = b"\x1f\x8b";
/// The magic number of Zstandard.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Decompresses `bytes` if they are compressed. Several gzip members or Zstandard frames are
/// concatenated into one text.
///
/// # Errors
/// Fails if the system cannot read the bytes.
pub(super) fn unpacked(
    mut bytes: Box<dyn Read>,
    source: &Source,
    limits: &Limits,
) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    bytes
        .by_ref()
        .take(ZSTD.len() as u64)
        .read_to_end(&mut start)?;
    let (is_gzip, is_zstd) = (start.starts_with(GZIP), start.starts_with(ZSTD));
    let all = io::Cursor::new(start).chain(bytes);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => gzip(all, source, limits),
        (_, true) => zstd(all, source, limits)?,
        _ => Box::new(all),
    })
}

#[cfg(feature = "codecs")]
fn gzip(bytes: impl Read + 'static, source: &Source, limits: &Limits) -> Box<dyn Read> {
    let bytes = BufReader::with_capacity(BUFFER, bytes);
    let reader = flate2::bufread::MultiGzDecoder::new(bytes);
    Box::new(Unpacked::new(reader, "gzip", source, limits))
}

#[cfg(feature = "codecs")]
fn zstd(bytes: impl Read + 'static, source: &Source, limits: &Limits) -> io::Result<Box<dyn Read>> {
    let bytes = BufReader::with_capacity(BUFFER, bytes);
    let reader = zstd::stream::read::Decoder::with_buffer(bytes)?;
    Ok(Box::new(Unpacked::new(reader, "Zstandard", source, limits)))
}

/// Leaves the bytes as they are, because the reader of the text reports them.
#[cfg(not(feature = "codecs"))]
fn gzip(bytes: impl Read + 'static, _: &Source, _: &Limits) -> Box<dyn Read> {
    Box::new(bytes)
}

/// Leaves the bytes as they are, because the reader of the text reports them.
#[cfg(not(feature = "codecs"))]
fn zstd(bytes: impl Read + 'static, _: &Source, _: &Limits) -> io::Result<Box<dyn Read>> {
    Ok(Box::new(bytes))
}

/// A decompressing reader. Its own errors are about invalid data, while the source's errors are
/// passed on unchanged.
#[cfg(feature = "codecs")]
struct Unpacked<R> {
    reader: R,
    name: &'static str,
    source: Source,
    /// The number of bytes unpacked so far.
    unpacked: u64,
    /// The number of unpacked bytes allowed for any text, the same as for a large Parquet page.
    allowance: u64,
    /// The number of additional unpacked bytes allowed per compressed byte, as in Parquet.
    ratio: u64,
}

#[cfg(feature = "codecs")]
impl<R> Unpacked<R> {
    fn new(reader: R, name: &'static str, source: &Source, limits: &Limits) -> Self {
        Self {
            reader,
            name,
            source: source.clone(),
            unpacked: 0,
            allowance: limits.memory_bytes.min(limits.page_bytes as u64),
            ratio: limits.decompression_ratio as u64,
        }
    }

    /// Counts unpacked bytes.
    ///
    /// # Errors
    /// Fails with `InvalidData` if there are too many of them for the compressed bytes.
    fn count(&mut self, bytes: usize) -> io::Result<()> {
        self.unpacked = self.unpacked.saturating_add(bytes as u64);
        let compressed = self.source.read.get();
        let most = compressed.saturating_mul(self.ratio);
        if self.unpacked <= most.saturating_add(self.allowance) {
            return Ok(());
        }
        let text = format!(
            "the {} data unpacks to more than {} bytes, and to more than {} bytes per compressed byte, the limit \
             `decompression_ratio`; raise it with --max decompression_ratio=N",
            self.name, self.allowance, self.ratio
        );
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }
}

#[cfg(feature = "codecs")]
impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer).map_err(|error| {
            let is_of_system =
                self.source.has_failed.get() || error.kind() == io::ErrorKind::Interrupted;
            match is_of_system {
                true => error,
                false => {
                    let text = format!("the {} data is cut or damaged: {error}", self.name);
                    io::Error::new(io::ErrorKind::InvalidData, text)
                }
            }
        })?;
        self.count(count)?;
        Ok(count)
    }
}
