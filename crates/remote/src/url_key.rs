//! Object keys in URL form.

/// The wildcards. A key with any of these is a pattern.
pub(crate) const PATTERN: [char; 3] = ['*', '?', '['];

/// Returns a key in URL form, escaping any characters with a special meaning in URLs or patterns.
///
/// ```
/// assert_eq!(herringbone_remote::escaped_key("a b/50%.parquet"), "a b/50%25.parquet");
/// ```
#[must_use]
pub fn escaped_key(key: &str) -> String {
    let mut text = String::with_capacity(key.len());
    for character in key.chars() {
        let is_special = character.is_ascii_control() || "%#".contains(character);
        match is_special || PATTERN.contains(&character) {
            true => text += &format!("%{:02X}", u32::from(character)),
            false => text.push(character),
        }
    }
    text
}
