//! `convert` writes rows in another file format.

use std::sync::Arc;

use herringbone::WriteOptions;
use herringbone::schema::DictionaryOutput;
use herringbone::variant::extension::{Shredding, VariantExtension};
use herringbone::variant::shredding::{InferOptions, ShreddingType, variant_field};
use herringbone_arrow::schema::{DataType, Field, Schema};
use herringbone_interchange::read;
use herringbone_rewrite::encryption::Protection;

use crate::args::{Convert, Destination, FileFormat, VariantColumn};
use crate::base::failure::{Failure, Result};
use crate::commands::rewrite::anew;
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Input, Opening};
use crate::rows::{Request, Rows, Shape, Window, arranged, chosen_rows, schema_of_sorted, survey};
use crate::save;
use crate::save::target::Target;

/// Writes the rows of the input files to the output file. A single file other than Parquet is
/// converted on the fly, unless a sample or a bounding box needs it as Parquet.
pub(crate) fn run(context: &Context, convert: &Convert) -> Result<()> {
    let (files, destination) = convert.ends()?;
    let to = FileFormat::of_output(&destination.path, convert.to)?;
    let csv = &convert.csv.shape;
    let import = Import::new(context, (&convert.text, csv), convert.decode.options())?;
    let import = import.on_error(context, &convert.damage);
    let import = import.once(Target::is_stdout(&destination.path));
    let opening = Opening {
        wanted: Some(&convert.choice.wanted),
        import: Some(Arc::new(import.and_types(variants(convert)?))),
        ..Opening::default()
    };
    let inputs = input::tables(files, &opening, context)?;
    check(context, convert, &inputs, to)?;
    Target::check(&destination)?;
    let choice = &convert.choice;
    let is_streamed = choice.sampling.sample.is_none() && !choice.wanted.has_box();
    if let [input] = inputs.as_slice()
        && (is_streamed && input.member.is_none())
        && let Some(saved) = input.take_other_rows(|rows| {
            let rows = chosen_rows(choice, rows, to)?;
            save(context, (convert, &input.name, &destination), to, rows)
        })?
    {
        return Ok(saved);
    }
    tables(context, (convert, &inputs, &destination), to)
}

/// Returns the columns to read as variants.
fn variants(convert: &Convert) -> Result<Vec<Field>> {
    let data_type = read::variant_type().map_err(|error| Failure::Data(error.to_string()))?;
    let field = |column: &VariantColumn| variant_field(&column.name, data_type.clone(), true);
    Ok(convert.variants.iter().map(field).collect())
}

/// Returns the extension for shredding these columns as requested.
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

/// Checks that the options fit the formats. An option without any effect is an error, because the
/// user surely expects one.
fn check(context: &Context, convert: &Convert, inputs: &[Input], to: FileFormat) -> Result<()> {
    let are_all = |is_so: fn(FileFormat) -> bool| inputs.iter().map(Input::format).all(is_so);
    let usage = |text: &str| Err(Failure::Usage(text.into()));
    let is_parquet = inputs.iter().any(Input::is_parquet);
    if !are_all(FileFormat::is_json) && !convert.variants.is_empty() {
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
    let is_csv = are_all(FileFormat::is_csv);
    if !is_csv && convert.text.infer_rows == Some(0) {
        return usage(
            "--infer-rows 0 is for CSV: the columns of JSON lines are inferred from the rows",
        );
    }
    if let (Some(option), false, false) = (convert.csv.given(), is_csv, to.is_csv()) {
        return usage(&format!(
            "{option} is for CSV, but neither IN nor OUT is CSV"
        ));
    }
    if convert.csv.crlf && !to.is_csv() {
        return usage("--crlf is for CSV, but OUT is not CSV");
    }
    // Building the style also checks the options for CSV input.
    let is_tsv = |input: &Input| input.format() == FileFormat::Tsv;
    convert.csv.style(inputs.iter().any(is_tsv))?;
    if to != FileFormat::Parquet && convert.write.is_given() {
        return usage("options for Parquet output need a Parquet file as OUT");
    }
    if context.keys.is_some() && !is_parquet && to == FileFormat::Parquet {
        context.note("`convert` does not encrypt OUT; use `encrypt`");
    }
    Ok(())
}

/// Writes a table's rows, reading its files as Parquet.
fn tables(
    context: &Context,
    (convert, inputs, destination): (&Convert, &[Input], &Destination),
    to: FileFormat,
) -> Result<()> {
    let choice = &convert.choice;
    let options = convert.damage.choose(convert.decode.options());
    let mut request = Request::new(inputs, options, choice, convert.merge.choice())?;
    request.is_written = true;
    let window = Window::of(&choice.part);
    if to != FileFormat::Parquet {
        // Unshredded variants have one type, so that files with different shreddings have one
        // schema.
        request.unshred();
    }
    if to == FileFormat::Parquet {
        let target = (destination, &convert.write, false);
        let unshred = choice.wanted.variants.options();
        let variants = shredding(convert)?.unshred(unshred);
        let options = write_options(convert).extension(variants);
        let request = (request, window);
        return anew(context, inputs, request, target, options, Protection::Keep);
    }
    request.choose_int96_unit(inputs, window)?;
    let before = request.clone();
    let Some((mut schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    if to == FileFormat::Arrow && has_dictionaries(&schema) {
        // Each row group can have its own dictionary, but an IPC file only allows one per column,
        // so we read plain values.
        context.note("dictionaries become plain values; an Arrow stream (.arrows) keeps them");
        request = before;
        request.options.schema.dictionary = DictionaryOutput::Never;
        if let Some((plain, _)) = survey(inputs, &mut request)? {
            schema = plain;
        }
    }
    request.choose_sample(context, inputs)?;
    let shape = Shape::new(request.columns, &schema)?;
    let schema = schema_of_sorted(shape.schema(), request.sort);
    let (batches, _) = arranged(context, inputs, &request, shape, window)?;
    let rows = Rows {
        schema,
        batches,
        work: window.work(rows),
    };
    let name = inputs.first().map_or("", |input| input.table_name());
    save(context, (convert, name, destination), to, rows)
}

/// Returns the options for writing Parquet.
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
    (convert, name, destination): (&Convert, &str, &Destination),
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
            let files = (name, destination);
            let style = convert.csv.style(to == FileFormat::Tsv)?;
            save::stream(context, files, to, style, rows)
        }
    }
}
