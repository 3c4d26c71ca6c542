//! The time that a column keeps its dictionary.
//!
//! ```text
//! pages   dictionary | indices | indices | PLAIN | PLAIN | PLAIN | PLAIN | ...
//! kept    ##############################
//! ```
//!
//! Writers give up a dictionary that has grown too large. All later pages of the column chunk are PLAIN then. So the column drops
//! the dictionary after the first page that does not need it. If a later page refers to it after all, the column reads it once more
//! and keeps it.

use herringbone_format::Encoding;

use crate::page::PageStart;

/// The dictionary of a column chunk, as its column uses it.
#[derive(Default)]
pub(super) struct DictionaryUse {
    /// Where its page is; `None` before it was read.
    place: Option<PageStart>,
    /// The last data page did without it.
    is_idle: bool,
    state: State,
}

#[derive(Clone, Copy, Default)]
enum State {
    /// It is there, if the chunk has one.
    #[default]
    Present,
    /// It was let go of.
    Away,
    /// It is read once more, for the page at this place.
    Returning(PageStart),
    /// It stays up to the end.
    Kept,
}

impl DictionaryUse {
    /// Notes that its page, which is at `place`, was read; the data page to go on with, if that was
    /// once more.
    pub(super) fn read(&mut self, place: PageStart) -> Option<PageStart> {
        self.place = Some(place);
        match self.state {
            State::Returning(page) => {
                self.state = State::Kept;
                Some(page)
            }
            _ => None,
        }
    }

    /// Notes a data page.
    pub(super) fn count(&mut self, needs_dictionary: bool) {
        self.is_idle = !needs_dictionary;
    }

    /// Whether it is there and of no use any more, as far as one knows.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Present) && self.place.is_some() && self.is_idle
    }

    /// Notes that it was let go of, or else that it cannot be.
    pub(super) fn leave(&mut self, is_away: bool) {
        self.state = if is_away { State::Away } else { State::Kept };
    }

    /// Where its page is, if it must be read before the data page at `page`, which needs it.
    pub(super) fn return_for(&mut self, page: PageStart) -> Option<PageStart> {
        if !matches!(self.state, State::Away) {
            return None;
        }
        self.state = State::Returning(page);
        self.place
    }
}

/// Whether values are indices into the dictionary.
pub(super) fn is_indices(encoding: Encoding) -> bool {
    matches!(
        encoding,
        Encoding::RleDictionary | Encoding::PlainDictionary
    )
}
