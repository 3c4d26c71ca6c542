//! Tests `diff` and `split`.

use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone, json};

/// Converts JSON lines to Parquet.
fn parquet(folder: &Folder, name: &str, text: &str) -> String {
    let (jsonl, out) = (
        folder.with(&format!("{name}.jsonl"), text),
        folder.file(&format!("{name}.parquet")),
    );
    herringbone(&["convert", "-q", &jsonl, &out]).ok("");
    out
}

fn rows(changed: &[(u32, &str)], skipped: &[u32]) -> String {
    let row = |id: u32| {
        let fare = changed
            .iter()
            .find(|(row, _)| *row == id)
            .map_or("1.5", |(_, fare)| fare);
        format!("{{\"id\":{id},\"fare\":{fare},\"city\":\"c{}\"}}\n", id % 3)
    };
    (0..20_000)
        .filter(|id| !skipped.contains(id))
        .map(row)
        .collect()
}

#[test]
fn differences_are_found_by_key_and_by_position() {
    let folder = Folder::new();
    let a = parquet(&folder, "a", &rows(&[], &[]));
    let b = parquet(&folder, "b", &rows(&[(7, "null"), (12_345, "2.5")], &[]));
    let run = herringbone(&["diff", &a, &a, "--format", "table"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(
        run.stdout.contains("rows      20000 = 20000, equal"),
        "{}",
        run.stdout
    );
    for key in [&[][..], &["--key", "id"]] {
        let run = herringbone(&[&["diff", &a, &b, "--format", "table"], key].concat());
        assert_eq!((run.code, run.stderr.as_str()), (1, ""));
        assert!(
            run.stdout
                .starts_with("schema    equal\nstorage   1 row group"),
            "{}",
            run.stdout
        );
        let name = if key.is_empty() { "row " } else { "id=" };
        let first = format!("  {name}7  fare  1.5 → null\n  {name}12345  fare  1.5 → 2.5\n");
        assert!(run.stdout.contains(&first), "{}", run.stdout);
        assert!(
            run.stdout
                .ends_with("rows      20000 = 20000; 2 changed (fare 2)\n"),
            "{}",
            run.stdout
        );
    }
    // These rows are in another order, and some are in only one file.
    let reversed: String = {
        let text = rows(&[(5, "9.0")], &[10, 11]);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.reverse();
        lines.join("\n")
    };
    let c = parquet(&folder, "c", &reversed);
    let run = herringbone(&["diff", &a, &c, "--key", "id", "--json", "-n", "2"]);
    assert_eq!(run.code, 1);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["schema", "storage", "changed", "only_in_a", "rows"]);
    assert_eq!((&lines[2]["a"], &lines[2]["b"]), (&1.5.into(), &9.0.into()));
    let last = &lines[4];
    assert_eq!(
        (&last["only_in_a"], &last["only_in_b"], &last["changed"]),
        (&2.into(), &0.into(), &1.into())
    );
    assert_eq!((&last["a"], &last["b"]), (&20_000.into(), &19_998.into()));
    let run = herringbone(&["diff", &c, &a, "--key", "id", "-w", "id > 5", "-c", "id"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("\"only_in_b\":2"), "{}", run.stdout);
    herringbone(&["diff", &a, &b, "--key", "nope"]).fails(2, "nope");
}

#[test]
fn rows_after_the_end_and_null_keys_have_names() {
    let folder = Folder::new();
    let ids =
        |ids: &[&str]| -> String { ids.iter().map(|id| format!("{{\"id\":{id}}}\n")).collect() };
    let short = parquet(&folder, "short", &ids(&["1", "2"]));
    let long = parquet(&folder, "long", &ids(&["1", "2", "3", "4"]));
    for (a, b) in [(&short, &long), (&long, &short)] {
        let run = herringbone(&["diff", a, b, "--format", "table"]);
        assert_eq!(run.code, 1);
        for row in ["row 2", "row 3"] {
            assert!(run.stdout.contains(row), "{}", run.stdout);
        }
    }
    let nulls = parquet(&folder, "nulls", &ids(&["null", "2", "1"]));
    let others = parquet(&folder, "others", &ids(&["2", "null", "1"]));
    let run = herringbone(&["diff", &nulls, &others, "--key", "id", "--format", "table"]);
    assert!(
        run.stdout.ends_with("rows      3 = 3, equal\n"),
        "{} {}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn schemas_are_compared_with_most_of_them() {
    let folder = Folder::new();
    let one = |name: &str, text: &str| parquet(&folder, name, text);
    let a = one("a", "{\"id\":1,\"s\":{\"x\":1}}\n");
    let b = one("b", "{\"id\":2,\"s\":{\"x\":2}}\n");
    let c = one("c", "{\"id\":\"x\",\"s\":{\"x\":2}}\n");
    let d = one("d", "{\"id\":1,\"s\":{\"y\":1}}\n");
    let run = herringbone(&["diff", "--schemas", "--format", "table", &c, &a, &b, &d]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let expected = format!(
        "2 files as {a}\n1 file as {c}: id: int64 → text\n1 file as {d}: s.x: int64 missing; s.y: int64 added\n"
    );
    assert_eq!(run.stdout, expected);
    herringbone(&["diff", "--schemas", "--format", "table", &a, &b])
        .ok(&format!("2 files as {a}\n"));
    herringbone(&["diff", "--key", "id", &a, &b, &c]).fails(2, "but 3 are named");
    herringbone(&["diff", &a]).fails(2, "but one is named");
    let run = herringbone(&["diff", &a, &c]);
    assert!(run.stdout.contains("id: int64 → text"), "{}", run.stdout);
}

#[test]
fn a_column_is_left_out_of_the_comparison() {
    let folder = Folder::new();
    let a = parquet(
        &folder,
        "a",
        "{\"id\":1,\"s\":{\"x\":1,\"y\":2},\"at\":5}\n",
    );
    let b = parquet(
        &folder,
        "b",
        "{\"id\":1,\"s\":{\"x\":3,\"y\":2},\"at\":6}\n",
    );
    let code = |columns: &str| herringbone(&["diff", &a, &b, "--key", "id", "-c", columns]).code;
    assert_eq!(
        [code("!at,!s.x"), code("!at"), code("!s.x"), code("id,s.y")],
        [0, 1, 1, 0]
    );
    herringbone(&["diff", &a, &b, "-c", "!nope"]).fails(2, "no column `nope`");
    herringbone(&["diff", &a, &b, "-c", "x=at"]).fails(2, "a new name or type");
}

#[test]
fn a_key_that_is_not_there_is_named() {
    let run = herringbone(&["diff", EXAMPLE, EXAMPLE, "--key", "nme"]);
    run.fails(2, "--key: ");
    run.fails(2, "no column `nme`");
    assert!(!run.stderr.contains("--sort-by"), "{}", run.stderr);
}

#[test]
fn several_files_are_split_together() {
    let folder = Folder::new();
    let one = |name: &str, text: &str| parquet(&folder, name, text);
    let a = one(
        "a",
        "{\"id\":1,\"city\":\"Rome\"}\n{\"id\":2,\"city\":\"Oslo\"}\n",
    );
    let b = one("b", "{\"city\":\"Rome\",\"id\":3}\n");
    let pattern = folder.file("of-{city}.parquet");
    let split = ["split", "-q", &a, &b, "-o", &pattern, "--by", "city"];
    herringbone(&split).fails(3, "--by-name");
    herringbone(&[&split[..], &["--by-name"]].concat()).ok("");
    let rome = herringbone(&["cat", &folder.file("of-Rome.parquet")]);
    rome.ok("{\"id\":1,\"city\":\"Rome\"}\n{\"id\":3,\"city\":\"Rome\"}\n");
    let pattern = folder.file("rows-{}.parquet");
    herringbone(&["split", "-q", &a, &a, "-o", &pattern, "--part-rows", "3"]).ok("");
    herringbone(&["cat", "-c", "id", &folder.file("rows-00000.parquet")])
        .ok("{\"id\":1}\n{\"id\":2}\n{\"id\":1}\n");
}

/// The folder names are the ones that duckdb gives, and the counts are by hand.
#[test]
fn no_value_replaces_another() {
    let folder = Folder::new();
    let schema = folder.with("types.txt", "k: Float64\nt: Utf8\n");
    let rows = [
        "0.0,x",
        "-0.0,x",
        "0.0,x",
        "-0.0,x",
        "nan,\"\"",
        "nan,__HIVE_DEFAULT_PARTITION__",
        "nan,",
        "1,",
    ];
    let csv = folder.with("a.csv", format!("k,t\n{}\n", rows.join("\n")));
    let file = folder.file("a.parquet");
    herringbone(&["convert", "--schema", &schema, &csv, &file]).ok("");
    for (column, names) in [
        ("k", &["k=0.0", "k=1.0", "k=NaN"][..]),
        (
            "t",
            &[
                "t=",
                "t=%5F_HIVE_DEFAULT_PARTITION__",
                "t=__HIVE_DEFAULT_PARTITION__",
                "t=x",
            ],
        ),
    ] {
        let pattern = folder.file(&format!("{column}/{column}={{{column}}}/p.parquet"));
        herringbone(&["split", "-q", "-f", &file, "-o", &pattern, "--by", column]).ok("");
        let mut found: Vec<String> = std::fs::read_dir(folder.file(column))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        assert_eq!(found, names);
        herringbone(&["count", &folder.file(column)]).ok("8\n");
    }
    let text = |condition: &str| herringbone(&["count", "-w", condition, &folder.file("t")]);
    text("t is null").ok("2\n");
    text("t = ''").ok("1\n");
    text("t = '__HIVE_DEFAULT_PARTITION__'").ok("1\n");
    // An empty value that is the whole name would get the same name as another text.
    let jsonl = folder.with("b.jsonl", "{\"t\":\"\"}\n{\"t\":\"\\u0000\"}\n");
    let file = folder.file("b.parquet");
    herringbone(&["convert", &jsonl, &file]).ok("");
    let pattern = folder.file("{t}.parquet");
    herringbone(&["split", "-q", "-f", &file, "-o", &pattern, "--by", "t"])
        .fails(3, "several values");
}

#[test]
fn a_file_is_split_by_rows_bytes_and_values() {
    let folder = Folder::new();
    let all = herringbone(&["cat", EXAMPLE]).stdout;
    let pattern = folder.file("part-{}.parquet");
    let run = herringbone(&["split", EXAMPLE, "-o", &pattern, "--part-rows", "10"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert!(run.stderr.contains("24 rows in 3 files"), "{}", run.stderr);
    let parts = [
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
    ];
    assert_eq!(folder.names(), parts);
    let parts = parts.map(|name| folder.file(name));
    herringbone(&["cat", &parts[0], &parts[1], &parts[2]]).ok(&all);
    herringbone(&["split", EXAMPLE, "-o", &pattern, "--part-rows", "10"])
        .fails(2, "already exists");
    let keys = json(&herringbone(&["meta", EXAMPLE]))["key_value_metadata"].clone();
    assert_eq!(
        json(&herringbone(&["meta", &parts[1]]))["key_value_metadata"],
        keys
    );

    let text = rows(&[], &[])
        .replace("c1", "a/b")
        .replace("\"c2\"", "null");
    let trips = parquet(&folder, "trips", &text);
    let hive = folder.file("out/city={city}/x.parquet");
    let run = herringbone(&[
        "split", "-q", &trips, "-o", &hive, "--by", "city", "-w", "id < 100",
    ]);
    run.ok("");
    let part = |value: &str| folder.file(&format!("out/city={value}/x.parquet"));
    for (value, rows) in [
        ("c0", 34),
        ("a%2Fb", 33),
        ("__HIVE_DEFAULT_PARTITION__", 33),
    ] {
        herringbone(&["count", &part(value)]).ok(&format!("{rows}\n"));
    }
    let first = herringbone(&["head", "-2", &part("a%2Fb")]);
    first.ok("{\"id\":1,\"fare\":1.5}\n{\"id\":4,\"fare\":1.5}\n");
    let plain = folder.file("plain-{city}.parquet");
    herringbone(&["split", "-q", &trips, "-o", &plain, "--by", "city"]).ok("");
    let c0 = herringbone(&["head", "-1", &folder.file("plain-c0.parquet")]);
    c0.ok("{\"id\":0,\"fare\":1.5,\"city\":\"c0\"}\n");

    let listed = folder.file("listed/{city}.parquet");
    let run = herringbone(&["split", "--json", &trips, "-o", &listed, "--by", "city"]);
    let line = |name: &str, value: &str, rows| {
        let file = folder.file(&format!("listed/{name}.parquet"));
        format!("{{\"file\":\"{file}\",\"value\":{value},\"num_rows\":{rows}}}\n")
    };
    let lines = [
        line("a%2Fb", "\"a/b\"", 6667),
        line("c0", "\"c0\"", 6667),
        line("__HIVE_DEFAULT_PARTITION__", "null", 6666),
    ];
    run.ok(&lines.concat());

    let size = std::fs::metadata(&trips).unwrap().len();
    let sized = folder.file("sized/{}.parquet");
    let bytes = (size / 4 + 1).to_string();
    herringbone(&["split", "-q", &trips, "-o", &sized, "--part-bytes", &bytes]).ok("");
    let count = std::fs::read_dir(folder.file("sized")).unwrap().count();
    assert_eq!(count, 4);
    for (line, message) in [
        (
            &["--part-rows", "1", "-o", "x.parquet"][..],
            "needs a place",
        ),
        (&["-o", "{}.parquet"], "--part-rows"),
        (
            &["--by", "origin", "-o", "/tmp/{}.parquet"],
            "not a column of single values",
        ),
        (
            &["--by", "origin.country", "-o", "{}.parquet"],
            "give it a name in the output",
        ),
    ] {
        herringbone(&[&["split", EXAMPLE], line].concat()).fails(2, message);
    }
}
