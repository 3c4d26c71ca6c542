//! Estimates the encoded size of values from a sample.

use herringbone_format::{Encoding, Result, Type};
use herringbone_kernels::hybrid::{self, Runs};

use super::Indexed;
use super::levels::counts_bytes;
use super::packing::{IndexForm, Packing};
use crate::costs::{self, Decoded, StoredSize};
use crate::explanation::{EncodingEstimate, StoredAs};
use crate::options::{DataPageVersion, Prefer};
use crate::settings::ColumnSettings;
use herringbone_core::compression::Compression;
use herringbone_core::encoding::dictionary::{Dictionary, ranks};
use herringbone_core::encoding::physical_values::Values;

/// The number of values per sampled value. A larger sample would take as long as writing the values.
const SAMPLE_SHARE: usize = 32;

/// The minimum and maximum number of values in a sample.
const SAMPLE_VALUES: std::ops::RangeInclusive<usize> = 2048..=8192;

/// The maximum PLAIN size of a sample, in bytes.
const SAMPLE_BYTES: usize = 64 << 10;

/// The minimum ratio of values to sampled values. It keeps the sample small if there are few values.
const SHARE_OF_FEW: usize = 8;

/// The lower bound for the sample limit set by [`SHARE_OF_FEW`], in values.
const MIN_VALUES: usize = 256;

/// The part of a sample to encode first, as a divisor of its values.
const FIRST_PART: usize = 4;

/// The cost at which we give up on an encoding, as a fractional multiple of the best cost.
const MAX_COST_RATIO: (u128, u128) = (3, 2);

/// The number of dictionary bytes per sampled byte.
const DICTIONARY_SHARE: usize = 4;

/// The minimum and maximum size of a dictionary sample in bytes. For few values, the lower bound is their PLAIN size
/// divided by [`SHARE_OF_FEW`].
const DICTIONARY_SAMPLE: std::ops::RangeInclusive<usize> = 8192..=16384;

/// The minimum size of a dictionary sample in bytes, if there are few values.
const MIN_OF_DICTIONARY: usize = 2048;

/// The most entries that we sort.
const MAX_SORTED: usize = 1 << 14;

/// The minimum number of values per entry for sorting to be worthwhile.
const VALUES_OF_SORTED: usize = 4;

/// The maximum ratio of index bytes to entry bytes for sorting to be worthwhile. Sorting only shrinks the dictionary
/// page.
const SHARE_OF_SORTED: usize = 8;

/// A sampler used to estimate the size of values.
pub(super) struct Sampler<'a> {
    settings: &'a ColumnSettings,
    num_values: usize,
    /// The PLAIN size of the values, in bytes.
    plain_bytes: usize,
}

/// The estimated cost of storing values in one form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    form: Form,
    pub(super) compression: Compression,
    stored_bytes: u64,
    /// The read time in picoseconds.
    reading: u64,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Values(Encoding),
    Indices(IndexForm),
}

impl Estimate {
    pub(super) fn cost(&self, prefer: Prefer) -> u128 {
        costs::total(prefer, self.stored_bytes, self.reading)
    }

    pub(super) fn indices(&self) -> Option<IndexForm> {
        match self.form {
            Form::Indices(form) => Some(form),
            Form::Values(_) => None,
        }
    }

    pub(super) fn encoding(&self) -> Option<Encoding> {
        match self.form {
            Form::Values(encoding) => Some(encoding),
            Form::Indices(_) => None,
        }
    }

    pub(super) fn explain(&self) -> EncodingEstimate {
        EncodingEstimate {
            stored_as: match self.form {
                Form::Values(encoding) => StoredAs::Values(encoding),
                Form::Indices(form) => StoredAs::from(form),
            },
            compression: self.compression,
            bytes: self.stored_bytes,
            nanoseconds: self.reading / 1000,
        }
    }
}

impl<'a> Sampler<'a> {
    /// Creates a sampler for `num_values` values with a PLAIN size of `plain_bytes` bytes.
    pub(super) fn new(settings: &'a ColumnSettings, num_values: usize, plain_bytes: usize) -> Self {
        Self {
            settings,
            num_values,
            plain_bytes,
        }
    }

    /// Returns the sample size in values.
    pub(super) fn len(&self) -> usize {
        let values = self.num_values / SAMPLE_SHARE;
        let by_bytes = SAMPLE_BYTES * self.num_values / self.plain_bytes.max(1);
        values
            .clamp(*SAMPLE_VALUES.start(), *SAMPLE_VALUES.end())
            .min((self.num_values / SHARE_OF_FEW).max(MIN_VALUES))
            .min(by_bytes.max(16))
    }

    /// Returns the sampled indices. Half of them come from the middle of the first page, and the other half from the
    /// middle of the last page. A small sample only uses the first page. We avoid the start of that page: while there
    /// are few entries, the indices are small, and that would mislead a codec.
    pub(super) fn indices(&self, pages: &[&[u32]]) -> Vec<u32> {
        let values = self.len();
        let (Some(first), Some(last)) = (pages.first(), pages.last()) else {
            return Vec::new();
        };
        let middle = |page: &[u32], n: usize| {
            let start = page.len().saturating_sub(n) / 2;
            page.get(start..start + n).unwrap_or(page).to_vec()
        };
        if pages.len() == 1 || values <= *SAMPLE_VALUES.start() {
            return middle(first, values);
        }
        let mut sample = middle(first, values / 2);
        sample.extend(middle(last, values / 2));
        sample
    }

    /// Estimates the values' cost in each encoding from a sample. `least` is the cost of the best other form.
    pub(super) fn values(&self, sample: &Values<'_>, least: Option<u128>) -> Result<Vec<Estimate>> {
        let encodings = &self.settings.encodings;
        let all = |values: &Values<'_>| {
            let all = encodings
                .iter()
                .map(|encoding| self.encoded(*encoding, values));
            all.collect::<Result<Vec<_>>>()
        };
        if encodings.len() == 1 && least.is_none() {
            return Ok(all(sample)?.concat());
        }
        let mut estimates = all(&sample.front(sample.num_values().div_ceil(FIRST_PART)))?;
        let cost = |estimates: &[Estimate]| {
            let costs = estimates
                .iter()
                .map(|estimate| estimate.cost(self.settings.prefer));
            costs.min().unwrap_or(u128::MAX)
        };
        let costs: Vec<u128> = estimates.iter().map(|estimate| cost(estimate)).collect();
        let best = costs.iter().copied().chain(least).min().unwrap_or(0);
        let is_near = |cost: u128| cost <= best * MAX_COST_RATIO.0 / MAX_COST_RATIO.1;
        let num_near = costs
            .iter()
            .copied()
            .chain(least)
            .filter(|cost| is_near(*cost));
        // If only one form comes near the best, we choose it without encoding the whole sample, unless the codec might
        // be dropped.
        if num_near.count() > 1 || self.may_drop_codec() {
            for ((encoding, estimates), cost) in encodings.iter().zip(&mut estimates).zip(costs) {
                if is_near(cost) {
                    *estimates = self.encoded(*encoding, sample)?;
                }
            }
        }
        Ok(estimates.concat())
    }

    /// Estimates the values' cost in one encoding from a sample: with the codec, and also without it if it can be
    /// dropped.
    fn encoded(&self, encoding: Encoding, values: &Values<'_>) -> Result<Vec<Estimate>> {
        let len = values.num_values();
        if len == 0 {
            return Ok(Vec::new());
        }
        let plain = plain_bytes(values);
        let scaled = |bytes: usize| (bytes as u64) * (self.num_values as u64) / (len as u64);
        let (form, decoded) = (Form::Values(encoding), Decoded::Values(encoding));
        let counts = |encoded_bytes| StoredSize {
            num_values: self.num_values as u64,
            plain_bytes: scaled(plain),
            encoded_bytes,
        };
        if (encoding, self.settings.compression) == (Encoding::Plain, Compression::Uncompressed) {
            return Ok(self.estimates(form, decoded, counts(scaled(plain)), scaled(plain)));
        }
        let mut encoder = self.settings.value_encoder(encoding)?;
        encoder.append(values)?;
        let (mut encoded, mut section_starts) = (Vec::new(), Vec::new());
        encoder.finish_page(&mut encoded, &mut section_starts);
        let compressed = self.compressed_sections(&encoded, &section_starts)?;
        let counts = counts(scaled(encoded.len()));
        Ok(self.estimates(form, decoded, counts, scaled(compressed)))
    }

    /// Estimates the values' cost as indices, in each packing that might win. Also returns the sort order of the
    /// entries.
    pub(super) fn dictionary(
        &self,
        dictionary: &Dictionary,
        sample: &[u32],
        indexed: &Indexed<'_>,
    ) -> Result<(Vec<Estimate>, Option<Vec<u32>>)> {
        let mut best: Option<(Packing, usize, usize)> = None;
        for packing in self.packings(dictionary.num_values()) {
            let encoded = self.packed(sample.iter().copied(), packing, dictionary.num_values());
            let compressed = self.compressed(&encoded)?;
            // A packing with more bytes before the codec must save a minimum after it.
            let is_better = |least: usize| compressed + compressed / 128 < least;
            if best.is_none_or(|(_, _, least)| is_better(least)) {
                best = Some((packing, encoded.len(), compressed));
            }
        }
        let Some((packing, encoded, compressed)) = best else {
            return Ok((Vec::new(), None));
        };
        let scaled =
            |bytes: usize| bytes as u64 * self.num_values as u64 / sample.len().max(1) as u64;
        let page = self.entries(
            dictionary,
            &(0..dictionary.num_values() as u32).collect::<Vec<_>>(),
        )?;
        // In order of appearance, a page's indices are only as wide as the dictionary was at the time. Without a codec,
        // we know their exact size.
        let index_bytes = match self.settings.compression {
            Compression::Uncompressed => scaled(compressed).min(indexed.index_bytes as u64),
            _ => scaled(compressed),
        };
        let counts = StoredSize {
            num_values: self.num_values as u64,
            plain_bytes: indexed.plain_bytes as u64,
            encoded_bytes: scaled(encoded) + dictionary.plain_bytes() as u64,
        };
        let form = |is_sorted| Form::Indices(IndexForm { is_sorted, packing });
        let mut estimates =
            self.estimates(form(false), Decoded::Indices, counts, index_bytes + page);
        let order = match self.may_sort(dictionary, index_bytes) {
            true => self.sorted(dictionary),
            false => None,
        };
        if let Some(order) = &order {
            let page = self.entries(dictionary, order)?;
            let ranks = ranks(order);
            let rank = |index: &u32| ranks.get(*index as usize).copied().unwrap_or(0);
            let encoded = self.packed(sample.iter().map(rank), packing, dictionary.num_values());
            let compressed = scaled(self.compressed(&encoded)?);
            let compressed = compressed + page;
            estimates.extend(self.estimates(form(true), Decoded::Indices, counts, compressed));
        }
        Ok((estimates, order))
    }

    fn may_sort(&self, dictionary: &Dictionary, index_bytes: u64) -> bool {
        let entries = (dictionary.plain_bytes() * SHARE_OF_SORTED) as u64;
        self.settings.may_sort_dictionary
            && entries >= index_bytes
            && self.settings.compression != Compression::Uncompressed
    }

    /// Returns the sort order of the entries, or `None` if they are unordered or too many.
    pub(super) fn sorted(&self, dictionary: &Dictionary) -> Option<Vec<u32>> {
        let entries = dictionary.num_values();
        match entries <= MAX_SORTED && entries * VALUES_OF_SORTED <= self.num_values {
            true => dictionary.sorted(self.settings.leaf.order),
            false => None,
        }
    }

    /// Returns the packings that might win, starting with the usual one.
    fn packings(&self, num_entries: usize) -> Vec<Packing> {
        let compression = self.settings.compression;
        let mut packings = vec![Packing::TIGHT];
        if compression == Compression::Uncompressed {
            return packings;
        }
        let runs = match counts_bytes(compression) {
            true => Runs::Long,
            false => Runs::Shortest,
        };
        let aligned = Packing {
            runs,
            is_aligned: true,
        };
        if aligned != Packing::TIGHT && num_entries > 1 {
            let is_wider = aligned.width(num_entries) != Packing::TIGHT.width(num_entries);
            if is_wider || runs == Runs::Long {
                packings.push(aligned);
            }
        }
        packings
    }

    fn packed(
        &self,
        indices: impl Iterator<Item = u32>,
        packing: Packing,
        num_entries: usize,
    ) -> Vec<u8> {
        let indices: Vec<u32> = indices.collect();
        let mut out = Vec::new();
        let width = packing.width(num_entries);
        hybrid::encode_u32(&indices, width, packing.runs, &mut out);
        out
    }

    /// Returns the compressed size of the dictionary page with its entries in this order, in bytes.
    fn entries(&self, dictionary: &Dictionary, order: &[u32]) -> Result<u64> {
        let all = dictionary.plain_bytes();
        if self.settings.compression == Compression::Uncompressed {
            return Ok(all as u64);
        }
        let (least, most) = (*DICTIONARY_SAMPLE.start(), *DICTIONARY_SAMPLE.end());
        let small_dictionary = (self.plain_bytes / SHARE_OF_FEW).max(MIN_OF_DICTIONARY);
        let bytes = (all / DICTIONARY_SHARE)
            .max(least.min(small_dictionary))
            .min(most);
        let share = order.len() * bytes / all.max(1);
        let some = order.get(..share).unwrap_or(order);
        let plain = dictionary.plain_of(some)?;
        let compressed = self.compressed(&plain)? as u64;
        Ok(compressed * all as u64 / plain.len().max(1) as u64)
    }

    /// Returns the stored size of a section, in bytes.
    fn compressed(&self, bytes: &[u8]) -> Result<usize> {
        self.compressed_sections(bytes, &[])
    }

    fn compressed_sections(&self, bytes: &[u8], section_starts: &[usize]) -> Result<usize> {
        if self.settings.compression == Compression::Uncompressed {
            return Ok(bytes.len());
        }
        let mut compressed = Vec::new();
        let compression = self.settings.compression;
        self.settings
            .compress(compression, bytes, section_starts, &mut compressed)?;
        Ok(match self.settings.version {
            DataPageVersion::V1 => compressed.len(),
            DataPageVersion::V2 => compressed.len().min(bytes.len()),
        })
    }

    /// Returns true if the chunk can be stored without the codec. This only concerns version 1, since version 2 pages
    /// decide individually.
    fn may_drop_codec(&self) -> bool {
        self.settings.may_drop_codec
            && self.settings.version == DataPageVersion::V1
            && self.settings.compression != Compression::Uncompressed
    }

    fn estimates(
        &self,
        form: Form,
        decoded: Decoded,
        counts: StoredSize,
        compressed: u64,
    ) -> Vec<Estimate> {
        let settings = self.settings;
        let are_byte_arrays = settings.leaf.physical_type == Type::ByteArray;
        let reading = |compression| costs::reading(decoded, are_byte_arrays, compression, counts);
        let (with_codec, without) = (settings.compression, Compression::Uncompressed);
        let estimate = |compression, stored_bytes, reading| Estimate {
            form,
            compression,
            stored_bytes,
            reading,
        };
        // A version 2 page can be stored without the codec, and then needs no decompression.
        let goes_without = matches!(form, Form::Values(_))
            && settings.version == DataPageVersion::V2
            && !settings.codec_pays(counts.encoded_bytes as usize, compressed as usize);
        let mut estimates = vec![match goes_without {
            true => estimate(with_codec, counts.encoded_bytes, reading(without)),
            false => estimate(with_codec, compressed, reading(with_codec)),
        }];
        if self.may_drop_codec() {
            estimates.push(estimate(without, counts.encoded_bytes, reading(without)));
        }
        estimates
    }
}

/// Returns the PLAIN size of values in bytes. A boolean takes one bit.
fn plain_bytes(values: &Values<'_>) -> usize {
    match values {
        Values::Boolean { len, .. } => len.div_ceil(8),
        Values::Int32(values) => 4 * values.len(),
        Values::Int64(values) => 8 * values.len(),
        Values::Float(values) => 4 * values.len(),
        Values::Double(values) => 8 * values.len(),
        Values::Fixed { bytes, .. } => bytes.len(),
        Values::ByteArray(values) => values.iter().map(|value| 4 + value.len()).sum(),
    }
}
