//! The facts from a footer, as far as the viewer needs them.

use herringbone::variant::shredding::is_variant;
use herringbone_arrow::schema::{DataType, Field, Schema};

use crate::base::printable::printable;
use crate::base::type_name::type_name;
use crate::render::table::shown;

/// Facts about a file, taken from its footer. These are enough to draw everything except cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Facts {
    /// The file's name, made printable.
    pub(super) name: String,
    /// The file's index in its directory.
    pub(super) file: usize,
    /// The number of files in the directory.
    pub(super) files: usize,
    /// The file's size in bytes.
    pub(super) size: u64,
    /// The first row of each row group, followed by the row count of the file.
    pub(super) starts: Vec<u64>,
    pub(super) columns: Vec<Column>,
    pub(super) tree: Vec<Branch>,
}

/// A top-level column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    /// The column's Arrow type, made printable.
    pub(super) type_: String,
    /// True if the column's cells are aligned to the right.
    pub(super) is_number: bool,
}

/// A line in the schema tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branch {
    /// The number of fields around this one.
    pub(super) depth: usize,
    /// The field and its type, indented by its depth.
    pub(super) text: String,
    /// The path that selects the field. For a field inside a list or map, this is the path of the
    /// list or map, since you can't select anything deeper.
    pub(super) path: Vec<String>,
}

impl Facts {
    /// Returns the file's row count.
    pub(super) fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the number of row groups.
    pub(super) fn row_groups(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the row group that contains a row.
    pub(super) fn row_group(&self, row: u64) -> usize {
        let after = self.starts.partition_point(|start| *start <= row);
        after
            .saturating_sub(1)
            .min(self.row_groups().saturating_sub(1))
    }

    /// Adds a schema's columns and its tree.
    pub(super) fn add(&mut self, schema: &Schema) {
        for field in schema.fields() {
            self.columns.push(Column {
                name: field.name().clone(),
                type_: type_name(field),
                is_number: is_number(field.data_type()),
            });
            self.push(0, field, Vec::new(), false);
        }
    }

    fn push(&mut self, depth: usize, field: &Field, mut path: Vec<String>, is_in_list: bool) {
        if !is_in_list {
            path.push(field.name().clone());
        }
        let (children, is_list) = match is_variant(field) {
            true => (Vec::new(), false),
            false => children(field.data_type()),
        };
        let type_ = match field.data_type() {
            DataType::FixedSizeList(_, length) => format!("list({length})"),
            _ => type_name(field),
        };
        let mut text = "  ".repeat(depth);
        text.push_str(&format!("{}: {type_}", shown(field.name())));
        if !field.is_nullable() {
            text.push_str(" not null");
        }
        if let Some(name) = field.extension_type_name() {
            text.push_str(&format!(" ({})", printable(name)));
        }
        self.tree.push(Branch {
            depth,
            text,
            path: path.clone(),
        });
        for child in children {
            self.push(depth + 1, child, path.clone(), is_in_list || is_list);
        }
    }
}

/// Returns the fields inside a type, and true if the type is a list or map.
fn children(data_type: &DataType) -> (Vec<&Field>, bool) {
    match data_type {
        DataType::Struct(fields) => (fields.iter().map(AsRef::as_ref).collect(), false),
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => (vec![child], true),
        _ => (Vec::new(), false),
    }
}

/// Returns true if the type's values are numbers.
fn is_number(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => values.is_numeric(),
        DataType::RunEndEncoded(_, values) => values.data_type().is_numeric(),
        other => other.is_numeric(),
    }
}
