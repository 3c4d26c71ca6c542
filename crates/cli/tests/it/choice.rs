//! Tests the choice of rows and columns, in commands that print rows and in commands that write
//! files.

use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone, json, stdin};

/// Returns a file of 100 rows with `id`, `fare` and `city`. It has a bloom filter for `fare` and a
/// metadata key.
fn trips(folder: &Folder) -> String {
    let rows = |id: u32| {
        let city = ["Rome", "Oslo", "Lima"][(id % 3) as usize];
        format!(
            "{{\"id\":{id},\"fare\":{}.5,\"city\":\"{city}\"}}\n",
            id * 7 % 50
        )
    };
    let text: String = (0..100).map(rows).collect();
    let (jsonl, out) = (
        folder.with("trips.jsonl", text),
        folder.file("trips.parquet"),
    );
    let run = herringbone(&[
        "convert",
        &jsonl,
        &out,
        "--bloom-filter",
        "fare",
        "--row-group-rows",
        "30",
    ]);
    run.ok("");
    out
}

fn cat(arguments: &[&str]) -> String {
    let run = herringbone(&[&["cat"], arguments].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
}

#[test]
fn columns_have_the_order_names_and_types_of_the_command_line() {
    let one = |columns: &str| cat(&["-c", columns, "-n", "1", "--offset", "1", EXAMPLE]);
    assert_eq!(one("name, id"), "{\"name\":\"basil\",\"id\":1}\n");
    assert_eq!(one("key=id,name"), "{\"key\":1,\"name\":\"basil\"}\n");
    assert_eq!(one("day:date=harvested"), "{\"day\":\"2026-01-02\"}\n");
    assert_eq!(
        one("weight:text, id:double"),
        "{\"weight\":\"0.125\",\"id\":1.0}\n"
    );
    assert_eq!(one("country=origin.country"), "{\"country\":\"NO\"}\n");
    assert_eq!(
        one("origin.altitude, id"),
        "{\"origin\":{\"altitude\":40},\"id\":1}\n"
    );
    assert_eq!(
        one("id, !tags, !harvested, !origin.country"),
        "{\"id\":1,\"name\":\"basil\",\"price\":\"1.37\",\"weight\":0.125,\"organic\":false,\"origin\":{\"altitude\":40}}\n"
    );
    assert_eq!(one("id, other=id"), "{\"id\":1,\"other\":1}\n");
    for (columns, code, message) in [
        ("nme", 2, "did you mean `name`"),
        ("!nme", 2, "there is no column `nme`"),
        ("id,x=id,x=name", 2, "two columns are called `x`"),
        (
            "name:int",
            3,
            "column `name`: \"amber\" is not a valid Int32",
        ),
        ("t=tags.list.element", 2, "in a list or map"),
        ("c=origin.country,origin.altitude", 2, "give it a name too"),
    ] {
        herringbone(&["cat", "-c", columns, EXAMPLE]).fails(code, message);
    }
}

#[test]
fn a_rewrite_keeps_what_belongs_to_renamed_columns() {
    let folder = Folder::new();
    let (trips, out) = (trips(&folder), folder.file("rome.parquet"));
    let choice = ["-w", "city = 'Rome'", "-c", "id, price=fare"];
    let run = herringbone(&[&["rewrite", &trips, &out], &choice[..]].concat());
    run.ok("");
    let expected = cat(&["-w", "city = 'Rome'", "-c", "id,price=fare", &trips]);
    assert_eq!(expected.lines().count(), 34);
    assert_eq!(cat(&[&out]), expected);
    let meta = json(&herringbone(&["meta", &out]));
    let price = &meta["row_groups"][0]["columns"][1]["meta_data"];
    assert_eq!(price["path_in_schema"], Value::from(vec!["price"]));
    assert!(price["bloom_filter_offset"].is_number(), "{price}");
    let id = &meta["row_groups"][0]["columns"][0]["meta_data"];
    assert!(id["bloom_filter_offset"].is_null());
    let swapped = folder.file("swapped.parquet");
    herringbone(&["rewrite", &trips, "-o", &swapped, "-c", "id=fare,fare=id"]).ok("");
    let first = cat(&["-n", "1", &swapped]);
    assert_eq!(first, "{\"id\":0.5,\"fare\":0}\n");
    let meta = json(&herringbone(&["meta", &swapped]));
    let columns = &meta["row_groups"][0]["columns"];
    let has = |at: usize| columns[at]["meta_data"]["bloom_filter_offset"].is_number();
    assert_eq!((has(0), has(1)), (true, false));
    let copy = folder.file("copy.parquet");
    herringbone(&["rewrite", &trips, &copy, "--copy", "-c", "id=fare,fare=id"])
        .fails(2, "--copy keeps columns as they are");
    herringbone(&["rewrite", &trips, &copy, "--copy", "-w", "id = 1"])
        .fails(2, "cannot be used with");
}

#[test]
fn all_commands_that_write_take_the_choice() {
    let folder = Folder::new();
    let trips = trips(&folder);
    let choice = [
        "-w",
        "id >= 90",
        "-c",
        "id",
        "--sort-by",
        "id desc",
        "--offset",
        "1",
        "-n",
        "2",
    ];
    let expected = "{\"id\":98}\n{\"id\":97}\n";
    assert_eq!(cat(&[&choice[..], &[&trips]].concat()), expected);
    for (command, name) in [
        ("rewrite", "a.parquet"),
        ("convert", "b.parquet"),
        ("concat", "c.parquet"),
    ] {
        let out = folder.file(name);
        let line = [&[command, &trips, "-o", &out], &choice[..]].concat();
        herringbone(&line).ok("");
        assert_eq!(cat(&[&out]), expected, "{command}");
        let meta = json(&herringbone(&["meta", &out]));
        assert_eq!(
            meta["row_groups"][0]["sorting_columns"][0]["descending"],
            true
        );
    }
    let csv = folder.file("d.csv");
    herringbone(&[&["convert", &trips, &csv], &choice[..]].concat()).ok("");
    assert_eq!(std::fs::read_to_string(&csv).unwrap(), "id\n98\n97\n");
    // The same choice works from text to text, and from text to Parquet.
    let (again, out) = (folder.file("e.jsonl"), folder.file("e.parquet"));
    let all = folder.file("all.csv");
    herringbone(&["convert", &trips, &all]).ok("");
    for to in [&again, &out] {
        herringbone(&[&["convert", &all, to], &choice[..]].concat()).ok("");
    }
    assert_eq!(std::fs::read_to_string(&again).unwrap(), expected);
    assert_eq!(cat(&[&out]), expected);
    let sampled = herringbone(&["convert", &all, "-", "--to", "jsonl", "--sample", "3"]);
    assert_eq!(sampled.stdout.lines().count(), 3, "{}", sampled.stderr);
    herringbone(&["convert", &all, "-", "--to", "jsonl", "--row-groups", "0"])
        .fails(2, "others do not have row groups");
}

#[test]
fn samples_are_the_same_for_a_seed() {
    let folder = Folder::new();
    let trips = trips(&folder);
    let ids = |arguments: &[&str]| -> Vec<u32> {
        let text = cat(&[&["-c", "id", "--format", "csv"], arguments].concat());
        text.lines()
            .skip(1)
            .map(|line| line.parse().unwrap())
            .collect()
    };
    let one = ids(&["--sample", "5", "--seed", "1", &trips]);
    assert_eq!(one.len(), 5);
    assert!(one.is_sorted());
    assert_eq!(one, ids(&["--sample", "5", "--seed", "1", &trips]));
    assert_ne!(one, ids(&["--sample", "5", "--seed", "2", &trips]));
    assert_eq!(ids(&["--sample", "500", &trips]).len(), 100);
    assert_eq!(
        ids(&["--sample", "150", "--seed", "3", &trips, &trips]).len(),
        150
    );
    let rome = ids(&[
        "--sample",
        "4",
        "--seed",
        "1",
        "-w",
        "city = 'Rome'",
        &trips,
    ]);
    assert_eq!(rome.len(), 4);
    assert!(rome.iter().all(|id| id % 3 == 0), "{rome:?}");
    let group_ids = ids(&["--sample", "4", "--row-groups", "1", &trips]);
    assert!(
        group_ids.iter().all(|id| (30..60).contains(id)),
        "{group_ids:?}"
    );
    assert!(ids(&["--sample", "5", "-w", "id < 0", &trips]).is_empty());
}

#[test]
fn other_words_for_options_and_commands() {
    let first = herringbone(&["head", "-n", "5", EXAMPLE]).stdout;
    assert_eq!(first.lines().count(), 5);
    herringbone(&["head", "-5", EXAMPLE]).ok(&first);
    herringbone(&["head", "--rows", "5", EXAMPLE]).ok(&first);
    herringbone(&["cat", "--limit", "5", "--json", EXAMPLE]).ok(&first);
    let csv = herringbone(&[
        "head",
        "-5",
        "--format",
        "csv",
        "--columns",
        "id",
        "--where",
        "id > 3",
        EXAMPLE,
    ]);
    herringbone(&[
        "head", "-5", "--csv", "--select", "id", "--filter", "id > 3", EXAMPLE,
    ])
    .ok(&csv.stdout);
    herringbone(&["check", EXAMPLE]).ok(&herringbone(&["verify", EXAMPLE]).stdout);
    herringbone(&["inspect", EXAMPLE]).ok(&herringbone(&["info", EXAMPLE]).stdout);
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    herringbone(&["merge", EXAMPLE, EXAMPLE, "-o", &out, "--codec", "snappy"]).ok("");
    herringbone(&["count", &out]).ok("48\n");
    herringbone(&["count", "--row-groups", "1", EXAMPLE]).ok("8\n");
    herringbone(&["count", "--row-groups", "1", "-w", "id > 20", EXAMPLE]).ok("3\n");
    let text = b"id,day\n1,2024-01-02\n";
    let line = [
        "convert",
        "-",
        "-",
        "--from",
        "csv",
        "--to",
        "jsonl",
        "--type",
        "id=VARCHAR",
    ];
    stdin(&line, text).ok("{\"id\":\"1\",\"day\":\"2024-01-02\"}\n");
}

#[test]
fn rows_are_sorted_for_printing_too() {
    let all = |arguments: &[&str]| cat(&[&["-c", "id"], arguments].concat());
    let sorted = all(&["--sort-by", "id:desc", EXAMPLE, EXAMPLE]);
    let expected: String = (0..24)
        .rev()
        .flat_map(|id| [id, id])
        .map(|id| format!("{{\"id\":{id}}}\n"))
        .collect();
    assert_eq!(sorted, expected);
    herringbone(&["cat", "-c", "id", "--sort-by", "name", EXAMPLE]).fails(2, "name");
}
