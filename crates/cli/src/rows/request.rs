//! A request names the parts of each file to read.

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

/// The parts of each file to read, and the options for reading them.
#[derive(Clone)]
pub(crate) struct Request<'a> {
    pub(crate) options: ReadOptions,
    /// The row groups. `None` means all of them.
    pub(crate) row_groups: Option<&'a RowGroups>,
    /// The selection of rows by their values. `None` means all rows.
    pub(crate) wanted: Option<&'a Wanted>,
    /// The columns of the output. `None` means all columns.
    pub(crate) columns: Option<&'a Selection>,
    /// The sample's row count and seed.
    pub(crate) sample: Option<(usize, Option<u64>)>,
    /// The sample's rows per file, once chosen.
    pub(super) positions: Option<Vec<Vec<Range<u64>>>>,
    /// The sort order of the output.
    pub(crate) sort: Option<&'a Sort>,
    /// The allowed differences between files.
    pub(crate) merge: SchemaMerge,
    /// True to unshred variants.
    pub(crate) unshreds: bool,
    /// True to read all columns of all files.
    pub(super) reads_all: bool,
    /// True if the rows are written to a file. In that case, losing columns or filling them with
    /// nulls is an error.
    pub(crate) is_written: bool,
    /// The options for unshredding.
    pub(crate) unshredding: UnshredOptions,
}

impl<'a> Request<'a> {
    /// Creates the request for the user's choice of rows and columns from `inputs`.
    ///
    /// # Errors
    /// Fails if the columns depend on the files, and these cannot be opened.
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

    /// Returns the paths of the columns read by a selection.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if a column to be left out does not exist. If the columns
    /// depend on the files, also fails if these cannot be opened.
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

    /// Returns the columns of all inputs together, starting with the first input's columns.
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

    /// Returns a file's contribution to the schema: the projected columns, the columns in the
    /// file's path, and columns that only tests might need.
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

    /// Makes the request unshred variants.
    pub(crate) fn unshred(&mut self) {
        let extension = VariantExtension::new().unshred(self.unshredding.clone());
        self.options.extensions.push(Arc::new(extension));
        self.unshreds = true;
    }

    /// Returns true if the file's columns are matched by name and still unknown.
    pub(super) fn seeks_columns(&self, input: &Input) -> bool {
        let by_name = self.merge.by_name || input.member.is_some();
        by_name && self.options.wanted_schema.is_none()
    }

    /// Returns true if the file's columns contribute to the common schema. In a folder, only the
    /// first file's columns do, unless files are allowed to differ.
    pub(super) fn is_surveyed(&self, input: &Input) -> bool {
        let member = input.member.as_ref();
        self.merge != SchemaMerge::default() || member.is_none_or(Member::is_first)
    }

    /// Returns the columns lost from a folder's table with this file. Call this after a
    /// [`survey`](super::survey), since that determines the table's columns.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if the file's columns do not have Arrow types.
    pub(super) fn lost_columns(&self, member: &Member, file: &ParquetFile) -> Result<LostColumns> {
        let (Some(wanted), true) = (
            &self.options.wanted_schema,
            self.merge == SchemaMerge::default(),
        ) else {
            return Ok(LostColumns::default());
        };
        let dropped = self.columns.map_or(&[][..], Selection::dropped);
        let is_read = |path: &[String]| match &self.options.projection {
            // All other wanted columns are only there for tests.
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

    /// Limits the wanted columns to the projected ones. The other columns are only there for tests.
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

    /// Writes a note about column names that only differ in case, if columns are matched by name.
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

/// Returns the finest unit that can represent all timestamps without loss.
///
/// # Errors
/// Fails with [`Failure::Data`] if such a unit does not exist.
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

/// Returns true if the fields contain the one at a path. We don't look inside lists and maps, so
/// any path into one is accepted.
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
