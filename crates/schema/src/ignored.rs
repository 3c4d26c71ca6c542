//! Annotations to ignore on the caller's request.

use herringbone_format::{Error, Result};

use crate::group_form::{GroupForm, group_form};
use crate::nested::Nesting;
use crate::path::Paths;
use crate::{ParquetSchema, SchemaOptions};

/// Returns one flag per node, true if its annotation is ignored, or an empty list if the options
/// ignore none.
///
/// # Errors
///
/// Fails with Argument if a path leads nowhere, or to a group other than a map.
pub(crate) fn ignored(schema: &ParquetSchema, options: &SchemaOptions) -> Result<Vec<bool>> {
    if options.ignore_annotations.is_empty() {
        return Ok(Vec::new());
    }
    let mut nesting = Nesting::new(schema, options, &[]);
    for node in schema.children(0) {
        nesting.field(node);
    }
    let paths = Paths::new(schema, &nesting.omittable);
    let mut ignored = vec![false; schema.nodes().len()];
    for path in &options.ignore_annotations {
        let node = paths.find(path)?;
        if !matches!(
            group_form(schema, node),
            GroupForm::Leaf | GroupForm::Map { .. }
        ) {
            return Err(Error::argument(format!(
                "`{}` is neither a column nor a map, so it does not have an annotation to ignore",
                path.join(".")
            )));
        }
        ignored[node] = true;
    }
    Ok(ignored)
}
