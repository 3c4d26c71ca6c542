//! Tests the command from its users' view: exit codes, standard input, pipes, metadata.

#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

mod any_format;
mod bad_rows;
mod carried;
mod choice;
mod common;
mod compare;
mod concat;
mod conditions;
mod convert;
mod csv;
mod described;
mod diff;
mod encryption;
mod exact;
mod folder_columns;
mod folders;
mod geospatial;
mod indexes;
mod int96;
mod look;
mod merged;
mod mistakes;
mod interrupt;
#[cfg(unix)]
mod jobs;
mod json_dates;
mod names;
mod on_error;
mod opens;
mod parts;
#[cfg(feature = "remote")]
mod remote;
mod repair;
mod report;
mod rewrite;
mod rows;
mod runs;
mod side_files;
mod sort;
mod targets;
mod texts;
mod words;
mod threads;
mod variant;
mod verify;

use common::{EXAMPLE, herringbone, json, path, stdin};
use serde_json::Value;

#[test]
fn counts_come_from_footers() {
    herringbone(&["count", EXAMPLE]).ok("24\n");
    herringbone(&["count", EXAMPLE, EXAMPLE])
        .ok("24\ttestdata/example.parquet\n24\ttestdata/example.parquet\n48\ttotal\n");
}

/// Some writers leave the footer's row count at 0.
#[test]
fn rows_are_those_of_the_row_groups() {
    let file = "testdata/built/footer_of_no_rows.parquet";
    herringbone(&["count", file]).ok("6\n");
    assert_eq!(herringbone(&["cat", file]).stdout.lines().count(), 6);
    let info = herringbone(&["info", file]).stdout;
    assert!(info.contains("rows         6\n"), "{info}");
}

#[test]
fn standard_input_is_a_file_like_others() {
    let bytes = std::fs::read(path(EXAMPLE)).unwrap();
    stdin(&["count", "-"], &bytes).ok("24\n");
    stdin(&["count", "-", EXAMPLE], &bytes).ok("24\t-\n24\ttestdata/example.parquet\n48\ttotal\n");
    stdin(&["count", "-", "-"], &bytes).fails(2, "standard input can be read once only");
    stdin(&["count", "-"], b"").fails(3, "corrupt file");
}

#[test]
fn wrong_command_lines_end_with_2() {
    herringbone(&[]).fails(2, "Usage");
    herringbone(&["cat"]).fails(2, "FILE");
    herringbone(&["frobnicate"]).fails(2, "frobnicate");
    herringbone(&["pages", "--row-groups", "7", EXAMPLE]).fails(2, "there is no row group 7");
    herringbone(&["pages", "--columns", "nope", EXAMPLE]).fails(2, "nope");
}

#[test]
fn wrong_bytes_end_with_3() {
    herringbone(&["count", "Cargo.toml"]).fails(
        3,
        "the file is read as CSV, because of its first bytes, and --from names another format",
    );
    let bytes = std::fs::read(path(EXAMPLE)).unwrap();
    for command in [
        "info", "schema", "count", "head", "cat", "meta", "pages", "stats",
    ] {
        stdin(&[command, "-"], &bytes[100..]).code(&[0, 3]);
        stdin(&[command, "-"], &bytes[bytes.len() - 100..]).code(&[3]);
    }
    herringbone(&["count", "--max", "footer_bytes=10", EXAMPLE]).fails(3, "limit `footer_bytes`");
}

#[test]
fn a_refusing_system_ends_with_4() {
    herringbone(&["count", "no such file"]).fails(4, "no such file: ");
    herringbone(&["count", EXAMPLE, "no such file"]).fails(4, "no such file: ");
    herringbone(&["count", "no such folder/*"]).fails(4, "no such folder");
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        common::into(&["meta", EXAMPLE], full).fails(4, "standard output: ");
    }
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    for command in [
        &["meta", EXAMPLE][..],
        &["pages", EXAMPLE],
        &["--help"],
        &["--version"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = common::into(command, writer);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command:?}");
    }
}

#[test]
fn help_goes_to_standard_output() {
    for command in [
        "info", "schema", "count", "head", "cat", "meta", "pages", "stats", "verify", "repair",
        "rewrite", "convert", "concat",
    ] {
        let run = herringbone(&[command, "--help"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.contains("Examples:"), "{command}");
    }
}

#[test]
fn schemas_in_three_languages() {
    let run = herringbone(&["schema", EXAMPLE]);
    assert!(
        run.stdout
            .starts_with("message schema {\n  optional int64 id;\n"),
        "{}",
        run.stdout
    );
    let run = herringbone(&["schema", "--format", "arrow", EXAMPLE]);
    assert!(
        run.stdout.contains("\nprice: Decimal128(9, 2)\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("\norigin: Struct\n  country: Utf8\n"),
        "{}",
        run.stdout
    );
    let tree = json(&herringbone(&["schema", "--format", "json", EXAMPLE]));
    assert_eq!(tree["format_version"], 1);
    assert_eq!(
        tree["fields"][6]["fields"][0]["fields"][0]["max_definition_level"],
        3
    );
    assert_eq!(tree["fields"][7]["fields"][1]["name"], "altitude");
}

#[test]
fn several_files_must_have_equal_schemas() {
    herringbone(&["schema", EXAMPLE, EXAMPLE]).code(&[0]);
    for command in ["schema", "cat", "head"] {
        let other = "testdata/built/map.parquet";
        let run = herringbone(&[command, EXAMPLE, other]);
        run.fails(3, "the schemas differ: ");
        assert_eq!(run.stdout, "", "{command}");
    }
}

#[test]
fn metadata_is_json_of_version_1() {
    let run = herringbone(&["meta", "--indexes", EXAMPLE]);
    assert_eq!(run.stdout.lines().count(), 1);
    let meta = json(&run);
    assert_eq!(meta["format_version"], 1);
    assert_eq!(
        meta["file_size"],
        std::fs::metadata(path(EXAMPLE)).unwrap().len()
    );
    assert_eq!(meta["num_rows"], 24);
    assert_eq!(meta["schema"][3]["logical_type"]["type"], "DECIMAL");
    assert_eq!(meta["row_groups"][1]["num_rows"], 8);
    let column = &meta["row_groups"][0]["columns"][0];
    assert_eq!(column["meta_data"]["path_in_schema"][0], "id");
    assert_eq!(column["meta_data"]["statistics"]["max_value"]["value"], 15);
    assert_eq!(
        column["offset_index"]["page_locations"][0]["first_row_index"],
        0
    );
    assert_eq!(column["column_index"]["boundary_order"], "ASCENDING");
    let pretty = herringbone(&["meta", "--pretty", "--indexes", EXAMPLE]);
    assert!(pretty.stdout.lines().count() > 100);
    assert_eq!(json(&pretty), meta);
}

#[test]
fn pages_are_listed() {
    let run = herringbone(&["pages", "--columns", "tags", "--row-groups", "1", EXAMPLE]);
    let pages: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0]["type"], "DICTIONARY_PAGE");
    assert_eq!(pages[1]["type"], "DATA_PAGE");
    assert_eq!(pages[1]["page"], 1);
    assert_eq!(
        pages[1]["path"],
        serde_json::json!(["tags", "list", "element"])
    );
    let end = |page: &Value| {
        ["offset", "header_size", "compressed_size"]
            .iter()
            .map(|name| page[name].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(end(&pages[0]), pages[1]["offset"].as_u64().unwrap());
    let table = herringbone(&["pages", "--format", "table", EXAMPLE]).stdout;
    assert!(table.contains("┆ DICTIONARY_PAGE ┆ PLAIN"), "{table}");
}

#[test]
fn info_says_the_main_things() {
    let run = herringbone(&["info", EXAMPLE]);
    for part in [
        "rows         24\n",
        "row groups   2 of 8 to 16 rows\n",
        "tags.list.element",
    ] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
}
