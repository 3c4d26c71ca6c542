//! What the options come to for one column.

use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_schema::{HintPolicy, WriteLeaf};

use super::options::{
    BloomFilterOptions, ColumnOptions, Compatibility, DataPageVersion, StatisticsLevel,
    WriteOptions,
};
use crate::compression::Compression;
use crate::encoding::value_encoder;

/// Bytes of a dictionary that nobody can ask for: a page has fewer, and tables count in 32 bits.
const MAX_DICTIONARY_BYTES: usize = 1 << 30;

/// A column that is a dictionary in Arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrowDictionary {
    /// Whether the order of its values means something.
    pub(crate) is_ordered: bool,
}

/// How one column is written.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSettings {
    pub(crate) leaf: WriteLeaf,
    pub(crate) compression: Compression,
    pub(crate) version: DataPageVersion,
    /// The encoding of values that are not in a dictionary.
    pub(crate) encoding: Encoding,
    pub(crate) dictionary: bool,
    pub(crate) dictionary_bytes: usize,
    /// Where Arrow's dictionary is to come back as it was: all its values go to the dictionary page,
    /// in their order.
    pub(crate) lists_entries: Option<ArrowDictionary>,
    pub(crate) statistics: StatisticsLevel,
    pub(crate) truncate_bounds: usize,
    pub(crate) bloom_filter: Option<BloomFilterOptions>,
    pub(crate) page_bytes: usize,
    pub(crate) page_rows: usize,
    pub(crate) page_index: bool,
    pub(crate) crc: bool,
    /// Whether bounds of floating point numbers follow the total order.
    pub(crate) total_order: bool,
}

impl ColumnSettings {
    /// The settings of a column, which may be a dictionary in Arrow.
    ///
    /// # Errors
    /// Argument where an option makes no sense, or not for this column.
    pub(crate) fn new(
        leaf: &WriteLeaf,
        arrow_dictionary: Option<ArrowDictionary>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let selected = options
            .overrides
            .iter()
            .filter(|(selector, _)| selector.selects(leaf));
        let chosen = selected.fold(options.columns.clone(), |chosen, (_, more)| {
            chosen.overridden_by(more)
        });
        Self::of(leaf, arrow_dictionary, &chosen, options)
            .map_err(|error| error.in_column(leaf.path.join(".")))
    }

    fn of(
        leaf: &WriteLeaf,
        arrow_dictionary: Option<ArrowDictionary>,
        chosen: &ColumnOptions,
        options: &WriteOptions,
    ) -> Result<Self> {
        let modern = options.compatibility == Compatibility::Modern;
        // Arrow C++ restores dictionaries from PLAIN and dictionary pages only.
        let default_encoding =
            default_encoding(leaf.physical_type, modern && arrow_dictionary.is_none());
        // To ask for a dictionary by name leaves open what follows it.
        let asked = chosen
            .encoding
            .filter(|e| !matches!(e, Encoding::RleDictionary | Encoding::PlainDictionary));
        let by_name = chosen.encoding.is_some() && asked.is_none();
        let encoding = asked.unwrap_or(default_encoding);
        value_encoder(encoding, leaf.physical_type, leaf.type_length)?;
        let dictionary = by_name || chosen.dictionary.unwrap_or(asked.is_none());
        // Without the Arrow schema nobody learns that it was a dictionary.
        let hinted = options.schema.arrow_schema_hint != HintPolicy::None;
        let arrow_dictionary = arrow_dictionary.filter(|_| hinted);
        if !dictionary && arrow_dictionary.is_some_and(|it| it.is_ordered) {
            return Err(Error::argument(
                "an ordered dictionary has its order from its dictionary page: it cannot be written \
                 in another encoding, but its values can, or a dictionary that is not ordered",
            ));
        }
        let settings = Self {
            leaf: leaf.clone(),
            compression: chosen.compression.unwrap_or_default(),
            version: options.data_page_version.unwrap_or(
                if modern && options.encryption.is_none() {
                    DataPageVersion::V2
                } else {
                    DataPageVersion::V1
                },
            ),
            encoding,
            dictionary,
            dictionary_bytes: chosen.dictionary_bytes.unwrap_or(1 << 20),
            lists_entries: arrow_dictionary.filter(|_| dictionary),
            statistics: chosen.statistics.unwrap_or(StatisticsLevel::Page),
            truncate_bounds: chosen.truncate_bounds.unwrap_or(64),
            bloom_filter: chosen.bloom_filter,
            page_bytes: chosen.page_bytes.unwrap_or(1 << 20),
            page_rows: chosen.page_rows.unwrap_or(1 << 15),
            page_index: options.page_index,
            crc: options.crc,
            total_order: modern && leaf.order.is_float(),
        };
        settings.check()?;
        Ok(settings)
    }

    /// Whether all values have to be in the dictionary, however large it grows.
    pub(crate) fn keeps_order(&self) -> bool {
        self.lists_entries.is_some_and(|it| it.is_ordered)
    }

    fn check(&self) -> Result<()> {
        if self.dictionary_bytes > MAX_DICTIONARY_BYTES {
            return Err(Error::argument(format!(
                "dictionary_bytes is at most {MAX_DICTIONARY_BYTES}"
            )));
        }
        for (name, value) in [
            ("page_rows", self.page_rows),
            ("page_bytes", self.page_bytes),
            ("truncate_bounds", self.truncate_bounds),
        ] {
            if value == 0 {
                return Err(Error::argument(format!("{name} has to be at least 1")));
            }
        }
        if let Some(filter) = self.bloom_filter {
            if self.leaf.physical_type == Type::Boolean {
                return Err(Error::argument("BOOLEAN has no bloom filter"));
            }
            if !(filter.false_positives > 0.0 && filter.false_positives < 1.0) {
                return Err(Error::argument(format!(
                    "the share of false positives of a bloom filter lies between 0 and 1: {}",
                    filter.false_positives
                )));
            }
        }
        Ok(())
    }
}

fn default_encoding(physical_type: Type, modern: bool) -> Encoding {
    match physical_type {
        _ if !modern => Encoding::Plain,
        Type::Boolean => Encoding::Rle,
        Type::Int32 | Type::Int64 => Encoding::DeltaBinaryPacked,
        Type::Float | Type::Double => Encoding::ByteStreamSplit,
        Type::ByteArray => Encoding::DeltaLengthByteArray,
        // Not every reader of today knows another encoding of these.
        Type::FixedLenByteArray | Type::Int96 => Encoding::Plain,
    }
}
