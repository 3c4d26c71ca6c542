//! Fields of the same name in one object.

use herringbone_format::{Error, Result};

use super::{DuplicateFields, VariantBuilder};

/// Whether the open object has a name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    No,
    /// An object within it has the name, which has hidden whether it has it itself.
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
    /// Drops all fields of the open object but one of each name, or says that there are some.
    #[cold]
    pub(super) fn drop_duplicates(&mut self) -> Result<()> {
        let mut fields = self.tape.open_fields();
        // Stable: of one name, the first stays first.
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
