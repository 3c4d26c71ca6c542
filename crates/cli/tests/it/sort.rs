//! Tests `--sort-by` beyond its memory limit, and which files are left after a failure.

use std::fmt::Write as _;
use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::types::Int8Type;
use herringbone_arrow::array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch};
use herringbone_arrow::ipc::reader::StreamReader;

use crate::common::{EXAMPLE, Folder, command, herringbone, json};

/// Returns rows of two columns. The first column is not sorted.
fn csv(rows: usize) -> String {
    let mut text = "a,b\n".to_owned();
    for row in 0..rows {
        writeln!(text, "{},text {row}", row * 7919 % rows).unwrap();
    }
    text
}

#[test]
fn memory_does_not_change_the_file() {
    let folder = Folder::new();
    let csv = folder.with("x.csv", csv(5_000));
    let by = ["--sort-by", "a", "--row-group-rows", "1000"];
    let sorted = |name: &str, options: &[&str]| {
        let out = folder.file(name);
        herringbone(&[&["convert", &csv, &out], &by[..], options].concat()).ok("");
        std::fs::read(out).unwrap()
    };
    let expected = sorted("a.parquet", &[]);
    let temporary = folder.file("");
    let little = ["--sort-memory", "10KiB", "--sort-folder", &temporary];
    assert_eq!(sorted("b.parquet", &little), expected);
    assert_eq!(folder.names(), ["a.parquet", "b.parquet", "x.csv"]);
    let run = herringbone(&["cat", "--columns", "a", &folder.file("b.parquet")]);
    let rows: Vec<String> = (0..5_000).map(|a| format!("{{\"a\":{a}}}\n")).collect();
    run.ok(&rows.concat());
    herringbone(&["verify", &folder.file("b.parquet")]).code(&[0]);
    let meta = json(&herringbone(&["meta", &folder.file("b.parquet")]));
    assert_eq!(meta["row_groups"][4]["sorting_columns"][0]["column_idx"], 0);
}

#[test]
fn what_is_wrong_is_said_in_the_words_of_the_command() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let rewrite = ["rewrite", EXAMPLE, &out];
    herringbone(&[&rewrite[..], &["--sort-memory", "1"]].concat()).fails(2, "--sort-by");
    let nowhere = folder.file("nowhere");
    let options = [
        "--sort-by",
        "id",
        "--sort-memory",
        "1",
        "--sort-folder",
        &nowhere,
    ];
    let run = herringbone(&[&rewrite[..], &options].concat());
    run.fails(4, "nowhere: No such file");
    run.fails(4, "use another folder with --sort-folder FOLDER");
    assert!(folder.names().is_empty());
}

/// Writes a file with the columns `id` and `city`. The values of `city` are in an Arrow dictionary
/// with 8-bit keys.
fn dictionary(folder: &Folder) -> String {
    let path = folder.file("dictionary.parquet");
    let city: DictionaryArray<Int8Type> = ["Rome", "Oslo", "Rome", "Lima"].into_iter().collect();
    let columns: [(_, ArrayRef); 2] = [
        ("id", Arc::new(Int32Array::from_iter_values(0..4))),
        ("city", Arc::new(city)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

#[test]
fn sorted_rows_may_have_arrow_dictionaries() {
    let folder = Folder::new();
    let file = dictionary(&folder);
    let by = ["--sort-by", "id:desc", "-n", "3"];
    let sorted = "{\"id\":3,\"city\":\"Lima\"}\n{\"id\":2,\"city\":\"Rome\"}\n{\"id\":1,\"city\":\"Oslo\"}\n";
    herringbone(&[&["cat", &file][..], &by].concat()).ok(sorted);
    let stream = herringbone(&[&["cat", &file, "--format", "arrow"][..], &by].concat());
    let reader = StreamReader::try_new(stream.bytes.as_slice(), None).unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
    let stream = folder.with("sorted.arrows", &stream.bytes);
    herringbone(&["convert", &stream, "-", "--to", "jsonl"]).ok(sorted);
    for command in ["rewrite", "convert"] {
        let out = folder.file(&format!("{command}.parquet"));
        herringbone(&[&[command, &file, &out][..], &by].concat()).ok("");
        herringbone(&["cat", &out]).ok(sorted);
    }
    let out = folder.file("again.jsonl");
    herringbone(&[&["convert", &stream, &out][..], &["--sort-by", "city"]].concat()).ok("");
    let run = herringbone(&["diff", &file, &file, "--key", "city,id"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("\"a\":4,\"b\":4"), "{}", run.stdout);
    let parts = folder.file("{city}.parquet");
    herringbone(&[
        "split",
        "-q",
        &file,
        "-o",
        &parts,
        "--by",
        "city",
        "--sort-by",
        "id:desc",
    ])
    .ok("");
    herringbone(&["cat", &folder.file("Rome.parquet")])
        .ok("{\"id\":2,\"city\":\"Rome\"}\n{\"id\":0,\"city\":\"Rome\"}\n");
}

/// A shell limit stands in for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = Folder::new();
    let csv = folder.with("x.csv", csv(200_000));
    let out = folder.file("out.parquet");
    let limited = |kib: &str, memory: &str| {
        let herringbone = command(&[]);
        let script = "trap '' XFSZ; ulimit -f $0; exec \"$@\"";
        let mut shell = std::process::Command::new("bash");
        shell
            .args(["-c", script, kib])
            .arg(herringbone.get_program());
        shell.args([
            "convert",
            &csv,
            &out,
            "--sort-by",
            "b",
            "--sort-memory",
            memory,
        ]);
        crate::common::Run::from(shell.output().unwrap())
    };
    // With the first limit, a sorted run does not fit. With the second one, the file does not fit.
    for (kib, memory) in [("10", "4MiB"), ("100", "1GiB")] {
        limited(kib, memory).fails(4, "File too large");
        assert_eq!(folder.names(), ["x.csv"]);
    }
    limited("100000", "4MiB").ok("");
    assert_eq!(folder.names(), ["out.parquet", "x.csv"]);
}

/// The command is interrupted while rows are in temporary files.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::Duration;

    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let options = ["--sort-by", "a", "--sort-memory", "1", "-"];
    let mut child = command(&[&["convert", "--from", "csv"], &options[..], &[&out]].concat())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(csv(100_000).as_bytes()).unwrap();
    let has_runs = || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", child.id()));
        let Ok(open) = open else {
            return true;
        };
        let mut links = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        links.any(|link| link.to_string_lossy().contains(".herringbone-sort."))
    };
    for _ in 0..500 {
        if has_runs() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    assert!(has_runs());
    assert_eq!(folder.names().len(), 1, "{:?}", folder.names());
    let id = child.id().to_string();
    // We send SIGTERM, because SIGINT might be ignored if these tests run in the background of a
    // script.
    let killed = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    assert!(folder.names().is_empty());
}

/// A shell limit stands in for the system's. Each row group is a sorted run of its own.
#[cfg(target_os = "linux")]
#[test]
fn few_files_are_open_at_a_time() {
    let folder = Folder::new();
    let (csv, input) = (folder.with("x.csv", csv(200)), folder.file("in.parquet"));
    herringbone(&["convert", &csv, &input, "--row-group-rows", "1"]).ok("");
    let out = folder.file("out.parquet");
    let herringbone_limited = |descriptors: &str| {
        let script = "ulimit -n $0; exec \"$@\"";
        let mut shell = std::process::Command::new("bash");
        shell
            .args(["-c", script, descriptors])
            .arg(command(&[]).get_program());
        shell.args([
            "rewrite",
            &input,
            &out,
            "--sort-by",
            "a",
            "--sort-memory",
            "1",
        ]);
        crate::common::Run::from(shell.output().unwrap())
    };
    herringbone_limited("96").ok("");
    let rows: Vec<String> = (0..200).map(|a| format!("{{\"a\":{a}}}\n")).collect();
    herringbone(&["cat", "--columns", "a", &out]).ok(&rows.concat());
}
