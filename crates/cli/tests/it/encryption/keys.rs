//! Tests where keys come from, and the errors for missing or wrong keys.

use super::*;
use crate::common::{command, stdin};

#[test]
fn files_come_back_with_their_keys() {
    let folder = Folder::new();
    let variants = [
        "",
        r#", "plaintext_footer": true"#,
        r#", "aad_prefix": "part 0""#,
        r#", "aad_prefix": "base64:AP8=", "store_aad_prefix": false"#,
        r#", "algorithm": "AES_GCM_CTR_V1", "algorithms": ["AES_GCM_CTR_V1"]"#,
    ];
    for (number, more) in variants.into_iter().enumerate() {
        let keys = keys(&folder, &format!("{number}.json"), more);
        let file = encrypted(&folder, &format!("{number}.parquet"), &keys);
        has_the_rows(&herringbone(&["cat", &file, "--keys", &keys]));
        // Without keys, the file cannot be read.
        herringbone(&["cat", &file]).fails(3, "no keys were given; supply them with --keys FILE");
        let plain = folder.file(&format!("{number}.plain"));
        herringbone(&["decrypt", &file, "-o", &plain, "--keys", &keys]).ok("");
        has_the_rows(&herringbone(&["cat", &plain]));
        let meta = json(&herringbone(&["meta", &plain]));
        assert_eq!(meta.get("encryption_algorithm"), None);
        assert_eq!(
            meta["key_value_metadata"],
            json(&herringbone(&["meta", EXAMPLE]))["key_value_metadata"]
        );
    }
}

#[test]
fn every_reading_command_takes_them() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &keys);
    herringbone(&["count", &file, "--keys", &keys]).ok("24\n");
    herringbone(&["verify", &file, "--keys", &keys]).ok(&format!("{file}: sound\n"));
    let first = herringbone(&["head", "-n", "1", EXAMPLE]).stdout;
    herringbone(&["head", "-n", "1", &file, "--keys", &keys]).ok(&first);
    let pages = herringbone(&["pages", &file, "--keys", &keys]);
    assert_eq!(pages.code, 0, "{}", pages.stderr);
    assert!(pages.stdout.lines().count() >= 9, "{}", pages.stdout);
    // Files with one page per column chunk do not have indexes, so this file has several.
    let short = folder.file("short_pages.parquet");
    let pages = ["--page-rows", "16"];
    herringbone(
        &[
            &["encrypt", EXAMPLE, "-o", &short, "--keys", &keys][..],
            &pages,
        ]
        .concat(),
    )
    .ok("");
    let meta = json(&herringbone(&[
        "meta",
        "--indexes",
        &short,
        "--keys",
        &keys,
    ]));
    let column = &meta["row_groups"][0]["columns"][0];
    assert_eq!(column["meta_data"]["num_values"], 24);
    let locations = column["offset_index"]["page_locations"].as_array();
    assert!(locations.unwrap().len() > 1);
    let csv = folder.file("a.csv");
    herringbone(&["--quiet", "convert", &file, &csv, "--keys", &keys]).ok("");
    let expected = herringbone(&["cat", "--format", "csv", EXAMPLE]).stdout;
    assert_eq!(std::fs::read_to_string(csv).unwrap(), expected);
}

#[test]
fn keys_come_by_option_variable_or_standard_input() {
    let folder = Folder::new();
    let path = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &path);
    let cat = ["cat", &*file];
    has_the_rows(
        &command(&cat)
            .env("HERRINGBONE_KEYS", &path)
            .output()
            .unwrap()
            .into(),
    );
    let wrong = folder.with("wrong.json", format!(r#"{{"footer_key": "{KC1}"}}"#));
    let with_both = ["cat", &*file, "--keys", &*path];
    has_the_rows(
        &command(&with_both)
            .env("HERRINGBONE_KEYS", &wrong)
            .output()
            .unwrap()
            .into(),
    );
    let text = std::fs::read(&path).unwrap();
    has_the_rows(&stdin(&["cat", &file, "--keys", "-"], &text));
    stdin(&["cat", "-", "--keys", "-"], &text).fails(2, "standard input can be read once only");
    // An empty variable counts as if it were not set.
    let run: Run = command(&["count", EXAMPLE])
        .env("HERRINGBONE_KEYS", "")
        .output()
        .unwrap()
        .into();
    run.ok("24\n");
    // The encrypted file can also come from standard input.
    let bytes = std::fs::read(&file).unwrap();
    has_the_rows(&stdin(&["cat", "-", "--keys", &path], &bytes));
}

#[test]
fn wrong_keys_files_are_wrong_command_lines() {
    let folder = Folder::new();
    let path = folder.file("keys.json");
    let read = |text: &str| {
        folder.with("keys.json", text);
        let run = herringbone(&["count", EXAMPLE, "--keys", &path]);
        tells_no_key(&run);
        run
    };
    read("{\"footer\": 1}").fails(2, "keys.json: keys file, line 1: unknown member \"footer\"");
    read("{}").fails(2, "expected \"footer_key\", \"column_keys\"");
    read(&format!("{{\"footer_key\": \"{KF}x\"}}")).fails(2, "not base64");
    read(&format!("{{\"column_keys\": {{\"a..b\": \"{KF}\"}}}}")).fails(2, "not a column path");
    folder.with("keys.json", [0xff, 0xfe]);
    herringbone(&["count", EXAMPLE, "--keys", &path]).fails(2, "this is not text");
    herringbone(&["count", EXAMPLE, "--keys", "no such file"]).fails(4, "no such file: ");
    herringbone(&["encrypt", EXAMPLE, "-o", &folder.file("x")])
        .fails(2, "`encrypt` needs keys: use --keys FILE");
    herringbone(&["decrypt", EXAMPLE, "-o", &folder.file("x")]).fails(2, "`decrypt` needs keys");
    let no_footer = folder.with(
        "columns.json",
        format!(r#"{{"column_keys": {{"id": "{KF}"}}}}"#),
    );
    herringbone(&[
        "encrypt",
        EXAMPLE,
        "-o",
        &folder.file("x"),
        "--keys",
        &no_footer,
    ])
    .fails(2, "encryption needs \"footer_key\"");
    let unknown = keys(&folder, "unknown.json", "");
    let text = std::fs::read_to_string(&unknown)
        .unwrap()
        .replace("\"id\"", "\"ids\"");
    let unknown = folder.with("unknown.json", text);
    herringbone(&[
        "encrypt",
        EXAMPLE,
        "-o",
        &folder.file("x"),
        "--keys",
        &unknown,
    ])
    .fails(
        2,
        "there is no column ids, and none in it; the columns are id, name",
    );
    assert!(!folder.names().contains(&"x".to_owned()));
}

#[test]
fn what_keys_do_not_fit_is_an_error_of_the_bytes() {
    let folder = Folder::new();
    let good = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &good);
    let with = |text: String| {
        let path = folder.with("other.json", text);
        let run = herringbone(&["cat", &file, "--keys", &path]);
        tells_no_key(&run);
        run
    };
    with(format!(r#"{{"footer_key": "{KC1}"}}"#)).fails(3, "not authentic");
    with(format!(r#"{{"column_keys": {{"id": "{KC1}"}}}}"#))
        .fails(3, "no key was given for the footer");
    with(format!(r#"{{"footer_key": "{KF}"}}"#)).fails(3, "no key was given for the column");
    let wrong_column =
        format!(r#"{{"footer_key": "{KF}", "column_keys": {{"id": "{KC2}", "origin": "{KC2}"}}}}"#);
    with(wrong_column).fails(3, "column id");
    // Columns can be read if their keys are available.
    let some = folder.with("some.json", format!(r#"{{"footer_key": "{KF}"}}"#));
    let some = herringbone(&["cat", "--columns", "name", &file, "--keys", &some]);
    some.ok(&herringbone(&["cat", "--columns", "name", EXAMPLE]).stdout);
    // An attacker might have replaced an encrypted file by a plaintext one, so it is refused.
    herringbone(&["cat", EXAMPLE, "--keys", &good])
        .fails(3, "to read it anyway, omit --keys and HERRINGBONE_KEYS");
    let supplied = keys(
        &folder,
        "supplied.json",
        r#", "aad_prefix": "p", "store_aad_prefix": false"#,
    );
    let file = encrypted(&folder, "b.parquet", &supplied);
    herringbone(&["cat", &file, "--keys", &good])
        .fails(3, "supply it with \"aad_prefix\" in the keys file");
    let ctr = keys(&folder, "ctr.json", r#", "algorithm": "AES_GCM_CTR_V1""#);
    let file = encrypted(&folder, "c.parquet", &ctr);
    herringbone(&["cat", &file, "--keys", &ctr]).fails(3, "in the keys file allow it");
    let unknown = folder.with(
        "unknown.json",
        format!(r#"{{"footer_key": "{KF}", "column_keys": {{"nope": "{KF}"}}}}"#),
    );
    herringbone(&["cat", &folder.file("a.parquet"), "--keys", &unknown])
        .fails(2, "there is no column nope");
}

#[test]
fn keys_of_other_formats_have_no_use() {
    let folder = Folder::new();
    let path = keys(&folder, "keys.json", "");
    let (csv, out) = (folder.with("a.csv", "a\n1\n"), folder.file("a.parquet"));
    herringbone(&["convert", &csv, &out, "--keys", &path]).fails(2, "--keys is for Parquet input");
    let run: Run = command(&["convert", &csv, &out])
        .env("HERRINGBONE_KEYS", &path)
        .output()
        .unwrap()
        .into();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("note: `convert` does not encrypt OUT"),
        "{}",
        run.stderr
    );
}
