//! Tests directories and patterns as tables.

use std::fs;
use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema};
use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone, path};

const DATASETS: &str = "testdata/datasets";

fn dataset(name: &str) -> String {
    format!("{DATASETS}/{name}")
}

/// Returns the JSON rows that a run prints.
fn rows(arguments: &[&str]) -> Vec<Value> {
    let run = herringbone(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Copies a dataset into the folder, and returns its path.
pub(crate) fn copy(folder: &Folder, name: &str) -> String {
    fn all(from: &std::path::Path, to: &std::path::Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            match entry.path().is_dir() {
                true => all(&entry.path(), &to),
                false => drop(fs::copy(entry.path(), to).unwrap()),
            }
        }
    }
    let to = folder.file(name);
    all(&path(&dataset(name)), to.as_ref());
    to
}

/// DuckDB found these rows (`testdata/scripts/datasets.py`).
#[test]
fn rows_are_those_that_duckdb_finds() {
    let expected = fs::read_to_string(path(&dataset("expected.tsv"))).unwrap();
    assert!(expected.lines().count() > 20);
    for line in expected.lines() {
        let [name, condition, ids] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let folder = dataset(name);
        let mut arguments = vec!["-c", "id", &folder];
        if condition != "true" {
            arguments.extend(["--where", condition]);
        }
        let count = herringbone(&[&["count"], &arguments[2..]].concat());
        if name == "union" {
            arguments.extend(["--by-name", "--cast"]);
        } else {
            count.ok(&format!("{}\n", ids.split(' ').count()));
        }
        let found = rows(&[&["cat"], &arguments[..]].concat());
        let mut found: Vec<u64> = found
            .iter()
            .map(|found| found["id"].as_u64().unwrap())
            .collect();
        found.sort_unstable();
        let expected: Vec<u64> = ids.split(' ').map(|part| part.parse().unwrap()).collect();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn values_in_paths_are_columns() {
    let codes = dataset("codes");
    let all = herringbone(&["cat", &codes]);
    all.ok(concat!(
        "{\"id\":0,\"year\":2023,\"code\":\"01001\"}\n",
        "{\"id\":1,\"year\":2023,\"code\":\"2A001\"}\n",
        "{\"id\":2,\"year\":2023,\"code\":null}\n",
        "{\"id\":3,\"year\":2023,\"code\":\"a/b\"}\n",
        "{\"id\":4,\"year\":2024,\"code\":\"01001\"}\n",
        "{\"id\":5,\"year\":2024,\"code\":\"2A001\"}\n",
        "{\"id\":6,\"year\":2024,\"code\":null}\n",
        "{\"id\":7,\"year\":2024,\"code\":\"a/b\"}\n",
    ));
    for name in [format!("{codes}/"), format!("{codes}/*/*/*.parquet")] {
        herringbone(&["cat", &name]).ok(&all.stdout);
    }
    for (arguments, expected) in [
        (
            &["head", "-1", "-c", "code, y=year"][..],
            "{\"code\":\"01001\",\"y\":2023}\n",
        ),
        (
            &["head", "-1", "-c", "!id"],
            "{\"year\":2023,\"code\":\"01001\"}\n",
        ),
        (&["head", "-1", "-c", "year:text"], "{\"year\":\"2023\"}\n"),
        (
            &["head", "-1", "--offset", "6"],
            "{\"id\":6,\"year\":2024,\"code\":null}\n",
        ),
        (
            &["tail", "-1"],
            "{\"id\":7,\"year\":2024,\"code\":\"a/b\"}\n",
        ),
        (
            &["tail", "-1", "-w", "YEAR = 2023"],
            "{\"id\":3,\"year\":2023,\"code\":\"a/b\"}\n",
        ),
        (
            &["tail", "-1", "-c", "id", "-w", "code = '01001'"],
            "{\"id\":4}\n",
        ),
        (&["cat", "-c", "id", "-w", "year = 1990"], ""),
        (&["count", "-w", "year = 1990"], "0\n"),
        (&["count", "-w", "code is null"], "2\n"),
        (
            &["cat", "--sort-by", "code,id:desc", "-n", "1"],
            "{\"id\":4,\"year\":2024,\"code\":\"01001\"}\n",
        ),
        (
            &["freq", "year"],
            "{\"column\":\"year\",\"value\":2023,\"count\":4,\"share\":0.5}\n{\"column\":\"year\",\"value\":2024,\"count\":4,\"share\":0.5}\n",
        ),
        (
            &["schema", "--format", "arrow"],
            "id: Int64\nyear: Int64\ncode: Utf8\n",
        ),
    ] {
        herringbone(&[arguments, &[&codes]].concat()).ok(expected);
    }
    let sample = rows(&["sample", "-n", "3", "-w", "year = 2023", &codes]);
    assert_eq!(sample.len(), 3);
    assert!(sample.iter().all(|row| row["year"] == 2023));
}

#[test]
fn the_path_of_the_file_is_a_column_on_request() {
    let codes = dataset("codes");
    let first = format!("{codes}/year=2023/code=01001/part.parquet");
    let last = format!("{codes}/year=2024/code=a%2Fb/part.parquet");
    assert!(path(&first).exists() && path(&last).exists());
    for (arguments, expected) in [
        (
            &["head", "-1", "--path-column", "path"][..],
            format!("{{\"id\":0,\"year\":2023,\"code\":\"01001\",\"path\":\"{first}\"}}\n"),
        ),
        (
            &[
                "cat",
                "--path-column",
                "p",
                "-c",
                "f=p, id",
                "-w",
                "p like '%3/code=01001%'",
            ],
            format!("{{\"f\":\"{first}\",\"id\":0}}\n"),
        ),
        (
            &[
                "count",
                "--path-column",
                "p",
                "-w",
                "p >= 'testdata/datasets/codes/year=2024'",
            ],
            "4\n".to_owned(),
        ),
        (
            &[
                "cat",
                "--path-column",
                "p",
                "--sort-by",
                "p:desc",
                "-n",
                "1",
                "-c",
                "id,p",
            ],
            format!("{{\"id\":7,\"p\":\"{last}\"}}\n"),
        ),
    ] {
        herringbone(&[arguments, &[&codes]].concat()).ok(&expected);
    }
    let freq = rows(&["freq", "p", "--path-column", "p", &codes]);
    assert_eq!((freq.len(), &freq[0]["count"]), (8, &1.into()));
    let folder = Folder::new();
    let file = folder.file("all.parquet");
    herringbone(&["rewrite", "-q", "--path-column", "path", &codes, &file]).ok("");
    let written = rows(&["cat", &file]);
    assert_eq!((written.len(), &written[0]["path"]), (8, &first.into()));
}

#[test]
fn a_column_of_paths_replaces_no_other() {
    let codes = dataset("codes");
    let taken = |column| format!("has a column `{column}` already; choose another name");
    for column in ["id", "code"] {
        herringbone(&["cat", "--path-column", column, &codes]).fails(2, &taken(column));
    }
    let folder = Folder::new();
    let copied = copy(&folder, "codes");
    // The first file does not have this column.
    let last = format!("{copied}/year=2024/code=a%2Fb/part.parquet");
    herringbone(&[
        "rewrite",
        "-q",
        "--force",
        "-c",
        "id, path=id",
        &last,
        &last,
    ])
    .ok("");
    herringbone(&["cat", "--path-column", "path", &copied]).fails(2, &taken("path"));
    for arguments in [
        &["cat", EXAMPLE][..],
        &["stats", "--by", "row-group", EXAMPLE],
        &["convert", "--to", "csv", EXAMPLE, "-"],
    ] {
        let run = herringbone(&[arguments, &["--path-column", "path"]].concat());
        run.fails(2, "--path-column is for directories and patterns");
    }
}

/// On request, `count` needs no footer except the one in `_metadata`. Before rows are read, the
/// footers are compared.
#[test]
fn rows_are_read_by_the_footers_in_a_metadata_file() {
    let folder = Folder::new();
    let copied = copy(&folder, "with_metadata");
    let metadata = format!("{copied}/_metadata");
    let bytes = fs::read(&metadata).unwrap();
    fs::remove_file(&metadata).unwrap();
    let expected = herringbone(&["cat", &copied]).stdout;
    assert_eq!(expected.lines().count(), 400);
    fs::write(&metadata, &bytes).unwrap();
    let used = |command: &str| herringbone(&[command, "--use-metadata-file", &copied]);
    used("cat").ok(&expected);
    let damaged = format!("{copied}/p=1");
    let file = fs::read_dir(&damaged)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let sound = fs::read(&file).unwrap();
    let mut broken = sound.clone();
    let end = broken.len();
    broken[end - 8..end - 4].fill(0xff);
    fs::write(&file, broken).unwrap();
    used("count").ok("400\n");
    for arguments in [&["cat", "--use-metadata-file"][..], &["cat"], &["count"]] {
        herringbone(&[arguments, &[&copied]].concat()).fails(3, "p=1");
    }
    // This file belongs to another partition and has as many rows, but its bounds differ.
    let other = fs::read_dir(format!("{copied}/p=2")).unwrap().next();
    fs::copy(other.unwrap().unwrap().path(), &file).unwrap();
    herringbone(&["count", "-w", "id >= 200", &copied]).ok("300\n");
    let advice = "without --use-metadata-file, files are read by their own footers";
    used("cat").fails(4, advice);
    // This `_metadata` file cannot be used, so it is ignored.
    fs::write(&file, sound).unwrap();
    fs::write(&metadata, &bytes[..bytes.len() - 1]).unwrap();
    herringbone(&["cat", &copied]).ok(&expected);
    used("cat").fails(3, advice);
    used("cat").fails(3, "_metadata");
}

#[test]
fn the_directory_of_a_metadata_file_is_named() {
    let metadata = format!("{}/_metadata", dataset("with_metadata"));
    let advice = format!("name the directory {}/ to", dataset("with_metadata"));
    for command in ["cat", "head", "tail", "sample", "stats"] {
        let run = herringbone(&[command, &metadata]);
        run.fails(3, &advice);
        run.fails(3, "/part-0.parquet");
    }
    let folder = Folder::new();
    for arguments in [
        &["rewrite", &metadata, &folder.file("a")][..],
        &["concat", &metadata, "-o", &folder.file("b")],
        &[
            "convert",
            "--from",
            "parquet",
            &metadata,
            &folder.file("c.csv"),
        ],
    ] {
        herringbone(arguments).fails(3, &advice);
    }
}

#[test]
fn a_folder_is_one_table() {
    let codes = dataset("codes");
    let months = dataset("months");
    herringbone(&["count", &codes, &months, EXAMPLE]).ok(&format!(
        "8\t{codes}\n6\t{months}\n24\t{EXAMPLE}\n38\ttotal\n"
    ));
    let stats = rows(&["stats", &codes]);
    assert_eq!(stats.len(), 3);
    assert_eq!(
        (&stats[0]["file"], &stats[0]["max"]),
        (&codes.as_str().into(), &7.into())
    );
    assert_eq!(
        (&stats[1]["num_values"], &stats[1]["distinct_count"]),
        (&8.into(), &2.into())
    );
    let bounds = rows(&["stats", "-c", "!id,year", &codes]);
    let found: Vec<_> = bounds.iter().map(|row| &row["max"]).collect();
    assert_eq!(found, [&stats[1]["max"], &stats[2]["max"]]);
    let verified = herringbone(&["verify", &codes]);
    assert_eq!((verified.code, verified.stdout.lines().count()), (0, 8));
    let info = herringbone(&["info", &codes]);
    for line in [
        "files        8\n",
        "rows         8\n",
        "in paths     year (int64), code (text)\n",
    ] {
        assert!(info.stdout.contains(line), "{}", info.stdout);
    }
    let shown = herringbone(&[&codes]);
    assert!(!shown.stdout.contains("rows; see also"), "{}", shown.stdout);
    let diff = herringbone(&["diff", &codes, &format!("{codes}/year=*")]);
    assert!(
        diff.code == 0 && diff.stdout.contains("8 files, 3.8 KiB"),
        "{}",
        diff.stdout
    );
    herringbone(&["schema", &codes]).fails(0, "have these columns: year: int64, code: text");
}

#[test]
fn explanations_are_sums_over_files() {
    let folder = dataset("with_metadata");
    herringbone(&["cat", "--explain", "-w", "id >= 250 AND p < 3", &folder]).ok(&format!(
        "{folder}: 300 rows in 6 row groups\n  \
         listing          3 files in 4 folders\n  \
         where (id >= 250 and p < 3)\n  \
         statistics       250 rows ruled out, 50 accepted; read 0 bytes of 6 row groups\n  \
         left to test     0 rows in 0 row groups\n  \
         pages to fetch   345 bytes; 345 bytes in 1 request\n"
    ));
}

#[test]
fn rows_are_written_and_compared() {
    let folder = Folder::new();
    let codes = dataset("codes");
    let file = folder.file("all.parquet");
    herringbone(&["rewrite", "-q", &codes, &file]).ok("");
    herringbone(&["cat", &file]).ok(&herringbone(&["cat", &codes]).stdout);
    let diff = herringbone(&["diff", &codes, &file]);
    assert_eq!(
        (
            diff.code,
            diff.stdout
                .contains("\"only_in_a\":0,\"only_in_b\":0,\"changed\":0")
        ),
        (0, true)
    );
    let csv = folder.file("all.csv");
    herringbone(&["convert", "-q", &format!("{codes}/"), &csv]).ok("");
    assert_eq!(
        fs::read_to_string(csv).unwrap().lines().nth(1),
        Some("0,2023,\"01001\"")
    );
    let twice = folder.file("twice.parquet");
    herringbone(&["concat", "-q", &codes, &codes, "-o", &twice]).ok("");
    herringbone(&["count", &twice]).ok("16\n");
    let pattern = folder.file("parts/code={code}/part.parquet");
    herringbone(&["split", "-q", &codes, "-o", &pattern, "--by", "code"]).ok("");
    let sorted = |source: &str| {
        herringbone(&["cat", "--sort-by", "id", "-c", "id,year,code", source]).stdout
    };
    assert_eq!(sorted(&folder.file("parts")), sorted(&codes));
    herringbone(&["rewrite", "--copy", &codes, &folder.file("copy.parquet")])
        .fails(2, "the paths of files have columns, too");
}

#[test]
fn names_and_commands_without_a_table_are_refused() {
    let folder = Folder::new();
    let codes = dataset("codes");
    let out = folder.file("out");
    for arguments in [
        &["pages"][..],
        &["meta"],
        &["pages", "--bounds"],
        &["bloom", "check"],
        &["repair"],
        &["stats", "--by", "row-group"],
    ] {
        let mut arguments = arguments.to_vec();
        arguments.push(&codes);
        match arguments[0] {
            "bloom" => arguments.extend(["id", "1"]),
            "repair" => arguments.push(&out),
            _ => {}
        }
        herringbone(&arguments).fails(2, "the command is about single files; name one");
    }
    herringbone(&["stats", "--fast", &codes]).fails(2, "--fast is for single Parquet files");
    herringbone(&["cat", &format!("{DATASETS}/nothing-*")]).fails(2, "no files were found");
    herringbone(&["cat", "-c", "nme", &codes]).fails(2, "there is no column `nme` in");
    herringbone(&["cat", "-w", "nme = 1", &codes]).fails(2, "`nme`");
    herringbone(&["cat", "-w", "year = 'x'", &codes]).fails(2, "which is text (column year)");
    // If a file with such a name exists, the name is not a pattern.
    let odd = folder.with("[a]*.parquet", fs::read(path(EXAMPLE)).unwrap());
    herringbone(&["count", &odd]).ok("24\n");
    herringbone(&["pages", "-q", &odd]).code(&[0]);
}

/// The shell can replace a pattern by its files before the command sees it.
#[test]
fn named_files_have_the_columns_of_their_paths() {
    let folder = Folder::new();
    let one = |path: &str, id: i64| {
        let path = folder.file(path);
        fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![id]));
        let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
        let mut writer = herringbone::create(&path, batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        path
    };
    let (a, b) = (one("t/k=1/a.parquet", 10), one("t/k=2/b.parquet", 20));
    let plain = one("t/c.parquet", 30);
    let pattern = folder.file("t/k=*/*.parquet");
    let out = folder.file("out.parquet");
    // duckdb returns these rows for read_parquet(['t/k=1/a.parquet', 't/k=2/b.parquet']).
    let expected = "{\"id\":10,\"k\":1}\n{\"id\":20,\"k\":2}\n";
    herringbone(&["cat", &pattern]).ok(expected);
    herringbone(&["cat", &a, &b]).ok(expected);
    herringbone(&["cat", "-w", "k = 2", &a, &b]).ok("{\"id\":20,\"k\":2}\n");
    herringbone(&["cat", "-c", "k", &a, &b]).ok("{\"k\":1}\n{\"k\":2}\n");
    for named in [&[pattern.as_str()][..], &[&a, &b]] {
        let arguments = [&["concat", "--force", "-o", &out], named].concat();
        herringbone(&arguments).ok("");
        herringbone(&["cat", &out]).ok(expected);
    }
    // Each named file is still a table of its own.
    herringbone(&["count", &a, &b]).ok(&format!("1\t{a}\n1\t{b}\n2\ttotal\n"));
    herringbone(&["count", "-w", "k = 2", &a, &b]).ok(&format!("0\t{a}\n1\t{b}\n1\ttotal\n"));
    assert_eq!(herringbone(&["stats", "--fast", &a, &b]).code, 0);
    // A single file does not get these columns, nor do files with different keys.
    herringbone(&["cat", &a]).ok("{\"id\":10}\n");
    herringbone(&["cat", &a, &plain]).ok("{\"id\":10}\n{\"id\":30}\n");
    let c = one("t/j=1/c.parquet", 40);
    herringbone(&["cat", &a, &c]).ok("{\"id\":10}\n{\"id\":40}\n");
    // `diff` compares two tables.
    let same = one("t/k=3/b.parquet", 20);
    assert_eq!(herringbone(&["diff", &b, &same]).code, 0);
}

/// pyarrow returns these rows.
#[test]
fn files_differ_in_nulls_and_partition_columns() {
    let folder = Folder::new();
    let one = |path: &str, value: Option<i64>, is_nullable| {
        let path = folder.file(path);
        fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![value]));
        let schema = Arc::new(Schema::new(vec![Field::new(
            "id",
            DataType::Int64,
            is_nullable,
        )]));
        let batch = RecordBatch::try_new(schema.clone(), vec![ids]).unwrap();
        let mut writer = herringbone::create(&path, schema).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    };
    one("t/a=1/b=2/x.parquet", Some(1), false);
    one("t/b=3/a=4/y.parquet", None, true);
    one("t/z.parquet", Some(3), false);
    let (table, out) = (folder.file("t"), folder.file("out.parquet"));
    let expected = "{\"id\":1,\"a\":1,\"b\":2}\n{\"id\":null,\"a\":4,\"b\":3}\n{\"id\":3,\"a\":null,\"b\":null}\n";
    herringbone(&["cat", &table]).ok(expected);
    herringbone(&["rewrite", &table, &out]).ok("");
    herringbone(&["cat", &out]).ok(expected);
    herringbone(&["count", "-w", "a is null", &table]).ok("1\n");
    herringbone(&["count", "-w", "a = 4 and b = 3", &table]).ok("1\n");
    let by_name = herringbone(&["cat", "--by-name", &table]);
    by_name.ok(expected);
}

/// The value of a folder `month=03` is text, but it is compared with a whole number by value.
#[test]
fn texts_of_digits_are_compared_with_numbers_by_value() {
    let folder = Folder::new();
    for month in ["03", "10", "12"] {
        let file = folder.file(&format!("data/month={month}/a.parquet"));
        fs::create_dir_all(std::path::Path::new(&file).parent().unwrap()).unwrap();
        fs::copy(path(EXAMPLE), file).unwrap();
    }
    let data = folder.file("data");
    for (condition, months) in [
        ("month = 3 and id = 1", &["03"][..]),
        ("month <> 3 and id = 1", &["10", "12"]),
        ("month between 4 and 11 and id = 1", &["10"]),
        ("month in (3, 12) and id = 1", &["03", "12"]),
        ("month = '03' and id = 1", &["03"]),
        ("month = '3'", &[]),
    ] {
        let found = rows(&["cat", "-c", "month", &data, "--where", condition]);
        let found: Vec<_> = found
            .iter()
            .map(|row| row["month"].as_str().unwrap())
            .collect();
        assert_eq!(found, months, "{condition}");
    }
    let count = herringbone(&["count", &data, "--where", "month > 3"]);
    assert_eq!(count.stdout.trim(), "48");
}
