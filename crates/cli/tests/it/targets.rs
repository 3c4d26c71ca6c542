//! Tests the files that the command writes: a name has one writer, and names can have any length.

use std::process::Stdio;

use crate::common::{EXAMPLE, Folder, Run, command, herringbone};

/// If two commands write a new file of the same name, one succeeds, and the other one reports that
/// the file exists.
#[test]
fn of_two_writers_of_a_name_one_succeeds() {
    for round in 0..12 {
        let folder = Folder::new();
        let out = folder.file("out.parquet");
        let start = |column: &str| {
            command(&["rewrite", "-q", "--columns", column, EXAMPLE, &out])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children = ["id", "tags"].map(start);
        let mut runs: Vec<Run> = children
            .map(|child| child.wait_with_output().unwrap().into())
            .into();
        let winner = runs.iter().position(|run| run.code == 0);
        let winner = winner.expect("one of them succeeds");
        runs.remove(winner);
        runs[0].fails(
            2,
            "out.parquet: the file already exists; --force replaces it",
        );
        // The file comes from the command that succeeded.
        let column = ["id", "tags"][winner];
        let row = herringbone(&["head", "-n", "1", "--format", "jsonl", &out]).stdout;
        assert!(
            row.starts_with(&format!("{{\"{column}\":")),
            "{round}: {row}"
        );
        assert_eq!(folder.names(), ["out.parquet"]);
    }
}

/// If a file appears while another of its name is being written, it is preserved, even if it is a
/// dangling link.
#[cfg(unix)]
#[test]
fn a_file_that_appears_in_the_meantime_stays() {
    use std::io::Write as _;

    for is_link in [false, true] {
        let folder = Folder::new();
        let out = folder.file("out.parquet");
        let mut child = command(&["convert", "--from", "jsonl", "-", &out])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"{\"a\":1}\n").unwrap();
        match is_link {
            true => std::os::unix::fs::symlink("nowhere", &out).unwrap(),
            false => std::fs::write(&out, "mine").unwrap(),
        }
        drop(stdin);
        let run = Run::from(child.wait_with_output().unwrap());
        run.fails(
            2,
            "out.parquet: the file already exists; --force replaces it",
        );
        assert_eq!(folder.names(), ["out.parquet"]);
        match is_link {
            true => assert_eq!(std::fs::read_link(&out).unwrap().as_os_str(), "nowhere"),
            false => assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine"),
        }
    }
}

/// On all usual file systems, a name can have 255 bytes.
#[test]
fn names_may_be_as_long_as_the_system_allows() {
    let folder = Folder::new();
    for length in [242, 243, 255] {
        let name = format!("{}.parquet", "n".repeat(length - 8));
        let out = folder.file(&name);
        herringbone(&["rewrite", "-q", EXAMPLE, &out]).ok("");
        herringbone(&["count", &out]).ok("24\n");
        herringbone(&["rewrite", "-q", "--force", EXAMPLE, &out]).ok("");
    }
    assert_eq!(folder.names().len(), 3);
    let out = folder.file(&"n".repeat(256));
    herringbone(&["rewrite", EXAMPLE, &out]).fails(4, "too long");
}
