//! `--sort-by a,b.c:desc`: the columns to sort rows by.

use std::str::FromStr;

use herringbone::SortingColumnOption;

use super::columns::{self, Columns};

/// Columns, most significant first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortKeys(pub(crate) Vec<SortingColumnOption>);

impl FromStr for SortKeys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        columns::elements(text)
            .into_iter()
            .map(key)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn key(text: &str) -> Result<SortingColumnOption, String> {
    let mut rest = text;
    let (mut descending, mut nulls_first) = (false, false);
    loop {
        if let Some(before) = rest.strip_suffix(":desc") {
            (rest, descending) = (before, true);
        } else if let Some(before) = rest.strip_suffix(":nulls-first") {
            (rest, nulls_first) = (before, true);
        } else {
            break;
        }
    }
    let path = rest.parse::<Columns>()?.paths.into_iter().next();
    let path = path.ok_or("a column name is empty")?;
    Ok(SortingColumnOption::new(path)
        .descending(descending)
        .nulls_first(nulls_first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_directions() {
        let keys: SortKeys = r#"a,b.c:desc,"x,y:desc":nulls-first:desc"#.parse().unwrap();
        let seen: Vec<_> = keys
            .0
            .iter()
            .map(|key| (key.path.join("/"), key.descending, key.nulls_first))
            .collect();
        assert_eq!(
            seen,
            [
                ("a".into(), false, false),
                ("b/c".into(), true, false),
                ("x,y:desc".into(), true, true)
            ]
        );
        for text in ["", "a,", ":desc", "a..b"] {
            assert!(text.parse::<SortKeys>().is_err(), "{text}");
        }
    }
}
