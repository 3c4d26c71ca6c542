//! Schemas, statistics and reports as JSON.

use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::{ParquetFile, Result};
use herringbone_cli::FileReport;
use serde_json::{Value, json};

/// The number of row groups whose bounds are listed.
const MAX_ROW_GROUPS: usize = 1000;

/// Returns the fields of a schema.
pub(crate) fn schema(schema: &Schema) -> String {
    let fields = schema.fields().iter().map(|it| field(it));
    Value::Array(fields.collect()).to_string()
}

fn field(field_: &Field) -> Value {
    let children: Vec<Value> = match field_.data_type() {
        DataType::Struct(fields) => fields.iter().map(|it| field(it)).collect(),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![field(item)],
        _ => Vec::new(),
    };
    json!({
        "name": field_.name(),
        "type": field_.data_type().to_string(),
        "extension": field_.extension_type_name(),
        "nullable": field_.is_nullable(),
        "children": children,
    })
}

/// Returns bounds and counts of each column, over all row groups and for each one.
pub(crate) fn stats(file: &ParquetFile) -> Result<String> {
    let schema = file.parquet_schema();
    let columns = (0..schema.leaves().len()).map(|leaf| {
        // A column whose order is not known has no bounds.
        let row_groups = match file.row_group_bounds(leaf) {
            Ok(bounds) if bounds.min.len() <= MAX_ROW_GROUPS => {
                serde_json::from_str(&herringbone_cli::json::bounds(Some(&bounds))?)
                    .unwrap_or(Value::Null)
            }
            _ => Value::Null,
        };
        Ok(json!({
            "path": schema.path(leaf),
            "type": herringbone_cli::column_type(file, leaf),
            "rowGroups": row_groups,
        }))
    });
    Ok(Value::Array(columns.collect::<Result<_>>()?).to_string())
}

/// Returns a report, with its page.
pub(crate) fn report(report: &FileReport) -> String {
    let findings = report.findings().into_iter().map(|finding| {
        json!({ "kind": finding.kind, "message": finding.message, "command": finding.command })
    });
    json!({ "findings": findings.collect::<Vec<_>>(), "html": report.page() }).to_string()
}
