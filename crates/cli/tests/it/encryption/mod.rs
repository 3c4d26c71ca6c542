//! Tests how the command handles encrypted files.

mod keep;
mod keys;
mod official;
mod plaintext;
mod said;

use crate::common::{EXAMPLE, Folder, Run, herringbone, json};

/// The key `0123456789012345`.
const KF: &str = "MDEyMzQ1Njc4OTAxMjM0NQ==";
/// The key `1234567890123450`.
const KC1: &str = "MTIzNDU2Nzg5MDEyMzQ1MA==";
/// The key `1234567890123451`.
const KC2: &str = "MTIzNDU2Nzg5MDEyMzQ1MQ==";

/// Writes a keys file with a key for the footer, one for `id` and one for all columns in `origin`.
/// The text `more` follows them.
fn keys(folder: &Folder, name: &str, more: &str) -> String {
    folder.with(
        name,
        format!(
            r#"{{"footer_key": "{KF}", "column_keys": {{"id": "{KC1}", "origin": "{KC2}"}}{more}}}"#
        ),
    )
}

/// Encrypts the example according to a keys file, and returns the path.
fn encrypted(folder: &Folder, name: &str, keys: &str) -> String {
    let out = folder.file(name);
    herringbone(&["encrypt", EXAMPLE, "-o", &out, "--keys", keys]).ok("");
    out
}

/// Checks that the run printed the rows of the example.
fn has_the_rows(run: &Run) {
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, herringbone(&["cat", EXAMPLE]).stdout);
}

/// Returns a file's encryption according to `schema`.
fn encryption(file: &str, keys: &str) -> serde_json::Value {
    let run = herringbone(&["schema", "--format", "json", file, "--keys", keys]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    json(&run)["encryption"].clone()
}

/// Checks that no output contains a part of a key.
fn tells_no_key(run: &Run) {
    for secret in [KF, KC1, KC2, "0123456789012345", "123456789012345"] {
        assert!(!run.stderr.contains(secret), "{}", run.stderr);
        assert!(!run.stdout.contains(secret), "{}", run.stdout);
    }
}
