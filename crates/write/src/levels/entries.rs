//! Repetition and definition levels under construction.

/// Level pairs, one per entry. There are no repetition levels before the first list.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) rep: Vec<u8>,
    pub(super) def: Vec<u8>,
}

impl Entries {
    /// Returns the number of reserved bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.rep.capacity() + self.def.capacity()
    }

    /// Replaces the levels with `rep` repetition levels of 0 and `def` definition levels of `level`.
    pub(super) fn fill(&mut self, rep: usize, def: usize, level: u8) {
        self.rep.clear();
        self.rep.resize(rep, 0);
        self.def.clear();
        self.def.resize(def, level);
    }

    /// Overwrites the definition levels of entries at `slot_def` or above with `levels`, in order.
    pub(super) fn set_levels(&mut self, slot_def: u8, levels: &mut Vec<u8>) {
        if levels.len() == self.def.len() {
            std::mem::swap(&mut self.def, levels);
            return;
        }
        let mut levels = levels.as_slice();
        let (eights, rest) = self.def.as_chunks_mut::<8>();
        for eight in eights {
            let slots = eight.iter().filter(|&&level| level >= slot_def).count();
            match levels.split_first_chunk::<8>() {
                Some((first, others)) if slots == 8 => {
                    *eight = *first;
                    levels = others;
                }
                _ => levels = set_some(eight, slot_def, levels),
            }
        }
        set_some(rest, slot_def, levels);
    }

    /// Raises definition levels of at least `from` to `to`.
    pub(super) fn raise(&mut self, from: u8, to: u8) {
        if from < to {
            for level in &mut self.def {
                *level = if *level >= from { to } else { *level };
            }
        }
    }

    /// Expands the `i`th entry with a definition level of at least `slot_def` to `lengths[i]` entries with element
    /// levels. The first of them keeps the entry's repetition level. All other entries are copied unchanged, as are
    /// entries of length 0.
    pub(super) fn expand(
        &self,
        lengths: &[usize],
        slot_def: u8,
        element_rep: u8,
        element_def: u8,
        out: &mut Self,
    ) {
        let elements: usize = lengths.iter().sum();
        let empty = lengths.iter().filter(|&&length| length == 0).count();
        let without_slot = self.def.len() - lengths.len();
        let total = elements + empty + without_slot;
        out.rep.clear();
        out.rep.resize(total, element_rep);
        out.def.clear();
        out.def.resize(total, element_def);
        let (rep_out, def_out) = (out.rep.as_mut_slice(), out.def.as_mut_slice());
        let mut at = 0;
        if total == elements {
            for (&rep, &length) in self.rep.iter().zip(lengths) {
                rep_out[at] = rep;
                at += length;
            }
        } else if without_slot == 0 {
            let entries = self.rep.iter().zip(&self.def);
            for ((&rep, &def), &length) in entries.zip(lengths) {
                rep_out[at] = rep;
                def_out[at] = if length == 0 { def } else { element_def };
                at += length.max(1);
            }
        } else {
            let mut slot = 0;
            for (&rep, &def) in self.rep.iter().zip(&self.def) {
                let has_slot = def >= slot_def;
                let length = lengths.get(slot).map_or(0, |&length| length);
                let length = if has_slot { length } else { 0 };
                rep_out[at] = rep;
                def_out[at] = if length == 0 { def } else { element_def };
                at += length.max(1);
                slot += usize::from(has_slot);
            }
        }
    }
}

/// Sets the levels of a few entries and returns the unused rest of `levels`.
fn set_some<'a>(def: &mut [u8], slot_def: u8, levels: &'a [u8]) -> &'a [u8] {
    let mut next = 0;
    for level in def {
        let has_slot = *level >= slot_def;
        let set = levels.get(next).map_or(slot_def, |&set| set);
        *level = if has_slot { set } else { *level };
        next += usize::from(has_slot);
    }
    levels.get(next..).unwrap_or_default()
}
