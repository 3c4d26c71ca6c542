//! How a read with a filter goes: what is tested, and where the columns that are given out come from.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{Result, Type};
use herringbone_schema::{DictionaryOutput, ParquetSchema, Projection};

use super::{ReadOptions, ReadPlan};
use crate::WantedSchema;
use herringbone_core::budget::ColumnRole;
use herringbone_core::loss::OnError;
use herringbone_filter::verdicts::Verdicts;
use herringbone_filter::{
    BoundPredicate, BoundTest, Predicate, Stages, TestedColumns, extension_columns,
    has_row_predicate, implied_first, operands, tested_leaves, tested_paths,
};

/// How a read with a filter goes.
#[derive(Debug)]
pub(crate) struct FilterPlan {
    predicate: BoundPredicate,
    /// Its own filter has the stages before this one, if there are any.
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
pub(crate) enum ColumnSource {
    /// It is this one of the tested columns.
    Tested(usize),
    /// It is the next one of the others.
    Other,
}

impl FilterPlan {
    /// Plans a filter of the rows that `all` reads without one.
    ///
    /// # Errors
    /// Argument if the predicate does not fit the file; those of [`ReadPlan::new`].
    pub(super) fn new(
        predicate: &Predicate,
        all: &ReadPlan,
        schema: &ParquetSchema,
        file_length: u64,
    ) -> Result<Arc<Self>> {
        let file = PlannedFile {
            schema,
            file_length,
            wanted: all.options.wanted_schema.as_ref(),
        };
        let stages = match has_row_predicate(predicate) {
            true => {
                let operands = operands(predicate);
                let implied = tested_first(&operands, all, schema)?;
                Stages::new(operands, implied)
            }
            false => Stages::new(vec![predicate.clone()], None),
        };
        let passed = stages.passed.as_ref();
        Self::of_stages((&stages.earlier, &stages.last, passed), all, file)
    }

    /// Plans the last stage of a filter, and those before it. Operands that are `passed` only rule rows out by metadata.
    fn of_stages(
        (earlier, last, passed): (&[Predicate], &Predicate, Option<&Predicate>),
        all: &ReadPlan,
        file: PlannedFile<'_>,
    ) -> Result<Arc<Self>> {
        let schema = file.schema;
        let (tested_role, others_role) = all.role.with_filter();
        let (columns, dictionaries) = tested_columns((earlier, last), all, file)?;
        let mut tested = file.plan(all, columns, tested_role, |options| {
            options.virtual_columns.clear();
            if !dictionaries.is_empty() {
                options.schema.dictionary = DictionaryOutput::Columns(dictionaries);
            }
            options.extension_columns = extension_columns(last);
            // A null that stands for damage is none of the file's: such rows are lost, and match nothing.
            if options.on_error == OnError::NullPage {
                options.on_error = OnError::SkipRowGroup;
            }
        })?;
        if let Some((last, earlier)) = earlier.split_last() {
            tested.filter = Some(Self::of_stages((earlier, last, None), &tested, file)?);
        }
        let tested = Arc::new(tested);
        let stages: Vec<_> = stages_of(&tested)
            .map(|plan| TestedColumns {
                schema: plan.schema(),
                resolved: plan.resolved(),
            })
            .collect();
        let predicate = BoundPredicate::new((last, passed), &all.metadata, schema, &stages)?;
        let (mut sources, kept) = sources(all.schema(), tested.schema());
        let columns = match &all.options.wanted_schema {
            Some(wanted) => others_of(wanted, all, &sources)?,
            None => {
                // Leaves of the roots that are not kept.
                let root_of = |leaf: usize| schema.path(leaf).first().map(|it| (*it).to_owned());
                let is_other = |leaf: &usize| root_of(*leaf).is_none_or(|it| !kept.contains(&it));
                ReadColumns::Projection(Projection::Leaves(all.leaves().filter(is_other).collect()))
            }
        };
        let mut others = file.plan(all, columns, others_role, |_| {})?;
        if file.wanted.is_none() {
            let expected = all.schema().fields().iter().zip(&sources);
            let expected = expected.filter(|(_, source)| **source == ColumnSource::Other);
            let expected = expected.map(|(field, _)| field);
            if !expected.eq(others.schema().fields()) {
                // Groups without leaves are no part of a projection of leaves.
                let columns = ReadColumns::Projection(all.options.projection.clone());
                others = file.plan(all, columns, others_role, |_| {})?;
                sources = vec![ColumnSource::Other; others.schema().fields().len()];
            }
        }
        Ok(Arc::new(Self {
            predicate,
            tested,
            others: Arc::new(others),
            sources,
        }))
    }

    /// The tests of the predicate.
    pub(crate) fn tests(&self) -> &[BoundTest] {
        self.predicate.tests()
    }

    /// What is known of the rows of a row group, by what is known of each test.
    pub(crate) fn verdicts(&self, of_tests: &[Verdicts], num_rows: u64) -> Verdicts {
        self.predicate.verdicts(of_tests, num_rows)
    }

    /// The plan of the columns that are tested.
    pub(crate) fn tested(&self) -> &Arc<ReadPlan> {
        &self.tested
    }

    /// The plan of those that are given out and not taken from the tested ones.
    pub(crate) fn others(&self) -> &Arc<ReadPlan> {
        &self.others
    }

    /// By column that is given out: where it comes from.
    pub(crate) fn sources(&self) -> &[ColumnSource] {
        &self.sources
    }

    /// Returns the plan of the tested columns of each stage, that of the last stage first.
    pub(crate) fn stages(&self) -> impl Iterator<Item = &Arc<ReadPlan>> {
        stages_of(&self.tested)
    }

    /// Returns true if another filter tests the same columns and emits the same ones, in the same form.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.sources == other.sources
            && self.tested.schema() == other.tested.schema()
            && self.tested.leaves().eq(other.tested.leaves())
            && self.others.leaves().eq(other.others.leaves())
    }

    /// Returns the ordinals of the tested leaves, and of the other leaves that are emitted.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = usize> {
        let tested = self.stages().flat_map(|plan| plan.leaves());
        tested.chain(self.others().leaves())
    }

    /// One bit a row of the tested columns: whether it is wanted.
    pub(crate) fn evaluate(&self, tested: &RecordBatch) -> Result<BooleanBuffer> {
        self.predicate.evaluate(tested)
    }

    /// Whether columns are given out as they were tested.
    pub(crate) fn gives_out_tested(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| *source != ColumnSource::Other)
    }
}

/// The file that a read is planned for, and the schema that is wanted of it.
#[derive(Clone, Copy)]
struct PlannedFile<'a> {
    schema: &'a ParquetSchema,
    file_length: u64,
    wanted: Option<&'a WantedSchema>,
}

impl PlannedFile<'_> {
    /// Plans a read of some columns, whose other options are those of `all` but for a `change`.
    fn plan(
        self,
        all: &ReadPlan,
        columns: ReadColumns,
        role: ColumnRole,
        change: impl FnOnce(&mut ReadOptions),
    ) -> Result<ReadPlan> {
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
        let file = (all.metadata.clone(), all.page_indexes().clone());
        ReadPlan::of_columns(file, self.schema, self.file_length, (&options, role))
    }
}

/// Returns a plan of tested columns, and those of the stages before it.
fn stages_of(tested: &Arc<ReadPlan>) -> impl Iterator<Item = &Arc<ReadPlan>> {
    std::iter::successors(Some(tested), |plan| Some(plan.filter()?.tested()))
}

/// Returns the columns that the last stage of a filter tests, and those of the stages before it that `all` has: these are kept as
/// they were tested. Also returns the columns that are read as dictionaries.
fn tested_columns(
    (earlier, last): (&[Predicate], &Predicate),
    all: &ReadPlan,
    file: PlannedFile<'_>,
) -> Result<(ReadColumns, Vec<Vec<String>>)> {
    let is_kept = |name: &str| all.schema().field_with_name(name).is_ok();
    let Some(wanted) = file.wanted else {
        let leaves = tested_leaves(last, file.schema)?;
        let dictionaries = dictionaries(last, &leaves, all, file.schema);
        let mut columns = leaves;
        for stage in earlier {
            let mut leaves = tested_leaves(stage, file.schema)?;
            leaves.retain(|leaf| {
                file.schema
                    .path(*leaf)
                    .first()
                    .is_some_and(|it| is_kept(it))
            });
            columns.extend(leaves);
        }
        columns.sort_unstable();
        columns.dedup();
        let columns = ReadColumns::Projection(Projection::Leaves(columns));
        return Ok((columns, dictionaries));
    };
    // The wanted types decide which columns are dictionaries.
    let mut paths = tested_paths(last);
    for stage in earlier {
        let of_stage = tested_paths(stage).into_iter();
        paths.extend(of_stage.filter(|path| path.first().is_some_and(|it| is_kept(it))));
    }
    let columns = wanted.only(&wanted.columns_of(&paths)?)?;
    Ok((ReadColumns::Wanted(columns), Vec::new()))
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

/// Returns what the custom predicates among the operands of a filter imply of cheaper columns, with the other operands, if rows are
/// to be tested by that first. A wanted schema may lack the cheaper columns, and their keys may be missing: then it is `None`.
fn tested_first(
    operands: &[Predicate],
    all: &ReadPlan,
    schema: &ParquetSchema,
) -> Result<Option<Predicate>> {
    if all.options.wanted_schema.is_some() {
        return Ok(None);
    }
    let Some(first) = implied_first(operands, schema)? else {
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
