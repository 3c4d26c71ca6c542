//! Choosing the columns to read as dictionary arrays.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::Result;

use crate::hint::HintedDictionary;
use crate::path::Paths;
use crate::{ByteLayout, DictionaryOutput, Node, NodeKind, ParquetSchema, SchemaOptions};

/// The columns to read as dictionary arrays, with their key types.
pub(crate) struct Dictionaries<'a> {
    options: &'a SchemaOptions,
    /// The dictionaries requested by the file's Arrow schema, by leaf.
    hinted: HashMap<usize, HintedDictionary>,
    /// One flag per leaf, true if the column was chosen by name. Empty unless the options choose
    /// columns by name.
    chosen: Vec<bool>,
}

impl<'a> Dictionaries<'a> {
    /// Finds the columns that the options name.
    ///
    /// # Errors
    ///
    /// Fails with Argument if no column has one of the paths.
    pub(crate) fn new(
        schema: &ParquetSchema,
        omittable: &[bool],
        options: &'a SchemaOptions,
        hinted: HashMap<usize, HintedDictionary>,
    ) -> Result<Self> {
        let mut chosen = Vec::new();
        if let DictionaryOutput::Columns(columns) = &options.dictionary {
            chosen = vec![false; schema.leaves().len()];
            let paths = Paths::new(schema, omittable);
            for parts in columns {
                let node = &schema.nodes()[paths.find(parts)?];
                chosen[node.leaves.clone()].fill(true);
            }
        }
        Ok(Self {
            options,
            hinted,
            chosen,
        })
    }

    /// Returns true if no column becomes a dictionary array.
    pub(crate) fn is_empty(&self) -> bool {
        match self.options.dictionary {
            DictionaryOutput::Never => true,
            DictionaryOutput::Hinted => self.hinted.is_empty(),
            DictionaryOutput::Always | DictionaryOutput::Columns(_) => false,
        }
    }

    /// Changes the types of the columns below these nodes.
    pub(crate) fn apply(&self, nodes: &mut [Node]) {
        for node in nodes {
            self.apply_to(node);
        }
    }

    fn apply_to(&self, node: &mut Node) {
        match &mut node.kind {
            NodeKind::Leaf { leaf, .. } => {
                let leaf = *leaf;
                let value = node.field.data_type();
                if self.wanted(leaf, value) {
                    let hinted = self.hinted.get(&leaf);
                    let key = hinted.map_or(DataType::Int32, |hinted| hinted.key.clone());
                    let value = self.value_type(value);
                    // Without a hinted dictionary, the hint's wrappers are for plain values and
                    // don't fit here.
                    if hinted.is_none() {
                        node.wrappers.clear();
                    }
                    node.set_data_type(DataType::Dictionary(Box::new(key), Box::new(value)));
                    if hinted.is_some_and(|hinted| hinted.is_ordered) {
                        let field = Field::clone(&node.field).with_dict_is_ordered(true);
                        node.field = Arc::new(field);
                    }
                }
                return;
            }
            NodeKind::Struct(fields) => self.apply(fields),
            NodeKind::List { child, .. } => self.apply_to(child),
            NodeKind::Map { entries, .. } => self.apply_to(entries),
        }
        node.rebuild_data_type();
    }

    fn wanted(&self, leaf: usize, value: &DataType) -> bool {
        let hinted = self.hinted.contains_key(&leaf);
        match &self.options.dictionary {
            DictionaryOutput::Never => false,
            DictionaryOutput::Hinted => hinted,
            DictionaryOutput::Always => hinted || is_bytes(value),
            DictionaryOutput::Columns(_) => {
                self.chosen.get(leaf).copied().unwrap_or(false) && (hinted || is_bytes(value))
            }
        }
    }

    /// Replaces views with offsets, if the caller asked for views. A dictionary only stores each
    /// value once, so views would save nothing, and fewer libraries can read them.
    fn value_type(&self, value: &DataType) -> DataType {
        match (self.options.strings, value) {
            (ByteLayout::Views, DataType::Utf8View) => DataType::Utf8,
            (ByteLayout::Views, DataType::BinaryView) => DataType::Binary,
            _ => value.clone(),
        }
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
    )
}
