//! Tests files that are read next to the data, which are schemas. They can come from pipes, and
//! their size is limited.

#![cfg(unix)]

use std::process::Command;

use crate::common::{EXAMPLE, Folder, Run, command, herringbone};

/// Runs a command while `bytes` are written to a named pipe. The pipe's name replaces the argument
/// `PIPE`.
fn with_pipe(folder: &Folder, bytes: Vec<u8>, arguments: &[&str]) -> Run {
    let pipe = folder.file("pipe");
    std::fs::remove_file(&pipe).ok();
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let arguments: Vec<_> = arguments
        .iter()
        .map(|argument| {
            if *argument == "PIPE" {
                &pipe
            } else {
                *argument
            }
        })
        .collect();
    let writer = {
        let pipe = pipe.clone();
        // The command might stop reading before the end, so this might fail.
        std::thread::spawn(move || std::fs::write(pipe, bytes).ok())
    };
    let run = Run::from(command(&arguments).output().unwrap());
    writer.join().unwrap();
    run
}

#[test]
fn a_pipe_gives_a_schema_as_text() {
    let folder = Folder::new();
    let csv = folder.with("in.csv", "a\n1\n");
    let out = folder.file("out.parquet");
    let convert = ["convert", "-f", &csv, &out, "--schema", "PIPE"];
    with_pipe(&folder, b"a: Int16\n".to_vec(), &convert).ok("");
    herringbone(&["schema", "--format", "arrow", &out]).ok("a: Int16\n");
    let parquet = std::fs::read(crate::common::path(EXAMPLE)).unwrap();
    for arguments in [
        &convert[..],
        &["repair", "-f", EXAMPLE, &out, "--schema", "PIPE"],
    ] {
        with_pipe(&folder, parquet.clone(), arguments)
            .fails(2, "pipe: only a schema as text can be read from a pipe");
    }
}

#[test]
fn a_schema_has_an_end() {
    let folder = Folder::new();
    let csv = folder.with("in.csv", "a\n1\n");
    let out = folder.file("out.parquet");
    let long = folder.file("long");
    let file = std::fs::File::create(&long).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    for schema in [long.as_str(), "/dev/zero"] {
        herringbone(&["convert", &csv, &out, "--schema", schema]).fails(3, "larger than 64 MiB");
    }
    herringbone(&["cat", EXAMPLE, "--keys", "/dev/zero"]).fails(4, "too large for a keys file");
}
