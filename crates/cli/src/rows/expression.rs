//! Expressions in place of columns, as in `-c 'fare+tip'`.

use herringbone::Projection;
use herringbone_arrow::schema::Fields;

use super::{Request, has_column, is_in_path};
use crate::base::failure::{Failure, Result};
use crate::base::shell::word;
use crate::input::Input;

/// Characters that hint at an expression. This is no proof, since column names can contain them
/// too.
const SIGNS: &[char] = &['+', '-', '*', '/', '%', '|', '(', '<', '>'];

/// Rejects expressions in place of columns, since columns can only be taken as they are.
///
/// # Errors
/// Usage if one is. The message has the query of `herringbone sql` that computes it.
pub(super) fn check_columns(inputs: &[Input], request: &Request<'_>) -> Result<()> {
    let (Projection::Paths(paths), Some(first)) = (&request.options.projection, inputs.first())
    else {
        return Ok(());
    };
    for path in paths {
        let shown = path.join(".");
        if !shown.contains(SIGNS) || exists(inputs, request, path)? {
            continue;
        }
        let all = request.options.clone().projection(Projection::All);
        // This isn't a failure, since another column might have no Arrow type.
        let Ok(plan) = first.open()?.plan(&all) else {
            continue;
        };
        let Some(expression) = in_sql(&shown, plan.schema().fields()) else {
            continue;
        };
        let table = match first.path() {
            Some(_) if first.is_parquet() => first.table_name(),
            _ => "FILE",
        };
        let query = format!("select {expression} from '{}'", table.replace('\'', "''"));
        return Err(Failure::Usage(format!(
            "there is no column `{shown}` in {}; columns are taken as they are, and `herringbone sql {}` computes it",
            first.name,
            word(&query)
        )));
    }
    Ok(())
}

/// Returns true if any contributing file has the column at `path`.
fn exists(inputs: &[Input], request: &Request<'_>, path: &[String]) -> Result<bool> {
    for input in inputs.iter().filter(|input| request.is_surveyed(input)) {
        if is_in_path(input, path) || has_column(&input.open()?, &request.options, path) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns an expression in SQL syntax, or `None` if the text isn't an expression of these columns.
///
/// SQL folds unquoted names to lower case, so we quote all other names.
fn in_sql(text: &str, fields: &Fields) -> Option<String> {
    let mut out = String::new();
    let (mut calls, mut strangers) = (false, false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_in_word = |character: char| character.is_alphanumeric() || "_.".contains(character);
        let length = match first {
            '\'' => rest.char_indices().skip(1).find(|(_, end)| *end == '\'')?.0 + 1,
            _ if is_in_word(first) => rest.find(|c| !is_in_word(c)).unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length)?;
        rest = after;
        if !first.is_alphabetic() && first != '_' {
            out += part;
            continue;
        }
        if rest.starts_with('(') {
            calls = true;
            out += part;
            continue;
        }
        let (name, inner) = part.split_at_checked(part.find('.').unwrap_or(part.len()))?;
        let mut named = fields.iter().map(|field| field.name());
        let exact = fields.find(name).map(|(_, field)| field.name());
        match exact.or_else(|| named.find(|other| other.eq_ignore_ascii_case(name))) {
            Some(name) if name.chars().any(char::is_uppercase) => out += &format!("\"{name}\""),
            Some(name) => out += name,
            None => {
                strangers = true;
                out += name;
            }
        }
        out += inner;
    }
    (calls || !strangers).then_some(out)
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::schema::{DataType, Field};

    use super::*;

    #[test]
    fn expressions_have_columns_or_calls() {
        let fields: Fields = ["fare", "tip", "Km", "id"]
            .map(|name| Field::new(name, DataType::Int64, true))
            .into_iter()
            .collect();
        for (text, expected) in [
            ("fare+tip", Some("fare+tip")),
            ("FARE * 1.5e3", Some("fare * 1.5e3")),
            ("km/(fare - 1)", Some("\"Km\"/(fare - 1)")),
            ("upper(city)", Some("upper(city)")),
            ("tip || 'Km, 2'", Some("tip || 'Km, 2'")),
            ("count(*)", Some("count(*)")),
            ("Km.x + 1", Some("\"Km\".x + 1")),
            // A typo in a name isn't an expression.
            ("trip-id", None),
            ("col_*", None),
            ("fare+tipp", None),
            ("tip || 'open", None),
        ] {
            assert_eq!(in_sql(text, &fields).as_deref(), expected, "{text}");
        }
    }
}
