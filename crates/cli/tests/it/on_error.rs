//! Tests the output, errors and exit code that `--on-error` gives for damaged files.

use std::fs;

use crate::common::{EXAMPLE, Folder, herringbone, path, stdin};

/// An offset in the first row group, in the body of the dictionary of `id`. `pages` lists it.
const DICTIONARY_OF_ID: usize = 60;
/// An offset in the first row group, in the levels and codes of the last column.
const LAST_PAGE: usize = 1080;
/// An offset in the first row group's list.
const LIST: usize = 870;

/// Returns the example with a changed byte at each of these positions.
fn damaged(folder: &Folder, places: &[usize]) -> String {
    let mut file = fs::read(path(EXAMPLE)).unwrap();
    for place in places {
        file[*place] ^= 0xff;
    }
    folder.with("damaged.parquet", file)
}

fn rows(arguments: &[&str]) -> Vec<String> {
    let run = herringbone(&[&["cat"], arguments].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn damage_is_an_error() {
    let folder = Folder::new();
    let file = damaged(&folder, &[DICTIONARY_OF_ID]);
    for choice in [&[][..], &["--on-error", "fail"]] {
        let run = herringbone(&[&["cat", &file], choice].concat());
        run.fails(3, "page checksum");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn row_groups_are_skipped() {
    let folder = Folder::new();
    let file = damaged(&folder, &[LAST_PAGE]);
    let second = rows(&["--row-groups", "1", EXAMPLE]);
    for threads in ["1", "3"] {
        let run = herringbone(&["cat", "--on-error", "skip", "--threads", threads, &file]);
        run.fails(
            1,
            "damaged.parquet: lost: 16 rows: corrupt file: page checksum",
        );
        assert!(run.stderr.contains("row group 0, page 1"), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
        assert_eq!(run.stdout.lines().collect::<Vec<_>>(), second);
    }
    // If a damaged column is not read, nothing is lost.
    let other = ["--columns", "id,name"];
    let run = herringbone(&[&["cat", "--on-error", "skip", &file][..], &other].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let whole = rows(&[&[EXAMPLE][..], &other].concat());
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), whole);
}

#[test]
fn pages_become_nulls() {
    let folder = Folder::new();
    let file = damaged(&folder, &[DICTIONARY_OF_ID]);
    let run = herringbone(&["cat", "--on-error", "null", &file]);
    run.fails(1, "damaged.parquet: lost: a dictionary: ");
    assert!(
        run.stderr.contains("lost: 16 values replaced by nulls: "),
        "{}",
        run.stderr
    );
    let printed: Vec<_> = run.stdout.lines().collect();
    let whole = rows(&[EXAMPLE]);
    for (row, (is, was)) in printed.iter().zip(&whole).enumerate() {
        let (_, others) = was.split_once(',').unwrap();
        match row < 16 {
            true => assert_eq!(*is, format!("{{\"id\":null,{others}")),
            false => assert_eq!(is, was),
        }
    }
    assert_eq!(printed.len(), 24);
    // Nulls cannot replace a page of lists, so its row group is left out.
    let file = damaged(&folder, &[LIST]);
    let run = herringbone(&["cat", "--on-error", "null", &file]);
    run.fails(1, "lost: 16 rows: ");
    assert_eq!(run.stdout.lines().count(), 8);
}

/// Damage does not change which rows are selected.
#[test]
fn windows_count_what_is_lost() {
    let folder = Folder::new();
    let file = damaged(&folder, &[LAST_PAGE]);
    let cat = |options: &[&str]| {
        let run = herringbone(&[&["cat", "--on-error", "skip"], options].concat());
        run.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = rows(&[EXAMPLE]);
    assert_eq!(cat(&["--limit", "20", &file]), whole[16..20]);
    assert_eq!(
        cat(&["--limit", "20", "--offset", "18", &file]),
        whole[18..]
    );
    // The second file begins after all 24 rows of the first one, because lost rows count.
    let both = cat(&["--limit", "30", &file, EXAMPLE]);
    assert_eq!(both, [&whole[16..], &whole[..6]].concat());
    let run = herringbone(&["head", "-n", "3", "--on-error", "skip", &file]);
    run.fails(1, "lost: 3 rows: ");
    assert_eq!(run.stdout, "");
}

#[test]
fn files_are_written_without_what_is_lost() {
    let folder = Folder::new();
    let (file, out) = (damaged(&folder, &[LAST_PAGE]), folder.file("out.parquet"));
    let second = rows(&["--row-groups", "1", EXAMPLE]);
    for command in [
        &["rewrite", &file, &out][..],
        &["concat", &file, "-o", &out],
        &["convert", &file, &out],
        &["rewrite", &file, &out, "--sort-by", "id"],
    ] {
        herringbone(command).fails(3, "page checksum");
        assert_eq!(folder.names(), ["damaged.parquet"]);
        let run = herringbone(&[command, &["--on-error", "skip"]].concat());
        run.fails(1, "damaged.parquet: lost: 16 rows: ");
        assert_eq!(rows(&[&out]), second, "{command:?}");
        herringbone(&["verify", &out]).code(&[0]);
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn what_is_said_is_said_for_each_file() {
    let folder = Folder::new();
    let file = damaged(&folder, &[LAST_PAGE]);
    let run = herringbone(&[
        "--quiet",
        "cat",
        "--on-error",
        "skip",
        &file,
        EXAMPLE,
        &file,
    ]);
    assert_eq!((run.code, run.stdout.lines().count()), (1, 8 + 24 + 8));
    assert_eq!(run.stderr.matches("lost: 16 rows: ").count(), 2);
    // Without a footer, `cat` cannot recover anything.
    let bytes = fs::read(&file).unwrap();
    let cut = &bytes[..bytes.len() - 20];
    stdin(&["cat", "--on-error", "skip", "-"], cut).fails(3, "corrupt file");
    let rows = folder.with("rows.csv", "a\n1\n");
    let convert = ["convert", &rows, &folder.file("o"), "--to", "arrow"];
    herringbone(&[&convert[..], &["--on-error", "skip"]].concat()).ok("");
}
