//! Data pages on their way to the file: encoded, but not yet compressed or encrypted.
//!
//! While earlier pages are being compressed, the next page's values can already be encoded. So a column passes its
//! pages to a [`PageSink`]. The sink finishes them at once or hands them to other threads.
//! [`ChunkPages`](super::ChunkPages) restores their order.

use std::mem;
use std::sync::Arc;

use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind, PageToEncrypt};
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{PageHeader, Result};

use super::settings::ColumnSettings;
use herringbone_core::compression::Compression;
use herringbone_core::encoding::{BEHIND_PAGE, LARGE_PAGE, length};

/// A consumer of a column chunk's data pages. Implement this to finish pages on threads of your choice.
pub trait PageSink {
    /// Takes the next page and returns memory for the page after it. The memory comes from
    /// [`ChunkPages::push`](super::ChunkPages::push) or from the page itself.
    ///
    /// # Errors
    /// Fails for the reasons that [`UnfinishedPage::finish`] lists.
    fn page(&mut self, page: UnfinishedPage) -> Result<PageBuffers>;
}

/// A data page with encoded levels and values, not yet compressed or encrypted.
#[derive(Debug)]
pub struct UnfinishedPage {
    pub(super) settings: Arc<ColumnSettings>,
    pub(super) compression: Compression,
    /// The cipher, if the page is to be encrypted.
    pub(super) cipher: Option<ChunkCipher>,
    pub(super) place: PagePlace,
    /// The header, without any fields that are only known once the page is finished.
    pub(super) header: PageHeader,
    pub(super) buffers: PageBuffers,
}

/// A page's place in its chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct PagePlace {
    /// The number of data pages before this one.
    pub(super) ordinal: usize,
    /// The number of rows before this page.
    pub(super) first_row: u64,
    /// The page's byte array bytes, if the column has byte arrays.
    pub(super) byte_array_bytes: Option<i64>,
}

/// A page's bytes. The memory is reused from page to page.
#[derive(Debug, Default)]
pub struct PageBuffers {
    /// Levels that are neither compressed nor encrypted.
    pub(super) front: Vec<u8>,
    /// The levels not in `front`, followed by the values. They start at byte `start`.
    pub(super) body: Vec<u8>,
    pub(super) start: usize,
    /// The number of level bytes in the body.
    pub(super) levels_end: usize,
    /// The body offsets where bytes of another kind begin: version 1 levels, values, or sections of values.
    pub(super) section_starts: Vec<usize>,
    /// The compressed body, or empty if the body isn't compressed.
    compressed: Vec<u8>,
    /// The body's capacity when it was full. We give the next body the same capacity, whatever happened to this one,
    /// because the memory counted for a column must not depend on the thread finishing its pages.
    room: usize,
}

/// A data page in its stored form.
#[derive(Debug)]
pub struct FinishedPage {
    pub(super) place: PagePlace,
    /// The header, followed by the bytes that encryption puts before the body.
    pub(super) head: Vec<u8>,
    pub(super) buffers: PageBuffers,
    /// The size of the header and the uncompressed body, in bytes.
    pub(super) uncompressed: u64,
    /// The number of bytes reserved by compression.
    pub(super) scratch_bytes: usize,
}

impl PageBuffers {
    /// Starts a page with the last page's capacity.
    pub(super) fn start(&mut self) {
        self.front.clear();
        self.body.clear();
        self.compressed.clear();
        self.section_starts.clear();
        (self.start, self.levels_end) = (0, 0);
        self.body.reserve_exact(self.room);
    }

    /// Ends the page. If `is_encrypted` is true, the body will be encrypted in place, so we reserve space for what
    /// encryption appends.
    pub(super) fn end(&mut self, is_encrypted: bool) {
        if is_encrypted {
            self.body.reserve(BEHIND_PAGE);
        }
        self.room = match self.body.len() < LARGE_PAGE {
            true => self.body.capacity(),
            false => 0,
        };
    }

    /// Returns the number of bytes reserved by a column for the page under construction.
    pub(super) fn heap_bytes(&self) -> usize {
        self.front.capacity() + self.room
    }

    /// Returns the uncompressed size of levels and values, in bytes.
    fn uncompressed(&self) -> usize {
        self.front.len() + self.body.len() - self.start
    }

    /// Returns the body in its stored form, compressed or not, and the offset of its first byte.
    pub(super) fn stored(&mut self) -> (&mut Vec<u8>, usize) {
        match self.compressed.is_empty() {
            true => (&mut self.body, self.start),
            false => (&mut self.compressed, 0),
        }
    }

    /// Returns memory for the next page, once this page's stored bytes have been copied or taken.
    pub(super) fn into_next(mut self) -> Self {
        if self.body.capacity() != self.room {
            // The body is gone, or it grew during encryption, or it's too large to keep.
            self.body = Vec::new();
        }
        self
    }

    /// Returns memory for the next page while this page's stored bytes are still needed.
    fn next(&mut self) -> Self {
        let mut next = Self {
            front: Vec::with_capacity(self.front.capacity()),
            room: self.room,
            ..Self::default()
        };
        match self.compressed.is_empty() {
            true => next.compressed = mem::take(&mut self.compressed),
            false => next.body = mem::take(&mut self.body),
        }
        next.into_next()
    }
}

impl UnfinishedPage {
    /// Returns the number of data pages before this one in the chunk.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.place.ordinal
    }

    /// Returns true if finishing the page needs more than a checksum.
    #[must_use]
    pub fn is_work(&self) -> bool {
        self.compression != Compression::Uncompressed || self.cipher.is_some()
    }

    /// Returns the uncompressed page size, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffers.uncompressed()
    }

    /// Returns memory for the next page while this one is passed on.
    #[must_use]
    pub fn next_buffers(&mut self) -> PageBuffers {
        self.buffers.next()
    }

    /// Compresses and encrypts the page, and writes its header.
    ///
    /// # Errors
    /// Fails with [`Limit`](herringbone_format::ErrorKind::Limit) if the page is larger than its header can record, and
    /// with [`Feature`](herringbone_format::ErrorKind::Feature) if the codec is not compiled in. Codec and encryption
    /// errors are returned too. Each error names the column.
    pub fn finish(self) -> Result<FinishedPage> {
        let settings = self.settings.clone();
        self.finish_page()
            .map_err(|error| error.in_column(settings.leaf.path.join(".")))
    }

    fn finish_page(mut self) -> Result<FinishedPage> {
        let body_bytes = self.bytes();
        self.header.uncompressed_page_size = length(body_bytes)?;
        let has_codec = self.compression != Compression::Uncompressed;
        if has_codec {
            match self.header.data_page_header_v2 {
                None => self.compress_v1()?,
                Some(_) => self.compress_v2()?,
            }
        }
        let (head, header_bytes) = self.head()?;
        Ok(FinishedPage {
            place: self.place,
            head,
            buffers: self.buffers,
            uncompressed: (header_bytes + body_bytes) as u64,
            scratch_bytes: if has_codec { body_bytes } else { 0 },
        })
    }

    /// Encrypts the stored body if there is a cipher. Returns the bytes before the body, and how many of them are the
    /// header.
    fn head(&mut self) -> Result<(Vec<u8>, usize)> {
        let crc = self.settings.crc;
        let Some(cipher) = &self.cipher else {
            let PageBuffers {
                front,
                body,
                start,
                compressed,
                ..
            } = &self.buffers;
            let body = match compressed.is_empty() {
                true => body.get(*start..).unwrap_or_default(),
                false => compressed,
            };
            let header = finish_header(&mut self.header, [front, body], crc)?;
            let bytes = header.len();
            return Ok((header, bytes));
        };
        let levels = self.header.data_page_header_v2.as_ref().map_or(0, |v2| {
            (v2.definition_levels_byte_length + v2.repetition_levels_byte_length) as usize
        });
        let (body, start) = self.buffers.stored();
        let page = PageToEncrypt {
            header_id: cipher.page(ModuleKind::DataPageHeader, self.place.ordinal),
            body_id: cipher.page(ModuleKind::DataPage, self.place.ordinal),
            levels,
            body,
            start,
            header: &mut |body| finish_header(&mut self.header, body, crc),
        };
        let mut head = Vec::new();
        let header_bytes = cipher.modules().encrypt_page(page, &mut head)?;
        Ok((head, header_bytes))
    }

    /// Compresses levels and values together.
    fn compress_v1(&mut self) -> Result<()> {
        let PageBuffers {
            body,
            start,
            section_starts,
            compressed,
            ..
        } = &mut self.buffers;
        let body = body.get(*start..).unwrap_or_default();
        self.settings
            .compress(self.compression, body, section_starts, compressed)
    }

    /// Compresses only the values, provided that saves enough.
    fn compress_v2(&mut self) -> Result<()> {
        let PageBuffers {
            body,
            start,
            levels_end,
            section_starts,
            compressed,
            ..
        } = &mut self.buffers;
        let body = body.get(*start..).unwrap_or_default();
        let (levels, values) = body.split_at_checked(*levels_end).unwrap_or_default();
        if values.is_empty() {
            return Ok(());
        }
        compressed.extend_from_slice(levels);
        section_starts
            .iter_mut()
            .for_each(|start| *start -= *levels_end);
        self.settings
            .compress(self.compression, values, section_starts, compressed)?;
        let compressed_values = compressed.len() - *levels_end;
        let pays = self.settings.codec_pays(values.len(), compressed_values);
        if !pays {
            compressed.clear();
        }
        if let Some(header) = &mut self.header.data_page_header_v2 {
            header.is_compressed = pays;
        }
        Ok(())
    }
}

impl FinishedPage {
    /// Returns memory for the next page while this one is waiting for earlier pages.
    #[must_use]
    pub fn next_buffers(&mut self) -> PageBuffers {
        self.buffers.next()
    }
}

/// Completes and encodes a header. `body` is the body following the header, in two pieces.
pub(super) fn finish_header(
    header: &mut PageHeader,
    body: [&[u8]; 2],
    crc: bool,
) -> Result<Vec<u8>> {
    header.compressed_page_size = length(body.iter().map(|part| part.len()).sum())?;
    header.crc = crc.then(|| {
        let mut checksum = crc32fast::Hasher::new();
        body.iter().for_each(|part| checksum.update(part));
        checksum.finalize().cast_signed()
    });
    let mut writer = CompactWriter::new();
    header.encode(&mut writer);
    Ok(writer.finish())
}
