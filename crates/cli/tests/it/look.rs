//! Tests the commands for a first look at a file: `herringbone FILE`, `tail`, `sample`, `stats`,
//! `freq` and `info`.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{
    ArrayRef, FixedSizeListArray, Int32Array, ListArray, RecordBatch, StringArray,
};
use serde_json::{Value, json};

use crate::common::{EXAMPLE, Folder, command, herringbone};

/// Returns a file of 1000 rows in pages of 100, with `id`, lists `tags`, and texts `city` with
/// nulls.
fn rows(folder: &Folder) -> String {
    let path = folder.file("rows.parquet");
    let id: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1000));
    let tags = (0..1000).map(|id| match id % 4 {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(vec![Some(id), None]),
        _ => Some(vec![Some(7)]),
    });
    let tags: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(tags));
    let city = (0..1000).map(|id| ["Rome", "Oslo", "Rome"].get(id % 4).copied());
    let city: ArrayRef = Arc::new(city.collect::<StringArray>());
    let columns = [("id", id), ("tags", tags), ("city", city)];
    let columns = columns.map(|(name, array)| (name, array, name != "id"));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut options = WriteOptions::new();
    options.columns.page_rows = Some(100);
    let mut writer = Writer::new(
        std::fs::File::create(&path).unwrap(),
        batch.schema(),
        options,
    )
    .unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    let run = herringbone(arguments);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_file_alone_is_shown() {
    let run = herringbone(&[EXAMPLE, "-n", "2", "-c", "id,name"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines[0].starts_with("testdata/example.parquet: 24 rows, 8 columns, "),
        "{}",
        lines[0]
    );
    assert!(lines[0].contains("2 row groups"), "{}", lines[0]);
    assert_eq!(lines[5], "│     0 ┆ amber │");
    assert!(
        lines.last().unwrap().starts_with("2 of 24 rows"),
        "{lines:?}"
    );
    herringbone(&[EXAMPLE, "-n", "1", "-c", "id", "--json"]).ok("{\"id\":0}\n");
    herringbone(&["show", "no/such.parquet"]).fails(4, "no/such.parquet");
    herringbone(&["frobnicate"]).fails(2, "unrecognized subcommand");
}

#[test]
fn the_end_and_samples() {
    let folder = Folder::new();
    let rows = rows(&folder);
    let ids = |arguments: &[&str]| -> Vec<i64> {
        let all = lines(
            &[
                &arguments[..1],
                &["-c", "id", "--json"],
                &arguments[1..],
                &[&rows],
            ]
            .concat(),
        );
        all.iter()
            .map(|line| line["id"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(ids(&["tail"]), (990..1000).collect::<Vec<_>>());
    assert_eq!(ids(&["tail", "-n", "2"]), [998, 999]);
    assert_eq!(ids(&["tail", "-n", "2", "-w", "id < 500"]), [498, 499]);
    assert_eq!(ids(&["tail", "-n", "2", "--sort-by", "id:desc"]), [1, 0]);
    assert_eq!(ids(&["tail", "-n", "5000"]).len(), 1000);
    let sample = ids(&["sample", "-n", "3", "--seed", "7"]);
    assert_eq!(sample.len(), 3);
    assert_eq!(sample, ids(&["sample", "-n", "3", "--seed", "7"]));
    assert_eq!(sample, ids(&["cat", "--sample", "3", "--seed", "7"]));
}

/// Pages without any row of the sample are not read, so damage in them is not found.
#[test]
fn a_sample_reads_only_its_pages() {
    let folder = Folder::new();
    let rows = rows(&folder);
    let sample = ["sample", "-n", "1", "--seed", "7", "-c", "id", "--json"];
    let expected = lines(&[&sample[..], &[&rows]].concat());
    let id = expected[0]["id"].as_u64().unwrap();
    let pages = lines(&["pages", "--bounds", "-c", "id", &rows, "--json"]);
    assert!(pages.len() >= 10);
    let mut bytes = std::fs::read(&rows).unwrap();
    for page in &pages {
        let first = page["first_row"].as_u64().unwrap();
        if !(first..first + page["num_rows"].as_u64().unwrap()).contains(&id) {
            let end = page["offset"].as_u64().unwrap() + page["compressed_size"].as_u64().unwrap();
            bytes[end as usize - 1] ^= 0xff;
        }
    }
    let damaged = folder.with("damaged.parquet", bytes);
    assert_eq!(lines(&[&sample[..], &[&damaged]].concat()), expected);
    herringbone(&["cat", "-c", "id", &damaged]).fails(3, "checksum");
}

#[test]
fn columns_are_summarised() {
    let folder = Folder::new();
    let rows = rows(&folder);
    let all = lines(&["stats", "--json", &rows]);
    let [id, tags, city] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(
        (&id["num_values"], &id["null_count"]),
        (&1000.into(), &0.into())
    );
    assert_eq!(
        (&id["min"], &id["max"], &id["mean"]),
        (&0.into(), &999.into(), &499.5.into())
    );
    assert_eq!(
        (&id["distinct_count"], &id["is_distinct_exact"]),
        (&1000.into(), &true.into())
    );
    assert_eq!(id["sorted"], "ascending");
    // There are 250 lists of two elements, each with a null, and 250 lists of one element.
    assert_eq!(
        (&tags["num_values"], &tags["null_count"]),
        (&750.into(), &250.into())
    );
    assert_eq!((&tags["min"], &tags["max"]), (&2.into(), &998.into()));
    assert_eq!(
        (&city["null_count"], &city["distinct_count"]),
        (&250.into(), &2.into())
    );
    assert_eq!(
        (&city["min"], &city["mean_bytes"]),
        (&"Oslo".into(), &4.0.into())
    );
    let share: f64 = all.iter().map(|line| line["share"].as_f64().unwrap()).sum();
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    // The footer alone gives the same bounds and nulls.
    let fast = lines(&["stats", "--fast", "--json", &rows]);
    for (line, exact) in fast.iter().zip(&all) {
        for name in ["num_values", "null_count", "min", "max", "compressed_size"] {
            assert_eq!(line[name], exact[name], "{name}");
        }
        assert!(line.get("distinct_count").is_none());
    }
    let rome = lines(&["stats", "--json", "-c", "id", "-w", "city = 'Rome'", &rows]);
    assert_eq!(
        (&rome[0]["num_values"], &rome[0]["max"]),
        (&500.into(), &998.into())
    );
    let groups = lines(&["stats", "--by", "row-group", "--json", EXAMPLE]);
    assert_eq!(groups.len(), 18);
    for (option, message) in [
        (&["--fast"][..], "--fast reads no rows"),
        (&["--by", "row-group"], "--by row-group reads no rows"),
    ] {
        for part in [
            &["-w", "id = 1"][..],
            &["-n", "1"],
            &["--offset", "1"],
            &["--sample", "1"],
        ] {
            let arguments = [&["stats"], option, part, &[&rows]].concat();
            herringbone(&arguments).fails(2, message);
        }
    }
    // There is a table for each kind of column.
    let table = herringbone(&["stats", "--format", "table", EXAMPLE]).stdout;
    assert!(table.contains("│ id (ascending)"), "{table}");
}

#[test]
fn parts_and_samples_are_summarised() {
    let folder = Folder::new();
    let rows = numbered(&folder, 100, |n| {
        format!("{{\"id\":{n},\"city\":\"c{}\"}}", n % 4)
    });
    let part = ["stats", "--json", "-c", "id", "-n", "10", "--offset", "5"];
    let found = lines(&[&part[..], &[&rows]].concat());
    let of = |line: &Value| ["num_values", "min", "max", "mean"].map(|name| line[name].clone());
    assert_eq!(of(&found[0]), [json!(10), json!(5), json!(14), json!(9.5)]);
    // The window counts only the rows that match the condition.
    let found = lines(&[&part[..], &["-w", "id >= 50", &rows]].concat());
    assert_eq!(of(&found[0])[1..3], [json!(55), json!(64)]);
    let sample = ["--sample", "12", "--seed", "1"];
    let expected = lines(&[&["cat", "--json", "-c", "id"], &sample[..], &[&rows]].concat());
    let ids: Vec<_> = expected
        .iter()
        .map(|row| row["id"].as_u64().unwrap())
        .collect();
    let found = lines(&[&["stats", "--json", "-c", "id"], &sample[..], &[&rows]].concat());
    let bounds = [ids[0], ids[11]].map(|id| json!(id));
    assert_eq!(of(&found[0])[..3], [&[json!(12)][..], &bounds].concat());
    let found = lines(&[&["freq", "--json", "city"], &sample[..], &[&rows]].concat());
    let counts = found.iter().map(|line| line["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 12);
    for line in &found {
        let city: u64 = line["value"].as_str().unwrap()[1..].parse().unwrap();
        let city_rows = ids.iter().filter(|id| *id % 4 == city).count();
        assert_eq!(line["count"], city_rows, "{line}");
    }
}

/// Converts numbered JSON lines to Parquet.
fn numbered(folder: &Folder, rows: usize, row: impl Fn(usize) -> String) -> String {
    let lines: String = (0..rows).map(|number| row(number) + "\n").collect();
    let (jsonl, out) = (
        folder.with("numbered.jsonl", &lines),
        folder.file("numbered.parquet"),
    );
    herringbone(&["convert", "-q", "--force", &jsonl, &out]).ok("");
    out
}

#[test]
fn only_whole_columns_are_sorted() {
    let folder = Folder::new();
    // These columns descend, ascend within each batch, have lists, have a null, and repeat one
    // value.
    let file = numbered(&folder, 16_384, |row| {
        let null = if row == 9 { "null" } else { &row.to_string() };
        let in_batch = row % 8192;
        format!(
            "{{\"down\":{},\"in_batch\":{in_batch},\"list\":[{row}],\"null\":{null},\"one\":1}}",
            20_000 - row
        )
    });
    let all = lines(&["stats", "--json", &file]);
    let sorted: Vec<_> = all.iter().map(|line| line["sorted"].as_str()).collect();
    assert_eq!(sorted, [Some("descending"), None, None, None, None]);
}

#[test]
fn a_sample_has_an_offset() {
    let folder = Folder::new();
    let rows = rows(&folder);
    let sample = ["sample", "-n", "5", "--seed", "1", "-c", "id", &rows];
    let all = herringbone(&sample).stdout;
    let later: String = all.split_inclusive('\n').skip(2).collect();
    assert_eq!(later.lines().count(), 3);
    herringbone(&[&sample[..], &["--offset", "2"]].concat()).ok(&later);
}

#[test]
fn means_of_any_size() {
    let folder = Folder::new();
    let lines_of = "{\"tiny\":1e-9,\"huge\":1e300,\"inf\":\"Infinity\",\"whole\":3,\"bytes\":\"AP8=\"}\n\
                    {\"tiny\":3e-9,\"huge\":1e301,\"inf\":1,\"whole\":4,\"bytes\":\"AP8=\"}\n";
    let jsonl = folder.with("a.jsonl", lines_of);
    let schema = "tiny: Float64\nhuge: Float64\ninf: Float64\nwhole: Float64\nbytes: Binary\n";
    let (schema, file) = (folder.with("types.txt", schema), folder.file("a.parquet"));
    herringbone(&["convert", "--schema", &schema, &jsonl, &file]).ok("");
    let all = lines(&["stats", "--json", &file]);
    let means: Vec<_> = all.iter().map(|row| row["mean"].to_string()).collect();
    assert_eq!(means, ["2e-9", "5.5e+300", "\"Infinity\"", "3.5", "null"]);
    assert_eq!(all[4]["mean_bytes"], 2.0);
    let table = herringbone(&["stats", "--format", "table", &file]).stdout;
    let rows = table.lines().skip(3).take(5);
    let means: Vec<_> = rows
        .map(|row| row.split('┆').nth(7).unwrap().trim())
        .collect();
    assert_eq!(means, ["2e-9", "5.5e300", "Infinity", "3.5", "2.0 bytes"]);
    // Tables show the literals that conditions accept, and have columns in the order of the command
    // line.
    let freq = ["freq", "whole,bytes", &file];
    let table = herringbone(&[&freq[..], &["--format", "table"]].concat()).stdout;
    assert!(
        table.contains("│ bytes  ┆ x'00ff' ┆     2 ┆ 100.0 % │"),
        "{table}"
    );
    let all = lines(&[&freq[..], &["--json"]].concat());
    let columns: Vec<_> = all.iter().map(|row| row["column"].as_str()).collect();
    assert_eq!(columns, [Some("whole"), Some("whole"), Some("bytes")]);
    assert_eq!(all[2]["value"], "AP8=");
}

/// The counts come from footers that pyarrow wrote.
#[test]
fn null_lists_of_a_fixed_length_have_no_elements() {
    let folder = Folder::new();
    let path = folder.file("fixed.parquet");
    let lists = [
        Some(vec![Some(1), Some(2)]),
        None,
        Some(vec![Some(3), None]),
    ];
    let lists: ArrayRef = Arc::new(FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        lists, 2,
    ));
    let batch = RecordBatch::try_from_iter_with_nullable([("l", lists, true)]).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let all = lines(&["stats", "--json", &path]);
    assert_eq!(
        (&all[0]["num_values"], &all[0]["null_count"]),
        (&4.into(), &1.into())
    );
    let nulls = lines(&["freq", "l", "--json", &path]);
    assert!(nulls.iter().all(|null| null["count"] == 1), "{nulls:?}");
    assert_eq!(nulls.len(), 4);
}

#[test]
fn columns_are_left_out_of_the_summary() {
    let folder = Folder::new();
    let rows = rows(&folder);
    for mode in [&[][..], &["--fast"], &["--by", "row-group"]] {
        let all = lines(&[&["stats", "--json", "-c", "!tags", &rows], mode].concat());
        let names: Vec<_> = all
            .iter()
            .map(|row| row["path"][0].as_str().unwrap())
            .collect();
        assert_eq!(names, ["id", "city"], "{mode:?}");
    }
}

#[test]
fn columns_without_rows_have_a_line() {
    let folder = Folder::new();
    let (rows, none) = (rows(&folder), folder.file("none.parquet"));
    herringbone(&["rewrite", &rows, &none, "-n", "0"]).ok("");
    let all = lines(&["stats", "--json", &none]);
    let found: Vec<_> = all
        .iter()
        .map(|row| (row["path"][0].as_str().unwrap(), row["num_values"].as_u64()))
        .collect();
    assert_eq!(
        found,
        [("id", Some(0)), ("tags", Some(0)), ("city", Some(0))]
    );
}

#[test]
fn columns_have_the_order_of_the_command_line() {
    let folder = Folder::new();
    let file = numbered(&folder, 1, |_| {
        "{\"ab\":1,\"a\":2,\"s\":{\"x\":3,\"y\":4},\"l\":[5]}".into()
    });
    let columns = |list: &str| -> String {
        let all = lines(&["freq", list, "--json", &file]);
        let values = all.iter().map(|row| row["value"].to_string());
        values.collect()
    };
    assert_eq!(columns("a,ab"), "21");
    assert_eq!(columns("s.y,s.x"), "43");
    assert_eq!(columns("s,l.list.element,a"), "3452");
}

#[test]
fn equally_frequent_values_are_in_order() {
    let folder = Folder::new();
    let file = numbered(&folder, 40, |row| {
        format!("{{\"city\":\"c{}\"}}", row * 7 % 10)
    });
    let all = lines(&["freq", "city", "--json", &file]);
    let found: Vec<_> = all
        .iter()
        .map(|row| row["value"].as_str().unwrap())
        .collect();
    assert_eq!(
        found,
        ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]
    );
}

#[test]
fn frequent_values_come_first() {
    let folder = Folder::new();
    let rows = rows(&folder);
    let all = lines(&["freq", "city", &rows, "--json"]);
    let found: Vec<_> = all
        .iter()
        .map(|row| (row["value"].clone(), row["count"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("Rome".into(), 500),
        (Value::Null, 250),
        ("Oslo".into(), 250),
    ];
    assert_eq!(found.len(), 3);
    assert!(
        expected.iter().all(|expected| found.contains(expected)),
        "{found:?}"
    );
    assert_eq!(found[0], expected[0]);
    let first = lines(&[
        "freq", "city,id", "--top", "1", "-w", "id < 10", "--json", &rows,
    ]);
    assert_eq!(first.len(), 4);
    assert_eq!(
        (&first[3]["others"], &first[3]["count"]),
        (&9.into(), &9.into())
    );
    let elements = lines(&["freq", "tags", "--json", &rows]);
    assert_eq!(
        (&elements[0]["value"], &elements[0]["count"]),
        (&7.into(), &250.into())
    );
    // The example's second row group has 8 rows.
    let group = lines(&["freq", "id", "--row-groups", "1", "--json", EXAMPLE]);
    assert!(
        group
            .iter()
            .all(|group| group["value"].as_u64().unwrap() >= 16),
        "{group:?}"
    );
    assert_eq!(group.len(), 8);
    herringbone(&["freq", "nme", EXAMPLE]).fails(2, "did you mean `name`");
}

#[test]
fn info_knows_dictionaries_and_lists() {
    let folder = Folder::new();
    let rows = rows(&folder);
    let info = herringbone(&["info", &rows]).stdout;
    let line = |name: &str| {
        let line = info
            .lines()
            .find(|line| line.contains(name))
            .unwrap()
            .to_owned();
        line.split('┆')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    };
    // Null elements count, but empty lists do not.
    assert_eq!(line("tags")[5], "250");
    assert_eq!(line(" city")[4], "100 %");
    assert_eq!(line(" id")[4], "0 %");
    let mut off = command(&["rewrite", &rows, "-"]);
    off.args(["--dictionary", "off"]);
    let plain = folder.with("plain.parquet", off.output().unwrap().stdout);
    let info = herringbone(&["info", &plain]).stdout;
    assert!(!info.contains("100 %"), "{info}");
}

#[test]
fn the_viewer_needs_a_terminal() {
    // Without a terminal, the command behaves alike with and without the feature `browse`.
    let run = herringbone(&["browse", EXAMPLE]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    let instead = "`herringbone show testdata/example.parquet`";
    assert!(run.stderr.contains(instead), "{}", run.stderr);
}

#[test]
fn combinations_are_counted_together() {
    let folder = Folder::new();
    let text = "a,b,n\nx,1,1\ny,1,2\nx,1,3\nx,,4\n\"p,q\",2,10\n";
    let file = folder.with("pairs.csv", text);
    let rows = lines(&["freq", "-c", "b,a", "--together", "--json", &file]);
    assert_eq!(rows[0]["value"], json!({"b": 1, "a": "x"}));
    assert_eq!((&rows[0]["count"], rows.len()), (&2.into(), 4));
    let run = herringbone(&["freq", "-c", "a,b", "--together", "--csv", &file]);
    assert_eq!(
        run.stdout,
        "a,b,count,share\nx,1,2,0.4\n\"p,q\",2,1,0.2\nx,,1,0.2\ny,1,1,0.2\n"
    );
    let run = herringbone(&[
        "freq",
        "-c",
        "a,b",
        "--together",
        "--csv",
        "--top",
        "1",
        &file,
    ]);
    assert!(
        run.stderr.contains("note: 3 combinations more"),
        "{}",
        run.stderr
    );
    herringbone(&["freq", "a", "--csv", "--top", "1", &file])
        .ok("column,value,others,count,share\na,x,,3,0.6\na,,2,2,0.4\n");
    // The mean is 4, and the squared differences are 9 + 4 + 1 + 0 + 36.
    let stats = herringbone(&["stats", "--csv", "-c", "n", &file]);
    let (names, line) = stats.stdout.trim_end().split_once('\n').unwrap();
    let column = |name: &str| {
        let at = names.split(',').position(|other| other == name).unwrap();
        line.split(',').nth(at).unwrap()
    };
    assert_eq!(
        (column("mean"), column("median"), column("path")),
        ("4.0", "3.0", "n")
    );
    let deviation: f64 = column("std_dev").parse().unwrap();
    assert!((deviation - 12.5_f64.sqrt()).abs() < 1e-12);
    assert_eq!((column("mean_bytes"), column("compressed_size")), ("", ""));
}

#[test]
fn the_order_of_columns_and_files_is_explained() {
    let advice = "name the columns with -c, as in `herringbone freq -c COLUMNS ";
    herringbone(&["freq", EXAMPLE]).fails(2, advice);
    herringbone(&["freq", EXAMPLE, "id"]).fails(2, advice);
    herringbone(&["diff", "--csv", EXAMPLE, EXAMPLE]).fails(2, "use --json");
}
