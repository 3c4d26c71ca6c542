//! Pruning determines which of a row group's rows might pass a filter, and which pages contain them.
//!
//! It runs before the columns are opened, so that only the needed pages are read.
//!
//! ```text
//! statistics ─► bloom filters ─► dictionaries ─► page indexes ─► maps of the pages of all columns
//!               each only for undecided tests, as long as there are undecided rows
//! ```
//!
//! Missing or invalid data leaves rows undecided. Since their values are then tested, pruning never loses a row.

mod counts;
mod lookup;
mod page_index;

use std::ops::Range;
use std::sync::Arc;

use herringbone_format::{ColumnChunk, ErrorKind, Result};

use self::lookup::{Lookup, LookupResult};
use self::page_index::ChunkIndexes;
use super::explanation::StepExplanation;
use super::open::OpenRowGroup;
use crate::bytes::FileBytes;
use crate::{ReadPlan, RowGroupPlan};
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::fetch::{FetchPolicy, request_cost};
use herringbone_core::metrics::Stopwatch;
use herringbone_core::page::{PageMap, PageMaps, byte_range};
use herringbone_filter::pruning::index_trust::IndexTrust;
use herringbone_filter::verdicts::Verdicts;
use herringbone_filter::{BoundRows, BoundTest, LeafNode, PruningStep, Verdict};

/// The most memory that a byte of an index can take once it is decoded with its bounds in arrays, in bytes.
///
/// A page has at least eight bytes in the indexes, and at most two bounds of 64 bytes each.
const INDEX_GROWTH: u64 = 32;

/// The share of a read's memory available to a row group's indexes: one part in `INDEX_SHARE`.
const INDEX_SHARE: u64 = 16;

/// The number of row groups of which we expect one to survive pruning. If a row group's column chunks cost less than
/// this share of a round trip, they are fetched along with its indexes.
const SURVIVING_ROW_GROUPS: u64 = 4;

/// The column chunk size in bytes below which its offset index isn't worth a lookup, even if requests are cheap.
const SMALL_CHUNK: u64 = 16 << 10;

/// The result of pruning a row group.
pub(crate) struct Pruned {
    pub(crate) row_group: RowGroupPlan,
    /// The verdicts on the row group's rows.
    pub(crate) verdicts: Verdicts,
    /// The page maps, for columns that have one.
    pub(crate) maps: PageMaps,
    /// The memory taken by the maps.
    pub(crate) memory: Reservation,
}

/// A pruner that determines which of a row group's rows might pass a filter.
pub(crate) struct RowGroupPruner {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    row_group: RowGroupPlan,
    /// The verdicts of each of the filter's tests.
    test_verdicts: Vec<Verdicts>,
    verdicts: Verdicts,
    maps: Vec<(usize, Arc<PageMap>)>,
    memory: Reservation,
    /// The remaining steps in reverse, so that we can pop the next one.
    steps: Vec<PruningStep>,
    lookups: Vec<Lookup>,
    /// The result of [`Self::planned`] for this many bytes. It is valid until the next lookup is done.
    planned: Option<(u64, Vec<Range<u64>>)>,
    /// The latest step, and the number of bytes it has read.
    taken: (PruningStep, u64),
    /// The numbers of rows ruled out and accepted before that step.
    known: (u64, u64),
    /// The result of each step, if an explanation was requested.
    explanation: Option<Vec<StepExplanation>>,
}

/// Returns the verdicts of the filter's tests, going by the row group's statistics.
fn by_statistics(plan: &ReadPlan, row_group: &RowGroupPlan) -> Result<Vec<Verdicts>> {
    let tests = plan.filter().map_or(&[][..], |filter| filter.tests());
    let is_asked = plan.options().pruning.has(PruningStep::Statistics);
    let verdict = |test: &BoundTest| match is_asked {
        true => test.verdict(plan.metadata(), row_group.ordinal()),
        false => Ok(Verdict::Some),
    };
    tests
        .iter()
        .map(|test| Ok(Verdicts::all(row_group.num_rows, verdict(test)?)))
        .collect()
}

/// Returns the filter's verdict on a whole row group, going by the footer's statistics.
///
/// # Errors
/// Fails with `Corrupt` if the statistics are invalid. Custom predicate errors are returned too.
fn verdict_by_statistics(plan: &ReadPlan, row_group: &RowGroupPlan) -> Result<Verdict> {
    let Some(filter) = plan.filter() else {
        return Ok(Verdict::All);
    };
    let test_verdicts = by_statistics(plan, row_group)?;
    Ok(filter.verdicts(&test_verdicts, row_group.num_rows).whole())
}

/// Returns true if the statistics leave several row groups to test, and if at least as many rows must be tested as are
/// accepted without a test.
#[must_use]
pub fn tests_row_groups(plan: &ReadPlan) -> bool {
    if !plan.is_filtered() {
        return false;
    }
    let (mut row_groups, mut untested, mut tested) = (0, 0, 0);
    for row_group in plan.row_groups() {
        match verdict_by_statistics(plan, row_group) {
            Ok(Verdict::None) => {}
            Ok(Verdict::All) => untested += row_group.num_wanted(),
            // We count the row group, since reading it reports the error.
            Ok(Verdict::Some) | Err(_) => {
                row_groups += 1;
                tested += row_group.num_wanted();
            }
        }
    }
    row_groups > 1 && tested >= untested
}

impl RowGroupPruner {
    /// Creates a pruner for a plan's row group or part of one.
    ///
    /// # Errors
    /// Fails with `Corrupt` if the row group's metadata is invalid. Custom predicate errors are returned too.
    pub(crate) fn new(
        plan: Arc<ReadPlan>,
        row_group: RowGroupPlan,
        budget: Arc<Budget>,
    ) -> Result<Self> {
        let clock = Stopwatch::start();
        let test_verdicts = by_statistics(&plan, &row_group)?;
        clock.stop(&budget.metrics().step(PruningStep::Statistics).nanos);
        let steps = PruningStep::LOOKUPS.iter().rev().copied();
        let steps = steps.filter(|step| plan.options().pruning.has(*step));
        let steps = steps.filter(|step| plan.is_filtered() || *step == PruningStep::PageMaps);
        let mut pruner = Self {
            verdicts: Verdicts::all(row_group.num_rows, Verdict::All),
            steps: steps.collect(),
            memory: Reservation::new(budget.clone()),
            plan,
            budget,
            row_group,
            test_verdicts,
            maps: Vec::new(),
            lookups: Vec::new(),
            planned: None,
            taken: (PruningStep::Statistics, 0),
            known: (0, 0),
            explanation: None,
        };
        pruner.decide();
        Ok(pruner)
    }

    /// Makes the pruner record each step's result for an explanation.
    pub(crate) fn explained(mut self) -> Self {
        self.explanation = Some(Vec::new());
        self
    }

    /// Returns each step's result, if [`Self::explained`] was called.
    pub(crate) fn into_explanation(self) -> Vec<StepExplanation> {
        self.explanation.unwrap_or_default()
    }

    /// Returns the result, or `None` if bytes are missing. A step's lookups all request their bytes in one round.
    ///
    /// # Errors
    /// Fails with `Key` if encrypted data is not authentic, and with `Limit` if the budget refuses memory. Errors from
    /// `bytes` are returned too.
    pub(crate) fn poll(&mut self, bytes: &mut dyn FileBytes) -> Result<Option<Pruned>> {
        loop {
            let mut lookups = std::mem::take(&mut self.lookups);
            for mut lookup in lookups.drain(..) {
                let is_done = loop {
                    let clock = Stopwatch::start();
                    let is_found = self.look_up(&mut lookup)?;
                    clock.stop(&self.budget.metrics().step(self.taken.0).nanos);
                    if is_found {
                        break true;
                    }
                    if !self.fetch(&mut lookup, bytes)? {
                        break false;
                    }
                };
                match is_done {
                    // The test might be decided now, so its other lookups are no longer needed.
                    true => self.planned = None,
                    false => self.lookups.push(lookup),
                }
            }
            if !self.lookups.is_empty() {
                return Ok(None);
            }
            self.planned = None;
            self.decide();
            self.note_step();
            let next = loop {
                match self.steps.pop() {
                    Some(step) if !self.is_worth(step) => {}
                    next => break next,
                }
            };
            let Some(step) = next else {
                return self.take().map(Some);
            };
            self.taken = (step, 0);
            self.begin(step, bytes.request_cost())?;
        }
    }

    /// Returns the rows that might pass the filter, going by statistics and by the page indexes in memory. This reads
    /// no bytes.
    ///
    /// # Errors
    /// Fails with `Limit` if the budget refuses memory. Custom predicate errors are returned too.
    pub(crate) fn by_known_indexes(mut self) -> Result<Vec<Range<u64>>> {
        self.steps
            .retain(|step| *step == PruningStep::ColumnIndexes);
        // A lookup lacking bytes decides nothing, but the others have narrowed their tests' verdicts.
        self.poll(&mut |_: &Range<u64>, _| Ok(None))?;
        self.decide();
        let may_match = |verdict| verdict != Verdict::None;
        Ok(self.verdicts.within(&self.row_group.ranges, may_match))
    }

    /// Returns the ranges that later steps might look up, as long as they cost less than a round trip. Small column
    /// chunks are included too: all of them if they are small together, otherwise just the undecided tests' chunks. The
    /// result has at most `ahead` bytes.
    pub(crate) fn planned(&mut self, ahead: u64, policy: &FetchPolicy) -> Vec<Range<u64>> {
        let most = self.unproven_bytes(policy).min(ahead);
        // We keep the result, since a decoder asks for the plans of all row groups ahead whenever bytes arrive.
        match &self.planned {
            Some((bytes, planned)) if *bytes == most => planned.clone(),
            _ => {
                let planned = self.plan_lookups(most, request_cost(policy));
                self.planned = Some((most, planned.clone()));
                planned
            }
        }
    }

    /// Returns the number of bytes we can request before page indexes and row tests have shown that they're needed.
    fn unproven_bytes(&self, policy: &FetchPolicy) -> u64 {
        let filter = self.plan.filter();
        let stages = filter.map_or(0, |filter| filter.stages().count());
        // Step 0 of the outlook is this pruning, and the stages are the steps after it.
        let outlook = self.budget.outlook();
        outlook.unproven_bytes(policy, 0..stages + 1)
    }

    fn plan_lookups(&self, mut left: u64, request_cost: u64) -> Vec<Range<u64>> {
        let mut planned = Vec::new();
        for step in self.steps.iter().rev() {
            for range in self.first_ranges(*step, request_cost) {
                let bytes = range.end - range.start;
                if bytes <= left {
                    left -= bytes;
                    planned.push(range);
                }
            }
        }
        let size = |range: &Range<u64>| range.end - range.start;
        let leaves = self.plan.leaves_to_map();
        let chunks = leaves.iter().filter_map(|leaf| self.chunk_range(*leaf));
        let chunks: Vec<_> = chunks.collect();
        if chunks.iter().map(size).sum::<u64>() <= left / SURVIVING_ROW_GROUPS {
            planned.extend(chunks);
            return planned;
        }
        // A small tested chunk arrives along with its first page header, rather than by a request of its own.
        let mut tested: Vec<_> = self.undecided().iter().map(|(_, it)| it.leaf).collect();
        tested.sort_unstable();
        tested.dedup();
        for chunk in tested.into_iter().filter_map(|leaf| self.chunk_range(leaf)) {
            let most = left.min(request_cost / SURVIVING_ROW_GROUPS);
            if size(&chunk) <= most {
                left -= size(&chunk);
                planned.push(chunk);
            }
        }
        planned
    }

    /// Returns the ranges that a step looks up first.
    fn first_ranges(&self, step: PruningStep, request_cost: u64) -> Vec<Range<u64>> {
        let undecided = self.undecided();
        let row_group = self.row_group.ordinal();
        let page_index = |leaf: usize, with_bounds| {
            let chunk = self.chunk(leaf)?;
            Lookup::page_index(&self.plan, row_group, leaf, &chunk, with_bounds)
        };
        let lookups: Vec<Lookup> = match step {
            PruningStep::BloomFilters => {
                let filters = undecided.into_iter();
                filters
                    .filter_map(|(test, leaf)| self.bloom_filter(test, leaf))
                    .collect()
            }
            PruningStep::Dictionaries => {
                let chunks = undecided
                    .iter()
                    .filter_map(|undecided| self.chunk(undecided.1.leaf));
                return chunks
                    .filter_map(|chunk| lookup::dictionary_of_all_pages(&chunk))
                    .collect();
            }
            PruningStep::ColumnIndexes => {
                let leaves = undecided.iter().map(|(_, leaf)| leaf.leaf);
                leaves.filter_map(|leaf| page_index(leaf, true)).collect()
            }
            PruningStep::PageMaps => {
                let leaves = self.plan.leaves_to_map().into_iter();
                let leaves = leaves.filter(|leaf| self.is_worth_a_map(*leaf, request_cost));
                leaves.filter_map(|leaf| page_index(leaf, false)).collect()
            }
            _ => return Vec::new(),
        };
        let limits = self.plan.limits();
        lookups
            .into_iter()
            .flat_map(|lookup| lookup.into_first_ranges(limits))
            .collect()
    }

    /// Supplies a lookup with the bytes it is waiting for. Returns false if some of them are missing.
    fn fetch(&mut self, lookup: &mut Lookup, bytes: &mut dyn FileBytes) -> Result<bool> {
        let (step, taken) = &mut self.taken;
        let reads = &self.budget.metrics().step(*step).reads;
        lookup.fetch(bytes, |bytes| {
            *taken += bytes as u64;
            reads.add(bytes);
        })
    }

    fn take(&mut self) -> Result<Pruned> {
        let maps = std::mem::take(&mut self.maps);
        self.memory
            .resize(maps.iter().map(|(_, map)| map.heap_bytes()).sum())?;
        let memory = Reservation::new(self.budget.clone());
        let metrics = self.budget.metrics();
        self.budget.look_at(self.row_group.index);
        let is_passed_over = self.is_whole() && self.verdicts.whole() == Verdict::None;
        metrics.row_groups_pruned.add(is_passed_over.into());
        if self.taken.0 != PruningStep::Statistics {
            let left = self.row_group.num_wanted().saturating_sub(self.known.0);
            let outlook = self.budget.outlook();
            outlook.add(0, left, self.row_group.num_rows);
        }
        Ok(Pruned {
            row_group: self.row_group.clone(),
            verdicts: self.verdicts.clone(),
            maps: maps.into(),
            memory: std::mem::replace(&mut self.memory, memory),
        })
    }

    fn decide(&mut self) {
        if let Some(filter) = self.plan.filter() {
            self.verdicts = filter.verdicts(&self.test_verdicts, self.row_group.num_rows);
        }
    }

    /// Returns true if a step might still decide some rows or locate pages to skip.
    fn is_worth(&self, step: PruningStep) -> bool {
        let verdict = self.verdicts.whole();
        match step {
            PruningStep::PageMaps => {
                // We might be able to skip pages, so their map is useful.
                let is_partial = self.row_group.num_wanted() < self.row_group.num_rows / 2;
                verdict == Verdict::Some || (verdict == Verdict::All && is_partial)
            }
            _ => verdict == Verdict::Some,
        }
    }

    /// Returns the undecided leaf tests, each with its index.
    fn undecided(&self) -> Vec<(usize, &LeafNode)> {
        let tests = self.undecided_tests();
        let leaves = tests.filter_map(|(index, test)| match test {
            BoundTest::Leaf(leaf) => Some((index, &**leaf)),
            BoundTest::Unstored { .. } | BoundTest::Rows(_) => None,
        });
        leaves.collect()
    }

    /// Returns the undecided custom predicates, each with its index.
    fn undecided_rows(&self) -> Vec<(usize, &BoundRows)> {
        let tests = self.undecided_tests();
        let rows = tests.filter_map(|(index, test)| match test {
            BoundTest::Rows(rows) => Some((index, &**rows)),
            BoundTest::Unstored { .. } | BoundTest::Leaf(_) => None,
        });
        rows.collect()
    }

    fn undecided_tests(&self) -> impl Iterator<Item = (usize, &BoundTest)> {
        let tests = self.plan.filter().map_or(&[][..], |filter| filter.tests());
        let tests = tests.iter().zip(&self.test_verdicts).enumerate();
        let undecided = tests.filter(|(_, (_, known))| known.whole() == Verdict::Some);
        undecided.map(|(index, (test, _))| (index, test))
    }

    fn chunk(&self, leaf: usize) -> Option<ColumnChunk> {
        let chunk = self
            .plan
            .metadata()
            .column_chunk(self.row_group.ordinal(), leaf);
        // An undecodable chunk decides nothing. Reading its pages reports the error.
        chunk.ok().filter(|chunk| chunk.meta_data.is_some())
    }

    /// Starts a step's lookups.
    fn begin(&mut self, step: PruningStep, request_cost: u64) -> Result<()> {
        let lookups = match step {
            PruningStep::BloomFilters => {
                let tests = self.undecided().into_iter();
                tests
                    .filter_map(|(test, leaf)| self.bloom_filter(test, leaf))
                    .collect()
            }
            PruningStep::Dictionaries => self.dictionaries()?,
            PruningStep::ColumnIndexes => {
                let mut leaves: Vec<_> =
                    self.undecided().iter().map(|(_, leaf)| leaf.leaf).collect();
                let rows = self.undecided_rows();
                leaves.extend(rows.into_iter().flat_map(|(_, rows)| rows.page_leaves()));
                leaves.sort_unstable();
                leaves.dedup();
                self.page_indexes(&leaves, true)?
            }
            PruningStep::PageMaps => {
                let known: Vec<_> = self.maps.iter().map(|(leaf, _)| *leaf).collect();
                let mut leaves = self.plan.leaves_to_map();
                leaves.retain(|leaf| !known.contains(leaf));
                leaves.retain(|leaf| self.is_worth_a_map(*leaf, request_cost));
                self.page_indexes(&leaves, false)?
            }
            _ => Vec::new(),
        };
        self.lookups = lookups;
        Ok(())
    }

    fn bloom_filter(&self, test: usize, leaf: &LeafNode) -> Option<Lookup> {
        let hashes = leaf.bounds.as_ref()?.hashes()?.to_vec();
        let chunk = self.chunk(leaf.leaf)?;
        let file_length = self.plan.file_length();
        Lookup::bloom_filter(
            self.plan.metadata(),
            self.row_group.ordinal(),
            leaf.leaf,
            &chunk,
            file_length,
            test,
            hashes,
        )
    }

    /// Returns the dictionary lookups. We only look up a dictionary if all pages refer to it, so that it has all
    /// values, and if it is a small part of the chunk.
    fn dictionaries(&self) -> Result<Vec<Lookup>> {
        let Some(filter) = self.plan.filter() else {
            return Ok(Vec::new());
        };
        let tests = self.undecided();
        let is_open = |test: &(usize, &LeafNode)| {
            let chunk = self.chunk(test.1.leaf);
            chunk.and_then(|chunk| lookup::dictionary_of_all_pages(&chunk))
        };
        let tests: Vec<_> = tests
            .into_iter()
            .filter_map(|test| is_open(&test).map(|place| (test, place)))
            .collect();
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        let mut lookups: Vec<Lookup> = Vec::new();
        let mut left = tests;
        for plan in filter.stages() {
            let leaves: Vec<usize> = plan.leaves().collect();
            let (here, others): (Vec<_>, Vec<_>) = left
                .into_iter()
                .partition(|((_, leaf), _)| leaves.contains(&leaf.leaf));
            left = others;
            if here.is_empty() {
                continue;
            }
            let row_group = OpenRowGroup::new(plan, self.row_group.index, &self.budget)?;
            for ((test, leaf), place) in here {
                let same = lookups.iter_mut().find(|lookup| lookup.leaf() == leaf.leaf);
                match same {
                    Some(lookup) => lookup.add_test(test),
                    None => {
                        let ordinal = leaves.iter().position(|leave| *leave == leaf.leaf);
                        let values = ordinal
                            .and_then(|ordinal| row_group.dictionary_values(ordinal, &place));
                        lookups.extend(
                            values.map(|values| Lookup::dictionary(leaf.leaf, test, values)),
                        );
                    }
                }
            }
        }
        Ok(lookups)
    }

    /// Returns the index lookups for these leaves, as long as there is memory for them.
    fn page_indexes(&mut self, leaves: &[usize], with_bounds: bool) -> Result<Vec<Lookup>> {
        let mut lookups = Vec::new();
        let most = self.memory.limit() / INDEX_SHARE;
        for leaf in leaves {
            let Some(chunk) = self.chunk(*leaf) else {
                continue;
            };
            let row_group = self.row_group.ordinal();
            let lookup = Lookup::page_index(&self.plan, row_group, *leaf, &chunk, with_bounds);
            let Some(lookup) = lookup else {
                continue;
            };
            let bytes = lookup.bytes().saturating_mul(INDEX_GROWTH);
            let bytes = self.memory.bytes().saturating_add(bytes);
            if bytes > most {
                break;
            }
            self.memory.resize(bytes)?;
            lookups.push(lookup);
        }
        Ok(lookups)
    }

    /// Returns true if a page map of a leaf's chunk might save more bytes than its lookup costs.
    fn is_worth_a_map(&self, leaf: usize, request_cost: u64) -> bool {
        let Some(chunk) = self.chunk(leaf).and_then(|chunk| chunk.meta_data) else {
            return false;
        };
        let size = u64::try_from(chunk.total_compressed_size).unwrap_or(0);
        // Any page with selected rows needs the dictionary, so a map never saves it.
        let dictionary = chunk.dictionary_page_offset.filter(|offset| *offset > 0);
        let dictionary = dictionary.map_or(0, |start| chunk.data_page_offset.saturating_sub(start));
        let data = size.saturating_sub(u64::try_from(dictionary).unwrap_or(0));
        size >= SMALL_CHUNK && data >= request_cost
    }

    /// Continues a lookup, or returns false if bytes are missing. Damaged data doesn't decide anything, since the rows
    /// can still be tested.
    fn look_up(&mut self, lookup: &mut Lookup) -> Result<bool> {
        let found = match lookup.poll(self.plan.limits()) {
            Ok(None) => return Ok(false),
            Ok(Some(found)) => found,
            Err(error) if error.kind() == ErrorKind::Key || Budget::refused(&error) => {
                return Err(error.in_row_group(self.row_group.ordinal()));
            }
            Err(_) => return Ok(true),
        };
        let leaf = lookup.leaf();
        match found {
            LookupResult::Nothing => {}
            LookupResult::NoValue(test) => {
                self.and(test, &Verdicts::all(self.row_group.num_rows, Verdict::None))
            }
            LookupResult::Dictionary { tests, values } => {
                for test in tests {
                    let verdict = match self.leaf_node(test) {
                        Some(node) => node.verdict_of_values(&values)?,
                        None => Verdict::Some,
                    };
                    // A dictionary doesn't contain nulls, so it can't show that all rows are selected.
                    if verdict == Verdict::None {
                        self.and(test, &Verdicts::all(self.row_group.num_rows, verdict));
                    }
                }
            }
            LookupResult::Pages(found) => {
                if let Some(cell) = lookup.cell(&found) {
                    let (indexes, row_group) = (self.plan.page_indexes(), self.row_group.ordinal());
                    indexes.add_found(row_group, leaf, cell);
                }
                self.add_pages(leaf, &found)?;
            }
        }
        Ok(true)
    }

    /// Applies a leaf's page indexes. Invalid indexes are ignored. If the indexes contradict each other or the first
    /// page, we mark the map as contradicted, so that decoders trust neither the map nor the page headers.
    fn add_pages(&mut self, leaf: usize, found: &ChunkIndexes) -> Result<()> {
        let map = self.chunk_range(leaf);
        let map =
            map.and_then(|range| PageMap::new(&found.offsets, &range, self.row_group.num_rows));
        let Some(map) = map else {
            return Ok(());
        };
        let pages = (0..map.num_pages()).filter_map(|page| map.get(page));
        let pages: Vec<Range<u64>> = pages.map(|page| page.rows).collect();
        let first = pages.first().map_or(0, |rows| rows.end - rows.start);
        let bounds = found.bounds.as_deref();
        let bounds = bounds.filter(|bound| bound.null_pages.len() == pages.len());
        let trust = self.plan.leaf(leaf);
        let trust = trust.map(|leaf| IndexTrust::new(self.plan.metadata(), leaf));
        let agree = |bounds| trust.is_some_and(|trust| trust.has_rows(bounds, &pages));
        if !found.may_start_with(first) || !bounds.is_none_or(agree) {
            self.maps.push((leaf, Arc::new(map.contradicted())));
            return Ok(());
        }
        if let Some(bounds) = bounds {
            let chunk = self.chunk(leaf).and_then(|chunk| chunk.meta_data);
            let statistics = chunk.and_then(|chunk| chunk.statistics).unwrap_or_default();
            let mut verdicts = Vec::new();
            for (test, node) in self.undecided() {
                if let Some(test_of_bounds) = node.bounds.as_ref().filter(|_| node.leaf == leaf) {
                    let page_verdicts =
                        test_of_bounds.verdicts_of_pages(bounds, &statistics, &pages)?;
                    verdicts.push((test, page_verdicts));
                }
            }
            for (test, rows) in self.undecided_rows() {
                let indexes = (bounds, &*found.offsets);
                verdicts.push((test, rows.verdicts_of_pages(leaf, indexes, &pages)?));
            }
            for (test, verdicts) in verdicts {
                if let Some(known) = self.test_verdicts.get_mut(test) {
                    *known = known.refined(&verdicts);
                }
            }
        }
        self.maps.push((leaf, Arc::new(map)));
        Ok(())
    }

    fn leaf_node(&self, test: usize) -> Option<&LeafNode> {
        match self.plan.filter()?.tests().get(test)? {
            BoundTest::Leaf(leaf) => Some(leaf),
            BoundTest::Unstored { .. } | BoundTest::Rows(_) => None,
        }
    }

    fn chunk_range(&self, leaf: usize) -> Option<Range<u64>> {
        let chunk = self
            .plan
            .metadata()
            .readable_chunk(self.row_group.ordinal(), leaf)
            .ok()?;
        let chunk = chunk.ready().ok()?;
        byte_range(&chunk.layout, self.plan.file_length()).ok()
    }

    fn and(&mut self, test: usize, verdicts: &Verdicts) {
        if let Some(known) = self.test_verdicts.get_mut(test) {
            *known = known.and(verdicts);
        }
    }
}
