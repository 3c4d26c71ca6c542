//! Texts from C, and texts for C.

use std::ffi::{CStr, CString, c_char};

use crate::error::{Result, argument, text_of};

/// The maximum number of texts in a list.
const MAX_TEXTS: usize = 1 << 20;

/// Returns a text.
///
/// # Safety
/// The pointer must be null or point to bytes that end with a zero, and that stay while the result is used.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(argument(format!("{name} is null")));
    }
    // SAFETY: it is not null and ends with a zero byte.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| argument(format!("{name} is not UTF-8")))
}

/// Returns the texts of a list, which ends with a null. The list itself may be null, too.
///
/// # Safety
/// Each pointer before the null must be as for [`text`].
unsafe fn list<'a>(pointers: *const *const c_char, name: &str) -> Result<Vec<&'a str>> {
    let mut texts = Vec::new();
    if pointers.is_null() {
        return Ok(texts);
    }
    for at in 0..MAX_TEXTS {
        // SAFETY: no pointer before was the null at the end.
        let pointer = unsafe { pointers.add(at).read() };
        if pointer.is_null() {
            return Ok(texts);
        }
        // SAFETY: as for this function.
        texts.push(unsafe { text(pointer, name)? });
    }
    Err(argument(format!(
        "{name} have more than {MAX_TEXTS} texts; the last one is followed by NULL"
    )))
}

/// Returns texts, at least one.
///
/// # Safety
/// As for [`list`].
pub(crate) unsafe fn texts<'a>(pointers: *const *const c_char, name: &str) -> Result<Vec<&'a str>> {
    // SAFETY: as for this function.
    let texts = unsafe { list(pointers, name)? };
    match texts.is_empty() {
        true => Err(argument(format!("{name} are empty"))),
        false => Ok(texts),
    }
}

/// Returns the keys and values of options.
///
/// # Safety
/// As for [`list`].
pub(crate) unsafe fn pairs<'a>(options: *const *const c_char) -> Result<Vec<(&'a str, &'a str)>> {
    // SAFETY: as for this function.
    let texts = unsafe { list(options, "the options")? };
    let (pairs, rest) = texts.as_chunks::<2>();
    match rest {
        [] => Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect()),
        [key, ..] => Err(argument(format!(
            "the option \"{key}\" has no value; keys and values take turns, and NULL is last"
        ))),
    }
}

/// Gives a text to C, which frees it by `hb_text_free`.
///
/// # Safety
/// `out` must be null or a place for a pointer.
pub(crate) unsafe fn give_text(out: *mut *mut c_char, text: &str) -> Result {
    if out.is_null() {
        return Err(argument("the place for the text is null"));
    }
    // SAFETY: it is not null, and a place for a pointer.
    unsafe { out.write(text_of(text).into_raw()) };
    Ok(())
}

/// Frees a text that a function returned by a `char **`. Null is allowed.
///
/// # Safety
/// `text` is null, or a text of this library that is not freed and was not changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hb_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller promises a text of `give_text`, which is not used afterwards.
        drop(unsafe { CString::from_raw(text) });
    }
}
