//! Checks statistics and size statistics against the actual counts.

use herringbone_format::{SizeStatistics, Statistics};
use herringbone_schema::ColumnOrderKind;

use super::bounds::{Bound, Side, fault, old_bounds_hold};
use super::column::Column;
use super::finding::{FindingKind, Report, Severity};
use super::observed::Observed;

/// Returns true if the deprecated `min` or `max` needs a separate check, because it differs from
/// `min_value` or `max_value`, or because only the deprecated bounds are valid.
pub(super) fn has_old_bounds(statistics: Option<&Statistics>, column: &Column) -> bool {
    let alone = column.order == ColumnOrderKind::Undefined;
    statistics.is_some_and(|statistics| {
        (statistics.min.is_some() && (alone || statistics.min != statistics.min_value))
            || (statistics.max.is_some() && (alone || statistics.max != statistics.max_value))
    })
}

/// Checks the statistics of a page or a column chunk.
pub(super) fn check(
    statistics: &Statistics,
    column: &Column,
    observed: &Observed,
    distinct: Option<u64>,
    report: &mut Report,
) {
    if let Some(claimed) = statistics.null_count {
        let (levels, slots) = (observed.without_value(), observed.null_slots(column));
        let claimed_count = u64::try_from(claimed).ok();
        // The specification leaves open whether empty lists count, so we accept either.
        if claimed_count != Some(levels) && claimed_count != Some(slots) {
            let nulls = if levels == slots {
                levels.to_string()
            } else {
                format!("{slots} to {levels}")
            };
            let message = format!("null_count is {claimed}, but there are {nulls} nulls");
            report.error(FindingKind::Statistics, message);
        }
    }
    if let (Some(claimed), Some(nans)) = (statistics.nan_count, observed.bounds.nan_count())
        && claimed != nans
    {
        let message = format!("nan_count is {claimed}, but there are {nans} NaNs");
        report.error(FindingKind::Statistics, message);
    }
    if let (Some(claimed), Some(distinct)) = (statistics.distinct_count, distinct)
        && u64::try_from(claimed) != Ok(distinct)
    {
        let message =
            format!("distinct_count is {claimed}, but there are {distinct} distinct values");
        // This count is an estimate, both for writers and for query planners.
        report.note(FindingKind::Statistics, message);
    }
    let bounds = [
        (
            "min_value",
            &statistics.min_value,
            statistics.is_min_value_exact,
            Side::Min,
        ),
        (
            "max_value",
            &statistics.max_value,
            statistics.is_max_value_exact,
            Side::Max,
        ),
    ];
    for (name, bytes, exact, side) in bounds {
        let Some(bytes) = bytes else { continue };
        let bound = Bound {
            name,
            bytes,
            exact,
            side,
        };
        if let Some((severity, message)) = fault(column, bound, &observed.bounds) {
            report.push(severity, FindingKind::Statistics, message);
        }
    }
    old_bounds(statistics, column, observed, report);
}

/// Checks the deprecated bounds, if they differ from the current fields.
fn old_bounds(statistics: &Statistics, column: &Column, observed: &Observed, report: &mut Report) {
    let Some(old) = &observed.old_bounds else {
        return;
    };
    let (min, max) = (statistics.min.as_deref(), statistics.max.as_deref());
    if has_old_bounds(Some(statistics), column) && !old_bounds_hold(column, min, max, old) {
        // Few readers still use these bounds, and only in signed order.
        let severity = match column.natural_order {
            ColumnOrderKind::Signed | ColumnOrderKind::Float => Severity::Error,
            _ => Severity::Warning,
        };
        let message = "the deprecated min and max do not bound the values in any order".to_owned();
        report.push(severity, FindingKind::Statistics, message);
    }
}

/// Checks a column chunk's size statistics.
pub(super) fn check_sizes(
    sizes: &SizeStatistics,
    column: &Column,
    observed: &Observed,
    report: &mut Report,
) {
    let kind = FindingKind::SizeStatistics;
    if let Some(claimed) = sizes.unencoded_byte_array_data_bytes
        && column.is_byte_array()
        && u64::try_from(claimed) != Ok(observed.byte_array_bytes)
    {
        let actual = observed.byte_array_bytes;
        let message = format!(
            "unencoded_byte_array_data_bytes is {claimed}, but the values have {actual} bytes"
        );
        report.error(kind, message);
    }
    let histograms = [
        (
            "repetition_level_histogram",
            &sizes.repetition_level_histogram,
            &observed.rep_histogram,
        ),
        (
            "definition_level_histogram",
            &sizes.definition_level_histogram,
            &observed.def_histogram,
        ),
    ];
    for (name, claimed, actual) in histograms {
        if let Some(claimed) = claimed
            && let Some(message) = histogram_fault(name, claimed, actual)
        {
            report.error(kind, message);
        }
    }
}

/// Returns what is wrong with a histogram, if anything. An empty histogram is valid.
pub(super) fn histogram_fault(name: &str, claimed: &[i64], actual: &[u64]) -> Option<String> {
    let equal = claimed.len() == actual.len()
        && claimed
            .iter()
            .zip(actual)
            .all(|(claimed, actual)| u64::try_from(*claimed) == Ok(*actual));
    (!claimed.is_empty() && !equal)
        .then(|| format!("{name} is {claimed:?}, but the levels give {actual:?}"))
}
