//! The text of errors that crossed the wire.

use datafusion::error::DataFusionError;

/// The words after which Ballista puts a task's error, formatted by `Debug`.
const MARKS: [&str; 2] = [
    "Task failed due to runtime execution error: ",
    "Task failed due to IO error: ",
];

/// The error variants that may surround the first error, each with the text that follows it.
const LAYERS: [(&str, &str); 9] = [
    ("DataFusionError(", ")"),
    ("ArrowError(", ", None)"),
    ("ArrowError(", ")"),
    ("ExternalError(", ")"),
    ("External(", ")"),
    ("Shared(", ")"),
    ("Execution(\"", "\")"),
    ("General(\"", "\")"),
    ("IoError(", ")"),
];

/// Returns an error's text without the types that Ballista prints around a task's error. For
/// example, `data.parquet: corrupt file: …` remains of
/// `Execution error: Job … failed: … DataFusionError(External(data.parquet: corrupt file: …))`.
#[must_use]
pub fn plain_error(error: &DataFusionError) -> String {
    let text = error.to_string();
    let after = |mark: &&str| text.rfind(*mark).map(|at| at + mark.len());
    let Some(start) = MARKS.iter().filter_map(after).max() else {
        return text;
    };
    let mut plain = text.get(start..).unwrap_or_default().trim();
    while let Some(inner) = LAYERS.iter().find_map(|(before, after)| {
        let inner = plain.strip_prefix(before)?;
        inner.strip_suffix(after)
    }) {
        plain = inner;
    }
    plain.to_owned()
}
