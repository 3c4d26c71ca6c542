//! A custom predicate bound to one file.
//!
//! ```text
//! tested batch ── the named columns ── the remaining rows ──► test ──► one bit per row
//! ```

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use herringbone_arrow::buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use herringbone_arrow::schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use herringbone_format::{ColumnIndex, Error, FileMetadata, OffsetIndex, Result};
use herringbone_schema::ParquetSchema;

use super::verdicts::Verdicts;
use super::{RowPredicate, RowTest, Verdict, select};
use crate::pruning::ColumnBoundsDecoder;

/// A custom predicate or its negation.
pub struct BoundRows {
    predicate: Arc<dyn RowPredicate>,
    is_negated: bool,
    /// The columns and their test, or `None` for ruling out rows by metadata only.
    test: Option<(NamedColumns, RowTest)>,
    /// The leaves for which the predicate uses page bounds.
    pages: Vec<(usize, ColumnBoundsDecoder)>,
    /// True if the predicate may see the file's metadata. This is usually false if the names are from a wanted schema,
    /// unless the predicate knows the file's own names.
    knows_metadata: bool,
}

impl fmt::Debug for BoundRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("BoundRows");
        tuple
            .field(&self.predicate)
            .field(&self.is_negated)
            .finish()
    }
}

impl BoundRows {
    pub(super) fn new(predicate: Arc<dyn RowPredicate>, is_negated: bool) -> Self {
        Self {
            predicate,
            is_negated,
            test: None,
            pages: Vec::new(),
            knows_metadata: false,
        }
    }

    /// Binds the predicate to the batches of a schema.
    ///
    /// # Errors
    /// Fails with `Argument` if the schema lacks a column named by the predicate, and with the predicate's errors.
    pub(super) fn with_columns(mut self, tested: &Schema) -> Result<Self> {
        let columns = NamedColumns::new(&*self.predicate, tested)?;
        let test = self.predicate.bind(&columns.schema)?;
        self.test = Some((columns, test));
        Ok(self)
    }

    /// Gives the predicate access to a file's metadata.
    ///
    /// # Errors
    /// Fails with `Argument` if the file lacks a leaf whose page bounds the predicate uses.
    pub(super) fn with_metadata(
        mut self,
        metadata: &FileMetadata,
        schema: &ParquetSchema,
    ) -> Result<Self> {
        self.knows_metadata = true;
        for path in self.predicate.page_columns() {
            let mut leaves = 0..schema.leaves().len();
            let leaf = leaves.find(|leaf| schema.path(*leaf).iter().eq(path.iter()));
            let leaf = leaf.ok_or_else(|| no_column(&path))?;
            let decoder = ColumnBoundsDecoder::new(metadata, schema, leaf)?;
            self.pages.push((leaf, decoder));
        }
        Ok(self)
    }

    /// Returns one bit per row, set if the row is selected. The predicate only sees the rows in `among`, so the other
    /// bits are unspecified.
    ///
    /// # Errors
    /// Returns the predicate's errors, and fails with `Argument` if it answers for a different number of rows.
    pub(super) fn evaluate(
        &self,
        batch: &RecordBatch,
        among: Option<&BooleanBuffer>,
    ) -> Result<BooleanBuffer> {
        let num_rows = batch.num_rows();
        let Some((columns, test)) = &self.test else {
            return Ok(BooleanBuffer::new_set(num_rows));
        };
        let among = among.map(|among| (among, among.count_set_bits()));
        let Some((among, seen)) = among.filter(|(_, seen)| *seen < num_rows) else {
            return self.selected(test, &columns.batch(columns.arrays(batch)?, num_rows)?);
        };
        if seen == 0 {
            return Ok(BooleanBuffer::new_unset(num_rows));
        }
        let arrays = columns.arrays(batch)?;
        let arrays = arrays.iter().map(|array| select(array, among, seen));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let found = self.selected(test, &columns.batch(arrays, seen)?)?;
        let mut bits = BooleanBufferBuilder::new(num_rows);
        bits.append_n(num_rows, false);
        for (row, is_found) in among.set_indices().zip(&found) {
            bits.set_bit(row, is_found);
        }
        Ok(bits.finish())
    }

    /// Returns one bit per row for a batch with the named columns.
    fn selected(&self, test: &RowTest, batch: &RecordBatch) -> Result<BooleanBuffer> {
        let found = test(batch)?;
        if found.len() != batch.num_rows() {
            return Err(Error::argument(format!(
                "a predicate returned {} results for {} rows",
                found.len(),
                batch.num_rows()
            )));
        }
        let bits = match self.is_negated {
            true => !found.values(),
            false => found.values().clone(),
        };
        Ok(match found.nulls() {
            Some(nulls) => &bits & nulls.inner(),
            None => bits,
        })
    }

    /// Returns a verdict on a whole row group, based on its metadata.
    ///
    /// # Errors
    /// Returns the predicate's errors.
    pub(super) fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict> {
        if !self.knows_metadata {
            return Ok(Verdict::Some);
        }
        Ok(self.of_predicate(self.predicate.verdict(metadata, row_group)?))
    }

    /// Returns the leaves whose page bounds the predicate uses.
    pub fn page_leaves(&self) -> impl Iterator<Item = usize> {
        self.pages.iter().map(|(leaf, _)| *leaf)
    }

    /// Returns a verdict on each of a leaf's pages, where `rows` has each page's rows.
    ///
    /// # Errors
    /// Returns the predicate's errors, and fails with [`Argument`](herringbone_format::ErrorKind::Argument) if it
    /// answers for a different number of pages.
    pub fn verdicts_of_pages(
        &self,
        leaf: usize,
        (columns, offsets): (&ColumnIndex, &OffsetIndex),
        rows: &[Range<u64>],
    ) -> Result<Verdicts> {
        let num_rows = rows.last().map_or(0, |rows| rows.end);
        let mut known = Verdicts::all(num_rows, Verdict::Some);
        let columns_of_leaf = self.pages.iter().enumerate();
        for (column, (_, decoder)) in columns_of_leaf.filter(|(_, (it, _))| *it == leaf) {
            // Damaged bounds cannot rule out anything, so we skip the column.
            let Ok(bounds) = decoder.pages(columns, offsets, num_rows) else {
                continue;
            };
            let verdicts = self.predicate.verdicts_of_pages(column, &bounds)?;
            if verdicts.len() != rows.len() {
                return Err(Error::argument(format!(
                    "a predicate returned {} results for {} pages",
                    verdicts.len(),
                    rows.len()
                )));
            }
            let ends = rows.iter().map(|rows| rows.end);
            let verdicts = verdicts
                .into_iter()
                .map(|verdict| self.of_predicate(verdict));
            known = known.refined(&Verdicts::from_ends(ends.zip(verdicts)));
        }
        Ok(known)
    }

    /// Converts the predicate's verdict to its negation's verdict, if it's negated. Note that this isn't symmetric. If
    /// the predicate selects none of the rows, they might all be null, and the negation doesn't select nulls either.
    fn of_predicate(&self, verdict: Verdict) -> Verdict {
        match (verdict, self.is_negated) {
            (Verdict::All, true) => Verdict::None,
            (Verdict::None, true) => Verdict::Some,
            (verdict, _) => verdict,
        }
    }
}

/// The columns named by a custom predicate, in batches with one schema.
#[derive(Debug)]
struct NamedColumns {
    schema: SchemaRef,
    /// Each column's place, that is, the index of its root followed by the field indexes that lead to the column.
    places: Vec<Vec<usize>>,
}

impl NamedColumns {
    fn new(predicate: &dyn RowPredicate, tested: &Schema) -> Result<Self> {
        let extensions = predicate.extension_columns().into_iter();
        let extensions = extensions.map(|column| vec![column.name]);
        let paths = predicate.columns().into_iter().chain(extensions);
        let found = paths.map(|path| find(tested, &path).ok_or_else(|| no_column(&path)));
        let found = found.collect::<Result<Vec<_>>>()?;
        let (places, fields): (_, Vec<FieldRef>) = found.into_iter().unzip();
        Ok(Self {
            schema: Arc::new(Schema::new(fields)),
            places,
        })
    }

    /// Returns a batch's named columns.
    fn arrays(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let missing = || Error::argument("a tested column was not read");
        let places = self.places.iter();
        let arrays = places.map(|place| array_at(batch, place).ok_or_else(missing)?);
        arrays.collect()
    }

    fn batch(&self, arrays: Vec<ArrayRef>, num_rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        batch.map_err(invalid)
    }
}

fn no_column(path: &[String]) -> Error {
    Error::argument(format!("there is no column `{}`", path.join(".")))
}

fn invalid(error: ArrowError) -> Error {
    Error::corrupt(error.to_string())
}

/// Finds the field at a path through structs. If the path leads into anything but a struct, this returns the field
/// where it happens.
fn find(tested: &Schema, path: &[String]) -> Option<(Vec<usize>, FieldRef)> {
    let (first, rest) = path.split_first()?;
    let (index, mut field) = tested.fields().find(first)?;
    let (mut place, mut is_nullable) = (vec![index], field.is_nullable());
    for name in rest {
        let DataType::Struct(fields) = field.data_type() else {
            break;
        };
        let Some((index, below)) = fields.find(name) else {
            break;
        };
        place.push(index);
        is_nullable |= below.is_nullable();
        field = below;
    }
    let field = match field.is_nullable() == is_nullable {
        true => field.clone(),
        false => Arc::new(field.as_ref().clone().with_nullable(true)),
    };
    Some((place, field))
}

/// Returns the array at a place. Slots inside null structs are null.
fn array_at(batch: &RecordBatch, place: &[usize]) -> Option<Result<ArrayRef>> {
    let (root, below) = place.split_first()?;
    let mut array = batch.columns().get(*root)?;
    let mut nulls = None;
    for index in below {
        let parent = array.as_struct_opt()?;
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        array = parent.columns().get(*index)?;
    }
    Some(match nulls.filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => with_nulls(array, &nulls),
        None => Ok(array.clone()),
    })
}

fn with_nulls(array: &ArrayRef, nulls: &NullBuffer) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Null => Ok(array.clone()),
        DataType::RunEndEncoded(..) | DataType::Union(..) => Err(Error::unsupported(format!(
            "a custom predicate on {} within a struct that has nulls",
            array.data_type()
        ))),
        _ => {
            let nulls = NullBuffer::union(Some(nulls), array.nulls());
            let data = array.to_data().into_builder().nulls(nulls).build();
            Ok(make_array(data.map_err(invalid)?))
        }
    }
}
