//! `--sort-by a,b.c:desc` sorts the rows by these columns.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use herringbone::{SortingColumnOption, WriteOptions};

use super::Size;
use super::columns::{self, Columns};
use crate::args::memory;

/// The options for sorting rows.
#[derive(Debug, Args)]
pub(crate) struct Sort {
    /// Sort rows by these columns of the output, e.g. `a,b.c:desc`
    #[arg(long, value_name = "COL[:desc],…")]
    sort_by: Vec<SortKeys>,
    /// Maximum size of the rows sorted in memory; the others are written to temporary files [default: half of the free
    /// memory of the machine, or of the control group]
    #[arg(long, value_name = "SIZE", requires = "sort_by")]
    sort_memory: Option<Size>,
    /// Folder of the temporary files of --sort-by [default: the folder of OUT, or that of the system]
    #[arg(long, value_name = "FOLDER", requires = "sort_by")]
    sort_folder: Option<PathBuf>,
    /// The option that names the columns. `--key` and `--by` sort too, and errors must name the one
    /// that the user gave.
    #[arg(skip = "--sort-by")]
    pub(crate) option: &'static str,
}

impl Sort {
    /// Returns true if rows are sorted.
    pub(crate) fn is_given(&self) -> bool {
        !self.sort_by.is_empty()
    }

    /// Returns the order by the columns of `--key`.
    pub(crate) fn by_key(columns: &Columns, memory: Option<Size>, folder: Option<PathBuf>) -> Self {
        let keys = columns.paths.iter().map(SortingColumnOption::new);
        Self {
            sort_by: vec![SortKeys(keys.collect())],
            sort_memory: memory,
            sort_folder: folder,
            option: "--key",
        }
    }

    /// Returns this order after the order of the columns of `--by`.
    pub(crate) fn after(&self, columns: &[String]) -> Self {
        let first = columns.iter().map(|name| SortingColumnOption::new([name]));
        let mut sort_by = vec![SortKeys(first.collect())];
        sort_by.extend(self.sort_by.iter().cloned());
        Self {
            sort_by,
            sort_memory: self.sort_memory,
            sort_folder: self.sort_folder.clone(),
            option: "--by",
        }
    }

    /// Applies the user's choice to the options for writing.
    pub(crate) fn choose(&self, options: &mut WriteOptions) {
        let keys = self.sort_by.iter().flat_map(|keys| keys.0.clone());
        options.sort_by = keys.collect();
        options.sort_folder.clone_from(&self.sort_folder);
        let bytes = match self.sort_memory {
            Some(size) => Some(size.0),
            // Only query the machine's memory if there is something to sort.
            None if self.is_given() => memory::for_sorting(),
            None => None,
        };
        if let Some(bytes) = bytes {
            options.sort_memory_bytes = bytes;
        }
    }
}

/// The columns to sort by, with the most significant one first.
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
    let mut rest = text.trim();
    let (mut descending, mut nulls_first) = (false, false);
    loop {
        if let Some(before) = without(rest, [":desc", " desc"]) {
            (rest, descending) = (before, true);
        } else if let Some(before) = without(rest, [":asc", " asc"]) {
            rest = before;
        } else if let Some(before) = without(rest, [":nulls-first", " nulls first"]) {
            (rest, nulls_first) = (before, true);
        } else if let Some(before) = without(rest, [":nulls-last", " nulls last"]) {
            rest = before;
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

/// Strips one of the two endings, if present. The second ending is SQL and case-insensitive.
fn without<'t>(text: &'t str, [short, sql]: [&str; 2]) -> Option<&'t str> {
    let before = text.strip_suffix(short).or_else(|| {
        let (before, end) = text.split_at_checked(text.len().checked_sub(sql.len())?)?;
        end.eq_ignore_ascii_case(sql).then_some(before)
    });
    before.map(str::trim_end)
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
        let sql: SortKeys = "a DESC, b.c asc nulls first".parse().unwrap();
        let short: SortKeys = "a:desc,b.c:nulls-first".parse().unwrap();
        assert_eq!(sql, short);
        for text in ["", "a,", ":desc", "a..b"] {
            assert!(text.parse::<SortKeys>().is_err(), "{text}");
        }
    }
}
