//! `rewrite`: the same rows in a new file.

use std::io;
use std::slice;
use std::sync::Arc;

use herringbone::geospatial::geoparquet::KEY;
use herringbone::variant::shredding::UnshredOptions;
use herringbone::{Explanation, WriteOptions};
use herringbone_arrow::schema::{Schema, SchemaRef};

use crate::args::{Destination, Rewrite, Write};
use crate::carry_over::{Origin, carry_over, has_geometries};
use crate::choices;
use crate::context::Context;
use crate::encryption::Protection;
use crate::failure::Result;
use crate::input::{self, Input};
use crate::load::{Rows, Work};
use crate::output::Output;
use crate::rows::{Batches, Request, Window, row_groups, survey};
use crate::save;
use crate::target::Target;

/// Writes the file anew.
pub(crate) fn run(context: &Context, rewrite: &Rewrite) -> Result<()> {
    let destination = &rewrite.destination;
    Target::check(destination)?;
    let inputs = input::all(slice::from_ref(&rewrite.input), context)?;
    let request = Request {
        options: rewrite
            .damage
            .choose(rewrite.decode.options())
            .projection(rewrite.chunks.projection()),
        row_groups: rewrite.chunks.row_groups.as_ref(),
        wanted: None,
        unshreds: false,
        unshredding: UnshredOptions::default(),
    };
    let mut options = rewrite.write.options(rewrite.decode.threads);
    let explanation = rewrite.explain.then(Explanation::new);
    options.explanation.clone_from(&explanation);
    let target = (destination, &rewrite.write);
    anew(context, &inputs, request, target, options, Protection::Keep)?;
    let Some(explanation) = explanation else {
        return Ok(());
    };
    let mut out = match Target::is_stdout(&destination.path) {
        true => Output::new("standard error", io::stderr()),
        false => Output::stdout(),
    };
    choices::print(&explanation.take(), &mut out)
}

/// Writes the rows of `inputs` to one file, and all that goes with them.
///
/// # Errors
/// Data where the schemas differ; what reading and writing end with.
pub(super) fn anew(
    context: &Context,
    inputs: &[Input],
    mut request: Request<'_>,
    (destination, write): (&Destination, &Write),
    mut options: WriteOptions,
    protection: Protection,
) -> Result<()> {
    request.choose_int96_unit(inputs, Window::default())?;
    let Some((schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    if request.unshreds {
        context.note("the files shred variants in different ways; they are written unshredded");
    }
    let schema = with_geoparquet_if_true(schema);
    let origins = origins(inputs, &request)?;
    let target = (destination, write);
    let kept = carry_over(context, &origins, &schema, target, protection, &mut options)?;
    drop(origins);
    let rows = Rows {
        schema,
        batches: Box::new(Batches::new(context, inputs, &request)),
        work: Work::Rows(rows),
    };
    save::parquet(context, destination, options, rows)?;
    kept.map_or(Ok(()), |kept| kept.finish())
}

/// The schema without GeoParquet metadata, where no column of geometries is left.
fn with_geoparquet_if_true(schema: SchemaRef) -> SchemaRef {
    if has_geometries(&schema) || !schema.metadata().contains_key(KEY) {
        return schema;
    }
    let mut metadata = schema.metadata().clone();
    metadata.remove(KEY);
    Arc::new(Schema::new_with_metadata(schema.fields().clone(), metadata))
}

fn origins<'a>(inputs: &'a [Input], request: &Request<'_>) -> Result<Vec<Origin<'a>>> {
    let origin = |input: &'a Input| {
        let file = input.open()?;
        Ok(Origin {
            input,
            row_groups: row_groups(input, &file, request)?,
            file,
        })
    };
    inputs.iter().map(origin).collect()
}
