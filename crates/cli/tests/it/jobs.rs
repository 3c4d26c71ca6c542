//! Tests everyday jobs and mistakes, as command lines with their output.
//!
//! `tests/jobs.txt` and `tests/mistakes.txt` have a heading for each job, command lines after `$ `,
//! and their output. Commands run in a folder with the files of `testdata/jobs`. `(...)` stands for
//! any text and, if it is alone on a line, for any lines. `[3]` after the output stands for an exit
//! code other than 0. Expected values come from duckdb and pyarrow, or are written by hand.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Folder, path};

/// A command line, and the output that we expect.
struct Step<'t> {
    line: usize,
    command: &'t str,
    expected: Vec<&'t str>,
}

fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: at + 1,
                command,
                expected: Vec::new(),
            });
        } else if let Some(step) = steps.last_mut()
            && !line.starts_with("# ")
            && !line.is_empty()
        {
            step.expected.push(line);
        }
    }
    steps
}

/// Returns true if a line is as expected.
fn is_line(found: &str, expected: &str) -> bool {
    let mut parts = expected.split("(...)");
    let first = parts.next().unwrap();
    let Some(mut rest) = found.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

/// Returns true if lines are as expected.
fn are_lines(found: &[&str], expected: &[&str]) -> bool {
    match (found.split_first(), expected.split_first()) {
        (_, Some((&"(...)", rest))) => {
            (0..=found.len()).any(|skipped| are_lines(&found[skipped..], rest))
        }
        (Some((line, found)), Some((wanted, expected))) => {
            is_line(line, wanted) && are_lines(found, expected)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Runs a command line in a shell. Returns its lines. If the exit code is not 0, it follows them.
fn run(folder: &Path, command: &str) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_herringbone"));
    let mut search = vec![binary.parent().unwrap().to_owned()];
    search.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(search).unwrap())
        .env_remove("HERRINGBONE_KEYS")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| !line.is_empty());
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    match output.status.code() {
        Some(0) => {}
        code => lines.push(format!("[{}]", code.unwrap_or(-1))),
    }
    lines
}

/// Runs the steps in a folder that has the files they need. `has_errors` adds standard error to the
/// output.
fn check(file: &str, text: &str, has_errors: bool) {
    let folder = Folder::new();
    let files = std::fs::read_dir(path("testdata/jobs")).unwrap();
    for file in files.map(Result::unwrap) {
        let name = file.file_name().into_string().unwrap();
        std::fs::copy(file.path(), folder.file(&name)).unwrap();
    }
    let here = folder.file("");
    let mut failed = Vec::new();
    for step in steps(text) {
        let command = match has_errors {
            true => format!("exec 2>&1; {}", step.command),
            false => step.command.to_owned(),
        };
        let found = run(Path::new(&here), &command);
        let lines: Vec<&str> = found.iter().map(String::as_str).collect();
        if !are_lines(&lines, &step.expected) {
            let (found, expected) = (found.join("\n"), step.expected.join("\n"));
            let line = step.line;
            failed.push(format!(
                "{file}:{line}: {command}\nexpected:\n{expected}\nfound:\n{found}\n"
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn everyday_jobs_are_done() {
    check("jobs.txt", include_str!("../jobs.txt"), false);
}

#[test]
fn mistakes_lead_to_the_right_command_line() {
    check("mistakes.txt", include_str!("../mistakes.txt"), false);
}

/// The sessions on the command's page are what users really see.
#[test]
fn the_page_shows_real_sessions() {
    let text = std::fs::read_to_string(path("docs/command.md")).unwrap();
    let mut is_session = false;
    let sessions = text.lines().map(|line| {
        if line.starts_with("```") {
            is_session = line == "```console";
            return "";
        }
        if is_session { line } else { "" }
    });
    let sessions: Vec<&str> = sessions.collect();
    assert!(
        sessions
            .iter()
            .filter(|line| line.starts_with("$ "))
            .count()
            > 20
    );
    check("docs/command.md", &sessions.join("\n"), true);
}

/// Each job on the list has a heading and at least one command line.
#[test]
fn all_jobs_are_there() {
    let text = include_str!("../jobs.txt");
    let jobs: Vec<&str> = text.split("\n# ").skip(1).collect();
    assert_eq!(jobs.len(), 88);
    for (at, job) in jobs.iter().enumerate() {
        assert!(job.starts_with(&format!("{}. ", at + 1)), "{job}");
        assert!(job.contains("\n$ "), "{job}");
    }
}

#[test]
fn expected_lines_may_have_gaps() {
    for (found, expected, is_so) in [
        ("abc", "abc", true),
        ("abc", "a(...)c", true),
        ("abc", "(...)", true),
        ("abcd", "a(...)c", false),
        ("abc", "ab", false),
        ("a1b2c", "a(...)b(...)c", true),
        ("a1b2d", "a(...)b(...)c", false),
    ] {
        assert_eq!(is_line(found, expected), is_so, "{found} {expected}");
    }
    assert!(are_lines(&["a", "b", "c"], &["a", "(...)", "c"]));
    assert!(are_lines(&["a", "c"], &["a", "(...)", "c"]));
    assert!(!are_lines(&["a", "b"], &["a", "(...)", "c"]));
    assert!(!are_lines(&["a", "b"], &["a"]));
}
