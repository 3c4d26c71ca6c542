//! A test of a leaf, asked about rows of which bounds are known: those of a row group, or of a page.

use herringbone_arrow::array::{Array as _, ArrayRef, new_null_array};
use herringbone_arrow::schema::DataType;
use herringbone_format::{ColumnIndex, ColumnOrder, FileMetadata, Result, Statistics};
use herringbone_schema::{ColumnOrderKind, ParquetSchema, SchemaOptions};

use super::Verdict;
use super::evaluate::key_at;
use super::leaf_test::{Asked, Facts, LeafTest};
use super::point_hashes::point_hashes;
use super::position::TextForm;
use super::predicate::Each;
use super::verdict_runs::VerdictRuns;
use super::wanted_columns::BoundsCast;
use crate::pruning::BoundsDecoder;

/// A test of bounds.
#[derive(Debug)]
pub(crate) struct BoundsTest {
    decoder: BoundsDecoder,
    /// What makes bounds of the wanted type of them.
    cast: BoundsCast,
    test: LeafTest,
    /// Whether the older `min` and `max` follow the order of the column.
    is_signed: bool,
    /// Whether `min_value` and `max_value` do.
    is_ordered: bool,
    is_float: bool,
    /// Whether a row may have several values, of which one is enough, or none.
    is_below_list: bool,
    /// The only values that it accepts, as bloom filters hash them, if there are few.
    hashes: Option<Vec<u64>>,
}

impl BoundsTest {
    /// How bounds of a leaf, which may have another wanted type, are tested; none where nothing is to be learned from them.
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
        // Of lists that are empty or null, bounds know nothing.
        let is_unknown = |each| each == Each::All || !test.is_of_values();
        if asked.each.is_some_and(is_unknown) {
            return None;
        }
        let natural = schema.order(leaf);
        let leaf_schema = schema.leaves().get(leaf)?;
        let ignored = leaf_schema.annotation_ignored;
        let order = metadata.column_orders().and_then(|it| it.get(leaf));
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
            is_ordered: is_ordered && !ignored,
            is_float: natural.is_float(),
            is_below_list: asked.each.is_some(),
        })
    }

    /// The only values that it accepts, as bloom filters hash them, if there are few.
    pub(crate) fn hashes(&self) -> Option<&[u64]> {
        self.hashes.as_deref()
    }

    /// What the statistics of a column chunk tell of its `rows` rows.
    ///
    /// # Errors
    /// Unsupported where the column has no Arrow array.
    pub(crate) fn verdict(&self, statistics: &Statistics, rows: u64) -> Result<Verdict> {
        let nulls = statistics.null_count;
        let nulls = nulls.and_then(|nulls| u64::try_from(nulls).ok());
        let (min, max) = match (self.is_ordered, self.is_signed) {
            (true, _) if statistics.min_value.is_some() || statistics.max_value.is_some() => {
                (&statistics.min_value, &statistics.max_value)
            }
            (_, true) => (&statistics.min, &statistics.max),
            _ => (&None, &None),
        };
        let bounds = self.bounds(&[min.as_deref(), max.as_deref()])?;
        let counts = Counts {
            nulls,
            nans: statistics.nan_count,
            rows,
        };
        Ok(self.verdict_of(counts, (&bounds, 0), (&bounds, 1)))
    }

    /// What a column index tells of pages, each of which has these rows of the row group. Without an order that is known, it
    /// tells of nulls alone.
    ///
    /// # Errors
    /// Unsupported where the column has no Arrow array.
    pub(crate) fn verdicts_of_pages(
        &self,
        index: &ColumnIndex,
        pages: &[std::ops::Range<u64>],
    ) -> Result<VerdictRuns> {
        let bounds = |bounds: &herringbone_format::ByteArrays| {
            let bounds = (0..pages.len()).map(|page| {
                let is_null = index.null_pages.get(page).copied().unwrap_or(true);
                bounds.get(page).filter(|_| self.is_ordered && !is_null)
            });
            self.bounds(&bounds.collect::<Vec<_>>())
        };
        let (min, max) = (bounds(&index.min_values)?, bounds(&index.max_values)?);
        let count = |counts: &Option<Vec<i64>>, page: usize| {
            counts.as_ref().and_then(|counts| counts.get(page).copied())
        };
        let verdicts = pages.iter().enumerate().map(|(page, rows)| {
            let num_rows = rows.end - rows.start;
            let is_null = index.null_pages.get(page).copied().unwrap_or(false);
            let nulls = count(&index.null_counts, page).and_then(|nulls| u64::try_from(nulls).ok());
            let counts = Counts {
                nulls: match (is_null, nulls) {
                    // One of the two is wrong.
                    (true, Some(nulls)) if nulls != num_rows => None,
                    (true, _) => Some(num_rows),
                    (false, nulls) => nulls.filter(|nulls| *nulls < num_rows),
                },
                nans: count(&index.nan_counts, page),
                rows: num_rows,
            };
            (
                rows.end,
                self.verdict_of(counts, (&min, page), (&max, page)),
            )
        });
        Ok(VerdictRuns::from_ends(verdicts))
    }

    /// Bounds of the type that is tested; null where they have no place in it, so that values may not either.
    fn bounds(&self, bounds: &[Option<&[u8]>]) -> Result<ArrayRef> {
        let decoded = self.decoder.decode(bounds)?;
        let data_type = self.cast.data_type(decoded.data_type());
        let none = || new_null_array(data_type, bounds.len());
        Ok(self.cast.apply(&decoded).unwrap_or_else(none))
    }

    fn verdict_of(
        &self,
        counts: Counts,
        (mins, min): (&ArrayRef, usize),
        (maxs, max): (&ArrayRef, usize),
    ) -> Verdict {
        let (min, max) = (key_at(mins, min), key_at(maxs, max));
        let mut facts = Facts {
            nulls: counts.nulls.filter(|nulls| *nulls <= counts.rows),
            rows: counts.rows,
            min: min.filter(|min| !self.is_float || !min.is_nan()),
            max: max.filter(|max| !self.is_float || !max.is_nan()),
            may_have_nan: self.is_float && counts.nans != Some(0),
        };
        // Bounds the wrong way round say nothing.
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

/// Counts of some rows, as far as they are known.
struct Counts {
    nulls: Option<u64>,
    nans: Option<i64>,
    rows: u64,
}
