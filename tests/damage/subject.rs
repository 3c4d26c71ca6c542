//! A file to damage, and everything that is needed to use it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::filter::{Column, Predicate, col_at};
use herringbone::modular_encryption::Decryption;
use herringbone::schema::ParquetSchema;
use herringbone::{
    Error, OpenOptions, ParquetFile, ReadOptions, SortingColumnOption, WriteOptions,
};
use herringbone_arrow::array::RecordBatch;
use herringbone_core::extension::ExtensionType;

use crate::damages::Damage;
use crate::ways;

/// The undamaged file.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
    pub(crate) keys: Option<Arc<dyn Decryption>>,
    pub(crate) extensions: Vec<Arc<dyn ExtensionType>>,
    /// The filters that the undamaged file accepts.
    pub(crate) filters: Vec<Predicate>,
    /// A column by which the undamaged file can be sorted.
    pub(crate) sort_by: Option<SortingColumnOption>,
    /// True if encryption authenticates the whole file.
    pub(crate) is_authentic: bool,
    /// The undamaged file's rows, for each way to read them.
    expected: Vec<Vec<RecordBatch>>,
    /// The ranges of page bodies that have checksums.
    summed: Vec<Range<usize>>,
}

impl Subject {
    pub(crate) fn new(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self {
            name: name.into(),
            bytes: bytes.into(),
            keys: None,
            extensions: Vec::new(),
            filters: Vec::new(),
            sort_by: None,
            is_authentic: false,
            expected: Vec::new(),
            summed: Vec::new(),
        }
    }

    pub(crate) fn with_keys(mut self, keys: Arc<dyn Decryption>, is_authentic: bool) -> Self {
        self.keys = Some(keys);
        self.is_authentic = is_authentic;
        self
    }

    pub(crate) fn with_extension(mut self, extension: impl ExtensionType + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    pub(crate) fn with_filter(mut self, filter: Predicate) -> Self {
        self.filters.push(filter);
        self
    }

    /// Opens a copy of the file.
    pub(crate) fn open(&self, bytes: Bytes) -> Result<ParquetFile, Error> {
        let mut options = OpenOptions::new();
        options.decryption.clone_from(&self.keys);
        ParquetFile::from_source(bytes, options)
    }

    /// Returns the options that all reads of the file have in common.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let mut options = ReadOptions::default().threads(1).limit(ways::MAX_ROWS);
        options.extensions.clone_from(&self.extensions);
        options
    }

    /// Reads the undamaged file in every way, and finds usable filters and a usable sort column.
    pub(crate) fn prepare(&mut self) {
        for way in 0..ways::WAYS {
            let rows = ways::rows(self, self.bytes.clone(), way, true);
            let rows = rows.unwrap_or_else(|error| panic!("{}, way {way}: {error}", self.name));
            self.expected.push(rows);
        }
        ways::beside(self, self.bytes.clone())
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let file = self.open(self.bytes.clone()).unwrap();
        let schema = file.parquet_schema();
        for leaf in 0..schema.leaves().len().min(8) {
            let path: Vec<String> = schema.path(leaf).into_iter().map(str::to_owned).collect();
            let accepted = tests(schema, leaf).into_iter().find(|filter| {
                let options = self.read_options().filter(filter.clone());
                ways::batches(&file, options).is_ok()
            });
            self.filters.extend(accepted);
            let sort_by = SortingColumnOption::new(path);
            let is_sorted = || ways::sorted(&file, self.read_options(), &sort_by).is_ok();
            if self.sort_by.is_none() && is_sorted() {
                self.sort_by = Some(sort_by);
            }
            for row_group in 0..file.metadata().num_row_groups() {
                self.summed.extend(summed(&file, row_group, leaf));
            }
        }
    }

    /// Compares the rows of a damaged copy, which was read without an error, with the undamaged file's rows. They must
    /// be equal if a checksum or an authentication tag covers the damage.
    pub(crate) fn compare(&self, damage: &Damage, way: usize, crc: bool, rows: &[RecordBatch]) {
        let is_checked = |at: usize| self.summed.iter().any(|range| range.contains(&at));
        let must_be_equal = match *damage {
            _ if self.is_authentic => true,
            Damage::Byte { at, .. } => crc && is_checked(at),
            _ => false,
        };
        let expected = &self.expected[way % ways::WAYS];
        let columns = |batch: &RecordBatch| batch.columns().to_vec();
        assert!(
            !must_be_equal || rows.iter().map(columns).eq(expected.iter().map(columns)),
            "wrong rows without an error"
        );
    }
}

/// Returns tests of a leaf, although its type accepts only some of them.
fn tests(schema: &ParquetSchema, leaf: usize) -> Vec<Predicate> {
    let path = || -> Vec<String> { schema.path(leaf).into_iter().map(str::to_owned).collect() };
    let quantities: [fn(Column) -> Column; 3] = [|it| it, Column::any, Column::all];
    let with_quantities = |test: &dyn Fn(Column) -> Predicate| -> Vec<Predicate> {
        let test = |quantity: &fn(Column) -> Column| test(quantity(col_at(path())));
        quantities.iter().map(test).collect()
    };
    [
        with_quantities(&|it| it.ge(1)),
        with_quantities(&|it| it.gt("b")),
        with_quantities(&|it| it.eq(true)),
        with_quantities(&Column::is_not_null),
    ]
    .concat()
}

/// Returns the ranges of page bodies that have checksums. Readers treat a checksum of 0 as missing.
fn summed(file: &ParquetFile, row_group: usize, leaf: usize) -> Vec<Range<usize>> {
    let pages = file.pages(row_group, leaf).into_iter().flatten();
    let body = |page: herringbone::PageInfo| {
        page.header.crc.filter(|crc| *crc != 0)?;
        let start = page.start.offset as usize + page.header_bytes;
        Some(start..start + page.body_bytes as usize)
    };
    pages.filter_map(|page| body(page.ok()?)).collect()
}

/// Returns write options that sort by a column and keep most rows in temporary files.
pub(crate) fn sorting(sort_by: &SortingColumnOption) -> WriteOptions {
    WriteOptions::new()
        .threads(1)
        .sort_by(vec![sort_by.clone()])
        .sort_memory_bytes(1 << 12)
        .sort_folder(std::env::temp_dir())
}
