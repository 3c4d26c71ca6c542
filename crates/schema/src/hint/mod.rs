//! The Arrow schema embedded in a file by its writer, for properties that Parquet cannot express.
//!
//! Writers of Arrow data store their original schema under `ARROW:schema`. It is only a hint,
//! because the file might have been written by one library and annotated by another, with types
//! that we don't know. So we decode it field by field into [`Hint`]s ([`decode`]), and only apply a
//! hint if the stored values can be read that way ([`restore`]). Anything that doesn't fit is
//! dropped with a warning, so that a hint can never make a file unreadable.

mod decode;
mod encode;
mod exact;
mod flatbuffer;
mod restore;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};

pub(crate) use decode::{ArrowSchemaHint, bytes_of};
pub(crate) use encode::{arrow_schema_text, text_of};
pub(crate) use exact::{SchemaText, exact_value, most_exact};
pub(crate) use restore::{HintedDictionary, Restore};
pub(crate) use value::restored;

/// A single Arrow field of a file's hint.
#[derive(Debug)]
pub(crate) struct Hint {
    pub(crate) name: Option<String>,
    pub(crate) nullable: bool,
    pub(crate) metadata: Vec<(String, String)>,
    /// The number of non-text metadata pairs. Arrow cannot represent these.
    pub(crate) left_out: usize,
    pub(crate) kind: HintKind,
    /// The key type, if the field was dictionary encoded. `kind` is then the value type.
    pub(crate) dictionary_key: Option<DataType>,
    /// True if the dictionary's value order is meaningful.
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
        /// The run ends. Their type is already checked.
        run_ends: Box<Hint>,
        values: Box<Hint>,
    },
    /// An unknown or inconsistent type.
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
    /// Returns the hint's Arrow field.
    fn to_field(&self, default_name: &str, data_type: DataType, nullable: bool) -> FieldRef {
        let name = self.name.as_deref().unwrap_or(default_name);
        let metadata: HashMap<String, String> = self.metadata.iter().cloned().collect();
        Arc::new(Field::new(name, data_type, nullable).with_metadata(metadata))
    }
}
