//! Tests texts with bad rows, times given as numbers, and rows inside other JSON.

use std::fmt::Write as _;

use crate::common::{Folder, herringbone};

#[test]
fn bad_rows_of_csv_are_left_out_or_become_null() {
    let folder = Folder::new();
    let text = "id,fare,city\n1,2.5,Rome\n2,3\n3,many,Oslo\n4,1,Lima,x\nTotal,9,\n5,7,Bari\n";
    let file = folder.with("trips.csv", text);
    let types = ["--type", "id=Int64", "--type", "fare=Float64"];
    let cat = |more: &[&str]| herringbone(&[&["cat", &*file], &types[..], more].concat());
    let run = cat(&[]);
    run.fails(3, "line 3: expected 3 fields, found 2; --skip-lines N");
    run.fails(3, "--on-error skip");
    let run = cat(&["--on-error", "skip"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "{\"id\":1,\"fare\":2.5,\"city\":\"Rome\"}\n{\"id\":5,\"fare\":7.0,\"city\":\"Bari\"}\n"
    );
    let lost: Vec<&str> = run.stderr.lines().collect();
    let line = |line: u32, why: &str| {
        format!("herringbone: lost: {file}: line {line}: the row is left out: {why}")
    };
    // Records of another width are found before bad values, because only complete records have
    // values.
    assert_eq!(
        lost,
        [
            line(3, "expected 3 fields, found 2"),
            line(5, "expected 3 fields, found 4"),
            line(4, "column `fare`: \"many\" is not a valid Float64"),
            line(6, "column `id`: \"Total\" is not a valid Int64"),
        ]
    );
    let run = cat(&["--on-error", "null", "-c", "id,fare"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "{\"id\":1,\"fare\":2.5}\n{\"id\":3,\"fare\":null}\n{\"id\":null,\"fare\":9.0}\n{\"id\":5,\"fare\":7.0}\n"
    );
    assert!(
        run.stderr
            .contains("line 4: the value is null: column `fare`"),
        "{}",
        run.stderr
    );
    // The file is written, and the exit code still shows the losses.
    let out = folder.file("out.parquet");
    let run = herringbone(&[&["convert", &file, &out, "--on-error", "skip"], &types[..]].concat());
    assert_eq!(run.code, 1, "{}", run.stderr);
    herringbone(&["count", &out]).ok("2\n");
}

#[test]
fn many_losses_are_counted() {
    let folder = Folder::new();
    let mut text = "a,b\n".to_owned();
    for row in 0..20_000 {
        writeln!(text, "{row}{}", if row % 2 == 0 { ",1" } else { "" }).unwrap();
    }
    let file = folder.with("many.csv", text);
    let out = folder.file("out.csv");
    let run = herringbone(&["convert", "--on-error", "skip", &file, &out]);
    assert_eq!(
        (run.code, run.stderr.lines().count()),
        (1, 6),
        "{}",
        run.stderr
    );
    let last = run.stderr.lines().last().unwrap();
    assert!(
        last.contains("10000 rows are left out and 0 values are null"),
        "{last}"
    );
    herringbone(&["count", &out]).ok("10000\n");
}

#[test]
fn bad_rows_of_json_are_left_out() {
    let folder = Folder::new();
    let text = "{\"a\":1,\"l\":[{\"x\":1}]}\n{\"a\":oops}\n{\"a\":\"text\",\"l\":null}\n{\"a\":4,\"l\":[{\"x\":2},{\"x\":\"y\"}]}\n{\"a\":5,\"l\":[]}\n";
    let file = folder.with("rows.jsonl", text);
    let schema = folder.with(
        "schema",
        "a: Int64\nl: List\n  item: Struct\n    x: Int64\n",
    );
    let run = herringbone(&["cat", "--schema", &schema, "--on-error", "skip", &file]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "{\"a\":1,\"l\":[{\"x\":1}]}\n{\"a\":5,\"l\":[]}\n"
    );
    for line in [2, 3, 4] {
        assert!(
            run.stderr
                .contains(&format!("line {line}: the row is left out")),
            "{}",
            run.stderr
        );
    }
    // Without a schema, rows that are not JSON at all must not keep the types from being inferred.
    let file = folder.with("cut.jsonl", "{\"a\":1}\n{\"a\":}\n{\"a\":3}\n");
    let run = herringbone(&["cat", "--on-error", "skip", &file]);
    assert_eq!(
        (run.code, &*run.stdout),
        (1, "{\"a\":1}\n{\"a\":3}\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn numbers_are_times_on_request() {
    let folder = Folder::new();
    // According to `date -u -d @1700000000`, 1700000000 seconds after 1970 are 14 November 2023,
    // 22:13:20 UTC.
    let csv = folder.with("log.csv", "at,ms\n1700000000,-1\n,1700000000123\n");
    let typed = [
        "--type",
        "at=timestamp_s",
        "--type",
        "ms=timestamp(ms, \"UTC\")",
    ];
    herringbone(&[&["cat", &*csv], &typed[..]].concat()).ok(concat!(
        "{\"at\":\"2023-11-14T22:13:20\",\"ms\":\"1969-12-31T23:59:59.999Z\"}\n",
        "{\"at\":null,\"ms\":\"2023-11-14T22:13:20.123Z\"}\n",
    ));
    herringbone(&["cat", "-n", "1", "-c", "t:timestamp(s)=at", &csv])
        .ok("{\"t\":\"2023-11-14T22:13:20\"}\n");
    // Digits in text might be a year, so they are not taken as a count of seconds.
    let years = folder.with("years.csv", "y\n\"2024\"\nx\n");
    herringbone(&["cat", "-n", "1", "-c", "t:timestamp=y", &years])
        .fails(3, "\"2024\" is not a valid");
}

#[test]
fn rows_are_in_an_array_of_an_object() {
    let folder = Folder::new();
    let text = "{\"total\": 2, \"data\": [{\"id\":1,\"data\":[7]},\n{\"id\":2}], \"next\": null}";
    let file = folder.with("api.json", text);
    let run = herringbone(&["cat", "--json-path", "data", &file]);
    assert_eq!(
        run.stdout, "{\"id\":1,\"data\":[7]}\n{\"id\":2,\"data\":null}\n",
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("members next to `data` are left out: `total`, `next`"),
        "{}",
        run.stderr
    );
    herringbone(&["cat", "--json-path", "rows", &file]).fails(3, "does not have an array `rows`");
    let csv = folder.with("x.csv", "a\n1\n");
    herringbone(&["cat", "--json-path", "data", &csv]).fails(2, "--json-path is for JSON");
}

#[test]
fn notes_name_the_option_for_another_notation() {
    let folder = Folder::new();
    let text = "day;price;code\n31.12.2024;1.234,50;x\n1.1.2025;2,5;y\n";
    let file = folder.with("de.csv", text);
    let run = herringbone(&["head", &file]);
    for note in [
        "column `day` has dates such as 31.12.2024, which stay text; --date-format %d.%m.%Y reads them",
        "column `price` has numbers with a decimal comma, which stay text; --decimal-comma reads them",
    ] {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
    assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
    let options = ["--decimal-comma", "--date-format", "%d.%m.%Y", "-n", "1"];
    let run = herringbone(&[&["head", &*file], &options[..]].concat());
    assert_eq!(
        run.stdout,
        "{\"day\":\"2024-12-31\",\"price\":1234.5,\"code\":\"x\"}\n"
    );
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    // If the user has chosen the type, no advice about it is needed.
    let run = herringbone(&["head", "--type", "day,price=Utf8", &file]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}
