//! Tests systems that provide fewer threads than the command asks for, or none.

use crate::common::{Folder, command, herringbone};

/// A stack size of 64 TiB. No system has room for it, so no thread can be started.
const STACK: (&str, &str) = ("RUST_MIN_STACK", "70368744177664");

/// Returns enough rows for several threads.
fn rows(folder: &Folder) -> String {
    let text: String = (0..200_000).map(|i| format!("{i},{}\n", i % 7)).collect();
    folder.with("rows.csv", format!("a,b\n{text}"))
}

#[test]
fn reading_and_writing_go_on_with_those_there_are() {
    let folder = Folder::new();
    let text = rows(&folder);
    let whole = folder.file("whole.parquet");
    herringbone(&["--quiet", "convert", "--threads", "1", &text, &whole]).ok("");
    let expected = herringbone(&["cat", "--threads", "1", &whole]).stdout;
    for (name, variable, threads) in [
        ("none", Some(STACK), "0"),
        ("none_of_many", Some(STACK), "20000"),
        ("many", None, "20000"),
    ] {
        let out = folder.file(name);
        let run = |arguments: &[&str]| {
            let mut command = command(arguments);
            command.envs(variable);
            let output = command.output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                (output.status.code(), error.as_str()),
                (Some(0), ""),
                "{name}"
            );
            String::from_utf8(output.stdout).unwrap()
        };
        run(&["--quiet", "rewrite", "--threads", threads, &whole, &out]);
        let (one, other) = (std::fs::read(&whole).unwrap(), std::fs::read(&out).unwrap());
        assert!(one == other, "{name}: other bytes");
        assert!(
            run(&["cat", "--threads", threads, &out]) == expected,
            "{name}"
        );
        run(&["verify", "--threads", threads, &out]);
    }
    let names = ["many", "none", "none_of_many", "rows.csv", "whole.parquet"];
    assert_eq!(folder.names(), names);
}
