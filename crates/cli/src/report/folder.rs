//! The report about a directory, with its files, their differing columns, and totals. It only reads
//! footers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use super::facts::sql_type;
use super::findings::{Finding, Findings};
use super::html::{document, push_findings, push_summary, section};
use super::markup::escaped;
use crate::base::failure::Result;
use crate::base::plural::{counted, size};
use crate::base::printable::printable;
use crate::base::shell::word;
use crate::input::Input;
use crate::render::table::shown;

/// The minimum average file size in bytes. Below this, a directory has too many small files.
const SMALL_FILE: u64 = 16 << 20;

/// The maximum number of files in the table.
const FILES: usize = 1000;

/// The maximum number of differences named in a sentence or cell.
const DIFFERENCES: usize = 3;

/// Columns by path, with their types.
type Columns = BTreeMap<String, String>;

/// The facts about a directory.
pub(crate) struct Folder {
    pub(crate) name: String,
    files: Vec<File>,
    /// The files' distinct schemas.
    schemas: Vec<Schema>,
}

/// A file in a directory.
struct File {
    name: String,
    size: u64,
    rows: u64,
    row_groups: u64,
    footer: u64,
    codecs: BTreeSet<String>,
    created_by: String,
    /// The index of the file's schema.
    schema: usize,
}

/// A schema shared by some of the files.
struct Schema {
    columns: Columns,
    files: u64,
}

/// A schema's differences from the most common schema.
#[derive(Debug, Default, PartialEq)]
struct Differences {
    missing: Vec<String>,
    more: Vec<String>,
    types: Vec<String>,
}

impl Folder {
    /// Gathers the facts about the files of a directory or pattern. They all come from footers.
    ///
    /// # Errors
    /// Fails if a file cannot be opened.
    pub(crate) fn of(name: &str, inputs: &[Input]) -> Result<Self> {
        let mut folder = Self {
            name: name.to_owned(),
            files: Vec::with_capacity(inputs.len()),
            schemas: Vec::new(),
        };
        let mut known: HashMap<Columns, usize> = HashMap::new();
        for input in inputs {
            let file = input.open()?;
            let (metadata, schema) = (file.metadata(), file.parquet_schema());
            let leaves = 0..schema.leaves().len();
            let columns: Columns = leaves
                .map(|leaf| (schema.column_path(leaf), sql_type(&file, leaf)))
                .collect();
            let at = *known.entry(columns).or_insert_with_key(|columns| {
                folder.schemas.push(Schema {
                    columns: columns.clone(),
                    files: 0,
                });
                folder.schemas.len() - 1
            });
            if let Some(schema) = folder.schemas.get_mut(at) {
                schema.files += 1;
            }
            let mut described = File {
                name: below(name, &input.name).to_owned(),
                size: input.size,
                rows: 0,
                row_groups: metadata.num_row_groups() as u64,
                footer: metadata.encoded_len() as u64,
                codecs: BTreeSet::new(),
                created_by: metadata.created_by().unwrap_or("unknown").to_owned(),
                schema: at,
            };
            for row_group in 0..metadata.num_row_groups() {
                let header = metadata
                    .row_group_header(row_group)
                    .map_err(|error| input.failure(&error))?;
                described.rows += u64::try_from(header.num_rows).unwrap_or(0);
                for leaf in 0..metadata.num_columns(row_group) {
                    let chunk = metadata
                        .column_chunk(row_group, leaf)
                        .map_err(|error| input.failure(&error))?;
                    let codec = chunk.meta_data.map(|data| data.codec.to_string());
                    described.codecs.extend(codec);
                }
            }
            folder.files.push(described);
        }
        Ok(folder)
    }

    fn sum(&self, of: impl Fn(&File) -> u64) -> u64 {
        self.files.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Returns the most common schema.
    fn usual(&self) -> Option<&Schema> {
        // `max_by_key` returns the last maximum, so we go backwards to let the first schema win a
        // tie.
        self.schemas.iter().rev().max_by_key(|schema| schema.files)
    }

    /// Returns the findings of the rules for directories.
    pub(crate) fn findings(&self) -> Findings {
        let mut each = Vec::new();
        let directory = word(&self.name);
        let (count, bytes) = (self.files.len() as u64, self.sum(|file| file.size));
        let average = bytes / count.max(1);
        let by_name = if self.schemas.len() > 1 {
            " --by-name"
        } else {
            ""
        };
        let has_types = self.differences().any(|(_, found)| !found.types.is_empty());
        let cast = if has_types { " --cast" } else { "" };
        let concat = format!("herringbone concat {directory} -o OUT.parquet{by_name}{cast}");
        if count > 1 && average < SMALL_FILE {
            each.push(Finding {
                rule: "small_files",
                text: format!(
                    "{count} files of {} on average are small: readers open each, and read its footer first",
                    size(average.into())
                ),
                command: Some(concat.clone()),
            });
        }
        if let Some(usual) = self.usual().filter(|_| self.schemas.len() > 1) {
            let mut named: Vec<String> = Vec::new();
            for (_, found) in self.differences() {
                named.extend(found.sentences());
            }
            named.sort_unstable();
            named.dedup();
            each.push(Finding {
                rule: "different_columns",
                text: format!(
                    "{} of {count} files have other columns than most: {}",
                    count - usual.files,
                    first(&named)
                ),
                command: Some(concat),
            });
        }
        Findings {
            each,
            together: None,
        }
    }

    /// Returns all schemas other than the most common, with their differences from it.
    fn differences(&self) -> impl Iterator<Item = (&Schema, Differences)> {
        let usual = self.usual();
        let others = self.schemas.iter();
        others.filter_map(move |schema| {
            let found = Differences::of(&usual?.columns, &schema.columns);
            (found != Differences::default()).then_some((schema, found))
        })
    }

    /// Returns the page about the directory as HTML.
    pub(crate) fn page(&self, findings: &Findings) -> String {
        let mut main = String::new();
        let bytes = self.sum(|file| file.size);
        let row_groups = self.sum(|file| file.row_groups);
        let average = bytes / (self.files.len() as u64).max(1);
        let columns = self.usual().map_or(0, |usual| usual.columns.len());
        push_summary(
            &mut main,
            &[
                ("files", self.files.len().to_string()),
                ("size", format!("{} ({bytes} bytes)", size(bytes.into()))),
                ("average file", size(average.into())),
                ("rows", self.sum(|file| file.rows).to_string()),
                ("row groups", row_groups.to_string()),
                ("columns", columns.to_string()),
                ("footers", size(self.sum(|file| file.footer).into())),
            ],
        );
        push_findings(&mut main, findings);
        section(&mut main, "files", "Files", &self.files_table());
        if self.schemas.len() > 1 {
            section(&mut main, "schemas", "Columns", &self.schemas_table());
        }
        main.push_str(
            "<p class=\"note\">Only footers were read. <code>herringbone verify</code> compares the pages of all files \
             with them, and <code>herringbone report</code> of one file has its columns and pages.</p>\n",
        );
        document(&self.name, &main)
    }

    /// Returns the table of files, largest first.
    fn files_table(&self) -> String {
        let mut out = String::from(
            "<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>file</th>\
             <th aria-sort=\"descending\">bytes</th><th>rows</th><th>row groups</th><th>codec</th>\
             <th>differs in</th><th>created by</th></tr></thead><tbody>",
        );
        let mut files: Vec<&File> = self.files.iter().collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.size));
        let number = |number: u64, text: &str| {
            format!("<td class=\"number\" data-value=\"{number}\">{text}</td>")
        };
        let usual = self.usual();
        let differs: Vec<String> = self
            .schemas
            .iter()
            .map(|schema| {
                let found = usual.map(|usual| Differences::of(&usual.columns, &schema.columns));
                first(&found.unwrap_or_default().sentences())
            })
            .collect();
        for file in files.iter().take(FILES) {
            let codecs: Vec<&str> = file.codecs.iter().map(String::as_str).collect();
            let differs = differs.get(file.schema).map_or("", String::as_str);
            _ = write!(
                out,
                "<tr><th scope=\"row\">{}</th>{}{}{}<td class=\"words\">{}</td><td>{}</td><td>{}</td></tr>",
                escaped(&shown(&file.name)),
                number(file.size, &size(file.size.into())),
                number(file.rows, &file.rows.to_string()),
                number(file.row_groups, &file.row_groups.to_string()),
                escaped(&codecs.join(" ")),
                escaped(&printable(differs)),
                escaped(&shown(&file.created_by)),
            );
        }
        out.push_str("</tbody></table></div>");
        if files.len() > FILES {
            let more = files.len() - FILES;
            _ = write!(out, "<p>{} more.</p>", counted(more as u64, "smaller file"));
        }
        out
    }

    /// Returns the table of schemas other than the most common.
    fn schemas_table(&self) -> String {
        let mut out = String::from(
            "<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>files</th><th>first file</th>\
             <th>without</th><th>with</th><th>other types</th></tr></thead><tbody>",
        );
        for (schema, found) in self.differences().take(FILES) {
            let is_of = |file: &&File| {
                let own = self.schemas.get(file.schema);
                own.is_some_and(|own| std::ptr::eq(own, schema))
            };
            let file = self.files.iter().find(is_of);
            let cell = |names: &[String]| escaped(&printable(&first(names)));
            _ = write!(
                out,
                "<tr><td class=\"number\" data-value=\"{0}\">{0}</td><td>{1}</td><td>{2}</td><td>{3}</td><td>{4}</td></tr>",
                schema.files,
                escaped(&shown(file.map_or("", |file| &file.name))),
                cell(&found.missing),
                cell(&found.more),
                cell(&found.types),
            );
        }
        out.push_str("</tbody></table></div>");
        out
    }
}

impl Differences {
    fn of(usual: &Columns, other: &Columns) -> Self {
        let mut found = Self::default();
        for (path, data_type) in usual {
            match other.get(path) {
                None => found.missing.push(path.clone()),
                Some(other) if other != data_type => {
                    found
                        .types
                        .push(format!("{path} is {other}, not {data_type}"));
                }
                Some(_) => {}
            }
        }
        let more = other.keys().filter(|path| !usual.contains_key(*path));
        found.more = more.cloned().collect();
        found
    }

    fn sentences(&self) -> Vec<String> {
        let missing = self.missing.iter().map(|path| format!("{path} is missing"));
        let more = self.more.iter().map(|path| format!("{path} is added"));
        missing
            .chain(more)
            .chain(self.types.iter().cloned())
            .collect()
    }
}

/// Returns a file's path below its directory.
fn below<'a>(folder: &str, file: &'a str) -> &'a str {
    let rest = file.strip_prefix(folder.trim_end_matches('/'));
    rest.and_then(|rest| rest.strip_prefix('/')).unwrap_or(file)
}

/// Lists the first differences and counts the rest.
fn first(named: &[String]) -> String {
    let shown = named.get(..DIFFERENCES).unwrap_or(named).join(", ");
    match named.len().saturating_sub(DIFFERENCES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
