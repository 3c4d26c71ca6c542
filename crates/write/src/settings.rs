//! What the options come to for one column.

use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_schema::{HintPolicy, WriteLeaf};

use super::costs::pays;
use super::options::{
    BloomFilterOptions, ColumnOptions, Compatibility, DataPageVersion, Prefer, StatisticsLevel,
    WriteOptions,
};
use herringbone_core::compression::Compression;
use herringbone_core::encoding::{ValueEncoder, value_encoder};

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
    /// Whether a codec that hardly shrinks anything is left out.
    pub(crate) may_drop_codec: bool,
    pub(crate) prefer: Prefer,
    pub(crate) version: DataPageVersion,
    /// Whether pages may be of version 1 though `version` is 2.
    pub(crate) may_be_version_1: bool,
    /// The encodings that values outside of a dictionary may have; the first one where nothing speaks for another.
    pub(crate) encodings: Vec<Encoding>,
    pub(crate) dictionary: bool,
    /// Whether the caller wants a dictionary.
    pub(crate) dictionary_is_asked: bool,
    /// Whether the order of the entries is ours to choose.
    pub(crate) may_sort_dictionary: bool,
    pub(crate) dictionary_bytes: usize,
    /// Where Arrow's dictionary is to come back as it was: all its values go to the dictionary page,
    /// in their order.
    pub(crate) lists_entries: Option<ArrowDictionary>,
    pub(crate) statistics: StatisticsLevel,
    pub(crate) truncate_bounds: usize,
    pub(crate) bloom_filter: Option<BloomFilterOptions>,
    pub(crate) page_bytes: usize,
    pub(crate) page_rows: usize,
    pub(crate) row_group_rows: usize,
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
        let modern = options.compatibility != Compatibility::Widest;
        // Arrow C++ restores dictionaries from PLAIN and dictionary pages only.
        let readers = match arrow_dictionary {
            Some(_) => Compatibility::Widest,
            None => options.compatibility,
        };
        // To ask for a dictionary by name leaves open what follows it.
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
            let physical_type = (leaf.physical_type, leaf.type_length);
            value_encoder(*encoding, physical_type, compression)?;
        }
        let dictionary = by_name || chosen.dictionary.unwrap_or(asked.is_none());
        let may_sort_dictionary = arrow_dictionary.is_none();
        // Without the Arrow schema nobody learns that it was a dictionary.
        let hinted = options.schema.arrow_schema_hint != HintPolicy::None;
        let arrow_dictionary = arrow_dictionary.filter(|_| hinted);
        if !dictionary && arrow_dictionary.is_some_and(|it| it.is_ordered) {
            return Err(Error::argument(
                "an ordered dictionary has its order from its dictionary page: it cannot be written \
                 in another encoding, but its values can, or a dictionary that is not ordered",
            ));
        }
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
            dictionary_is_asked: by_name || chosen.dictionary == Some(true),
            may_sort_dictionary,
            dictionary_bytes: chosen.dictionary_bytes.unwrap_or(1 << 20),
            lists_entries: arrow_dictionary.filter(|_| dictionary),
            statistics: chosen.statistics.unwrap_or(StatisticsLevel::Page),
            truncate_bounds: chosen.truncate_bounds.unwrap_or(64),
            bloom_filter: chosen.bloom_filter,
            page_bytes: chosen.page_bytes.unwrap_or(1 << 20),
            page_rows: chosen.page_rows.unwrap_or(1 << 15),
            row_group_rows: options.row_group_rows,
            page_index: options.page_index,
            crc: options.crc,
            total_order: modern && leaf.order.is_float(),
            leaf,
        };
        settings.check()?;
        Ok(settings)
    }

    /// The encoding of values outside of a dictionary where nothing speaks for another one.
    pub(crate) fn usual_encoding(&self) -> Encoding {
        let first = self.encodings.first().copied();
        first.unwrap_or(Encoding::Plain)
    }

    /// Values of a row group, as far as the number of its rows tells.
    pub(crate) fn row_group_values(&self) -> usize {
        match self.leaf.max_rep_level {
            0 => self.row_group_rows,
            _ => usize::MAX,
        }
    }

    /// Whether all values have to be in the dictionary, however large it grows.
    pub(crate) fn keeps_order(&self) -> bool {
        self.lists_entries.is_some_and(|it| it.is_ordered)
    }

    /// The encoder of values in an encoding.
    ///
    /// # Errors
    /// Argument where the encoding does not serve the column.
    pub(crate) fn value_encoder(&self, encoding: Encoding) -> Result<Box<dyn ValueEncoder>> {
        let physical_type = (self.leaf.physical_type, self.leaf.type_length);
        value_encoder(encoding, physical_type, self.compression)
    }

    /// Whether the codec is worth it for a page that it makes so many bytes of.
    pub(crate) fn codec_pays(&self, raw: usize, compressed: usize) -> bool {
        match self.may_drop_codec {
            true => pays(self.prefer, self.compression, raw, compressed),
            false => compressed < raw,
        }
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

/// The encodings that readers know, the one first that mostly suits where there is no dictionary.
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
