//! Chooses how a column chunk is stored, from a sample of its values.
//!
//! The sample is encoded in every form allowed by the profile, and compressed. We extrapolate its size to all values
//! seen, and weigh it against the read time taken from a table. We start with part of the sample, dropping any form
//! that is far from the best. The sampled rows are fixed within the row group, so neither threads nor batches affect
//! the choice.

mod carried;
mod estimate;
mod levels;
mod packing;

pub(super) use carried::{CarriedChoice, ChoiceSource};
pub(super) use levels::{LevelForm, choose_levels, usual_runs};
pub(super) use packing::{IndexForm, Packing};

use herringbone_format::{Encoding, Result};

use super::explanation::EncodingEstimate;
use super::options::DataPageVersion;
use super::page_values::TrialPage;
use super::settings::ColumnSettings;
use estimate::{Estimate, Sampler};
use herringbone_core::compression::Compression;
use herringbone_core::encoding::dictionary::Dictionary;
use herringbone_core::encoding::physical_values::Values;

/// The minimum PLAIN size in bytes for taking a sample. Below it, a codec adds more to a page than it could save.
const MIN_BYTES: usize = 512;

/// The ratio of PLAIN bytes to dictionary and index bytes at which the dictionary wins outright, so that we try no
/// other encoding.
const OBVIOUS_RATIO: usize = 4;

/// The chosen form for storing a column chunk.
#[derive(Debug)]
pub(super) struct Choice {
    /// The index form, or `None` if the chunk has no dictionary.
    pub(super) indices: Option<IndexForm>,
    /// The sort order of the dictionary's entries, if they are sorted.
    pub(super) order: Option<Vec<u32>>,
    /// The encoding of values outside the dictionary.
    pub(super) encoding: Encoding,
    pub(super) compression: Compression,
    /// The bytes per value that a dictionary would have taken, before the codec. Set if a dictionary would have saved
    /// bytes but wasn't chosen.
    pub(super) rejected: Option<f64>,
    /// The estimates behind the choice.
    pub(super) estimates: Vec<EncodingEstimate>,
    pub(super) source: ChoiceSource,
}

/// The values buffered for a choice. All of them are in a dictionary.
pub(super) struct Indexed<'a> {
    pub(super) dictionary: &'a Dictionary,
    /// The values' indices, page by page.
    pub(super) pages: Vec<&'a [u32]>,
    /// The index size in bytes, packed as tightly as each page allows.
    pub(super) index_bytes: usize,
    /// The values' PLAIN size in bytes.
    pub(super) plain_bytes: usize,
    /// True if the values must be stored as indices, whatever the cost.
    pub(super) is_requested: bool,
    /// The choice for the previous row group, if it applies to these values.
    pub(super) carried: Option<CarriedChoice>,
}

/// Chooses for values outside a dictionary. `values` are the first values, with a PLAIN size of `plain_bytes` bytes.
///
/// # Errors
/// Fails with `Feature` if the codec is not compiled in, and with `Io` if its library fails.
pub(super) fn choose_encoding(
    settings: &ColumnSettings,
    values: &Values<'_>,
    plain_bytes: usize,
) -> Result<Choice> {
    let default = settings.usual_encoding();
    if plain_bytes < MIN_BYTES {
        return Ok(Choice::unsampled(settings, None, default));
    }
    let sampler = Sampler::new(settings, values.num_values(), plain_bytes);
    let sample = values.front(sampler.len());
    let estimates = sampler.values(&sample, None)?;
    Ok(Choice::cheapest(settings, &estimates, default))
}

/// Returns true if values outside a dictionary have only one form, so that there is nothing to choose.
fn values_have_one_form(settings: &ColumnSettings) -> bool {
    let may_drop_codec = settings.may_drop_codec && settings.version == DataPageVersion::V1;
    settings.encodings.len() == 1 && !may_drop_codec
}

/// Chooses for values kept out of the dictionary, based on one page.
///
/// # Errors
/// Fails for the reasons that [`choose_encoding`] lists.
pub(super) fn choose_for_trial_page(
    settings: &ColumnSettings,
    page: &mut TrialPage,
) -> Result<Choice> {
    if values_have_one_form(settings) {
        let only = settings.usual_encoding();
        return Ok(Choice::unsampled(settings, None, only));
    }
    page.with_values(&settings.leaf, |encoder, values, plain_bytes| {
        let choice = choose_encoding(settings, values, plain_bytes)?;
        encoder.append(values)?;
        Ok(choice)
    })
}

/// Chooses for values in a dictionary.
///
/// # Errors
/// Fails for the reasons that [`choose_encoding`] lists.
pub(super) fn choose(settings: &ColumnSettings, indexed: &Indexed<'_>) -> Result<Choice> {
    let default = settings.usual_encoding();
    let dictionary = indexed.dictionary;
    let indexed_bytes = dictionary.plain_bytes() + indexed.index_bytes;
    let saves = indexed.is_requested || indexed_bytes < indexed.plain_bytes;
    if indexed.plain_bytes < MIN_BYTES {
        let form = saves.then(IndexForm::default);
        return Ok(Choice::unsampled(settings, form, default));
    }
    let is_obvious = saves && indexed_bytes * OBVIOUS_RATIO <= indexed.plain_bytes;
    // We use a requested dictionary if its indices take fewer bytes.
    let is_settled = indexed.is_requested || settings.dictionary_is_requested && saves;
    let tries_values = !is_settled && !is_obvious;
    let has_codec = settings.compression != Compression::Uncompressed;
    if !saves && values_have_one_form(settings) || saves && !tries_values && !has_codec {
        // Only one form is possible, so we don't need a sample.
        let form = saves.then(IndexForm::default);
        return Ok(Choice::unsampled(settings, form, default));
    }
    let num_values: usize = indexed.pages.iter().map(|page| page.len()).sum();
    let sampler = Sampler::new(settings, num_values, indexed.plain_bytes);
    if let Some(carried) = indexed.carried
        && let Some(form) = carried.indices
        && saves
    {
        let order = match form.is_sorted {
            true => sampler.sorted(dictionary),
            false => None,
        };
        return Ok(carried.reuse().with_order(order));
    }
    let sample = sampler.indices(&indexed.pages);
    let (mut estimates, order) = match saves {
        true => sampler.dictionary(dictionary, &sample, indexed)?,
        false => (Vec::new(), None),
    };
    if tries_values {
        let least = estimates
            .iter()
            .map(|estimate| estimate.cost(settings.prefer))
            .min();
        let more = dictionary.with_values(sample.iter().copied(), |values| {
            sampler.values(values, least)
        });
        estimates.extend(more?);
    }
    let mut choice = Choice::cheapest(settings, &estimates, default).with_order(order);
    if saves && choice.indices.is_none() {
        choice.rejected = Some(indexed_bytes as f64 / num_values.max(1) as f64);
    }
    Ok(choice)
}

impl Choice {
    /// Returns true if there were enough values to take a sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.source != ChoiceSource::Default
    }

    /// Sets the entries' sort order, if they are to be sorted and have an order.
    fn with_order(mut self, order: Option<Vec<u32>>) -> Self {
        if let Some(form) = &mut self.indices {
            form.is_sorted &= order.is_some();
            self.order = order.filter(|_| form.is_sorted);
        }
        self
    }

    fn unsampled(
        settings: &ColumnSettings,
        indices: Option<IndexForm>,
        encoding: Encoding,
    ) -> Self {
        Self {
            indices,
            order: None,
            encoding,
            compression: settings.compression,
            rejected: None,
            estimates: Vec::new(),
            source: ChoiceSource::Default,
        }
    }

    /// Chooses the cheapest form. On a tie, the first form wins.
    fn cheapest(settings: &ColumnSettings, estimates: &[Estimate], default: Encoding) -> Self {
        let least = |fits: &dyn Fn(&Estimate) -> bool| {
            let all = estimates.iter().filter(|estimate| fits(estimate));
            all.min_by_key(|estimate| estimate.cost(settings.prefer))
        };
        let chosen = least(&|_| true);
        // This is the fallback encoding for values after the dictionary has overflowed.
        let outside = least(&|estimate| estimate.encoding().is_some());
        Self {
            indices: chosen.and_then(Estimate::indices),
            order: None,
            encoding: outside.and_then(Estimate::encoding).unwrap_or(default),
            compression: chosen.map_or(settings.compression, |chosen| chosen.compression),
            rejected: None,
            estimates: estimates.iter().map(Estimate::explain).collect(),
            source: match chosen {
                Some(_) => ChoiceSource::Sample,
                None => ChoiceSource::Default,
            },
        }
    }
}
