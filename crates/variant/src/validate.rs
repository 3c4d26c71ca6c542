//! Checks a whole value, without recursion.

use herringbone_format::{Error, Result};

use crate::bytes::utf8;
use crate::children::Children;
use crate::container::Container;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::value::{integer, text};
use crate::variant::Variant;

/// An object or array being checked.
struct Level<'a> {
    children: Children<'a>,
    /// The order of an object's names so far.
    order: Option<Order<'a>>,
}

/// The orders that the field names have followed so far: as UTF-8 bytes, as UTF-16, or both.
struct Order<'a> {
    previous: Option<&'a [u8]>,
    utf8: bool,
    /// True if the names ascend as UTF-16. We only check this if the two orders can differ.
    utf16: bool,
}

impl<'a> Order<'a> {
    fn push(&mut self, name: &'a [u8]) -> Result<()> {
        if let Some(previous) = self.previous.replace(name) {
            self.utf8 &= previous < name;
            if self.utf16 {
                let (previous, name) = (utf8(previous, NAME)?, utf8(name, NAME)?);
                self.utf16 = previous.encode_utf16().lt(name.encode_utf16());
            }
            if !self.utf8 && !self.utf16 {
                return Err(out_of_order(utf8(previous, NAME)?, utf8(name, NAME)?));
            }
        }
        Ok(())
    }
}

const NAME: &str = "field name";

pub(crate) fn validate(variant: Variant<'_>, limits: &Limits) -> Result<()> {
    let metadata = variant.metadata();
    limits.check_metadata_bytes(metadata.as_bytes().len())?;
    limits.check_bytes(variant.as_bytes().len())?;
    metadata.validate()?;
    let utf16 = metadata.orders_differ();
    let mut levels = Vec::new();
    let mut next = Some(variant.as_bytes());
    loop {
        if let Some(bytes) = next {
            match Container::if_any(metadata, bytes)? {
                Some(container) => {
                    limits.check_depth(levels.len() + 1)?;
                    levels.push(Level::new(container, utf16));
                }
                None => check_primitive(metadata, bytes)?,
            }
        }
        let Some(level) = levels.last_mut() else {
            return Ok(());
        };
        if let (Some(order), Some(id)) = (&mut level.order, level.children.next_field_id()) {
            order.push(metadata.name_bytes(id)?)?;
        }
        next = level.children.next_bytes()?;
        if next.is_none() {
            drop(levels.pop());
        }
    }
}

impl<'a> Level<'a> {
    fn new(container: Container<'a>, utf16: bool) -> Self {
        let order = Order {
            previous: None,
            utf8: true,
            utf16,
        };
        Self {
            children: Children::new(container),
            order: Some(order).filter(|_| container.is_object()),
        }
    }
}

/// Checks a primitive value. Integers and text take a fast path, since most values have these
/// types.
fn check_primitive(metadata: Metadata<'_>, bytes: &[u8]) -> Result<()> {
    if integer(bytes).is_none() && text(bytes)?.is_none() {
        _ = Variant::from_parts(metadata, bytes).value()?;
    }
    Ok(())
}

#[cold]
fn out_of_order(previous: &str, name: &str) -> Error {
    let (previous, name) = (shortened(previous), shortened(name));
    Error::corrupt(if previous == name {
        format!("a variant object has two fields `{name}`")
    } else {
        format!("field `{name}` of a variant object comes after `{previous}`: names must ascend")
    })
}

/// Returns the beginning of a name, so that a message stays short.
fn shortened(name: &str) -> &str {
    let end = name
        .char_indices()
        .nth(80)
        .map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or(name)
}
