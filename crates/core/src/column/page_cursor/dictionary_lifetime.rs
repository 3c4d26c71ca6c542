//! Decides how long a column keeps its dictionary in memory.
//!
//! ```text
//! pages   dictionary | indices | indices | PLAIN | PLAIN | PLAIN | PLAIN | ...
//! memory  ##############################
//! ```
//!
//! Writers typically abandon a dictionary once it has grown too large, and from then on all pages of the column chunk
//! are PLAIN. So the column drops the dictionary after the first page that doesn't need it. If a later page refers to
//! the dictionary after all, the column reads it once more and keeps it.

use herringbone_format::Encoding;

use crate::page::PageStart;

/// The state of a column's dictionary.
#[derive(Default)]
pub(super) struct DictionaryLifetime {
    /// The place of the dictionary page, or `None` until the page is read.
    place: Option<PageStart>,
    /// True if the last data page did not need the dictionary.
    is_idle: bool,
    state: State,
}

#[derive(Clone, Copy, Default)]
enum State {
    /// The dictionary is in memory, if the chunk has one.
    #[default]
    Present,
    /// The dictionary was dropped.
    Dropped,
    /// The dictionary is being reread for the page at this place.
    Returning(PageStart),
    /// The dictionary stays in memory until the chunk ends.
    Permanent,
}

impl DictionaryLifetime {
    /// Records reading the dictionary page at `place`. After a reread, this returns the data page to continue with.
    pub(super) fn read(&mut self, place: PageStart) -> Option<PageStart> {
        self.place = Some(place);
        match self.state {
            State::Returning(page) => {
                self.state = State::Permanent;
                Some(page)
            }
            _ => None,
        }
    }

    /// Records whether a data page needs the dictionary.
    pub(super) fn count(&mut self, needs_dictionary: bool) {
        self.is_idle = !needs_dictionary;
    }

    /// Returns true if the dictionary is in memory and the last data page did not need it.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Present) && self.place.is_some() && self.is_idle
    }

    /// Records whether the array dropped the dictionary. If it didn't, it still needs the dictionary, which then stays
    /// for good.
    pub(super) fn set_dropped(&mut self, is_dropped: bool) {
        self.state = if is_dropped {
            State::Dropped
        } else {
            State::Permanent
        };
    }

    /// Returns the place of the dictionary page if the data page at `page` needs it and it has to be read again.
    pub(super) fn return_for(&mut self, page: PageStart) -> Option<PageStart> {
        if !matches!(self.state, State::Dropped) {
            return None;
        }
        self.state = State::Returning(page);
        self.place
    }
}

/// Returns true if values of this encoding are indices into the dictionary.
pub(super) fn is_indices(encoding: Encoding) -> bool {
    matches!(
        encoding,
        Encoding::RleDictionary | Encoding::PlainDictionary
    )
}
