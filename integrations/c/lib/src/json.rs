//! Datasets and options as JSON.

use herringbone::WriteOption;
use herringbone_dataset::{Dataset, DatasetExplanation, WrittenFile};
use serde_json::{Map, Value, json};

use crate::place::Names;

/// Returns an explanation of a dataset.
pub(crate) fn sums(sums: &DatasetExplanation) -> String {
    let sums = json!({
        "files": sums.files,
        "files_ruled_out": sums.files_ruled_out,
        "row_groups": sums.row_groups,
        "rows": sums.rows,
        "rows_to_test": sums.undecided,
        "wanted_bytes": sums.wanted_bytes,
        "fetched_bytes": sums.fetched.bytes,
        "requests": sums.fetched.requests,
    });
    sums.to_string()
}

/// Returns the files of a dataset.
pub(crate) fn files(dataset: &Dataset, names: &Names) -> String {
    let files = dataset.files().iter().map(|file| {
        let partition = file
            .partition()
            .map(|(name, value)| (name.to_owned(), json!(value)));
        json!({
            "path": names.of(file.path()),
            "bytes": file.identity().length,
            "partition": partition.collect::<Map<_, _>>(),
        })
    });
    Value::Array(files.collect()).to_string()
}

/// Returns the files that were written.
pub(crate) fn written(files: &[WrittenFile]) -> String {
    let files = files.iter().map(|file| {
        json!({ "path": file.path, "bytes": file.bytes, "num_rows": file.metadata.num_rows() })
    });
    Value::Array(files.collect()).to_string()
}

/// Returns the table of options of a writer.
pub(crate) fn write_options() -> String {
    let options = WriteOption::ALL.iter().map(|option| {
        json!({
            "name": option.name,
            "kind": format!("{:?}", option.kind).to_lowercase(),
            "choices": option.choices(),
            "default": option.default,
            "purpose": option.help,
            "is_of_columns": option.is_of_columns(),
        })
    });
    Value::Array(options.collect()).to_string()
}
