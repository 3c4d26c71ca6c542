//! Tests that `split` writes all of its files or none.

use std::fs;
use std::process::Command;

use crate::common::{Folder, herringbone, path};

/// Returns a file whose rows have a number and a text.
fn rows(folder: &Folder, values: &[&str]) -> String {
    let rows = values.iter().enumerate();
    let text: String = rows
        .map(|(at, value)| format!("{{\"n\":{at},\"v\":\"{value}\"}}\n"))
        .collect();
    let (jsonl, file) = (folder.with("a.jsonl", text), folder.file("a.parquet"));
    herringbone(&["convert", "-q", "-f", &jsonl, &file]).ok("");
    fs::remove_file(jsonl).unwrap();
    file
}

#[cfg(unix)]
#[test]
fn parts_need_few_descriptors_and_threads() {
    let folder = Folder::new();
    let text: String = (0..1000).map(|at| format!("{{\"n\":{at}}}\n")).collect();
    let (jsonl, file) = (folder.with("a.jsonl", text), folder.file("a.parquet"));
    herringbone(&["convert", "-q", &jsonl, &file]).ok("");
    let pattern = folder.file("many/{}.parquet");
    let run = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_herringbone"))
        .args(["split", "-q", &file, "-o", &pattern, "--part-rows", "1"])
        .current_dir(path(""))
        .output()
        .unwrap();
    assert_eq!(
        (run.status.code(), run.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    assert_eq!(fs::read_dir(folder.file("many")).unwrap().count(), 1000);
    herringbone(&["count", "-w", "n >= 0", &folder.file("many")]).ok("1000\n");
}

/// The folders and their rows are those of duckdb's `copy t to 'out' (format parquet, partition_by (city, year))`.
#[test]
fn combinations_of_values_are_parts() {
    let folder = Folder::new();
    let text = "\
        {\"id\":1,\"city\":\"Rome\",\"year\":2024}\n\
        {\"id\":2,\"city\":\"Oslo\",\"year\":2024}\n\
        {\"id\":3,\"city\":\"Rome\",\"year\":null}\n\
        {\"id\":4,\"city\":null,\"year\":2023}\n\
        {\"id\":5,\"city\":\"Rome\",\"year\":2024}\n\
        {\"id\":6,\"city\":\"a/b=c\",\"year\":2023}\n\
        {\"id\":7,\"city\":\"\",\"year\":2024}\n";
    let (jsonl, file) = (folder.with("a.jsonl", text), folder.file("a.parquet"));
    herringbone(&["convert", "-q", &jsonl, &file]).ok("");
    let pattern = folder.file("out/city={city}/year={year}/p.parquet");
    let split = [
        "split",
        "--json",
        &file,
        "-o",
        &pattern,
        "--by",
        "city,year",
    ];
    let run = herringbone(&split);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let null = "__HIVE_DEFAULT_PARTITION__";
    let parts = [
        ("", "2024", "\"\"", "2024", &[7][..]),
        ("Oslo", "2024", "\"Oslo\"", "2024", &[2]),
        ("Rome", "2024", "\"Rome\"", "2024", &[1, 5]),
        ("Rome", null, "\"Rome\"", "null", &[3]),
        ("a%2Fb%3Dc", "2023", "\"a/b=c\"", "2023", &[6]),
        (null, "2023", "null", "2023", &[4]),
    ];
    let mut lines = String::new();
    for (city, year, city_value, year_value, ids) in parts {
        let part = folder.file(&format!("out/city={city}/year={year}/p.parquet"));
        let rows: String = ids.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect();
        herringbone(&["cat", &part]).ok(&rows);
        lines += &format!(
            "{{\"file\":\"{part}\",\"value\":{{\"city\":{city_value},\"year\":{year_value}}},\"num_rows\":{}}}\n",
            ids.len()
        );
    }
    assert_eq!(run.stdout, lines);
    let ids = ["cat", "-c", "id", "-w", "city = 'Rome' and year is null"];
    herringbone(&[&ids[..], &[&folder.file("out")]].concat()).ok("{\"id\":3}\n");
}

/// The files lack only the column that the path names, of the two by which we split.
#[test]
fn each_column_of_a_combination_has_a_place() {
    let folder = Folder::new();
    let text = "{\"id\":1,\"a\":\"x\",\"b\":0.0}\n{\"id\":2,\"a\":\"x\",\"b\":-0.0}\n{\"id\":3,\"a\":\"y\",\"b\":0.0}\n";
    let (jsonl, file) = (folder.with("a.jsonl", text), folder.file("a.parquet"));
    herringbone(&["convert", "-q", &jsonl, &file]).ok("");
    let split = |pattern: &str, by: &str| {
        let pattern = folder.file(pattern);
        herringbone(&["split", "-q", &file, "-o", &pattern, "--by", by])
    };
    split("a={a}/{b}.parquet", "b,a").ok("");
    herringbone(&["cat", &folder.file("a=x/0.0.parquet")])
        .ok("{\"id\":1,\"b\":0.0}\n{\"id\":2,\"b\":-0.0}\n");
    herringbone(&["cat", &folder.file("a=y/0.0.parquet")]).ok("{\"id\":3,\"b\":0.0}\n");
    for (pattern, by, message) in [
        ("{a}.parquet", "a,b", "as in out-{a}-{b}.parquet"),
        ("{}.parquet", "a,b", "as in out-{a}-{b}.parquet"),
        ("{a}-{b}.parquet", "a,a", "--by names the column `a` twice"),
        ("{a}-{c}.parquet", "a,c", "--by: there is no column `c`"),
    ] {
        split(pattern, by).fails(2, message);
    }
}

#[test]
fn a_failure_leaves_no_part_and_no_folder() {
    let folder = Folder::new();
    let long = "y".repeat(300);
    let file = rows(&folder, &["a", "b", &long, "z"]);
    let pattern = folder.file("new/deep/v={v}/p.parquet");
    let split = ["split", "-q", &file, "--by", "v", "-o"];
    herringbone(&[&split[..], &[&pattern]].concat()).fails(4, "too long");
    assert_eq!(folder.names(), ["a.parquet"]);
    // A folder that was there before stays.
    fs::create_dir_all(folder.file("new/deep")).unwrap();
    herringbone(&[&split[..], &[&pattern]].concat()).fails(4, "too long");
    assert_eq!(folder.names(), ["a.parquet", "new"]);
    assert_eq!(fs::read_dir(folder.file("new/deep")).unwrap().count(), 0);
    // The name of a later part is already taken.
    let short = ["-w", "v <> 'z' and n <> 2"];
    fs::write(folder.file("b.parquet"), "mine").unwrap();
    let pattern = folder.file("{v}.parquet");
    let file = rows(&folder, &["A", "b"]);
    let split = [
        &["split", "-q", &file, "--by", "v", "-o", &pattern][..],
        &short,
    ]
    .concat();
    herringbone(&split).fails(2, "b.parquet: the file already exists");
    assert_eq!(folder.names(), ["a.parquet", "b.parquet", "new"]);
    assert_eq!(
        fs::read_to_string(folder.file("b.parquet")).unwrap(),
        "mine"
    );
    herringbone(&[&split[..], &["--force"]].concat()).ok("");
    assert_eq!(
        folder.names(),
        ["A.parquet", "a.parquet", "b.parquet", "new"]
    );
    herringbone(&["count", &folder.file("b.parquet")]).ok("1\n");
}

#[test]
fn no_part_replaces_an_input() {
    let folder = Folder::new();
    let file = rows(&folder, &["a", "b"]);
    let before = fs::read(&file).unwrap();
    let pattern = folder.file("{v}.parquet");
    herringbone(&["split", "--force", &file, "--by", "v", "-o", &pattern])
        .fails(2, "a.parquet: this part would replace an input");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(folder.names(), ["a.parquet"]);
}

/// The command can be interrupted at any time, and no part must have its name then.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_all_parts_or_none() {
    let folder = Folder::new();
    let text: String = (0..500).map(|at| format!("{{\"n\":{at}}}\n")).collect();
    let (jsonl, file) = (folder.with("a.jsonl", text), folder.file("a.parquet"));
    herringbone(&["convert", "-q", &jsonl, &file]).ok("");
    for milliseconds in [30, 100, 250] {
        let pattern = folder.file("out/{}.parquet");
        let line = ["split", "-q", &file, "-o", &pattern, "--part-rows", "1"];
        let mut child = crate::common::command(&line).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let mut kill = Command::new("kill");
        kill.args(["-TERM", &child.id().to_string()])
            .output()
            .unwrap();
        let is_done = child.wait().unwrap().success();
        let parts = fs::read_dir(folder.file("out")).map_or(0, Iterator::count);
        assert_eq!(parts, if is_done { 500 } else { 0 }, "{milliseconds}");
        fs::remove_dir_all(folder.file("out")).ok();
    }
}
