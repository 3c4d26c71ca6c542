//! Collects and encodes the levels of the page under construction (Encodings, "Run Length Encoding / Bit-Packing Hybrid
//! (RLE = 3)").

use herringbone_arrow::buffer::NullBuffer;
use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::histogram;
use herringbone_kernels::hybrid::{self, Runs};

use super::level_width;
use crate::malformed;

/// The levels of the page under construction.
#[derive(Debug)]
pub struct PageLevels {
    max_def: u8,
    max_rep: u8,
    /// The kind of runs to encode.
    runs: Runs,
    num_rows: usize,
    num_levels: usize,
    rep: Vec<u8>,
    def: Def,
}

/// The definition levels for a leaf's entries.
pub enum DefinitionLevels {
    /// There are no levels. The highest definition level is 0, so nothing can be null or empty.
    None,
    /// The validity, for columns without lists whose highest definition level is 1. Each level is a bit, and without a
    /// buffer all slots are valid.
    Validity(Option<NullBuffer>),
    /// One byte per level.
    Bytes(Vec<u8>),
}

#[derive(Debug)]
enum Def {
    /// One bit per level, for columns without lists whose highest level is 1.
    Bits(Bitmap),
    /// One byte per level; empty if the highest level is 0.
    Bytes(Vec<u8>),
}

/// The encoded levels of a page and their counts. The bytes do not include length prefixes.
#[derive(Debug, Default)]
pub struct EncodedLevels {
    /// The encoded repetition levels.
    pub rep: Vec<u8>,
    /// The encoded definition levels.
    pub def: Vec<u8>,
    /// The number of rows starting in the page.
    pub num_rows: usize,
    /// The number of levels, counting values, nulls and empty lists.
    pub num_levels: usize,
    /// The number of levels below the highest definition level.
    pub num_nulls: usize,
    /// The number of occurrences of each repetition level; empty for columns without lists.
    pub rep_histogram: Vec<u64>,
    /// The number of occurrences of each definition level; empty if the column's highest level is 0.
    pub def_histogram: Vec<u64>,
}

impl EncodedLevels {
    /// Returns the number of heap bytes.
    pub fn heap_bytes(&self) -> usize {
        let counts = self.rep_histogram.capacity() + self.def_histogram.capacity();
        self.rep.capacity() + self.def.capacity() + size_of::<u64>() * counts
    }
}

impl PageLevels {
    /// Creates empty levels that will be encoded with this kind of runs.
    pub fn new(max_def: u8, max_rep: u8, runs: Runs) -> Self {
        let def = if max_rep == 0 && max_def == 1 {
            Def::Bits(Bitmap::new())
        } else {
            Def::Bytes(Vec::new())
        };
        Self {
            max_def,
            max_rep,
            runs,
            num_rows: 0,
            num_levels: 0,
            rep: Vec::new(),
            def,
        }
    }

    /// Returns the number of rows.
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Returns the number of levels.
    pub fn num_levels(&self) -> usize {
        self.num_levels
    }

    /// Returns the number of heap bytes.
    pub fn heap_bytes(&self) -> usize {
        self.rep.capacity()
            + match &self.def {
                Def::Bits(bits) => bits.heap_bytes(),
                Def::Bytes(bytes) => bytes.capacity(),
            }
    }

    /// Appends the levels of `num_rows` rows. `rep` contains one repetition level per entry, or is empty for a column
    /// without lists.
    pub fn append(&mut self, rep: &[u8], def: &DefinitionLevels, num_rows: usize) -> Result<()> {
        self.num_rows += num_rows;
        self.rep.extend_from_slice(rep);
        self.num_levels += match (def, &mut self.def) {
            (DefinitionLevels::Validity(Some(nulls)), Def::Bits(bits)) => {
                bits.append_packed(nulls.validity(), nulls.offset(), nulls.len())
                    .map_err(malformed)?;
                nulls.len()
            }
            (DefinitionLevels::Bytes(levels), Def::Bytes(bytes)) => {
                bytes.extend_from_slice(levels);
                levels.len()
            }
            (DefinitionLevels::Bytes(levels), Def::Bits(bits)) => {
                for level in levels {
                    bits.append_run(*level > 0, 1);
                }
                levels.len()
            }
            (_, Def::Bits(bits)) => {
                bits.append_run(true, num_rows);
                num_rows
            }
            (_, Def::Bytes(bytes)) => {
                let levels = rep.len().max(num_rows);
                if self.max_def > 0 {
                    bytes.resize(bytes.len() + levels, self.max_def);
                }
                levels
            }
        };
        Ok(())
    }

    /// Sets the kind of runs for this page and later pages.
    pub fn choose_runs(&mut self, runs: Runs) {
        self.runs = runs;
    }

    /// Encodes the page's levels and starts the next page.
    pub fn finish_page(&mut self) -> EncodedLevels {
        let encoded = self.encode(self.runs);
        self.num_rows = 0;
        self.num_levels = 0;
        self.rep.clear();
        match &mut self.def {
            Def::Bits(bits) => bits.clear(),
            Def::Bytes(bytes) => bytes.clear(),
        }
        encoded
    }

    /// Encodes the page's levels with this kind of runs.
    pub fn encode(&self, runs: Runs) -> EncodedLevels {
        let mut encoded = EncodedLevels {
            num_rows: self.num_rows,
            num_levels: self.num_levels,
            ..EncodedLevels::default()
        };
        // Above one bit per level, the shortest runs are just as repetitive, so we encode those instead.
        let runs_of_bytes = match runs {
            Runs::Long => Runs::Long,
            Runs::Shortest | Runs::Repetitive => Runs::Shortest,
        };
        if self.max_rep > 0 {
            let width = level_width(self.max_rep);
            hybrid::encode_u8(&self.rep, width, runs_of_bytes, &mut encoded.rep);
            encoded.rep_histogram = counts(&self.rep, self.max_rep);
        }
        match &self.def {
            Def::Bits(bits) => {
                match bits.as_bytes() {
                    None => hybrid::encode_run(1, bits.len(), 1, &mut encoded.def),
                    Some(bytes) => {
                        hybrid::encode_bits(bytes, 0, bits.len(), runs, &mut encoded.def)
                    }
                }
                encoded.num_nulls = bits.null_count();
                encoded.def_histogram = vec![bits.null_count() as u64, bits.count_set() as u64];
            }
            Def::Bytes(bytes) if self.max_def > 0 => {
                let width = level_width(self.max_def);
                hybrid::encode_u8(bytes, width, runs_of_bytes, &mut encoded.def);
                encoded.def_histogram = counts(bytes, self.max_def);
                let valid = encoded.def_histogram.last().copied().unwrap_or(0);
                encoded.num_nulls = encoded.num_levels - valid as usize;
            }
            Def::Bytes(_) => {}
        }
        encoded
    }
}

fn counts(levels: &[u8], max: u8) -> Vec<u64> {
    let mut histogram = vec![0; usize::from(max) + 1];
    histogram::count_levels(levels, &mut histogram);
    histogram
}
