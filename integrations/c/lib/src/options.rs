//! Pairs of texts as options of the library.

use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use herringbone::arrow::schema::Schema;
use herringbone::encryption::key_tools::KeyMaterialStore;
use herringbone::encryption::keys_file::KeysFile;
use herringbone::geospatial::Geospatial;
use herringbone::variant::extension::VariantExtension;
use herringbone::{
    ColumnOptions, Error, Limits, OnError, OpenOptions, ParquetFile, Projection, ReadOptions,
    WriteOptions,
};
use herringbone_dataset::{
    DataPart, DatasetOptions, DatasetReadOptions, DatasetWriteOptions, Partitioning, SchemaFrom,
};
use herringbone_text::size::Size;

use crate::error::{HbError, Result, argument};

/// A key and its value.
pub(crate) type Pair<'a> = (&'a str, &'a str);

/// Returns the value of a text. The error names the option.
fn parse<T: FromStr<Err: Display>>((key, value): Pair<'_>) -> Result<T> {
    value.parse().map_err(|error: T::Err| {
        argument(format!(
            "the option \"{key}\" cannot be \"{value}\": {error}"
        ))
    })
}

fn bytes(pair: Pair<'_>) -> Result<usize> {
    Ok(parse::<Size>(pair)?.0)
}

fn switch(pair: Pair<'_>) -> Result<bool> {
    match pair.1 {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(none_of(pair, "on, off")),
    }
}

/// Returns the range of a text such as `10..20`.
fn range((key, value): Pair<'_>) -> Result<Range<u64>> {
    let ends = value.split_once("..");
    match ends.map(|(start, end)| (start.parse(), end.parse())) {
        Some((Ok(start), Ok(end))) if start <= end => Ok(start..end),
        _ => Err(argument(format!(
            "the option \"{key}\" cannot be \"{value}\"; a range is START..END"
        ))),
    }
}

/// Returns the error for a value that is none of the choices.
fn none_of((key, value): Pair<'_>, choices: &str) -> Box<HbError> {
    argument(format!(
        "the option \"{key}\" cannot be \"{value}\"; it is one of {choices}"
    ))
}

/// Returns the error for a key that is none of the options.
fn unknown(key: &str, keys: &str) -> Box<HbError> {
    argument(format!("unknown option \"{key}\"; the options are {keys}"))
}

/// Sets the limit of an option such as `max.row_groups`. Returns false for other options.
fn set_limit(limits: &mut Limits, (key, value): Pair<'_>) -> Result<bool> {
    let Some(name) = key.strip_prefix("max.") else {
        return Ok(false);
    };
    macro_rules! set {
        ($($field:ident)*) => {
            match name {
                $(stringify!($field) => {
                    let number = bytes((key, value))?;
                    limits.$field = number.try_into().map_err(|_| none_of((key, value), "smaller numbers"))?;
                })*
                _ => return Err(unknown(key, concat!($("max.", stringify!($field), " "),*))),
            }
        };
    }
    set!(footer_bytes schema_depth schema_nodes row_groups page_header_bytes page_bytes
         decompression_ratio page_values dictionary_values page_index_bytes
         bloom_filter_bytes batch_column_bytes overlap_ratio memory_bytes);
    Ok(true)
}

/// Returns the keys of an option.
fn keys(text: &str) -> Result<KeysFile> {
    Ok(KeysFile::parse(text, &herringbone_cli::column_paths)?)
}

/// Returns the options of a file that is opened.
pub(crate) fn of_open(
    pairs: &[Pair<'_>],
    key_material: Option<Arc<dyn KeyMaterialStore>>,
) -> Result<OpenOptions> {
    let mut limits = Limits::default();
    let mut options = OpenOptions::new();
    for &pair in pairs {
        match pair {
            ("keys", text) => {
                let keys = keys(text)?.decryption_properties(key_material.clone())?;
                options = options.decryption(Arc::new(keys));
            }
            _ if set_limit(&mut limits, pair)? => {}
            (key, _) => return Err(unknown(key, "keys, max.NAME")),
        }
    }
    Ok(options.limits(limits))
}

/// The options of a read, before the ordinals of row groups are known.
struct Read {
    options: ReadOptions,
    paths: Option<Vec<Vec<String>>>,
    row_groups: Option<Vec<usize>>,
    splits: Vec<Range<u64>>,
}

impl Read {
    fn new(limits: &Limits) -> Self {
        let options = ReadOptions::new()
            .limits(limits.clone())
            .extension(Geospatial::new())
            .extension(VariantExtension::new());
        Self {
            options,
            paths: None,
            row_groups: None,
            splits: Vec::new(),
        }
    }

    /// Sets an option of files and datasets. Returns false for others.
    fn set(&mut self, pair: Pair<'_>) -> Result<bool> {
        let options = &mut self.options;
        match pair.0 {
            "column" => {
                let path = vec![pair.1.to_owned()];
                self.paths.get_or_insert_default().push(path);
            }
            "column_path" => {
                let path = pair.1.split('.').map(str::to_owned).collect();
                self.paths.get_or_insert_default().push(path);
            }
            "columns" if pair.1 == "none" => self.paths = Some(Vec::new()),
            "columns" => return Err(none_of(pair, "none; \"column\" chooses one")),
            "where" => {
                let condition = herringbone_cli::condition(pair.1).map_err(argument)?;
                options.filter = Some(match options.filter.take() {
                    Some(before) => before.and(condition),
                    None => condition,
                });
            }
            "offset" => options.offset = parse(pair)?,
            "limit" => options.limit = Some(parse(pair)?),
            "threads" => options.threads = parse(pair)?,
            "batch_rows" => options.batch_size = parse(pair)?,
            "batch_bytes" => options.batch_bytes = bytes(pair)?,
            "memory_bytes" => return self.set(("max.memory_bytes", pair.1)),
            "verify_crc" => options.verify_crc = switch(pair)?,
            _ => {
                let mut limits = options.limits_or_default().into_owned();
                let is_limit = set_limit(&mut limits, pair)?;
                options.limits = Some(limits);
                return Ok(is_limit);
            }
        }
        Ok(true)
    }

    fn finish(mut self) -> ReadOptions {
        if let Some(paths) = self.paths {
            self.options.projection = Projection::Paths(paths);
        }
        self.options
    }
}

const OF_READS: &str = "column, column_path, columns, where, offset, limit, threads, batch_rows, batch_bytes, memory_bytes, verify_crc, max.NAME";

/// Returns the options of a read of a file.
pub(crate) fn of_read(file: &ParquetFile, pairs: &[Pair<'_>]) -> Result<ReadOptions> {
    let mut read = Read::new(file.limits());
    for &pair in pairs {
        match pair.0 {
            "row_group" => read.row_groups.get_or_insert_default().push(parse(pair)?),
            "split" => read.splits.push(range(pair)?),
            "row_range" => {
                let ranges = read.options.row_ranges.get_or_insert_default();
                ranges.push(range(pair)?);
            }
            "on_error" => {
                read.options.on_error = match pair.1 {
                    "fail" => OnError::Fail,
                    "null_page" => OnError::NullPage,
                    "skip_row_group" => OnError::SkipRowGroup,
                    _ => return Err(none_of(pair, "fail, null_page, skip_row_group")),
                }
            }
            key if !read.set(pair)? => {
                let keys = format!("{OF_READS}, row_group, split, row_range, on_error");
                return Err(unknown(key, &keys));
            }
            _ => {}
        }
    }
    for split in std::mem::take(&mut read.splits) {
        let found = file.row_groups_in(split)?;
        read.row_groups.get_or_insert_default().extend(found);
    }
    read.options.row_groups = read.row_groups.take();
    Ok(read.finish())
}

/// Returns the options of a read of a dataset.
pub(crate) fn of_dataset_read(limits: &Limits, pairs: &[Pair<'_>]) -> Result<DatasetReadOptions> {
    let mut read = Read::new(limits);
    let (mut parts, mut path_column, mut max_open_files) = (None, None, None);
    for &pair in pairs {
        match pair.0 {
            "part" => {
                let (file, split) = pair.1.split_once(':').unwrap_or((pair.1, "0..0"));
                let file = parse((pair.0, file))?;
                let part = match pair.1.contains(':') {
                    true => DataPart::new(file, range((pair.0, split))?),
                    false => DataPart::whole(file),
                };
                parts.get_or_insert_with(Vec::new).push(part);
            }
            "path_column" => path_column = Some(pair.1.to_owned()),
            "max_open_files" => max_open_files = Some(parse(pair)?),
            key if !read.set(pair)? => {
                let keys = format!("{OF_READS}, part, path_column, max_open_files");
                return Err(unknown(key, &keys));
            }
            _ => {}
        }
    }
    let mut options = DatasetReadOptions::from(read.finish());
    options.parts = parts;
    options.path_column = path_column;
    options.max_open_files = max_open_files.unwrap_or(options.max_open_files);
    Ok(options)
}

/// The options of a dataset that is opened.
pub(crate) struct OfDataset {
    pub(crate) dataset: DatasetOptions,
    pub(crate) skips_unreadable_keys: bool,
}

/// Returns the options of a dataset that is opened.
pub(crate) fn of_dataset(pairs: &[Pair<'_>]) -> Result<OfDataset> {
    let mut of_files = Vec::new();
    let mut options = DatasetOptions::new().partitioning(Partitioning::Hive);
    let mut skips_unreadable_keys = false;
    for &pair in pairs {
        match pair {
            ("partitioning", "hive") => options.partitioning = Partitioning::Hive,
            ("partitioning", "none") => options.partitioning = Partitioning::None,
            ("partitioning", value) => {
                let Some(names) = value.strip_prefix("directories:") else {
                    return Err(none_of(pair, "hive, none, directories:NAME,NAME"));
                };
                options.partitioning = Partitioning::Directories {
                    names: names.split(',').map(str::to_owned).collect(),
                    types: Arc::new(Schema::empty()),
                };
            }
            ("schema", "first_file") => options.schema = SchemaFrom::FirstFile,
            ("schema", "union") => options.schema = SchemaFrom::Union,
            ("schema", _) => return Err(none_of(pair, "first_file, union")),
            ("unreadable_keys", "skip") => skips_unreadable_keys = true,
            ("unreadable_keys", "fail") => skips_unreadable_keys = false,
            ("unreadable_keys", _) => return Err(none_of(pair, "fail, skip")),
            ("keys", _) => of_files.push(pair),
            (key, _) if key.starts_with("max.") => of_files.push(pair),
            (key, _) => {
                let keys = "partitioning, schema, unreadable_keys, keys, max.NAME";
                return Err(unknown(key, keys));
            }
        }
    }
    let mut files = options.files.clone();
    files.open = of_open(&of_files, None)?;
    Ok(OfDataset {
        dataset: options.files(files),
        skips_unreadable_keys,
    })
}

/// Returns the options of a write. Their names are those of `WriteOption`.
pub(crate) fn of_write(pairs: &[Pair<'_>]) -> Result<WriteOptions> {
    let mut options = Geospatial::new().write_options(WriteOptions::new());
    for &(key, value) in pairs {
        if let Some(name) = key.strip_prefix("metadata:") {
            options.key_value_metadata.push((name, value).into());
            continue;
        }
        match key {
            "keys" => {
                let keys = keys(value)?.encryption_properties()?;
                options.encryption = Some(Arc::new(keys));
                continue;
            }
            "sort_by" => {
                let columns = herringbone_cli::sorting_columns(value).map_err(argument)?;
                options.sort_by.extend(columns);
                continue;
            }
            "sort_memory_bytes" => {
                options.sort_memory_bytes = bytes((key, value))?;
                continue;
            }
            "sort_folder" => {
                options.sort_folder = Some(value.into());
                continue;
            }
            _ => {}
        }
        match key.rsplit_once(':') {
            None => options.set(key, value)?,
            Some((column, name)) => {
                let mut chosen = ColumnOptions::new();
                let set = chosen.set(name, value);
                set.map_err(|error: Error| error.in_column(column))?;
                options = options.column(column, chosen);
            }
        }
    }
    Ok(options.extension(VariantExtension::new()))
}

/// Returns the options of a new dataset.
pub(crate) fn of_dataset_write(schema: &Schema, pairs: &[Pair<'_>]) -> Result<DatasetWriteOptions> {
    let mut options = DatasetWriteOptions::new();
    let mut of_files = Vec::new();
    for &pair in pairs {
        match pair.0 {
            "partition_by" => {
                if schema.field_with_name(pair.1).is_err() {
                    return Err(argument(format!("there is no column \"{}\"", pair.1)));
                }
                options.partition_by.push(pair.1.to_owned());
            }
            "file_names" => options.file_names = Some(pair.1.to_owned()),
            "file_rows" => options.max_rows = parse(pair)?,
            "file_bytes" => options.max_bytes = u64::try_from(bytes(pair)?).unwrap_or(u64::MAX),
            "max_open_files" => options.max_open_files = parse(pair)?,
            _ => of_files.push(pair),
        }
    }
    Ok(options.write(of_write(&of_files)?))
}
