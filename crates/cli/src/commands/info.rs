//! `info` prints a summary of a file.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use herringbone::ParquetFile;
use herringbone::format::{ColumnMetaData, FileMetadata};
use herringbone::schema::ParquetSchema;

use serde_json::Value;

use crate::base::failure::Result;
use crate::base::plural::{counted, size};
use crate::base::printable::{json_line, printable};
use crate::base::type_name::type_name;
use crate::describe::chunk::dictionary_pages;
use crate::describe::schema::type_of;
use crate::describe::{Object, geometry, nulls};
use crate::encryption::Summary;
use crate::input::{Input, by_table};
use crate::output::Output;
use crate::render::table::{Header, print_list, shown};

/// The table's columns.
const HEADER: Header<'_> = Header {
    names: &[
        "column",
        "type",
        "codec",
        "encodings",
        "in dictionary",
        "nulls",
        "compressed",
        "uncompressed",
    ],
    keys: &[],
    numbers: &[4, 5, 6, 7],
    spare: &[5, 4, 3, 2],
};

/// Prints a paragraph and a table of columns for each file.
pub(crate) fn run(inputs: &[Input], is_json: bool, output: &mut Output<'_>) -> Result<()> {
    if is_json {
        return inputs.iter().try_for_each(|input| {
            let file = input.open()?;
            let line = json(input, &file).map_err(|error| input.failure(&error))?;
            output.line(&json_line(&line.into()))
        });
    }
    for (at, table) in by_table(inputs).enumerate() {
        if at > 0 {
            output.write(b"\n")?;
        }
        let input = match table {
            [input] if input.member.is_none() => input,
            _ => {
                folder(table, output)?;
                continue;
            }
        };
        let file = match input.open() {
            Ok(file) => file,
            Err(failure) => {
                output.write(without_keys(input)?.as_bytes())?;
                return Err(failure);
            }
        };
        let encryption = Summary::of(&file).map_err(|error| input.failure(&error))?;
        let columns = columns(&file).map_err(|error| input.failure(&error))?;
        let mut text = paragraph(input, &file, &columns, encryption.as_ref());
        let geometries = geometry::lines(&file).map_err(|error| input.failure(&error))?;
        for line in geometries {
            push_line(&mut text, "geometries", &shown(&line));
        }
        output.write(text.as_bytes())?;
        let names = HEADER.names.iter().copied();
        let names = names.chain(encryption.as_ref().map(|_| "encrypted"));
        let names: Vec<&str> = names.collect();
        let mut rows: Vec<Vec<String>> =
            columns.iter().map(|column| column.cells().into()).collect();
        let keys = encryption.iter().flat_map(|encryption| &encryption.columns);
        for (row, key) in rows.iter_mut().zip(keys) {
            row.push(key.text().into());
        }
        let header = Header {
            names: &names,
            keys: &[],
            ..HEADER
        };
        print_list(&header, rows, output)?;
    }
    Ok(())
}

/// Prints a paragraph and a table of columns for a folder, adding up its files.
fn folder(table: &[Input], output: &mut Output<'_>) -> Result<()> {
    let Some(member) = table.first().and_then(|input| input.member.as_ref()) else {
        return Ok(());
    };
    let (mut all, mut places): (Vec<Column>, HashMap<String, usize>) = Default::default();
    let (mut rows, mut row_groups, mut metadata) = (0_i128, 0_i128, 0_i128);
    let mut written = BTreeSet::new();
    for input in table {
        let file = input.open()?;
        rows += i128::from(file.metadata().num_rows_of_row_groups());
        row_groups += file.metadata().num_row_groups() as i128;
        metadata += file.metadata().encoded_len() as i128;
        written.extend(file.metadata().created_by().map(shown));
        for column in columns(&file).map_err(|error| input.failure(&error))? {
            let next = all.len();
            match places.entry(column.path.clone()) {
                Entry::Occupied(place) => {
                    if let Some(sum) = all.get_mut(*place.get()) {
                        sum.merge(column);
                    }
                }
                Entry::Vacant(place) => {
                    place.insert(next);
                    all.push(column);
                }
            }
        }
    }
    let mut out = String::new();
    let mut line = |name: &str, value: String| push_line(&mut out, name, &value);
    line("folder", printable(&member.folder.name));
    line("files", table.len().to_string());
    let sizes = table.iter().map(|input| i128::from(input.size));
    line("size", bytes(sizes.sum()));
    line("rows", rows.to_string());
    line("row groups", row_groups.to_string());
    line("columns", all.len().to_string());
    let in_path: Vec<String> = member
        .folder
        .partition_columns()
        .map(|field| format!("{} ({})", shown(field.name()), type_name(field)))
        .collect();
    if !in_path.is_empty() {
        line("in paths", in_path.join(", "));
    }
    line(
        "compressed",
        bytes(all.iter().map(|column| column.compressed).sum()),
    );
    line(
        "uncompressed",
        bytes(all.iter().map(|column| column.uncompressed).sum()),
    );
    line("metadata", bytes(metadata));
    for writer in written {
        line("created by", writer);
    }
    output.write(out.as_bytes())?;
    let rows = all.iter().map(|column| column.cells().into()).collect();
    print_list(&HEADER, rows, output)
}

/// Returns a file's summary as an object.
fn json(input: &Input, file: &ParquetFile) -> herringbone::Result<Object> {
    let metadata = file.metadata();
    let columns = columns(file)?.into_iter().map(|column| {
        let (pages, keyed) = column.pages.unzip();
        let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>();
        Value::from(
            Object::new()
                .with("path", column.path)
                .with("type", column.type_)
                .with("codecs", list(column.codecs))
                .with("encodings", list(column.encodings))
                .some("data_pages", pages)
                .some("dictionary_data_pages", keyed)
                .some("null_count", column.nulls)
                .some("compressed_size", i64::try_from(column.compressed).ok())
                .some("uncompressed_size", i64::try_from(column.uncompressed).ok())
                .with("is_encrypted", column.encrypted),
        )
    });
    let columns: Vec<Value> = columns.collect();
    let keys = metadata.key_value_metadata().iter();
    let keys = keys.map(|pair| pair.key.to_string());
    let rows = (0..metadata.num_row_groups()).map(|at| Ok(metadata.row_group_header(at)?.num_rows));
    Ok(Object::new()
        .with("file", input.name.as_str())
        .with("file_size", input.size)
        .with("num_rows", metadata.num_rows_of_row_groups())
        .with(
            "rows_of_row_groups",
            rows.collect::<herringbone::Result<Vec<i64>>>()?,
        )
        .with("metadata_size", metadata.encoded_len())
        .with("version", metadata.version())
        .some("created_by", metadata.created_by())
        .with("keys", keys.collect::<Vec<_>>())
        .with("columns", columns))
}

/// Returns a summary of a file with an encrypted footer that we can't open, or an empty text for
/// any other file.
fn without_keys(input: &Input) -> Result<String> {
    let source = input.source().map_err(|error| input.failure(&error))?;
    let Ok(Some(encryption)) = Summary::of_encrypted_footer(&*source, input.limits()) else {
        return Ok(String::new());
    };
    let mut out = String::new();
    push_line(&mut out, "file", &printable(&input.name));
    push_line(&mut out, "size", &bytes(i128::from(input.size)));
    for (name, value) in encryption.lines() {
        push_line(&mut out, name, &value);
    }
    Ok(out)
}

fn push_line(out: &mut String, name: &str, value: &str) {
    _ = writeln!(out, "{name:<13}{value}");
}

/// The sums over all column chunks of a leaf.
struct Column {
    path: String,
    type_: String,
    codecs: BTreeSet<String>,
    encodings: BTreeSet<String>,
    /// The number of data pages, in total and with dictionary keys. `None` if any column chunk
    /// doesn't state them.
    pages: Option<(u64, u64)>,
    /// The null count, or `None` if any column chunk doesn't state it.
    nulls: Option<u64>,
    compressed: i128,
    uncompressed: i128,
    encrypted: bool,
}

impl Column {
    fn add(&mut self, (schema, leaf): (&ParquetSchema, usize), data: &ColumnMetaData) {
        self.codecs.insert(data.codec.to_string());
        self.encodings
            .extend(data.encodings.iter().map(ToString::to_string));
        let nulls = nulls::of_chunk(schema, leaf, data).nulls;
        self.nulls = self
            .nulls
            .zip(nulls)
            .and_then(|(sum, more)| sum.checked_add(more));
        let pages = dictionary_pages(data);
        self.pages = self
            .pages
            .zip(pages)
            .map(|((all, keyed), (pages, more))| (all + pages, keyed + more));
        self.compressed += i128::from(data.total_compressed_size);
        self.uncompressed += i128::from(data.total_uncompressed_size);
    }

    /// Adds the sums of another file. If the column has another type there, it shows both.
    fn merge(&mut self, other: Self) {
        if !self.type_.split(" or ").any(|part| part == other.type_) {
            self.type_ += &format!(" or {}", other.type_);
        }
        self.codecs.extend(other.codecs);
        self.encodings.extend(other.encodings);
        let sum = |one: u64, more: u64| one.saturating_add(more);
        self.nulls = self
            .nulls
            .zip(other.nulls)
            .map(|(one, more)| sum(one, more));
        self.pages = self
            .pages
            .zip(other.pages)
            .map(|(one, more)| (sum(one.0, more.0), sum(one.1, more.1)));
        self.compressed += other.compressed;
        self.uncompressed += other.uncompressed;
        self.encrypted |= other.encrypted;
    }

    fn cells(&self) -> [String; 8] {
        let joined =
            |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let codecs = if self.encrypted {
            "encrypted".into()
        } else {
            joined(&self.codecs)
        };
        [
            shown(&self.path),
            shown(&self.type_),
            codecs,
            joined(&self.encodings),
            match self.pages {
                Some((0, _)) => String::new(),
                Some((all, keyed)) => {
                    format!("{:.0} %", keyed as f64 / all as f64 * 100.0)
                }
                None => "?".into(),
            },
            self.nulls
                .map_or_else(|| "?".into(), |nulls| nulls.to_string()),
            self.compressed.to_string(),
            self.uncompressed.to_string(),
        ]
    }
}

fn columns(file: &ParquetFile) -> herringbone::Result<Vec<Column>> {
    let (schema, metadata) = (file.parquet_schema(), file.metadata());
    let mut columns: Vec<Column> = (0..schema.leaves().len())
        .map(|leaf| Column {
            path: schema.column_path(leaf),
            type_: type_of(schema.element(leaf)),
            codecs: BTreeSet::new(),
            encodings: BTreeSet::new(),
            pages: Some((0, 0)),
            nulls: Some(0),
            compressed: 0,
            uncompressed: 0,
            encrypted: false,
        })
        .collect();
    for row_group in 0..metadata.num_row_groups() {
        for (leaf, column) in columns.iter_mut().enumerate() {
            if leaf >= metadata.num_columns(row_group) {
                continue;
            }
            match metadata.column_chunk(row_group, leaf)?.meta_data {
                Some(data) => column.add((schema, leaf), &data),
                None => column.encrypted = true,
            }
        }
    }
    Ok(columns)
}

fn paragraph(
    input: &Input,
    file: &ParquetFile,
    columns: &[Column],
    encryption: Option<&Summary>,
) -> String {
    let metadata = file.metadata();
    let compressed: i128 = columns.iter().map(|column| column.compressed).sum();
    let uncompressed: i128 = columns.iter().map(|column| column.uncompressed).sum();
    let mut out = String::new();
    let mut line = |name: &str, value: String| push_line(&mut out, name, &value);
    line("file", printable(&input.name));
    line("size", bytes(i128::from(input.size)));
    line("rows", metadata.num_rows_of_row_groups().to_string());
    line("row groups", row_groups(metadata));
    line("columns", columns.len().to_string());
    line("compressed", bytes(compressed));
    line("uncompressed", bytes(uncompressed));
    line("metadata", bytes(metadata.encoded_len() as i128));
    line("version", metadata.version().to_string());
    if let Some(created_by) = metadata.created_by() {
        line("created by", shown(created_by));
    }
    for (name, value) in encryption.into_iter().flat_map(Summary::lines) {
        line(name, value);
    }
    for pair in metadata.key_value_metadata() {
        let length = pair.value.as_ref().map_or(0, Vec::len);
        line(
            "key",
            format!("{} ({})", shown(&pair.key), bytes(length as i128)),
        );
    }
    out
}

/// Describes how many row groups there are, and how many rows they have.
fn row_groups(metadata: &FileMetadata) -> String {
    let count = metadata.num_row_groups();
    let rows = (0..count)
        .filter_map(|row_group| metadata.row_group_header(row_group).ok())
        .map(|header| header.num_rows);
    match (rows.clone().min(), rows.max()) {
        (Some(least), Some(most)) if least == most => {
            format!("{count} of {}", counted(most, "row"))
        }
        (Some(least), Some(most)) => format!("{count} of {least} to {most} rows"),
        _ => count.to_string(),
    }
}

/// Formats a size for people, and exactly, such as `1.5 MiB (1572864 bytes)`.
fn bytes(count: i128) -> String {
    match count {
        0..1024 => size(count),
        _ => format!("{} ({count} bytes)", size(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_for_people_and_exact() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(1_572_864), "1.5 MiB (1572864 bytes)");
    }
}
