//! `--sample` chooses rows at random. We choose positions first, so that we only have to read those
//! pages.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use herringbone::{Projection, VirtualColumn};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::Int64Type;

use super::{Batches, Request, Window, count, options};
use crate::base::failure::{Failure, Result};
use crate::base::random::Random;
use crate::input::Input;
use crate::input::context::Context;

/// The maximum number of rows in a sample, since we hold their positions in memory.
const MOST: usize = 10_000_000;

/// The name of the row position column.
const POSITION: &str = "position";

/// Returns `wanted` different numbers below `total`, or all of them if there are fewer. Floyd's
/// algorithm only needs memory for the chosen numbers.
fn ordinals(wanted: usize, total: u64, random: &mut Random) -> BTreeSet<u64> {
    let wanted = total.min(wanted as u64);
    let mut chosen = BTreeSet::new();
    for last in total - wanted..total {
        let number = random.below(last + 1);
        if !chosen.insert(number) {
            chosen.insert(last);
        }
    }
    chosen
}

/// Returns the ranges of a sample's rows for each input, counted from the file's first row.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the sample is too large, and if the rows cannot be read on
/// which a condition is tested.
pub(crate) fn positions(
    context: &Context,
    inputs: &[Input],
    request: &Request<'_>,
    (rows, seed): (usize, Option<u64>),
) -> Result<Vec<Vec<Range<u64>>>> {
    if rows > MOST {
        let message = format!("--sample: {rows} rows are more than {MOST}; use --where for a part");
        return Err(Failure::Usage(message));
    }
    let mut random = Random::new(seed)?;
    let found = match request.is_filtered() {
        true => among_matching(context, inputs, request, (rows, &mut random))?,
        false => among_all(inputs, request, (rows, &mut random))?,
    };
    let mut ranges = vec![Vec::new(); inputs.len()];
    for (input, row) in found {
        if let Some(ranges) = ranges.get_mut(input) {
            ranges.push(row..row + 1);
        }
    }
    Ok(ranges)
}

/// Chooses from all rows of the chosen row groups.
fn among_all(
    inputs: &[Input],
    request: &Request<'_>,
    (rows, random): (usize, &mut Random),
) -> Result<Vec<(usize, u64)>> {
    // Maps each row group's first row, by its ordinal in the whole read, to the input and the row's
    // position in the file.
    let mut starts: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
    let mut total = 0_u64;
    for (at, input) in inputs.iter().enumerate() {
        let file = input.open()?;
        let options = options((at, input), &file, request)?;
        let all = || (0..file.metadata().num_row_groups()).collect();
        let mut firsts = vec![0_u64];
        let mut sum = 0_u64;
        for row_group in 0..file.metadata().num_row_groups() {
            let mut one = options.clone();
            one.row_groups = Some(vec![row_group]);
            sum = sum.saturating_add(count(input, &file, &one)?);
            firsts.push(sum);
        }
        for row_group in options.row_groups.unwrap_or_else(all) {
            let bounds = (firsts.get(row_group), firsts.get(row_group + 1));
            if let (Some(first), Some(end)) = bounds {
                starts.insert(total, (at, *first));
                total = total.saturating_add(end - first);
            }
        }
    }
    let place = |ordinal: u64| {
        let (start, (input, first)) = starts.range(..=ordinal).next_back()?;
        Some((*input, first + (ordinal - start)))
    };
    let chosen = ordinals(rows, total, random).into_iter();
    Ok(chosen.filter_map(place).collect())
}

/// Chooses from the rows that match the condition. This takes an extra pass over the condition's
/// columns to learn the rows' positions.
fn among_matching(
    context: &Context,
    inputs: &[Input],
    request: &Request<'_>,
    (rows, random): (usize, &mut Random),
) -> Result<Vec<(usize, u64)>> {
    let mut positions = request.clone();
    positions.options.projection = Projection::Paths(Vec::new());
    let column = VirtualColumn::row_number(POSITION);
    positions.options.virtual_columns = vec![column];
    let mut kept: Vec<(usize, u64)> = Vec::new();
    let mut seen = 0_u64;
    let batches = Batches::new(context, inputs, &positions, Window::default());
    let place = batches.place();
    for batch in batches {
        let batch = batch?;
        let last = batch.columns().last();
        let numbers = last.and_then(|array| array.as_primitive_opt::<Int64Type>());
        for number in numbers.map_or(&[][..], |numbers| numbers.values()) {
            let row = (place.get(), number.cast_unsigned());
            seen += 1;
            // Reservoir sampling (Vitter's algorithm R): each row seen so far is in the sample with
            // the same probability.
            if kept.len() < rows {
                kept.push(row);
            } else if let Ok(at) = usize::try_from(random.below(seen))
                && let Some(slot) = kept.get_mut(at)
            {
                *slot = row;
            }
        }
    }
    kept.sort_unstable();
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_different_and_spread() {
        let mut random = Random::new(Some(7)).unwrap();
        let mut counts = [0; 10];
        for _ in 0..1000 {
            let chosen = ordinals(3, 10, &mut random);
            assert_eq!(chosen.len(), 3);
            for number in chosen {
                counts[number as usize] += 1;
            }
        }
        // Each number occurs 300 times on average, and five standard deviations are 72.
        assert!(counts.iter().all(|count| (228..=372).contains(count)));
        assert_eq!(ordinals(9, 4, &mut random), (0..4).collect());
    }
}
