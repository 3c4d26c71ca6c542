//! Turns a page header and body into sections, by decrypting, decompressing and splitting the body.
//!
//! Decrypted and decompressed bodies go into buffers that we reuse for the next page. But an array can keep parts of a
//! page in place, so we only reuse a buffer once nothing refers to it any more.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind};
use herringbone_format::{
    CompressionCodec, DataPageHeader, DataPageHeaderV2, Error, ErrorKind, Limits, PageHeader,
    PageType, Remedy, Result,
};

use super::data_page::{split_levels_v1, split_levels_v2};
use super::decompression_limit::DecompressionLimit;
use super::walker::kind_of_body;
use super::{DataPage, MaxLevels, Page, SharedPage};
use crate::budget::{ColumnMemory, MemoryUse};
use crate::compression::{check_uncompressed_size, decompress};
use crate::created_by::CreatedBy;

/// The smallest decompressed size to check for plausibility before allocating memory. Large sizes are often bogus.
const LARGE_BODY: usize = 16 << 20;

/// The other consumers of this page or an earlier page. Used to decide whether we can reuse buffers.
#[derive(Clone, Copy, Default)]
pub(crate) struct PageUse<'a> {
    /// True if parts of an earlier page are still in use.
    pub(crate) another: bool,
    /// The shared page, if its rows extend into another split of the column chunk.
    pub(crate) shared: Option<&'a SharedPage>,
    /// True if the page is a dictionary read before.
    pub(crate) is_again: bool,
}

/// A decoder for the page bodies of one column chunk.
pub(crate) struct BodyDecoder {
    codec: CompressionCodec,
    max_levels: MaxLevels,
    /// The writer's known quirks.
    created_by: CreatedBy,
    /// The cipher of the bodies, if they are encrypted.
    cipher: Option<ChunkCipher>,
    /// The limit on the pages' decompressed size.
    decompression_limit: DecompressionLimit,
    /// The decompressed size of the largest page so far, and the number of page bodies in use at a time.
    largest_body: u64,
    num_bodies: u64,
    /// A buffer with the decrypted but still compressed body, which we reuse.
    decrypted: Option<Buffer>,
    /// Decompressed bodies, reused once nothing refers to them. There's only more than one if arrays keep parts of
    /// pages in place.
    bodies: [Option<Buffer>; 2],
}

impl BodyDecoder {
    /// Returns true if each level is a row.
    pub(super) fn is_flat(&self) -> bool {
        self.max_levels.repetition == 0
    }

    /// Creates a decoder for pages that `codec` compressed, with repetition and definition levels up to `max_levels`.
    pub(crate) fn new(
        codec: CompressionCodec,
        max_levels: MaxLevels,
        created_by: CreatedBy,
        decompression_limit: DecompressionLimit,
    ) -> Self {
        Self {
            codec,
            max_levels,
            created_by,
            cipher: None,
            decompression_limit,
            largest_body: 0,
            num_bodies: 0,
            decrypted: None,
            bodies: [None, None],
        }
    }

    /// Adds the cipher for the bodies, if there is one.
    pub(crate) fn encrypted(self, cipher: Option<ChunkCipher>) -> Self {
        Self { cipher, ..self }
    }

    /// Returns true if pages are compressed, so that keeping a decompressed page pays off.
    pub(crate) fn is_compressed(&self) -> bool {
        self.codec != CompressionCodec::Uncompressed
    }

    /// Returns true if bodies are copied out of the file's bytes, so that the original bytes can be dropped.
    pub(crate) fn copies(&self, header: &PageHeader) -> bool {
        // The levels of version 2 pages aren't compressed, so they stay in the file's bytes.
        let is_whole = header.type_ != PageType::DataPageV2;
        self.cipher.is_some() || (self.is_compressed() && is_whole)
    }

    /// Opens the page with this `header`, where `ordinal` is the number of data pages before it in the chunk. This
    /// reserves memory for `body`, then decrypts it, decompresses it, and splits it into sections.
    pub(crate) fn open(
        &mut self,
        (header, ordinal): (&PageHeader, usize),
        body: Buffer,
        page_use: PageUse<'_>,
        limits: &Limits,
        memory: &mut ColumnMemory,
    ) -> Result<Page> {
        let is_encrypted = self.cipher.is_some();
        // Bodies without compression or encryption stay in the file's bytes, so they need no memory here.
        if self.is_compressed() || is_encrypted {
            let uncompressed = u64::try_from(header.uncompressed_page_size).unwrap_or_default();
            self.largest_body = self.largest_body.max(uncompressed);
            // A body for another split stays in memory until that split takes it.
            let others = u64::from(page_use.another) + u64::from(page_use.shared.is_some());
            self.num_bodies = self.num_bodies.max(1 + others);
            let bodies = self.largest_body.saturating_mul(self.num_bodies);
            memory.reserve(MemoryUse::Body, bodies)?;
        }
        if is_encrypted {
            memory.reserve(MemoryUse::Decrypted, body.len() as u64)?;
        }
        if self.is_compressed() && !page_use.is_again {
            self.decompression_limit
                .spend(header, num_values(header)?)?;
        }
        self.decode((header, ordinal), body, page_use.shared, limits)
    }

    /// Decodes the page with this `header`. If the page is `shared` and another split has already decompressed it, we
    /// use that split's body.
    fn decode(
        &mut self,
        (header, ordinal): (&PageHeader, usize),
        body: Buffer,
        shared: Option<&SharedPage>,
        limits: &Limits,
    ) -> Result<Page> {
        let num_values = num_values(header)?;
        if header.type_ == PageType::DictionaryPage {
            let limit = limits.dictionary_values;
            if num_values > limit {
                return Err(Error::limit(
                    "dictionary_values",
                    num_values as u64,
                    limit as u64,
                ));
            }
            let uncompressed_size = header.uncompressed_page_size as usize;
            let body = self.decrypt(header, ordinal, body)?;
            let values = self.decompress(body, uncompressed_size, None)?;
            // A chunk has just one dictionary, which can be much larger than later pages, so we don't reuse its
            // buffers.
            self.bodies = [None, None];
            self.decrypted = None;
            return Ok(Page::Dictionary { values, num_values });
        }
        let limit = limits.page_values;
        if num_values > limit {
            return Err(Error::limit("page_values", num_values as u64, limit as u64));
        }
        let page = match (&header.data_page_header, &header.data_page_header_v2) {
            (Some(v1), _) if header.type_ == PageType::DataPage => {
                let body = match shared.and_then(SharedPage::take) {
                    Some(body) => body,
                    None => {
                        let body = self.decrypt(header, ordinal, body)?;
                        self.decompress(body, header.uncompressed_page_size as usize, shared)?
                    }
                };
                self.data_page_v1(v1, body, num_values)?
            }
            (_, Some(v2)) => {
                let body = self.decrypt(header, ordinal, body)?;
                self.data_page_v2(header, v2, body, num_values, shared)?
            }
            _ => return Err(Error::corrupt("page header lacks the header of its type")),
        };
        Ok(Page::Data(page))
    }

    fn data_page_v1(
        &self,
        v1: &DataPageHeader,
        mut body: Buffer,
        num_values: usize,
    ) -> Result<DataPage> {
        let max = self.max_levels;
        let repetition = split_levels_v1(
            &mut body,
            v1.repetition_level_encoding,
            num_values,
            max.repetition,
        )?;
        let definition = split_levels_v1(
            &mut body,
            v1.definition_level_encoding,
            num_values,
            max.definition,
        )?;
        Ok(DataPage {
            num_values,
            num_non_null: None,
            repetition,
            definition,
            encoding: v1.encoding,
            values: body,
        })
    }

    fn data_page_v2(
        &mut self,
        header: &PageHeader,
        v2: &DataPageHeaderV2,
        mut body: Buffer,
        num_values: usize,
        shared: Option<&SharedPage>,
    ) -> Result<DataPage> {
        let whole = body.len();
        let repetition = split_levels_v2(
            &mut body,
            v2.repetition_levels_byte_length,
            self.max_levels.repetition,
        )?;
        let definition = split_levels_v2(
            &mut body,
            v2.definition_levels_byte_length,
            self.max_levels.definition,
        )?;
        let levels = whole - body.len();
        let uncompressed_size = (header.uncompressed_page_size as usize)
            .checked_sub(levels)
            .ok_or_else(|| Error::corrupt("the levels of a page are longer than the whole page"))?;
        let is_compressed = v2.is_compressed || self.created_by.compresses_all_pages;
        let values = match shared.and_then(SharedPage::take) {
            Some(values) => values,
            None if is_compressed => self.decompress(body, uncompressed_size, shared)?,
            None => uncompressed(body, uncompressed_size)?,
        };
        let num_non_null = v2.num_values.checked_sub(v2.num_nulls);
        let num_non_null = num_non_null.and_then(|values| u64::try_from(values).ok());
        Ok(DataPage {
            num_values,
            num_non_null: num_non_null.filter(|_| self.is_flat()),
            repetition,
            definition,
            encoding: v2.encoding,
            values,
        })
    }

    /// Returns a body, decrypting it if necessary.
    fn decrypt(&mut self, header: &PageHeader, ordinal: usize, body: Buffer) -> Result<Buffer> {
        let Some(cipher) = self.cipher.clone() else {
            return Ok(body);
        };
        let id = match kind_of_body(header) {
            ModuleKind::DataPage => cipher.page(ModuleKind::DataPage, ordinal),
            kind => cipher.module(kind),
        };
        let is_body = self.codec == CompressionCodec::Uncompressed;
        let mut plaintext = match is_body {
            true => self.free_body().unwrap_or_default(),
            false => {
                let free = self.decrypted.take().map(Buffer::into_vec);
                free.and_then(std::result::Result::ok).unwrap_or_default()
            }
        };
        let missing = body.len().saturating_sub(plaintext.len());
        reserve(&mut plaintext, missing)?;
        cipher
            .modules()
            .decrypt(&id, &body, level_bytes(header), &mut plaintext)?;
        let plaintext = Buffer::from_vec(plaintext);
        match is_body {
            true => self.keep_body(&plaintext),
            false => self.decrypted = Some(plaintext.clone()),
        }
        Ok(plaintext)
    }

    /// Decompresses a body to `uncompressed_size` bytes. Without a codec, this returns the body itself.
    fn decompress(
        &mut self,
        body: Buffer,
        uncompressed_size: usize,
        shared: Option<&SharedPage>,
    ) -> Result<Buffer> {
        if self.codec == CompressionCodec::Uncompressed {
            return uncompressed(body, uncompressed_size);
        }
        // An all-null page might not contain any compressed bytes, not even an empty stream. So we don't call the
        // codec.
        if uncompressed_size == 0 {
            return Ok(Buffer::default());
        }
        if uncompressed_size > LARGE_BODY {
            check_uncompressed_size(self.codec, &body, uncompressed_size)?;
        }
        let mut output = self.spare_body(uncompressed_size)?;
        decompress(self.codec, &body, &mut output)?;
        let output = Buffer::from_vec(output);
        self.keep_body(&output);
        if let Some(shared) = shared {
            shared.store(output.clone());
        }
        Ok(output)
    }

    /// Keeps a body for reusing its buffer later.
    fn keep_body(&mut self, body: &Buffer) {
        if self.bodies[0].is_some() {
            self.bodies.swap(0, 1);
        }
        self.bodies[0] = Some(body.clone());
    }

    /// Returns the buffer of an earlier page, if nothing refers to it anymore.
    fn free_body(&mut self) -> Option<Vec<u8>> {
        self.bodies.iter_mut().find_map(|slot| {
            let held = slot.take()?.into_vec();
            held.map_err(|body| *slot = Some(body)).ok()
        })
    }

    /// Returns a buffer of `length` initialised bytes, reusing an earlier page's buffer if possible.
    fn spare_body(&mut self, length: usize) -> Result<Vec<u8>> {
        match self.free_body() {
            Some(mut body) if body.capacity() >= length => {
                body.resize(length, 0);
                Ok(body)
            }
            _ => {
                check_memory(length)?;
                Ok(vec![0; length])
            }
        }
    }
}

/// Fails if memory for `length` bytes cannot be reserved. We check this up front, because a failed allocation would
/// abort the process.
fn check_memory(length: usize) -> Result<()> {
    match length > LARGE_BODY {
        true => reserve(&mut Vec::new(), length),
        false => Ok(()),
    }
}

/// Reserves room for `length` more bytes.
fn reserve(bytes: &mut Vec<u8>, length: usize) -> Result<()> {
    if length <= LARGE_BODY {
        bytes.reserve(length);
        return Ok(());
    }
    bytes.try_reserve_exact(length).map_err(|_| {
        let message = format!("not enough memory for a page of {length} bytes");
        Error::new(ErrorKind::Limit, message)
    })
}

/// Returns the number of level bytes in a version 2 data page according to its header, or 0 for other pages.
fn level_bytes(header: &PageHeader) -> usize {
    let v2 = header.data_page_header_v2.as_ref();
    let levels = v2.map_or(0, |v2| {
        let definition = u64::from(v2.definition_levels_byte_length.unsigned_abs());
        definition + u64::from(v2.repetition_levels_byte_length.unsigned_abs())
    });
    usize::try_from(levels).unwrap_or(usize::MAX)
}

/// Returns an uncompressed body after checking its length.
fn uncompressed(body: Buffer, uncompressed_size: usize) -> Result<Buffer> {
    if body.len() != uncompressed_size {
        return Err(Error::corrupt(format!(
            "page body has {} bytes, but its header declares {uncompressed_size}",
            body.len()
        )));
    }
    Ok(body)
}

/// Checks the sizes in a header and returns the body size in bytes.
pub(crate) fn check_sizes(header: &PageHeader, limits: &Limits) -> Result<u64> {
    let negative = || Error::corrupt("page header has a negative size");
    let compressed = usize::try_from(header.compressed_page_size).map_err(|_| negative())?;
    let uncompressed_size =
        usize::try_from(header.uncompressed_page_size).map_err(|_| negative())?;
    for size in [compressed, uncompressed_size] {
        if size > limits.page_bytes {
            return Err(Error::limit(
                "page_bytes",
                size as u64,
                limits.page_bytes as u64,
            ));
        }
    }
    Ok(compressed as u64)
}

/// Returns a page's declared value count. For a dictionary this counts its entries, otherwise its levels.
pub fn num_values(header: &PageHeader) -> Result<usize> {
    let declared = header
        .num_values()
        .ok_or_else(|| Error::corrupt("page header lacks the header of its type"))?;
    usize::try_from(declared)
        .map_err(|_| Error::corrupt(format!("the page header declares {declared} values")))
}

/// Compares a body with the checksum in its header, if there is one. A checksum of 0 counts as absent, because old
/// writers fill the field without computing a checksum.
pub(crate) fn verify_crc(header: &PageHeader, body: &[u8]) -> Result<()> {
    match header.crc {
        Some(crc) if crc != 0 && crc32fast::hash(body) != crc as u32 => {
            Err(Error::corrupt(format!(
                "page checksum is {:08x}, but its bytes have {:08x}",
                crc as u32,
                crc32fast::hash(body)
            ))
            .with_remedy(Remedy::IgnoreChecksums))
        }
        _ => Ok(()),
    }
}
