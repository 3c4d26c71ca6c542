//! `ArrowSchema` as a [`Type`], which the arrays are checked against.

use std::ffi::c_char;
use std::{slice, str};

use crate::error::{Refused, Result};
use crate::structs::ArrowSchema;

/// The maximum depth of a schema, as `schema_depth` of files.
const MAX_DEPTH: usize = 100;
/// The maximum number of fields, as `schema_nodes` of files.
const MAX_FIELDS: usize = 1 << 18;
/// The maximum number of bytes of a name.
const MAX_NAME_BYTES: usize = 1 << 20;
/// The maximum number of bytes of a format.
const MAX_FORMAT_BYTES: usize = 1 << 12;
/// The maximum number of bytes of the metadata of a field, as `footer_bytes` of files.
const MAX_METADATA_BYTES: usize = 1 << 30;
/// The maximum number of pairs in the metadata of a field.
const MAX_METADATA_PAIRS: i32 = 1 << 16;

/// A checked type, by which its arrays are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) children: Vec<Self>,
    pub(crate) dictionary: Option<Box<Self>>,
}

/// The buffers and children of a type's arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    Null,
    /// Values of this number of bits.
    Fixed(u64),
    /// Integers of this number of bytes, which dictionary keys and run ends may be.
    Integer {
        bytes: u64,
        is_signed: bool,
    },
    /// Text and binary values with offsets of this number of bytes.
    Bytes(u64),
    View,
    /// Lists with offsets of this number of bytes.
    List(u64),
    ListView(u64),
    FixedList(u64),
    Struct,
    RunEnds,
    /// The type ids of the children.
    SparseUnion(Vec<u8>),
    DenseUnion(Vec<u8>),
}

impl Type {
    /// Checks a schema.
    ///
    /// # Errors
    /// Fails if a number or a text is not one of Arrow, or beyond the limits.
    ///
    /// # Safety
    /// The pointers of the schema and of all below must be null, or point to initialized values that do not change meanwhile.
    pub unsafe fn of_schema(schema: &ArrowSchema) -> Result<Self> {
        let mut fields = 0;
        // SAFETY: this function has the same condition.
        unsafe { of_field(schema, 1, &mut fields) }
    }
}

/// # Safety
/// As for [`Type::of_schema`].
unsafe fn of_field(schema: &ArrowSchema, depth: usize, fields: &mut usize) -> Result<Type> {
    if depth > MAX_DEPTH {
        return Err(Refused::new(format!(
            "the type is nested more than {MAX_DEPTH} levels deep"
        )));
    }
    *fields += 1;
    if *fields > MAX_FIELDS {
        return Err(Refused::new(format!(
            "the schema has more than {MAX_FIELDS} fields"
        )));
    }
    if schema.release.is_none() {
        return Err(Refused::new(
            "the schema is released; a struct can be imported once",
        ));
    }
    // SAFETY: names and formats end with a zero byte, if they are not null.
    let (name, format) = unsafe {
        (
            text(schema.name, MAX_NAME_BYTES, "name")?.unwrap_or_default(),
            text(schema.format, MAX_FORMAT_BYTES, "format")?,
        )
    };
    let Some(format) = format else {
        return Err(Refused::new("the schema has no format").in_field(name));
    };
    let mut build = || {
        // SAFETY: metadata are null or as long as their lengths say, which the producer promises.
        unsafe { check_metadata(schema.metadata)? };
        let layout = layout(format)?;
        // SAFETY: as for this function.
        let children = unsafe { children_of(schema, &layout, depth, fields)? };
        check_children(format, &children)?;
        // SAFETY: as for this function. The pointer is null or valid.
        let dictionary = match unsafe { aligned(schema.dictionary.cast_const(), "dictionary")? } {
            None => None,
            Some(_) if !matches!(layout, Layout::Integer { .. }) => {
                return Err(Refused::new(format!(
                    "the keys of a dictionary have the format `{format}`, but they are integers"
                )));
            }
            // SAFETY: as for this function.
            Some(values) => Some(Box::new(unsafe { of_field(values, depth + 1, fields)? })),
        };
        Ok(Type {
            name: name.to_owned(),
            layout,
            children,
            dictionary,
        })
    };
    build().map_err(|refused: Refused| refused.in_field(name))
}

/// # Safety
/// As for [`Type::of_schema`].
unsafe fn children_of(
    schema: &ArrowSchema,
    layout: &Layout,
    depth: usize,
    fields: &mut usize,
) -> Result<Vec<Type>> {
    let count = usize::try_from(schema.n_children).map_err(|_| {
        Refused::new(format!(
            "it has {} children; a number of children is 0 or more",
            schema.n_children
        ))
    })?;
    let expected = match layout {
        Layout::Struct => count,
        Layout::List(_) | Layout::ListView(_) | Layout::FixedList(_) => 1,
        Layout::RunEnds => 2,
        Layout::SparseUnion(ids) | Layout::DenseUnion(ids) => ids.len(),
        Layout::Null
        | Layout::Fixed(_)
        | Layout::Integer { .. }
        | Layout::Bytes(_)
        | Layout::View => 0,
    };
    if count != expected {
        return Err(Refused::new(format!(
            "it has {count} children, but its type has {expected}"
        )));
    }
    if count > MAX_FIELDS {
        return Err(Refused::new(format!(
            "it has {count} children, but a schema has at most {MAX_FIELDS} fields"
        )));
    }
    let mut children = Vec::new();
    for at in 0..count {
        // SAFETY: the producer promises `n_children` pointers, and `at` is below.
        let child = unsafe { child_at(schema.children.cast_const().cast(), at)? };
        // SAFETY: as for this function.
        children.push(unsafe { of_field(child, depth + 1, fields)? });
    }
    Ok(children)
}

/// Fails if children have other types than their parent needs.
fn check_children(format: &str, children: &[Type]) -> Result {
    let Some(first) = children.first() else {
        return Ok(());
    };
    let is_entry = first.layout == Layout::Struct && first.children.len() == 2;
    let is_end = first.dictionary.is_none()
        && matches!(
            first.layout,
            Layout::Integer {
                bytes: 2 | 4 | 8,
                is_signed: true
            }
        );
    match format {
        "+m" if !is_entry => Err(Refused::new(
            "the entries of a map are not structs of a key and a value",
        )),
        "+r" if !is_end => Err(Refused::new(
            "run ends are not signed integers of 16, 32 or 64 bits",
        )),
        _ => Ok(()),
    }
}

/// Returns the child at a place of an array of pointers.
///
/// # Safety
/// `children` must be null or point to more than `at` pointers, each null or valid.
pub(crate) unsafe fn child_at<'a, T>(children: *const *const T, at: usize) -> Result<&'a T> {
    // SAFETY: the pointers are one after the other, as this function demands.
    let child = unsafe {
        match aligned(children.wrapping_add(at), "array of children")? {
            Some(child) if !children.is_null() => aligned(*child, "child")?,
            _ => None,
        }
    };
    child.ok_or_else(|| Refused::new(format!("child {at} is missing")))
}

/// Returns the value of a pointer, or `None` for null.
///
/// # Safety
/// The pointer must be null or point to an initialized value.
pub(crate) unsafe fn aligned<'a, T>(pointer: *const T, name: &str) -> Result<Option<&'a T>> {
    if !pointer.is_aligned() {
        return Err(Refused::new(format!(
            "the pointer of the {name} is not aligned"
        )));
    }
    // SAFETY: it is null or valid, as this function demands, and aligned.
    Ok(unsafe { pointer.as_ref() })
}

/// Returns the text of a pointer, or `None` for null.
///
/// # Safety
/// The pointer must be null or point to bytes that end with a zero.
unsafe fn text<'a>(
    pointer: *const c_char,
    max_bytes: usize,
    name: &str,
) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    let mut length = 0;
    // SAFETY: no byte before was zero, so that this one belongs to the text.
    while unsafe { pointer.add(length).read() } != 0 {
        length += 1;
        if length > max_bytes {
            return Err(Refused::new(format!(
                "the {name} is longer than {max_bytes} bytes"
            )));
        }
    }
    // SAFETY: the bytes before the zero were just read.
    let bytes = unsafe { slice::from_raw_parts(pointer.cast::<u8>(), length) };
    match str::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Refused::new(format!("the {name} is not UTF-8"))),
    }
}

/// Checks the lengths in metadata: a number of pairs, and for each the bytes of its key and value after their lengths.
///
/// # Safety
/// The pointer must be null or point to as many bytes as the lengths say.
unsafe fn check_metadata(metadata: *const c_char) -> Result {
    if metadata.is_null() {
        return Ok(());
    }
    // SAFETY: metadata begin with the number of pairs.
    let pairs = unsafe { metadata.cast::<i32>().read_unaligned() };
    if !(0..=MAX_METADATA_PAIRS).contains(&pairs) {
        return Err(Refused::new(format!(
            "the metadata have {pairs} pairs; 0 to {MAX_METADATA_PAIRS} are possible"
        )));
    }
    let mut at = size_of::<i32>();
    for _ in 0..2 * pairs {
        // SAFETY: the lengths before end here, and another one follows.
        let length = unsafe { metadata.add(at).cast::<i32>().read_unaligned() };
        at += size_of::<i32>();
        let length = usize::try_from(length)
            .map_err(|_| Refused::new(format!("a text of the metadata has {length} bytes")))?;
        if length > MAX_METADATA_BYTES.saturating_sub(at) {
            return Err(Refused::new(format!(
                "the metadata have more than {MAX_METADATA_BYTES} bytes"
            )));
        }
        // SAFETY: `length` bytes follow the length.
        let bytes = unsafe { slice::from_raw_parts(metadata.add(at).cast::<u8>(), length) };
        if str::from_utf8(bytes).is_err() {
            return Err(Refused::new("a text of the metadata is not UTF-8"));
        }
        at += length;
    }
    Ok(())
}

/// Returns the layout of a format.
fn layout(format: &str) -> Result<Layout> {
    let unknown = || Refused::new(format!("the format `{format}` is unknown"));
    let number = |text: &str| {
        text.parse::<i32>()
            .ok()
            .and_then(|number| u64::try_from(number).ok())
            .ok_or_else(|| {
                Refused::new(format!(
                    "the format `{format}` has the size {text}; a size is 0 to {}",
                    i32::MAX
                ))
            })
    };
    let integer = |bytes, is_signed| Layout::Integer { bytes, is_signed };
    Ok(match format {
        "n" => Layout::Null,
        "b" => Layout::Fixed(1),
        "c" => integer(1, true),
        "C" => integer(1, false),
        "s" => integer(2, true),
        "S" => integer(2, false),
        "i" => integer(4, true),
        "I" => integer(4, false),
        "l" => integer(8, true),
        "L" => integer(8, false),
        "e" => Layout::Fixed(16),
        "f" | "tdD" | "tts" | "ttm" | "tiM" => Layout::Fixed(32),
        "g" | "tdm" | "ttu" | "ttn" | "tDs" | "tDm" | "tDu" | "tDn" | "tiD" => Layout::Fixed(64),
        "tin" => Layout::Fixed(128),
        "u" | "z" => Layout::Bytes(4),
        "U" | "Z" => Layout::Bytes(8),
        "vu" | "vz" => Layout::View,
        "+l" | "+m" => Layout::List(4),
        "+L" => Layout::List(8),
        "+vl" => Layout::ListView(4),
        "+vL" => Layout::ListView(8),
        "+s" => Layout::Struct,
        "+r" => Layout::RunEnds,
        _ => match format.split_once(':') {
            Some(("tss" | "tsm" | "tsu" | "tsn", _)) => Layout::Fixed(64),
            Some(("w", bytes)) => Layout::Fixed(number(bytes)? * 8),
            Some(("+w", slots)) => Layout::FixedList(number(slots)?),
            Some(("d", parameters)) => Layout::Fixed(decimal_bits(parameters).ok_or_else(unknown)?),
            Some(("+us", ids)) => Layout::SparseUnion(type_ids(ids).ok_or_else(unknown)?),
            Some(("+ud", ids)) => Layout::DenseUnion(type_ids(ids).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        },
    })
}

/// Returns the number of bits of a decimal: precision, scale, and the bits unless they are 128.
fn decimal_bits(parameters: &str) -> Option<u64> {
    let mut parts = parameters.split(',');
    let precision: u8 = parts.next()?.parse().ok()?;
    parts.next()?.parse::<i8>().ok()?;
    let bits = parts.next().unwrap_or("128");
    let (bits, digits) = match (bits, parts.next()) {
        ("32", None) => (32, 9),
        ("64", None) => (64, 18),
        ("128", None) => (128, 38),
        ("256", None) => (256, 76),
        _ => return None,
    };
    (1..=digits).contains(&precision).then_some(bits)
}

/// Returns the type ids of a union. They are different, and at most 127.
fn type_ids(text: &str) -> Option<Vec<u8>> {
    let mut ids: Vec<u8> = Vec::new();
    for id in text.split(',').filter(|_| !text.is_empty()) {
        let id = id.parse().ok().filter(|id| *id < 128)?;
        if ids.contains(&id) {
            return None;
        }
        ids.push(id);
    }
    Some(ids)
}
