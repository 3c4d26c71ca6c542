//! Tests that a signal ends the command and removes its temporary file.

#![cfg(unix)]

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{EXAMPLE, Folder, command, herringbone};

const SIGNALS: [(&str, u32); 3] = [("-INT", 2), ("-TERM", 15), ("-HUP", 1)];

/// The maximum time to wait for a command.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until a condition is true.
fn until(mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "waited for too long");
        sleep(Duration::from_millis(10));
    }
}

/// Returns a command that waits for more of its standard input after its first rows.
fn waiting(folder: &Folder, mut command: Command) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(b"{\"a\":1}\n").unwrap();
    until(|| !folder.names().is_empty());
    child
}

fn conversion(folder: &Folder) -> Command {
    let out = folder.file("out.parquet");
    command(&["convert", "--from", "jsonl", "--infer-rows", "1", "-", &out])
}

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    let status = Command::new("kill").args([signal, &id]).status();
    assert!(status.unwrap().success());
}

/// Returns true if this process ignores a signal, because each command that it starts then ignores
/// it too. The tests might run in the background of a script, or under `nohup`.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.map(|mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Checks that the command ignores the signal and runs to its end.
fn goes_on(mut child: Child) {
    sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn signals_remove_the_temporary_file() {
    for (signal, number) in SIGNALS {
        let folder = Folder::new();
        let mut child = waiting(&folder, conversion(&folder));
        let names = folder.names();
        assert_eq!(names.len(), 1);
        assert!(
            names[0].starts_with(".herringbone.") && names[0].ends_with(".tmp"),
            "{names:?}"
        );
        send(signal, &child);
        if is_ignored(number) {
            goes_on(child);
            continue;
        }
        // Standard input stays open until the end, so that the command keeps waiting.
        let _stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(output.stderr, b"herringbone: interrupted\n");
        assert!(folder.names().is_empty());
    }
}

/// `nohup` ignores signals, and so does a script's shell for commands in the background.
#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_stay_ignored() {
    for (signal, _) in SIGNALS {
        let folder = Folder::new();
        let conversion = conversion(&folder);
        let trap = format!("trap '' {}; exec \"$@\"", &signal[1..]);
        let mut ignoring = Command::new("sh");
        ignoring
            .args(["-c", &trap, "sh"])
            .arg(conversion.get_program())
            .args(conversion.get_args());
        let child = waiting(&folder, ignoring);
        send(signal, &child);
        goes_on(child);
        assert_eq!(folder.names(), ["out.parquet"]);
    }
}

/// Opening a named pipe waits for its reader.
#[test]
fn signals_end_a_command_that_waits_for_a_reader() {
    for (signal, number) in SIGNALS {
        if is_ignored(number) {
            continue;
        }
        for arguments in [
            &["rewrite", "--force", EXAMPLE][..],
            &["convert", "--to", "csv", EXAMPLE],
        ] {
            let folder = Folder::new();
            let pipe = folder.file("pipe");
            assert!(
                Command::new("mkfifo")
                    .arg(&pipe)
                    .status()
                    .unwrap()
                    .success()
            );
            let mut child = command(&[arguments, &[&pipe]].concat())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // The command starts to watch signals shortly before it opens the pipe.
            sleep(Duration::from_millis(500));
            send(signal, &child);
            until(|| child.try_wait().unwrap().is_some());
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{signal} {arguments:?}");
            assert_eq!(output.stderr, b"herringbone: interrupted\n");
        }
    }
}

/// A pipe with a reader receives the same bytes as a file.
#[test]
fn pipes_are_written_to() {
    let folder = Folder::new();
    let (pipe, file) = (folder.file("pipe"), folder.file("file.csv"));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let child = command(&["convert", "--to", "csv", EXAMPLE, &pipe]).spawn();
    let read = std::fs::read(&pipe).unwrap();
    assert!(child.unwrap().wait().unwrap().success());
    herringbone(&["convert", "-q", EXAMPLE, &file]).ok("");
    assert_eq!(read, std::fs::read(&file).unwrap());
    assert!(!read.is_empty());
    assert_eq!(folder.names(), ["file.csv", "pipe"]);
}
