//! Tests the encrypted files of apache/parquet-testing, with the keys from its README.

use std::path::PathBuf;

use super::*;

/// Each file, and the text that its keys file needs in addition.
const FILES: [(&str, &str); 12] = [
    ("uniform_encryption", ""),
    ("encrypt_columns_and_footer", ""),
    ("encrypt_columns_plaintext_footer", ""),
    (
        "encrypt_columns_and_footer_aad",
        r#", "aad_prefix": "tester""#,
    ),
    (
        "encrypt_columns_and_footer_disable_aad_storage",
        r#", "aad_prefix": "tester""#,
    ),
    (
        "encrypt_columns_and_footer_ctr",
        r#", "algorithms": ["AES_GCM_CTR_V1"]"#,
    ),
    ("encrypt_columns_and_footer_bloom_filter", ""),
    ("aes256/uniform_encryption", ""),
    ("aes256/encrypt_columns_and_footer", ""),
    ("aes256/encrypt_columns_plaintext_footer", ""),
    (
        "aes256/encrypt_columns_and_footer_disable_aad_storage",
        r#", "aad_prefix": "tester""#,
    ),
    (
        "aes256/encrypt_columns_and_footer_ctr",
        r#", "algorithms": ["AES_GCM_CTR_V1"]"#,
    ),
];

/// The option for these files, because their INT96 timestamps are not valid times.
const INT96: [&str; 2] = ["--int96-overflow", "null"];

fn official(name: &str) -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("PARQUET_TEST_DATA")?);
    let path = folder.join(format!("{name}.parquet.encrypted"));
    Some(path.to_str().unwrap().to_owned())
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Returns the keys under the names that the files use, as JSON.
fn by_metadata(name: &str, more: &str) -> String {
    let is_long = name.starts_with("aes256");
    let keys = (1..=8).map(|number| match is_long {
        true => format!(
            r#""kc{number}": "{}""#,
            base64(&format!("1234567890123456789012345678901{}", number + 1))
        ),
        false => format!(
            r#""kc{number}": "{}""#,
            base64(&format!("123456789012345{}", number - 1))
        ),
    });
    let keys: Vec<String> = keys.collect();
    let footer = if is_long {
        "01234567890123456789012345678901"
    } else {
        "0123456789012345"
    };
    format!(
        r#"{{"by_metadata": {{"kf": "{}", {}}}{more}}}"#,
        base64(footer),
        keys.join(", ")
    )
}

#[test]
fn all_of_them_are_read_and_rewritten() {
    let folder = Folder::new();
    for (name, more) in FILES {
        let Some(file) = official(name) else {
            return;
        };
        let keys = folder.with("keys.json", by_metadata(name, more));
        let rows = herringbone(&["--quiet", "cat", &file, "--keys", &keys, INT96[0], INT96[1]]);
        assert_eq!((rows.code, rows.stderr.as_str()), (0, ""), "{name}");
        if !name.ends_with("bloom_filter") {
            // All writers of these files wrote the same rows.
            let second = rows.stdout.lines().nth(2).unwrap();
            for said in [
                r#""boolean_field":true"#,
                r#""flba_field":"AgICAgICAgICAg==""#,
                r#""float_field":2.2"#,
                r#""double_field":2.2222222"#,
            ] {
                assert!(second.contains(said), "{name}: {second}");
            }
        }
        let out = folder.file(&format!("{}.parquet", name.replace('/', "_")));
        let run = herringbone(&[
            "--quiet", "rewrite", &file, &out, "--keys", &keys, INT96[0], INT96[1],
        ]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert_eq!(encryption(&out, &keys), encryption(&file, &keys), "{name}");
        assert_eq!(
            herringbone(&["--quiet", "cat", &out, "--keys", &keys]).stdout,
            rows.stdout,
            "{name}"
        );
        let verified = herringbone(&["--quiet", "verify", &out, "--keys", &keys]);
        assert_eq!(verified.code, 0, "{name}: {}", verified.stdout);
        let info = herringbone(&["info", &file]);
        assert!(
            info.stdout.contains("\nencryption   AES_GCM"),
            "{name}: {}",
            info.stdout
        );
    }
}

#[test]
fn key_material_goes_with_the_file() {
    let Some(file) = official("external_key_material_java") else {
        return;
    };
    let folder = Folder::new();
    let master_keys = format!(
        r#"{{"master_keys": {{"kf": "{KF}", "kc1": "{KC1}", "kc2": "{KC2}"}}, "kms": "test"}}"#
    );
    let keys = folder.with("keys.json", master_keys);
    let rows = herringbone(&["cat", &file, "--keys", &keys]);
    assert_eq!((rows.code, rows.stderr.as_str()), (0, ""));
    assert!(rows.stdout.lines().count() > 1);
    let out = folder.file("out.parquet");
    herringbone(&["rewrite", &file, &out, "--keys", &keys]).ok("");
    let material = "_KEY_MATERIAL_FOR_out.parquet.json";
    assert_eq!(folder.names(), [material, "keys.json", "out.parquet"]);
    herringbone(&["cat", &out, "--keys", &keys]).ok(&rows.stdout);
    // If a file is rewritten in place, its key material stays.
    let before = std::fs::read(folder.file(material)).unwrap();
    herringbone(&["rewrite", "--force", &out, &out, "--keys", &keys]).ok("");
    assert_eq!(std::fs::read(folder.file(material)).unwrap(), before);
    herringbone(&["cat", &out, "--keys", &keys]).ok(&rows.stdout);
    // The key material of another file is only replaced with `--force`.
    let other = folder.file("other.parquet");
    folder.with("_KEY_MATERIAL_FOR_other.parquet.json", "{}");
    herringbone(&["rewrite", &out, &other, "--keys", &keys]).fails(2, "--force replaces it");
    herringbone(&["rewrite", &out, "-", "--keys", &keys])
        .fails(2, "cannot be written to standard output");
    // Without the key material, the key cannot be found.
    std::fs::remove_file(folder.file(material)).unwrap();
    herringbone(&["cat", &out, "--keys", &keys]).fails(4, "key material");
}

/// `int32_field` is in plaintext, and `double_field` is not.
#[test]
fn columns_in_plaintext_may_become_names() {
    let name = "encrypt_columns_and_footer";
    let Some(file) = official(name) else { return };
    let folder = Folder::new();
    let keys = folder.with("keys.json", by_metadata(name, ""));
    for (column, is_refused) in [("int32_field", false), ("double_field", true)] {
        let pattern = folder.file(&format!("{{{column}}}.parquet"));
        let split = [
            "split", "-q", &file, "-o", &pattern, "--by", column, "--keys", &keys,
        ];
        let run = herringbone(&[&split[..], &INT96].concat());
        match is_refused {
            true => run.fails(3, "the column `double_field` is encrypted"),
            false => run.ok(""),
        }
    }
}
