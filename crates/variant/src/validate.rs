//! Checks of a whole value, without recursion.

use herringbone_format::{Error, Result};

use crate::children::Children;
use crate::limits::Limits;
use crate::value::Value;
use crate::variant::Variant;

/// An object or array that is being checked.
struct Level<'a> {
    children: Children<'a>,
    /// Of objects, the order of the names so far.
    order: Option<Order<'a>>,
}

/// By which forms of the names the fields so far are in strictly ascending order.
struct Order<'a> {
    previous: Option<&'a str>,
    utf8: bool,
    utf16: bool,
}

impl<'a> Order<'a> {
    fn push(&mut self, name: &'a str) -> Result<()> {
        if let Some(previous) = self.previous.replace(name) {
            self.utf8 &= previous < name;
            self.utf16 &= previous.encode_utf16().lt(name.encode_utf16());
            if !self.utf8 && !self.utf16 {
                return Err(out_of_order(previous, name));
            }
        }
        Ok(())
    }
}

pub(crate) fn validate(variant: Variant<'_>, limits: &Limits) -> Result<()> {
    limits.check_metadata_bytes(variant.metadata().as_bytes().len())?;
    limits.check_bytes(variant.as_bytes().len())?;
    variant.metadata().validate()?;
    let mut levels = Vec::new();
    open(variant, &mut levels, limits)?;
    while let Some(level) = levels.last_mut() {
        if let (Some(order), Some(id)) = (&mut level.order, level.children.next_field_id()) {
            order.push(level.children.container().metadata().name(id)?)?;
        }
        match level.children.next()? {
            Some(value) => open(value, &mut levels, limits)?,
            None => drop(levels.pop()),
        }
    }
    Ok(())
}

/// Checks a value by itself, and puts it on the stack if it holds others.
fn open<'a>(variant: Variant<'a>, levels: &mut Vec<Level<'a>>, limits: &Limits) -> Result<()> {
    let (children, order) = match variant.value()? {
        Value::Object(object) => {
            let order = Order {
                previous: None,
                utf8: true,
                utf16: true,
            };
            (object.children(), Some(order))
        }
        Value::Array(array) => (array.children(), None),
        _ => return Ok(()),
    };
    limits.check_depth(levels.len() + 1)?;
    levels.push(Level { children, order });
    Ok(())
}

#[cold]
fn out_of_order(previous: &str, name: &str) -> Error {
    let (previous, name) = (shortened(previous), shortened(name));
    Error::corrupt(if previous == name {
        format!("a variant object has two fields `{name}`")
    } else {
        format!("field `{name}` of a variant object comes behind `{previous}`")
    })
}

/// The beginning of a name, for a message.
fn shortened(name: &str) -> &str {
    let end = name
        .char_indices()
        .nth(80)
        .map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or(name)
}
