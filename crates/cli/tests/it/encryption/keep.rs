//! Tests that files written from encrypted files are encrypted in the same way.

use std::fs;

use super::*;

/// Checks that a rewritten file has the same encryption properties, and that its columns need the same keys.
fn is_kept(folder: &Folder, keys: &str, from: &str, to: &str) {
    assert_eq!(encryption(from, keys), encryption(to, keys));
    let clear = |file: &str| {
        let meta = json(&herringbone(&["meta", file, "--keys", keys]));
        let metadata = meta["row_groups"][0]["columns"].as_array().unwrap().clone();
        let columns = metadata
            .iter()
            .map(|metadata| metadata["crypto_metadata"].clone());
        let columns: Vec<_> = columns.collect();
        (meta["footer_signing_key_metadata"].clone(), columns)
    };
    assert_eq!(clear(from), clear(to));
    let bytes = fs::read(to).unwrap();
    let magic = if clear_footer(from) { b"PAR1" } else { b"PARE" };
    assert_eq!(&bytes[..4], magic);
    // No value appears in plaintext.
    assert!(!bytes.windows(5).any(|window| window == b"amber"));
    has_the_rows(&herringbone(&["cat", to, "--keys", keys]));
    assert!(folder.names().iter().all(|name| !name.contains("tmp")));
}

fn clear_footer(file: &str) -> bool {
    fs::read(file).unwrap().starts_with(b"PAR1")
}

#[test]
fn rewriting_keeps_all_of_it() {
    let folder = Folder::new();
    let metadata = r#", "key_metadata": {"footer_key": "kf", "column_keys": {"id": "kc1", "origin": "base64:AP8="}}"#;
    let variants = [
        metadata.to_owned(),
        format!(r#"{metadata}, "plaintext_footer": true"#),
        r#", "aad_prefix": "part 0""#.to_owned(),
        r#", "aad_prefix": "part 0", "store_aad_prefix": false, "plaintext_footer": true"#
            .to_owned(),
        r#", "algorithm": "AES_GCM_CTR_V1", "algorithms": ["AES_GCM_CTR_V1"]"#.to_owned(),
    ];
    for (number, more) in variants.into_iter().enumerate() {
        let keys = keys(&folder, "keys.json", &more);
        let file = encrypted(&folder, &format!("{number}.parquet"), &keys);
        let out = |name: &str| folder.file(&format!("{number}.{name}.parquet"));
        for (command, out) in [
            ("rewrite", out("rewrite")),
            ("convert", out("convert")),
            ("repair", out("repair")),
        ] {
            let plain = ["--compression", "none", "--dictionary", "off"];
            let run = ["--quiet", command, &file, &out, "--keys", &keys];
            herringbone(&[&run[..], &plain].concat()).ok("");
            is_kept(&folder, &keys, &file, &out);
        }
        // However the user supplies the keys, the written file contains the metadata by which they
        // are found.
        let found = format!(
            r#"{{"by_metadata": {{"kf": "{KF}", "kc1": "{KC1}", "base64:AP8=": "{KC2}"}}}}"#
        );
        if number < 2 {
            let by_metadata = folder.with("by_metadata.json", found);
            let out = out("by_metadata");
            herringbone(&["rewrite", &file, &out, "--keys", &by_metadata]).ok("");
            is_kept(&folder, &by_metadata, &file, &out);
        }
    }
}

#[test]
fn fewer_columns_and_other_orders_keep_it_too() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let (file, out) = (
        encrypted(&folder, "a.parquet", &keys),
        folder.file("out.parquet"),
    );
    let some = folder.with(
        "some.json",
        format!(r#"{{"footer_key": "{KF}", "column_keys": {{"origin": "{KC2}"}}}}"#),
    );
    herringbone(&[
        "rewrite",
        &file,
        &out,
        "--columns",
        "name,origin.altitude",
        "--keys",
        &some,
    ])
    .ok("");
    let columns = encryption(&out, &some)["columns"].clone();
    assert_eq!(
        columns.to_string(),
        r#"[{"path":"name","key":"footer_key"},{"path":"origin.altitude","key":"own_key"}]"#
    );
    herringbone(&[
        "rewrite",
        "--force",
        &file,
        &file,
        "--sort-by",
        "id:desc",
        "--keys",
        &keys,
    ])
    .ok("");
    assert!(!clear_footer(&file));
    herringbone(&["count", &file, "--keys", &keys]).ok("24\n");
    // Columns in plaintext can be read without keys, but writing the output needs the footer key.
    let readable = super::keys(&folder, "readable.json", r#", "plaintext_footer": true"#);
    let file = encrypted(&folder, "b.parquet", &readable);
    herringbone(&["rewrite", &file, &folder.file("x"), "--keys", &some])
        .fails(3, "no key was given for the column");
}

#[test]
fn files_of_one_output_are_encrypted_alike() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let (a, b) = (
        encrypted(&folder, "a.parquet", &keys),
        encrypted(&folder, "b.parquet", &keys),
    );
    let out = folder.file("out.parquet");
    herringbone(&["concat", &a, &b, "-o", &out, "--keys", &keys]).ok("");
    assert_eq!(encryption(&out, &keys), encryption(&a, &keys));
    herringbone(&["count", &out, "--keys", &keys]).ok("48\n");
    let readable = super::keys(&folder, "readable.json", r#", "plaintext_footer": true"#);
    let c = encrypted(&folder, "c.parquet", &readable);
    herringbone(&["concat", "--force", &a, &c, "-o", &out, "--keys", &keys])
        .fails(3, "are encrypted differently");
    herringbone(&[
        "concat", "--force", &a, EXAMPLE, "-o", &out, "--keys", &keys,
    ])
    .fails(3, "the file is not encrypted");
    let d = folder.file("d.parquet");
    herringbone(&["decrypt", &c, "-o", &d, "--keys", &readable]).ok("");
    herringbone(&["rewrite", &c, &folder.file("x")]).fails(3, "supply them with --keys FILE");
}

#[test]
fn keys_are_changed_without_plaintext_on_a_disk() {
    let folder = Folder::new();
    let old = keys(&folder, "old.json", "");
    let new = folder.with("new.json", format!(r#"{{"footer_key": "{KC2}"}}"#));
    let file = encrypted(&folder, "a.parquet", &old);
    let plain = herringbone(&["--quiet", "decrypt", &file, "-o", "-", "--keys", &old]);
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    let out = folder.file("new.parquet");
    crate::common::stdin(
        &["--quiet", "encrypt", "-", "-o", &out, "--keys", &new],
        &plain.bytes,
    )
    .ok("");
    has_the_rows(&herringbone(&["cat", &out, "--keys", &new]));
    // A file that is already encrypted with the same keys is encrypted again.
    let ctr = keys(&folder, "ctr.json", r#", "algorithm": "AES_GCM_CTR_V1""#);
    let out = folder.file("ctr.parquet");
    herringbone(&["encrypt", &file, "-o", &out, "--keys", &ctr]).ok("");
    let both = keys(
        &folder,
        "both.json",
        r#", "algorithms": ["AES_GCM_V1", "AES_GCM_CTR_V1"]"#,
    );
    assert_eq!(encryption(&out, &both)["algorithm"], "AES_GCM_CTR_V1");
}

#[test]
fn nothing_can_be_had_without_the_footer() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &keys);
    let out = folder.file("out.parquet");
    let bytes = fs::read(&file).unwrap();
    let cut = folder.with("cut.parquet", &bytes[..bytes.len() - 20]);
    herringbone(&["repair", &cut, &out, "--keys", &keys])
        .fails(3, "it cannot be recovered without its footer");
    herringbone(&["repair", &file, &out])
        .fails(3, "no keys were given; supply them with --keys FILE");
    let wrong = folder.with("wrong.json", format!(r#"{{"footer_key": "{KC1}"}}"#));
    herringbone(&["repair", &file, &out, "--keys", &wrong]).fails(3, "not authentic");
    let readable = super::keys(&folder, "readable.json", r#", "plaintext_footer": true"#);
    let readable = encrypted(&folder, "readable.parquet", &readable);
    herringbone(&["repair", &readable, &out]).fails(3, "supply them with --keys FILE");
    let some = folder.with("some.json", format!(r#"{{"footer_key": "{KF}"}}"#));
    let run = herringbone(&["repair", &readable, &out, "--keys", &some]);
    run.fails(3, "no key was given for the column");
    assert!(!run.stderr.contains("--ignore-footer"), "{}", run.stderr);
    assert!(!folder.names().contains(&"out.parquet".to_owned()));
    // A changed page costs its row group, as it does in plaintext files.
    let small = folder.file("small.parquet");
    herringbone(&[
        "rewrite",
        &file,
        &small,
        "--row-group-rows",
        "8",
        "--keys",
        &keys,
    ])
    .ok("");
    let mut bytes = fs::read(&small).unwrap();
    bytes[60] ^= 1;
    let small = folder.with("small.parquet", bytes);
    let run = herringbone(&["repair", &small, &out, "--keys", &keys]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    herringbone(&["count", &out, "--keys", &keys]).ok("16\n");
    assert_eq!(encryption(&out, &keys), encryption(&file, &keys));
}
