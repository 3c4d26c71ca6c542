//! Tests that `head` and `cat` print a file's rows in each format.

use crate::common::{EXAMPLE, Folder, herringbone, into, path, stdin};

/// The example's first row.
const AMBER: &str = r#"{"id":0,"name":"amber","price":"0.00","weight":0.0,"organic":true,"harvested":"2026-01-01T12:00:00.000000Z","tags":null,"origin":{"country":"NO","altitude":null}}"#;
/// The example's third row.
const CEDAR: &str = r#"{"id":2,"name":"cedar","price":"2.74","weight":0.25,"organic":false,"harvested":"2026-01-04T02:00:00.000000Z","tags":["herb","fresh"],"origin":{"country":"NO","altitude":80}}"#;

fn ids(arguments: &[&str]) -> Vec<u32> {
    let run = herringbone(&[&["cat", "--columns", "id"], arguments].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let id = |line: &str| {
        line.strip_prefix(r#"{"id":"#)?
            .strip_suffix('}')?
            .parse()
            .ok()
    };
    run.stdout.lines().map(|line| id(line).unwrap()).collect()
}

#[test]
fn rows_are_json_lines_unless_somebody_looks() {
    let run = herringbone(&["cat", EXAMPLE]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 24);
    assert_eq!((lines[0], lines[2]), (AMBER, CEDAR));
    assert_eq!(
        stdin(&["cat", "-"], &std::fs::read(path(EXAMPLE)).unwrap()).stdout,
        run.stdout
    );
}

#[test]
fn head_is_the_beginning() {
    herringbone(&["head", "-n", "1", EXAMPLE]).ok(&format!("{AMBER}\n"));
    herringbone(&["head", "-n", "0", EXAMPLE]).ok("");
    assert_eq!(herringbone(&["head", EXAMPLE]).stdout.lines().count(), 10);
    assert_eq!(
        herringbone(&["head", "-n", "30", EXAMPLE, EXAMPLE])
            .stdout
            .lines()
            .count(),
        30
    );
}

#[test]
fn csv_has_a_header() {
    herringbone(&[
        "head",
        "-n",
        "3",
        "--format",
        "csv",
        "--columns",
        "id,tags,origin.altitude",
        EXAMPLE,
    ])
    .ok("id,tags,origin\n\
             0,,\"{\"\"altitude\"\":null}\"\n\
             1,\"[\"\"herb\"\"]\",\"{\"\"altitude\"\":40}\"\n\
             2,\"[\"\"herb\"\",\"\"fresh\"\"]\",\"{\"\"altitude\"\":80}\"\n");
}

#[test]
fn tables_are_for_people() {
    herringbone(&[
        "head",
        "-n",
        "2",
        "--format",
        "table",
        "--columns",
        "id,name,weight",
        EXAMPLE,
    ])
    .ok("\
┌───────┬───────┬─────────┐
│    id ┆ name  ┆  weight │
│ int64 ┆ text  ┆ float64 │
╞═══════╪═══════╪═════════╡
│     0 ┆ amber ┆     0.0 │
│     1 ┆ basil ┆   0.125 │
└───────┴───────┴─────────┘
2 of 24 rows
");
}

#[test]
fn windows_span_files_and_row_groups() {
    assert_eq!(ids(&[EXAMPLE]), (0..24).collect::<Vec<_>>());
    assert_eq!(ids(&["--offset", "22", EXAMPLE]), [22, 23]);
    assert_eq!(
        ids(&["--offset", "14", "--limit", "4", EXAMPLE]),
        [14, 15, 16, 17]
    );
    assert_eq!(
        ids(&["--offset", "23", "--limit", "2", EXAMPLE, EXAMPLE]),
        [23, 0]
    );
    assert_eq!(ids(&["--offset", "47", EXAMPLE, EXAMPLE]), [23]);
    assert!(ids(&["--offset", "99", EXAMPLE]).is_empty());
    assert_eq!(
        ids(&["--row-groups", "1", EXAMPLE]),
        (16..24).collect::<Vec<_>>()
    );
    assert_eq!(
        ids(&["--row-groups", "1", "--offset", "7", EXAMPLE, EXAMPLE]).len(),
        9
    );
}

#[test]
fn how_it_is_read_does_not_matter() {
    let plain = herringbone(&["cat", EXAMPLE]).stdout;
    for options in [
        &["--threads", "1"][..],
        &["--threads", "7", "--batch-size", "1"],
        &["--batch-size", "1000", "--ignore-crc"],
        &["--strings", "views"],
        &["--strings", "large-offsets"],
    ] {
        let run = herringbone(&[&["cat", EXAMPLE], options].concat());
        run.ok(&plain);
    }
}

#[test]
fn arrow_streams_have_their_frame() {
    let run = herringbone(&["cat", "--format", "arrow", EXAMPLE]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    // The stream begins with a continuation marker and the length of the schema message, and it
    // ends with a length of zero.
    assert_eq!(run.bytes[..4], [0xff; 4]);
    assert_eq!(
        run.bytes[run.bytes.len() - 8..],
        [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]
    );
}

#[test]
fn unknown_columns_are_a_wrong_command_line() {
    herringbone(&["cat", "--columns", "nope", EXAMPLE]).fails(2, "nope");
    herringbone(&["cat", "--columns", "id", "--row-groups", "2", EXAMPLE])
        .fails(2, "there is no row group 2");
}

#[test]
fn a_closed_pipe_is_a_quiet_end_in_every_format() {
    for format in ["table", "jsonl", "csv", "arrow"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = into(&["cat", "--format", format, EXAMPLE], writer);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{format}");
    }
}

#[test]
fn files_without_rows_or_columns_are_fine() {
    herringbone(&[
        "cat",
        "--format",
        "csv",
        "--columns",
        "id",
        "--limit",
        "0",
        EXAMPLE,
    ])
    .ok("id\n");
    for file in [
        "testdata/built/no_row_groups.parquet",
        "testdata/pyarrow/no_rows.parquet",
    ] {
        for format in ["table", "jsonl", "csv", "arrow"] {
            herringbone(&["cat", "--format", format, file]).code(&[0]);
        }
    }
}

/// If an annotation does not allow a value, or Arrow cannot represent it, the error names the
/// option that helps.
#[test]
fn columns_are_read_as_they_are_stored_on_request() {
    for (name, column, rows, sound) in [
        (
            "integer_beyond_8_bits",
            "x",
            "{\"x\":1}\n{\"x\":128}\n",
            false,
        ),
        (
            "value_where_all_are_null",
            "x",
            "{\"x\":7}\n{\"x\":null}\n",
            false,
        ),
        (
            "null_key_of_a_map",
            "m",
            "{\"m\":[{\"key\":7,\"value\":1},{\"key\":null,\"value\":2}]}\n",
            false,
        ),
        (
            "interval_beyond_arrow",
            "x",
            "{\"x\":\"AAAAAAAAAIAAAAAA\"}\n",
            true,
        ),
    ] {
        let file = format!("testdata/hostile/{name}.parquet");
        herringbone(&["cat", &file]).fails(3, "--ignore-annotations COLUMN");
        herringbone(&["cat", "--ignore-annotations", column, &file]).ok(rows);
        herringbone(&["verify", &file]).code(if sound { &[0] } else { &[1] });
        let (folder, out) = (Folder::new(), "out.parquet");
        let out = folder.file(out);
        herringbone(&["rewrite", &file, &out]).fails(3, "--ignore-annotations COLUMN");
        // A note names the annotation that was removed.
        let rewritten = herringbone(&["rewrite", "--ignore-annotations", column, &file, &out]);
        rewritten.code(&[0]);
        // If the file is valid, it keeps its annotation.
        let cat: &[&str] = if sound {
            &["cat", "--ignore-annotations", column, &out]
        } else {
            &["cat", &out]
        };
        herringbone(cat).ok(rows);
    }
    herringbone(&["cat", "--ignore-annotations", "nowhere", EXAMPLE]).fails(2, "nowhere");
}
