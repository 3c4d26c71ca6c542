//! The markdown table.

use crate::measure::Times;

/// The multiple of the peer's time above which a case is marked as slow and fails the run.
pub const SLOW: f64 = 1.1;

/// The first two lines of the table.
pub const HEADING: &str = "\
| case | herringbone ms | arrow-rs ms | ratio | floor ms | arrow-rs floor ms | decoding |
|---|---:|---:|---:|---:|---:|---:|";

/// Returns a case's line, and our time as a multiple of the peer's.
///
/// `floors` are the times that each side takes to decompress the pages without decoding them. The
/// rest of each side's time is decoding, whose ratio is in the last column. If there is only one
/// floor, it is a walk over the footer.
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
