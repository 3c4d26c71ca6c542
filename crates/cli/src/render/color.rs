//! Colours tables on a terminal. The header is bold. Nulls are faint, so that they differ from a
//! text `null`.

const BOLD: &str = "\u{1b}[1m";
const FAINT: &str = "\u{1b}[2m";
const RESET: &str = "\u{1b}[0m";

/// The first character of the line below the header.
const BELOW_HEADER: char = '╞';

/// The characters on both sides of a cell.
const AROUND: [char; 2] = ['│', '┆'];

/// Returns a table with colours. Its lines are as wide as before.
pub(super) fn colored(table: &str) -> String {
    let has_header = table.lines().any(|line| line.starts_with(BELOW_HEADER));
    let mut is_header = has_header;
    let lines = table.lines().map(|line| {
        is_header &= !line.starts_with(BELOW_HEADER);
        line.split_inclusive(AROUND)
            .map(|cell| colored_cell(cell, is_header))
            .collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a cell with its colour. The sign after the cell belongs to it.
fn colored_cell(cell: &str, is_header: bool) -> String {
    let text = cell.trim_end_matches(AROUND).trim();
    let is_text = cell.ends_with(AROUND) && !text.is_empty();
    let style = match (is_header, text) {
        _ if !is_text => return cell.to_owned(),
        (true, _) => BOLD,
        (false, "null") => FAINT,
        (false, _) => return cell.to_owned(),
    };
    cell.replacen(text, &format!("{style}{text}{RESET}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_bold_and_nulls_are_faint() {
        let table = "┌────┬──────┐\n│ id ┆ city │\n╞════╪══════╡\n│  1 ┆ null │\n│  2 ┆ nulls│\n└────┴──────┘";
        let expected = "┌────┬──────┐\n│ \u{1b}[1mid\u{1b}[0m ┆ \u{1b}[1mcity\u{1b}[0m │\n╞════╪══════╡\n\
                        │  1 ┆ \u{1b}[2mnull\u{1b}[0m │\n│  2 ┆ nulls│\n└────┴──────┘";
        assert_eq!(colored(table), expected);
        assert_eq!(colored("null"), "null");
    }
}
