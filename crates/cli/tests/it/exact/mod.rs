//! Tests `convert` with text. All input is preserved, or an error names the loss and its place.

mod csv;
mod json;
mod types;

use crate::common::{Folder, Run, herringbone};

/// A text in a folder of its own, which is to be converted to Parquet.
struct Import {
    folder: Folder,
    file: String,
    out: String,
}

impl Import {
    fn of(name: &str, text: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        let file = folder.with(name, text);
        let out = folder.file("out.parquet");
        Self { folder, file, out }
    }

    fn run(&self, options: &[&str]) -> Run {
        herringbone(&[&["convert", "-f", &self.file, &self.out], options].concat())
    }

    /// Converts the text and returns the Arrow fields and the rows.
    fn becomes(&self, options: &[&str]) -> (String, String) {
        let run = self.run(options);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let print = |words: &[&str]| herringbone(&[words, &[&self.out]].concat()).stdout;
        let schema = print(&["schema", "--format", "arrow"]);
        let lines = |text: String| text.trim_end().replace('\n', "; ");
        (lines(schema), lines(print(&["cat", "--format", "jsonl"])))
    }

    /// Checks the error if the types come from a file.
    fn fails_as(&self, types: &str, message: &str) {
        let types = self.folder.with("types.txt", types);
        self.run(&["--schema", &types]).fails(3, message);
    }
}

#[track_caller]
fn becomes(name: &str, text: &str, options: &[&str], schema: &str, rows: &str) {
    let found = Import::of(name, text).becomes(options);
    assert_eq!(found, (schema.into(), rows.into()), "{text:?}");
}
