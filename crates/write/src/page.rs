//! Data pages between their values and the file: encoded, but neither compressed nor encrypted yet.
//!
//! The values of a page can be encoded while the pages before are compressed, so a column gives its pages to a
//! [`PageSink`]. It finishes them at once, or hands them to other threads; [`ChunkPages`](super::ChunkPages) has them in
//! their order again.

use std::mem;
use std::sync::Arc;

use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind, PageToEncrypt};
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{PageHeader, Result};

use super::settings::ColumnSettings;
use herringbone_core::compression::{Compression, compress_cut};
use herringbone_core::encoding::{BEHIND_PAGE, LARGE_PAGE, length};

/// Where the data pages of a column chunk go.
pub trait PageSink {
    /// Takes the next page; what comes back is memory for the one behind it, of
    /// [`ChunkPages::push`](super::ChunkPages::push) or of the page itself.
    ///
    /// # Errors
    /// Of [`UnfinishedPage::finish`].
    fn page(&mut self, page: UnfinishedPage) -> Result<PageBuffers>;
}

/// A data page whose levels and values are encoded.
#[derive(Debug)]
pub struct UnfinishedPage {
    pub(super) settings: Arc<ColumnSettings>,
    pub(super) compression: Compression,
    /// What encrypts it, if it is to be encrypted.
    pub(super) cipher: Option<ChunkCipher>,
    pub(super) place: PagePlace,
    /// Without what only the finished page knows.
    pub(super) header: PageHeader,
    pub(super) buffers: PageBuffers,
}

/// Where a page lies in its chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct PagePlace {
    /// Data pages in front of it.
    pub(super) ordinal: usize,
    /// Rows in front of it.
    pub(super) first_row: u64,
    /// Bytes of its byte arrays, in columns of them.
    pub(super) byte_array_bytes: Option<i64>,
}

/// The bytes of a page, in memory that goes from page to page.
#[derive(Debug, Default)]
pub struct PageBuffers {
    /// Levels that are neither compressed nor encrypted.
    pub(super) front: Vec<u8>,
    /// Levels that are not in front, and values, from the byte at `start` on.
    pub(super) body: Vec<u8>,
    pub(super) start: usize,
    /// Bytes of levels in the body.
    pub(super) levels_end: usize,
    /// Where bytes of another kind begin in the body: levels of version 1, values, parts of these.
    pub(super) cuts: Vec<usize>,
    /// The body as it is compressed; empty where it is not.
    compressed: Vec<u8>,
    /// What the body had room for when it was full. The next one has the same, whatever became of this one: what a column
    /// holds must not depend on who finishes its pages.
    room: usize,
}

/// A data page as it is in the file.
#[derive(Debug)]
pub struct FinishedPage {
    pub(super) place: PagePlace,
    /// The header, and what encryption puts between it and the body.
    pub(super) head: Vec<u8>,
    pub(super) buffers: PageBuffers,
    /// Bytes of the header, and of the body before compression.
    pub(super) uncompressed: u64,
    /// Bytes that compression had to have room for.
    pub(super) scratch_bytes: usize,
}

impl PageBuffers {
    /// Begins a page.
    pub(super) fn start(&mut self) {
        self.front.clear();
        self.body.clear();
        self.compressed.clear();
        self.cuts.clear();
        (self.start, self.levels_end) = (0, 0);
        self.body.reserve_exact(self.room);
    }

    /// Ends it. Where it `is_encrypted` as it is, what encryption puts behind it has room.
    pub(super) fn end(&mut self, is_encrypted: bool) {
        if is_encrypted {
            self.body.reserve(BEHIND_PAGE);
        }
        self.room = match self.body.len() < LARGE_PAGE {
            true => self.body.capacity(),
            false => 0,
        };
    }

    /// Bytes that a column holds for the page under construction.
    pub(super) fn heap_bytes(&self) -> usize {
        self.front.capacity() + self.room
    }

    /// Levels and values before compression.
    fn uncompressed(&self) -> usize {
        self.front.len() + self.body.len() - self.start
    }

    /// What is stored of the body, as it is or compressed: the bytes from there on.
    pub(super) fn stored(&mut self) -> (&mut Vec<u8>, usize) {
        match self.compressed.is_empty() {
            true => (&mut self.body, self.start),
            false => (&mut self.compressed, 0),
        }
    }

    /// Memory for the next page, where what is stored of this one was copied or taken away.
    pub(super) fn into_next(mut self) -> Self {
        if self.body.capacity() != self.room {
            // It is gone, or grew when it was encrypted, or is too large to be kept.
            self.body = Vec::new();
        }
        self
    }

    /// Memory for the next page, where what is stored of this one is still needed.
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
    /// Data pages of the chunk in front of it.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.place.ordinal
    }

    /// Whether it takes more than a checksum to finish it.
    #[must_use]
    pub fn is_work(&self) -> bool {
        self.compression != Compression::Uncompressed || self.cipher.is_some()
    }

    /// Bytes of it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffers.uncompressed()
    }

    /// Memory for the next page, while this one is elsewhere.
    #[must_use]
    pub fn next_buffers(&mut self) -> PageBuffers {
        self.buffers.next()
    }

    /// Compresses and encrypts it, and writes its header.
    ///
    /// # Errors
    /// Limit where the page is larger than its header can say; Feature where the codec is not compiled in; those of
    /// codecs and of encryption. All name the column.
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

    /// Encrypts what is stored of the body, where it is to be encrypted. What stands in front of the body then, and how many
    /// bytes of that are the header.
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

    /// Levels and values together.
    fn compress_v1(&mut self) -> Result<()> {
        let PageBuffers {
            body,
            start,
            cuts,
            compressed,
            ..
        } = &mut self.buffers;
        let body = body.get(*start..).unwrap_or_default();
        compress_cut(self.compression, body, cuts, compressed)
    }

    /// Values alone, and only if that makes them smaller, or enough smaller.
    fn compress_v2(&mut self) -> Result<()> {
        let PageBuffers {
            body,
            start,
            levels_end,
            cuts,
            compressed,
            ..
        } = &mut self.buffers;
        let body = body.get(*start..).unwrap_or_default();
        let (levels, values) = body.split_at_checked(*levels_end).unwrap_or_default();
        if values.is_empty() {
            return Ok(());
        }
        compressed.extend_from_slice(levels);
        cuts.iter_mut().for_each(|cut| *cut -= *levels_end);
        compress_cut(self.compression, values, cuts, compressed)?;
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
    /// Memory for the next page, while this one waits for those before.
    #[must_use]
    pub fn next_buffers(&mut self) -> PageBuffers {
        self.buffers.next()
    }
}

/// The bytes of a header, once the body is known that it stands in front of, in parts.
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
