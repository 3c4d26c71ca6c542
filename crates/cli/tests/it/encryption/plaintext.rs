//! Tests that values of encrypted columns do not get into file names and HTML pages unnoticed.

use super::*;

#[test]
fn names_of_parts_have_no_encrypted_values() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &keys);
    for column in ["id", "name"] {
        let pattern = folder.file(&format!("out/{{{column}}}.parquet"));
        let split = [
            "split", "-q", &file, "-o", &pattern, "--by", column, "--keys", &keys,
        ];
        let run = herringbone(&split);
        run.fails(3, &format!("the column `{column}` is encrypted"));
        run.fails(3, "--plaintext-names allows that");
        assert_eq!(folder.names(), ["a.parquet", "keys.json"], "{column}");
        herringbone(&[&split[..], &["--plaintext-names"]].concat()).ok("");
        std::fs::remove_dir_all(folder.file("out")).unwrap();
    }
    // Neither do names with another column in front.
    let (files, pattern) = (
        folder.file("*.parquet"),
        folder.file("{file}-{name}.parquet"),
    );
    herringbone(&[
        "split",
        &files,
        "-o",
        &pattern,
        "--path-column",
        "file",
        "--by",
        "file,name",
        "--keys",
        &keys,
    ])
    .fails(3, "the column `name` is encrypted");
    // A new name does not hide the column.
    let pattern = folder.file("{land}.parquet");
    let columns = [
        "-c",
        "id,land=origin.country",
        "--by",
        "land",
        "--keys",
        &keys,
    ];
    herringbone(&[&["split", &file, "-o", &pattern][..], &columns].concat())
        .fails(3, "the column `origin.country` is encrypted");
    // Parts that have numbers reveal nothing.
    let pattern = folder.file("{}.parquet");
    herringbone(&[
        "split",
        "-q",
        &file,
        "-o",
        &pattern,
        "--part-rows",
        "99",
        "--keys",
        &keys,
    ])
    .ok("");
    let copy = folder.file("plain.parquet");
    herringbone(&["decrypt", &file, "-o", &copy, "--keys", &keys]).ok("");
    let pattern = folder.file("{id}.parquet");
    herringbone(&["split", "-q", &copy, "-o", &pattern, "--by", "id"]).ok("");
}

#[test]
fn pages_have_no_encrypted_values() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &keys);
    let page = folder.file("page.html");
    let report = ["report", &file, "-f", "-o", &page, "--keys", &keys];
    let run = herringbone(&report);
    run.fails(3, "the column `id` is encrypted");
    run.fails(3, "--no-values");
    assert_eq!(folder.names(), ["a.parquet", "keys.json"]);
    herringbone(&[&report[..], &["--no-values"]].concat()).ok("");
    herringbone(&[&report[..], &["--plaintext-values"]].concat()).ok("");
    // Without keys, bounds cannot be read, so the page cannot have them.
    let readable = super::keys(&folder, "readable.json", r#", "plaintext_footer": true"#);
    let file = encrypted(&folder, "b.parquet", &readable);
    herringbone(&["report", EXAMPLE, "-f", "-o", &page]).ok("");
    let run = herringbone(&["report", &file, "-f", "-o", &page]);
    assert!(!run.stderr.contains("--plaintext-values"), "{}", run.stderr);
}

#[test]
fn no_message_repeats_a_key() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &keys);
    let json = std::fs::read_to_string(&keys).unwrap();
    for secret in [json.as_str(), KF, "30313233343536373839303132333435"] {
        let run = herringbone(&["cat", &file, "--keys", secret]);
        run.fails(2, "--keys and HERRINGBONE_KEYS name a file");
        assert!(!run.stderr.contains(secret), "{}", run.stderr);
        tells_no_key(&run);
        let mut command = crate::common::command(&["cat", &file]);
        let run: Run = command
            .env("HERRINGBONE_KEYS", secret)
            .output()
            .unwrap()
            .into();
        run.fails(2, "name a file");
        tells_no_key(&run);
    }
    herringbone(&["cat", &file, "--keys", "nope.json"]).fails(4, "nope.json");
}
