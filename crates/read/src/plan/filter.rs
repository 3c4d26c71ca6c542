//! The plan of a filtered read: the columns to test, and where each emitted column comes from.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{Result, Type};
use herringbone_schema::{DictionaryOutput, ParquetSchema, Projection};

use super::{OpenedFile, ReadOptions, ReadPlan};
use crate::WantedSchema;
use herringbone_core::budget::ColumnRole;
use herringbone_core::loss::OnError;
use herringbone_filter::verdicts::Verdicts;
use herringbone_filter::{
    BoundPredicate, BoundTest, Predicate, Stages, TestedColumns, extension_columns,
    has_row_predicate, implied_first, operands, tested_leaves, tested_paths,
};

/// The plan of a filtered read.
#[derive(Debug)]
pub(crate) struct FilterPlan {
    predicate: BoundPredicate,
    /// The plan of the columns to test. If the filter has earlier stages, they are this plan's own filter.
    tested: Arc<ReadPlan>,
    /// The plan of any emitted columns that can't be taken from the tested ones.
    others: Arc<ReadPlan>,
    /// The origin of each emitted column.
    sources: Vec<ColumnSource>,
}

/// The columns of one of a filter's two reads, given by projection or by wanted schema.
enum ReadColumns {
    Projection(Projection),
    Wanted(WantedSchema),
}

/// The origin of an emitted column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnSource {
    /// The tested column with this index.
    Tested(usize),
    /// The next of the other columns. They are only decoded for the selected rows.
    Other,
}

impl FilterPlan {
    /// Plans a filter for the rows that `all` reads without it.
    ///
    /// # Errors
    /// Fails with `Argument` if the predicate does not fit the file, and for the reasons that [`ReadPlan::new`] lists.
    pub(super) fn new(
        predicate: &Predicate,
        all: &ReadPlan,
        file: &OpenedFile<'_>,
    ) -> Result<Arc<Self>> {
        let schema = file.schema;
        let file = FilteredFile {
            file,
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
        Self::of_stages(&stages.earlier, &stages.last, passed, all, file)
    }

    /// Plans a filter's last stage, and the earlier stages recursively. The operands in `passed` aren't in the last
    /// stage, so they are only used to rule out rows by metadata.
    fn of_stages(
        earlier: &[Predicate],
        last: &Predicate,
        passed: Option<&Predicate>,
        all: &ReadPlan,
        file: FilteredFile<'_>,
    ) -> Result<Arc<Self>> {
        let schema = file.file.schema;
        let (tested_role, others_role) = all.role.with_filter();
        let (columns, dictionaries) = tested_columns(earlier, last, all, file)?;
        let mut tested = file.plan(all, columns, tested_role, |options| {
            options.virtual_columns.clear();
            if !dictionaries.is_empty() {
                options.schema.dictionary = DictionaryOutput::Columns(dictionaries);
            }
            options.extension_columns = extension_columns(last);
            // Tests must not see a null that replaces damaged data, since the file doesn't have this null. Such rows
            // are lost instead.
            if options.on_error == OnError::NullPage {
                options.on_error = OnError::SkipRowGroup;
            }
        })?;
        if let Some((last, earlier)) = earlier.split_last() {
            tested.filter = Some(Self::of_stages(earlier, last, None, &tested, file)?);
        }
        let tested = Arc::new(tested);
        let stages: Vec<_> = stages_of(&tested)
            .map(|plan| TestedColumns {
                schema: plan.schema(),
                resolved: plan.resolved(),
                converted: plan.tree.converted_leaves(),
            })
            .collect();
        let converted = |leaves: &[usize]| file.converted(all, leaves);
        let predicate =
            BoundPredicate::new((last, passed), &all.metadata, schema, &stages, &converted)?;
        let (mut sources, used) = sources(all.schema(), tested.schema());
        let columns = match &all.options.wanted_schema {
            Some(wanted) => others_of(wanted, all, &sources)?,
            None => {
                // The other columns are the leaves of any roots that we can't emit as they were tested.
                let root_of =
                    |leaf: usize| schema.path(leaf).first().map(|path| (*path).to_owned());
                let is_other =
                    |leaf: &usize| root_of(*leaf).is_none_or(|root| !used.contains(&root));
                ReadColumns::Projection(Projection::Leaves(all.leaves().filter(is_other).collect()))
            }
        };
        let mut others = file.plan(all, columns, others_role, |_| {})?;
        if file.wanted.is_none() {
            let expected = all.schema().fields().iter().zip(&sources);
            let expected = expected.filter(|(_, source)| **source == ColumnSource::Other);
            let expected = expected.map(|(field, _)| field);
            if !expected.eq(others.schema().fields()) {
                // A leaf projection drops groups without leaves. If the schema has one, we decode all columns anew
                // instead.
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

    /// Returns the predicate's tests.
    pub(crate) fn tests(&self) -> &[BoundTest] {
        self.predicate.tests()
    }

    /// Combines the tests' verdicts into verdicts on the rows of one row group.
    pub(crate) fn verdicts(&self, test_verdicts: &[Verdicts], num_rows: u64) -> Verdicts {
        self.predicate.verdicts(test_verdicts, num_rows)
    }

    /// Returns the plan of the columns to test.
    pub(crate) fn tested(&self) -> &Arc<ReadPlan> {
        &self.tested
    }

    /// Returns the plan of any emitted columns that can't be taken from the tested ones.
    pub(crate) fn others(&self) -> &Arc<ReadPlan> {
        &self.others
    }

    /// Returns the origin of each emitted column.
    pub(crate) fn sources(&self) -> &[ColumnSource] {
        &self.sources
    }

    /// Returns the plans of the tested columns in all stages, last stage first.
    pub(crate) fn stages(&self) -> impl Iterator<Item = &Arc<ReadPlan>> {
        stages_of(&self.tested)
    }

    /// Returns true if another filter tests the same columns and emits the same ones in the same form. It can then
    /// replace this one in the middle of a read.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.sources == other.sources
            && self.tested.schema() == other.tested.schema()
            && self.tested.leaves().eq(other.tested.leaves())
            && self.others.leaves().eq(other.others.leaves())
    }

    /// Returns the ordinals of the tested leaves, followed by the other emitted leaves.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = usize> {
        let tested = self.stages().flat_map(|plan| plan.leaves());
        tested.chain(self.others().leaves())
    }

    /// Returns one bit per row of the tested columns, set if the filter selects the row.
    pub(crate) fn evaluate(&self, tested: &RecordBatch) -> Result<BooleanBuffer> {
        self.predicate.evaluate(tested)
    }

    /// Returns true if any columns are emitted as they were tested, and need not be decoded again.
    pub(crate) fn emits_tested(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| *source != ColumnSource::Other)
    }
}

/// The file to plan a read for, along with the wanted schema.
#[derive(Clone, Copy)]
struct FilteredFile<'a> {
    file: &'a OpenedFile<'a>,
    wanted: Option<&'a WantedSchema>,
}

impl FilteredFile<'_> {
    /// Plans a read of some columns in the row groups of `all`, whose remaining options are taken, too, then modified by
    /// `change`.
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
        ReadPlan::of_columns(self.file, &options, role, all.row_groups.clone())
    }

    /// Returns the leaves converted by an extension type if only these leaves are read.
    fn converted(self, all: &ReadPlan, leaves: &[usize]) -> Result<Vec<usize>> {
        if all.options.extensions.is_empty() || leaves.is_empty() {
            return Ok(Vec::new());
        }
        let columns = ReadColumns::Projection(Projection::Leaves(leaves.to_vec()));
        let plan = self.plan(all, columns, all.role, |options| {
            options.wanted_schema = None;
            options.virtual_columns.clear();
            options.extension_columns.clear();
        })?;
        Ok(plan.tree.converted_leaves())
    }
}

/// Returns the tested columns' plan, followed by the plans of earlier stages.
fn stages_of(tested: &Arc<ReadPlan>) -> impl Iterator<Item = &Arc<ReadPlan>> {
    std::iter::successors(Some(tested), |plan| Some(plan.filter()?.tested()))
}

/// Returns the columns to decode for a filter's last stage, and which of them to read as dictionaries. The stage
/// decodes the columns it tests. It also decodes any columns of earlier stages that `all` emits, since we emit these as
/// they were tested.
fn tested_columns(
    earlier: &[Predicate],
    last: &Predicate,
    all: &ReadPlan,
    file: FilteredFile<'_>,
) -> Result<(ReadColumns, Vec<Vec<String>>)> {
    let is_kept = |name: &str| all.schema().field_with_name(name).is_ok();
    let Some(wanted) = file.wanted else {
        let leaves = tested_leaves(last, file.file.schema)?;
        let mut dictionaries = dictionaries(last, &leaves, all, file.file.schema);
        let mut columns = leaves;
        for stage in earlier {
            let mut leaves = tested_leaves(stage, file.file.schema)?;
            leaves.retain(|leaf| {
                file.file
                    .schema
                    .path(*leaf)
                    .first()
                    .is_some_and(|path| is_kept(path))
            });
            columns.extend(leaves);
        }
        columns.sort_unstable();
        columns.dedup();
        if !dictionaries.is_empty() {
            // Extension types must see the arrays selected by the options, so their columns aren't read as
            // dictionaries.
            let converted = file.converted(all, &columns)?;
            let is_converted = |path: &Vec<String>| {
                let path_of = |leaf: &usize| file.file.schema.path(*leaf);
                converted.iter().map(path_of).any(|it| it.iter().eq(path))
            };
            dictionaries.retain(|path| !is_converted(path));
        }
        let columns = ReadColumns::Projection(Projection::Leaves(columns));
        return Ok((columns, dictionaries));
    };
    // With a wanted schema, the wanted types determine which columns are dictionaries. We don't choose any here.
    let mut paths = tested_paths(last);
    for stage in earlier {
        let stage_paths = tested_paths(stage).into_iter();
        paths.extend(stage_paths.filter(|path| path.first().is_some_and(|path| is_kept(path))));
    }
    let columns = wanted.only(&wanted.columns_of(&paths)?)?;
    Ok((ReadColumns::Wanted(columns), Vec::new()))
}

/// Returns the wanted schema's emitted columns that can't be taken from the tested ones.
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

/// Returns the predicate to test first, that is, the one on cheaper columns that is implied by a filter's operands.
/// Returns `None` if no custom predicate requests such a test. Also returns `None` for a wanted schema, since it might
/// lack the cheaper columns, and if the keys of these columns are missing.
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

/// Returns the columns to read as dictionaries, so that each dictionary value is tested once instead of each row.
/// Returns none if one of the columns is emitted, or if there is a custom predicate.
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
    let first = all
        .row_groups()
        .first()
        .map_or(0, |row_group| row_group.ordinal());
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

/// Returns the origins of `all`'s columns, and the names of the columns emitted as they were tested.
fn sources(all: &SchemaRef, tested: &SchemaRef) -> (Vec<ColumnSource>, Vec<String>) {
    let mut used = Vec::new();
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
                used.push(name.clone());
                ColumnSource::Tested(index)
            }
            None => ColumnSource::Other,
        }
    });
    (sources.collect(), used)
}
