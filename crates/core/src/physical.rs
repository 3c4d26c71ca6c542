//! Decodes a column chunk's pages one by one into levels and values of the physical type. That is, you get the stored
//! data before it becomes rows.
//!
//! Use this module to inspect pages, for example to check metadata against them or to recover their contents if nothing
//! else is left. You rarely need it otherwise, because `ReadPlan` reads rows.

use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::Buffer;
use herringbone_arrow::schema::DataType;
use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{CompressionCodec, Encoding, Error, Limits, PageHeader, Result, Type};
use herringbone_kernels::nesting;
use herringbone_schema::{Conversion, Int96Overflow, Leaf};

use crate::array::{LeafArray, LeafType, leaf_array};
use crate::budget::{Budget, ColumnMemory, MemoryUse};
use crate::created_by::CreatedBy;
use crate::encoding::Rest;
use crate::levels::Levels;
use crate::page::body::{BodyDecoder, PageUse, check_sizes, verify_crc};
use crate::page::decompression_limit::DecompressionLimit;
use crate::page::{BLOCK_LEVELS, DataPage, Ending, MaxLevels, Page, PageEnd, PageStart};

/// The number of value bytes to decode at once, unless a single value is longer.
const BLOCK_BYTES: usize = 1 << 20;
/// The number of bytes in an INT96 value.
const INT96_BYTES: usize = 12;

/// A decoder for the pages of one column chunk. The caller must locate these pages.
///
/// Open a page with [`Self::open`] and retrieve its contents with [`Self::block`]. After an error, the rest of that
/// page is lost, but you can still open the next page.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().columns(herringbone::ColumnOptions::new().dictionary(false));
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::physical::PageDecoder;
/// use herringbone::{Limits, ParquetFile};
///
/// // The slots 1, null and 3 of a nullable column.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let leaf = &file.parquet_schema().leaves()[0];
/// let codec = file.metadata().column_chunk(0, 0)?.meta_data.ok_or("no metadata")?.codec;
/// let mut decoder = PageDecoder::new(leaf, codec, file.metadata().created_by(), Limits::default())?;
/// let page = file.pages(0, 0)?.next().ok_or("no page")??;
/// let start = page.start.offset + page.header_bytes as u64;
/// decoder.open(&page.header, &page.start, file.source().read(start..start + page.body_bytes)?)?;
/// let block = decoder.block()?.ok_or("no values")?;
/// assert_eq!((block.def, block.values.len()), (&[1, 0, 1][..], 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PageDecoder {
    max_def_level: u8,
    max_rep_level: u8,
    body: BodyDecoder,
    limits: Limits,
    memory: ColumnMemory,
    /// The writer's known quirks.
    created_by: CreatedBy,
    array: Box<dyn LeafArray>,
    page: Option<OpenPage>,
    ending: Ending,
    rep: Vec<u8>,
    def: Vec<u8>,
}

/// A decompressor for pages of unknown columns. Use this if you only know the codec.
pub struct PageDecompressor {
    body: BodyDecoder,
    limits: Limits,
    memory: ColumnMemory,
}

impl PageDecompressor {
    /// Creates a decompressor for pages that `codec` compressed. The decompressed bytes count against `budget`.
    #[must_use]
    pub fn new(
        codec: CompressionCodec,
        created_by: Option<&str>,
        limits: &Limits,
        budget: &Arc<Budget>,
    ) -> Self {
        let flat = MaxLevels {
            repetition: 0,
            definition: 0,
        };
        let limit = DecompressionLimit::new(limits, Type::ByteArray, 0);
        Self {
            body: BodyDecoder::new(codec, flat, CreatedBy::new(created_by), limit),
            limits: limits.clone(),
            memory: ColumnMemory::new(budget.clone()),
        }
    }

    /// Returns a page's decompressed bytes. For version 2 pages, this leaves out the levels, because they're never
    /// compressed there.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the body does not have the length in the header,
    /// or is not valid for this codec, and with [Limit](herringbone_format::ErrorKind::Limit) if it would exceed a
    /// limit.
    pub fn decompress(&mut self, header: &PageHeader, body: Bytes) -> Result<Buffer> {
        check_sizes(header, &self.limits)?;
        self.memory.resize(MemoryUse::Window, body.len() as u64)?;
        let page = self.body.open(
            (header, 0),
            Buffer::from(body),
            PageUse::default(),
            &self.limits,
            &mut self.memory,
        )?;
        Ok(match page {
            Page::Dictionary { values, .. } => values,
            Page::Data(page) => page.values,
        })
    }
}

struct OpenPage {
    repetition: Levels,
    definition: Levels,
    max_def_level: u8,
    /// The level count declared in the header.
    num_levels: usize,
    /// The number of non-null values, if declared in the header.
    num_non_null: Option<u64>,
    levels_left: usize,
    /// The number of values for the decoded levels still to be returned.
    values_left: usize,
}

/// A part of a page, with levels and the next values. If the values for these levels have too many bytes, they're split
/// into several blocks, and only the first block has levels.
#[derive(Debug)]
pub struct Block<'a> {
    /// The repetition levels. They are zeros if the column has only level 0.
    pub rep: &'a [u8],
    /// The definition levels, one per repetition level. They are zeros if the column has only level 0.
    pub def: &'a [u8],
    /// The values of the physical type, without nulls. Their type is Boolean, Int32, Int64, Float32, Float64, Binary,
    /// or FixedSizeBinary for both FIXED_LEN_BYTE_ARRAY and INT96.
    pub values: ArrayRef,
}

impl PageDecoder {
    /// Creates a decoder for pages of `leaf` compressed with `codec`. Pass `created_by` from the file metadata, because
    /// some old writers have bugs to work around. The decoder never uses more memory than [`Limits::memory_bytes`].
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if no array can hold the values.
    pub fn new(
        leaf: &Leaf,
        codec: CompressionCodec,
        created_by: Option<&str>,
        limits: Limits,
    ) -> Result<Self> {
        let budget = Budget::new(&limits);
        Self::with_budget(leaf, codec, created_by, limits, &budget)
    }

    /// Creates a decoder that shares a budget with other decoders. See [`Self::new`].
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if no array can hold the values.
    #[doc(hidden)] // For the crates of this workspace.
    pub fn with_budget(
        leaf: &Leaf,
        codec: CompressionCodec,
        created_by: Option<&str>,
        limits: Limits,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let leaf_type = LeafType {
            physical_type: leaf.physical_type,
            type_length: leaf.type_length,
            data_type: data_type(leaf)?,
            conversion: Conversion::Identity,
            int96_overflow: Int96Overflow::Error,
            is_ordered: false,
        };
        let max_levels = MaxLevels {
            repetition: leaf.max_rep_level,
            definition: leaf.max_def_level,
        };
        let created_by = CreatedBy::new(created_by);
        Ok(Self {
            created_by,
            max_def_level: leaf.max_def_level,
            max_rep_level: leaf.max_rep_level,
            memory: ColumnMemory::new(budget.clone()),
            body: BodyDecoder::new(
                codec,
                max_levels,
                created_by,
                DecompressionLimit::new(&limits, leaf.physical_type, leaf.type_length),
            ),
            limits,
            array: leaf_array(&leaf_type)?,
            page: None,
            ending: Ending::Clean,
            rep: Vec::new(),
            def: Vec::new(),
        })
    }

    /// Adds the cipher for the pages, if there is one.
    #[must_use]
    pub fn encrypted(self, cipher: Option<ChunkCipher>) -> Self {
        Self {
            body: self.body.encrypted(cipher),
            ..self
        }
    }

    /// Checks the sizes in a header before we allocate any memory for the page. Returns the body size in bytes.
    ///
    /// # Errors
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if a size is too large, and with
    /// [Corrupt](herringbone_format::ErrorKind::Corrupt) if a size is negative.
    pub fn check_sizes(&self, header: &PageHeader) -> Result<u64> {
        check_sizes(header, &self.limits)
    }

    /// Compares a body with the checksum in its header, if there is one.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if they differ.
    pub fn verify_crc(header: &PageHeader, body: &[u8]) -> Result<()> {
        verify_crc(header, body)
    }

    /// Opens the page that starts at `start`. If it's a dictionary page, you get its entries as values without levels.
    /// The decoder also keeps them for later data pages.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt), [Limit](herringbone_format::ErrorKind::Limit) or
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the body contradicts the header. Note that this
    /// does not check the values themselves.
    pub fn open(&mut self, header: &PageHeader, start: &PageStart, body: Bytes) -> Result<()> {
        self.page = None;
        self.ending = Ending::Clean;
        // An earlier page that failed might have left values in the array, so we discard them.
        self.array.finish(None).ok();
        check_sizes(header, &self.limits)?;
        self.memory.resize(MemoryUse::Window, body.len() as u64)?;
        let page = (header, start.data_pages_before);
        let body = Buffer::from(body);
        let page_use = PageUse::default();
        let page = self
            .body
            .open(page, body, page_use, &self.limits, &mut self.memory)?;
        match page {
            Page::Dictionary { values, num_values } => self.open_dictionary(&values, num_values),
            Page::Data(page) => self.open_data(page),
        }
    }

    /// Returns the number of bytes after the values of a fully read PLAIN page. For other encodings this is 0, because
    /// they contain padding or their own value count.
    #[must_use]
    pub fn unused_bytes(&self) -> usize {
        self.array.rest().num_bytes()
    }

    /// Checks that nothing follows the values of a fully read page, except for bytes known to be appended by its
    /// writer.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if other bytes follow.
    pub fn check_unused_bytes(&self) -> Result<()> {
        self.array.rest().check(self.created_by).map(drop)
    }

    /// Returns true if there is padding after the last page's levels or values, or anything that looks like padding.
    #[must_use]
    pub fn is_padded(&self) -> bool {
        self.ending != Ending::Clean
    }

    /// Returns true if the last page might have more levels than its header declares, because something after them
    /// looks like padding. Only the other pages can tell: unless a header is wrong, the chunk's headers add up to the
    /// level count in the chunk metadata.
    #[must_use]
    pub fn may_have_more_levels(&self) -> bool {
        self.ending == Ending::Open
    }

    fn open_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        let entries = num_values.min(values.len());
        let bytes = self.array.dictionary_bytes(values.len(), entries);
        self.memory.reserve(MemoryUse::Dictionary, bytes as u64)?;
        self.array.set_dictionary(values, num_values)?;
        self.array
            .set_page(Encoding::Plain, values.clone(), num_values)?;
        self.page = Some(OpenPage {
            repetition: Levels::new(None, 0),
            definition: Levels::new(None, 0),
            max_def_level: 0,
            num_levels: num_values,
            num_non_null: None,
            levels_left: num_values,
            values_left: 0,
        });
        Ok(())
    }

    fn open_data(&mut self, page: DataPage) -> Result<()> {
        self.array
            .set_page(page.encoding, page.values, page.num_values)?;
        self.page = Some(OpenPage {
            repetition: Levels::new(page.repetition, self.max_rep_level),
            definition: Levels::new(page.definition, self.max_def_level),
            max_def_level: self.max_def_level,
            num_levels: page.num_values,
            num_non_null: page.num_non_null,
            levels_left: page.num_values,
            values_left: 0,
        });
        Ok(())
    }

    /// Returns the next block of the page, or `None` after the last block.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if levels or values break the rules of their
    /// encoding, or end early.
    pub fn block(&mut self) -> Result<Option<Block<'_>>> {
        let Some(page) = &mut self.page else {
            return Ok(None);
        };
        self.rep.clear();
        self.def.clear();
        if page.values_left == 0 {
            let levels = page.levels_left.min(BLOCK_LEVELS);
            if levels == 0 {
                let page = self.page.take();
                return page.map_or(Ok(None), |page| self.end(&page));
            }
            page.repetition.extend(levels, &mut self.rep)?;
            page.definition.extend(levels, &mut self.def)?;
            page.levels_left -= levels;
            page.values_left = nesting::count_ge(&self.def, page.max_def_level);
        }
        let room = self.array.values_that_fit(page.values_left, BLOCK_BYTES)?;
        let values = room.max(1).min(page.values_left);
        let mut bytes = self.array.most_bytes(values);
        if room > 0 {
            bytes = bytes.min(BLOCK_BYTES);
        }
        self.memory.resize(MemoryUse::Array, bytes as u64)?;
        self.array.append(values)?;
        page.values_left -= values;
        let values = self.array.finish(None)?;
        Ok(Some(Block {
            rep: &self.rep,
            def: &self.def,
            values,
        }))
    }

    /// Checks that only padding follows the returned levels and values. Extra bytes after PLAIN values are left to
    /// [`Self::check_unused_bytes`].
    fn end(&mut self, page: &OpenPage) -> Result<Option<Block<'_>>> {
        let end = PageEnd {
            repetition: &page.repetition,
            definition: &page.definition,
            rest: match self.array.rest() {
                Rest::Bytes { .. } => Rest::Nothing,
                rest => rest,
            },
            num_levels: page.num_levels,
            created_by: self.created_by,
        };
        self.ending = end.ending(|| page.num_non_null)?;
        Ok(None)
    }
}

/// Returns the Arrow type for the physical type's bytes.
fn data_type(leaf: &Leaf) -> Result<DataType> {
    let fixed = |length: usize| {
        i32::try_from(length)
            .map(DataType::FixedSizeBinary)
            .map_err(|_| Error::unsupported(format!("values of {length} bytes")))
    };
    Ok(match leaf.physical_type {
        Type::Boolean => DataType::Boolean,
        Type::Int32 => DataType::Int32,
        Type::Int64 => DataType::Int64,
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        Type::ByteArray => DataType::Binary,
        Type::Int96 => fixed(INT96_BYTES)?,
        Type::FixedLenByteArray => fixed(leaf.type_length)?,
    })
}
