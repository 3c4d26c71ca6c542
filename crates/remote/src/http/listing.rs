//! Keys in listings that `object_store` cannot represent, such as `a//b`.
//!
//! `object_store` refuses a whole listing because of such a key, so a single object would make all
//! others below its prefix unreadable. To prevent this, we remove these keys before it sees the
//! listing.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use object_store_014::path::Path;

/// Listing elements, each with its inner element for the key or prefix. The first two are used by
/// S3 and Google, the others by Azure.
const ELEMENTS: [(&str, &str); 4] = [
    ("Contents", "Key"),
    ("CommonPrefixes", "Prefix"),
    ("Blob", "Name"),
    ("BlobPrefix", "Name"),
];

/// The most keys to keep by name.
const MAX_NAMED: usize = 20;

/// The keys left out of a store's listings. Use this to report objects that cannot be read.
#[derive(Debug, Default, Clone)]
pub struct LeftOut(Arc<Mutex<Keys>>);

#[derive(Debug, Default)]
struct Keys {
    first: Vec<String>,
    count: u64,
}

impl LeftOut {
    /// Returns the first keys, at most 20.
    #[must_use]
    pub fn first(&self) -> Vec<String> {
        self.with(|keys| keys.first.clone())
    }

    /// Returns the number of keys. A prefix counts as one key, and a key is counted again in each
    /// listing.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.with(|keys| keys.count)
    }

    fn with<T>(&self, read: impl FnOnce(&mut Keys) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, key: String) {
        self.with(|keys| {
            keys.count += 1;
            if keys.first.len() < MAX_NAMED && !keys.first.contains(&key) {
                keys.first.push(key);
            }
        });
    }

    /// Removes entries with unrepresentable keys from a listing.
    pub(super) fn without_unusual(&self, listing: Bytes) -> Bytes {
        let Ok(text) = std::str::from_utf8(&listing) else {
            return listing;
        };
        let (mut kept, mut end) = (BytesMut::new(), 0);
        let mut at = 0;
        while let Some((start, element)) = next_element(text, at) {
            at = start + element.len();
            let Some(key) = key_of(element).filter(|key| !is_usual(key)) else {
                continue;
            };
            self.add(key);
            kept.extend_from_slice(text.get(end..start).unwrap_or_default().as_bytes());
            end = at;
        }
        if end == 0 {
            return listing;
        }
        kept.extend_from_slice(text.get(end..).unwrap_or_default().as_bytes());
        kept.freeze()
    }
}

/// Returns true if a query asks a store for a listing.
pub(super) fn is_listing(query: &str) -> bool {
    query
        .split('&')
        .any(|part| matches!(part, "list-type=2" | "comp=list"))
}

/// Returns true if `object_store` has a path for a key and doesn't map any other key to it. The key
/// can end with a slash.
fn is_usual(key: &str) -> bool {
    let path = Path::parse(key);
    path.is_ok_and(|path| path.as_ref() == key.strip_suffix('/').unwrap_or(key))
}

/// Returns the next listing element after an offset, with its own offset.
fn next_element(text: &str, from: usize) -> Option<(usize, &str)> {
    let mut from = from;
    loop {
        let start = from + text.get(from..)?.find('<')?;
        let rest = text.get(start..)?;
        let is_of = |name: &str| {
            let after = rest.get(1..)?.strip_prefix(name)?;
            after.starts_with(['>', ' ']).then_some(())
        };
        if let Some((name, _)) = ELEMENTS.iter().find(|(name, _)| is_of(name).is_some()) {
            let close = format!("</{name}>");
            let end = rest.find(&close)? + close.len();
            return Some((start, rest.get(..end)?));
        }
        from = start + 1;
    }
}

/// Returns the key in an element.
fn key_of(element: &str) -> Option<String> {
    let name = element.get(1..)?.split(['>', ' ']).next()?;
    let (_, inner) = ELEMENTS.iter().find(|(outer, _)| *outer == name)?;
    let (_, rest) = element.split_once(&format!("<{inner}>"))?;
    let (text, _) = rest.split_once(&format!("</{inner}>"))?;
    Some(unescaped(text))
}

/// Decodes XML entities, leaving unknown entities as they are.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let entity = after.split_once(';').and_then(|(name, next)| {
            let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok();
            let character = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                name => {
                    let digits = name.strip_prefix('#')?;
                    let code = match digits.strip_prefix(['x', 'X']) {
                        Some(digits) => number(digits, 16),
                        None => number(digits, 10),
                    };
                    char::from_u32(code?)?
                }
            };
            Some((character, next))
        });
        match entity {
            Some((character, next)) => {
                out.push(character);
                rest = next;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(key: &str) -> String {
        format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>")
    }

    #[test]
    fn keys_without_a_path_are_left_out_and_reported() {
        let usual = ["a/b", "a/b&amp;c", "a/%2E", "a/...", "a/b/", "ü"];
        let unusual = [
            "a//b", "a/./b", "a/..", "a/&#x1;b", "a/&#127;", "/a", "a//", "&#10;",
        ];
        let parts = |keys: &[&str]| keys.iter().map(|key| contents(key)).collect::<String>();
        let prefix = |it: &str| format!("<CommonPrefixes><Prefix>{it}</Prefix></CommonPrefixes>");
        let listing = |contents: String, prefixes: String| {
            format!("<ListBucketResult><Prefix>x//</Prefix>{contents}{prefixes}</ListBucketResult>")
        };
        let all = listing(
            parts(&unusual) + &parts(&usual),
            prefix("a//") + &prefix("b/"),
        );
        let expected = listing(parts(&usual), prefix("b/"));
        let left_out = LeftOut::default();
        assert_eq!(left_out.without_unusual(all.into()), expected);
        assert_eq!(left_out.count(), 9);
        let first = left_out.first();
        // Of the two `a//`, one is a prefix.
        assert_eq!(first.len(), 8);
        assert_eq!(first[..4], ["a//b", "a/./b", "a/..", "a/\u{1}b"]);
        // An unaffected listing is returned as it is.
        let bytes = Bytes::from(expected);
        assert_eq!(
            left_out.without_unusual(bytes.clone()).as_ptr(),
            bytes.as_ptr()
        );
    }

    #[test]
    fn listings_of_azure_have_other_names() {
        let blob = |it: &str| format!("<Blob><Name>{it}</Name></Blob>");
        let prefix = |it: &str| format!("<BlobPrefix><Name>{it}</Name></BlobPrefix>");
        let all = blob("a//b") + &blob("c") + &prefix("d//") + &prefix("e/");
        let left_out = LeftOut::default();
        let kept = left_out.without_unusual(all.into());
        assert_eq!(kept, blob("c") + &prefix("e/"));
        assert_eq!(left_out.first(), ["a//b", "d//"]);
    }

    #[test]
    fn broken_listings_stay_as_they_are() {
        for text in [
            "<Contents>",
            "<Contents><Key>a//b",
            "<",
            "a",
            "<Contents/>",
            "<ContentsX><Key>//</Key>",
        ] {
            let left_out = LeftOut::default();
            assert_eq!(left_out.without_unusual(Bytes::from(text)), text);
            assert_eq!(left_out.count(), 0);
        }
    }

    #[test]
    fn only_listings_are_changed() {
        assert!(is_listing("list-type=2&prefix=a") && is_listing("a=b&comp=list"));
        assert!(!is_listing("prefix=list-type=2") && !is_listing("comp=lists"));
    }
}
