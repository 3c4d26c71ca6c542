//! Tests awkward text, and text for other programs. Expected values are written by hand, or come
//! from Python and duckdb.

use std::io::Write as _;

use crate::common::{EXAMPLE, Folder, herringbone, json, stdin};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Converts a file to JSON lines. Returns the messages and the rows.
fn lines(name: &str, bytes: impl AsRef<[u8]>, options: &[&str]) -> (String, String) {
    let folder = Folder::new();
    let (input, out) = (folder.with(name, bytes), folder.file("out.jsonl"));
    let run = herringbone(&[&["convert", &input, &out], options].concat());
    let rows = std::fs::read_to_string(&out).unwrap_or_default();
    (run.stderr.replace(&input, name), rows)
}

#[test]
fn compressed_text_is_unpacked() {
    let (csv, rows) = (
        "a,b\n1,x\n2,y\n",
        "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n",
    );
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    let none = String::new;
    assert_eq!(lines("x.csv.gz", gzip(csv), &[]), (none(), rows.into()));
    assert_eq!(lines("x.csv.zst", zstd(csv), &[]), (none(), rows.into()));
    assert_eq!(lines("x.jsonl.gz", gzip(rows), &[]), (none(), rows.into()));
    // The first bytes decide, rather than the name.
    assert_eq!(lines("x.csv", gzip(csv), &[]), (none(), rows.into()));
    assert_eq!(lines("x.csv.gz", csv, &[]), (none(), rows.into()));
    // Several members or frames form one text.
    let both = [gzip("a,b\n1,x\n"), gzip("2,y\n")].concat();
    assert_eq!(lines("x.csv.gz", both, &[]), (none(), rows.into()));
    let both = [zstd("a,b\n1,x\n"), zstd("2,y\n")].concat();
    assert_eq!(lines("x.csv.zst", both, &[]), (none(), rows.into()));
    stdin(
        &["convert", "--from", "csv", "--to", "jsonl", "-", "-"],
        &gzip(csv),
    )
    .ok(rows);
}

#[test]
fn damaged_compressed_text_is_an_error() {
    let folder = Folder::new();
    let whole = gzip(&"1,2,3\n".repeat(10_000));
    let mut wrong = whole.clone();
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    for bytes in [&whole[..whole.len() - 9], &wrong] {
        let (input, out) = (folder.with("x.csv.gz", bytes), folder.file("out.parquet"));
        let run = herringbone(&["convert", "--no-header", &input, &out]);
        run.fails(3, "x.csv.gz: the gzip data is cut or damaged");
        assert_eq!(folder.names(), ["x.csv.gz"]);
    }
    let zstd = zstd::encode_all("1,2,3\n".repeat(10_000).as_bytes(), 1).unwrap();
    let input = folder.with("x.csv.zst", &zstd[..zstd.len() - 1]);
    let run = herringbone(&["convert", &input, &folder.file("out.parquet")]);
    run.fails(3, "the Zstandard data is cut or damaged");
    // This command would write plain text into a file that has the name of compressed text.
    let run = herringbone(&["convert", EXAMPLE, &folder.file("out.csv.gz")]);
    run.fails(2, "does not compress text");
}

#[test]
fn lines_that_are_not_csv_are_ignored() {
    let text = "Report of today\r\n\r\n# made by X\r\na,b\r\n# in between, with a comma\r\n1,#x\r\n\"#y\",2\r\n# last";
    let (stderr, rows) = lines("x.csv", text, &["--skip-lines", "2", "--comment", "#"]);
    assert_eq!(stderr, "");
    assert_eq!(
        rows,
        "{\"a\":\"1\",\"b\":\"#x\"}\n{\"a\":\"#y\",\"b\":\"2\"}\n"
    );
    // Comments do not hide the separator, and lines keep their numbers.
    let text = "#;\n#;\na;b\n#\n1;2\nx;2\n";
    let (stderr, _) = lines("x.csv", text, &["--comment", "#", "--type", "a=Int64"]);
    assert!(stderr.contains("the separator is `;`"), "{stderr}");
    assert!(stderr.contains("x.csv: line 6: column `a`: "), "{stderr}");
    // The user skips more lines than there are.
    let folder = Folder::new();
    let csv = folder.with("x.csv", "a\n1\n");
    herringbone(&["convert", "--skip-lines", "9", &csv, "-", "--to", "jsonl"])
        .fails(3, "there is no row to infer a schema from");
}

/// The expected dates come from `strptime` of Python. Each column has one format.
fn formats_of_dates() {
    let both = ["--date-format", "%d/%m/%Y", "--date-format", "%m/%d/%Y"];
    let of = |texts: &[&str], options: &[&str]| {
        let text = format!("d\n{}\n", texts.join("\n"));
        let (stderr, rows) = lines("x.csv", &text, &[&both[..], options].concat());
        let values = rows.lines().map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["d"].as_str().unwrap().to_owned()
        });
        (stderr, values.collect::<Vec<_>>())
    };
    let day_first = ["13/04/2024", "01/02/2024", "2024-05-06"];
    let (stderr, rows) = of(&day_first, &[]);
    assert_eq!(rows, ["2024-04-13", "2024-02-01", "2024-05-06"]);
    assert_eq!(stderr, "");
    let (stderr, rows) = of(&["04/25/2024", "01/02/2024"], &[]);
    assert_eq!(rows, ["2024-04-25", "2024-01-02"]);
    assert_eq!(stderr, "");
    // Both formats fit all dates, but they disagree about one of them.
    let (stderr, rows) = of(&["05/05/2024", "01/02/2024"], &[]);
    assert_eq!(rows, ["2024-05-05", "2024-02-01"]);
    let note = "column `d` has dates that are read as `%d/%m/%Y`, but `%m/%d/%Y` fits them, too";
    assert!(stderr.contains(note), "{stderr}");
    let (stderr, _) = of(&["05/05/2024", "06/06/2024"], &[]);
    assert_eq!(stderr, "");
    // No format fits all of these dates.
    let mixed = ["01/02/2024", "13/04/2024", "04/25/2024"];
    let (stderr, rows) = of(&mixed, &[]);
    assert_eq!(rows, mixed);
    let note = "column `d` is text, because no single --date-format fits all of its dates";
    assert!(stderr.contains(note), "{stderr}");
    // A column with a given type has a single format, too.
    let (_, rows) = of(&["01/02/2024", "04/25/2024"], &["--type", "d=Date32"]);
    assert_eq!(rows, ["2024-01-02", "2024-04-25"]);
    let (stderr, _) = of(&mixed, &["--type", "d=Date32"]);
    assert!(stderr.contains("04/25/2024"), "{stderr}");
    let folder = Folder::new();
    let schema = folder.with("s.txt", "d: Date32\n");
    let (_, rows) = of(&["01/02/2024", "04/25/2024"], &["--schema", &schema]);
    assert_eq!(rows, ["2024-01-02", "2024-04-25"]);
    // The numbers of another column stay numbers.
    let text = "d,n\n13/04/2024,20240131\n14/04/2024,7\n";
    let options = [&both[..], &["--date-format", "%Y%m%d"]].concat();
    let (_, rows) = lines("x.csv", text, &options);
    assert_eq!(
        rows,
        "{\"d\":\"2024-04-13\",\"n\":20240131}\n{\"d\":\"2024-04-14\",\"n\":7}\n"
    );
}

#[test]
fn more_lines_are_skipped_than_there_are() {
    let folder = Folder::new();
    let csv = folder.with("x.csv", "a\n1\n");
    for count in ["3", "18446744073709551615"] {
        herringbone(&["convert", "--skip-lines", count, &csv, "-", "--to", "jsonl"])
            .fails(3, "there is no row to infer a schema from");
    }
}

#[test]
fn large_rows_and_texts_that_unpack_to_much_are_refused() {
    let folder = Folder::new();
    let long = "x".repeat(40 << 20);
    let csv = folder.with("x.csv", format!("a,b\n1,2\n3,{long}\n"));
    let json = folder.with("x.jsonl", format!("{{\"a\":1}}\n{{\"a\":\"{long}\"}}\n"));
    let packed = folder.with("x.csv.gz", gzip(&format!("a,b\n1,2\n3,{long}\n")));
    let convert = |from: &str, limits: &[&str]| {
        let out = folder.file("out.parquet");
        let line = ["convert", "-f", "-q", "--type", "b=Utf8", from, &out];
        let line = if from == json {
            [&line[..3], &line[5..]].concat()
        } else {
            line.to_vec()
        };
        herringbone(&[&line[..], limits].concat())
    };
    for from in [&csv, &json, &packed] {
        let run = convert(from, &["--max", "batch_column_bytes=1000000"]);
        run.fails(
            3,
            "a row of more than 1000000 bytes, the limit `batch_column_bytes`; raise it with",
        );
    }
    // In gzip, 40 MiB of one character take about a thousandth of that.
    let small = [
        "--max",
        "page_bytes=1000000",
        "--max",
        "decompression_ratio=100",
    ];
    convert(&packed, &small).fails(
        3,
        "100 bytes per compressed byte, the limit `decompression_ratio`",
    );
    let run = convert(&packed, &["--max", "page_bytes=1000000"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn numbers_and_dates_of_other_countries() {
    let text = "id;name;price;day\r\n1;Müller;1.234,50;31.12.2024\r\n2;Ünal;-0,5;1.1.2025\r\n";
    let latin1: Vec<u8> = text
        .chars()
        .map(|character| character as u32 as u8)
        .collect();
    let options = [
        "--decimal-comma",
        "--date-format",
        "%d.%m.%Y",
        "--csv-encoding",
        "latin1",
    ];
    let (stderr, rows) = lines("x.csv", &latin1, &options);
    assert_eq!(
        stderr,
        "herringbone: note: x.csv: the separator is `;`; use --delimiter to set another\n"
    );
    assert_eq!(
        rows,
        "{\"id\":1,\"name\":\"Müller\",\"price\":1234.5,\"day\":\"2024-12-31\"}\n\
         {\"id\":2,\"name\":\"Ünal\",\"price\":-0.5,\"day\":\"2025-01-01\"}\n"
    );
    // Here, the column has a given type, and then none of the options is given.
    let typed = [&options[..], &["--type", "price=Decimal128(9, 2)"]].concat();
    let (_, rows) = lines("x.csv", &latin1, &typed);
    assert!(rows.contains("\"price\":\"1234.50\""), "{rows}");
    let (stderr, _) = lines("x.csv", &latin1, &[]);
    assert!(
        stderr.contains("line 2: text that is not UTF-8; --csv-encoding latin1"),
        "{stderr}"
    );
    // A number in the other notation is text, or an error if the column must be a number. Between
    // commas, such numbers need quotes.
    let (_, rows) = lines(
        "x.csv",
        "id,n,t\n1,\"1,5\",\"7\"\n2,\"-0,5\",\"8\"\n3,7,\n",
        &["--decimal-comma"],
    );
    let expected = "{\"id\":1,\"n\":1.5,\"t\":\"7\"}\n{\"id\":2,\"n\":-0.5,\"t\":\"8\"}\n{\"id\":3,\"n\":7.0,\"t\":null}\n";
    assert_eq!(rows, expected);
    let (_, rows) = lines("x.csv", "n;m\n\"1,5\";2\n", &["--decimal-comma"]);
    assert_eq!(rows, "{\"n\":\"1,5\",\"m\":2}\n");
    let (_, rows) = lines("x.csv", "a\n1.5\n", &["--decimal-comma"]);
    assert_eq!(rows, "{\"a\":\"1.5\"}\n");
    let (stderr, _) = lines(
        "x.csv",
        "a\n1.5\n",
        &["--decimal-comma", "--type", "a=Float64"],
    );
    assert!(
        stderr.contains("allows dots only between groups of three digits"),
        "{stderr}"
    );
    // The timestamps have two formats, one for each column.
    let options = [
        "--date-format",
        "%m/%d/%Y %H:%M",
        "--date-format",
        "%d-%b-%Y %H:%M:%S",
    ];
    let (_, rows) = lines(
        "x.csv",
        "at,to\n01/31/2024 13:45,05-Mar-2024 01:02:03\n",
        &options,
    );
    assert_eq!(
        rows,
        "{\"at\":\"2024-01-31T13:45:00\",\"to\":\"2024-03-05T01:02:03\"}\n"
    );
    formats_of_dates();
    herringbone(&["convert", "--date-format", "%H:%M", "a.csv", "b.csv"])
        .fails(2, "does not have a day");
    herringbone(&["convert", "--csv-encoding", "klingon", "a.csv", "b.csv"])
        .fails(2, "unknown encoding");
}

#[test]
fn utf16_is_decoded() {
    let text = "a,b\n1,é\n";
    let units = text.encode_utf16();
    let bytes: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(units)
        .flat_map(u16::to_le_bytes)
        .collect();
    let (stderr, rows) = lines("x.csv", &bytes, &["--csv-encoding", "utf-16le"]);
    assert_eq!(
        (stderr.as_str(), rows.as_str()),
        ("", "{\"a\":1,\"b\":\"é\"}\n")
    );
    let (stderr, _) = lines("x.csv", &bytes, &[]);
    assert!(stderr.contains("--csv-encoding utf-16le"), "{stderr}");
}

#[test]
fn options_of_csv_are_for_csv() {
    for option in [
        &["--comment", "#"][..],
        &["--decimal-comma"],
        &["--csv-encoding", "latin1"],
    ] {
        let line = [&["convert", EXAMPLE, "-", "--to", "csv"], option].concat();
        herringbone(&line).fails(2, &format!("{} is for CSV, ", option[0]));
    }
    herringbone(&["cat", "--delimiter", ";", EXAMPLE])
        .fails(2, "--delimiter needs --format csv or tsv");
    herringbone(&["cat", "--format", "tsv", "-d", ";", EXAMPLE]).fails(2, "tabs separate");
    herringbone(&["cat", "--csv", "-d", ";", "--null", ";", EXAMPLE])
        .fails(2, "must not contain the delimiter");
}

/// A file with texts that need quotes or escapes.
const TEXTS: &str = "{\"id\":1,\"t\":\"a;b\"}\n{\"id\":2,\"t\":\"c\\td\"}\n{\"id\":3,\"t\":null}\n";

#[test]
fn separators_of_written_text() {
    let folder = Folder::new();
    let (input, file) = (folder.with("x.jsonl", TEXTS), folder.file("x.parquet"));
    herringbone(&["convert", &input, &file]).ok("");
    herringbone(&["cat", "--csv", "-d", ";", &file]).ok("id;t\n1;\"a;b\"\n2;c\td\n3;\n");
    herringbone(&["cat", "--csv", "-d", ";", "--no-header", &file]).ok("1;\"a;b\"\n2;c\td\n3;\n");
    let tsv = "id\tt\n1\ta;b\n2\t\"c\td\"\n3\t\n";
    herringbone(&["cat", "--format", "tsv", &file]).ok(tsv);
    herringbone(&[
        "cat", "--format", "tsv", "--null", "NA", "-n", "1", "--offset", "2", &file,
    ])
    .ok("id\tt\n3\tNA\n");
    let out = folder.file("x.tsv");
    herringbone(&["convert", &file, &out]).ok("");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), tsv);
    // The written text is read again.
    herringbone(&["convert", &out, "-", "--to", "jsonl"]).ok(TEXTS);
}

#[test]
fn arrays_and_markdown() {
    let folder = Folder::new();
    let (input, file) = (folder.with("x.jsonl", TEXTS), folder.file("x.parquet"));
    herringbone(&["convert", &input, &file]).ok("");
    let array =
        "[\n{\"id\":1,\"t\":\"a;b\"},\n{\"id\":2,\"t\":\"c\\td\"},\n{\"id\":3,\"t\":null}\n]\n";
    let run = herringbone(&["cat", "--format", "json", &file]);
    run.ok(array);
    assert_eq!(json(&run)[1]["t"], "c\td");
    let out = folder.file("x.json");
    herringbone(&["convert", &file, &out]).ok("");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), array);
    herringbone(&["convert", &out, "-", "--to", "jsonl"]).ok(TEXTS);
    let none = herringbone(&["cat", "--format", "json", "-w", "id > 9", &file]);
    assert_eq!(json(&none), serde_json::json!([]));
    herringbone(&["cat", "--format", "markdown", &file]).ok(
        "| id | t |\n| ---: | --- |\n| 1 | a;b |\n| 2 | c\\t\\t |\n| 3 |  |\n"
            .replace("\\t\\t", "\\td")
            .as_str(),
    );
}

#[test]
fn one_value_per_line() {
    let folder = Folder::new();
    let (input, file) = (folder.with("x.jsonl", TEXTS), folder.file("x.parquet"));
    herringbone(&["convert", &input, &file]).ok("");
    let run = herringbone(&["head", "-n", "2", "--vertical", &file]);
    run.ok("row 1\n  id  int64  1\n  t   text   a;b\nrow 2\n  id  int64  2\n  t   text   c\\td\n2 of 3 rows\n");
}

#[test]
fn tables_say_how_many_rows_there_are() {
    let last = |line: &[&str]| {
        let run = herringbone(&[line, &["--table", EXAMPLE]].concat());
        run.stdout.lines().last().unwrap().to_owned()
    };
    assert_eq!(last(&["head"]), "10 of 24 rows");
    assert_eq!(last(&["tail", "-n", "3"]), "3 of 24 rows");
    assert_eq!(last(&["cat"]), "24 rows");
    assert_eq!(last(&["cat", "-w", "id < 5"]), "5 rows");
}

#[test]
fn geojson_is_one_document() {
    let folder = Folder::new();
    let text = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","geometry":{"type":"Point","coordinates":[10,20]},"properties":{"a":1}},
{"type":"Feature","geometry":null,"properties":{"a":2}}
]}
"#;
    let (input, file, out) = (
        folder.with("x.geojson", text),
        folder.file("x.parquet"),
        folder.file("y.geojson"),
    );
    herringbone(&["convert", &input, &file]).ok("");
    herringbone(&["convert", &file, &out]).ok("");
    let written = std::fs::read_to_string(&out).unwrap();
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parsed(&written), parsed(text), "{written}");
    assert_eq!(written.lines().count(), 4);
    let run = herringbone(&["cat", "--format", "geojson", &file]);
    assert_eq!(run.stdout, written);
    let lines = herringbone(&["cat", "--format", "geojsonl", &file]).stdout;
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(parsed(lines.lines().next().unwrap())["type"], "Feature");
    let none = herringbone(&["cat", "--format", "geojson", "-w", "a > 9", &file]);
    assert_eq!(json(&none)["features"], serde_json::json!([]));
}

#[test]
fn names_of_other_formats_say_what_to_do() {
    herringbone(&["convert", "x.xlsx", "x.parquet"]).fails(2, "save the sheet as CSV");
    herringbone(&["convert", "x.shp", "x.parquet"])
        .fails(2, "ogr2ogr -t_srs OGC:CRS84 OUT.geojson IN");
}
