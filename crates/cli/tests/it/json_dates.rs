//! Tests JSON texts that become dates, if they come back unchanged.

use crate::common::{Folder, herringbone, stdin};

/// Returns rows with `at`, whose last row has another text there.
fn rows(count: usize, last: &str) -> String {
    let row = |at: String| format!("{{\"at\":\"{at}\",\"day\":\"2024-02-29\"}}\n");
    let rows = (1..count).map(|second| {
        let (hours, minutes) = (second / 3600, second / 60 % 60);
        row(format!(
            "2024-01-02T{hours:02}:{minutes:02}:{:02}.000Z",
            second % 60
        ))
    });
    rows.chain([row(last.to_owned())]).collect()
}

/// Returns the types of a file's columns.
fn types(file: &str) -> String {
    herringbone(&["schema", "-q", "--format", "arrow", file]).stdout
}

const DATES: &str = "at: Timestamp(ms, \"UTC\")\nday: Date32\n";
const TEXT: &str = "at: Utf8\nday: Date32\n";

#[test]
fn dates_come_back_unchanged() {
    let folder = Folder::new();
    let text = rows(10, "2300-01-02T23:59:59.999Z");
    let (jsonl, out) = (folder.with("a.jsonl", &text), folder.file("a.parquet"));
    assert_eq!(types(&jsonl), DATES);
    herringbone(&["cat", &jsonl, "--json"]).ok(&text);
    herringbone(&["convert", &jsonl, &out]).ok("");
    assert_eq!(types(&out), DATES);
    herringbone(&["cat", &out]).ok(&text);
    herringbone(&[
        "count",
        "-w",
        "at >= '2024-01-02T00:00:05Z' and day = '2024-02-29'",
        &jsonl,
    ])
    .ok("6\n");
}

#[test]
fn a_later_text_makes_the_column_text() {
    let folder = Folder::new();
    // Only the first 10,000 rows are looked at.
    let text = rows(20_000, "soon");
    let (jsonl, out) = (folder.with("a.jsonl", &text), folder.file("a.parquet"));
    let note = format!(
        "herringbone: note: {jsonl}: `at` stays text, though its first rows have dates: {jsonl}: line 20000: \
         column `at`: \"soon\" is not a valid Timestamp(ms, \"UTC\")\n"
    );
    let run = herringbone(&["convert", &jsonl, &out]);
    assert_eq!((run.code, run.stderr.as_str()), (0, note.as_str()));
    assert_eq!(types(&out), TEXT);
    herringbone(&["cat", &out]).ok(&text);
    // These commands read rows from a Parquet copy.
    let run = herringbone(&["count", "-w", "at = 'soon'", &jsonl]);
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str()),
        ("1\n", note.as_str())
    );
    // This output cannot begin again, and this input cannot be read again.
    let run = herringbone(&["convert", "--to", "jsonl", &jsonl, "-"]);
    run.ok(&text);
    let pipe = ["convert", "-f", "--from", "jsonl", "-", &out];
    stdin(&pipe, text.as_bytes()).ok("");
    assert_eq!(types(&out), "at: Utf8\nday: Utf8\n");
    stdin(&pipe, rows(10, "2024-01-02T03:04:05.000Z").as_bytes()).ok("");
    assert_eq!(types(&out), DATES);
    // A bad row is one that is not JSON of these types. A text that is not a date does not make a
    // row bad.
    herringbone(&["convert", "-f", "-q", "--on-error", "skip", &jsonl, &out]).ok("");
    herringbone(&["count", &out]).ok("20000\n");
}

#[test]
fn several_forms_stay_text() {
    let folder = Folder::new();
    let text = rows(10, "2024-01-02T03:04:05Z");
    let (jsonl, out) = (folder.with("a.jsonl", &text), folder.file("a.parquet"));
    let run = herringbone(&["convert", &jsonl, &out]);
    assert!(
        run.stderr
            .contains("`at`: dates and times in several forms stay text"),
        "{}",
        run.stderr
    );
    assert_eq!(types(&out), TEXT);
    herringbone(&["convert", "-f", "--type", "at=timestamptz", &jsonl, &out]).ok("");
    assert_eq!(types(&out), "at: Timestamp(µs, \"UTC\")\nday: Date32\n");
}

/// Files that form one table have the same type, which all of their rows have.
#[test]
fn several_files_have_one_type() {
    let folder = Folder::new();
    std::fs::create_dir(folder.file("d")).unwrap();
    folder.with("d/a.jsonl", rows(10, "2024-01-02T03:04:05.000Z"));
    folder.with("d/b.jsonl", rows(20_000, "soon"));
    let out = folder.file("a.parquet");
    herringbone(&["concat", "-q", &folder.file("d"), "-o", &out]).ok("");
    assert_eq!(types(&out), "at: Utf8\nday: Utf8\n");
    herringbone(&["count", &out]).ok("20010\n");
}
