//! Tests the files, exit codes and messages of `repair`. The library's tests check the recovered
//! rows.

use std::fs;

use crate::common::{EXAMPLE, Folder, herringbone, path};
use crate::rewrite::out_of_range;

fn cut(folder: &Folder, bytes: usize) -> String {
    let file = fs::read(path(EXAMPLE)).unwrap();
    folder.with("damaged.parquet", &file[..file.len() - bytes])
}

fn rows(file: &str) -> String {
    let run = herringbone(&["cat", file]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

#[test]
fn a_cut_footer_costs_nothing() {
    let folder = Folder::new();
    let (damaged, out) = (cut(&folder, 8), folder.file("out.parquet"));
    herringbone(&["cat", &damaged]).fails(3, "not a Parquet file");
    let run = herringbone(&["repair", &damaged, &out]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert!(
        run.stderr.contains("24 rows in 2 row groups"),
        "{}",
        run.stderr
    );
    assert_eq!(rows(&out), rows(EXAMPLE));
    herringbone(&["--quiet", "repair", &damaged, &out]).fails(2, "the file already exists");
    herringbone(&["--quiet", "repair", "--force", &damaged, &out]).ok("");
    assert_eq!(folder.names(), ["damaged.parquet", "out.parquet"]);
}

#[test]
fn losses_and_the_result_are_json_lines() {
    let folder = Folder::new();
    let mut file = fs::read(path(EXAMPLE)).unwrap();
    // This changes a value in the first page of the first column chunk.
    file[60] ^= 0xff;
    let damaged = folder.with("damaged.parquet", &file);
    let out = folder.file("out.parquet");
    let run = herringbone(&["repair", "--json", &damaged, &out]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let lines: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [lost, result] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(lost["kind"], "lost");
    assert_eq!(lost["file"], damaged.as_str());
    assert_eq!(
        (&lost["row_group"], &lost["column"]),
        (&0.into(), &"id".into())
    );
    assert!(
        lost["message"].as_str().unwrap().contains("checksum"),
        "{lost}"
    );
    let expected = serde_json::json!({
        "kind": "repaired", "file": damaged, "output": out, "footer": "intact",
        "num_rows": 24 - lost["num_rows"].as_u64().unwrap(), "row_groups": 1, "is_end_known": true,
    });
    assert_eq!(*result, expected);
    assert_eq!(
        rows(&out).lines().count() as u64,
        result["num_rows"].as_u64().unwrap()
    );
    herringbone(&["repair", "--json", &damaged, "-"]).fails(2, "OUT must be a file");
}

/// Returns the file without its footer.
fn without_footer(folder: &Folder, file: &str) -> String {
    let bytes = fs::read(path(file)).unwrap();
    let length = bytes[bytes.len() - 8..].first_chunk().unwrap();
    let footer = bytes.len() - 8 - u32::from_le_bytes(*length) as usize;
    folder.with("damaged.parquet", &bytes[..footer])
}

#[test]
fn a_lost_footer_takes_a_schema() {
    let folder = Folder::new();
    let damaged = without_footer(&folder, EXAMPLE);
    let out = folder.file("out.parquet");
    let run = herringbone(&["repair", &damaged, &out]);
    run.fails(3, "the schema is lost with the footer");
    assert!(
        run.stderr.contains("; supply it with --schema FILE"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.names(), ["damaged.parquet"]);
    let run = herringbone(&["repair", &damaged, &out, "--schema", EXAMPLE]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the footer is lost"), "{}", run.stderr);
    assert_eq!(rows(&out), rows(EXAMPLE));
}

/// The two columns have the same type and no dictionaries, so the pages do not show where a column
/// ends.
#[test]
fn columns_that_look_alike_take_a_number_of_rows() {
    let folder = Folder::new();
    let table = folder.with("table.csv", "a,b\n1,5\n2,6\n3,7\n4,8\n");
    let (whole, out) = (folder.file("whole.parquet"), folder.file("out.parquet"));
    let options = ["--dictionary", "off", "--page-rows", "1", "--quiet"];
    herringbone(&[&["convert", &table, &whole][..], &options].concat()).ok("");
    let damaged = without_footer(&folder, &whole);
    let repair = ["repair", &damaged, &out, "--schema", &whole];
    herringbone(&repair).fails(3, "; supply their number with --input-row-group-rows N");
    let run = herringbone(&[&repair[..], &["--input-row-group-rows", "4"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(rows(&out), rows(&whole));
}

#[test]
fn the_schema_may_be_a_text() {
    let folder = Folder::new();
    // The types are stored as this program would store them.
    let (arrow, written) = (folder.file("arrow.arrows"), folder.file("written.parquet"));
    herringbone(&["convert", EXAMPLE, &arrow]).ok("");
    herringbone(&["convert", &arrow, &written]).ok("");
    let damaged = without_footer(&folder, &written);
    let text = herringbone(&["schema", "--format", "arrow", EXAMPLE]).stdout;
    let text = folder.with("types.txt", text);
    let out = folder.file("out.parquet");
    let run = herringbone(&["repair", &damaged, &out, "--schema", &text]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(rows(&out), rows(EXAMPLE));
}

#[test]
fn what_is_lost_is_said() {
    let folder = Folder::new();
    let mut file = fs::read(path(EXAMPLE)).unwrap();
    file[60] ^= 0xff;
    let damaged = folder.with("damaged.parquet", &file);
    let out = folder.file("out.parquet");
    let run = herringbone(&["--quiet", "repair", &damaged, &out]);
    run.fails(1, "damaged.parquet: lost: 16 rows: ");
    assert!(run.stderr.contains("row group 0"), "{}", run.stderr);
    herringbone(&["count", &out]).ok("8\n");
    let only = herringbone(&["cat", "--row-groups", "1", EXAMPLE]).stdout;
    assert_eq!(rows(&out), only);
}

/// A decimal with too many digits and a time of 24:00 are values, so they are not lost.
#[test]
fn values_out_of_range_come_back() {
    let folder = Folder::new();
    let (input, out) = (folder.file("in.parquet"), folder.file("out.parquet"));
    out_of_range(&input);
    let run = herringbone(&["repair", &input, &out]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(rows(&out), rows(&input));
    assert!(rows(&out).contains("12345.67"), "{}", rows(&out));
}

/// The file ends inside the first page of a row group, so the cut page is reported as a loss.
#[test]
fn a_cut_page_is_said_to_be_lost() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|row| format!("{row},v{row}\n")).collect();
    let table = folder.with("table.csv", format!("a,s\n{rows}"));
    let whole = folder.file("whole.parquet");
    let options = ["--dictionary", "off", "--row-group-rows", "10", "--quiet"];
    herringbone(&[&["convert", &table, &whole][..], &options].concat()).ok("");
    let pages = herringbone(&["pages", &whole]).stdout;
    let pages = pages
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let pages: Vec<serde_json::Value> = pages.collect();
    let second = pages.iter().find(|page| page["row_group"] == 1).unwrap();
    let cut = second["offset"].as_u64().unwrap() as usize + 40;
    let damaged = folder.with("damaged.parquet", &fs::read(&whole).unwrap()[..cut]);
    let out = folder.file("out.parquet");
    let run = herringbone(&["repair", &damaged, &out, "--schema", &whole]);
    run.fails(1, "lost: 40 bytes without a complete page");
    assert!(
        run.stderr.contains("does not show whether rows followed"),
        "{}",
        run.stderr
    );
    herringbone(&["count", &out]).ok("10\n");
}

#[test]
fn nothing_can_be_had_of_anything() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let run = herringbone(&["repair", "Cargo.toml", &out, "--schema", EXAMPLE]);
    run.fails(3, "no intact row group was found");
    assert_eq!(folder.names(), Vec::<String>::new());
    herringbone(&["repair", "no such file", &out]).fails(4, "no such file");
}
