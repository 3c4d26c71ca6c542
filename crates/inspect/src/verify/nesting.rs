//! Checks that levels form valid lists, and that sibling columns have the same lists.

use std::collections::BTreeMap;

use herringbone_core::physical::Block;
use herringbone_format::Repetition;
use herringbone_schema::ParquetSchema;

use super::column::leaf_of;

/// The structure of the groups around a leaf, as implied by a column chunk's levels.
#[derive(Debug)]
pub(super) struct Nesting {
    /// For each repetition level, the lowest definition level with an element in its list.
    element_def: Vec<u8>,
    /// The last definition level.
    last: u8,
    impossible: u64,
    groups: Vec<Group>,
}

/// A group with several columns. Its columns must agree on the group's levels, so we compare
/// digests of the levels.
#[derive(Debug)]
struct Group {
    node: usize,
    rep_level: u8,
    def_level: u8,
    digest: u64,
}

impl Nesting {
    /// Creates the structure for a leaf's column chunk, without any levels yet.
    pub(super) fn new(schema: &ParquetSchema, leaf: usize) -> Self {
        let leaf = leaf_of(schema, leaf);
        let mut element_def = vec![0; usize::from(leaf.max_rep_level) + 1];
        let mut groups = Vec::new();
        let mut ordinal = leaf.node;
        while let Some(node) = schema.nodes().get(ordinal).filter(|_| ordinal != 0) {
            if node.repetition() == Repetition::Repeated
                && let Some(def) = element_def.get_mut(usize::from(node.rep_level))
            {
                *def = node.def_level;
            }
            if node.leaves.len() > 1 && node.def_level > 0 {
                groups.push(Group {
                    node: ordinal,
                    rep_level: node.rep_level,
                    def_level: node.def_level,
                    digest: 0,
                });
            }
            ordinal = node.parent;
        }
        Self {
            element_def,
            // Another check reports a first level that doesn't start a row.
            last: u8::MAX,
            impossible: 0,
            groups,
        }
    }

    /// Adds the levels of a block.
    pub(super) fn add(&mut self, block: &Block<'_>) {
        if self.element_def.len() == 1 && self.groups.is_empty() {
            return;
        }
        for (&rep, &def) in block.rep.iter().zip(block.def) {
            if rep > 0 {
                let least = self.element_def.get(usize::from(rep)).copied();
                let least = least.unwrap_or_default();
                self.impossible += u64::from(def < least || self.last < least);
            }
            self.last = def;
            for group in &mut self.groups {
                if rep <= group.rep_level {
                    let level = u64::from(u16::from_be_bytes([rep, def.min(group.def_level)]));
                    // Multiplying by an odd number is lossless, and the rotation moves high bits
                    // down, where they mix with the next level.
                    let mixed = (group.digest ^ level).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    group.digest = mixed.rotate_left(29).wrapping_add(1);
                }
            }
        }
    }

    /// Returns the number of levels since the last call that continue a list without elements.
    pub(super) fn impossible(&mut self) -> u64 {
        std::mem::take(&mut self.impossible)
    }
}

/// The structure of shared groups, according to the row group's columns so far.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// For each group's node, the first complete column and its digest.
    groups: BTreeMap<usize, (usize, u64)>,
}

impl Shared {
    /// Compares a column with the previous columns. Returns the first column of the outermost group
    /// that differs, if any.
    pub(super) fn add(&mut self, leaf: usize, nesting: &Nesting) -> Option<usize> {
        let mut other = None;
        // We go from the inside out, so the outermost difference wins.
        for group in &nesting.groups {
            let entry = self.groups.entry(group.node);
            let (first, digest) = *entry.or_insert((leaf, group.digest));
            if digest != group.digest {
                other = Some(first);
            }
        }
        other
    }
}
