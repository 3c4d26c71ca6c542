//! The counts that a pruner keeps for its steps. Used for metrics and explanations.

use std::ops::Range;

use super::RowGroupPruner;
use crate::plan::count;
use crate::row_group::explanation::StepExplanation;
use herringbone_core::metrics::StepCounters;
use herringbone_core::page::PageMap;
use herringbone_filter::{BoundTest, PruningStep, Verdict};
use herringbone_format::PageType;

impl RowGroupPruner {
    /// Records the latest step's result.
    pub(super) fn note_step(&mut self) {
        let ranges = &self.row_group.ranges;
        let rows = |verdict| count(&self.verdicts.within(ranges, |verdicts| verdicts == verdict));
        let (ruled_out, accepted) = (rows(Verdict::None), rows(Verdict::All));
        let (step, bytes) = self.taken;
        let (known_ruled_out, known_accepted) = self.known;
        let metrics = self.budget.metrics();
        let counters = metrics.step(step);
        counters
            .rows_ruled_out
            .add(ruled_out.saturating_sub(known_ruled_out));
        counters
            .rows_accepted
            .add(accepted.saturating_sub(known_accepted));
        if self.plan.is_filtered() && self.is_whole() {
            let wanted = self.row_group.num_wanted();
            let is_accepted = accepted == wanted && known_accepted < wanted;
            counters
                .row_groups_ruled_out
                .add((ruled_out == wanted && known_ruled_out < wanted).into());
            counters.row_groups_accepted.add(is_accepted.into());
            if step == PruningStep::Statistics && is_accepted {
                metrics.pages_accepted.add(self.pages_of_accepted());
            }
        }
        if step == PruningStep::ColumnIndexes {
            self.note_pages(counters);
        }
        self.known = (ruled_out, accepted);
        if let Some(explanation) = &mut self.explanation {
            explanation.push(StepExplanation::new(step, ruled_out, accepted, bytes));
        }
    }

    /// Returns true if the rows to prune are all wanted rows of their row group, rather than the rest after a restart.
    pub(super) fn is_whole(&self) -> bool {
        let whole = self.plan.row_groups().get(self.row_group.index);
        whole.is_some_and(|whole| whole.num_wanted() == self.row_group.num_wanted())
    }

    /// Records the pages of the first column with usable indexes.
    fn note_pages(&self, counters: &StepCounters) {
        let usable = self.maps.iter().filter(|(_, map)| !map.is_contradicted());
        let Some((_, map)) = usable.min_by_key(|(leaf, _)| *leaf) else {
            return;
        };
        let kept = self
            .verdicts
            .within(&self.row_group.ranges, |verdicts| verdicts != Verdict::None);
        let (wanted, kept_pages) = (
            pages_with(map, &self.row_group.ranges),
            pages_with(map, &kept),
        );
        counters
            .pages_ruled_out
            .add(wanted.saturating_sub(kept_pages));
        counters.pages_kept.add(kept_pages);
        counters.rows_kept.add(count(&kept));
    }

    /// Returns the number of data pages in the first tested column's chunk, as counted by its metadata. Returns 0 if
    /// the column has no column index, if its metadata doesn't count pages, or if some rows aren't wanted.
    fn pages_of_accepted(&self) -> u64 {
        let options = self.plan.options();
        let tests = self.plan.filter().map_or(&[][..], |filter| filter.tests());
        if !options.pruning.has(PruningStep::ColumnIndexes)
            || self.row_group.num_wanted() < self.row_group.num_rows
        {
            return 0;
        }
        let leaves = tests.iter().filter_map(|test| match test {
            BoundTest::Leaf(leaf) => Some(leaf.leaf),
            BoundTest::Unstored { .. } | BoundTest::Rows(_) => None,
        });
        let chunk = leaves.min().and_then(|leaf| self.chunk(leaf));
        let chunk = chunk.filter(|chunk| chunk.column_index_offset.is_some());
        let encodings = chunk
            .and_then(|chunk| chunk.meta_data)
            .and_then(|it| it.encoding_stats);
        let data_encodings = encodings
            .into_iter()
            .flatten()
            .filter(|it| it.page_type != PageType::DictionaryPage);
        data_encodings
            .map(|it| u64::try_from(it.count).unwrap_or(0))
            .fold(0, u64::saturating_add)
    }
}

/// Returns the number of pages with rows in the ranges. The ranges must be ascending.
fn pages_with(map: &PageMap, ranges: &[Range<u64>]) -> u64 {
    let pages = (0..map.num_pages()).filter_map(|page| map.get(page));
    let mut ranges = ranges.iter().peekable();
    let has_rows = |rows: Range<u64>| {
        while ranges.next_if(|range| range.end <= rows.start).is_some() {}
        ranges.peek().is_some_and(|range| range.start < rows.end)
    };
    pages
        .map(|page| page.rows)
        .map(has_rows)
        .map(u64::from)
        .sum()
}
