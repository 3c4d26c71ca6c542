//! A request: the parts of each file to read.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use herringbone::variant::extension::VariantExtension;
use herringbone::variant::shredding::UnshredOptions;
use herringbone::{Int96Units, ParquetFile, Projection, ReadOptions};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use herringbone_rewrite::{SchemaMerge, names_that_differ_in_case};

use crate::args::{Choice, RowGroups, Selection, Sort, Wanted};
use crate::base::failure::{Failure, Result};
use crate::input::Input;
use crate::input::context::Context;
use crate::input::folder::{LostColumns, Member};

/// The parts of each file to read, and the options.
#[derive(Clone)]
pub(crate) struct Request<'a> {
    pub(crate) options: ReadOptions,
    /// The row groups. `None` means all of them.
    pub(crate) row_groups: Option<&'a RowGroups>,
    /// The selection of rows by value. `None` means all of them.
    pub(crate) wanted: Option<&'a Wanted>,
    /// The columns of the output. `None` means all of them.
    pub(crate) columns: Option<&'a Selection>,
    /// The number of rows of a sample, and its seed.
    pub(crate) sample: Option<(usize, Option<u64>)>,
    /// The rows of the sample in each file, once they are chosen.
    pub(super) positions: Option<Vec<Vec<Range<u64>>>>,
    /// The order of the output.
    pub(crate) sort: Option<&'a Sort>,
    /// The allowed differences between the files.
    pub(crate) merge: SchemaMerge,
    /// True if variants are read unshredded.
    pub(crate) unshreds: bool,
    /// True if all columns of all files are read.
    pub(super) reads_all: bool,
    /// True if a file is written of the rows, so that a folder must not lose columns or fill them with nulls.
    pub(crate) is_written: bool,
    /// The options for unshredding.
    pub(crate) unshredding: UnshredOptions,
}

impl<'a> Request<'a> {
    /// Creates the request for the chosen rows and columns of `inputs`.
    ///
    /// # Errors
    /// Errors of opening the files, if the columns depend on them.
    pub(crate) fn new(
        inputs: &[Input],
        options: ReadOptions,
        choice: &'a Choice,
        merge: SchemaMerge,
    ) -> Result<Self> {
        let mut request = Self {
            row_groups: choice.row_groups.as_ref(),
            wanted: Some(&choice.wanted),
            columns: choice.columns.as_ref(),
            sample: choice.sampling.get(),
            sort: Some(&choice.sort),
            merge,
            unshredding: choice.wanted.variants.options(),
            ..Self::all(options)
        };
        if let Some(selection) = &choice.columns {
            request.options.projection = Projection::Paths(request.paths(inputs, selection)?);
        }
        Ok(request)
    }

    /// Returns the paths of the columns that a selection reads.
    ///
    /// # Errors
    /// Usage if a column to be left out does not exist; errors of opening the files, if the columns depend on them.
    pub(crate) fn paths(
        &self,
        inputs: &[Input],
        selection: &Selection,
    ) -> Result<Vec<Vec<String>>> {
        if !selection.has_rest() {
            return Ok(selection.taken().map(|taken| taken.path.clone()).collect());
        }
        let all = self.all_fields(inputs)?;
        if let Some(path) = selection.dropped().iter().find(|path| !has(&all, path)) {
            let path = path.join(".");
            return Err(Failure::Usage(format!(
                "--columns !{path}: there is no column `{path}`"
            )));
        }
        let taken = selection.of(&all).into_iter();
        Ok(taken.map(|taken| taken.path).collect())
    }

    /// Creates the request for all rows and columns.
    pub(crate) fn all(options: ReadOptions) -> Self {
        Self {
            options,
            row_groups: None,
            wanted: None,
            columns: None,
            sample: None,
            positions: None,
            sort: None,
            merge: SchemaMerge::default(),
            unshreds: false,
            reads_all: false,
            is_written: false,
            unshredding: UnshredOptions::default(),
        }
    }

    /// Returns the columns that at least one of the inputs has, those of the first one first.
    fn all_fields(&self, inputs: &[Input]) -> Result<Fields> {
        let mut fields: Vec<Arc<Field>> = Vec::new();
        let mut names = HashSet::new();
        let inputs = match self.merge.by_name {
            true => inputs,
            false => inputs.get(..1).unwrap_or_default(),
        };
        for input in inputs {
            let schema = self.columns_of(input, &input.open()?, self.options.clone())?;
            let fields_of_file = schema.fields().iter();
            fields.extend(
                fields_of_file
                    .filter(|field| names.insert(field.name().clone()))
                    .cloned(),
            );
        }
        Ok(fields.into())
    }

    /// Returns the schema that a file contributes: the columns of the projection, those in its path, and those that only
    /// tests may need.
    pub(super) fn columns_of(
        &self,
        input: &Input,
        file: &ParquetFile,
        options: ReadOptions,
    ) -> Result<SchemaRef> {
        let projected = schema_of(input, file, &options)?;
        if !self.seeks_columns(input) {
            return Ok(projected);
        }
        let is_read = |name: &String| match &self.options.projection {
            Projection::Paths(paths) => paths.iter().any(|path| path == slice::from_ref(name)),
            _ => true,
        };
        let folder = input.member.as_ref().map(|member| &member.folder);
        let in_path: Vec<&FieldRef> = folder
            .into_iter()
            .flat_map(|folder| folder.partition_columns())
            .collect();
        let mut fields: Vec<FieldRef> = projected.fields().iter().cloned().collect();
        fields.retain(|field| in_path.iter().all(|other| other.name() != field.name()));
        let (read, tested): (Vec<_>, Vec<_>) =
            in_path.into_iter().partition(|field| is_read(field.name()));
        fields.extend(read.into_iter().cloned());
        if self.is_filtered() {
            let all = schema_of(input, file, &options.projection(Projection::All))?;
            for field in tested.into_iter().chain(all.fields()) {
                if fields.iter().all(|other| other.name() != field.name()) {
                    fields.push(field.clone());
                }
            }
        }
        let metadata = projected.metadata().clone();
        Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
    }

    /// Returns true if rows are selected by their values.
    pub(crate) fn is_filtered(&self) -> bool {
        self.wanted.is_some_and(Wanted::is_given)
    }

    /// Enables the unshredding of variants.
    pub(crate) fn unshred(&mut self) {
        let extension = VariantExtension::new().unshred(self.unshredding.clone());
        self.options.extensions.push(Arc::new(extension));
        self.unshreds = true;
    }

    /// Returns true if the columns of a file are matched by name, and the set of columns is not known yet.
    pub(super) fn seeks_columns(&self, input: &Input) -> bool {
        let by_name = self.merge.by_name || input.member.is_some();
        by_name && self.options.wanted_schema.is_none()
    }

    /// Returns true if the columns of a file contribute to the schema of all. In a folder, only the first file does,
    /// unless files may differ.
    pub(super) fn is_surveyed(&self, input: &Input) -> bool {
        let member = input.member.as_ref();
        self.merge != SchemaMerge::default() || member.is_none_or(Member::is_first)
    }

    /// Returns the columns that the table of a folder loses with this file. Call it after a [`survey`](super::survey).
    ///
    /// # Errors
    /// Data if the columns of the file have no Arrow types.
    pub(super) fn lost_columns(&self, member: &Member, file: &ParquetFile) -> Result<LostColumns> {
        let (Some(wanted), true) = (
            &self.options.wanted_schema,
            self.merge == SchemaMerge::default(),
        ) else {
            return Ok(LostColumns::default());
        };
        let dropped = self.columns.map_or(&[][..], Selection::dropped);
        let is_read = |path: &[String]| match &self.options.projection {
            // Other wanted columns are there for tests.
            Projection::Paths(paths) => paths
                .iter()
                .any(|projected| projected.first() == path.first()),
            _ => true,
        };
        member.lost_columns(
            (file, &self.options.schema),
            wanted.schema(),
            |path| !self.reads_all || dropped.iter().any(|dropped| dropped == path),
            |path| !is_read(path),
        )
    }

    /// Limits the wanted columns to those of the projection. Other columns are there for tests.
    pub(super) fn read_wanted_columns(&mut self) {
        self.options.projection = match &self.options.projection {
            Projection::Paths(paths) if self.is_filtered() => {
                let tops = paths.iter().filter_map(|path| path.first());
                let tops: BTreeSet<&String> = tops.collect();
                Projection::Paths(tops.into_iter().map(|name| vec![name.clone()]).collect())
            }
            _ => Projection::All,
        };
    }

    /// Emits a note about columns, matched by name, whose names differ only in case.
    pub(crate) fn note_case(&self, context: &Context, schema: &Schema) {
        let names = names_that_differ_in_case(schema);
        if self.merge.by_name && !names.is_empty() {
            context.note(&format!(
                "these columns differ only in case, so some readers cannot distinguish them: {}",
                names.join(", ")
            ));
        }
    }
}

/// Returns the finest unit that holds all timestamps with all their digits.
///
/// # Errors
/// Data if such a unit does not exist.
pub(crate) fn int96_unit(units: &Int96Units) -> Result<TimeUnit> {
    units.finest().ok_or_else(|| {
        Failure::Data(
            "no unit holds all INT96 timestamps without loss; choose a unit with --int96-unit, and \
             use --int96-overflow for timestamps that do not fit it"
                .into(),
        )
    })
}

/// Returns the schema of the batches.
fn schema_of(input: &Input, file: &ParquetFile, options: &ReadOptions) -> Result<SchemaRef> {
    let plan = file.plan(options);
    let plan = plan.map_err(|error| input.failure(&error))?;
    Ok(plan.schema().clone())
}

/// Returns true if the fields contain the one at a path. Lists and maps may contain any.
fn has(fields: &Fields, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    match fields.find(first).map(|(_, field)| field.data_type()) {
        Some(DataType::Struct(fields)) => has(fields, rest),
        Some(data_type) => rest.is_empty() || data_type.is_nested(),
        None => false,
    }
}
