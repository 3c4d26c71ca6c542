//! A file's options, resolved for one column.

use std::sync::Arc;

use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_schema::{HintPolicy, WriteLeaf};

use super::content_defined::{Chunker, ContentDefinedChunking};
use super::costs::pays;
use super::interrupt::Interrupt;
use super::options::{
    BloomFilterOptions, ColumnOptions, Compatibility, DataPageVersion, Prefer, StatisticsLevel,
    WriteOptions,
};
use herringbone_core::compression::{Compression, compress_sections};
use herringbone_core::encoding::{ValueEncoder, value_encoder};

/// The largest allowed `dictionary_bytes`. A page is limited to fewer bytes, and hash tables count in 32 bits.
const MAX_DICTIONARY_BYTES: usize = 1 << 30;

/// The default number of bytes per page.
const PAGE_BYTES: usize = 1 << 20;

/// The cap on the default number of bytes per page, for any chunk size. A page header can count up to 2 GiB.
const MAX_DEFAULT_PAGE_BYTES: usize = 1 << 30;

/// The properties of a column stored as a dictionary in Arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrowDictionary {
    /// True if the order of the dictionary's values has a meaning.
    pub(crate) is_ordered: bool,
}

/// The settings of one column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSettings {
    pub(crate) leaf: WriteLeaf,
    pub(crate) compression: Compression,
    /// True if the codec can be dropped where it hardly saves any bytes.
    pub(crate) may_drop_codec: bool,
    pub(crate) prefer: Prefer,
    pub(crate) version: DataPageVersion,
    /// True if pages can have version 1 although `version` is 2.
    pub(crate) may_be_version_1: bool,
    /// The encodings allowed for values outside a dictionary. The first one is the default.
    pub(crate) encodings: Vec<Encoding>,
    pub(crate) dictionary: bool,
    /// True if the caller requested a dictionary.
    pub(crate) dictionary_is_requested: bool,
    /// True if the writer is free to reorder the dictionary's entries.
    pub(crate) may_sort_dictionary: bool,
    pub(crate) dictionary_bytes: usize,
    /// The dictionary's properties, if Arrow's dictionary is to be restored unchanged on reading. We then write all of
    /// its values to the dictionary page, in their order.
    pub(crate) preserve_arrow_dictionary: Option<ArrowDictionary>,
    pub(crate) statistics: StatisticsLevel,
    pub(crate) distinct_counts: bool,
    pub(crate) truncate_bounds: usize,
    pub(crate) bloom_filter: Option<BloomFilterOptions>,
    pub(crate) page_bytes: usize,
    pub(crate) page_rows: usize,
    /// The hash before the first row, if pages are content-defined.
    pub(crate) chunker: Option<Chunker>,
    pub(crate) row_group_rows: usize,
    pub(crate) page_index: bool,
    pub(crate) crc: bool,
    /// True if floating point bounds follow the total order.
    pub(crate) total_order: bool,
    pub(crate) interrupt: Option<Arc<dyn Interrupt>>,
}

impl ColumnSettings {
    /// Creates a column's settings. `arrow_dictionary` is set if the column is a dictionary in Arrow.
    ///
    /// # Errors
    /// Fails with `Argument` if an option is invalid or does not fit this column.
    pub(crate) fn new(
        leaf: &WriteLeaf,
        arrow_dictionary: Option<ArrowDictionary>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let selected = options
            .overrides
            .iter()
            .filter(|(selector, _)| selector.selects(leaf));
        let mut columns = options.columns.clone();
        if leaf.physical_type == Type::Boolean {
            // A bloom filter requested for all columns is only meant for columns that can have one.
            columns.bloom_filter = None;
        }
        let chosen = selected.fold(columns, |chosen, (_, more)| chosen.overridden_by(more));
        Self::of(leaf, arrow_dictionary, &chosen, options)
            .map_err(|error| error.in_column(leaf.path.join(".")))
    }

    fn of(
        leaf: &WriteLeaf,
        arrow_dictionary: Option<ArrowDictionary>,
        chosen: &ColumnOptions,
        options: &WriteOptions,
    ) -> Result<Self> {
        let modern = options.compatibility != Compatibility::Widest;
        // Arrow C++ only restores dictionaries from PLAIN and dictionary pages.
        let readers = match arrow_dictionary {
            Some(_) => Compatibility::Widest,
            None => options.compatibility,
        };
        // A dictionary requested as an encoding doesn't determine the fallback encoding.
        let asked = chosen
            .encoding
            .filter(|e| !matches!(e, Encoding::RleDictionary | Encoding::PlainDictionary));
        let by_name = chosen.encoding.is_some() && asked.is_none();
        let encodings = match asked {
            Some(asked) => vec![asked],
            None => encodings(leaf.physical_type, readers),
        };
        let compression = chosen.compression.unwrap_or_default();
        for encoding in &encodings {
            value_encoder(*encoding, leaf.physical_type, leaf.type_length, compression)?;
        }
        let dictionary = by_name || chosen.dictionary.unwrap_or(asked.is_none());
        let may_sort_dictionary = arrow_dictionary.is_none();
        // Without the Arrow schema, readers don't know that the column was a dictionary, so there's none to preserve.
        let hinted = options.schema.arrow_schema_hint != HintPolicy::None;
        let arrow_dictionary = arrow_dictionary.filter(|_| hinted);
        if !dictionary
            && arrow_dictionary.is_some_and(|arrow_dictionary| arrow_dictionary.is_ordered)
        {
            return Err(Error::argument(
                "an ordered dictionary needs a dictionary page to keep its order, so it cannot be \
                 written in another encoding; write its values, or an unordered dictionary",
            ));
        }
        let chunking = options.content_defined_chunking;
        let (page_bytes, page_rows) = default_page_limits(chunking);
        let mut leaf = leaf.clone();
        leaf.allow_out_of_range = options.allow_out_of_range;
        let settings = Self {
            compression,
            may_drop_codec: chosen.compression.is_none() || options.prefer.is_some(),
            prefer: options.prefer.unwrap_or_default(),
            may_be_version_1: options.data_page_version.is_none(),
            version: options.data_page_version.unwrap_or(
                if modern && options.encryption.is_none() {
                    DataPageVersion::V2
                } else {
                    DataPageVersion::V1
                },
            ),
            encodings,
            dictionary,
            dictionary_is_requested: by_name || chosen.dictionary == Some(true),
            may_sort_dictionary,
            dictionary_bytes: chosen.dictionary_bytes.unwrap_or(1 << 20),
            preserve_arrow_dictionary: arrow_dictionary.filter(|_| dictionary),
            statistics: chosen.statistics.unwrap_or(StatisticsLevel::Page),
            distinct_counts: chosen.distinct_counts.unwrap_or(true),
            truncate_bounds: chosen.truncate_bounds.unwrap_or(64),
            bloom_filter: chosen.bloom_filter,
            page_bytes: chosen.page_bytes.unwrap_or(page_bytes),
            page_rows: chosen.page_rows.unwrap_or(page_rows),
            chunker: chunking
                .map(|chunking| Chunker::new(&chunking))
                .transpose()?,
            row_group_rows: options.row_group_rows,
            page_index: options.page_index,
            crc: options.crc,
            total_order: modern && leaf.order.is_float(),
            interrupt: options.interrupt.clone(),
            leaf,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Compresses an input made of several sections. At slow levels, this also asks if the write should end.
    ///
    /// # Errors
    /// Fails for the reasons that [`compress_sections`] lists.
    pub(crate) fn compress(
        &self,
        compression: Compression,
        input: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let ask = || match &self.interrupt {
            Some(interrupt) => interrupt.check(),
            None => Ok(()),
        };
        compress_sections(compression, input, section_starts, out, &ask)
    }

    /// Returns the default encoding of values outside a dictionary.
    pub(crate) fn usual_encoding(&self) -> Encoding {
        let first = self.encodings.first().copied();
        first.unwrap_or(Encoding::Plain)
    }

    /// Returns the maximum number of values in a row group, as implied by its row count.
    pub(crate) fn row_group_values(&self) -> usize {
        match self.leaf.max_rep_level {
            0 => self.row_group_rows,
            _ => usize::MAX,
        }
    }

    /// Returns true if all values must be in the dictionary, however large it grows, because their order has a meaning.
    pub(crate) fn keeps_order(&self) -> bool {
        self.preserve_arrow_dictionary
            .is_some_and(|preserve_arrow_dictionary| preserve_arrow_dictionary.is_ordered)
    }

    /// Creates a value encoder for `encoding`.
    ///
    /// # Errors
    /// Fails with `Argument` if the encoding does not support the column's type.
    pub(crate) fn value_encoder(&self, encoding: Encoding) -> Result<Box<dyn ValueEncoder>> {
        let leaf = &self.leaf;
        value_encoder(
            encoding,
            leaf.physical_type,
            leaf.type_length,
            self.compression,
        )
    }

    /// Returns true if the codec is worth it for a page compressed from `raw` to `compressed` bytes.
    pub(crate) fn codec_pays(&self, raw: usize, compressed: usize) -> bool {
        match self.may_drop_codec {
            true => pays(self.prefer, self.compression, raw, compressed),
            false => compressed < raw,
        }
    }

    fn check(&self) -> Result<()> {
        if self.dictionary_bytes > MAX_DICTIONARY_BYTES {
            return Err(Error::argument(format!(
                "dictionary_bytes must be at most {MAX_DICTIONARY_BYTES}"
            )));
        }
        for (name, value) in [
            ("page_rows", self.page_rows),
            ("page_bytes", self.page_bytes),
            ("truncate_bounds", self.truncate_bounds),
        ] {
            if value == 0 {
                return Err(Error::argument(format!("{name} must be at least 1")));
            }
        }
        if let Some(filter) = self.bloom_filter {
            if self.leaf.physical_type == Type::Boolean {
                return Err(Error::argument(
                    "a BOOLEAN column cannot have a bloom filter",
                ));
            }
            if !(filter.false_positives > 0.0 && filter.false_positives < 1.0) {
                return Err(Error::argument(format!(
                    "the false-positive rate of a bloom filter must be between 0 and 1, not {}",
                    filter.false_positives
                )));
            }
        }
        Ok(())
    }
}

/// Returns the default page limits, in bytes and in rows.
fn default_page_limits(chunking: Option<ContentDefinedChunking>) -> (usize, usize) {
    match chunking {
        None => (PAGE_BYTES, 1 << 15),
        // Chunks don't count the lengths in PLAIN strings, so the limit leaves room for them.
        Some(chunking) => {
            let bytes = chunking.max_chunk_bytes.saturating_mul(2);
            (bytes.clamp(PAGE_BYTES, MAX_DEFAULT_PAGE_BYTES), usize::MAX)
        }
    }
}

/// Returns the encodings supported by these readers, starting with the one that is usually best without a dictionary.
fn encodings(physical_type: Type, readers: Compatibility) -> Vec<Encoding> {
    use Encoding::{
        Alp, ByteStreamSplit, DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain, Rle,
    };
    let newest = readers == Compatibility::Newest;
    let (modern, more): (&[Encoding], &[Encoding]) = match physical_type {
        _ if readers == Compatibility::Widest => (&[Plain], &[]),
        Type::Boolean => (&[Rle, Plain], &[]),
        Type::Int32 | Type::Int64 => (&[DeltaBinaryPacked, Plain], &[ByteStreamSplit]),
        Type::Float | Type::Double => (&[ByteStreamSplit, Plain], &[Alp]),
        Type::ByteArray => (&[DeltaLengthByteArray, Plain, DeltaByteArray], &[]),
        Type::FixedLenByteArray => (&[Plain], &[ByteStreamSplit, DeltaByteArray]),
        Type::Int96 => (&[Plain], &[]),
    };
    let more = more.iter().filter(|_| newest);
    modern.iter().chain(more).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The newest readers know each encoding that the specification allows for a type's values.
    #[test]
    fn encodings_are_those_that_readers_know() {
        let dictionaries = [Encoding::PlainDictionary, Encoding::RleDictionary];
        for &it in Type::ALL {
            assert_eq!(encodings(it, Compatibility::Widest), [Encoding::Plain]);
            let newest = encodings(it, Compatibility::Newest);
            for &encoding in Encoding::ALL {
                let serves = encoding.serves().contains(&it) && !dictionaries.contains(&encoding);
                let count = newest.iter().filter(|it| **it == encoding).count();
                assert_eq!(count, usize::from(serves), "{it}: {encoding}");
            }
        }
        use Encoding::{
            ByteStreamSplit, DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain, Rle,
        };
        let modern: [(Type, &[Encoding]); 5] = [
            (Type::Boolean, &[Rle, Plain]),
            (Type::Int64, &[DeltaBinaryPacked, Plain]),
            (Type::Double, &[ByteStreamSplit, Plain]),
            (Type::FixedLenByteArray, &[Plain]),
            (
                Type::ByteArray,
                &[DeltaLengthByteArray, Plain, DeltaByteArray],
            ),
        ];
        for (it, expected) in modern {
            assert_eq!(encodings(it, Compatibility::Modern), expected, "{it}");
        }
    }
}
