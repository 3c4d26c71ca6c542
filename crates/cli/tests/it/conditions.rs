//! Tests that `--where` selects rows by their values. duckdb found the expected rows with the same
//! conditions.

use crate::common::{EXAMPLE, Folder, herringbone};

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
        ("id >", 2, "the condition ends after `>`"),
        (
            "weight",
            2,
            "`weight` is float64, not a condition; compare it with a value, as in `weight > 5`",
        ),
        ("lower(name) = 'x'", 2, "expected a column or variant_get"),
        ("id + 1 = 2", 2, "expected a column, found `id + 1`"),
        (
            "name like 5",
            2,
            "`like` needs a pattern in quotes, such as 'ab%', but found `5`",
        ),
        (
            "origin = 5",
            2,
            "`origin` is a group; test one of its columns, such as `origin.",
        ),
        ("orign.altitude = 5", 2, "did you mean `origin"),
        ("nme = 'x'", 2, "there is no column `nme`"),
        (
            "id = 'x'",
            2,
            "cannot compare Int64 with 'x', which is text",
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
    // According to pyarrow, the column chunks have 1100 and 893 bytes, and 102 of these are for
    // `id` in the second row group. The file has 24 rows in row groups of 16 and 8, column indexes
    // and no bloom filters. The index has 46 bytes. The header of the first page is read along with
    // it, in a request of 128 bytes.
    herringbone(&["count", "--explain", "--where", "id > 20", EXAMPLE]).ok(
        "testdata/example.parquet: 24 rows in 2 row groups\n  \
         where id > 20\n  \
         statistics       16 rows ruled out, 0 accepted; read 0 bytes of 2 row groups\n  \
         column indexes   0 rows ruled out, 0 accepted; read 174 bytes of 1 row group\n  \
         left to test     8 rows in 1 row group\n  \
         pages to fetch   102 bytes; 102 bytes in 1 request\n",
    );
    for command in ["cat", "head"] {
        let nothing = herringbone(&[command, "--explain", "--where", "id >= 0", EXAMPLE]);
        nothing.ok("testdata/example.parquet: 24 rows in 2 row groups\n  \
             where id >= 0\n  \
             statistics       0 rows ruled out, 24 accepted; read 0 bytes of 2 row groups\n  \
             left to test     0 rows in 0 row groups\n  \
             pages to fetch   1993 bytes; 1993 bytes in 2 requests\n");
    }
    let without = herringbone(&["cat", "--explain", EXAMPLE]);
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("--where"), "{}", without.stderr);
}

/// Returns a file with UUIDs, bytes of a fixed length, bytes of any length, and a map.
fn of_bytes(folder: &Folder) -> String {
    let lines = r#"{"id":1,"u":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","f":"YWJj","b":"YWI=","m":[["x",5]]}
{"id":2,"u":"00000000-0000-0000-0000-000000000007","f":"/wAA","b":"","m":[]}
{"id":3,"u":null,"f":null,"b":null,"m":null}
{"id":4,"u":"ffffffff-0000-0000-0000-000000000001","f":"AAAA","b":"/w==","m":[["x",6],["y",5]]}
"#;
    let schema = "id: Int64\nu: FixedSizeBinary(16) (arrow.uuid)\nf: FixedSizeBinary(3)\nb: Binary\nm: Map\n  \
                  entries: Struct not null\n    key: Utf8 not null\n    value: Int32\n";
    let (lines, schema) = (
        folder.with("in.jsonl", lines),
        folder.with("schema.txt", schema),
    );
    let out = folder.file("out.parquet");
    let arguments = [
        "--row-group-rows",
        "1",
        "--bloom-filter",
        "u,f,b",
        "--dictionary",
        "off",
    ];
    let convert = ["-q", "convert", "--schema", &schema, &lines, &out];
    herringbone(&[&convert, &arguments[..]].concat()).ok("");
    out
}

#[test]
fn uuids_and_bytes() {
    let folder = Folder::new();
    let file = of_bytes(&folder);
    for (condition, expected) in [
        ("u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", &[1][..]),
        ("u <> 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", &[2, 4]),
        ("u >= 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", &[1, 4]),
        ("u = x'00000000000000000000000000000007'", &[2]),
        ("f = x'ff0000' or f = 'abc'", &[1, 2]),
        ("b = x'ff'", &[4]),
        ("b = x''", &[2]),
        ("b < x'ff'", &[1, 2]),
    ] {
        assert_eq!(ids(&["--where", condition, &file]), expected, "{condition}");
    }
    // Tables print literals in the form that conditions accept.
    let table = herringbone(&["cat", "--format", "table", "--columns", "b,f", &file]);
    for literal in ["x'ff'", "x''", "x'ff0000'", "x'616263'"] {
        assert!(
            table.stdout.contains(literal),
            "{literal}: {}",
            table.stdout
        );
    }
    for (condition, message) in [
        ("u = 'a0eebc99'", "'a0eebc99' is not a UUID"),
        (
            "u > x'00'",
            "x'00' has 1 byte, but each value of the column has 16",
        ),
        (
            "f in ('abc', 'ab')",
            "'ab' has 2 bytes, but each value of the column has 3",
        ),
        ("b = x'f'", "expected a literal"),
    ] {
        let run = herringbone(&["count", "--where", condition, &file]);
        run.fails(2, message);
    }
    let answers = |column: &str, value: &str| {
        let run = herringbone(&["bloom", "check", &file, column, value, "--format", "jsonl"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let is_maybe = |line: &str| line.contains("\"maybe\"");
        run.stdout.lines().map(is_maybe).collect::<Vec<_>>()
    };
    let only = |row| [0, 1, 2, 3].map(|id| id == row);
    assert_eq!(
        answers("u", "ffffffff-0000-0000-0000-000000000001"),
        only(3)
    );
    assert_eq!(answers("f", "x'616263'"), only(0));
    assert_eq!(answers("f", "YWJj"), only(0));
    assert_eq!(answers("b", "X'FF'"), only(3));
    let short = herringbone(&["bloom", "check", &file, "f", "x'61'"]);
    short.fails(2, "it has 1 bytes, but each value has 3");
}

#[test]
fn paths_of_conditions_are_those_of_columns() {
    let folder = Folder::new();
    let file = of_bytes(&folder);
    for path in ["m.value", "m.key_value.value"] {
        let condition = format!("5 = any({path})");
        assert_eq!(ids(&["--where", &condition, &file]), [1, 4], "{condition}");
        let columns = herringbone(&["head", "-n", "1", "--columns", path, &file]);
        columns.ok("{\"m\":[[\"x\",5]]}\n");
    }
    assert_eq!(ids(&["--where", "'y' = any(m.key)", &file]), [4]);
    let either = herringbone(&["count", "--where", "5 = any(m)", &file]);
    either.fails(
        2,
        "`m` is a group; test one of its columns, such as `m.key_value.key`",
    );
    let one = herringbone(&["count", "--where", "m.value = 5", &file]);
    one.fails(2, "if every element has to (column m.key_value.value)");
}

#[test]
fn a_condition_may_begin_with_a_minus() {
    assert_eq!(ids(&["--where", "-1 < id and id < 2", EXAMPLE]), [0, 1]);
}

/// In SQL, `is true` is false for nulls, rather than unknown.
#[test]
fn is_true_is_known_of_nulls() {
    let folder = Folder::new();
    let csv = folder.with("in.csv", "id,b\n1,true\n2,false\n3,\n");
    let file = folder.file("out.parquet");
    herringbone(&["-q", "convert", &csv, &file]).ok("");
    for (condition, expected) in [
        ("b is true", &[1][..]),
        ("not (b is true)", &[2, 3]),
        ("not (b is false)", &[1, 3]),
        ("not b", &[2]),
        ("id not between null and 2", &[3]),
        ("not (id between 2 and null)", &[1]),
    ] {
        assert_eq!(ids(&["--where", condition, &file]), expected, "{condition}");
    }
}

/// Conditions and types that are deeply nested or very long give a short error, however deep or
/// long they are.
#[test]
fn deep_and_long_texts_are_refused() {
    let folder = Folder::new();
    let repeated = |first: &str, again: &str, times: usize, last: &str| {
        format!("{first}{}{last}", again.repeat(times))
    };
    for condition in [
        repeated("", "(", 4000, "id"),
        repeated("", "not ", 1900, "id = 1"),
        repeated("id = ", "- ", 3900, "1"),
        repeated("id", " xor id", 1100, ""),
        repeated("f(id", " xor 1", 1100, ")"),
        repeated("id", "+1", 3900, " = 2"),
        repeated("id", " is null", 900, ""),
        repeated("5 = ", "any(", 1900, "id"),
        repeated("id = '", "a", 33_000, "'"),
        repeated("id = '", "a", 8000, "'"),
    ] {
        let run = herringbone(&["count", "--where", &condition, EXAMPLE]);
        run.fails(2, "");
        assert!(run.stderr.len() < 1000, "{}", run.stderr);
    }
    let lists = repeated("", "List(", 20_000, "Int8");
    let schema = folder.with("schema.txt", format!("id: {lists}\n"));
    let (lines, out) = (
        folder.with("in.jsonl", "{\"id\":1}\n"),
        folder.file("out.parquet"),
    );
    let typed = format!("id={lists}");
    for (arguments, code) in [
        (vec!["convert", &lines, &out, "--type", &typed], 2),
        (vec!["convert", &lines, &out, "--variant", &typed], 2),
        (vec!["convert", &lines, &out, "--schema", &schema], 3),
        (vec!["repair", EXAMPLE, &out, "--schema", &schema], 3),
    ] {
        let run = herringbone(&arguments);
        run.fails(code, "more than 100 levels");
        assert!(run.stderr.len() < 1000, "{}", run.stderr);
    }
}

#[test]
fn unknown_names_are_told_the_known_ones() {
    for (arguments, message) in [
        (
            &["rewrite", "a", "b", "--compression", "foo"][..],
            "unknown codec `foo`; use one of: none, snappy, gzip, brotli, zstd, lz4_raw",
        ),
        (
            &["cat", "a", "--max", "foo=1"],
            "unknown limit `foo`; use one of: footer_bytes, ",
        ),
        (
            &["rewrite", "a", "b", "--encoding", "foo"],
            "unknown encoding `foo`; use one of: plain, ",
        ),
        (
            &["rewrite", "a", "b", "--page-version", "3"],
            "unknown page version `3`; use one of: 1, 2",
        ),
    ] {
        herringbone(arguments).fails(2, message);
    }
}

/// Returns a file with groups, lists, durations and intervals.
fn kinds(folder: &Folder) -> String {
    use std::sync::Arc;

    use herringbone::{WriteOptions, Writer};
    use herringbone_arrow::array::types::{Int32Type, IntervalMonthDayNano};
    use herringbone_arrow::array::{Array as _, Int32Array};
    use herringbone_arrow::array::{
        ArrayRef, DurationMillisecondArray, Float32Array, IntervalMonthDayNanoArray, ListArray,
        RecordBatch, StructArray,
    };
    use herringbone_arrow::buffer::NullBuffer;

    let file = folder.file("kinds.parquet");
    let id: ArrayRef = Arc::new(Int32Array::from(vec![0, 1, 2, 3]));
    let lists = vec![
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
        Some(vec![Some(2)]),
    ];
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let inner = StructArray::from(vec![(
        Arc::new(herringbone_arrow::schema::Field::new(
            "x",
            id.data_type().clone(),
            true,
        )),
        Arc::new(Int32Array::from(vec![None, Some(1), None, Some(3)])) as ArrayRef,
    )]);
    let nulls = NullBuffer::from(vec![true, true, false, false]);
    let group: ArrayRef = Arc::new(StructArray::new(
        inner.fields().clone(),
        inner.columns().to_vec(),
        Some(nulls),
    ));
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![f32::NAN, 1.0, f32::INFINITY, -0.5]));
    let durations: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![1500, 2000, -1, 0]));
    let interval = |months, days| IntervalMonthDayNano::new(months, days, 0);
    let intervals: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![
        Some(interval(1, 2)),
        None,
        Some(interval(0, 3)),
        Some(interval(1, 2)),
    ]));
    let columns = [
        ("id", id),
        ("tags", list),
        ("group", group),
        ("f", floats),
        ("took", durations),
        ("every", intervals),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns);
    let batch = batch.unwrap();
    let out = std::fs::File::create(&file).unwrap();
    let mut writer = Writer::new(out, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

/// The conditions have groups, lists, periods, words of SQL, and a long list. The expected rows are
/// computed by hand.
#[test]
fn conditions_on_every_kind_of_column() {
    let folder = Folder::new();
    let file = kinds(&folder);
    for (condition, expected) in [
        ("tags is null", &[1][..]),
        ("tags is not null", &[0, 2, 3]),
        ("\"group\" is null", &[2, 3]),
        ("not \"group\" is null and \"group\".x is null", &[0]),
        ("any(tags) = 2", &[3]),
        ("2 = any(tags)", &[3]),
        ("all(tags) > 1", &[2, 3]),
        ("f = 'NaN'", &[0]),
        ("f > 1.0", &[0, 2]),
        ("f in (Infinity, NaN)", &[0, 2]),
        ("took = 'PT1.5S'", &[0]),
        ("took between 'PT-0.001S' and 'PT0S'", &[2, 3]),
        ("every = 'P1M2D'", &[0, 3]),
        ("every <> 'P1M2D'", &[2]),
        ("every is null", &[1]),
        ("every is not distinct from 'P3D' or ID = 1", &[1, 2]),
    ] {
        assert_eq!(ids(&["-w", condition, &file]), expected, "{condition}");
    }
    for (condition, code, message) in [
        ("every < 'P1M'", 2, "have no order"),
        ("took > 'soon'", 2, "expected a period such as PT1.5S"),
        ("interval = 1", 2, "a word of SQL in \"quotes\""),
        ("tags = 2", 2, "any(tags)"),
    ] {
        herringbone(&["count", "-w", condition, &file]).fails(code, message);
    }
    let long = format!("id in ({})\n", vec!["3"; 30_000].join(", "));
    let at = format!("@{}", folder.with("long.sql", long));
    assert_eq!(ids(&["-w", &at, &file]), [3]);
}

#[test]
fn conditions_in_files_are_bounded_while_they_are_read() {
    let folder = Folder::new();
    let marked = folder.with("marked.sql", "\u{feff}id < 3\n");
    let plain = herringbone(&["count", "-w", "id < 3", EXAMPLE]).stdout;
    herringbone(&["count", "-w", &format!("@{marked}"), EXAMPLE]).ok(&plain);
    // The mark does not count among the 1,048,576 bytes, and the spaces after the condition do.
    for (bytes, is_allowed) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let text = format!("\u{feff}id < 3{}", " ".repeat(bytes - 6));
        let at = format!("@{}", folder.with("longest.sql", text));
        let run = herringbone(&["count", "-w", &at, EXAMPLE]);
        match is_allowed {
            true => run.ok(&plain),
            false => run.fails(2, "the condition has more than 1048576 bytes"),
        }
    }
    if cfg!(unix) {
        herringbone(&["count", "-w", "@/dev/zero", EXAMPLE])
            .fails(2, "/dev/zero: the condition has more than 1048576 bytes");
    }
}
