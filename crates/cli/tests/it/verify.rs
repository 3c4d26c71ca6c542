//! Tests the lines, JSON and exit codes of `verify`. The library's tests check the findings.

use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone};

const DAMAGED: &str = "testdata/hostile/checksum_wrong.parquet";

#[test]
fn sound_files_end_with_0() {
    herringbone(&["verify", EXAMPLE]).ok("testdata/example.parquet: sound\n");
    herringbone(&["verify", "--json", EXAMPLE]).ok("");
}

/// Without checksums, no reader can notice a changed value. A remark points this out, but it does
/// not change the exit code.
#[test]
fn pages_without_checksums_are_noted() {
    let folder = Folder::new();
    let (file, page) = (folder.file("a.parquet"), folder.file("a.html"));
    for (option, remark) in [
        (&[][..], None),
        (
            &["--no-crc"],
            Some("the pages have no checksums, so changed bytes"),
        ),
    ] {
        herringbone(&[&["rewrite", "-q", "--force", EXAMPLE, &file], option].concat()).ok("");
        let run = herringbone(&["verify", &file]);
        assert_eq!((run.code, run.stdout), (0, format!("{file}: sound\n")));
        herringbone(&["report", "-q", "--force", &file, "-o", &page]).code(&[0]);
        let html = std::fs::read_to_string(&page).unwrap();
        assert!(html.contains("Sound: all metadata agrees"));
        match remark {
            None => assert_eq!(run.stderr, ""),
            Some(remark) => {
                assert!(run.stderr.contains(remark), "{}", run.stderr);
                assert!(html.contains(remark));
            }
        }
    }
}

#[test]
fn findings_end_with_1() {
    let run = herringbone(&["verify", EXAMPLE, DAMAGED]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "testdata/example.parquet: sound");
    let line = "testdata/hostile/checksum_wrong.parquet: error checksum: page checksum is ";
    assert!(lines[1].starts_with(line), "{}", run.stdout);
    assert!(lines[1].ends_with("(column x, row group 0, page 0, offset 0x4)"));
    let last = lines.last().unwrap();
    assert!(last.starts_with("testdata/hostile/checksum_wrong.parquet: 1 error, "));
}

/// Sizes that only serve as estimates do not change the rows that readers return.
#[test]
fn notes_end_with_0() {
    let file = "testdata/built/page_checksums.parquet";
    let run = herringbone(&["verify", file]);
    let note = "note row_group: total_byte_size is 177, but the pages have 172 (row group 0)";
    run.ok(&format!("{file}: {note}\n{file}: sound, 1 note\n"));
    let run = herringbone(&["verify", "--json", file]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let finding: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(finding["severity"], "note");
}

#[test]
fn findings_are_json_lines() {
    let run = herringbone(&["verify", "--json", DAMAGED]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let finding: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(finding["file"], DAMAGED);
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["kind"], "checksum");
    assert_eq!(finding["row_group"], 0);
    assert_eq!(finding["column"], "x");
    assert_eq!(finding["page"], 0);
    assert_eq!(finding["offset"], 4);
}

#[test]
fn unreadable_files_end_with_3_and_the_others_are_checked() {
    let run = herringbone(&["verify", "Cargo.toml", DAMAGED, EXAMPLE]);
    run.fails(3, "Cargo.toml: expected Parquet, but this is text");
    assert!(run.stdout.contains("error checksum"), "{}", run.stdout);
    assert!(run.stdout.ends_with("example.parquet: sound\n"));
    herringbone(&["verify", "no such file"]).fails(4, "no such file");
}
