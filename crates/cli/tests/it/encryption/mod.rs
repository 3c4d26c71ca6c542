//! Encrypted files, used through the command.

mod keep;
mod keys;
mod official;
mod plaintext;
mod said;

use crate::common::{EXAMPLE, Folder, Run, herringbone, json};

/// `0123456789012345`.
const KF: &str = "MDEyMzQ1Njc4OTAxMjM0NQ==";
/// `1234567890123450`.
const KC1: &str = "MTIzNDU2Nzg5MDEyMzQ1MA==";
/// `1234567890123451`.
const KC2: &str = "MTIzNDU2Nzg5MDEyMzQ1MQ==";

/// A keys file with a key for the footer, one for `id` and one for all columns in `origin`, followed by `more`.
fn keys(folder: &Folder, name: &str, more: &str) -> String {
    folder.with(
        name,
        format!(
            r#"{{"footer_key": "{KF}", "column_keys": {{"id": "{KC1}", "origin": "{KC2}"}}{more}}}"#
        ),
    )
}

/// The example, encrypted according to the keys file.
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

/// The encryption of a file according to `schema`.
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
