//! `ArrowArray` against its [`Type`].

use std::ffi::c_void;
use std::slice;

use crate::error::{Refused, Result};
use crate::schema::{Layout, Type, aligned, child_at};
use crate::structs::ArrowArray;

/// Checks an array of a type.
///
/// # Errors
/// Fails if a number does not fit the type, or a place is outside of its buffer or child.
///
/// # Safety
/// The pointers of the array and of all below must be null, or point to initialized values that do not change meanwhile. Each
/// buffer that is not null must have as many bytes as the type, length and offset ask for.
pub unsafe fn check_array(array: &ArrowArray, of: &Type) -> Result {
    // SAFETY: this function has the same condition.
    unsafe { check_field(array, of, 0) }.map_err(|refused| refused.in_field(&of.name))
}

/// Checks an array that has at least `needed` slots.
///
/// # Safety
/// As for [`check_array`].
unsafe fn check_field(array: &ArrowArray, of: &Type, needed: u64) -> Result {
    let slots = Slots::of(array)?;
    if slots.length < needed {
        return Err(Refused::new(format!(
            "it has {} slots, but the array above needs {needed}",
            slots.length
        )));
    }
    // SAFETY: as for this function.
    let buffers = unsafe { Buffers::of(array, &of.layout)? };
    let validity = buffers.validity(array.null_count, &slots, &of.layout)?;
    let count = of.children.len();
    if usize::try_from(array.n_children) != Ok(count) {
        return Err(Refused::new(format!(
            "the array has {} children, but its type has {count}",
            array.n_children
        )));
    }
    if array.dictionary.is_null() == of.dictionary.is_some() {
        return Err(Refused::new(
            "one of the array and its type has a dictionary, and the other has none",
        ));
    }
    // SAFETY: as for this function. The array has as many children as the type.
    let child = |at: usize, needed: u64| unsafe { check_child(array, of, at, needed) };
    match &of.layout {
        Layout::Null => {}
        Layout::Fixed(bits) => {
            buffers.get(1, slots.bytes(*bits)?)?;
        }
        Layout::Integer { bytes, is_signed } => {
            let keys = buffers.get(1, slots.bytes(bytes * 8)?)?;
            if let Some(values) = &of.dictionary {
                // SAFETY: as for this function.
                let entries = unsafe { check_dictionary(array, values)? };
                check_keys(keys, *bytes, *is_signed, &slots, validity, entries)?;
            }
        }
        Layout::Bytes(width) => {
            let end = buffers.last_offset(&slots, *width)?;
            buffers.get(2, size(end)?)?;
        }
        Layout::View => buffers.check_views(array, &slots, validity)?,
        Layout::List(width) => child(0, buffers.last_offset(&slots, *width)?)?,
        Layout::ListView(width) => child(0, buffers.end_of_list_views(&slots, *width)?)?,
        Layout::FixedList(each) => child(0, slots.end.checked_mul(*each).ok_or_else(too_long)?)?,
        Layout::Struct => (0..count).try_for_each(|at| child(at, slots.end))?,
        Layout::RunEnds => {
            // SAFETY: as for this function. The array has two children.
            let runs = unsafe { check_run_ends(array, of, slots.end)? };
            child(1, runs)?;
        }
        Layout::SparseUnion(ids) => {
            buffers.type_ids(&slots, ids)?;
            (0..count).try_for_each(|at| child(at, slots.end))?;
        }
        Layout::DenseUnion(ids) => {
            let needed = buffers.ends_of_union(&slots, ids)?;
            let mut ends = needed.into_iter().enumerate();
            ends.try_for_each(|(at, end)| child(at, end))?;
        }
    }
    Ok(())
}

/// # Safety
/// As for [`check_array`]. The array must have as many children as the type.
unsafe fn check_child(array: &ArrowArray, of: &Type, at: usize, needed: u64) -> Result {
    let Some(kind) = of.children.get(at) else {
        return Err(Refused::new(format!("child {at} is missing")));
    };
    // SAFETY: `at` is below the number of children, which the producer promises.
    let child = unsafe { child_at(array.children.cast_const().cast::<*const ArrowArray>(), at) };
    // SAFETY: as for this function.
    let checked = child.and_then(|child| unsafe { check_field(child, kind, needed) });
    checked.map_err(|refused| refused.in_field(&kind.name))
}

/// Checks the values of a dictionary, and returns their number.
///
/// # Safety
/// As for [`check_array`].
unsafe fn check_dictionary(array: &ArrowArray, values: &Type) -> Result<u64> {
    // SAFETY: the pointer is null or valid, as this function demands.
    match unsafe { aligned(array.dictionary.cast_const(), "dictionary")? } {
        // The caller compares the presence of dictionaries.
        None => Ok(0),
        Some(dictionary) => {
            // SAFETY: as for this function.
            unsafe { check_field(dictionary, values, 0)? };
            Ok(Slots::of(dictionary)?.length)
        }
    }
}

/// Checks run ends, and returns the number of runs.
///
/// # Safety
/// As for [`check_array`]. The array must have two children.
unsafe fn check_run_ends(array: &ArrowArray, of: &Type, end: u64) -> Result<u64> {
    // SAFETY: the array has two children.
    unsafe { check_child(array, of, 0, 0)? };
    // SAFETY: the child was just checked.
    let ends = unsafe { child_at(array.children.cast_const().cast::<*const ArrowArray>(), 0)? };
    let Some(layout @ Layout::Integer { bytes, .. }) = of.children.first().map(|it| &it.layout)
    else {
        return Err(Refused::new("run ends are not integers"));
    };
    let slots = Slots::of(ends)?;
    // SAFETY: as for this function.
    let buffers = unsafe { Buffers::of(ends, layout)? };
    if ends.null_count != 0 {
        return Err(Refused::new("run ends have nulls"));
    }
    let numbers = buffers.get(1, slots.bytes(bytes * 8)?)?;
    let mut before = 0;
    each(numbers, *bytes, size(slots.offset)?, |_, run_end| {
        if run_end <= before {
            return Err(Refused::new(format!(
                "the run end {run_end} follows {before}; run ends grow"
            )));
        }
        before = run_end;
        Ok(())
    })?;
    match u64::try_from(before) {
        Ok(last) if last >= end => Ok(slots.length),
        _ => Err(Refused::new(format!(
            "the last run ends at {before}, but the array ends at {end}"
        ))),
    }
}

/// The slots of an array in its buffers.
struct Slots {
    offset: u64,
    length: u64,
    /// The sum of both, which is at most 2^62.
    end: u64,
}

impl Slots {
    fn of(array: &ArrowArray) -> Result<Self> {
        if array.release.is_none() {
            return Err(Refused::new(
                "the array is released; a struct can be imported once",
            ));
        }
        let (length, offset) = (array.length, array.offset);
        match (u64::try_from(length), u64::try_from(offset)) {
            (Ok(length), Ok(offset)) if length.saturating_add(offset) <= 1 << 62 => Ok(Self {
                offset,
                length,
                end: offset + length,
            }),
            _ => Err(Refused::new(format!(
                "it has {length} slots from slot {offset}; both are 0 or more, and their sum is at most 2^62"
            ))),
        }
    }

    /// Returns the number of bytes of values of this number of bits, before the end.
    fn bytes(&self, bits: u64) -> Result<usize> {
        let bits = self.end.checked_mul(bits).ok_or_else(too_long)?;
        size(bits.div_ceil(8))
    }
}

fn too_long() -> Refused {
    Refused::new("a buffer would be larger than the memory")
}

/// Returns a number of bytes that a buffer may have.
fn size(bytes: u64) -> Result<usize> {
    let bytes = isize::try_from(bytes).map_err(|_| too_long())?;
    Ok(bytes.unsigned_abs())
}

/// The buffers of an array.
struct Buffers<'a> {
    pointers: &'a [*const c_void],
}

impl<'a> Buffers<'a> {
    /// # Safety
    /// As for [`check_array`].
    unsafe fn of(array: &'a ArrowArray, layout: &Layout) -> Result<Self> {
        let found = array.n_buffers;
        let (least, most) = match layout {
            Layout::Null | Layout::RunEnds => (0, 0),
            Layout::Struct | Layout::FixedList(_) | Layout::SparseUnion(_) => (1, 1),
            Layout::Fixed(_) | Layout::Integer { .. } | Layout::List(_) | Layout::DenseUnion(_) => {
                (2, 2)
            }
            Layout::Bytes(_) | Layout::ListView(_) => (3, 3),
            Layout::View => (3, i64::from(i32::MAX)),
        };
        if !(least..=most).contains(&found) {
            return Err(Refused::new(format!(
                "it has {found} buffers, but its type has {least}"
            )));
        }
        let pointers = array.buffers.cast_const();
        if least == 0 {
            return Ok(Self { pointers: &[] });
        }
        if pointers.is_null() || !pointers.is_aligned() {
            return Err(Refused::new("the array of buffers is missing"));
        }
        // SAFETY: it is not null, aligned, and the producer promises `n_buffers` pointers. They are at most 2^31, so that their
        // bytes are fewer than `isize::MAX`, unless pointers have 32 bits, where the producer could not have them.
        let pointers = unsafe { slice::from_raw_parts(pointers, size(found.unsigned_abs())?) };
        Ok(Self { pointers })
    }

    /// Returns the bytes of a buffer. One without bytes may be null.
    fn get(&self, at: usize, bytes: usize) -> Result<&'a [u8]> {
        let pointer = self.pointers.get(at).copied().unwrap_or(std::ptr::null());
        if bytes == 0 {
            return Ok(&[]);
        }
        if pointer.is_null() {
            return Err(Refused::new(format!(
                "buffer {at} is missing, which has {bytes} bytes"
            )));
        }
        // SAFETY: it is not null, bytes need no alignment, their number is at most `isize::MAX`, and the producer promises that
        // the buffer has as many as its type and slots ask for.
        Ok(unsafe { slice::from_raw_parts(pointer.cast::<u8>(), bytes) })
    }

    /// Returns the bitmap of slots that are not null, if there is one.
    fn validity(
        &self,
        null_count: i64,
        slots: &Slots,
        layout: &Layout,
    ) -> Result<Option<&'a [u8]>> {
        let has_bitmap = match layout {
            Layout::Null | Layout::RunEnds | Layout::SparseUnion(_) | Layout::DenseUnion(_) => None,
            _ => Some(self.pointers.first().is_some_and(|first| !first.is_null())),
        };
        let most = i64::try_from(slots.length).unwrap_or(i64::MAX);
        if !(-1..=most).contains(&null_count) {
            return Err(Refused::new(format!(
                "it has {null_count} nulls in {most} slots"
            )));
        }
        match has_bitmap {
            Some(true) => self.get(0, slots.bytes(1)?).map(Some),
            // Without a bitmap, uncounted nulls are none: some producers of C++ count later.
            Some(false) if null_count > 0 => Err(Refused::new(format!(
                "it has {null_count} nulls, but no bitmap; without one there are 0"
            ))),
            Some(false) | None => Ok(None),
        }
    }

    /// Checks that offsets do not fall, and returns the last.
    fn last_offset(&self, slots: &Slots, width: u64) -> Result<u64> {
        let is_missing = self.pointers.get(1).is_none_or(|pointer| pointer.is_null());
        // Offsets of no slots may be left out.
        if slots.end == 0 && is_missing {
            return Ok(0);
        }
        let bytes = (slots.end + 1).checked_mul(width).ok_or_else(too_long)?;
        let offsets = self.get(1, size(bytes)?)?;
        let mut before = 0;
        each(offsets, width, size(slots.offset)?, |_, offset| {
            if offset < before {
                return Err(Refused::new(format!(
                    "the offset {offset} follows {before}; offsets are 0 or more, and do not fall"
                )));
            }
            before = offset;
            Ok(())
        })?;
        Ok(before.unsigned_abs())
    }

    /// Returns the number of values that list views need.
    fn end_of_list_views(&self, slots: &Slots, width: u64) -> Result<u64> {
        let bytes = slots.bytes(width * 8)?;
        let first = size(slots.offset)?;
        let mut starts = Vec::new();
        each(self.get(1, bytes)?, width, first, |_, start| {
            starts.push(start);
            Ok(())
        })?;
        let (mut starts, mut end) = (starts.into_iter(), 0);
        each(self.get(2, bytes)?, width, first, |_, length| {
            let start = starts.next().unwrap_or_default();
            if start < 0 || length < 0 {
                return Err(Refused::new(format!(
                    "a list has {length} values from value {start}; both are 0 or more"
                )));
            }
            end = end.max(start.unsigned_abs() + length.unsigned_abs());
            Ok(())
        })?;
        Ok(end)
    }

    /// Checks that long views are in buffers that exist. Views of nulls are of any form.
    fn check_views(&self, array: &ArrowArray, slots: &Slots, validity: Option<&[u8]>) -> Result {
        let buffers = size(array.n_buffers.unsigned_abs())?.saturating_sub(3);
        let mut sizes = Vec::new();
        each(self.get(buffers + 2, buffers * 8)?, 8, 0, |_, bytes| {
            let negative = |_| {
                Refused::new(format!(
                    "a buffer of views has the size {bytes}, which is negative"
                ))
            };
            sizes.push(u64::try_from(bytes).map_err(negative)?);
            Ok(())
        })?;
        for (at, bytes) in sizes.iter().enumerate() {
            self.get(at + 2, size(*bytes)?)?;
        }
        let views = self.get(1, slots.bytes(128)?)?.as_chunks::<16>().0;
        let first = size(slots.offset)?;
        for (slot, view) in views.iter().enumerate().skip(first) {
            let [length, _, buffer, start] = words(*view);
            let fits = || {
                let size = *sizes.get(usize::try_from(buffer).ok()?)?;
                let end = u64::try_from(start).ok()? + u64::try_from(length).ok()?;
                (end <= size).then_some(())
            };
            let is_valid = (0..=12).contains(&length) || (length > 12 && fits().is_some());
            if !is_valid && is_set(validity, slot) {
                return Err(Refused::new(format!(
                    "slot {slot} is a view of {length} bytes from byte {start} of buffer {buffer}, but there are {} buffers",
                    sizes.len()
                )));
            }
        }
        Ok(())
    }

    /// Checks the type ids of a union.
    fn type_ids(&self, slots: &Slots, ids: &[u8]) -> Result<&'a [u8]> {
        let found = self.get(0, slots.bytes(8)?)?;
        match found
            .iter()
            .skip(size(slots.offset)?)
            .find(|id| !ids.contains(id))
        {
            Some(id) => Err(Refused::new(format!(
                "the union has no type with the id {id}"
            ))),
            None => Ok(found),
        }
    }

    /// Returns the number of slots that each child of a dense union needs.
    fn ends_of_union(&self, slots: &Slots, ids: &[u8]) -> Result<Vec<u64>> {
        let found = self.type_ids(slots, ids)?;
        let mut ends = vec![0; ids.len()];
        let offsets = self.get(1, slots.bytes(32)?)?;
        each(offsets, 4, size(slots.offset)?, |slot, offset| {
            let Ok(offset) = u64::try_from(offset) else {
                return Err(Refused::new(format!(
                    "the union has the offset {offset}; offsets are 0 or more"
                )));
            };
            let child = ids.iter().position(|id| Some(id) == found.get(slot));
            if let Some(end) = child.and_then(|child| ends.get_mut(child)) {
                *end = offset.saturating_add(1).max(*end);
            }
            Ok(())
        })?;
        Ok(ends)
    }
}

/// Fails if a key is none of the entries. Keys of nulls are any number.
fn check_keys(
    keys: &[u8],
    bytes: u64,
    is_signed: bool,
    slots: &Slots,
    validity: Option<&[u8]>,
    entries: u64,
) -> Result {
    let unsigned_bits = u32::try_from(64 - bytes * 8).unwrap_or(0);
    each(keys, bytes, size(slots.offset)?, |slot, key| {
        // The sign was extended.
        let place = match is_signed {
            true => u64::try_from(key).ok(),
            false => Some(key.cast_unsigned() << unsigned_bits >> unsigned_bits),
        };
        if place.is_none_or(|place| place >= entries) && is_set(validity, slot) {
            return Err(Refused::new(format!(
                "the key {key} in slot {slot} is not in its dictionary, which has {entries} entries"
            )));
        }
        Ok(())
    })
}

/// Returns true if a slot is not null.
fn is_set(validity: Option<&[u8]>, slot: usize) -> bool {
    validity.is_none_or(|bits| {
        bits.get(slot / 8)
            .is_some_and(|byte| byte >> (slot % 8) & 1 == 1)
    })
}

/// Returns true if a bitmap has a null in the slots.
pub(crate) fn has_null(array: &ArrowArray, of: &Type) -> Result<bool> {
    let slots = Slots::of(array)?;
    // SAFETY: the caller has checked the array.
    let buffers = unsafe { Buffers::of(array, &of.layout)? };
    let validity = buffers.validity(array.null_count, &slots, &of.layout)?;
    let mut places = size(slots.offset)?..size(slots.end)?;
    Ok(validity.is_some() && places.any(|slot| !is_set(validity, slot)))
}

/// Returns the four 32-bit numbers of a view.
fn words(view: [u8; 16]) -> [i32; 4] {
    let bytes = u128::from_ne_bytes(view);
    // The lowest bytes are first in memory if the machine is little-endian.
    let word = |at: u32| {
        let shift = match cfg!(target_endian = "little") {
            true => 32 * at,
            false => 96 - 32 * at,
        };
        ((bytes >> shift) as u32).cast_signed()
    };
    [word(0), word(1), word(2), word(3)]
}

/// Calls `check` with the slots and signed integers of a buffer, from slot `first` on. An integer has 1, 2, 4 or 8 bytes.
fn each(
    buffer: &[u8],
    bytes: u64,
    first: usize,
    check: impl FnMut(usize, i64) -> Result,
) -> Result {
    match bytes {
        1 => each_of(
            buffer,
            first,
            |bytes| i8::from_ne_bytes(bytes).into(),
            check,
        ),
        2 => each_of(
            buffer,
            first,
            |bytes| i16::from_ne_bytes(bytes).into(),
            check,
        ),
        4 => each_of(
            buffer,
            first,
            |bytes| i32::from_ne_bytes(bytes).into(),
            check,
        ),
        _ => each_of(buffer, first, i64::from_ne_bytes, check),
    }
}

fn each_of<const N: usize>(
    buffer: &[u8],
    first: usize,
    number: impl Fn([u8; N]) -> i64,
    mut check: impl FnMut(usize, i64) -> Result,
) -> Result {
    let mut numbers = buffer.as_chunks().0.iter().enumerate().skip(first);
    numbers.try_for_each(|(slot, bytes)| check(slot, number(*bytes)))
}
