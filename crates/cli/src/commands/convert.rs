//! `convert`: rows in another format.

use std::slice;
use std::sync::Arc;

use herringbone::WriteOptions;
use herringbone::schema::DictionaryOutput;
use herringbone::variant::extension::{Shredding, VariantExtension};
use herringbone::variant::shredding::{InferOptions, ShreddingType, variant_field};
use herringbone_arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone_interchange::read::{self, Dialect, TextOptions};
use herringbone_rewrite::encryption::Protection;

use crate::args::{Convert, Destination, FileFormat, VariantColumn};
use crate::base::failure::{Failure, Result};
use crate::commands::rewrite::anew;
use crate::input::context::Context;
use crate::input::folder::Footers;
use crate::input::foreign_file;
use crate::input::schema_file::schema_file;
use crate::input::{self, Input};
use crate::rows::{Request, Rows, Shape, Window, arranged, chosen_rows, schema_of_sorted, survey};
use crate::save;
use crate::save::target::Target;

/// The default number of rows to infer a schema from.
const INFER_ROWS: usize = 10_000;

/// Writes the rows of the input file to the output file.
pub(crate) fn run(context: &Context, convert: &Convert) -> Result<()> {
    let from = FileFormat::of(&convert.input, convert.from, "--from");
    let from = from.map_err(|failure| foreign_file::failure(&convert.input).unwrap_or(failure))?;
    let destination = &convert.output.destination();
    let to = FileFormat::of(&destination.path, convert.to, "--to")?;
    check(convert, from, to)?;
    if let (Some(keys), true) = (&context.keys, from != FileFormat::Parquet) {
        if keys.is_option() {
            let message = "--keys is for Parquet input; to encrypt OUT, see `encrypt`";
            return Err(Failure::Usage(message.into()));
        }
        if to == FileFormat::Parquet {
            context.note("`convert` does not encrypt OUT; use `encrypt`");
        }
    }
    Target::check(destination)?;
    match from {
        FileFormat::Parquet => parquet(context, (convert, destination), to),
        FileFormat::Arrow | FileFormat::ArrowStream => {
            let rows = foreign_file::arrow(&convert.input, &context.limits)?;
            let rows = chosen_rows(&convert.choice, rows, to)?;
            save(context, (convert, destination), to, rows)
        }
        _ => {
            let schema = convert.schema.as_ref();
            let schema = schema
                .map(|path| schema_file(path, context, |input| schema_of_rows(convert, input), Ok));
            let mut types = types(convert)?;
            types.extend(variants(convert)?);
            let options = TextOptions {
                schema: schema.transpose()?,
                infer_rows: convert.infer_rows.unwrap_or(INFER_ROWS),
                types,
                note: &|text| context.note(text),
                header: !convert.csv.no_header,
                delimiter: convert.csv.delimiter,
                null: convert.csv.null().into(),
                skip_lines: convert.csv_input.skip_lines,
                comment: convert.csv_input.comment,
                dialect: Dialect {
                    decimal_comma: convert.csv_input.decimal_comma,
                    dates: convert.csv_input.date_formats.clone(),
                },
                limits: &context.limits,
            };
            let rows = text(convert, from, options)?;
            let rows = chosen_rows(&convert.choice, rows, to)?;
            save(context, (convert, destination), to, rows)
        }
    }
}

/// Returns the rows of a text.
fn text<'a>(convert: &Convert, from: FileFormat, mut options: TextOptions<'a>) -> Result<Rows<'a>> {
    let mut stream = foreign_file::stream(&convert.input)?.unpacked(options.limits)?;
    if let Some(encoding) = convert.csv_input.encoding {
        stream = stream.decoded(encoding);
    }
    if from == FileFormat::Tsv {
        options.delimiter = Some(convert.csv.style(true)?.delimiter);
    }
    let rows = match from {
        FileFormat::Csv | FileFormat::Tsv => read::csv(stream, &options),
        FileFormat::Geojson | FileFormat::Geojsonl => read::geojson(stream, options),
        _ => read::jsonl(stream, &options),
    };
    Ok(rows?.with_errors_of())
}

/// Returns the schema of a Parquet file's rows when written as text: with the extension types of geometries, plain
/// variants, and a unit that can represent all INT96 timestamps.
fn schema_of_rows(convert: &Convert, input: &Input) -> Result<SchemaRef> {
    let inputs = slice::from_ref(input);
    let mut request = Request::all(convert.decode.options());
    request.unshredding = convert.choice.wanted.variants.options();
    request.unshred();
    request.choose_int96_unit(inputs, Window::default())?;
    let surveyed = survey(inputs, &mut request)?;
    Ok(surveyed.map_or_else(|| Arc::new(Schema::empty()), |(schema, _)| schema))
}

/// Returns the columns with given types.
fn types(convert: &Convert) -> Result<Vec<Field>> {
    let mut types = Vec::new();
    for setting in &convert.types {
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

/// Returns the columns to be read as variants.
fn variants(convert: &Convert) -> Result<Vec<Field>> {
    let data_type = read::variant_type().map_err(|error| Failure::Data(error.to_string()))?;
    let field = |column: &VariantColumn| variant_field(&column.name, data_type.clone(), true);
    Ok(convert.variants.iter().map(field).collect())
}

/// Returns the extension that shreds the columns read as variants.
fn shredding(convert: &Convert) -> Result<VariantExtension> {
    let mut extension = VariantExtension::new();
    for column in &convert.variants {
        let shredding = match column.shredding.as_str() {
            "none" => Shredding::None,
            "auto" => Shredding::Infer(InferOptions::default()),
            text => {
                let usage = |why: String| {
                    Failure::Usage(format!(
                        "--variant {}: {why}; expected none, auto or a type such as `Int64` or \
                         `Struct(\"a\": Int64, \"b\": Utf8)`",
                        column.name
                    ))
                };
                let data_type = read::data_type_of(text).map_err(usage)?;
                let shredding = ShreddingType::of_values(&data_type);
                Shredding::As(shredding.map_err(|error| usage(error.to_string()))?)
            }
        };
        extension = extension.shredding_of(&column.name, shredding);
    }
    Ok(extension)
}

/// Checks that the options fit the formats.
fn check(convert: &Convert, from: FileFormat, to: FileFormat) -> Result<()> {
    let is_csv = from.is_csv();
    let is_text = is_csv || from.is_json() || from.is_geojson();
    let usage = |text: &str| Err(Failure::Usage(text.into()));
    let types = !convert.types.is_empty() || convert.infer_rows.is_some();
    if !is_text && (convert.schema.is_some() || types) {
        return usage(
            "--schema, --type and --infer-rows are for CSV and JSON lines; IN already has a schema",
        );
    }
    if !from.is_json() && !convert.variants.is_empty() {
        return usage(
            "--variant is for JSON lines; VARIANT columns of Parquet are kept as they are",
        );
    }
    let is_shredded = |column: &VariantColumn| column.shredding != "none";
    if to != FileFormat::Parquet && convert.variants.iter().any(is_shredded) {
        return usage(
            "--variant COLUMN=auto and other types shred columns of Parquet, but OUT is not a Parquet file",
        );
    }
    if !is_csv && convert.infer_rows == Some(0) {
        return usage(
            "--infer-rows 0 is for CSV: the columns of JSON lines are inferred from the rows",
        );
    }
    if from != FileFormat::Parquet && convert.damage.is_given() {
        return usage("--on-error is for Parquet input");
    }
    if from != FileFormat::Parquet && convert.merge.is_given() {
        return usage("--by-name and --cast are for Parquet input");
    }
    if let (Some(option), false, false) = (convert.csv.given(), is_csv, to.is_csv()) {
        return usage(&format!(
            "{option} is for CSV, but neither IN nor OUT is CSV"
        ));
    }
    if let (Some(option), false) = (convert.csv_input.given(), is_csv) {
        return usage(&format!("{option} is for CSV input"));
    }
    if convert.csv.crlf && !to.is_csv() {
        return usage("--crlf is for CSV, but OUT is not CSV");
    }
    // The style also checks the options for CSV input.
    convert.csv.style(from == FileFormat::Tsv)?;
    if to != FileFormat::Parquet && convert.write.is_given() {
        return usage("options for Parquet output need a Parquet file as OUT");
    }
    Ok(())
}

fn parquet(
    context: &Context,
    (convert, destination): (&Convert, &Destination),
    to: FileFormat,
) -> Result<()> {
    let inputs = input::tables(
        slice::from_ref(&convert.input),
        Some(&convert.choice.wanted),
        Footers::Own,
        context,
    )?;
    let choice = &convert.choice;
    let options = convert.damage.choose(convert.decode.options());
    let mut request = Request::new(&inputs, options, choice, convert.merge.choice())?;
    request.is_written = true;
    let window = Window::of(&choice.part);
    if to != FileFormat::Parquet {
        // Files with different shreddings have one schema after unshredding.
        request.unshred();
    }
    if to == FileFormat::Parquet {
        let target = (destination, &convert.write, false);
        let unshred = convert.choice.wanted.variants.options();
        let options = write_options(convert);
        let options = options.extension(VariantExtension::new().unshred(unshred));
        let request = (request, window);
        return anew(context, &inputs, request, target, options, Protection::Keep);
    }
    request.choose_int96_unit(&inputs, window)?;
    let before = request.clone();
    let Some((mut schema, rows)) = survey(&inputs, &mut request)? else {
        return Ok(());
    };
    if to == FileFormat::Arrow && has_dictionaries(&schema) {
        // Each row group may have another dictionary, but an IPC file has only one per column.
        context.note("dictionaries become plain values; an Arrow stream (.arrows) keeps them");
        request = before;
        request.options.schema.dictionary = DictionaryOutput::Never;
        if let Some((plain, _)) = survey(&inputs, &mut request)? {
            schema = plain;
        }
    }
    request.choose_sample(context, &inputs)?;
    let shape = Shape::new(request.columns, &schema)?;
    let schema = schema_of_sorted(shape.schema(), request.sort);
    let (batches, _) = arranged(context, &inputs, &request, shape, window)?;
    let rows = Rows {
        schema,
        batches,
        work: window.work(rows),
    };
    save(context, (convert, destination), to, rows)
}

/// Returns the options of a Parquet file.
fn write_options(convert: &Convert) -> WriteOptions {
    let mut options = convert.write.options(convert.decode.threads);
    convert.choice.sort.choose(&mut options);
    options
}

fn has_dictionaries(schema: &Schema) -> bool {
    let fields = schema.flattened_fields();
    let mut types = fields.iter().map(|field| field.data_type());
    types.any(|data_type| matches!(data_type, DataType::Dictionary(..)))
}

fn save(
    context: &Context,
    (convert, destination): (&Convert, &Destination),
    to: FileFormat,
    rows: Rows<'_>,
) -> Result<()> {
    match to {
        FileFormat::Parquet => {
            let mut options = write_options(convert);
            if !convert.variants.is_empty() {
                options = options.extension(shredding(convert)?);
            }
            save::parquet(context, destination, options, rows)
        }
        FileFormat::Arrow => save::arrow(context, destination, rows),
        _ => {
            let files = (convert.input.as_path(), destination);
            let style = convert.csv.style(to == FileFormat::Tsv)?;
            save::stream(context, files, to, style, rows)
        }
    }
}
