//! Runs the command from the workspace's root, so that tests can name files as users do.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The example file, with 24 rows in two row groups.
pub(crate) const EXAMPLE: &str = "testdata/example.parquet";

/// The result of running the command.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The bytes of `stdout`, for binary output.
    pub(crate) bytes: Vec<u8>,
}

impl Run {
    /// Checks that the run succeeded and printed this.
    pub(crate) fn ok(&self, stdout: &str) {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (0, ""),
            "{}",
            self.stdout
        );
        assert_eq!(self.stdout, stdout);
    }

    /// Checks that the run ended with `code` and an error that contains `message`.
    pub(crate) fn fails(&self, code: i32, message: &str) {
        assert_eq!(self.code, code, "{}", self.stderr);
        assert!(self.stderr.contains(message), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }

    /// Checks that the run ended with one of `codes`.
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

/// A temporary folder, which is deleted on drop.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns the full path of a file in the folder.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Creates a file with these bytes, and returns its full path.
    pub(crate) fn with(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    /// Returns the names of the files in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Returns the JSON document that a run has printed.
pub(crate) fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the path of a file in the workspace.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

/// Runs the command without standard input.
pub(crate) fn herringbone(arguments: &[&str]) -> Run {
    command(arguments).output().unwrap().into()
}

/// Runs the command with this standard output.
pub(crate) fn into(arguments: &[&str], stdout: impl Into<Stdio>) -> Run {
    command(arguments).stdout(stdout).output().unwrap().into()
}

/// Runs the command with this standard input.
pub(crate) fn stdin(arguments: &[&str], bytes: &[u8]) -> Run {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The command might end before it has read all of its input, so this might fail.
    stdin.write_all(bytes).ok();
    drop(stdin);
    child.wait_with_output().unwrap().into()
}
