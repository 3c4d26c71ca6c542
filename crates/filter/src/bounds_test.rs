//! Tests a leaf by known bounds on its values in a row group or page. Used to rule out or accept rows without reading
//! them.

use herringbone_arrow::array::{Array as _, ArrayRef, new_null_array};
use herringbone_arrow::schema::DataType;
use herringbone_format::{
    ColumnIndex, ColumnMetaData, ColumnOrder, FileMetadata, Result, Statistics,
};
use herringbone_schema::{ColumnOrderKind, ParquetSchema, SchemaOptions};

use super::Verdict;
use super::evaluate::key_at;
use super::leaf_test::{Asked, Facts, Key, LeafTest};
use super::point_hashes::point_hashes;
use super::position::TextForm;
use super::predicate::Quantifier;
use super::verdicts::Verdicts;
use super::wanted_columns::BoundsCast;
use crate::pruning::BoundsDecoder;
use crate::pruning::index_trust::{IndexTrust, has_nulls_of_chunk, has_true_bounds};

/// A test for bounds instead of values.
#[derive(Debug)]
pub struct BoundsTest {
    decoder: BoundsDecoder,
    /// The conversion from the file's bounds to the wanted type.
    cast: BoundsCast,
    test: LeafTest,
    /// True if the older `min` and `max` follow the column's order.
    is_signed: bool,
    /// True if `min_value` and `max_value` follow the column's order.
    is_ordered: bool,
    is_float: bool,
    /// True if the column lies below a list. A row can then have any number of values, and a single accepted value is
    /// enough.
    is_below_list: bool,
    trust: IndexTrust,
    /// The bloom filter hashes of all accepted values, if there are few.
    hashes: Option<Vec<u64>>,
}

impl BoundsTest {
    /// Creates the test for a leaf's bounds. The wanted type may differ from the leaf's type. Returns `None` if bounds
    /// cannot decide the test.
    pub(super) fn new(
        metadata: &FileMetadata,
        schema: &ParquetSchema,
        (leaf, wanted): (usize, Option<&DataType>),
        asked: Asked<'_>,
    ) -> Option<Self> {
        let decoder = BoundsDecoder::new(schema, leaf, &SchemaOptions::default()).ok()?;
        let data_type = decoder.field().data_type();
        let cast = match wanted {
            None => BoundsCast::Keep,
            Some(wanted) => BoundsCast::new(data_type, wanted)?,
        };
        let form = TextForm::of_leaf(schema, leaf);
        let test = LeafTest::new(asked, cast.data_type(data_type), form).ok()?;
        // These tests depend on empty or null lists, which bounds don't cover.
        let is_unknown = |quantifier| quantifier == Quantifier::All || !test.is_of_values();
        if asked.quantifier.is_some_and(is_unknown) {
            return None;
        }
        let natural = schema.order(leaf);
        let leaf_schema = schema.leaves().get(leaf)?;
        let ignored = leaf_schema.annotation_ignored;
        let order = metadata
            .column_orders()
            .and_then(|column_orders| column_orders.get(leaf));
        let is_ordered = match order {
            Some(ColumnOrder::TypeDefined) => {
                !matches!(natural, ColumnOrderKind::Int96 | ColumnOrderKind::Undefined)
            }
            Some(ColumnOrder::Ieee754Total) => natural.is_float(),
            _ => false,
        };
        Some(Self {
            hashes: match cast.keeps_keys(data_type) {
                true => point_hashes(&test, leaf_schema, data_type),
                false => None,
            },
            cast,
            decoder,
            test,
            is_signed: natural == ColumnOrderKind::Signed && !ignored,
            is_ordered: is_ordered && !ignored && has_true_bounds(metadata, natural),
            is_float: natural.is_float(),
            is_below_list: asked.quantifier.is_some(),
            trust: IndexTrust::new(metadata, leaf_schema),
        })
    }

    /// Returns the bloom filter hashes of all accepted values, if there are few.
    pub fn hashes(&self) -> Option<&[u64]> {
        self.hashes.as_deref()
    }

    /// Returns a verdict on each column chunk, based on its statistics. Their bounds are decoded together.
    ///
    /// # Errors
    /// Fails with `Unsupported` if the column has no Arrow array.
    pub(crate) fn verdicts_of_chunks(&self, chunks: &[ColumnMetaData]) -> Result<Vec<Verdict>> {
        // If the wanted type cannot represent a chunk's bound, this must not affect other chunks.
        let together = match self.cast {
            BoundsCast::Keep => chunks.len(),
            BoundsCast::Cast(_) => 1,
        };
        let mut verdicts = Vec::with_capacity(chunks.len());
        for chunks in chunks.chunks(together.max(1)) {
            let bounds = chunks.iter().flat_map(|chunk| self.bounds_of(chunk));
            let mut keys = self.keys(&bounds.collect::<Vec<_>>())?.into_iter();
            for chunk in chunks {
                let count = |count: fn(&Statistics) -> Option<i64>| {
                    let count = chunk.statistics.as_ref().and_then(count);
                    count.and_then(|count| u64::try_from(count).ok())
                };
                let counts = Counts {
                    nulls: count(|statistics| statistics.null_count),
                    nans: count(|statistics| statistics.nan_count),
                    rows: u64::try_from(chunk.num_values).unwrap_or_default(),
                };
                let (min, max) = (keys.next().flatten(), keys.next().flatten());
                verdicts.push(self.verdict_of(counts, min, max));
            }
        }
        Ok(verdicts)
    }

    /// Returns the lower and the upper bound in a chunk's statistics, as far as they follow the column's order.
    fn bounds_of<'a>(&self, chunk: &'a ColumnMetaData) -> [Option<&'a [u8]>; 2] {
        let Some(statistics) = &chunk.statistics else {
            return [None; 2];
        };
        let has_new = statistics.min_value.is_some() || statistics.max_value.is_some();
        match (self.is_ordered && has_new, self.is_signed) {
            (true, _) => [
                statistics.min_value.as_deref(),
                statistics.max_value.as_deref(),
            ],
            (false, true) => [statistics.min.as_deref(), statistics.max.as_deref()],
            (false, false) => [None; 2],
        }
    }

    /// Returns verdicts on a chunk's pages, based on its column index. `pages` has each page's rows, and `chunk` the
    /// chunk's statistics. Without a known order, we only use null counts.
    ///
    /// # Errors
    /// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if the column has no Arrow array.
    pub fn verdicts_of_pages(
        &self,
        index: &ColumnIndex,
        chunk: &Statistics,
        pages: &[std::ops::Range<u64>],
    ) -> Result<Verdicts> {
        let with_bounds = 0..if self.is_ordered { pages.len() } else { 0 };
        let mins = with_bounds.clone().map(|page| self.trust.min(index, page));
        let mins = self.keys(&mins.collect::<Vec<_>>())?;
        let maxs = with_bounds.map(|page| self.trust.max(index, page));
        let maxs = self.keys(&maxs.collect::<Vec<_>>())?;
        let is_sound =
            has_nulls_of_chunk(index, chunk) && self.reaches(index, chunk, &mins, &maxs)?;
        let verdicts = pages.iter().enumerate().map(|(page, rows)| {
            let key = |keys: &[Option<Key>]| keys.get(page).cloned().flatten();
            let verdict = match is_sound {
                true => {
                    let counts = self.counts(index, page, rows.end - rows.start);
                    self.verdict_of(counts, key(&mins), key(&maxs))
                }
                false => Verdict::Some,
            };
            (rows.end, verdict)
        });
        Ok(Verdicts::from_ends(verdicts))
    }

    /// Returns the counts in a column index for a page with `rows` rows.
    fn counts(&self, index: &ColumnIndex, page: usize, rows: u64) -> Counts {
        let count = |counts: &Option<Vec<i64>>| {
            let count = counts.as_ref().and_then(|counts| counts.get(page).copied());
            count.and_then(|count| u64::try_from(count).ok())
        };
        let is_said_to_be_null = index.null_pages.get(page) == Some(&true);
        let nulls = count(&index.null_counts);
        Counts {
            nulls: match (is_said_to_be_null, nulls) {
                (true, _) if !self.trust.is_null_page(index, page) => None,
                // Either the flag or the count is wrong. Note that below lists, a page can have more nulls than rows.
                (true, Some(nulls)) if nulls < rows || (nulls > rows && !self.is_below_list) => {
                    None
                }
                (true, _) => Some(rows),
                (false, nulls) => nulls.filter(|nulls| *nulls < rows),
            },
            nans: count(&index.nan_counts),
            rows,
        }
    }

    /// Returns true if the pages' bounds reach their chunk's bounds. They must, because a chunk consists of its pages'
    /// values. A page with unknown bounds counts as reaching them.
    fn reaches(
        &self,
        index: &ColumnIndex,
        chunk: &Statistics,
        mins: &[Option<Key>],
        maxs: &[Option<Key>],
    ) -> Result<bool> {
        if !self.is_ordered {
            return Ok(true);
        }
        let chunk_keys = self.keys(&[chunk.min_value.as_deref(), chunk.max_value.as_deref()])?;
        let [min, max] = chunk_keys.as_slice() else {
            return Ok(true);
        };
        let any = |keys: &[Option<Key>], reaches: &dyn Fn(&Key) -> bool| {
            let mut pages = keys.iter().zip(&index.null_pages);
            pages.any(|(key, is_null)| match key {
                Some(key) => reaches(key),
                None => !is_null,
            })
        };
        let reaches_min = |min: &Key| any(mins, &|key| !key.is_above(min));
        let reaches_max = |max: &Key| any(maxs, &|key| !max.is_above(key));
        Ok(min.as_ref().is_none_or(reaches_min) && max.as_ref().is_none_or(reaches_max))
    }

    /// Converts bounds to keys, or `None` for missing or unusable bounds.
    fn keys(&self, bounds: &[Option<&[u8]>]) -> Result<Vec<Option<Key>>> {
        let values = self.bounds(bounds)?;
        let keys = (0..bounds.len()).map(|slot| {
            let key = key_at(&values, slot);
            key.filter(|key| !self.is_float || !key.is_nan())
        });
        Ok(keys.collect())
    }

    /// Converts bounds to the tested type. If this type cannot represent a bound, it might not represent some values
    /// either, so all results are null.
    fn bounds(&self, bounds: &[Option<&[u8]>]) -> Result<ArrayRef> {
        let decoded = self.decoder.decode(bounds)?;
        let data_type = self.cast.data_type(decoded.data_type());
        let none = || new_null_array(data_type, bounds.len());
        Ok(self.cast.apply(&decoded).unwrap_or_else(none))
    }

    fn verdict_of(&self, counts: Counts, min: Option<Key>, max: Option<Key>) -> Verdict {
        let mut facts = Facts {
            nulls: counts.nulls.filter(|nulls| *nulls <= counts.rows),
            rows: counts.rows,
            min,
            max,
            may_have_nan: self.is_float && counts.nans != Some(0),
        };
        // We ignore bounds in the wrong order.
        if let (Some(min), Some(max)) = (&facts.min, &facts.max)
            && min.is_above(max)
        {
            (facts.min, facts.max) = (None, None);
        }
        match self.test.verdict(&facts) {
            Verdict::All if self.is_below_list => Verdict::Some,
            verdict => verdict,
        }
    }
}

/// The counts for some rows, or `None` if unknown.
struct Counts {
    nulls: Option<u64>,
    nans: Option<u64>,
    rows: u64,
}
