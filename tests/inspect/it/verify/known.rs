//! Verifies files by other writers that have known faults. We checked each expected finding by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use herringbone::ParquetFile;

use crate::files;
use crate::table::without_panic;

/// Returns the contents of `tests/expected/findings.txt`, which are files and their findings. The names of
/// parquet-testing files start with `data/` or similar, and all others with `testdata/`.
fn expected() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(files::expected().join("findings.txt")).unwrap();
    let mut expected = BTreeMap::<String, Vec<String>>::new();
    let mut findings = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => findings = Some(expected.entry(line.to_owned()).or_default()),
            Some(finding) => findings.as_mut().unwrap().push(finding.to_owned()),
        }
    }
    expected
}

/// Returns the findings in a file, or the reason why it is unreadable. Equal findings in several columns or pages are
/// one line with their count. Numbers in these messages are omitted.
fn found(path: &std::path::Path) -> Vec<String> {
    let source = herringbone::source::FileSource::open(path).unwrap();
    let file = match ParquetFile::from_source(source, herringbone::Limits::default()) {
        Ok(file) => file,
        Err(error) => return vec![format!("unreadable: {error}")],
    };
    let mut lines = BTreeMap::<String, (usize, String)>::new();
    for finding in herringbone_inspect::verify(&file) {
        let finding = finding.unwrap();
        let message: String = finding
            .message
            .chars()
            .map(|it| if it.is_ascii_digit() { '0' } else { it })
            .collect();
        let key = format!("{} {} {message}", finding.severity, finding.kind);
        lines.entry(key).or_insert((0, finding.to_string())).0 += 1;
    }
    let line = |(count, first): (usize, String)| match count {
        1 => first,
        count => format!("{count} like {first}"),
    };
    lines.into_values().map(line).collect()
}

fn check(paths: Vec<(String, PathBuf)>, prefix: impl Fn(&str) -> bool) {
    let mut expected = expected();
    expected.retain(|name, _| prefix(name));
    let mut wrong = Vec::new();
    for (name, path) in paths {
        let wanted = expected.remove(&name).unwrap_or_default();
        match without_panic(|| Ok::<_, herringbone::Error>(found(&path))) {
            Err(panic) => wrong.push(format!("{name}\n  panic: {panic}")),
            Ok(Ok(found)) if found != wanted => {
                wrong.push(format!("{name}\n  {}", found.join("\n  ")));
            }
            Ok(_) => {}
        }
    }
    wrong.extend(expected.keys().map(|name| format!("{name}: no such file")));
    assert!(wrong.is_empty(), "found:\n{}", wrong.join("\n"));
}

#[test]
fn official_files() {
    let Some(folder) = files::official() else {
        return;
    };
    let mut paths = Vec::new();
    for part in ["data", "data/geospatial", "bad_data", "shredded_variant"] {
        for path in files::parquet_files(&folder.join(part)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            paths.push((format!("{part}/{name}"), path));
        }
    }
    check(paths, |name| !name.starts_with("testdata/"));
}

#[test]
fn generated_files() {
    let named = |path: PathBuf| (format!("testdata/{}", files::short(&path)), path);
    let paths = files::generated().into_iter().map(named).collect();
    check(paths, |name| name.starts_with("testdata/"));
}

/// Every hostile file has a finding, except files whose values only exceed the Arrow type.
#[test]
fn hostile_files() {
    let sound: Vec<String> = files::parquet_files(&files::testdata().join("hostile"))
        .into_iter()
        .filter(|path| found(path).is_empty())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let wanted = [
        // These files have values that do not fit in the Arrow type.
        "int96_beyond_nanoseconds",
        "interval_beyond_arrow",
        "null_fixed_of_2g",
        "null_lists_of_1000",
        "null_lists_of_2g",
    ];
    assert_eq!(sound, wanted);
}

#[test]
fn levels_that_make_no_lists() {
    let has = |name: &str, start: &str| {
        let lines = found(&files::testdata().join(format!("hostile/{name}.parquet")));
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{lines:?}"
        );
    };
    has(
        "second_element_of_a_null_list",
        "error nesting: 1 levels continue lists without elements (",
    );
    for name in ["siblings_disagree_on_lists", "siblings_disagree_on_nulls"] {
        has(
            name,
            "error nesting: its lists or nulls differ from those of `",
        );
    }
}
