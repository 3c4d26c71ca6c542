//! Checks a page against its own header.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_core::page::PageStart;
use herringbone_core::physical::{Block, PageDecoder};
use herringbone_core::statistics::compare;
use herringbone_format::{Encoding, Limits, PageHeader, PageType, Result, Statistics};

use super::column::Column;
use super::finding::{FindingKind, Report};
use super::observed::{Observed, for_each_plain};
use super::statistics;
use herringbone::source::Source;

/// A page being decoded.
pub(super) struct PageCheck<'a> {
    header: &'a PageHeader,
    /// The statistics in the header.
    claimed: Option<Statistics>,
    column: &'a Column,
    pub(super) encoding: Encoding,
    /// The declared number of levels or dictionary entries.
    pub(super) num_values: u64,
    pub(super) observed: Observed,
    /// True if the first level starts a row.
    pub(super) starts_row: bool,
    /// The number of invalid UTF-8 values and the ordinal of the first.
    not_text: Option<(u64, u64)>,
    /// The number of decimals with too many digits and the ordinal of the first.
    too_long: Option<(u64, u64)>,
    /// The number of disallowed values and the ordinal of the first.
    not_allowed: Option<(u64, u64)>,
    values: u64,
    /// The last entry of a dictionary declared sorted, or `None` once an entry was out of order.
    sorted: Option<Vec<u8>>,
}

impl<'a> PageCheck<'a> {
    /// Creates the check for a page with values, or returns `None` for other pages. Missing
    /// required header fields are reported and also give `None`.
    pub(super) fn new(
        header: &'a PageHeader,
        limits: &Limits,
        column: &'a Column,
        old_bounds: bool,
        report: &mut Report,
    ) -> Option<Self> {
        let kind = FindingKind::PageHeader;
        match header.type_ {
            PageType::IndexPage => return None,
            PageType::Unknown(id) => {
                let message = format!("a page of the unknown type {id}");
                report.warning(FindingKind::NotChecked, message);
                return None;
            }
            _ => {}
        }
        let Some((declared, encoding)) = header.num_values().zip(header.encoding()) else {
            report.error(kind, "the page header lacks the header of its type");
            return None;
        };
        let plain = matches!(encoding, Encoding::Plain | Encoding::PlainDictionary);
        if header.type_ == PageType::DictionaryPage && !plain {
            report.error(
                kind,
                format!("a dictionary page with the encoding {encoding}"),
            );
        }
        let claimed = match header
            .statistics()
            .map(|statistics| statistics.decode(limits))
            .transpose()
        {
            Ok(claimed) => claimed,
            Err(error) => {
                report.error(kind, error.message());
                None
            }
        };
        let old_bounds = old_bounds || statistics::has_old_bounds(claimed.as_ref(), column);
        Some(Self {
            claimed,
            header,
            column,
            encoding,
            num_values: u64::try_from(declared).unwrap_or_default(),
            observed: Observed::new(column, old_bounds),
            starts_row: true,
            not_text: None,
            too_long: None,
            not_allowed: None,
            values: 0,
            sorted: None,
        })
    }

    /// Reads and decodes the body, passing all blocks to `see`. Returns false if the body can't be
    /// decoded.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn decode(
        &mut self,
        source: &dyn Source,
        (start, body): (&PageStart, Range<u64>),
        decoder: &mut PageDecoder,
        mut see: impl FnMut(&Block<'_>),
        report: &mut Report,
    ) -> Result<bool> {
        if let Err(error) = decoder.check_sizes(self.header) {
            report.failed(FindingKind::PageHeader, error)?;
            return Ok(false);
        }
        let body = match source.read(body) {
            Ok(body) => body,
            Err(error) => {
                report.failed(FindingKind::Page, error)?;
                return Ok(false);
            }
        };
        if let Err(error) = PageDecoder::verify_crc(self.header, &body) {
            report.failed(FindingKind::Checksum, error)?;
        }
        if let Err(error) = decoder.open(self.header, start, body) {
            report.failed(FindingKind::Page, error)?;
            return Ok(false);
        }
        let mut first = true;
        loop {
            match decoder.block() {
                Ok(Some(block)) => {
                    if first {
                        self.starts_row = block.rep.first() == Some(&0);
                    }
                    first = false;
                    self.observed.add(&block);
                    self.values(&block.values);
                    see(&block);
                }
                Ok(None) => break,
                Err(error) => {
                    report.failed(FindingKind::Page, error)?;
                    return Ok(false);
                }
            }
        }
        let unused = decoder.unused_bytes();
        let is_data = self.header.type_ != PageType::DictionaryPage;
        if let Err(error) = decoder.check_unused_bytes()
            && is_data
        {
            report.failed(FindingKind::Page, error)?;
        } else if unused > 0 {
            let message = format!("{unused} bytes after the values are unused");
            report.note(FindingKind::Page, message);
        }
        if decoder.is_padded() && is_data {
            let message = "padding follows the last level or value";
            report.note(FindingKind::Page, message.to_owned());
        }
        self.compare(report);
        Ok(true)
    }

    fn values(&mut self, values: &ArrayRef) {
        let is_dictionary = self.header.type_ == PageType::DictionaryPage;
        if self.column.is_text
            && let Some(bytes) = values.as_binary_opt::<i32>()
        {
            for (ordinal, value) in (self.values..).zip(bytes.iter().flatten()) {
                if std::str::from_utf8(value).is_err() {
                    self.not_text.get_or_insert((0, ordinal)).0 += 1;
                }
            }
        }
        if let Some(digits) = &self.column.digits {
            digits.beyond(values, |position| {
                let ordinal = self.values + position as u64;
                self.too_long.get_or_insert((0, ordinal)).0 += 1;
            });
        }
        if let Some(allowed) = &self.column.allowed {
            allowed.beyond(values, |position| {
                let ordinal = self.values + position as u64;
                self.not_allowed.get_or_insert((0, ordinal)).0 += 1;
            });
        }
        if is_dictionary && self.said_to_be_sorted() {
            let (order, physical) = (self.column.natural_order, self.column.leaf.physical_type);
            let mut last = if self.values == 0 {
                None
            } else {
                self.sorted.take()
            };
            let mut sorted = self.values == 0 || last.is_some();
            for_each_plain(values, |value| {
                let ordered = last.as_deref().is_none_or(|last| {
                    compare(order, physical, last, value).is_none_or(std::cmp::Ordering::is_le)
                });
                sorted &= ordered;
                last = Some(value.to_vec());
            });
            self.sorted = last.filter(|_| sorted);
        }
        self.values += values.len() as u64;
    }

    fn said_to_be_sorted(&self) -> bool {
        let header = self.header.dictionary_page_header.as_ref();
        header.and_then(|header| header.is_sorted) == Some(true)
    }

    /// Compares the decoded contents with the header.
    fn compare(&self, report: &mut Report) {
        let kind = FindingKind::PageHeader;
        if let Some((count, first)) = self.not_text {
            let message =
                format!("{count} values are not UTF-8, the first of them is value {first}");
            report.error(FindingKind::Utf8, message);
        }
        if let Some((count, first)) = self.too_long {
            let message = format!(
                "{count} decimals have more digits than their precision, the first of them is value \
                 {first}"
            );
            report.error(FindingKind::Decimal, message);
        }
        if let (Some(allowed), Some((count, first))) = (&self.column.allowed, self.not_allowed) {
            let (kind, message) = allowed.fault(count, first);
            report.error(kind, message);
        }
        let level = |level: &u8| self.observed.def_histogram.get(usize::from(*level));
        let null_keys: u64 = self.column.null_keys.iter().filter_map(level).sum();
        if null_keys > 0 {
            let message = format!("{null_keys} keys of a map are null");
            report.error(FindingKind::Nesting, message);
        }
        if self.said_to_be_sorted() && self.values > 0 && self.sorted.is_none() {
            report.error(kind, "the dictionary is declared as sorted, but is not");
        }
        if let Some(v2) = &self.header.data_page_header_v2
            && self.header.type_ == PageType::DataPageV2
        {
            let mut compare = |name: &str, claimed: i32, actual: u64| {
                if u64::try_from(claimed) != Ok(actual) {
                    report.error(
                        kind,
                        format!("{name} is {claimed}, but the levels give {actual}"),
                    );
                }
            };
            compare("num_nulls", v2.num_nulls, self.observed.without_value());
            compare("num_rows", v2.num_rows, self.observed.rows());
            if !self.starts_row && self.num_values > 0 {
                report.error(
                    kind,
                    "the page starts inside of a row, which is not allowed for a page of version 2",
                );
            }
        }
        if let Some(claimed) = &self.claimed {
            statistics::check(claimed, self.column, &self.observed, None, report);
        }
    }
}
