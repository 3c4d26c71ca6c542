//! Tests that errors name options of this command that exist and that help.

use std::fs;

use crate::common::{EXAMPLE, Folder, herringbone, path};

/// Returns the example with a page that does not match its checksum.
fn wrong_checksum(folder: &Folder) -> String {
    let mut file = fs::read(path(EXAMPLE)).unwrap();
    let pages = herringbone(&["pages", EXAMPLE]).stdout;
    let first: serde_json::Value = serde_json::from_str(pages.lines().next().unwrap()).unwrap();
    let body =
        (first["offset"].as_u64().unwrap() + first["header_size"].as_u64().unwrap()) as usize;
    // This is the last byte in a dictionary of integers, so only a value changes.
    let size = first["compressed_size"].as_u64().unwrap() as usize;
    file[body + size - 1] ^= 1;
    folder.with("damaged.parquet", file)
}

#[test]
fn checksums_can_be_ignored() {
    let folder = Folder::new();
    let (file, out) = (wrong_checksum(&folder), folder.file("out.parquet"));
    for (command, option) in [
        (&["cat", &*file][..], "--ignore-crc"),
        (&["rewrite", &file, &out], "--ignore-crc"),
        (&["concat", &file, "-o", &out], "--ignore-crc"),
        (&["convert", &file, &out], "--ignore-crc"),
    ] {
        let run = herringbone(command);
        run.fails(3, &format!("; {option} ignores it (column "));
        assert!(!run.stderr.contains("verify_crc"), "{}", run.stderr);
        // A codec need not notice the damage that a checksum would have found.
        let ignored = herringbone(&[command, &[option]].concat());
        assert!(!ignored.stderr.contains("checksum"), "{}", ignored.stderr);
        fs::remove_file(&out).ok();
    }
}

#[test]
fn limits_are_raised_by_their_option() {
    let run = herringbone(&["cat", "--max", "page_bytes=5", EXAMPLE]);
    run.fails(
        3,
        "limit `page_bytes` of 5; raise it with --max page_bytes=N (",
    );
    assert!(!run.stderr.contains("`Limits`"), "{}", run.stderr);
}

#[test]
fn the_arrow_schema_can_be_ignored() {
    let folder = Folder::new();
    let types = folder.with("types.txt", "t: Time32(s)\n");
    let rows = folder.with("rows.csv", "t\n12:34:56\n");
    let file = folder.file("t.parquet");
    herringbone(&["--quiet", "convert", "--schema", &types, &rows, &file]).ok("");
    let shown = |more: &[&str]| herringbone(&[&["cat", &file][..], more].concat()).stdout;
    assert_eq!(shown(&[]), "{\"t\":\"12:34:56\"}\n");
    assert_eq!(shown(&["--no-arrow-schema"]), "{\"t\":\"12:34:56.000\"}\n");
}

/// A footer with wrong offsets can be read, but it is of no use.
#[test]
fn repair_names_the_footer() {
    let folder = Folder::new();
    let file = fs::read(path(EXAMPLE)).unwrap();
    // Each page is one byte after its offset in the footer.
    let mut moved = file[..4].to_vec();
    moved.push(0);
    moved.extend(&file[4..]);
    let moved = folder.with("moved.parquet", moved);
    let out = folder.file("out.parquet");
    let repair = ["repair", &moved, &out];
    herringbone(&repair).fails(
        3,
        "no intact row group was found; --ignore-footer looks for pages without",
    );
    let run = herringbone(&[&repair[..], &["--ignore-footer"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(herringbone(&["count", &out]).stdout, "24\n");
    let run = herringbone(
        &[
            &repair[..],
            &["--ignore-footer", "--force", "--row-group-rows", "5"],
        ]
        .concat(),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
}
