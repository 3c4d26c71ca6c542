//! The pages of a column chunk one by one, as levels and values of the physical type: what the file
//! stores, before it becomes rows.
//!
//! Who wants rows takes a `ReadPlan`. This is for those who look at pages:
//! to check what is said about them, or to find out what they hold where nothing else is left.

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
use crate::encoding::rest::more_than_declared;
use crate::levels::Levels;
use crate::page::body::{BodyDecoder, PageUse, check_sizes, verify_crc};
use crate::page::decompression_limit::DecompressionLimit;
use crate::page::{BLOCK_LEVELS, DataPage, MaxLevels, Page, PageStart};

/// Bytes of values decoded at once, where a single value is not longer.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes of an INT96 value.
const INT96_BYTES: usize = 12;

/// Decodes the pages of one column chunk that the caller has found.
///
/// A page is handed in with [`Self::open`] and taken out in blocks with [`Self::block`]. After an
/// error the rest of that page is of no use, but the next page can be opened.
pub struct PageDecoder {
    max_def_level: u8,
    max_rep_level: u8,
    body: BodyDecoder,
    limits: Limits,
    memory: ColumnMemory,
    /// Known habits of the writer of the file.
    created_by: CreatedBy,
    array: Box<dyn LeafArray>,
    page: Option<OpenPage>,
    rep: Vec<u8>,
    def: Vec<u8>,
}

/// Decompresses pages whose column is unknown; only the codec is known.
pub struct PageDecompressor {
    body: BodyDecoder,
    limits: Limits,
    memory: ColumnMemory,
}

impl PageDecompressor {
    /// Makes a decompressor of pages that `codec` compressed. The decompressed bytes count against `budget`.
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

    /// Returns the bytes that a page was compressed from. Pages of version 2 give their values without
    /// their levels, which are never compressed.
    ///
    /// # Errors
    /// Corrupt if the body is not as long as the header has it, or not of this codec; Limit.
    pub fn decompress(&mut self, header: &PageHeader, body: Bytes) -> Result<Buffer> {
        check_sizes(header, &self.limits)?;
        self.memory.hold(MemoryUse::Window, body.len() as u64)?;
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
    levels_left: usize,
    /// Values of the levels that were given out.
    values_left: usize,
}

/// Some of a page: levels, and the values that come next. Where the values of some levels are too
/// many bytes, they come in several blocks, and all but the first have no levels.
#[derive(Debug)]
pub struct Block<'a> {
    /// Repetition levels; zeros where the column has none.
    pub rep: &'a [u8],
    /// Definition levels, as many; zeros where the column has none.
    pub def: &'a [u8],
    /// Values of the physical type, without nulls: Boolean, Int32, Int64, Float32, Float64,
    /// Binary, or FixedSizeBinary for both FIXED_LEN_BYTE_ARRAY and INT96.
    pub values: ArrayRef,
}

impl PageDecoder {
    /// Makes a decoder of pages of `leaf` that are compressed by `codec`. `created_by` is the writer of the file: some old
    /// writers have faults. The decoder holds no more memory than [`Limits::memory_bytes`].
    ///
    /// # Errors
    /// Unsupported if no array can hold the values.
    pub fn new(
        leaf: &Leaf,
        codec: CompressionCodec,
        created_by: Option<&str>,
        limits: Limits,
    ) -> Result<Self> {
        let budget = Budget::new(&limits);
        Self::with_budget(leaf, codec, created_by, limits, &budget)
    }

    /// Makes a decoder, as [`Self::new`], which shares a budget with other decoders.
    ///
    /// # Errors
    /// Unsupported if no array can hold the values.
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
            rep: Vec::new(),
            def: Vec::new(),
        })
    }

    /// The same decoder, of pages that are encrypted if there is a cipher for them.
    #[must_use]
    pub fn encrypted(self, cipher: Option<ChunkCipher>) -> Self {
        Self {
            body: self.body.encrypted(cipher),
            ..self
        }
    }

    /// Checks the sizes in a header, before any memory is spent on the page.
    ///
    /// # Errors
    /// Limit, and Corrupt where a size is negative.
    pub fn check_sizes(&self, header: &PageHeader) -> Result<u64> {
        check_sizes(header, &self.limits)
    }

    /// Compares a body with the checksum of its header, if it has one.
    ///
    /// # Errors
    /// Corrupt where they differ.
    pub fn verify_crc(header: &PageHeader, body: &[u8]) -> Result<()> {
        verify_crc(header, body)
    }

    /// Takes the page that starts at `start`. The entries of a dictionary page come out as values without levels, and
    /// the data pages behind it refer to them.
    ///
    /// # Errors
    /// Corrupt, Limit or Unsupported where the body is not what the header says, up to where its
    /// values start.
    pub fn open(&mut self, header: &PageHeader, start: &PageStart, body: Bytes) -> Result<()> {
        self.page = None;
        // What an error left of the page before.
        self.array.finish(None).ok();
        check_sizes(header, &self.limits)?;
        self.memory.hold(MemoryUse::Window, body.len() as u64)?;
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

    /// Returns the number of bytes behind the values of a PLAIN page that was taken out to its end; 0 for other encodings,
    /// which have a number of values of their own, or padding.
    #[must_use]
    pub fn unused_bytes(&self) -> usize {
        self.array.rest().num_bytes()
    }

    /// Makes sure that nothing follows the values of a page that was taken out to its end, but for what its writer is known
    /// to append.
    ///
    /// # Errors
    /// Corrupt where other bytes follow.
    pub fn check_unused_bytes(&self) -> Result<()> {
        self.array.rest().check(self.created_by)
    }

    fn open_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        let entries = num_values.min(values.len());
        let bytes = self.array.dictionary_bytes(values.len(), entries);
        self.memory
            .hold_at_least(MemoryUse::Dictionary, bytes as u64)?;
        self.array.set_dictionary(values, num_values)?;
        self.array
            .set_page(Encoding::Plain, values.clone(), num_values)?;
        self.page = Some(OpenPage {
            repetition: Levels::new(None, 0),
            definition: Levels::new(None, 0),
            max_def_level: 0,
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
            levels_left: page.num_values,
            values_left: 0,
        });
        Ok(())
    }

    /// The next block of the page; `None` behind the last one.
    ///
    /// # Errors
    /// Corrupt where levels or values break the rules of their encoding, or end early.
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
        self.memory.hold(MemoryUse::Array, bytes as u64)?;
        self.array.append(values)?;
        page.values_left -= values;
        let values = self.array.finish(None)?;
        Ok(Some(Block {
            rep: &self.rep,
            def: &self.def,
            values,
        }))
    }

    /// Makes sure that a page has no levels or values beyond those that were taken out; bytes of PLAIN values are left to
    /// [`Self::check_unused_bytes`].
    fn end(&self, page: &OpenPage) -> Result<Option<Block<'_>>> {
        if page.repetition.has_more() || page.definition.has_more() {
            return Err(more_than_declared("levels"));
        }
        match self.array.rest() {
            Rest::Values => Err(more_than_declared("values")),
            Rest::Nothing | Rest::Bytes(_) => Ok(None),
        }
    }
}

/// The Arrow type that has the bytes of the physical type.
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
