//! Finds and drops fields with the same name in one object.

use herringbone_format::{Error, Result};

use super::{DuplicateFields, VariantBuilder};

/// The cheap answer to "does the open object already have this name?"
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    No,
    /// An object inside the open one has the name. This hides whether the open object has it too,
    /// because each name remembers only the last object that used it.
    Perhaps,
    Yes,
}

impl Seen {
    pub(super) fn is_certain(self) -> bool {
        self == Self::Yes
    }

    pub(super) fn is_possible(self) -> bool {
        self != Self::No
    }
}

impl VariantBuilder {
    /// Drops all fields of the open object except one per name, or fails if duplicates are an
    /// error.
    #[cold]
    pub(super) fn drop_duplicates(&mut self) -> Result<()> {
        let mut fields = self.tape.open_fields();
        // This sort is stable, so of the fields with one name, the first one stays first.
        fields.sort_by_key(|field| field.name);
        for pair in fields.windows(2) {
            let [first, second] = pair else { continue };
            if first.name != second.name {
                continue;
            }
            match self.duplicates {
                DuplicateFields::Error => return Err(duplicate(self.names.name(first.name))),
                DuplicateFields::KeepLast => self.tape.drop_field(first.index),
                DuplicateFields::KeepFirst => self.tape.drop_field(second.index),
            }
        }
        Ok(())
    }
}

#[cold]
pub(super) fn duplicate(name: &str) -> Error {
    Error::argument(format!("a variant object has two fields `{name}`"))
}
