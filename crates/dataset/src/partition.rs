//! Partition columns, with values in directory names such as `year=2024`.
//!
//! ```text
//! year=2024/code=a%2Fb/x.parquet ─► [("year", "2024"), ("code", "a/b")] ─► columns of values ─► types
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use herringbone::arrow::array::{RecordBatch, RecordBatchOptions};
use herringbone::arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone::filter::Predicate;
use herringbone::{Error, Result};

use crate::options::{DatasetOptions, SchemaFrom};
use crate::partition_value::{date, integer, values};

/// The directory name for null.
pub(crate) const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The encoding of column values in file paths.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use std::sync::Arc;
///
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone_dataset::{Dataset, DatasetOptions, Partitioning};
///
/// let open = |partitioning| {
///     let options = DatasetOptions::new().partitioning(partitioning);
///     Dataset::open("testdata/datasets/months", options)
/// };
/// // The directories are `m=01`, `m=02` and `m=10`.
/// let by_name = open(Partitioning::Hive)?;
/// assert_eq!(by_name.schema().field_with_name("m")?.data_type(), &DataType::Utf8);
/// let types = Schema::new(vec![Field::new("m", DataType::Int8, true)]);
/// let typed = open(Partitioning::Typed(Arc::new(types)))?;
/// assert_eq!(typed.schema().field_with_name("m")?.data_type(), &DataType::Int8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Partitioning {
    /// Directory names such as `year=2024` are column values.
    ///
    /// A column's type is `Int64` if all its values are integers, `Date32` if all are dates, and
    /// `Utf8` otherwise. The first two are only chosen if formatting the values gives back the text
    /// in the names, so `01` and `10` stay text. Note that if all of a column's texts are whole
    /// numbers, filters still compare them with whole numbers by value, so that `01` equals 1.
    #[default]
    Hive,
    /// Directory names such as `year=2024` are column values, with column types from this schema.
    /// Any other columns are typed as for [`Self::Hive`]. The types can be text, numbers, decimals,
    /// booleans, `Date32`, timestamps, and dictionaries of these.
    Typed(SchemaRef),
    /// Directory names below the dataset's path are column values, for example `2024/05` for `year`
    /// and `month`.
    ///
    /// Directories below the last column have no meaning, and columns without a directory are null.
    /// Percent escapes are decoded.
    Directories {
        /// The column names, from the top directory down.
        names: Vec<String>,
        /// A schema with the column types, as for [`Self::Typed`].
        types: SchemaRef,
    },
    /// Directory names have no meaning.
    None,
}

/// A partition column's value in a file path, or `None` for null.
pub(crate) type Text = Option<Box<str>>;

/// The partition columns' names and values in a directory's path, from the top down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Partition {
    pub(crate) names: Arc<[String]>,
    pub(crate) values: Arc<[Text]>,
}

impl Partition {
    /// Returns the partition of a directory below this one. A name without `=` adds nothing.
    ///
    /// # Errors
    /// Fails with Argument if the column is already in the path, and with Unsupported if the
    /// decoded name is not UTF-8.
    pub(crate) fn below(&self, name: &str) -> Result<Self> {
        let Some((column, value)) = name.split_once('=').filter(|pair| !pair.0.is_empty()) else {
            return Ok(self.clone());
        };
        let column = decoded(column, name)?;
        // We have to compare before decoding, because a value with this very text is written with
        // an escape.
        let value = match value {
            NULL => None,
            value => Some(decoded(value, name)?.into_boxed_str()),
        };
        self.with(column, value)
    }

    /// Returns the partition of a directory below this one, taking the whole name as the next
    /// column's value.
    ///
    /// # Errors
    /// Fails with Argument if the column is already in the path, and with Unsupported if the
    /// decoded name is not UTF-8.
    pub(crate) fn below_as(&self, columns: &[String], name: &str) -> Result<Self> {
        match columns.get(self.names.len()) {
            Some(column) => self.with(column.clone(), Some(decoded(name, name)?.into())),
            None => Ok(self.clone()),
        }
    }

    /// Adds a null for each column missing in the path.
    ///
    /// # Errors
    /// Fails with Argument if a column is named twice.
    pub(crate) fn filled(mut self, columns: &[String]) -> Result<Self> {
        while let Some(column) = columns.get(self.names.len()) {
            self = self.with(column.clone(), None)?;
        }
        Ok(self)
    }

    fn with(&self, column: String, value: Text) -> Result<Self> {
        if self.names.contains(&column) {
            return Err(Error::argument(format!(
                "the partition column `{column}` is twice in the path"
            )));
        }
        let names = self.names.iter().cloned().chain([column]).collect();
        let values = self.values.iter().cloned().chain([value]).collect();
        Ok(Self { names, values })
    }
}

/// Decodes percent escapes, keeping any percent sign not followed by two hexadecimal digits.
fn decoded(text: &str, name: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let digit = |at: usize| more.get(at).and_then(|more| char::from(*more).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high << 4 | low) as u8);
                rest = more.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes)
        .map_err(|_| Error::unsupported(format!("the decoded name `{name}` is not UTF-8")))
}

/// The partition columns seen so far, with types that can represent all their values.
#[derive(Debug, Default)]
pub(crate) struct PartitionTypes {
    /// The caller's schemas. The first schema with a column decides its type.
    given: Vec<SchemaRef>,
    columns: HashMap<String, Inferred>,
    /// The column names, in order of appearance.
    pub(crate) names: Vec<String>,
}

/// The types that can represent all of a column's values so far.
#[derive(Debug, Clone, Copy)]
struct Inferred {
    is_integer: bool,
    is_date: bool,
    has_value: bool,
}

impl PartitionTypes {
    pub(crate) fn new(options: &DatasetOptions) -> Self {
        let mut given = Vec::new();
        if let SchemaFrom::Given(schema) = &options.schema {
            given.push(schema.clone());
        }
        match &options.partitioning {
            Partitioning::Typed(types) | Partitioning::Directories { types, .. } => {
                given.push(types.clone());
            }
            Partitioning::Hive | Partitioning::None => {}
        }
        Self {
            given,
            ..Self::default()
        }
    }

    /// Records a partition's values.
    pub(crate) fn add(&mut self, partition: &Partition) {
        for (name, value) in partition.names.iter().zip(partition.values.iter()) {
            if !self.columns.contains_key(name) {
                let unknown = Inferred {
                    is_integer: true,
                    is_date: true,
                    has_value: false,
                };
                self.columns.insert(name.clone(), unknown);
                self.names.push(name.clone());
            }
            if let (Some(value), Some(known)) = (value, self.columns.get_mut(name)) {
                known.is_integer &= integer(value).is_some();
                known.is_date &= date(value).is_some();
                known.has_value = true;
            }
        }
    }

    /// Returns a column's field.
    pub(crate) fn field(&self, name: &str) -> Field {
        let mut given = self.given.iter();
        if let Some(field) = given.find_map(|schema| schema.field_with_name(name).ok()) {
            return field.clone();
        }
        let known = self.columns.get(name);
        let data_type = match known.filter(|known| known.has_value) {
            Some(known) if known.is_integer => DataType::Int64,
            Some(known) if known.is_date => DataType::Date32,
            _ => DataType::Utf8,
        };
        Field::new(name, data_type, true)
    }

    /// Returns a predicate that compares a column's texts, such as `01` and `10`, with whole
    /// numbers by value. If any of a column's texts in these partitions is not a whole number, that
    /// column's comparisons stay as they are.
    pub(crate) fn by_value(&self, predicate: &Predicate, partitions: &[&Partition]) -> Predicate {
        let mut texts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for partition in partitions {
            for (name, value) in partition.names.iter().zip(partition.values.iter()) {
                texts.entry(name).or_default().extend(value.as_deref());
            }
        }
        let mut predicate = predicate.clone();
        for (name, texts) in texts {
            if is_text(self.field(name).data_type()) {
                let texts: Vec<&str> = texts.into_iter().collect();
                predicate = predicate.with_numbers_of_texts(name, &texts);
            }
        }
        predicate
    }

    /// Returns a batch with one row per partition, replacing dictionaries with their values. All
    /// partitions must have the same columns.
    ///
    /// # Errors
    /// Fails with Argument if a value does not fit the given type, and with Unsupported if
    /// partition columns cannot have that type.
    pub(crate) fn batch(&self, partitions: &[&Partition]) -> Result<RecordBatch> {
        let names = partitions.first().map(|partition| partition.names.clone());
        let names = names.unwrap_or_default();
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let mut field = self.field(name).with_nullable(true);
            if let DataType::Dictionary(_, of_values) = field.data_type() {
                field = Field::new(name, of_values.as_ref().clone(), true);
            }
            let texts = partitions
                .iter()
                .map(|partition| partition.values.get(at)?.as_deref());
            let texts: Vec<_> = texts.collect();
            let array = values(&texts, field.data_type()).map_err(|e| e.in_column(name))?;
            columns.push(array);
            fields.push(field);
        }
        let schema = Arc::new(Schema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(Some(partitions.len()));
        RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(|error| Error::argument(error.to_string()))
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        other => matches!(
            other,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types_of(values: &[&str]) -> DataType {
        let mut types = PartitionTypes::default();
        for value in values {
            let partition = Partition::default().below(&format!("x={value}"));
            types.add(&partition.unwrap());
        }
        types.field("x").data_type().clone()
    }

    #[test]
    fn a_type_gives_back_the_same_text() {
        assert_eq!(types_of(&["1", "-2", "0"]), DataType::Int64);
        assert_eq!(types_of(&["1", NULL]), DataType::Int64);
        assert_eq!(types_of(&[NULL]), DataType::Utf8);
        for text in [
            "01",
            "+1",
            "-0",
            "",
            "9223372036854775808",
            "1.0",
            "1e3",
            "٣",
        ] {
            assert_eq!(types_of(&["1", text]), DataType::Utf8, "{text}");
        }
        assert_eq!(types_of(&["2024-01-02", "1969-12-31"]), DataType::Date32);
        for text in [
            "2024-1-2",
            "2024-02-30",
            "2024-01-02T00:00:00",
            "20240102",
            "1",
        ] {
            assert_eq!(types_of(&["2024-01-02", text]), DataType::Utf8, "{text}");
        }
    }

    #[test]
    fn names_are_decoded() {
        let values = |name: &str| {
            let partition = Partition::default().below(name).unwrap();
            let names = partition.names.iter().cloned();
            names.zip(partition.values.to_vec()).collect::<Vec<_>>()
        };
        let one = |name: &str, value: &str| vec![(name.to_owned(), Some(value.into()))];
        assert_eq!(values("a=a%2Fb"), one("a", "a/b"));
        assert_eq!(values("a%3Db=c=d"), one("a=b", "c=d"));
        assert_eq!(values("a=%C3%a9%2"), one("a", "é%2"));
        assert_eq!(values("a=%+1%zz"), one("a", "%+1%zz"));
        assert_eq!(values("a="), one("a", ""));
        assert_eq!(values("a=.."), one("a", ".."));
        assert_eq!(values(&format!("a={NULL}")), [("a".to_owned(), None)]);
        // DuckDB gives this name to the text.
        assert_eq!(values("a=%5F_HIVE_DEFAULT_PARTITION__"), one("a", NULL));
        assert_eq!(values("=a"), []);
        assert_eq!(values("plain"), []);
        let first = Partition::default().below("a=1").unwrap();
        assert!(first.below("a=2").is_err());
        assert!(Partition::default().below("a=%FF").is_err());
    }
}
