//! Tests `pages --bounds`, `stats` and `bloom check`, which show the metadata by which readers skip
//! data.

use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone, json, path, stdin};

fn objects(arguments: &[&str]) -> Vec<Value> {
    let run = herringbone(arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns a file that the command has written. It has ascending numbers, text with nulls, and
/// bloom filters for both.
fn file(folder: &Folder) -> String {
    let csv: String = (0..100)
        .map(|row| match row % 10 {
            3 => format!("{row},\n"),
            _ => format!("{row},t{row:03}\n"),
        })
        .collect();
    let out = folder.file("t.parquet");
    let arguments = [
        "convert",
        "-",
        &out,
        "--from",
        "csv",
        "--row-group-rows",
        "50",
        "--page-rows",
        "20",
        "--bloom-filter",
        "id,text",
        "--dictionary",
        "off",
    ];
    let run = stdin(&arguments, format!("id,text\n{csv}").as_bytes());
    assert_eq!(run.code, 0, "{}", run.stderr);
    out
}

#[test]
fn stats_are_bounds_and_counts_of_column_chunks() {
    let folder = Folder::new();
    let file = file(&folder);
    let stats = objects(&["stats", "--by", "row-group", &file]);
    assert_eq!(stats.len(), 4);
    let expected = serde_json::json!({
        "file": file, "row_group": 1, "column": 1, "path": ["text"], "num_rows": 50, "null_count": 5,
        "min": "t050", "max": "t099", "is_min_exact": true, "is_max_exact": true,
    });
    assert_eq!(stats[3], expected);
    assert_eq!(
        (&stats[2]["min"], &stats[2]["max"]),
        (&Value::from(50), &Value::from(99))
    );
    let one = objects(&[
        "stats",
        "--by",
        "row-group",
        "--columns",
        "id",
        "--row-groups",
        "0",
        &file,
        EXAMPLE,
    ]);
    assert_eq!(one.len(), 2);
    let table = herringbone(&["stats", "--by", "row-group", "--format", "table", EXAMPLE]).stdout;
    assert!(table.contains("┆ tags.list.element ┆"), "{table}");
    // The statistics can also come from bytes on standard input.
    let bytes = std::fs::read(path(EXAMPLE)).unwrap();
    assert_eq!(stdin(&["stats", "-"], &bytes).code, 0);
}

#[test]
fn indexes_are_bounds_and_places_of_pages() {
    let folder = Folder::new();
    let file = file(&folder);
    let pages = objects(&["pages", "--bounds", "-c", "id", &file]);
    let field = |name: &str| -> Vec<u64> {
        pages
            .iter()
            .map(|page| page[name].as_u64().unwrap())
            .collect()
    };
    assert_eq!(field("first_row"), [0, 20, 40, 0, 20, 40]);
    assert_eq!(field("num_rows"), [20, 20, 10, 20, 20, 10]);
    assert_eq!(field("min"), [0, 20, 40, 50, 70, 90]);
    assert_eq!(field("max"), [19, 39, 49, 69, 89, 99]);
    let pages = objects(&["pages", "--columns", "id", &file]);
    let offsets: Vec<u64> = pages
        .iter()
        .map(|page| page["offset"].as_u64().unwrap())
        .collect();
    assert_eq!(field("offset"), offsets);
    let nulls = objects(&[
        "pages",
        "--bounds",
        "-c",
        "text",
        "--row-groups",
        "0",
        &file,
    ]);
    let nulls: Vec<&Value> = nulls.iter().map(|page| &page["null_count"]).collect();
    assert_eq!(nulls, [2, 2, 1]);
    assert_eq!(objects(&["pages", "--bounds", &file]).len(), 12);

    let table = herringbone(&["pages", "--bounds", "-c", "id", &file, "--format", "table"]).stdout;
    assert!(table.contains("first row"), "{table}");
    herringbone(&["pages", "--bounds", "-c", "nope", &file]).fails(2, "nope");
    let without = "testdata/duckdb/v1_none_random.parquet";
    let run = herringbone(&["pages", "--bounds", without]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    assert!(
        run.stderr
            .contains("column chunks lack a column index or offset index")
    );
}

#[test]
fn bloom_filters_say_no_or_maybe() {
    let folder = Folder::new();
    let file = file(&folder);
    let answers = |column: &str, value: &str| -> Vec<String> {
        let answers = objects(&["bloom", "check", &file, column, value]);
        let answers = answers
            .iter()
            .map(|answer| answer["answer"].as_str().unwrap().to_owned());
        answers.collect()
    };
    // A value that is present is never ruled out. An absent value is ruled out unless there is a
    // false positive, which is the same in each run.
    assert_eq!(answers("id", "7"), ["maybe", "no"]);
    assert_eq!(answers("id", "63"), ["no", "maybe"]);
    assert_eq!(answers("id", "-5"), ["no", "no"]);
    assert_eq!(answers("text", "t051"), ["no", "maybe"]);
    assert_eq!(answers("text", "t053"), ["no", "no"]);
    for row in 0..100 {
        let group = usize::from(row >= 50);
        assert_eq!(answers("id", &row.to_string())[group], "maybe", "{row}");
    }
    let one = objects(&["bloom", "check", &file, "id", "7", "--row-groups", "1"]);
    assert_eq!(one[0]["row_group"], 1);
    let none = objects(&["bloom", "check", EXAMPLE, "name", "x"]);
    assert!(none.iter().all(|none| none["answer"] == "no filter"));
    let table = herringbone(&["bloom", "check", &file, "id", "7", "--format", "table"]).stdout;
    assert!(table.contains("┆ id     ┆ maybe"), "{table}");
    herringbone(&["bloom", "check", &file, "id", "x"]).fails(2, "\"x\" is not a valid Int64");
    herringbone(&["bloom", "check", &file, "nope", "x"]).fails(2, "nope");
    herringbone(&["bloom", "check", &file, "id,text", "7"]).fails(2, "name one of them");
}

/// The keys of a file give access to all of its metadata. Without a column's key, that column's
/// metadata is not available.
#[test]
fn encrypted_files_say_the_same_with_their_keys() {
    let folder = Folder::new();
    let key = "MDEyMzQ1Njc4OTAxMjM0NQ==";
    let keys = format!(r#"{{"footer_key": "{key}", "column_keys": {{"id": "{key}"}}}}"#);
    let keys = folder.with("keys.json", keys);
    let plain = file(&folder);
    let secret = folder.file("secret.parquet");
    let run = herringbone(&[
        "encrypt",
        &plain,
        "-o",
        &secret,
        "--keys",
        &keys,
        "--row-group-rows",
        "50",
        "--page-rows",
        "20",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let same = |command: &[&str], more: &[&str], names: &[&str]| {
        let of = |file: &str, keys: &[&str]| {
            let objects = objects(&[command, &[file], more, keys].concat());
            let named = objects
                .iter()
                .map(|object| names.iter().map(|name| object[name].clone()).collect());
            named.collect::<Vec<Vec<Value>>>()
        };
        let expected = of(&plain, &[]);
        assert!(!expected.is_empty());
        assert_eq!(of(&secret, &["--keys", &keys]), expected, "{command:?}");
    };
    same(
        &["stats"],
        &[],
        &[
            "row_group",
            "column",
            "num_rows",
            "null_count",
            "min",
            "max",
        ],
    );
    // The writer chooses where pages end.
    let pages = objects(&["pages", "--bounds", "-c", "id", &secret, "--keys", &keys]);
    let number = |page: &Value, name: &str| page[name].as_u64().unwrap();
    assert_eq!(
        pages
            .iter()
            .map(|page| number(page, "num_rows"))
            .sum::<u64>(),
        100
    );
    for page in &pages {
        let first = number(page, "row_group") * 50 + number(page, "first_row");
        assert_eq!(number(page, "min"), first);
        assert_eq!(number(page, "max"), first + number(page, "num_rows") - 1);
    }
    same(&["bloom", "check"], &["id", "7"], &["row_group", "answer"]);
    herringbone(&["stats", &secret]).fails(3, "encrypted");
}

/// Another writer has written filters for each type that has a text form. A value that is present
/// is never ruled out.
#[test]
fn values_are_hashed_as_they_are_stored() {
    let rows = |file: &str| objects(&["cat", file]);
    for file in ["testdata/pyarrow/bloom_filters.parquet"] {
        let found = rows(file);
        let Value::Object(columns) = &found[0] else {
            panic!("{file}");
        };
        for column in columns.keys() {
            for row in &found {
                let value = match &row[column] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let answers = objects(&["bloom", "check", file, column, &value]);
                assert!(
                    answers.iter().any(|answer| answer["answer"] == "maybe"),
                    "{column} {value}"
                );
            }
            // A filter of a few values must not match every value.
            let absent = match column.as_str() {
                "date" => "2001-02-03",
                "time" => "2001-02-03T04:05:06Z",
                "text" => "absent",
                "uuid" => "00112233-4455-6677-8899-000000000000",
                "small" | "whole" | "natural" => "77",
                _ => "77.25",
            };
            let answers = objects(&["bloom", "check", file, column, absent]);
            assert!(
                answers.iter().all(|answer| answer["answer"] == "no"),
                "{column}"
            );
        }
    }
}

/// If one column chunk is damaged, this is reported, and the other chunks are listed.
#[test]
fn damage_in_one_column_leaves_the_others() {
    let folder = Folder::new();
    let file = file(&folder);
    let meta = json(&herringbone(&["meta", &file]));
    let chunk = &meta["row_groups"][0]["columns"][0];
    let number = |object: &Value, name: &str| object[name].as_u64().unwrap() as usize;
    let sound = std::fs::read(&file).unwrap();
    let damaged = |at: usize, length: usize| {
        let mut bytes = sound.clone();
        bytes[at..at + length].fill(0xff);
        folder.with("damaged.parquet", bytes)
    };
    let lines = |run: &str| -> Vec<Value> {
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("file");
            line
        };
        run.lines().map(line).collect()
    };
    let check = |command: &[&str], damaged: &str, more: &[&str], expected: usize| {
        let run = herringbone(&[command, &[damaged], more].concat());
        run.fails(3, "damaged.parquet: corrupt file: ");
        run.fails(3, "column id, row group 0");
        let left = lines(&run.stdout);
        assert_eq!(left.len(), expected, "{}", run.stdout);
        let whole = herringbone(&[command, &[file.as_str()], more].concat());
        assert_eq!(whole.code, 0);
        let whole = lines(&whole.stdout);
        assert!(left.iter().all(|line| whole.contains(line)));
    };
    // Two row groups of 50 rows and two columns, in pages of up to 20 rows, have 12 pages. The
    // damaged index lists 3 of them.
    let index = damaged(
        number(chunk, "column_index_offset"),
        number(chunk, "column_index_length"),
    );
    check(&["pages", "--bounds"], &index, &[], 9);
    // This damages the column's first page, so none of its three pages can be found.
    let pages = damaged(number(&chunk["meta_data"], "data_page_offset"), 8);
    check(&["pages"], &pages, &[], 9);
    let filter = number(&chunk["meta_data"], "bloom_filter_offset");
    check(&["bloom", "check"], &damaged(filter, 4), &["id", "7"], 1);
}
