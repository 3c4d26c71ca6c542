//! Tests that `rewrite` writes the same rows to a new file.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::Int8Type;
use herringbone_arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, RecordBatch, Time64MicrosecondArray,
};
use serde_json::Value;

use crate::common::{EXAMPLE, Folder, Run, herringbone, json, path, stdin};

/// Returns a folder, and the path of a file in it.
fn place() -> (Folder, String) {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    (folder, out)
}

fn rewrite(out: &str, options: &[&str]) -> Run {
    herringbone(&[&["rewrite", EXAMPLE, out], options].concat())
}

/// Rewrites the example with these options, checks its rows and returns its metadata.
fn rewritten(options: &[&str]) -> Value {
    let (_folder, out) = place();
    rewrite(&out, options).ok("");
    let rows = herringbone(&["cat", EXAMPLE]).stdout;
    herringbone(&["cat", &out]).ok(&rows);
    json(&herringbone(&["meta", "--indexes", &out]))
}

/// Returns the values at `pointer` in all column chunks of the first row group.
fn chunks<'a>(meta: &'a Value, pointer: &'a str) -> impl Iterator<Item = Option<&'a Value>> {
    let columns = meta["row_groups"][0]["columns"].as_array().unwrap();
    columns.iter().map(move |column| column.pointer(pointer))
}

/// Returns a column's encodings in the first row group.
fn encodings(meta: &Value, column: usize) -> String {
    meta["row_groups"][0]["columns"][column]["meta_data"]["encodings"].to_string()
}

/// Dictionaries are preserved, even if sorting combines the dictionaries of several row groups.
#[test]
fn dictionaries_stay_whole_and_in_order() {
    const ORDERED: &str = "testdata/pyarrow/ordered_dictionary.parquet";
    for options in [&[][..], &["--sort-by", "size"]] {
        let (_folder, out) = place();
        herringbone(&[&["rewrite", ORDERED, &out], options].concat()).ok("");
        let file = herringbone::ParquetFile::open(&out).unwrap();
        let reader = file.read(herringbone::ReadOptions::default()).unwrap();
        for field in &reader.schema().fields()[..2] {
            assert_eq!(field.dict_is_ordered(), Some(true), "{field}");
        }
        for batch in reader {
            for column in &batch.unwrap().columns()[..2] {
                let values = column.as_any_dictionary().values().as_string::<i32>();
                let values: Vec<_> = values.iter().flatten().collect();
                assert_eq!(values, ["small", "medium", "large", "huge"], "{options:?}");
            }
        }
    }
}

#[test]
fn rows_stay_and_the_defaults_are_good() {
    let meta = rewritten(&[]);
    assert_eq!(meta["num_rows"], 24);
    assert_eq!(meta["row_groups"].as_array().unwrap().len(), 1);
    assert!(chunks(&meta, "/meta_data/codec").all(|codec| codec.unwrap() == "ZSTD"));
    // If a chunk has one page, an index would only repeat the chunk's metadata.
    assert!(chunks(&meta, "/offset_index").all(|index| index.is_none()));
    let pages = rewritten(&["--page-rows", "16"]);
    assert!(chunks(&pages, "/offset_index").all(|index| index.is_some()));
    assert!(chunks(&pages, "/column_index").all(|index| index.is_some()));
    assert_eq!(
        meta["row_groups"][0]["columns"][0]["meta_data"]["statistics"]["max_value"]["value"],
        23
    );
}

#[test]
fn codecs_are_chosen_by_column() {
    for (name, codec) in [
        ("none", "UNCOMPRESSED"),
        ("snappy", "SNAPPY"),
        ("gzip", "GZIP"),
        ("brotli:3", "BROTLI"),
        ("lz4_raw", "LZ4_RAW"),
        ("zstd:9", "ZSTD"),
    ] {
        let meta = rewritten(&["--compression", name]);
        assert!(chunks(&meta, "/meta_data/codec").all(|chunk| chunk.unwrap() == codec));
    }
    let meta = rewritten(&[
        "--compression",
        "snappy",
        "--compression",
        "origin,tags=none",
    ]);
    let codecs: Vec<_> = chunks(&meta, "/meta_data/codec").flatten().collect();
    let plain = codecs.iter().filter(|codec| **codec == "UNCOMPRESSED");
    assert_eq!((codecs.len(), plain.count()), (9, 3));
}

#[test]
fn encodings_and_dictionaries() {
    let meta = rewritten(&["--dictionary", "off"]);
    assert!(chunks(&meta, "/meta_data/dictionary_page_offset").all(|chunk| chunk.is_none()));
    let meta = rewritten(&["--dictionary", "off", "--dictionary", "name=on"]);
    assert_eq!(
        chunks(&meta, "/meta_data/dictionary_page_offset")
            .flatten()
            .count(),
        1
    );
    let meta = rewritten(&[
        "--encoding",
        "delta_binary_packed",
        "--encoding",
        "name=delta_byte_array",
    ]);
    assert!(encodings(&meta, 0).contains("DELTA_BINARY_PACKED"));
    assert!(encodings(&meta, 1).contains("DELTA_BYTE_ARRAY"));
    let (_folder, out) = place();
    rewrite(&out, &["--encoding", "name=byte_stream_split"]).fails(2, "name");
}

#[test]
fn sizes_of_row_groups_and_pages() {
    let meta = rewritten(&["--row-group-rows", "10", "--page-rows", "4"]);
    let rows: Vec<_> = meta["row_groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|array| &array["num_rows"])
        .collect();
    assert_eq!(rows, [10, 10, 4]);
    for pages in chunks(&meta, "/offset_index/page_locations") {
        let pages = pages.unwrap().as_array().unwrap().iter();
        let first = |page: &Value| page["first_row_index"].as_u64().unwrap();
        let borders: Vec<u64> = pages.map(first).chain([10]).collect();
        assert!(
            borders.windows(2).all(|page| page[1] - page[0] <= 4),
            "{borders:?}"
        );
    }
    let meta = rewritten(&["--page-bytes", "16", "--dictionary", "off"]);
    let pages = chunks(&meta, "/offset_index/page_locations")
        .next()
        .unwrap();
    assert!(pages.unwrap().as_array().unwrap().len() > 1);
    let meta = rewritten(&[
        "--content-defined-chunking",
        "20..60",
        "--dictionary",
        "off",
    ]);
    let pages = chunks(&meta, "/offset_index/page_locations")
        .next()
        .unwrap();
    assert!(pages.unwrap().as_array().unwrap().len() > 1);
    rewritten(&["--row-group-bytes", "1KiB", "--threads", "1"]);
}

#[test]
fn pages_and_what_goes_with_them() {
    let (_folder, out) = place();
    let pages = |out: &str, field: &str| -> Vec<Value> {
        let listed = herringbone(&["pages", out]).stdout;
        let page = |line: &str| serde_json::from_str::<Value>(line).unwrap()[field].clone();
        listed.lines().map(page).collect()
    };
    for (options, type_) in [
        (&["--page-version", "2"][..], "DATA_PAGE_V2"),
        (&["--compatibility", "modern"], "DATA_PAGE_V2"),
        (
            &["--compatibility", "modern", "--page-version", "1"],
            "DATA_PAGE",
        ),
    ] {
        rewrite(&out, &[options, &["--force"]].concat()).ok("");
        assert!(pages(&out, "type").contains(&type_.into()), "{options:?}");
        assert!(pages(&out, "crc").iter().all(Value::is_number));
    }
    rewrite(&out, &["--force", "--no-crc"]).ok("");
    assert!(pages(&out, "crc").iter().all(Value::is_null));

    let meta = rewritten(&["--no-page-index", "--statistics", "counts"]);
    assert!(chunks(&meta, "/offset_index").all(|chunk| chunk.is_none()));
    assert!(chunks(&meta, "/meta_data/statistics/null_count").all(|chunk| chunk.is_some()));
    assert!(chunks(&meta, "/meta_data/statistics/max_value").all(|chunk| chunk.is_none()));
    let meta = rewritten(&[
        "--bloom-filter",
        "id,origin.country",
        "--bloom-filter-fpp",
        "0.1",
    ]);
    assert_eq!(chunks(&meta, "/bloom_filter_header").flatten().count(), 2);
}

#[test]
fn columns_and_row_groups_are_chosen() {
    let (_folder, out) = place();
    rewrite(
        &out,
        &["--columns", "origin.country,id", "--row-groups", "1"],
    )
    .ok("");
    let run = herringbone(&["head", "-n", "1", &out]);
    run.ok("{\"origin\":{\"country\":\"NO\"},\"id\":16}\n");
    rewrite(&out, &["--force", "--columns", "nope"]).fails(2, "nope");
    for option in [
        "--bloom-filter=nope",
        "--encoding=nope=plain",
        "--dictionary=nope=off",
    ] {
        rewrite(&out, &["--force", option]).fails(2, "there is no column `nope`");
    }
}

#[test]
fn metadata_stay() {
    let (_folder, out) = place();
    let source = "testdata/fastparquet/snappy.parquet";
    let pairs = |file: &str| {
        let meta = json(&herringbone(&["meta", file]));
        let mut pairs: Vec<String> = meta["key_value_metadata"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|pair| pair["key"] != "ARROW:schema")
            .map(ToString::to_string)
            .collect();
        pairs.sort();
        pairs
    };
    herringbone(&["rewrite", source, &out]).ok("");
    assert!(!pairs(source).is_empty());
    assert_eq!(pairs(&out), pairs(source));
}

#[test]
fn nothing_is_overwritten_without_force() {
    let (folder, out) = place();
    std::fs::write(&out, "mine").unwrap();
    rewrite(&out, &[]).fails(2, "the file already exists; --force replaces it");
    assert_eq!(std::fs::read(&out).unwrap(), b"mine");
    rewrite(&out, &["--force"]).ok("");
    herringbone(&["count", &out]).ok("24\n");
    herringbone(&["rewrite", "-f", &out, &out, "--columns", "id"]).ok("");
    herringbone(&["head", "-n", "1", &out]).ok("{\"id\":0}\n");
    assert_eq!(folder.names(), ["out.parquet"]);
    #[cfg(unix)]
    {
        let link = folder.file("link.parquet");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        rewrite(&link, &[]).fails(2, "the file already exists");
    }
}

#[test]
fn an_error_leaves_no_file() {
    let (folder, out) = place();
    let mut bytes = std::fs::read(path(EXAMPLE)).unwrap();
    // This damages a page's body after the first headers.
    for byte in &mut bytes[100..400] {
        *byte ^= 0x55;
    }
    stdin(&["rewrite", "-", &out], &bytes).fails(3, "corrupt file");
    stdin(&["rewrite", "-", &out], b"PAR1").fails(3, "corrupt file");
    herringbone(&["rewrite", "no such file", &out]).fails(4, "no such file: ");
    assert!(folder.names().is_empty());
    rewrite(&folder.file("no such folder/x.parquet"), &[]).fails(4, "no such folder");
    rewrite(&folder.file(""), &[]).code(&[4]);
}

#[test]
fn standard_output_is_a_file_like_others() {
    let run = rewrite("-", &["--columns", "id"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    stdin(&["count", "-"], &run.bytes).ok("24\n");
    #[cfg(target_os = "linux")]
    {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        crate::common::into(&["rewrite", EXAMPLE, "-"], full).fails(4, "standard output: ");
        rewrite("/dev/full", &[]).fails(4, "/dev/full: ");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = crate::common::into(&["rewrite", EXAMPLE, "-"], writer);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

/// In PLAIN, 5,000 INT64 values take 40,000 bytes. All are distinct, so a dictionary does not help.
/// They ascend in steps of 10, so deltas take little more than some headers.
#[test]
fn explain_says_what_was_tried() {
    let (folder, out) = place();
    let numbers: String = (0..5000).map(|i| format!("{}\n", 10 * i)).collect();
    let csv = folder.with("numbers.csv", format!("steps\n{numbers}"));
    let parquet = folder.file("numbers.parquet");
    herringbone(&["convert", &csv, &parquet]).ok("");
    let rewrite = |out: &str, options: &[&str]| {
        let fixed = ["rewrite", &parquet, out, "--force", "--compression", "none"];
        herringbone(&[&fixed, options].concat())
    };
    let run = rewrite(&out, &["--compatibility", "modern", "--explain"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((run.code, lines.len()), (0, 5), "{}", run.stdout);
    assert_eq!(lines[0], "steps");
    let chosen = "  chosen: DELTA_BINARY_PACKED, none, in 1 row group";
    assert_eq!(lines[1], chosen);
    let plain = lines.iter().find(|line| line.contains("PLAIN, none"));
    assert!(plain.unwrap().trim_start().starts_with("40000 bytes"));
    // If the user asks for an encoding, it is used without trying others.
    let asked = rewrite(&out, &["--encoding", "steps=plain", "--explain"]);
    assert!(
        asked.stdout.contains("chosen: PLAIN, none"),
        "{}",
        asked.stdout
    );
    assert!(asked.stdout.contains("no alternatives were sampled"));
    // If the file goes to standard output, the explanation must not be written into it.
    let run = rewrite(&out, &["--compatibility", "modern", "--explain", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let object = json(&run);
    assert_eq!(object["path"], serde_json::json!(["steps"]));
    let chosen = serde_json::json!([
        {"stored_as": "DELTA_BINARY_PACKED", "compression": "none", "row_groups": 1}
    ]);
    assert_eq!(object["chosen"], chosen);
    let sampled = object["sampled"].as_array().unwrap();
    let plain = sampled
        .iter()
        .find(|sampled| sampled["stored_as"] == "PLAIN");
    assert_eq!(plain.unwrap()["bytes"], 40_000);
    rewrite(&out, &["--json"]).fails(2, "--explain");
    let run = rewrite("-", &["--explain"]);
    assert!(run.stderr.contains("steps"), "{}", run.stderr);
    rewrite(&out, &[]).ok("");
}

/// A choice holds for 65,536 values at most, so that each row group of 60,000 values has a sample of its own.
#[test]
fn samples_of_row_groups_are_summed_up() {
    let (folder, out) = place();
    let numbers: String = (0..120_000).map(|i| format!("{}\n", 10 * i)).collect();
    let csv = folder.with("numbers.csv", format!("steps\n{numbers}"));
    let parquet = folder.file("numbers.parquet");
    herringbone(&["convert", &csv, &parquet]).ok("");
    let fixed = ["rewrite", &parquet, &out, "--compression", "none"];
    let options = ["--row-group-rows", "60000", "--explain", "--json"];
    let run = herringbone(&[&fixed[..], &["--compatibility", "modern"], &options].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let object = json(&run);
    assert_eq!(object["chosen"][0]["row_groups"], 2);
    let sampled = object["sampled"].as_array().unwrap();
    let plain = sampled.iter().find(|form| form["stored_as"] == "PLAIN");
    assert_eq!(plain.unwrap()["row_groups"], 2, "{sampled:?}");
}

#[test]
fn options_of_the_table_may_be_for_columns() {
    let options = ["--created-by", "test", "--truncate-bounds", "name=2"];
    let meta = rewritten(&options);
    assert_eq!(meta["created_by"], "test");
    // The greatest name is `juniper`. The least greater text of two bytes ends in the letter after
    // `u`.
    let bounds = chunks(&meta, "/meta_data/statistics/max_value/value");
    let texts: Vec<_> = bounds.flatten().filter_map(Value::as_str).collect();
    assert!(texts.contains(&"jv"), "{texts:?}");
    assert!(texts.contains(&"herb"), "{texts:?}");
    let (_folder, out) = place();
    rewrite(&out, &["--created-by=a", "--page-rows=id=0"]).fails(2, "at least 1");
    rewrite(&out, &["--page-rows", "nope=5"]).fails(2, "nope");
    rewrite(&out, &["--copy", "--dictionary-bytes", "1KiB"]).fails(2, "--copy");
}

#[test]
fn profiles_and_preferences_keep_the_rows() {
    for readers in ["widest", "modern", "newest"] {
        for preference in ["size", "balanced", "reading"] {
            rewritten(&["--compatibility", readers, "--prefer", preference]);
        }
    }
}

/// Writes a file with a decimal that has two digits too many, and with a time of 24:00.
pub(crate) fn out_of_range(name: &str) {
    let decimals = Decimal128Array::from(vec![123, 1_234_567]);
    let times = Time64MicrosecondArray::from(vec![5, 86_400_000_000]);
    let columns: [(&str, ArrayRef); 2] = [
        (
            "d",
            Arc::new(decimals.with_precision_and_scale(5, 2).unwrap()),
        ),
        ("t", Arc::new(times)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::new().allow_out_of_range(true);
    let file = std::fs::File::create(name).unwrap();
    let mut writer = Writer::new(file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn values_out_of_range_are_kept_on_request() {
    let (folder, out) = place();
    let input = folder.file("in.parquet");
    out_of_range(&input);
    let rows = herringbone(&["cat", &input]).stdout;
    assert!(rows.contains("12345.67"), "{rows}");
    for arguments in [
        vec!["rewrite", &input, &out],
        vec!["concat", &input, &input, "-o", &out],
        vec!["convert", &input, &out],
    ] {
        let run = herringbone(&arguments);
        run.fails(3, "the unscaled decimal 1234567 has more digits");
        run.fails(3, "; --allow-out-of-range writes it as it is (column d)");
        let allowed = [&arguments[..], &["--allow-out-of-range", "--force"]].concat();
        herringbone(&allowed).ok("");
        let expected = match arguments[0] {
            "concat" => rows.repeat(2),
            _ => rows.clone(),
        };
        herringbone(&["cat", &out]).ok(&expected);
        std::fs::remove_file(&out).unwrap();
    }
}

/// Row groups of 100 categories each, with keys of 8 bits, become one row group of 200 categories.
#[test]
fn keys_are_wide_enough_for_the_values_of_several_row_groups() {
    let (folder, out) = place();
    let input = folder.file("in.parquet");
    let words = |numbers: std::ops::Range<usize>| -> ArrayRef {
        let words: Vec<String> = numbers.map(|i| format!("word {i}")).collect();
        let words: DictionaryArray<Int8Type> = words.iter().map(String::as_str).collect();
        Arc::new(words)
    };
    let batch = |numbers| RecordBatch::try_from_iter([("c", words(numbers))]).unwrap();
    let options = WriteOptions::new().row_group_rows(100);
    let file = std::fs::File::create(&input).unwrap();
    let mut writer = Writer::new(file, batch(0..1).schema(), options).unwrap();
    writer.write(&batch(0..100)).unwrap();
    writer.write(&batch(100..200)).unwrap();
    writer.finish().unwrap();
    let field = |name: &str| {
        let file = herringbone::ParquetFile::open(name).unwrap();
        let reader = file.read(herringbone::ReadOptions::default()).unwrap();
        reader.schema().field(0).data_type().to_string()
    };
    assert_eq!(field(&input), "Dictionary(Int8, Utf8)");
    herringbone(&["rewrite", &input, &out]).ok("");
    assert_eq!(field(&out), "Dictionary(Int16, Utf8)");
    let rows = herringbone(&["cat", &input]).stdout;
    herringbone(&["cat", &out]).ok(&rows);
    herringbone(&["concat", &input, &input, "-o", &out, "--force"]).ok("");
    assert_eq!(field(&out), "Dictionary(Int16, Utf8)");
    herringbone(&[
        "rewrite",
        &input,
        &out,
        "--force",
        "--row-group-rows",
        "100",
    ])
    .ok("");
    assert_eq!(field(&out), "Dictionary(Int8, Utf8)");
}
