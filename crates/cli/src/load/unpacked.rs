//! Bytes compressed with gzip or Zstandard, recognised by their first bytes.

#[cfg(feature = "codecs")]
use std::io::BufReader;
use std::io::{self, Read};

use super::Source;

/// The size of the read buffer in bytes.
#[cfg(feature = "codecs")]
const BUFFER: usize = 256 << 10;

/// The first bytes of gzip.
const GZIP: &[u8] = b"\x1f\x8b";
/// The first bytes of Zstandard.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Unpacks `bytes` if they are compressed. Several gzip members or Zstandard frames are one text.
///
/// # Errors
/// The system fails to read.
pub(super) fn unpacked(mut bytes: Box<dyn Read>, source: &Source) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    bytes
        .by_ref()
        .take(ZSTD.len() as u64)
        .read_to_end(&mut start)?;
    let (is_gzip, is_zstd) = (start.starts_with(GZIP), start.starts_with(ZSTD));
    let all = io::Cursor::new(start).chain(bytes);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => gzip(all, source),
        (_, true) => zstd(all, source)?,
        _ => Box::new(all),
    })
}

#[cfg(feature = "codecs")]
fn gzip(bytes: impl Read + 'static, source: &Source) -> Box<dyn Read> {
    let bytes = BufReader::with_capacity(BUFFER, bytes);
    Box::new(Unpacked {
        reader: flate2::bufread::MultiGzDecoder::new(bytes),
        name: "gzip",
        source: source.clone(),
    })
}

#[cfg(feature = "codecs")]
fn zstd(bytes: impl Read + 'static, source: &Source) -> io::Result<Box<dyn Read>> {
    let bytes = BufReader::with_capacity(BUFFER, bytes);
    Ok(Box::new(Unpacked {
        reader: zstd::stream::read::Decoder::with_buffer(bytes)?,
        name: "Zstandard",
        source: source.clone(),
    }))
}

/// Leaves the bytes as they are. The reader of the text reports them.
#[cfg(not(feature = "codecs"))]
fn gzip(bytes: impl Read + 'static, _: &Source) -> Box<dyn Read> {
    Box::new(bytes)
}

/// Leaves the bytes as they are. The reader of the text reports them.
#[cfg(not(feature = "codecs"))]
fn zstd(bytes: impl Read + 'static, _: &Source) -> io::Result<Box<dyn Read>> {
    Ok(Box::new(bytes))
}

/// A reader whose own errors are about invalid data. Errors of the source stay as they are.
#[cfg(feature = "codecs")]
struct Unpacked<R> {
    reader: R,
    name: &'static str,
    source: Source,
}

#[cfg(feature = "codecs")]
impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            let is_of_system =
                self.source.has_failed.get() || error.kind() == io::ErrorKind::Interrupted;
            match is_of_system {
                true => error,
                false => {
                    let text = format!("the {} data is cut or damaged: {error}", self.name);
                    io::Error::new(io::ErrorKind::InvalidData, text)
                }
            }
        })
    }
}
