//! Tests what `info`, `schema` and `verify` print about encryption.

use super::*;

#[test]
fn info_says_what_is_encrypted() {
    let folder = Folder::new();
    let keys = keys(&folder, "keys.json", r#", "aad_prefix": "part 0""#);
    let file = encrypted(&folder, "a.parquet", &keys);
    let info = herringbone(&["info", &file, "--keys", &keys]);
    for said in [
        "\nencryption   AES_GCM_V1\nfooter       encrypted\nAAD prefix   stored in the file\n",
        "own key",
        "footer key",
    ] {
        assert!(info.stdout.contains(said), "{}", info.stdout);
    }
    assert!(!info.stdout.contains("part 0"), "{}", info.stdout);
    // Without keys, only the part that does not need the footer is printed.
    let info = herringbone(&["info", &file]);
    info.fails(
        3,
        "the footer is encrypted, but no keys were given; supply them with --keys FILE",
    );
    assert!(
        info.stdout.ends_with(
            "encryption   AES_GCM_V1\nfooter       encrypted\nAAD prefix   stored in the file\n"
        ),
        "{}",
        info.stdout
    );

    let readable = super::keys(&folder, "readable.json", r#", "plaintext_footer": true"#);
    let file = encrypted(&folder, "b.parquet", &readable);
    let info = herringbone(&["info", &file]);
    assert_eq!((info.code, info.stderr.as_str()), (0, ""));
    for said in [
        "\nencryption   AES_GCM_V1\nfooter       readable, signed\n",
        "rows         24\n",
        "own key",
        "footer key",
    ] {
        assert!(info.stdout.contains(said), "{}", info.stdout);
    }
    assert!(!herringbone(&["info", EXAMPLE]).stdout.contains("encrypt"));
}

#[test]
fn schema_says_what_is_encrypted() {
    let folder = Folder::new();
    let readable = keys(&folder, "readable.json", r#", "plaintext_footer": true"#);
    let file = encrypted(&folder, "b.parquet", &readable);
    let run = herringbone(&["schema", &file]);
    assert_eq!(run.code, 0);
    assert_eq!(run.stdout, herringbone(&["schema", EXAMPLE]).stdout);
    let said = "encrypted by AES_GCM_V1; the footer is readable and signed; footer key: name, price, weight, \
                organic, harvested, tags.list.element; own key: id, origin.country, origin.altitude\n";
    assert!(run.stderr.ends_with(said), "{}", run.stderr);
    let encryption = encryption(&file, &readable);
    assert_eq!(encryption["plaintext_footer"], true);
    assert_eq!(encryption["pages_authenticated"], true);
    assert_eq!(
        encryption["columns"][0].to_string(),
        r#"{"path":"id","key":"own_key"}"#
    );
    let hidden = keys(&folder, "keys.json", "");
    let file = encrypted(&folder, "a.parquet", &hidden);
    let run = herringbone(&["schema", &file]);
    run.fails(3, "note: ");
    assert!(
        run.stderr
            .contains("encrypted by AES_GCM_V1; the footer is encrypted\n"),
        "{}",
        run.stderr
    );
    assert!(
        json(&herringbone(&["schema", "--format", "json", EXAMPLE]))
            .get("encryption")
            .is_none()
    );
}

#[test]
fn pages_that_nothing_authenticates_are_named() {
    let folder = Folder::new();
    let ctr = keys(
        &folder,
        "ctr.json",
        r#", "algorithm": "AES_GCM_CTR_V1", "algorithms": ["AES_GCM_CTR_V1"]"#,
    );
    let file = encrypted(&folder, "a.parquet", &ctr);
    let caution = "bodies of pages are not authenticated";
    assert!(herringbone(&["info", &file]).stdout.contains(caution));
    assert!(
        herringbone(&["info", &file, "--keys", &ctr])
            .stdout
            .contains(caution)
    );
    assert!(
        herringbone(&["schema", &file, "--keys", &ctr])
            .stderr
            .contains(caution)
    );
    let run = herringbone(&["verify", &file, "--keys", &ctr]);
    assert_eq!((run.code, run.stdout), (0, format!("{file}: sound\n")));
    assert!(run.stderr.contains(caution), "{}", run.stderr);
}
