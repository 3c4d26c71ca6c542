//! Findings as sentences. Each one points out something that makes a file larger or slower than
//! necessary, along with the command to fix it.
//!
//! | rule | threshold |
//! |---|---|
//! | a dictionary was abandoned | a column of 2 % of the file or more, with both kinds of pages |
//! | small row groups | more than one, and less than 16 MiB on average |
//! | large row groups | one of more than 1 GiB |
//! | no page index | any column chunk of several pages without one |
//! | no bounds | any column chunk of an ordered type without bounds |
//! | weak codec | 10 % of the data or more without a codec, or with gzip, lzo or lz4 |
//! | sorted, but not declared | bounds of two pages or more ascend without overlap |
//! | digits as text | all values are digits without leading zeros |
//! | INT96 | any such column |
//! | small pages | more than 100 in one column and less than 8 KiB on average |
//! | a large footer | 5 % of the file or more, and more than 64 KiB |
//! | nothing but nulls | a column of at least one row |

use super::facts::{Column, Facts};
use super::mend::{Change, command};
use crate::base::plural::size;

const MIB: u64 = 1 << 20;

/// The verb after one name, and after several names.
const HAVE: (&str, &str) = ("has", "have");

/// A finding and the command to fix it.
pub(crate) struct Finding {
    /// The name of the finding's rule, for JSON.
    pub(crate) rule: &'static str,
    pub(crate) text: String,
    pub(crate) command: Option<String>,
}

/// The findings about a file.
pub(crate) struct Findings {
    pub(crate) each: Vec<Finding>,
    /// A single command to fix all findings, if several of them have a command.
    pub(crate) together: Option<String>,
}

/// A rule's findings, as sentences with the changes to make.
type Found = Vec<(String, Vec<Change>)>;

/// A function that checks a file for one rule.
type Rule = fn(&Facts, &mut Found);

/// All rules, most important first.
const RULES: [(&str, Rule); 12] = [
    ("abandoned_dictionary", abandoned_dictionaries),
    ("small_row_groups", small_row_groups),
    ("large_row_groups", large_row_groups),
    ("no_page_index", no_page_index),
    ("no_bounds", no_bounds),
    ("weak_codec", weak_codec),
    ("undeclared_order", undeclared_order),
    ("digits_as_text", digits_as_text),
    ("int96", int96),
    ("small_pages", small_pages),
    ("large_footer", large_footer),
    ("only_nulls", only_nulls),
];

/// Returns the findings of all rules.
pub(crate) fn findings(facts: &Facts) -> Findings {
    let (mut each, mut all) = (Vec::new(), Vec::new());
    for (rule, find) in RULES {
        let mut found = Vec::new();
        find(facts, &mut found);
        for (text, changes) in found {
            let command = command(facts, &changes);
            each.push(Finding {
                rule,
                text,
                command,
            });
            all.extend(changes);
        }
    }
    let commands = each.iter().filter(|finding| finding.command.is_some());
    let together = match commands.count() > 1 {
        true => command(facts, &all),
        false => None,
    };
    Findings { each, together }
}

/// Returns the share of a part in percent.
fn percent(part: u64, all: u64) -> String {
    format!("{:.0} %", part as f64 / all.max(1) as f64 * 100.0)
}

/// Returns the column count and the start of a sentence: the names, followed by the verb `one` or
/// `several`.
fn names<'a>(
    columns: impl Iterator<Item = &'a Column>,
    (one, several): (&str, &str),
) -> (usize, String) {
    let names: Vec<&str> = columns.map(|column| column.path.as_str()).collect();
    let shown: Vec<String> = names
        .iter()
        .take(3)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.len().saturating_sub(3);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let verb = if names.len() == 1 { one } else { several };
    (names.len(), format!("{}{more} {verb}", shown.join(", ")))
}

fn abandoned_dictionaries(facts: &Facts, found: &mut Found) {
    for column in &facts.columns {
        let Some((all, keyed)) = column.pages else {
            continue;
        };
        if keyed == all || column.dictionary == 0 || column.bytes() * 50 < facts.size {
            continue;
        }
        let text = format!(
            "`{}` is {} of the file, and its dictionary was abandoned: {keyed} of {all} data pages use it. It takes {}",
            column.path,
            percent(column.bytes(), facts.size),
            size(column.dictionary.into())
        );
        found.push((text, vec![Change::WithoutDictionary(column.names.clone())]));
    }
}

fn small_row_groups(facts: &Facts, found: &mut Found) {
    let count = facts.groups.len() as u64;
    let bytes: u64 = facts.groups.iter().map(|group| group.compressed).sum();
    let average = bytes / count.max(1);
    if count > 1 && average < 16 * MIB {
        let text = format!(
            "{count} row groups of {} on average are small: readers plan {count} pieces of work, each with its own dictionaries",
            size(average.into())
        );
        found.push((text, vec![Change::Option("--row-group-bytes 128MiB")]));
    }
}

fn large_row_groups(facts: &Facts, found: &mut Found) {
    let largest = facts.groups.iter().map(|group| group.compressed).max();
    if let Some(largest) = largest.filter(|largest| *largest > 1024 * MIB) {
        let text = format!(
            "A row group of {} is large: readers that work on one row group each cannot share it",
            size(largest.into())
        );
        found.push((text, vec![Change::Option("--row-group-bytes 128MiB")]));
    }
}

fn no_page_index(facts: &Facts, found: &mut Found) {
    let lacks = |column: &&Column| column.chunks_with_index < column.chunks;
    let (count, names) = names(facts.columns.iter().filter(lacks), HAVE);
    if count > 0 {
        let text = format!("{names} no page index, so readers cannot skip pages by their bounds");
        found.push((text, vec![Change::Option("--statistics page")]));
    }
}

fn no_bounds(facts: &Facts, found: &mut Found) {
    let lacks = |column: &&Column| {
        let is_empty = column.values == Some(0) || column.nulls == column.values;
        column.chunks_with_bounds < column.chunks
            && !column.is_int96
            && !is_empty
            && column.has_order
    };
    let (count, names) = names(facts.columns.iter().filter(lacks), HAVE);
    if count > 0 {
        let text = format!("{names} no bounds, so readers cannot skip row groups by them");
        found.push((text, vec![Change::Option("--statistics page")]));
    }
}

fn weak_codec(facts: &Facts, found: &mut Found) {
    let weak = ["UNCOMPRESSED", "GZIP", "LZO", "LZ4"];
    let is_weak = |column: &&Column| column.codecs.iter().any(|codec| weak.contains(&&**codec));
    let bytes: u64 = facts
        .columns
        .iter()
        .filter(is_weak)
        .map(Column::bytes)
        .sum();
    let all: u64 = facts.columns.iter().map(Column::bytes).sum();
    if bytes > 0 && bytes * 10 >= all {
        let codecs = facts
            .columns
            .iter()
            .filter(is_weak)
            .flat_map(|column| column.codecs.iter());
        let codecs: std::collections::BTreeSet<&str> = codecs.map(|codec| &**codec).collect();
        let codecs: Vec<&str> = codecs.into_iter().collect();
        let text = format!(
            "{} of the data is stored with {}; zstd is usually smaller, and as fast to read",
            percent(bytes, all),
            codecs.join(" and ")
        );
        found.push((text, vec![Change::Option("--compression zstd:1")]));
    }
}

fn undeclared_order(facts: &Facts, found: &mut Found) {
    let is_declared = |column: &Column| {
        let first = |group: &super::facts::Group| group.sorted_by.first() == Some(&column.path);
        facts.groups.iter().all(first)
    };
    let is_sorted = |column: &&Column| {
        column.ascends && !column.is_in_list && column.nulls == Some(0) && !is_declared(column)
    };
    if let Some(column) = facts.columns.iter().find(is_sorted) {
        let text = format!(
            "Row groups and pages ascend by `{}`, but the file does not say that it is sorted",
            column.path
        );
        found.push((text, vec![Change::Sorted(column.names.clone())]));
    }
}

fn digits_as_text(facts: &Facts, found: &mut Found) {
    let is_cast = |column: &&Column| column.is_digits && column.names.len() == 1;
    for column in facts.columns.iter().filter(is_cast) {
        let text = format!(
            "The text of `{}` is numbers, which are smaller and faster as BIGINT",
            column.path
        );
        found.push((text, vec![Change::Cast(column.names.clone(), "bigint")]));
    }
}

fn int96(facts: &Facts, found: &mut Found) {
    let int96_columns = || facts.columns.iter().filter(|column| column.is_int96);
    let (count, names) = names(int96_columns(), ("is", "are"));
    if count > 0 {
        let text = format!("{names} INT96, which is deprecated and has no bounds; use a timestamp");
        let whole = int96_columns().filter(|column| column.names.len() == 1);
        // Readers treat INT96 as local time, like a timestamp without a zone.
        let casts = whole.map(|column| Change::Cast(column.names.clone(), "timestamp"));
        found.push((text, casts.collect()));
    }
}

fn small_pages(facts: &Facts, found: &mut Found) {
    let is_small = |column: &&Column| {
        let pages = column.boxes.len() as u64;
        pages > 100 && column.data / pages < 8 << 10 && column.uncompressed / pages < 64 << 10
    };
    let (count, names) = names(facts.columns.iter().filter(is_small), HAVE);
    if count > 0 {
        let text = format!(
            "{names} pages of less than 8 KiB on average, which cost a header and an index entry each"
        );
        found.push((text, vec![Change::Option("--page-bytes 1MiB")]));
    }
}

fn large_footer(facts: &Facts, found: &mut Found) {
    if facts.footer > 64 << 10 && facts.footer * 20 >= facts.size {
        let text = format!(
            "The footer is {} ({} of the file), which each reader fetches and decodes first",
            size(facts.footer.into()),
            percent(facts.footer, facts.size)
        );
        let changes = match facts.groups.len() > 1 {
            true => vec![Change::Option("--row-group-bytes 128MiB")],
            false => Vec::new(),
        };
        found.push((text, changes));
    }
}

fn only_nulls(facts: &Facts, found: &mut Found) {
    let is_null = |column: &&Column| {
        column.nulls == column.values && column.values > Some(0) && !column.is_in_list
    };
    for column in facts.columns.iter().filter(is_null).take(10) {
        let text = format!("`{}` has nothing but nulls", column.path);
        found.push((text, vec![Change::Dropped(column.names.clone())]));
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::Group;
    use super::*;

    fn facts() -> Facts {
        let group = |bytes| Group {
            rows: 10,
            compressed: bytes,
            sorted_by: Vec::new(),
        };
        Facts {
            name: "my trips.parquet".into(),
            size: 100 << 20,
            created_by: None,
            version: 2,
            footer: 1000,
            groups: vec![group(50 << 20), group(50 << 20)],
            columns: Vec::new(),
            schema: String::new(),
            keys: Vec::new(),
            faults: Vec::new(),
            more_faults: 0,
            errors: 0,
            warnings: 0,
            unchecked_pages: (0, 0),
            hides_values: false,
            is_verified: true,
        }
    }

    fn column(change: impl FnOnce(&mut Column)) -> Column {
        let mut column = Column {
            path: "a".into(),
            names: vec!["a".into()],
            has_order: true,
            codecs: ["ZSTD".to_owned()].into(),
            values: Some(20),
            nulls: Some(0),
            data: 40 << 20,
            pages: Some((6, 6)),
            chunks: 2,
            chunks_with_index: 2,
            chunks_with_bounds: 2,
            ..Column::default()
        };
        change(&mut column);
        column
    }

    /// Each rule must have exactly one finding about these facts.
    #[test]
    fn each_rule_has_a_finding() {
        assert!(findings(&facts()).each.is_empty());
        let one = |change: &dyn Fn(&mut Facts)| {
            let mut facts = facts();
            facts.columns.push(column(|_| {}));
            assert!(findings(&facts).each.is_empty());
            change(&mut facts);
            let found = findings(&facts).each;
            assert_eq!(
                found.len(),
                1,
                "{:?}",
                found.iter().map(|found| &found.text).collect::<Vec<_>>()
            );
            format!(
                "{} | {}",
                found[0].text,
                found[0].command.as_deref().unwrap_or_default()
            )
        };
        let of = |change: fn(&mut Column)| one(&|facts: &mut Facts| change(&mut facts.columns[0]));
        let text = of(|column| (column.pages, column.dictionary) = (Some((6, 2)), 1 << 20));
        assert!(text.starts_with("`a` is 41 % of the file"), "{text}");
        assert!(text.contains("2 of 6 data pages"), "{text}");
        assert!(
            text.ends_with(
                "| herringbone rewrite 'my trips.parquet' OUT.parquet --dictionary a=off"
            ),
            "{text}"
        );
        let small = |facts: &mut Facts| {
            facts
                .groups
                .iter_mut()
                .for_each(|group| group.compressed = 4 << 20)
        };
        assert!(one(&small).starts_with("2 row groups of 4.0 MiB on average"));
        assert!(one(&|facts| facts.groups[0].compressed = 3 << 30).contains("3.0 GiB is large"));
        assert!(of(|column| column.chunks_with_index = 1).contains("no page index"));
        assert!(of(|column| column.chunks_with_bounds = 1).contains("no bounds"));
        assert!(
            of(|column| column.codecs = ["GZIP".to_owned()].into())
                .contains("100 % of the data is stored with GZIP")
        );
        assert!(of(|column| column.ascends = true).ends_with("--sort-by a"));
        let digits = of(|column| column.is_digits = true);
        assert!(digits.ends_with("-c a:bigint"), "{digits}");
        assert!(of(|column| column.is_int96 = true).ends_with("-c a:timestamp"));
        assert!(one(&|facts| facts.footer = 10 << 20).contains("10 % of the file"));
        assert!(of(|column| column.nulls = Some(20)).ends_with("-c '!a'"));
        let pages = of(|column| {
            column.data = 3 << 20;
            column.boxes = (0..400).map(|_| page()).collect();
        });
        assert!(pages.contains("less than 8 KiB"), "{pages}");
    }

    #[test]
    fn casts_keep_the_places_of_all_columns() {
        let mut facts = facts();
        for (names, is_cast) in [
            (&["a"][..], false),
            (&["d"], true),
            (&["s", "x"], false),
            (&["s", "y"], false),
            (&["the o"], true),
            (&["n"], false),
        ] {
            facts.columns.push(column(|column| {
                column.names = names.iter().map(|name| (*name).to_owned()).collect();
                (column.path, column.is_int96) = (names.join("."), is_cast);
            }));
        }
        let found = findings(&facts).each;
        let command = found[0].command.as_deref().unwrap();
        let columns = "-c 'a, d:timestamp, s, \"the o\":timestamp, n'";
        assert!(command.ends_with(columns), "{command}");
    }

    /// The facts have a column without values, a text column of digits, and two findings that need
    /// the same option.
    #[test]
    fn one_command_mends_all_findings() {
        let mut facts = facts();
        for (names, change) in [
            (
                &["id"][..],
                (|column| column.ascends = true) as fn(&mut Column),
            ),
            (&["s", "x"], |column| column.nulls = Some(20)),
            (&["s", "y"], |column| column.chunks_with_index = 0),
            (&["zip"], |column| column.is_digits = true),
            (&["none"], |column| column.nulls = Some(20)),
            (&["z"], |column| column.chunks_with_bounds = 0),
        ] {
            facts.columns.push(column(|column| {
                column.names = names.iter().map(|name| (*name).to_owned()).collect();
                column.path = names.join(".");
                change(column);
            }));
        }
        let found = findings(&facts);
        assert_eq!(found.each.len(), 6);
        assert_eq!(
            found.together.unwrap(),
            "herringbone rewrite 'my trips.parquet' OUT.parquet --statistics page --sort-by id \
             -c 'id, s.y, zip:bigint, z'"
        );
        facts.columns.truncate(1);
        assert!(findings(&facts).together.is_none());
    }

    /// Asserts that changed facts give no finding.
    fn none(name: &str, change: &dyn Fn(&mut Facts)) {
        let mut facts = facts();
        facts.columns.push(column(|_| {}));
        change(&mut facts);
        let found = findings(&facts).each;
        let found: Vec<&str> = found.iter().map(|found| found.text.as_str()).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }

    /// Asserts that a changed column gives no finding.
    fn of(name: &str, change: fn(&mut Column)) {
        none(name, &|facts: &mut Facts| change(&mut facts.columns[0]));
    }

    /// These facts are at the threshold of each rule about storage and bounds, just inside the
    /// limit.
    #[test]
    fn thresholds_of_storage_are_those_of_the_table() {
        let sizes = |facts: &mut Facts, bytes: &[u64]| {
            facts.groups.truncate(bytes.len());
            let groups = facts.groups.iter_mut().zip(bytes);
            groups.for_each(|(group, bytes)| group.compressed = *bytes);
        };
        // 2 % of the file are 2 MiB.
        of("a small column", |column| {
            (column.pages, column.dictionary, column.data) = (Some((6, 2)), 1 << 20, (1 << 20) - 1);
        });
        of("no dictionary", |column| column.pages = Some((6, 0)));
        of("all pages use the dictionary", |column| {
            column.dictionary = 1 << 20
        });
        none("16 MiB", &|column| sizes(column, &[15 << 20, 17 << 20]));
        none("one row group", &|column| sizes(column, &[1 << 20]));
        none("1 GiB", &|column| sizes(column, &[1 << 30, 1 << 30]));
        // This is 4 of 44 MiB.
        none("a weak codec of a small column", &|facts| {
            facts.columns.push(column(|column| {
                (column.codecs, column.data) = (["GZIP".to_owned()].into(), 4 << 20);
            }));
        });
        of("a type without an order", |column| {
            (column.chunks_with_bounds, column.has_order) = (0, false);
        });
        of("no values", |column| {
            (column.values, column.nulls, column.chunks_with_bounds) = (Some(0), Some(0), 0);
        });
    }

    /// These facts are at the threshold of each rule about order, text, pages and nulls, just
    /// inside the limit.
    #[test]
    fn thresholds_of_values_are_those_of_the_table() {
        none("a declared order", &|facts| {
            facts.columns[0].ascends = true;
            facts
                .groups
                .iter_mut()
                .for_each(|group| group.sorted_by = vec!["a".into()]);
        });
        of("nulls between ascending bounds", |column| {
            (column.ascends, column.nulls) = (true, Some(1))
        });
        of("lists that ascend", |column| {
            (column.ascends, column.is_in_list) = (true, true)
        });
        of("digits in a struct", |column| {
            column.path = "a.b".into();
            (column.names, column.is_digits) = (vec!["a".into(), "b".into()], true);
        });
        let pages = |count: usize, data: u64, uncompressed: u64| {
            none("pages", &|facts| {
                let column = &mut facts.columns[0];
                column.boxes = (0..count).map(|_| page()).collect();
                (column.data, column.uncompressed) = (data, uncompressed);
            });
        };
        pages(100, 100, 100);
        pages(200, 200 * (8 << 10), 200);
        pages(200, 200, 200 * (64 << 10));
        none("a footer of 64 KiB", &|facts| {
            (facts.footer, facts.size) = (64 << 10, 1 << 10)
        });
        none("a footer below 5 %", &|facts| facts.footer = (5 << 20) - 1);
        of("nulls in a list", |column| {
            (column.nulls, column.is_in_list) = (Some(20), true)
        });
        of("unknown counts", |column| {
            (column.nulls, column.values) = (None, None)
        });
    }

    fn page() -> super::super::facts::PageBox {
        super::super::facts::PageBox {
            first_row: 0,
            rows: 1,
            bytes: 1,
            nulls: None,
            min: None,
            max: None,
            span: None,
        }
    }
}
