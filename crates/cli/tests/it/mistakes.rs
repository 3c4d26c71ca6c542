//! Tests command lines in the words of other programs, and slips of the hand.

use std::fs;

use crate::common::{EXAMPLE, Folder, command, herringbone};

#[test]
fn words_of_other_programs_lead_to_those_that_mean_the_same() {
    for (word, tip) in [
        ("profile", "`stats FILE`"),
        ("export", "`convert IN OUT`"),
        ("import", "`convert IN OUT`"),
        ("filter", "`cat -w"),
        ("select", "`cat -w"),
        ("grep", "`cat -w"),
        ("sort", "`rewrite --sort-by"),
        ("drop", "`rewrite -c"),
    ] {
        let run = herringbone(&[word, EXAMPLE]);
        run.fails(2, &format!("unrecognized subcommand '{word}'"));
        run.fails(2, tip);
        assert!(!run.stderr.contains("similar"), "{}", run.stderr);
    }
    for (line, tip) in [
        (
            &["convert", "a.csv", "b.parquet", "--sep", ";"][..],
            "`--delimiter`",
        ),
        (
            &["convert", "a.csv", "b.parquet", "--skip-rows", "3"],
            "`--skip-lines` or `--offset`",
        ),
        (&["cat", EXAMPLE, "--skip-rows=3"], "`--offset`"),
        (
            &["rewrite", EXAMPLE, "b", "--row-group-size", "9"],
            "`--row-group-rows`",
        ),
        (
            &["rewrite", EXAMPLE, "b", "--partition-by", "id"],
            "`split --by COLUMN",
        ),
        (&["split", EXAMPLE, "--partition-by", "id"], "`--by`"),
        (&["cat", EXAMPLE, "--ignore-errors"], "`--on-error`"),
        (&["diff", EXAMPLE, EXAMPLE, "--on", "id"], "`--key`"),
    ] {
        let run = herringbone(line);
        run.fails(2, "unexpected argument");
        run.fails(2, tip);
        run.fails(2, &format!("Usage: herringbone {} ", line[0]));
        assert!(!run.stderr.contains("--sort-by"), "{}", run.stderr);
        assert!(!run.stderr.contains("similar"), "{}", run.stderr);
    }
    // A word that only looks similar is not proposed, but a slip of the hand still is.
    for line in [
        &["cat", EXAMPLE, "--verbose"][..],
        &["query2", EXAMPLE],
        &["copyright"],
    ] {
        let run = herringbone(line);
        assert_eq!(run.code, 2);
        assert!(!run.stderr.contains("tip:"), "{}", run.stderr);
    }
    herringbone(&["haed", EXAMPLE]).fails(2, "'head'");
    herringbone(&["cat", EXAMPLE, "--colums", "id"]).fails(2, "'--columns'");
}

#[test]
fn numbers_are_explained() {
    for line in [
        &["cat", EXAMPLE, "-n", "five"][..],
        &["cat", EXAMPLE, "-n", "10%"],
        &["cat", EXAMPLE, "--offset", "1e3"],
        &["convert", "a.csv", "b.parquet", "--infer-rows", "all"],
        &["cat", EXAMPLE, "--sample", "some"],
        &["split", EXAMPLE, "-o", "{}", "--part-rows", "x"],
        &["diff", EXAMPLE, EXAMPLE, "-n", "99999999999999999999"],
    ] {
        let run = herringbone(line);
        run.fails(2, "expected a whole number");
        run.fails(2, "invalid value");
        assert!(!run.stderr.contains("digit"), "{}", run.stderr);
    }
}

#[test]
fn files_and_folders_need_no_command() {
    let folder = Folder::new();
    for name in ["many/a.parquet", "many/b.parquet"] {
        fs::create_dir_all(folder.file("many")).unwrap();
        fs::copy(crate::common::path(EXAMPLE), folder.file(name)).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = command(arguments);
        let output = command.current_dir(folder.file("")).output().unwrap();
        crate::common::Run::from(output)
    };
    let shown = run(&["many"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert_eq!(shown.stdout, run(&["show", "many"]).stdout);
    let chosen = run(&["-c", "id", "many/a.parquet"]);
    assert_eq!(chosen.code, 0, "{}", chosen.stderr);
    assert_eq!(
        chosen.stdout,
        run(&["show", "-c", "id", "many/a.parquet"]).stdout
    );
    run(&["few"]).fails(2, "unrecognized subcommand 'few'");
    // If a file has the name of a command, the word means the command.
    fs::create_dir(folder.file("head")).unwrap();
    run(&["head"]).fails(2, "no file is named");
}

#[test]
fn an_incomplete_download_is_named() {
    let folder = Folder::new();
    let bytes = fs::read(crate::common::path(EXAMPLE)).unwrap();
    let cut = folder.with("cut.parquet", &bytes[..bytes.len() - 100]);
    for line in [&["cat", &cut][..], &["info", &cut], &["count", &cut]] {
        let run = herringbone(line);
        run.fails(3, "not a Parquet file: it ends in");
        run.fails(3, "its end may be missing, as after an incomplete download");
        run.fails(3, &format!("`herringbone repair {cut} OUT.parquet`"));
    }
    let other = folder.with("other.parquet", "nothing of the kind");
    let run = herringbone(&["cat", &other]);
    assert!(!run.stderr.contains("repair"), "{}", run.stderr);
}

#[test]
fn help_about_sql_needs_no_other_program() {
    for option in ["-h", "--help"] {
        let mut command = command(&["sql", option]);
        let run = crate::common::Run::from(command.env("PATH", "").output().unwrap());
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("herringbone-sql"), "{}", run.stdout);
    }
}
