//! Tests how often a command opens a file and reads its footer.

use std::fs;
use std::process::Command;

use crate::common::{EXAMPLE, Folder, command, herringbone, path};

/// Traces a run. Returns how often it opens the named file, and how often it reads the file's last
/// bytes. Returns `None` if strace is missing or may not trace.
fn counts(folder: &Folder, file: &str, arguments: &[&str]) -> Option<(usize, usize)> {
    let trace = folder.file("trace");
    let run = command(arguments);
    let traced = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=open,openat,pread64", "-o", &trace])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(path(""))
        .output();
    let calls = fs::read_to_string(&trace).unwrap_or_default();
    if traced.is_err() || !calls.contains("exited with") {
        println!("skipped: strace is missing, or may not trace");
        return None;
    }
    let traced = traced.unwrap();
    assert!(traced.status.success(), "{arguments:?}: {traced:?}");
    let size = fs::metadata(file).unwrap().len();
    let (opened, read) = (format!("\"{file}\""), format!("<{file}>"));
    let is_footer = |call: &str| {
        // The line has the form `pread64(3</d/file>, "..."..., LENGTH, OFFSET) = READ`.
        let (arguments, read) = call.rsplit_once(") = ").unwrap();
        let offset: u64 = arguments.rsplit_once(", ").unwrap().1.parse().unwrap();
        offset + read.trim().parse::<u64>().unwrap() == size
    };
    let opens = calls.lines().filter(|line| line.contains(&opened));
    let reads = calls
        .lines()
        .filter(|line| line.contains("pread64(") && line.contains(&read));
    Some((opens.count(), reads.filter(|read| is_footer(read)).count()))
}

#[test]
#[cfg(target_os = "linux")]
fn a_footer_is_read_once() {
    let folder = Folder::new();
    let (one, two) = (folder.file("d/one.parquet"), folder.file("d/two.parquet"));
    fs::create_dir(folder.file("d")).unwrap();
    for file in [&one, &two] {
        fs::copy(path(EXAMPLE), file).unwrap();
    }
    let (directory, out) = (folder.file("d"), folder.file("out.parquet"));
    let commands: [&[&str]; 10] = [
        &["cat", &one],
        &["head", "-n", "1", &one],
        &["cat", &one, &two],
        &["cat", &directory],
        &["cat", &one, "--where", "id >= 20", "--sort-by", "name"],
        &["convert", &one, "-o", &out, "--force"],
        &["rewrite", &one, &out, "--force"],
        &["stats", &one],
        &["concat", &one, &two, "-o", &out, "--force"],
        &["sample", "-n", "3", &one],
    ];
    for arguments in commands {
        match counts(&folder, &one, arguments) {
            Some(counts) => assert_eq!(counts, (1, 1), "{arguments:?}"),
            None => return,
        }
    }
}

#[test]
#[cfg(unix)]
fn two_thousand_files_need_few_descriptors() {
    let folder = Folder::new();
    let one = folder.file("one.parquet");
    herringbone(&["rewrite", EXAMPLE, &one, "-c", "id", "-n", "1"]).ok("");
    let files = (0..2000).map(|at| folder.file(&format!("{at:04}.parquet")));
    let files: Vec<String> = files
        .inspect(|file| fs::hard_link(&one, file).unwrap())
        .collect();
    let out = folder.file("out.parquet");
    let mut arguments: Vec<&str> = vec!["concat", "-o", &out];
    arguments.extend(files.iter().map(String::as_str));
    let run = command(&arguments);
    let run = Command::new("sh")
        .args(["-c", "ulimit -n 256 && exec \"$0\" \"$@\""])
        .arg(run.get_program())
        .args(run.get_args())
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    herringbone(&["count", &out]).ok("2000\n");
}
