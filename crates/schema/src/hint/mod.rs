//! The Arrow schema that a writer left in the file: what Parquet has no word for.
//!
//! Writers of Arrow data keep the schema they started from under `ARROW:schema`. It is a hint and no
//! more: the file may have been written by one library and annotated by another, with types that
//! this one does not know. So it is decoded field by field into [`Hint`]s ([`decode`]), and each is
//! taken only where what the file stores can be read that way ([`restore`]). Whatever does not fit
//! is left out with a warning; nothing in a hint makes a file unreadable.

mod decode;
mod exact;
mod flatbuffer;
mod restore;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};

pub(crate) use decode::{ArrowSchemaHint, bytes_of};
pub(crate) use exact::{SchemaText, exact_value, most_exact};
pub(crate) use restore::{HintedDictionary, Restore};
pub(crate) use value::restored;

/// One Arrow field as a file holds it.
#[derive(Debug)]
pub(crate) struct Hint {
    pub(crate) name: Option<String>,
    pub(crate) nullable: bool,
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) kind: HintKind,
    /// The type of the keys, where the field was dictionary encoded; `kind` is that of the values.
    pub(crate) dictionary_key: Option<DataType>,
    /// Whether the order of the dictionary's values means something.
    pub(crate) is_ordered: bool,
}

#[derive(Debug)]
pub(crate) enum HintKind {
    /// A type without fields.
    Leaf(DataType),
    Struct(Vec<Hint>),
    List(ListKind, Box<Hint>),
    Map {
        entries: Box<Hint>,
        sorted: bool,
    },
    RunEndEncoded {
        /// Of a type that run ends may have.
        run_ends: Box<Hint>,
        values: Box<Hint>,
    },
    /// A type that this version does not know, or that does not hold together.
    Foreign(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    List,
    LargeList,
    ListView,
    LargeListView,
    FixedSize(i32),
}

impl Hint {
    /// The Arrow field.
    fn to_field(&self, default_name: &str, data_type: DataType, nullable: bool) -> FieldRef {
        let name = self.name.as_deref().unwrap_or(default_name);
        let metadata: HashMap<String, String> = self.metadata.iter().cloned().collect();
        Arc::new(Field::new(name, data_type, nullable).with_metadata(metadata))
    }
}
