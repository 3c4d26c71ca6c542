//! A signal ends the command and takes its temporary file away.

#![cfg(unix)]

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Folder, command};

/// A command that waits for more of its standard input, behind its first rows.
fn waiting(folder: &Folder) -> Child {
    let out = folder.file("out.parquet");
    let mut child = command(&["convert", "--from", "jsonl", "--infer-rows", "1", "-", &out])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"{\"a\":1}\n")
        .unwrap();
    for _ in 0..500 {
        if !folder.names().is_empty() {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn signals_remove_the_temporary_file() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new();
        let mut child = waiting(&folder);
        // Open until the end, so that there is more to wait for.
        let _stdin = child.stdin.take();
        let names = folder.names();
        assert_eq!(names.len(), 1);
        assert!(
            names[0].starts_with(".out.parquet.") && names[0].ends_with(".tmp"),
            "{names:?}"
        );
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(output.stderr, b"herringbone: interrupted\n");
        assert!(folder.names().is_empty());
    }
}
