//! Runs programs that read the file at a URL, each through another part of the library.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use herringbone::{Error, ErrorKind};

/// The command's exit codes for a system error and for wrong bytes.
const SYSTEM: i32 = 4;
const DATA: i32 = 3;

/// The outcome of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Rows,
    /// A request failed, or its answer is not the requested range.
    Io,
    /// The object was replaced.
    Replaced,
    /// The bytes are not a Parquet file.
    Corrupt,
}

impl Outcome {
    /// Returns the outcome of a read that failed.
    pub fn of_error(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Io => Self::Io,
            ErrorKind::Replaced => Self::Replaced,
            ErrorKind::Corrupt => Self::Corrupt,
            other => panic!("{other:?}: {error}"),
        }
    }
}

/// A file at a URL, whose column `id` counts from 0.
pub struct Remote<'a> {
    pub url: &'a str,
    pub length: usize,
    pub num_rows: usize,
}

/// A program that reads files.
pub enum Door {
    /// The command `herringbone` at this path.
    Command(String),
    /// A program that answers each line of a length and a URL with a line (`tests/remote_door.py`).
    Lines {
        name: String,
        program: Child,
        questions: ChildStdin,
        answers: BufReader<ChildStdout>,
    },
}

impl Door {
    /// Starts a door, which is `command=PATH` or `NAME=PROGRAM ARGUMENT...`.
    pub fn start(argument: &str) -> Self {
        let (name, line) = argument.split_once('=').expect("NAME=PROGRAM");
        if name == "command" {
            return Self::Command(line.to_owned());
        }
        let mut words = line.split(' ');
        let mut program = Command::new(words.next().expect("a program"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect(line);
        Self::Lines {
            name: name.to_owned(),
            questions: program.stdin.take().expect("a pipe"),
            answers: BufReader::new(program.stdout.take().expect("a pipe")),
            program,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Command(_) => "command",
            Self::Lines { name, .. } => name,
        }
    }

    /// Reads a file, and panics if it has other rows.
    pub fn read(&mut self, file: &Remote<'_>) -> (Outcome, String) {
        match self {
            Self::Command(path) => by_command(path, file),
            Self::Lines {
                questions, answers, ..
            } => {
                writeln!(questions, "{} {}", file.length, file.url).expect("a program that reads");
                let mut line = String::new();
                answers.read_line(&mut line).expect("an answer");
                answered(line.trim_end(), file)
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Self::Lines { program, .. } = self {
            drop(program.kill());
            drop(program.wait());
        }
    }
}

/// Returns the outcome that a program's line contains.
fn answered(line: &str, file: &Remote<'_>) -> (Outcome, String) {
    let (kind, message) = line.split_once(' ').unwrap_or((line, ""));
    let outcome = match kind {
        "rows" => {
            let sum = file.num_rows * (file.num_rows - 1) / 2;
            assert_eq!(message, format!("{} {sum}", file.num_rows), "{}", file.url);
            Outcome::Rows
        }
        "io" => Outcome::Io,
        "replaced" => Outcome::Replaced,
        "corrupt" => Outcome::Corrupt,
        other => panic!("{}: {other}: {message}", file.url),
    };
    (outcome, message.to_owned())
}

/// Reads all rows with the command, and compares one column.
fn by_command(command: &str, file: &Remote<'_>) -> (Outcome, String) {
    let run = Command::new(command)
        .args(["cat", "--columns", "id", "--format", "csv", file.url])
        .output()
        .expect("the command runs");
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    let outcome = match run.status.code() {
        Some(0) => {
            let rows = String::from_utf8(run.stdout).expect("text");
            let ids: Vec<_> = rows.lines().skip(1).map(str::to_owned).collect();
            let expected: Vec<_> = (0..file.num_rows).map(|id| id.to_string()).collect();
            assert!(ids == expected, "{}", file.url);
            Outcome::Rows
        }
        Some(SYSTEM) if message.contains("replaced") || message.contains("was opened") => {
            Outcome::Replaced
        }
        Some(SYSTEM) => Outcome::Io,
        Some(DATA) => Outcome::Corrupt,
        other => panic!("{}: {other:?}: {message}", file.url),
    };
    (outcome, message)
}
