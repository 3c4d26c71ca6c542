//! Makes the names of columns unique.

use std::collections::{HashMap, HashSet};

/// The maximum number of changes listed in a note.
const LISTED: usize = 5;

/// Makes names unique. Also returns a note listing changed names.
///
/// As in duckdb, the second of two equal names gets the suffix `_1`, the third `_2`, and so on. If
/// several names are empty, each becomes `column_N`, where N is the column's number.
pub(super) fn distinct(mut names: Vec<String>) -> (Vec<String>, Option<String>) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let several_empty = names.iter().filter(|name| name.is_empty()).count() > 1;
    if taken.len() == names.len() {
        return (names, None);
    }
    let mut seen = HashSet::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut changes = Vec::new();
    for (at, name) in names.iter_mut().enumerate() {
        let is_nameless = name.is_empty() && several_empty;
        if !is_nameless && seen.insert(name.clone()) {
            continue;
        }
        let column = at + 1;
        let (base, mut new) = match is_nameless {
            true => (format!("column_{column}"), format!("column_{column}")),
            false => (name.clone(), String::new()),
        };
        let number = numbers.entry(base.clone()).or_default();
        while new.is_empty() || !taken.insert(new.clone()) {
            *number += 1;
            new = format!("{base}_{number}");
        }
        if changes.len() <= LISTED {
            changes.push(format!("column {column}, `{name}`, is called `{new}`"));
        }
        *name = new;
    }
    let more = if changes.len() > LISTED {
        "; and so on"
    } else {
        ""
    };
    changes.truncate(LISTED);
    let changes = changes.join("; ");
    let text = format!("the header repeats a name: {changes}{more}");
    (names, Some(text))
}

/// Returns two names that differ only in case, if there are any.
pub(super) fn similar(names: &[String]) -> Option<(&str, &str)> {
    let mut seen = HashMap::new();
    names.iter().find_map(|name| {
        let first = seen.insert(name.to_lowercase(), name.as_str());
        first.map(|first| (first, name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn no_name_is_there_twice() {
        for (given, expected) in [
            ("a,b", "a,b"),
            // duckdb 1.4 calls them a, a_1 and b.
            ("a,a,b", "a,a_1,b"),
            ("a,a,a,b,b", "a,a_1,a_2,b,b_1"),
            // Original names win over generated names.
            ("a,a_1,a,a", "a,a_1,a_2,a_3"),
            ("a,a,a_1,a_1", "a,a_2,a_1,a_1_1"),
            // pandas writes its index without a name.
            (",a", ",a"),
            (",a,", "column_1,a,column_3"),
            (
                ",column_1,,column_3",
                "column_1_1,column_1,column_3_1,column_3",
            ),
        ] {
            assert_eq!(distinct(names(given)).0, names(expected), "{given}");
        }
        let text = distinct(names("a,a,")).1.unwrap();
        let expected = "the header repeats a name: column 2, `a`, is called `a_1`";
        assert_eq!(text, expected);
        let many = distinct(vec!["a".to_owned(); 100_000]);
        assert_eq!(many.0.iter().collect::<HashSet<_>>().len(), 100_000);
        assert!(many.1.unwrap().ends_with("is called `a_5`; and so on"));
    }

    #[test]
    fn names_that_differ_in_case_are_found() {
        assert_eq!(similar(&names("a,b,A")), Some(("a", "A")));
        assert_eq!(similar(&names("a,b,ä,Ä")), Some(("ä", "Ä")));
        assert_eq!(similar(&names("a,b")), None);
    }
}
