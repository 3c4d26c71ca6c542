//! The Arrow schema that a writer left in the file: what Parquet has no word for.
//!
//! Writers of Arrow data keep the schema they started from under `ARROW:schema`. It is a hint and no
//! more: the file may have been written by one library and annotated by another, with types that
//! this one does not know. So it is decoded field by field into [`Hint`]s ([`decode`]), and each is
//! taken only where what the file stores can be read that way ([`restore`]). Whatever does not fit
//! is left out with a warning; nothing in a hint makes a file unreadable.

mod decode;
mod restore;
mod value;

use herringbone_arrow::schema::DataType;

pub(crate) use decode::decode;
pub(crate) use restore::Restore;

/// An Arrow schema as a file holds it.
#[derive(Debug)]
pub(crate) struct SchemaHint {
    pub(crate) fields: Vec<Hint>,
    pub(crate) metadata: Vec<(String, String)>,
}

/// One Arrow field as a file holds it.
#[derive(Debug)]
pub(crate) struct Hint {
    pub(crate) name: Option<String>,
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) kind: HintKind,
    /// The type of the keys, where the field was dictionary encoded; `kind` is that of the values.
    pub(crate) dictionary_key: Option<DataType>,
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
    RunEndEncoded(Box<Hint>),
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
    /// The field behind run-end encodings: runs are not restored.
    fn behind_runs(&self) -> &Self {
        let mut hint = self;
        while let HintKind::RunEndEncoded(values) = &hint.kind {
            hint = values;
        }
        hint
    }
}
