//! Imports files other than Parquet. They become Parquet in a temporary file, so that commands can
//! treat all files alike.

use std::path::Path;
use std::slice;
use std::sync::Arc;

use herringbone::geospatial::Geospatial;
use herringbone::schema::EmptyStructs;
use herringbone::source::Source;
use herringbone::variant::extension::VariantExtension;
use herringbone::{Limits, ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{Field, Schema, SchemaRef};
use herringbone_interchange::read::{
    self, Bytes, Dialect, JsonDates, Lenient, Stream, TextOptions,
};

use crate::args::{CsvShape, Damage, FileFormat, OtherFiles, TextInput};
use crate::base::failure::{Failure, Result};
use crate::input::Input;
use crate::input::context::{Context, note};
use crate::input::schema_file::schema_file;
use crate::input::spool::Spool;
use crate::rows::{Request, Rows, Window, survey};

/// The default number of rows for inferring a schema.
const INFER_ROWS: usize = 10_000;

/// Options for reading files other than Parquet.
pub(crate) struct Import {
    from: Option<FileFormat>,
    schema: Option<SchemaRef>,
    infer_rows: usize,
    types: Vec<Field>,
    json_path: Option<String>,
    lenient: Option<Lenient>,
    csv: Csv,
    dialect: Dialect,
    limits: Limits,
    note: Box<dyn Fn(&str) + Send + Sync>,
    /// The number of rows needed from each file, or `None` for all rows.
    rows: Option<u64>,
    /// True if rows go to an output that can't be restarted. In that case, a file can't be read
    /// again with other types.
    is_once: bool,
    spool: Spool,
    /// The first option given for text only and the first given for CSV only, for errors about
    /// unused options.
    given: [Option<&'static str>; 2],
}

/// The notation of CSV.
struct Csv {
    header: bool,
    delimiter: Option<u8>,
    null: String,
    skip_lines: usize,
    comment: Option<u8>,
    encoding: Option<&'static encoding_rs::Encoding>,
}

impl Import {
    /// Creates the import for a command that doesn't write CSV and needs all rows.
    ///
    /// # Errors
    /// See [`Import::new`].
    pub(crate) fn of(
        context: &Context,
        files: &OtherFiles,
        damage: Option<&Damage>,
    ) -> Result<Arc<Self>> {
        let options = ReadOptions::new().extension(Geospatial::new());
        let all = Self::new(context, (&files.text, &files.csv), options)?;
        let all = match damage {
            Some(damage) => all.on_error(context, damage),
            None => all,
        };
        Ok(Arc::new(Self {
            given: [all.given[0], all.given[1].or(files.csv.given())],
            ..all
        }))
    }

    /// Creates the import. If the schema is from a Parquet file, `read` determines the columns'
    /// types.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if a type is wrong, and if the schema cannot be read.
    pub(crate) fn new(
        context: &Context,
        (text, csv): (&TextInput, &CsvShape),
        read: ReadOptions,
    ) -> Result<Self> {
        let schema = text.schema.as_ref();
        let schema =
            schema.map(|path| schema_file(path, context, |input| schema_of_rows(input, read), Ok));
        let quiet = context.quiet;
        let input = &text.csv_input;
        Ok(Self {
            from: text.from,
            schema: schema.transpose()?,
            infer_rows: text.infer_rows.unwrap_or(INFER_ROWS),
            types: types(text)?,
            json_path: text.json_path.clone(),
            lenient: None,
            csv: Csv {
                header: !csv.no_header,
                delimiter: csv.delimiter,
                null: csv.null().into(),
                skip_lines: input.skip_lines,
                comment: input.comment,
                encoding: input.csv_encoding,
            },
            dialect: Dialect {
                marks: input.marks(),
                dates: input.date_formats.clone(),
            },
            limits: context.limits.clone(),
            note: Box::new(move |text| note(quiet, text)),
            rows: None,
            is_once: false,
            spool: Spool::default(),
            given: [text.given(), text.csv_input.given()],
        })
    }

    /// Limits the number of rows to import from each file.
    pub(crate) fn first_rows(self, rows: Option<u64>) -> Self {
        Self { rows, ..self }
    }

    /// Restricts the import to reading each file once, for commands that print rows on the fly.
    pub(crate) fn once(self, is_once: bool) -> Self {
        Self { is_once, ..self }
    }

    /// Returns true if each file must be read only once.
    pub(super) fn is_once(&self) -> bool {
        self.is_once
    }

    /// Sets the handling of bad rows.
    pub(crate) fn on_error(mut self, context: &Context, damage: &Damage) -> Self {
        let report = || context.loss();
        self.lenient = damage.makes_nulls().map(|nulls| Lenient {
            nulls,
            report: report(),
        });
        self
    }

    /// Adds columns with given types.
    pub(crate) fn and_types(mut self, types: Vec<Field>) -> Self {
        self.types.extend(types);
        self
    }

    /// Returns the format given by the user, falling back to the file name's extension.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the name belongs to a format that we do not read.
    pub(super) fn format_of(&self, path: &Path) -> Result<Option<FileFormat>> {
        self.from
            .map_or_else(|| FileFormat::of_name(path), |from| Ok(Some(from)))
    }

    /// Checks that each given option has an effect on some file.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if one does not.
    pub(super) fn check(&self, inputs: &[Input]) -> Result<()> {
        let (mut has_text, mut has_csv) = (false, false);
        for format in inputs.iter().map(Input::format) {
            has_csv |= format.is_csv();
            has_text |= format.is_csv() || format.is_json() || format.is_geojson();
        }
        if self.json_path.is_some() && !inputs.iter().any(|input| input.format().is_json()) {
            return Err(Failure::Usage(
                "--json-path is for JSON, but no file is JSON".into(),
            ));
        }
        match (has_text, has_csv, self.given) {
            (false, _, [Some(option), _]) => Err(Failure::Usage(format!(
                "{option} is for CSV and JSON, but no file is one; --from names the format of a file"
            ))),
            (_, false, [_, Some(option)]) => Err(Failure::Usage(format!(
                "{option} is for CSV, but no file is one; --from names the format of a file"
            ))),
            _ => Ok(()),
        }
    }

    /// Prints a note.
    pub(super) fn note(&self, text: &str) {
        (self.note)(text);
    }

    /// Returns true if column types are inferred from values.
    pub(super) fn infers_types(&self) -> bool {
        self.schema.is_none() && self.infer_rows > 0
    }

    /// Returns a text's columns with inferred types, leaving out columns with given types.
    ///
    /// # Errors
    /// See [`Import::rows`].
    pub(super) fn fields(
        &self,
        name: &str,
        bytes: Bytes,
        format: FileFormat,
    ) -> Result<Vec<Field>> {
        let stream = self.stream(name, bytes)?;
        // No notes here, since reading the rows prints them.
        let options = TextOptions {
            note: &|_| {},
            lenient: self.lenient.clone().map(|lenient| Lenient {
                report: Arc::new(|_| {}),
                ..lenient
            }),
            ..self.options((format, &[]))
        };
        let mut fields = match format.is_csv() {
            true => read::csv_fields(stream, &options)?,
            false => {
                let schema = read::jsonl(stream, &options)?.schema;
                schema
                    .fields()
                    .iter()
                    .map(|field| Field::clone(field))
                    .collect()
            }
        };
        fields.retain(|field| self.types.iter().all(|given| given.name() != field.name()));
        Ok(fields)
    }

    fn stream(&self, name: &str, bytes: Bytes) -> Result<Stream> {
        let stream = Stream::new(name.to_owned(), bytes).unpacked(&self.limits)?;
        Ok(match self.csv.encoding {
            Some(encoding) => stream.decoded(encoding),
            None => stream,
        })
    }

    fn options(&self, (format, types): (FileFormat, &[Field])) -> TextOptions<'_> {
        TextOptions {
            schema: self.schema.clone(),
            infer_rows: self.infer_rows,
            types: [&self.types, types].concat(),
            note: &*self.note,
            header: self.csv.header,
            delimiter: match format {
                FileFormat::Tsv => Some(b'\t'),
                _ => self.csv.delimiter,
            },
            null: self.csv.null.clone(),
            skip_lines: self.csv.skip_lines,
            comment: self.csv.comment,
            json_path: self.json_path.clone(),
            json_dates: JsonDates::default(),
            lenient: self.lenient.clone(),
            dialect: self.dialect.clone(),
            limits: &self.limits,
        }
    }

    /// Returns the rows of a file that is not Parquet. `types` has the columns with types shared
    /// across files. On a second read we print no notes, because the first read already has.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if the bytes are not in this format, and with
    /// [`Failure::System`] if they cannot be read.
    pub(super) fn rows(
        &self,
        name: &str,
        bytes: Bytes,
        (format, types): (FileFormat, &[Field]),
        (json_dates, is_first): (JsonDates, bool),
    ) -> Result<Rows<'_>> {
        if matches!(format, FileFormat::Arrow | FileFormat::ArrowStream) {
            return Ok(read::ipc(name, bytes, &self.limits)?.with_errors_of());
        }
        let stream = self.stream(name, bytes)?;
        let mut options = self.options((format, types));
        options.json_dates = json_dates;
        if !is_first {
            options.note = &|_| {};
        }
        let rows = match format {
            FileFormat::Csv | FileFormat::Tsv => read::csv(stream, &options),
            FileFormat::Geojson | FileFormat::Geojsonl => read::geojson(stream, options),
            _ => read::jsonl(stream, &options),
        };
        Ok(rows?.with_errors_of())
    }

    /// Writes as many rows as needed to Parquet and returns the Parquet bytes.
    ///
    /// # Errors
    /// Fails if the rows cannot be read, with [`Failure::Data`] if Parquet cannot represent them,
    /// and with [`Failure::System`] if the temporary file cannot be written.
    pub(super) fn parquet(&self, name: &str, rows: Rows<'_>) -> Result<Arc<dyn Source>> {
        let failed = |error: herringbone::Error| Failure::parquet(name, &error);
        let mut part = self
            .spool
            .part()
            .map_err(|error| Failure::System(error.to_string()))?;
        let mut options = Geospatial::new().write_options(WriteOptions::new().threads(0_usize));
        options.schema.empty_structs = EmptyStructs::UnknownLeaf;
        let options = options.extension(VariantExtension::new());
        let mut writer = Writer::new(&mut part, rows.schema, options).map_err(failed)?;
        let mut left = self.rows;
        for batch in rows.batches {
            let batch = first(batch?, &mut left);
            writer.write(&batch).map_err(failed)?;
            if left == Some(0) {
                break;
            }
        }
        writer.finish().map_err(failed)?;
        part.finish().map_err(failed)
    }

    /// Returns true if the command might not need all rows.
    pub(super) fn is_partial(&self) -> bool {
        self.rows.is_some()
    }
}

/// Takes up to `left` rows from the batch, updating `left`.
fn first(batch: RecordBatch, left: &mut Option<u64>) -> RecordBatch {
    let Some(left) = left else {
        return batch;
    };
    let rows = usize::try_from(*left).map_or(batch.num_rows(), |left| left.min(batch.num_rows()));
    *left -= rows as u64;
    batch.slice(0, rows)
}

/// Returns the schema of a Parquet file's rows when written as text: geometries with their
/// extension types, unshredded variants, and INT96 timestamps in a unit that can represent all of
/// them.
fn schema_of_rows(input: &Input, read: ReadOptions) -> Result<SchemaRef> {
    let inputs = slice::from_ref(input);
    let mut request = Request::all(read);
    request.unshred();
    request.choose_int96_unit(inputs, Window::default())?;
    let surveyed = survey(inputs, &mut request)?;
    Ok(surveyed.map_or_else(|| Arc::new(Schema::empty()), |(schema, _)| schema))
}

/// Returns the columns with user-given types.
fn types(text: &TextInput) -> Result<Vec<Field>> {
    let mut types = Vec::new();
    for setting in &text.types {
        let usage = |text: String| Failure::Usage(format!("--type: {text}"));
        let columns = setting.columns.as_ref();
        let columns = columns.ok_or_else(|| usage("expected COLUMN=TYPE".into()))?;
        for path in &columns.paths {
            let [name] = path.as_slice() else {
                return Err(usage(format!(
                    "`{}` is a field within a column; name a whole column",
                    path.join(".")
                )));
            };
            types.push(read::field_of(name, &setting.value).map_err(usage)?);
        }
    }
    Ok(types)
}
