//! Runs the command from the root of the workspace.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A file of 24 rows in two row groups.
pub(crate) const EXAMPLE: &str = "testdata/example.parquet";

/// What came of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The same as `stdout`, where that is not text.
    pub(crate) bytes: Vec<u8>,
}

impl Run {
    /// It ended well and printed this.
    pub(crate) fn ok(&self, stdout: &str) {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (0, ""),
            "{}",
            self.stdout
        );
        assert_eq!(self.stdout, stdout);
    }

    /// It ended with `code` and said so, among other things.
    pub(crate) fn fails(&self, code: i32, message: &str) {
        assert_eq!(self.code, code, "{}", self.stderr);
        assert!(self.stderr.contains(message), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }

    /// It ended with one of `codes`.
    pub(crate) fn code(&self, codes: &[i32]) {
        assert!(codes.contains(&self.code), "{}: {}", self.code, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            bytes: output.stdout,
        }
    }
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herringbone"));
    command
        .args(arguments)
        .current_dir(path(""))
        .stdin(Stdio::null());
    command
}

/// A folder that goes away in the end.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The whole name of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// A file with this text; its whole name.
    pub(crate) fn with(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    /// What is in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries.map(|it| name(it).into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What was printed, which is one JSON document.
pub(crate) fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// A file of the workspace.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

/// A run without standard input.
pub(crate) fn herringbone(arguments: &[&str]) -> Run {
    command(arguments).output().unwrap().into()
}

/// A run with its standard output going somewhere.
pub(crate) fn into(arguments: &[&str], stdout: impl Into<Stdio>) -> Run {
    command(arguments).stdout(stdout).output().unwrap().into()
}

/// A run with this standard input.
pub(crate) fn stdin(arguments: &[&str], bytes: &[u8]) -> Run {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The command may end before it has read everything.
    stdin.write_all(bytes).ok();
    drop(stdin);
    child.wait_with_output().unwrap().into()
}
