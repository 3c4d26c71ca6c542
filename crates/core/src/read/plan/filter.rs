//! How a read with a filter goes: what is tested, and where the columns that are given out come from.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{Error, Result, Type};
use herringbone_schema::{DictionaryOutput, ParquetSchema, Projection};

use super::{ReadOptions, ReadPlan};
use crate::filter::verdict_runs::VerdictRuns;
use crate::filter::{
    BoundPredicate, BoundTest, Predicate, TestedColumns, extension_columns, has_row_predicate,
    implied_first, tested_leaves, tested_paths,
};
use crate::loss::OnError;
use crate::read::WantedSchema;

/// How a read with a filter goes.
#[derive(Debug)]
pub(crate) struct FilterPlan {
    predicate: BoundPredicate,
    /// With a filter of its own where some rows can be left out by other columns.
    tested: Arc<ReadPlan>,
    /// What is given out and not taken from the tested columns.
    others: Arc<ReadPlan>,
    /// By column that is given out: where it comes from.
    sources: Vec<ColumnSource>,
}

/// The columns of one of the two reads.
enum ReadColumns {
    Projection(Projection),
    Wanted(WantedSchema),
}

/// Where a column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) enum ColumnSource {
    /// It is this one of the tested columns.
    Tested(usize),
    /// It is the next one of the others.
    Other,
}

impl FilterPlan {
    /// The plan for what `options` ask for, which is what `all` reads without a filter.
    ///
    /// # Errors
    /// Argument where the predicate does not fit the file; those of [`ReadPlan::new`].
    pub(in crate::read) fn new(
        predicate: &Predicate,
        all: &ReadPlan,
        schema: &ParquetSchema,
        file_length: u64,
    ) -> Result<Self> {
        let metadata = &all.metadata;
        let file = || (metadata.clone(), all.page_indexes().clone());
        let plan = |columns, role, change: &dyn Fn(&mut ReadOptions)| {
            let mut options = all.options.clone();
            match columns {
                ReadColumns::Projection(projection) => options.projection = projection,
                ReadColumns::Wanted(wanted) => {
                    options.projection = Projection::All;
                    options.wanted_schema = Some(wanted);
                }
            }
            options.filter = None;
            (options.offset, options.limit) = (0, None);
            change(&mut options);
            let columns = (&options, role);
            let plan = ReadPlan::of_columns(file(), schema, file_length, columns)?;
            Ok::<_, Error>(Arc::new(plan))
        };
        let wanted = all.options.wanted_schema.as_ref();
        let (columns, dictionaries) = match wanted {
            None => {
                let leaves = tested_leaves(predicate, schema)?;
                let dictionaries = dictionaries(predicate, &leaves, all, schema);
                (
                    ReadColumns::Projection(Projection::Leaves(leaves)),
                    dictionaries,
                )
            }
            // It has dictionaries where it has them.
            Some(wanted) => {
                let columns = wanted.columns_of(&tested_paths(predicate))?;
                (ReadColumns::Wanted(wanted.only(&columns)?), Vec::new())
            }
        };
        let (tested_role, others_role) = all.role.with_filter();
        let first = tested_first(predicate, all, schema)?;
        let tested = plan(columns, tested_role, &|options| {
            options.filter.clone_from(&first);
            options.virtual_columns.clear();
            if !dictionaries.is_empty() {
                options.schema.dictionary = DictionaryOutput::Columns(dictionaries.clone());
            }
            options.extension_columns = extension_columns(predicate);
            // A null that stands for damage is none of the file's: such rows are lost, and match nothing.
            if options.on_error == OnError::NullPage {
                options.on_error = OnError::SkipRowGroup;
            }
        })?;
        let columns = TestedColumns {
            schema: tested.schema(),
            resolved: tested.resolved(),
        };
        let predicate = BoundPredicate::new(predicate, metadata, schema, columns)?;
        let (mut sources, kept) = sources(all.schema(), tested.schema());
        if let Some(wanted) = wanted {
            let others = others_of(wanted, all, &sources)?;
            return Ok(Self {
                predicate,
                tested,
                others: plan(others, others_role, &|_| {})?,
                sources,
            });
        }
        // Leaves of the roots that are not kept.
        let root_of = |leaf: &usize| schema.path(*leaf).first().map(|root| (*root).to_owned());
        let is_other = |leaf: &usize| root_of(leaf).is_none_or(|root| !kept.contains(&root));
        let leaves = all.leaves().filter(is_other).collect();
        let leaves = ReadColumns::Projection(Projection::Leaves(leaves));
        let mut others = plan(leaves, others_role, &|_| {})?;
        let expected = all.schema().fields().iter().zip(&sources);
        let expected = expected.filter(|(_, source)| **source == ColumnSource::Other);
        let expected = expected.map(|(field, _)| field);
        if !expected.eq(others.schema().fields()) {
            // Groups without leaves are no part of a projection of leaves.
            let columns = ReadColumns::Projection(all.options.projection.clone());
            others = plan(columns, others_role, &|_| {})?;
            sources = vec![ColumnSource::Other; others.schema().fields().len()];
        }
        Ok(Self {
            predicate,
            tested,
            others,
            sources,
        })
    }

    /// The tests of the predicate.
    pub(in crate::read) fn tests(&self) -> &[BoundTest] {
        self.predicate.tests()
    }

    /// What is known of the rows of a row group, by what is known of each test.
    pub(in crate::read) fn verdicts(&self, of_tests: &[VerdictRuns], num_rows: u64) -> VerdictRuns {
        self.predicate.verdicts(of_tests, num_rows)
    }

    /// The plan of the columns that are tested.
    pub(in crate::read) fn tested(&self) -> &Arc<ReadPlan> {
        &self.tested
    }

    /// The plan of those that are given out and not taken from the tested ones.
    pub(in crate::read) fn others(&self) -> &Arc<ReadPlan> {
        &self.others
    }

    /// By column that is given out: where it comes from.
    pub(in crate::read) fn sources(&self) -> &[ColumnSource] {
        &self.sources
    }

    /// Returns the ordinals of the tested leaves, and of the other leaves that are emitted.
    pub(in crate::read) fn leaves(&self) -> impl Iterator<Item = usize> {
        self.tested().leaves().chain(self.others().leaves())
    }

    /// One bit a row of the tested columns: whether it is wanted.
    pub(in crate::read) fn evaluate(&self, tested: &RecordBatch) -> Result<BooleanBuffer> {
        self.predicate.evaluate(tested)
    }

    /// Whether columns are given out as they were tested.
    pub(in crate::read) fn gives_out_tested(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| *source != ColumnSource::Other)
    }
}

/// The columns of a wanted schema that are given out and do not come from the tested ones.
fn others_of(
    wanted: &WantedSchema,
    all: &ReadPlan,
    sources: &[ColumnSource],
) -> Result<ReadColumns> {
    let wanted = wanted.projected(&all.options.projection)?;
    let all = (0..wanted.schema().fields().len()).zip(sources);
    let others = all.filter(|(_, source)| **source == ColumnSource::Other);
    let others: Vec<usize> = others.map(|(column, _)| column).collect();
    Ok(ReadColumns::Wanted(wanted.only(&others)?))
}

/// What rows are tested by before the tested columns are decoded, if by anything. Under a wanted schema that would be columns of
/// the file that it does not have; without their keys they cannot be read.
fn tested_first(
    predicate: &Predicate,
    all: &ReadPlan,
    schema: &ParquetSchema,
) -> Result<Option<Predicate>> {
    if all.options.wanted_schema.is_some() {
        return Ok(None);
    }
    let Some(first) = implied_first(predicate, schema)? else {
        return Ok(None);
    };
    let leaves = tested_leaves(&first, schema)?;
    let is_readable = |leaf: &usize| {
        let first = all
            .row_groups()
            .first()
            .filter(|_| all.metadata.decryption().is_some());
        first.is_none_or(|row_group| {
            let chunk = all.metadata.readable_chunk(row_group.ordinal(), *leaf);
            matches!(chunk, Ok(KeyStep::Ready(_)))
        })
    };
    Ok(Some(first).filter(|_| leaves.iter().all(is_readable)))
}

/// The tested columns whose values are tested once a dictionary, not once a row: none where one of the columns is given out, or
/// somebody else looks at them.
fn dictionaries(
    predicate: &Predicate,
    leaves: &[usize],
    all: &ReadPlan,
    schema: &ParquetSchema,
) -> Vec<Vec<String>> {
    let path =
        |leaf: usize| -> Vec<String> { schema.path(leaf).into_iter().map(str::to_owned).collect() };
    let is_given_out = |leaf: &usize| {
        let root = path(*leaf).into_iter().next();
        root.is_some_and(|root| all.schema().field_with_name(&root).is_ok())
    };
    if has_row_predicate(predicate) || leaves.iter().any(is_given_out) {
        return Vec::new();
    }
    let first = all.row_groups().first().map_or(0, |it| it.ordinal());
    let has_dictionary = |leaf: usize| {
        let chunk = all.metadata().column_chunk(first, leaf).ok()?.meta_data?;
        chunk.dictionary_page_offset.filter(|offset| *offset > 0)
    };
    let is_bytes = |leaf: usize| {
        let leaf = schema.leaves().get(leaf);
        leaf.is_some_and(|leaf| leaf.physical_type == Type::ByteArray)
    };
    let leaves = leaves.iter().copied();
    let leaves = leaves.filter(|leaf| is_bytes(*leaf) && has_dictionary(*leaf).is_some());
    leaves.map(path).collect()
}

/// Where the columns of `all` come from, and the names of those that are tested columns as they stand there.
fn sources(all: &SchemaRef, tested: &SchemaRef) -> (Vec<ColumnSource>, Vec<String>) {
    let mut kept = Vec::new();
    let is_alone = |schema: &SchemaRef, name: &str| {
        schema
            .fields()
            .iter()
            .filter(|field| field.name() == name)
            .count()
            == 1
    };
    let sources = all.fields().iter().map(|field| {
        let same = tested.fields().iter().position(|tested| tested == field);
        let name = field.name();
        match same.filter(|_| is_alone(all, name) && is_alone(tested, name)) {
            Some(index) => {
                kept.push(name.clone());
                ColumnSource::Tested(index)
            }
            None => ColumnSource::Other,
        }
    });
    (sources.collect(), kept)
}
