//! Interns a value's field names. They arrive in any order, but the metadata has each name once, in
//! sorted order.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use herringbone_format::{Error, Result};

use super::fields::Seen;
use super::tape::Numbers;
use crate::bytes::{push_uint, width_of};
use crate::metadata::{Metadata, OFFSET_WIDTH_SHIFT, SORTED, VERSION};

/// The maximum number of names remembered from previous values. Beyond this, [`Names::clear`]
/// forgets them all, so that values with ever new names cannot make the table grow forever.
const REMEMBERED_NAMES: usize = 4096;
/// The maximum total size in bytes of the names remembered from previous values.
const REMEMBERED_BYTES: usize = 1 << 18;

/// All names known to a builder. A name's handle is its index in order of arrival.
///
/// Consecutive objects tend to have the same names in the same order. So we first try the name that
/// came next last time, which usually saves a hash table look-up.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    names: Vec<Name>,
    handles: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The name used last.
    last: Option<u32>,
    /// The number of objects and arrays opened so far, in all values.
    serial: u64,
    /// The `serial` before the current value began.
    first_serial: u64,
    /// The current value's names, in order of arrival.
    used: Vec<u32>,
    /// Each name's rank among all names in sorted order, as of the last sort. Names added since
    /// then have no rank yet.
    ranks: Vec<u32>,
    /// The ID of each used name, that is, its rank among the used names in sorted order.
    ids: Vec<u32>,
    /// The metadata given by the caller, if any. Its names come first, so that their handles are
    /// also their IDs.
    given: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy)]
struct Name {
    end: u32,
    /// The name that followed this one last time.
    next: u32,
    /// The serial number of the last object with this name.
    serial: u64,
}

impl Names {
    /// Returns the serial number for a new object or array.
    pub(super) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Returns the handle of a field's name. The second item shows whether the object with this
    /// serial number already had that name.
    #[inline]
    pub(super) fn field(&mut self, name: &str, serial: u64) -> Result<(u32, Seen)> {
        let handle = match self.guess(name) {
            Some(handle) => handle,
            None => self.find_or_add(name)?,
        };
        self.last = Some(handle);
        let first_serial = self.first_serial;
        let Some(known) = self.names.get_mut(handle as usize) else {
            return Ok((handle, Seen::No));
        };
        let before = std::mem::replace(&mut known.serial, serial);
        if before <= first_serial {
            self.used.push(handle);
        }
        let seen = match before.cmp(&serial) {
            std::cmp::Ordering::Less => Seen::No,
            std::cmp::Ordering::Equal => Seen::Yes,
            std::cmp::Ordering::Greater => Seen::Perhaps,
        };
        Ok((handle, seen))
    }

    #[inline]
    fn guess(&self, name: &str) -> Option<u32> {
        let next = self.names.get(self.last? as usize)?.next;
        (self.name(next) == name && (next as usize) < self.names.len()).then_some(next)
    }

    fn find_or_add(&mut self, name: &str) -> Result<u32> {
        let hash = self.hasher.hash_one(name);
        let found = self.handles.find(hash, |handle| self.name(*handle) == name);
        let handle = match found {
            Some(handle) => *handle,
            None if self.given.is_some() => return Err(missing(name)),
            None => self.add(name, hash)?,
        };
        let last = self.last.and_then(|last| self.names.get_mut(last as usize));
        if let Some(last) = last {
            last.next = handle;
        }
        Ok(handle)
    }

    fn add(&mut self, name: &str, hash: u64) -> Result<u32> {
        let handle = self.append(name)?;
        let Self {
            handles,
            names,
            text,
            hasher,
            ..
        } = self;
        handles.insert_unique(hash, handle, |handle| {
            hasher.hash_one(name_of(names, text, *handle))
        });
        Ok(handle)
    }

    /// Appends a name, even if it is already known.
    fn append(&mut self, name: &str) -> Result<u32> {
        let end = u32::try_from(self.text.len() + name.len());
        let handle = u32::try_from(self.names.len());
        let (Ok(end), Ok(handle)) = (end, handle) else {
            return Err(Error::argument("the names of a variant exceed 4 GiB"));
        };
        self.text.push_str(name);
        self.names.push(Name {
            end,
            next: 0,
            serial: 0,
        });
        Ok(handle)
    }

    /// Returns the name with this handle.
    #[inline]
    pub(super) fn name(&self, handle: u32) -> &str {
        name_of(&self.names, &self.text, handle)
    }

    /// Forgets which names are used, or all names if there are too many.
    pub(super) fn clear(&mut self) {
        self.used.clear();
        self.first_serial = self.serial;
        let many = self.names.len() > REMEMBERED_NAMES || self.text.len() > REMEMBERED_BYTES;
        if many && self.given.is_none() {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.last = None;
        self.text.clear();
        self.names.clear();
        self.handles.clear();
        self.ranks.clear();
    }

    /// Switches to this metadata's names, with their IDs.
    pub(super) fn use_metadata(&mut self, metadata: Metadata<'_>) -> Result<()> {
        if self.are(metadata) {
            return Ok(());
        }
        self.use_own_metadata();
        self.forget();
        for id in 0..metadata.len() as u32 {
            let name = metadata.name(id)?;
            let hash = self.hasher.hash_one(name);
            let known = self.handles.find(hash, |handle| self.name(*handle) == name);
            if known.is_some() {
                _ = self.append(name)?;
            } else {
                _ = self.add(name, hash)?;
            }
        }
        self.ids.clear();
        self.ids.extend(0..metadata.len() as u32);
        self.given = Some(metadata.as_bytes().to_vec());
        Ok(())
    }

    pub(super) fn use_own_metadata(&mut self) {
        if self.given.take().is_some() {
            self.forget();
        }
    }

    /// Returns true if the caller gave metadata, and it equals `metadata`.
    #[inline]
    pub(super) fn are(&self, metadata: Metadata<'_>) -> bool {
        let given = self.given.as_ref();
        given.is_some_and(|given| given == metadata.as_bytes())
    }

    /// Numbers the used names in sorted order.
    pub(super) fn number(&mut self) {
        if self.ranks.len() != self.names.len() {
            self.rank();
        }
        if self.given.is_some() {
            return;
        }
        let ranks = &self.ranks;
        self.used
            .sort_unstable_by_key(|handle| ranks.get(*handle as usize).copied());
        self.ids.resize(self.names.len(), 0);
        for (id, handle) in self.used.iter().enumerate() {
            if let Some(slot) = self.ids.get_mut(*handle as usize) {
                *slot = id as u32;
            }
        }
    }

    /// Returns the name IDs and sort keys. Call [`Names::number`] first.
    pub(super) fn numbers(&self) -> Numbers<'_> {
        Numbers {
            ids: &self.ids,
            order: match self.given {
                Some(_) => &self.ranks,
                None => &self.ids,
            },
        }
    }

    /// Sorts all known names.
    fn rank(&mut self) {
        let mut sorted: Vec<u32> = (0..self.names.len() as u32).collect();
        sorted.sort_unstable_by_key(|handle| self.name(*handle));
        self.ranks.clear();
        self.ranks.resize(sorted.len(), 0);
        for (rank, handle) in sorted.into_iter().enumerate() {
            if let Some(slot) = self.ranks.get_mut(handle as usize) {
                *slot = rank as u32;
            }
        }
    }

    /// Returns the byte count of this value's metadata.
    pub(super) fn size(&self) -> usize {
        if let Some(given) = &self.given {
            return given.len();
        }
        let (width, bytes) = self.width_and_bytes();
        1 + usize::from(width) * (self.used.len() + 2) + bytes
    }

    fn width_and_bytes(&self) -> (u8, usize) {
        let bytes = self
            .used
            .iter()
            .map(|handle| self.name(*handle).len())
            .sum();
        // Handles and name ends are 32-bit numbers, so the name count and byte count fit in 32 bits
        // too.
        let largest = self.used.len().max(bytes);
        (width_of(u32::try_from(largest).unwrap_or(u32::MAX)), bytes)
    }

    /// Appends this value's metadata. Call [`Names::number`] first.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if let Some(given) = &self.given {
            out.extend_from_slice(given);
            return;
        }
        let (width, bytes) = self.width_and_bytes();
        out.reserve(1 + usize::from(width) * (self.used.len() + 2) + bytes);
        out.push(VERSION | SORTED | (width - 1) << OFFSET_WIDTH_SHIFT);
        push_uint(out, self.used.len() as u32, width);
        push_uint(out, 0, width);
        let mut end = 0;
        for handle in &self.used {
            end += self.name(*handle).len() as u32;
            push_uint(out, end, width);
        }
        for handle in &self.used {
            out.extend_from_slice(self.name(*handle).as_bytes());
        }
    }
}

#[inline]
fn name_of<'a>(names: &[Name], text: &'a str, handle: u32) -> &'a str {
    let at = handle as usize;
    let start = match at.checked_sub(1) {
        Some(before) => names.get(before).map_or(0, |name| name.end),
        None => 0,
    };
    let end = names.get(at).map_or(0, |name| name.end);
    text.get(start as usize..end as usize).unwrap_or_default()
}

#[cold]
fn missing(name: &str) -> Error {
    Error::argument(format!(
        "the given metadata of a variant lacks the name `{name}`"
    ))
}
