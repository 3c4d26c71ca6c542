//! Describes pages and bytes outside of all row groups.

use std::ops::Range;

use herringbone_format::{Error, Location, Remedy};

use super::Lost;
use super::assemble::{Ambiguity, Assembled};
use super::codecs::Codecs;
use super::scan::FoundPages;

/// The maximum number of row counts listed in a message.
const SHOWN_ROWS: usize = 8;

/// Adjacent pages and bytes outside all row groups.
#[derive(Debug, Default)]
struct Stretch {
    offset: u64,
    pages: Range<usize>,
    damaged: usize,
    /// The number of bytes outside of pages.
    bytes: u64,
}

/// Returns everything found outside of row groups. `unexplained` has the bytes before the first
/// page.
pub(super) fn of_pages(
    found: &FoundPages,
    assembled: &Assembled,
    unexplained: &[Range<u64>],
) -> Vec<Lost> {
    let mut lost: Vec<Lost> = unexplained.iter().cloned().map(bytes).collect();
    let mut taken = assembled
        .row_groups
        .iter()
        .map(|row_group| row_group.pages.clone());
    let mut next = taken.next();
    let mut stretch: Option<Stretch> = None;
    for (ordinal, page) in found.pages.iter().enumerate() {
        while next.as_ref().is_some_and(|next| next.end <= ordinal) {
            next = taken.next();
        }
        if !page.unexplained.is_empty() {
            add_bytes(&mut stretch, &page.unexplained, ordinal);
        }
        if next.as_ref().is_some_and(|next| next.start <= ordinal) {
            lost.extend(
                stretch
                    .take()
                    .map(|stretch| stretch.lost(&assembled.ambiguities)),
            );
            continue;
        }
        let stretch = stretch.get_or_insert_with(|| Stretch {
            offset: page.offset,
            pages: ordinal..ordinal,
            ..Stretch::default()
        });
        stretch.pages.end = ordinal + 1;
        stretch.damaged += usize::from(!page.intact);
    }
    if !found.unexplained.is_empty() {
        add_bytes(&mut stretch, &found.unexplained, found.pages.len());
    }
    lost.extend(stretch.map(|stretch| stretch.lost(&assembled.ambiguities)));
    lost
}

fn add_bytes(stretch: &mut Option<Stretch>, bytes: &Range<u64>, page: usize) {
    let stretch = stretch.get_or_insert_with(|| Stretch {
        offset: bytes.start,
        pages: page..page,
        ..Stretch::default()
    });
    stretch.bytes += bytes.end - bytes.start;
}

/// Describes the loss of bytes outside of pages.
fn bytes(range: Range<u64>) -> Lost {
    let stretch = Stretch {
        offset: range.start,
        bytes: range.end - range.start,
        ..Stretch::default()
    };
    stretch.lost(&[])
}

impl Stretch {
    fn lost(&self, ambiguities: &[Ambiguity]) -> Lost {
        let overlaps =
            |it: &&Ambiguity| it.pages.start < self.pages.end && self.pages.start < it.pages.end;
        let ambiguity = ambiguities.iter().find(overlaps);
        let mut parts = Vec::new();
        if !self.pages.is_empty() {
            let pages = counted(self.pages.len() as u64, "page");
            parts.push(match self.damaged {
                0 => pages,
                damaged => format!("{pages} ({damaged} damaged)"),
            });
        }
        if self.bytes > 0 {
            let bytes = counted(self.bytes, "byte");
            parts.push(format!("{bytes} without a complete page"));
        }
        let (reason, remedy) = match ambiguity {
            Some(ambiguity) => (ambiguity.reason(), ambiguity.remedy),
            None => (
                "not certain to belong to a complete row group".to_owned(),
                None,
            ),
        };
        let mut location = Location::default();
        location.offset = Some(self.offset);
        Lost {
            location,
            rows: None,
            reason: format!("{}: {reason}", parts.join(" and ")),
            remedy,
        }
    }
}

impl Ambiguity {
    /// Returns the error for ambiguous pages.
    pub(super) fn error(&self, found: &FoundPages) -> Error {
        let first = found.pages.get(self.pages.start);
        let error = match self.remedy {
            Some(remedy @ Remedy::GiveRowGroupRows) => {
                Error::argument(self.reason()).with_remedy(remedy)
            }
            Some(remedy) => Error::corrupt(self.reason()).with_remedy(remedy),
            None => Error::corrupt(self.reason()),
        };
        error.at_offset(first.map_or(0, |page| page.offset))
    }

    fn reason(&self) -> String {
        if !self.codecs.is_empty() {
            let codecs: Vec<String> = self.codecs.iter().map(|codec| codec.to_string()).collect();
            let codecs = codecs.join(" or ");
            return format!(
                "pages may have been compressed with {codecs}, which yield different values"
            );
        }
        if self.rows.is_empty() {
            return "the pages can be assembled in too many ways to try them all".to_owned();
        }
        let shown = self.rows.iter().take(SHOWN_ROWS);
        let mut rows: Vec<String> = shown.map(u64::to_string).collect();
        if self.rows.len() > SHOWN_ROWS {
            rows.push("a different number of".to_owned());
        }
        let rows = rows.join(" or ");
        format!("a row group may have {rows} rows, and the pages fit all of these numbers")
    }

    /// Finds an option to resolve the ambiguity. `row_group_rows` is that option's current value.
    /// We can't suggest it if the user has already set it.
    pub(super) fn explain(&mut self, codecs: &Codecs, row_group_rows: Option<u64>) {
        let choice = self.pages.clone().find_map(|page| codecs.choice(page));
        self.codecs = choice.unwrap_or_default();
        self.remedy = match (self.codecs.is_empty(), row_group_rows) {
            (false, _) => Some(Remedy::GiveSchema),
            (true, None) => Some(Remedy::GiveRowGroupRows),
            (true, Some(_)) => None,
        };
    }
}

/// Formats a count with its noun, such as `1 page` or `2 pages`.
fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
