//! `--where`: rows by their values. What is expected was found by duckdb, with the same conditions.

use crate::common::{EXAMPLE, herringbone};

fn ids(arguments: &[&str]) -> Vec<u32> {
    let run = herringbone(&[&["cat", "--format", "csv", "--columns", "id"], arguments].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines = run.stdout.lines().skip(1);
    lines.map(|line| line.parse().unwrap()).collect()
}

#[test]
fn rows_that_meet_a_condition() {
    for (condition, expected) in [
        ("id > 20", &[21, 22, 23][..]),
        ("price >= 2.74 and organic", &[3, 6, 12, 18, 21][..]),
        ("origin.altitude is null", &[0, 4, 8, 12, 16, 20][..]),
        ("name like 'c%' or id = 0", &[0, 2, 12, 22][..]),
        ("harvested < '2026-01-04T02:00:00Z'", &[0, 1][..]),
        ("weight between 0.125 and 0.5", &[1, 2, 4][..]),
        ("not organic and id in (1, 2, 3)", &[1, 2][..]),
    ] {
        assert_eq!(
            ids(&["--where", condition, EXAMPLE]),
            expected,
            "{condition}"
        );
        let count = herringbone(&["count", "--where", condition, EXAMPLE]);
        count.ok(&format!("{}\n", expected.len()));
    }
}

#[test]
fn offset_and_limit_count_what_meets_it_in_all_files() {
    let all = |more: &[&str]| ids(&[&["--where", "id > 20", EXAMPLE, EXAMPLE], more].concat());
    let both = [21, 22, 23].repeat(2);
    assert_eq!(all(&[]), both);
    assert_eq!(all(&["--offset", "2"]), both[2..]);
    assert_eq!(all(&["--limit", "4"]), both[..4]);
    assert_eq!(all(&["--offset", "4", "--limit", "1"]), both[4..5]);
    herringbone(&["count", "--where", "id > 20", EXAMPLE, EXAMPLE])
        .ok("3\ttestdata/example.parquet\n3\ttestdata/example.parquet\n6\ttotal\n");
    let head = herringbone(&[
        "head",
        "-n",
        "1",
        "--columns",
        "name",
        "--where",
        "id = 2",
        EXAMPLE,
    ]);
    head.ok("{\"name\":\"cedar\"}\n");
}

#[test]
fn what_is_wrong_is_said_in_the_words_of_the_command() {
    for (condition, code, message) in [
        ("id >", 2, "EOF"),
        ("lower(name) = 'x'", 2, "a column is expected"),
        ("nme = 'x'", 2, "there is no column `nme`"),
        (
            "id = 'x'",
            2,
            "'x' is text, and cannot be compared with values of Int64",
        ),
    ] {
        let run = herringbone(&["cat", "--where", condition, EXAMPLE]);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains(message), "{condition}: {}", run.stderr);
        assert_eq!(run.code, code, "{condition}: {}", run.stderr);
    }
}

#[test]
fn what_is_known_of_rows_is_explained() {
    // 24 rows in row groups of 16 and 8; the file has column indexes and no bloom filters.
    herringbone(&["count", "--explain", "--where", "id > 20", EXAMPLE]).ok(
        "testdata/example.parquet: 24 rows in 2 row groups\n  \
         where id > 20\n  \
         statistics       16 rows passed over, 0 known to be wanted; 0 bytes of 2 row groups\n  \
         column indexes   0 rows passed over, 0 known to be wanted; 46 bytes of 1 row group\n  \
         to be tested     8 rows in 1 row group\n",
    );
    for command in ["cat", "head"] {
        let nothing = herringbone(&[command, "--explain", "--where", "id >= 0", EXAMPLE]);
        nothing.ok("testdata/example.parquet: 24 rows in 2 row groups\n  \
             where id >= 0\n  \
             statistics       0 rows passed over, 24 known to be wanted; 0 bytes of 2 row groups\n  \
             to be tested     0 rows in 0 row groups\n");
    }
    let without = herringbone(&["cat", "--explain", EXAMPLE]);
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("--where"), "{}", without.stderr);
}
