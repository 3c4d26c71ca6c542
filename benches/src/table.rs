//! The markdown table.

use crate::measure::Times;

/// The ratio to the peer's time above which a case is marked as slow, and fails the run.
pub const SLOW: f64 = 1.1;

/// The first two lines of the table.
pub const HEADING: &str = "\
| case | herringbone ms | arrow-rs ms | ratio | floor ms | arrow-rs floor ms | decoding |
|---|---:|---:|---:|---:|---:|---:|";

/// Returns the line of a case, and our time as a multiple of theirs.
///
/// `floors` are the times of the pages alone, decompressed by each side and not decoded. The rest of each side's time
/// is decoding, and its ratio is the last column. Alternatively, there is one floor, which is a walk over the footer.
#[must_use]
pub fn line(name: &str, ours: &Times, theirs: &Times, floors: &[Times]) -> (String, f64) {
    let ratio = ours.median() / theirs.median();
    let mark = if ratio > SLOW { " **slow**" } else { "" };
    let above = match floors {
        [our_pages, their_pages] => {
            let decoding = ours.median() - our_pages.median();
            let their_decoding = theirs.median() - their_pages.median();
            format!(
                "{:.2} | {:.2} | {:.2}",
                our_pages.median(),
                their_pages.median(),
                decoding / their_decoding
            )
        }
        [walk] => format!("{:.2} | |", walk.median()),
        _ => " | |".to_owned(),
    };
    let line = format!(
        "| {name} | {} | {} | {ratio:.2}{mark} | {above} |",
        time(ours),
        time(theirs)
    );
    (line, ratio)
}

fn time(times: &Times) -> String {
    format!("{:.2} ±{:.0}%", times.median(), times.spread() * 100.0)
}
