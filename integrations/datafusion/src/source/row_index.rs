//! The hidden column for `file_row_index()`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields};
use datafusion_datasource::TableSchema;
use datafusion_physical_expr::expressions::Column;

/// The name of the extension type by which the engine marks columns of row numbers.
const ROW_NUMBER: &str = "parquet.virtual.row_number";
const EXTENSION_NAME: &str = "ARROW:extension:name";

/// Returns true if a virtual column has the row numbers of a file.
pub(crate) fn is_row_index(field: &Field) -> bool {
    field
        .metadata()
        .get(EXTENSION_NAME)
        .is_some_and(|name| name == ROW_NUMBER)
}

/// Returns a table's schema with a column of row numbers, and that column. If the table already has
/// one, we use it again.
pub(crate) fn with_row_index(table: &TableSchema) -> (TableSchema, Column) {
    let virtual_columns = table.virtual_columns();
    let first = table.table_schema().fields().len() - virtual_columns.len();
    let mut numbered = (first..).zip(virtual_columns);
    if let Some((at, field)) = numbered.find(|(_, field)| is_row_index(field)) {
        return (table.clone(), Column::new(field.name(), at));
    }
    let is_taken = |name: &str| table.table_schema().field_with_name(name).is_ok();
    let mut name = "__herringbone_file_row_index".to_owned();
    while is_taken(&name) {
        name.push('_');
    }
    let metadata = HashMap::from([(EXTENSION_NAME.to_owned(), ROW_NUMBER.to_owned())]);
    let field = Field::new(&name, DataType::Int64, true).with_metadata(metadata);
    let column = Column::new(&name, table.table_schema().fields().len());
    let fields: Fields = virtual_columns
        .iter()
        .cloned()
        .chain([Arc::new(field)])
        .collect();
    let table = TableSchema::builder(table.file_schema().clone())
        .with_table_partition_cols(table.table_partition_cols().clone())
        .with_virtual_columns(fields)
        .build();
    (table, column)
}
