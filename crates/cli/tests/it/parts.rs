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

/// The command may be interrupted at any time, and no part must have its name then.
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
