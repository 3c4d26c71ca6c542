//! Tests that commands which read rows accept files in formats other than Parquet. The expected
//! values are written by hand.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::common::{EXAMPLE, Folder, command, herringbone, stdin};

const TRIPS: &str = "id,city,fare\n1,Rome,2.5\n2,Oslo,3\n3,Rome,\n";

/// Returns the rows that a command prints as JSON lines.
fn rows(words: &[&str]) -> Vec<Value> {
    let run = herringbone(words);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn trip(id: u32, city: &str, fare: Option<f64>) -> Value {
    json!({"id": id, "city": city, "fare": fare})
}

#[test]
fn commands_that_look_read_text() {
    let folder = Folder::new();
    let trips = folder.with("trips.csv", TRIPS);
    let first = trip(1, "Rome", Some(2.5));
    assert_eq!(rows(&["head", "-n", "1", &trips]), [first]);
    assert_eq!(rows(&["tail", "-n", "1", &trips]), [trip(3, "Rome", None)]);
    assert_eq!(rows(&["sample", "-n", "3", &trips]).len(), 3);
    assert_eq!(
        rows(&[
            "cat",
            "--sort-by",
            "id:desc",
            "-c",
            "id",
            "-w",
            "city = 'Rome'",
            &trips
        ]),
        [json!({"id": 3}), json!({"id": 1})]
    );
    assert_eq!(
        rows(&["cat", "--json", "--offset", "1", "-n", "1", &trips])[0]["id"],
        2
    );
    herringbone(&["count", "-w", "fare > 2.6", &trips]).ok("1\n");
    let counts = rows(&["freq", "city", &trips]);
    assert_eq!(
        (&counts[0]["value"], &counts[0]["count"]),
        (&json!("Rome"), &json!(2))
    );
    let stats = rows(&["stats", "-c", "fare", &trips]);
    assert_eq!(stats[0]["mean"], 2.75);
    assert_eq!(stats[0]["null_count"], 1);
    // A text does not have column chunks, so there is no size.
    assert_eq!(stats[0].get("compressed_size"), None);
    herringbone(&["schema", "--format", "arrow", &trips])
        .ok("id: Int64\ncity: Utf8\nfare: Float64\n");
    let shown = herringbone(&[&trips, "-n", "2"]);
    let (summary, _) = shown.stdout.split_once('\n').unwrap();
    assert_eq!(summary, format!("{trips}: 3 columns, 41 bytes (CSV)"));
    assert!(
        shown
            .stdout
            .ends_with("the first 2 rows; see also `tail`, `sample`, `stats`, -n and -w\n")
    );
}

#[test]
fn commands_that_write_read_text() {
    let folder = Folder::new();
    let trips = folder.with("trips.csv", TRIPS);
    let lines = folder.with("trips.jsonl", "{\"id\":4,\"city\":\"Lima\",\"fare\":0.5}\n");
    let out = folder.file("out.parquet");
    herringbone(&["rewrite", &trips, &out, "--sort-by", "id:desc"]).ok("");
    assert_eq!(rows(&["cat", "-c", "id", &out])[0], json!({"id": 3}));
    herringbone(&["concat", &trips, &lines, "-f", "-o", &out]).ok("");
    herringbone(&["count", &out]).ok("4\n");
    let parts = folder.file("{city}.parquet");
    herringbone(&["split", &trips, "-o", &parts, "--by", "city", "-q"]).ok("");
    herringbone(&["count", &folder.file("Rome.parquet")]).ok("2\n");
    let run = herringbone(&["diff", "--key", "id", &trips, &out]);
    assert_eq!(run.code, 1);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["only_in_b"], &last["changed"]),
        (&json!(1), &json!(0))
    );
    assert!(
        run.stdout.contains("\"a\":\"CSV, 41 bytes\""),
        "{}",
        run.stdout
    );
}

#[test]
fn first_bytes_show_the_format() {
    let folder = Folder::new();
    let json = "{\"id\":1,\"city\":\"Rome\",\"fare\":2.5}\n";
    let arrow = folder.file("x.arrow");
    herringbone(&["convert", &folder.with("x.csv", TRIPS), &arrow]).ok("");
    let expected = [trip(1, "Rome", Some(2.5))];
    for (name, bytes) in [
        ("trips.txt", TRIPS.as_bytes().to_vec()),
        ("trips", TRIPS.replace(',', ";").into_bytes()),
        ("trips.log", json.as_bytes().to_vec()),
        ("arrow", fs::read(&arrow).unwrap()),
    ] {
        let file = folder.with(name, &bytes);
        assert_eq!(rows(&["head", "-q", "-n", "1", &file]), expected, "{name}");
        let run = stdin(&["head", "-q", "-n", "1", "-"], &bytes);
        assert_eq!(
            serde_json::from_str::<Value>(&run.stdout).unwrap(),
            expected[0],
            "{name}"
        );
        let out = folder.file("out.jsonl");
        stdin(&["convert", "-q", "-f", "-n", "1", "-", &out], &bytes).ok("");
        assert_eq!(fs::read_to_string(&out).unwrap(), json, "{name}");
    }
    let parquet = fs::read(crate::common::path(EXAMPLE)).unwrap();
    stdin(&["count", "-"], &parquet).ok("24\n");
    // Bytes of no known format are read as Parquet, so the error is about Parquet.
    let binary = folder.with("binary", b"a\0b");
    herringbone(&["head", &binary]).fails(3, "not a Parquet file");
    // The compressed bytes are the output of `printf 'a\n7\n' | gzip -n`.
    let packed = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\xe4\x32\xe7\x02\0\x86\x83\x9b\xdf\x04\0\0\0";
    let packed = folder.with("a.csv.gz", packed);
    herringbone(&["cat", &packed]).ok("{\"a\":7}\n");
}

#[test]
fn many_texts_become_one_table() {
    let folder = Folder::new();
    let dir = folder.file("months");
    fs::create_dir(&dir).unwrap();
    // Each file alone would have another type for the fare: none at all, whole numbers, and
    // fractions.
    for (name, text) in [
        ("1.csv", "id,fare,at\n1,,2024-01-02\n"),
        ("2.csv", "id,fare,at\n2,3,soon\n"),
        ("3.csv", "id,fare,at\n3,2.5,\n"),
    ] {
        fs::write(format!("{dir}/{name}"), text).unwrap();
    }
    let out = folder.file("out.parquet");
    let expected = [
        json!({"id": 1, "fare": null, "at": "2024-01-02"}),
        json!({"id": 2, "fare": 3.0, "at": "soon"}),
        json!({"id": 3, "fare": 2.5, "at": null}),
    ];
    let file = |name: &str| format!("{dir}/{name}");
    for words in [
        &[&*file("1.csv"), &*file("2.csv"), &*file("3.csv")][..],
        &[&*dir],
        &[&*file("*.csv")],
    ] {
        herringbone(&[&["convert", "-f"], words, &[&*out]].concat()).ok("");
        assert_eq!(rows(&["cat", &out]), expected, "{words:?}");
        assert_eq!(rows(&[&["cat"], words].concat()), expected, "{words:?}");
    }
    herringbone(&["schema", "--format", "arrow", &out]).ok("id: Int64\nfare: Float64\nat: Utf8\n");
    // Files with other columns are refused, unless the user wants the columns of all files.
    fs::write(file("4.csv"), "id,fare\n4,5\n").unwrap();
    let all = file("*.csv");
    herringbone(&["convert", "-f", &all, &out]).fails(3, "--by-name");
    herringbone(&["convert", "-f", "--by-name", &all, &out]).ok("");
    assert_eq!(
        rows(&["cat", "-w", "id = 4", &out]),
        [json!({"id": 4, "fare": 5.0, "at": null})]
    );
    // A type that the user gives applies to all files.
    herringbone(&[
        "convert",
        "-f",
        "--by-name",
        "--type",
        "fare=Decimal128(9, 2)",
        &all,
        &out,
    ])
    .ok("");
    assert_eq!(
        rows(&["cat", "-c", "fare", "-w", "id = 3", &out]),
        [json!({"fare": "2.50"})]
    );
}

#[test]
fn the_first_rows_need_no_more_of_a_text() {
    let folder = Folder::new();
    let mut text = "id\n".to_owned();
    for id in 0..50_000 {
        writeln!(text, "{id}").unwrap();
    }
    text += "a,b\n";
    let file = folder.with("long.csv", text);
    assert_eq!(
        rows(&["head", "-n", "2", "--offset", "3", &file]),
        [json!({"id": 3}), json!({"id": 4})]
    );
    herringbone(&["count", &file]).fails(3, "line 50002");
    // With a condition, all of the text is read, because only the last row might match.
    herringbone(&["head", "-w", "id >= 0", "-n", "1", &file]).fails(3, "line 50002");
}

#[test]
fn options_for_text_are_for_text() {
    let folder = Folder::new();
    let codes = folder.with("codes.csv", "code;n\n007;1,5\n");
    assert_eq!(
        rows(&[
            "head",
            "-q",
            "--decimal-comma",
            "--type",
            "code=Int64",
            &codes
        ]),
        [json!({"code": 7, "n": 1.5})]
    );
    assert_eq!(
        rows(&["count", "--json", "--no-header", "-d", ";", &codes])[0]["num_rows"],
        2
    );
    herringbone(&["head", "--type", "id=Utf8", EXAMPLE]).fails(2, "--type is for CSV and JSON");
    herringbone(&["count", "--no-header", EXAMPLE]).fails(2, "--no-header is for CSV");
    herringbone(&["head", "--row-groups", "0", &codes])
        .fails(2, "--row-groups is for Parquet files");
    herringbone(&["stats", "--fast", &codes]).fails(2, "--fast is for single Parquet files");
    herringbone(&["convert", &codes]).fails(2, "convert IN... OUT");
}

#[test]
fn imports_leave_nothing_behind() {
    let folder = Folder::new();
    let trips = folder.with("trips.csv", TRIPS);
    fs::create_dir(folder.file("tmp")).unwrap();
    let run = command(&["count", &trips])
        .env("TMPDIR", folder.file("tmp"))
        .output()
        .unwrap();
    assert_eq!(run.stdout, b"3\n");
    assert_eq!(fs::read_dir(folder.file("tmp")).unwrap().count(), 0);
    let run = command(&["count", &trips])
        .env("TMPDIR", folder.file("missing"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(4));
}
