//! Checks the pages' encodings against the footer's list.

use std::collections::{BTreeMap, BTreeSet};

use herringbone_format::{ColumnMetaData, Encoding, PageType};

use super::finding::{FindingKind, Report, Severity};

/// The dictionary encodings.
const DICTIONARIES: [Encoding; 2] = [Encoding::RleDictionary, Encoding::PlainDictionary];

/// Returns the page type under which a page is counted. Some writers count version 2 data pages as
/// version 1, so we lump the two together.
pub(super) fn counted_as(page_type: PageType) -> PageType {
    match page_type {
        PageType::DataPageV2 => PageType::DataPage,
        other => other,
    }
}

/// Compares the metadata with `found`, the page counts keyed by the ids of counted page type and
/// encoding.
pub(super) fn check(
    metadata: &ColumnMetaData,
    found: &BTreeMap<(i32, i32), usize>,
    report: &mut Report,
) {
    let kind = FindingKind::Encodings;
    let listed: BTreeSet<i32> = metadata
        .encodings
        .iter()
        .map(|encoding| encoding.id())
        .collect();
    // The PLAIN encoding of dictionary pages need not be listed.
    let data_pages = found
        .keys()
        .filter(|(page, _)| *page == PageType::DataPage.id());
    let used: BTreeSet<i32> = data_pages.map(|(_, encoding)| *encoding).collect();
    let is_dictionary = |encoding: &i32| DICTIONARIES.iter().any(|it| it.id() == *encoding);
    for encoding in used.difference(&listed) {
        // Readers use this list to decide if a value missing from the dictionary is missing from
        // the chunk. So only a list that hides non-dictionary values can mislead a reader.
        let severity = match is_dictionary(encoding) || !used.iter().any(is_dictionary) {
            true => Severity::Note,
            false => Severity::Warning,
        };
        let encoding = Encoding::from_id(*encoding);
        let message = format!("pages use {encoding}, which encodings does not list");
        report.push(severity, kind, message);
    }
    let Some(stats) = &metadata.encoding_stats else {
        return;
    };
    let mut claimed = BTreeMap::<(i32, i32), i64>::new();
    for stat in stats {
        let key = (counted_as(stat.page_type).id(), stat.encoding.id());
        *claimed.entry(key).or_default() += i64::from(stat.count);
    }
    claimed.retain(|_, count| *count != 0);
    let found: BTreeMap<_, i64> = found
        .iter()
        .map(|(key, count)| (*key, *count as i64))
        .collect();
    let keys: BTreeSet<_> = claimed.keys().chain(found.keys()).copied().collect();
    for key in keys {
        let (claimed, found) = (
            claimed.get(&key).unwrap_or(&0),
            found.get(&key).unwrap_or(&0),
        );
        if claimed != found {
            let (page_type, encoding) = (PageType::from_id(key.0), Encoding::from_id(key.1));
            let message = format!(
                "encoding_stats count {claimed} pages of {page_type} {encoding}, but there are \
                 {found}"
            );
            // Readers only use these counts to decide if all values are in the dictionary.
            let hides = page_type == PageType::DataPage && *claimed == 0 && !is_dictionary(&key.1);
            let severity = match hides {
                true => Severity::Error,
                false => Severity::Note,
            };
            report.push(severity, kind, message);
        }
    }
}
