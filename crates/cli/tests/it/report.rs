//! Tests `report`, which writes a page about a file.

use crate::common::{EXAMPLE, Folder, herringbone, path};

fn page(folder: &Folder, file: &str, options: &[&str]) -> String {
    let out = folder.file("report.html");
    let run = herringbone(&[&["report", file, "-f", "-o", &out], options].concat());
    assert_eq!(
        (run.code, run.stdout.as_str(), run.stderr.as_str()),
        (0, "", "")
    );
    std::fs::read_to_string(&out).unwrap()
}

#[test]
fn a_page_has_its_parts_and_needs_no_network() {
    let folder = Folder::new();
    let html = page(&folder, EXAMPLE, &[]);
    for id in [
        "findings", "bytes", "columns", "pages", "groups", "verify", "schema",
    ] {
        assert!(html.contains(&format!("<h2 id=\"{id}\">")), "{id}");
    }
    assert!(html.contains("Sound: all metadata agrees with the data."));
    assert!(html.contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "url(", "@import"] {
        assert!(!html.contains(outside), "{outside}");
    }
    // Each link leads to a part of the page.
    for link in html.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let opened = html.matches("<section").count();
    assert_eq!(opened, html.matches("</section>").count());
}

#[test]
fn values_can_be_left_out() {
    let folder = Folder::new();
    assert!(page(&folder, EXAMPLE, &[]).contains("amber"));
    let html = page(&folder, EXAMPLE, &["--no-values"]);
    assert!(!html.contains("amber"), "bounds are values");
    assert!(!html.contains("2026-01-01"));
}

#[test]
fn names_and_values_are_not_markup() {
    let folder = Folder::new();
    let text = "{\"<script>alert(1)</script>\":\"\\\"><img src=x onerror=alert(2)>\"}\n";
    let (jsonl, out) = (folder.with("a.jsonl", text), folder.file("<b>.parquet"));
    herringbone(&["convert", &jsonl, &out]).ok("");
    let html = page(&folder, &out, &[]);
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("<img") && !html.contains("<b>"));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn findings_are_json_lines() {
    let folder = Folder::new();
    let (jsonl, file) = (
        folder.with("a.jsonl", "{\"zip\":\"123\"}\n{\"zip\":\"99\"}\n"),
        folder.file("a.parquet"),
    );
    let schema = folder.with("types.txt", "zip: Utf8\n");
    herringbone(&["convert", "-q", "--schema", &schema, &jsonl, &file]).ok("");
    let expected = format!(
        "{{\"file\":\"{file}\",\"kind\":\"digits_as_text\",\"message\":\"The text of `zip` is numbers, \
         which are smaller and faster as BIGINT\",\"command\":\"herringbone rewrite {file} OUT.parquet \
         -c zip:bigint\"}}\n"
    );
    herringbone(&["report", "--json", &file]).ok(&expected);
    let out = folder.file("report.html");
    herringbone(&["report", "--json", &file, "-o", &out]).ok(&expected);
    assert!(
        std::fs::read_to_string(&out)
            .unwrap()
            .contains("zip:bigint")
    );
    herringbone(&["report", "--json", &file, "-o", "-"]).fails(2, "OUT must be a file");
    herringbone(&["report", &file]).fails(2, "<OUT>");
    for (level, code) in [("warning", 1), ("error", 0)] {
        let run = herringbone(&["report", "--fail-on", level, &file]);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{level}");
    }
    // The finding would reveal something about the values.
    herringbone(&["report", "--json", "--no-values", &file]).ok("");
}

/// The least and the greatest text are numbers, but others are not.
#[test]
fn digits_in_bounds_alone_are_not_a_finding() {
    let folder = Folder::new();
    let schema = folder.with("types.txt", "a: Utf8\nd: Utf8\nn: Int64\n");
    let rows = |texts: &[&str]| -> String {
        let row = |text: &&str| format!("{{\"a\":\"{text}\",\"d\":\"{text}0\",\"n\":1}}\n");
        texts.iter().map(row).collect()
    };
    let file = folder.file("a.parquet");
    let jsonl = folder.with("a.jsonl", rows(&["1", "2024-05-06", "3x", "4.5", "9"]));
    herringbone(&["convert", "-q", "--schema", &schema, &jsonl, &file]).ok("");
    herringbone(&["report", "--json", &file]).ok("");
    // The column keeps its place between the others.
    let jsonl = folder.with(
        "a.jsonl",
        rows(&["1", "9"]).replace("\"a\":\"", "\"a\":\"x"),
    );
    herringbone(&[
        "convert", "-q", "--force", "--schema", &schema, &jsonl, &file,
    ])
    .ok("");
    let run = herringbone(&["report", "--json", &file]);
    assert!(run.stdout.contains("-c 'a, d:bigint, n'"), "{}", run.stdout);
}

/// Runs the commands of a file's findings in a shell. Returns the kinds of the findings.
#[cfg(unix)]
fn run_commands(folder: &Folder, file: &str) -> Vec<String> {
    let run = herringbone(&["report", "--json", "--", file]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_herringbone"));
    let mut kinds = Vec::new();
    for line in run.stdout.lines() {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        kinds.push(finding["kind"].as_str().unwrap().to_owned());
        let Some(command) = finding["command"].as_str() else {
            continue;
        };
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args([
            "-c",
            &format!(
                "PATH={}:$PATH; rm -f OUT.parquet; {command}",
                program.parent().unwrap().display()
            ),
        ]);
        let output = shell.current_dir(folder.file("")).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
    kinds
}

/// The commands find columns and files whatever their names are.
#[cfg(unix)]
#[test]
fn commands_of_findings_run_as_they_are() {
    let folder = Folder::new();
    let text: String = (100_000..105_000)
        .map(|id| format!("{{\"a.b\":{id},\"q\\\"t\":\"{id}\",\"c d,=!\":null,\"s\":{{\"x.y\":null,\"z\":1}}}}\n"))
        .collect();
    let jsonl = folder.with("a.jsonl", text);
    let schema = "a.b: Int64\nq\"t: Utf8\nc d,=!: Int32\ns: Struct\n  x.y: Int32\n  z: Int64\n";
    let schema = folder.with("types.txt", schema);
    let file = folder.file("-x 'y.parquet");
    let options = ["--schema", &schema, "--page-rows", "500"];
    herringbone(&[&["convert", "-q", &jsonl, &file], &options[..]].concat()).ok("");
    let here = std::process::Command::new(env!("CARGO_BIN_EXE_herringbone"))
        .args(["report", "--json", "--", "-x 'y.parquet"])
        .current_dir(folder.file(""))
        .output()
        .unwrap();
    let here = String::from_utf8(here.stdout).unwrap();
    assert!(
        here.contains(r#"rewrite \"./-x 'y.parquet\" OUT"#),
        "{here}"
    );
    let kinds = run_commands(&folder, &file);
    assert_eq!(
        kinds,
        [
            "undeclared_order",
            "digits_as_text",
            "only_nulls",
            "only_nulls",
            "all_findings"
        ]
    );
}

/// Two files have the same columns, one has another type, and one has a column that the others
/// lack.
#[test]
fn a_directory_has_a_report() {
    let folder = Folder::new();
    for (name, text) in [
        ("a", "{\"id\":1,\"fare\":1.5}\n"),
        ("b", "{\"id\":2,\"fare\":2.5}\n{\"id\":3,\"fare\":2.5}\n"),
        ("c", "{\"id\":4,\"fare\":\"<b>\"}\n"),
        ("d", "{\"id\":5,\"fare\":1.5,\"<i>tip\":1}\n"),
    ] {
        let jsonl = folder.with("x.jsonl", text);
        std::fs::create_dir_all(folder.file("sales")).unwrap();
        let out = folder.file(&format!("sales/{name}.parquet"));
        herringbone(&["convert", &jsonl, &out]).ok("");
    }
    let sales = folder.file("sales");
    let html = page(&folder, &sales, &[]);
    for text in [
        "<dt>files</dt><dd>4</dd>",
        "<dt>rows</dt><dd>5</dd>",
        "4 files of",
        "2 of 4 files have other columns than most: &lt;i&gt;tip is added, fare is text, not float64",
        "&lt;i&gt;tip is added</td>",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert!(!html.contains("<i>") && !html.contains("<b>"));
    let run = herringbone(&["report", "--json", "--fail-on", "warning", &sales]);
    assert_eq!(run.code, 1);
    let kinds: Vec<String> = run
        .stdout
        .lines()
        .map(|line| {
            let finding: serde_json::Value = serde_json::from_str(line).unwrap();
            let command = format!("herringbone concat {sales} -o OUT.parquet --by-name --cast");
            assert_eq!(finding["command"], command);
            finding["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds, ["small_files", "different_columns"]);
    let run = herringbone(&["report", "--json", "--fail-on", "error", &sales]);
    assert_eq!(run.code, 0);
}

/// If a page's data were changed, `verify` has an error. A finding of a rule is not an error.
#[test]
fn errors_end_with_an_exit_code() {
    let folder = Folder::new();
    let file = folder.file("a.parquet");
    let mut bytes = std::fs::read(path(EXAMPLE)).unwrap();
    bytes[100] ^= 0xff;
    std::fs::write(&file, bytes).unwrap();
    let run = herringbone(&["report", "--fail-on", "error", &file]);
    assert_eq!(run.code, 1, "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn equal_bounds_of_pages_are_not_an_order() {
    let folder = Folder::new();
    let is_ordered = |name: &str, rows: u32, value: fn(u32) -> u32| {
        let text: String = (0..rows).map(|row| format!("{}\n", value(row))).collect();
        let csv = folder.with("a.csv", format!("v\n{text}"));
        let file = folder.file(name);
        herringbone(&["convert", "--page-rows", "100", &csv, &file]).ok("");
        run_commands(&folder, &file).contains(&"undeclared_order".to_owned())
    };
    assert!(is_ordered("ordered.parquet", 1000, |row| row));
    assert!(!is_ordered("equal.parquet", 1000, |row| row % 10));
    // The file has a row group of one page with an index, and columns that are not in order.
    let file = "testdata/pyarrow/plain_v1.parquet";
    let run = herringbone(&["report", "--json", file]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(!run.stdout.contains("undeclared_order"), "{}", run.stdout);
}

/// Each finding's command runs, and then the finding is gone.
#[test]
fn the_commands_of_findings_help() {
    let folder = Folder::new();
    let text: String = (0..5000)
        .map(|id| {
            format!(
                "{{\"id\":{id},\"zip\":\"{}\",\"none\":null}}\n",
                id + 10_000
            )
        })
        .collect();
    let (jsonl, file) = (folder.with("a.jsonl", text), folder.file("a.parquet"));
    let schema = folder.with("types.txt", "id: Int64\nzip: Utf8\nnone: Int32\n");
    let bad = [
        "--schema",
        &schema,
        "--compression",
        "none",
        "--row-group-rows",
        "1000",
        "--no-page-index",
    ];
    herringbone(&[&["convert", "-q", &jsonl, &file], &bad[..]].concat()).ok("");
    let mut current = file;
    for round in 0..10 {
        let html = page(&folder, &current, &[]);
        let Some(line) = html.split("<code>herringbone rewrite ").nth(1) else {
            assert!(round >= 3, "{round}");
            let rows = herringbone(&["head", "-1", &current]);
            rows.ok("{\"id\":0,\"zip\":10000}\n");
            return;
        };
        let line = line.split("</code>").next().unwrap().replace("&#39;", "'");
        let out = folder.file(&format!("{round}.parquet"));
        let arguments = line.split_once(" OUT.parquet ").unwrap().1;
        let words: Vec<String> = match arguments.split_once(" '") {
            Some((option, rest)) => vec![option.into(), rest.trim_end_matches('\'').into()],
            None => arguments.split(' ').map(str::to_owned).collect(),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = herringbone(&[&["rewrite", "-q", &current, &out], &words[..]].concat());
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        current = out;
    }
    panic!("the findings do not end");
}
