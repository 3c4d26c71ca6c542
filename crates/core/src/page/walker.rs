//! Walks over one column chunk's pages, header by header.
//!
//! ```text
//! [header | dictionary page]? ([header | data page])*      index pages and unknown pages may occur in between
//! ```
//!
//! A [`PageWalker`] tracks the offset of the next header or body and the page it belongs to. It decodes headers,
//! decrypting them first if the chunk is encrypted. It does no I/O and never looks at bodies. Instead, callers request
//! the bytes themselves, so that they only fetch the bytes they need.

use std::ops::Range;

use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind};
use herringbone_format::{
    ColumnLayout, Error, ErrorKind, Limits, PageHeader, PageType, ReadableChunk, Result,
};

use super::byte_range;

/// The number of bytes allowed past a chunk's declared end. Needed because old writers left the dictionary page header
/// out of `total_compressed_size` (PARQUET-816).
const CHUNK_SLACK: u64 = 100;

/// The start of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageStart {
    /// The page's ordinal in its chunk, counting dictionary and unknown pages.
    pub ordinal: usize,
    /// The number of data pages before this page.
    pub data_pages_before: usize,
    /// The file offset of the page header.
    pub offset: u64,
    /// The number of levels in the data pages before this page.
    pub num_values_before: u64,
}

impl PageStart {
    /// Returns the start of the first page in a chunk that starts at `offset`.
    #[must_use]
    pub fn first(offset: u64) -> Self {
        Self {
            ordinal: 0,
            data_pages_before: 0,
            offset,
            num_values_before: 0,
        }
    }

    /// Adds the page's place to an error, unless the error already has one.
    pub(crate) fn locate(&self, error: Error) -> Error {
        error.in_page(self.ordinal).at_offset(self.offset)
    }
}

/// A walk over one column chunk's pages.
#[derive(Debug, Clone)]
pub struct PageWalker {
    /// The chunk's range in the file.
    chunk: Range<u64>,
    file_length: u64,
    /// The page of the current `header`, or the next page if there is no header.
    start: PageStart,
    /// The current page header, and its size in bytes.
    header: Option<(PageHeader, usize)>,
    encryption: Option<PageEncryption>,
}

/// The encryption of a chunk's pages.
#[derive(Debug, Clone)]
struct PageEncryption {
    cipher: ChunkCipher,
    /// True if the metadata claims that the chunk has a dictionary. We need this because we have to know a page's type
    /// before decrypting its header, and the type is inside the header.
    has_dictionary: bool,
}

impl PageWalker {
    /// Starts before the first page of the chunk at `chunk`, in a file of `file_length` bytes.
    #[must_use]
    pub fn new(chunk: Range<u64>, file_length: u64) -> Self {
        Self {
            start: PageStart::first(chunk.start),
            chunk,
            file_length,
            header: None,
            encryption: None,
        }
    }

    /// Starts before the chunk's first page, in a file of `file_length` bytes.
    ///
    /// # Errors
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the chunk lies outside the file.
    pub fn of_chunk(chunk: &ReadableChunk, file_length: u64) -> Result<Self> {
        let range = byte_range(&chunk.layout, file_length)?;
        let cipher = chunk.cipher.clone();
        Ok(Self::new(range, file_length).encrypted(cipher, has_dictionary(&chunk.layout)))
    }

    /// Adds the cipher for the pages, if there is one. Pass true for `has_dictionary` if the metadata claims that the
    /// chunk has a dictionary.
    #[must_use]
    pub fn encrypted(self, cipher: Option<ChunkCipher>, has_dictionary: bool) -> Self {
        let encryption = cipher.map(|cipher| PageEncryption {
            cipher,
            has_dictionary,
        });
        Self { encryption, ..self }
    }

    /// Returns the chunk's range in the file.
    #[must_use]
    pub fn chunk(&self) -> Range<u64> {
        self.chunk.clone()
    }

    /// Returns the last file offset at which the chunk can end.
    #[must_use]
    pub fn end(&self) -> u64 {
        let end = self.chunk.end.saturating_add(CHUNK_SLACK);
        end.min(self.file_length)
    }

    /// Returns the start of the current page.
    #[must_use]
    pub fn start(&self) -> PageStart {
        self.start
    }

    /// Returns the size of the current page header in bytes, or 0 before the header is decoded.
    #[must_use]
    pub fn header_bytes(&self) -> usize {
        self.header.as_ref().map_or(0, |(_, length)| *length)
    }

    /// Returns the offset of the next bytes. They belong to the header until it's decoded, and to the body afterwards.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.start.offset.saturating_add(self.header_bytes() as u64)
    }

    /// Returns the current page header, or `None` before it is decoded.
    #[must_use]
    pub fn header(&self) -> Option<&PageHeader> {
        self.header.as_ref().map(|(header, _)| header)
    }

    /// Decodes the current page header from the start of `available`. Returns false if it needs more bytes. Pass one of
    /// [`PageHeader`]'s prefix decoders as `decode`.
    ///
    /// # Errors
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the header is missing or the chunk ends inside it, and with
    /// [Limit](ErrorKind::Limit) if it is too long.
    #[inline]
    pub fn decode_header(
        &mut self,
        available: &[u8],
        limits: &Limits,
        decode: impl Fn(&[u8], &Limits) -> Result<Option<(PageHeader, usize)>>,
    ) -> Result<bool> {
        // The available bytes can extend into the next chunk, so we cut them off there.
        let ours = self.end().saturating_sub(self.start.offset);
        let ours = usize::try_from(ours).unwrap_or(usize::MAX);
        let available = available.get(..ours).unwrap_or(available);
        // We return early, because page readers often call this before any bytes are available.
        if available.is_empty() && ours > 0 {
            return Ok(false);
        }
        self.header = match &self.encryption {
            None => decode(available, limits)?,
            Some(encryption) => encryption.header(self.start, available, limits, decode)?,
        };
        if self.header.is_none() && available.len() == ours {
            return Err(Error::corrupt("column chunk ends inside a page header"));
        }
        Ok(self.header.is_some())
    }

    /// Returns the range of the current page body.
    ///
    /// # Errors
    /// Fails with [Corrupt](ErrorKind::Corrupt) if its size is negative or it extends past the end of the chunk, and
    /// with [Argument](ErrorKind::Argument) if its header is not decoded yet.
    #[inline]
    pub fn body(&self) -> Result<Range<u64>> {
        let header = self
            .header()
            .ok_or_else(|| Error::argument("a page body was requested before its header"))?;
        let length = self
            .bytes_of_body(header)
            .ok_or_else(|| Error::corrupt("page header has a negative size"))?;
        let start = self.position();
        let end = start.saturating_add(length);
        if end > self.end() {
            return Err(Error::corrupt(format!(
                "the page of {length} bytes extends past the end of its column chunk at {:#x}",
                self.chunk.end
            )));
        }
        Ok(start..end)
    }

    /// Returns the size of the current page body according to its header. Returns `None` if the header isn't decoded
    /// yet or the size is negative.
    #[must_use]
    pub fn body_bytes(&self) -> Option<u64> {
        self.bytes_of_body(self.header()?)
    }

    fn bytes_of_body(&self, header: &PageHeader) -> Option<u64> {
        let counted = u64::try_from(header.compressed_page_size).ok()?;
        let uncounted = self.encryption.as_ref().map_or(0, |encryption| {
            let kind = kind_of_body(header);
            encryption.cipher.modules().uncounted_bytes(kind) as u64
        });
        counted.checked_add(uncounted)
    }

    /// Moves past the current page, whose header must be decoded.
    #[inline]
    pub fn pass(&mut self) {
        let Some((header, length)) = &self.header else {
            return;
        };
        let body = self.bytes_of_body(header).unwrap_or_default();
        let is_data = matches!(header.type_, PageType::DataPage | PageType::DataPageV2);
        let num_values = header.num_values().filter(|_| is_data).unwrap_or_default();
        self.start = PageStart {
            ordinal: self.start.ordinal + 1,
            data_pages_before: self.start.data_pages_before + usize::from(is_data),
            offset: self
                .start
                .offset
                .saturating_add(*length as u64)
                .saturating_add(body),
            num_values_before: self
                .start
                .num_values_before
                .saturating_add(u64::try_from(num_values).unwrap_or_default()),
        };
        self.header = None;
    }

    /// Jumps to another page of the chunk.
    pub fn jump(&mut self, start: PageStart) {
        self.header = None;
        self.start = start;
    }
}

/// Returns true if the metadata claims that the chunk has a dictionary. An offset of 0 doesn't count, because some
/// writers use it for a missing dictionary.
pub fn has_dictionary(layout: &ColumnLayout) -> bool {
    layout
        .dictionary_page_offset
        .is_some_and(|offset| offset > 0)
}

/// Returns a page body's kind of encryption module.
pub(super) fn kind_of_body(header: &PageHeader) -> ModuleKind {
    match header.type_ {
        PageType::DictionaryPage => ModuleKind::DictionaryPage,
        _ => ModuleKind::DataPage,
    }
}

impl PageEncryption {
    /// Decrypts and decodes the header of the page at `start`, which begins `available`. Returns `None` if it needs
    /// more bytes.
    fn header(
        &self,
        start: PageStart,
        available: &[u8],
        limits: &Limits,
        decode: impl Fn(&[u8], &Limits) -> Result<Option<(PageHeader, usize)>>,
    ) -> Result<Option<(PageHeader, usize)>> {
        let data_module = ModuleKind::DataPageHeader;
        let data_module = self.cipher.page(data_module, start.data_pages_before);
        let dictionary_module = self.cipher.module(ModuleKind::DictionaryPageHeader);
        let (first, second) = match (start.ordinal, self.has_dictionary) {
            (0, true) => (dictionary_module, Some(data_module)),
            // We also try a dictionary's module, because some writers leave out the dictionary offset.
            (0, false) => (data_module, Some(dictionary_module)),
            _ => (data_module, None),
        };
        let modules = self.cipher.modules();
        let length = modules.module_bytes(&first, available, limits.page_header_bytes)?;
        let module = length.and_then(|length| available.get(..length));
        let Some(module) = module else {
            return Ok(None);
        };
        let mut header = Vec::new();
        let decrypted = modules.decrypt(&first, module, 0, &mut header);
        let decrypted = match (decrypted, second) {
            (Err(error), Some(second)) if error.kind() == ErrorKind::Key => modules
                .decrypt(&second, module, 0, &mut header)
                .map_err(|_| error),
            (decrypted, _) => decrypted,
        };
        decrypted?;
        match decode(&header, limits)? {
            Some((header, _)) => Ok(Some((header, module.len()))),
            None => Err(Error::corrupt("an encrypted page header ends early")),
        }
    }
}

#[cfg(test)]
mod tests {
    use herringbone_format::thrift::CompactWriter;
    use herringbone_format::{DataPageHeader, DictionaryPageHeader, Encoding};

    use super::*;

    fn header(type_: PageType, num_values: i32, body: i32) -> Vec<u8> {
        let is_dictionary = type_ == PageType::DictionaryPage;
        let header = PageHeader::new(type_, body, body)
            .data_page_header((!is_dictionary).then_some(DataPageHeader::new(
                num_values,
                Encoding::Plain,
                Encoding::Rle,
                Encoding::Rle,
            )))
            .dictionary_page_header(
                is_dictionary.then_some(DictionaryPageHeader::new(num_values, Encoding::Plain)),
            );
        let mut writer = CompactWriter::new();
        header.encode(&mut writer);
        writer.finish()
    }

    fn decode(walker: &mut PageWalker, file: &[u8]) -> Result<bool> {
        let at = usize::try_from(walker.position()).unwrap();
        let decode = PageHeader::decode_prefix;
        walker.decode_header(&file[at..], &Limits::default(), decode)
    }

    /// Returns a file with a dictionary of 3 bytes and two data pages of 5 and 7, after 4 bytes, and the offsets of
    /// these pages.
    fn file() -> (Vec<u8>, [u64; 3]) {
        let mut file = b"PAR1".to_vec();
        let mut starts = [0; 3];
        let pages = [
            (PageType::DictionaryPage, 9, 3),
            (PageType::DataPage, 10, 5),
            (PageType::DataPage, 20, 7),
        ];
        for (start, (type_, num_values, body)) in starts.iter_mut().zip(pages) {
            *start = file.len() as u64;
            file.extend(header(type_, num_values, body));
            file.extend(vec![0xee; usize::try_from(body).unwrap()]);
        }
        (file, starts)
    }

    #[test]
    fn data_pages_and_their_levels_are_counted_and_dictionaries_are_not() {
        let (file, starts) = file();
        let length = file.len() as u64;
        let mut walker = PageWalker::new(4..length, length);
        let mut seen = Vec::new();
        while walker.position() < length {
            assert!(decode(&mut walker, &file).unwrap());
            let body = walker.body().unwrap();
            assert_eq!(file[body.start as usize], 0xee);
            seen.push(walker.start());
            walker.pass();
        }
        let found: Vec<_> = seen
            .iter()
            .map(|page| (page.offset, page.data_pages_before, page.num_values_before))
            .collect();
        assert_eq!(
            found,
            [(starts[0], 0, 0), (starts[1], 0, 0), (starts[2], 1, 10)]
        );
        assert_eq!(walker.start().num_values_before, 30);
        // A jump carries the counts along.
        walker.jump(seen[2]);
        assert!(decode(&mut walker, &file).unwrap());
        walker.pass();
        assert_eq!(walker.start().data_pages_before, 2);
    }

    #[test]
    fn what_is_not_in_the_chunk_is_none_of_it() {
        let (file, starts) = file();
        let length = file.len() as u64;
        // The chunk ends inside the second header, unless the slack after it is available.
        let mut walker = PageWalker::new(starts[1]..starts[1] + 2, starts[1] + 2);
        assert!(decode(&mut walker, &file).is_err());
        let mut walker = PageWalker::new(starts[1]..starts[1] + 2, length);
        assert!(decode(&mut walker, &file).unwrap());
        assert!(walker.body().is_ok());
        let mut walker = PageWalker::new(4..length, length - 1);
        walker.jump(PageStart {
            offset: starts[2],
            ..PageStart::first(0)
        });
        assert!(decode(&mut walker, &file).unwrap());
        let error = walker.body().unwrap_err();
        assert!(
            error.message().contains("past the end of its column chunk"),
            "{error}"
        );
    }

    /// We wait for a header's missing bytes, but there is no header after the chunk's last byte.
    #[test]
    fn a_header_is_waited_for_while_the_chunk_has_bytes() {
        let (file, starts) = file();
        let length = file.len() as u64;
        let mut walker = PageWalker::new(starts[2]..length, length);
        assert_eq!((walker.header(), walker.header_bytes()), (None, 0));
        assert_eq!(walker.body_bytes(), None);
        assert_eq!(walker.body().unwrap_err().kind(), ErrorKind::Argument);
        let none: [&[u8]; 2] = [&[], &file[starts[2] as usize..][..3]];
        for available in none {
            let decoded =
                walker.decode_header(available, &Limits::default(), PageHeader::decode_prefix);
            assert!(!decoded.unwrap());
            assert_eq!(walker.position(), starts[2]);
        }
        assert!(decode(&mut walker, &file).unwrap());
        assert_eq!(walker.position() + 7, length);
        assert_eq!(walker.body_bytes(), Some(7));
        walker.pass();
        assert_eq!(walker.position(), length);
        let error = decode(&mut walker, &file).unwrap_err();
        assert!(
            error.message().contains("ends inside a page header"),
            "{error}"
        );
    }
}
