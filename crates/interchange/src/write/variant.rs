//! Prints variants as JSON.

use herringbone::variant::json::{JsonWriter, LostTypes};
use herringbone::variant::shredding::{UnshredOptions, VariantArray};
use herringbone_arrow::array::Array;

use super::value::Value;
use crate::error::{Error, Result};

/// The JSON texts of variants. We convert all values up front, because printing can't fail but
/// malformed values do.
pub(super) struct Variants {
    text: String,
    /// The end of each text.
    ends: Vec<usize>,
    lost: LostTypes,
}

impl Variants {
    /// Converts the variants in an array, whether they are shredded or not.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if values are malformed, or if they violate the rules
    /// of shredding.
    pub(super) fn new(array: &dyn Array) -> Result<Self> {
        let data_failure = |error: herringbone::Error| Error::Data(error.to_string());
        let values = VariantArray::try_new(array).map_err(data_failure)?;
        let options = UnshredOptions::default();
        let mut writer = JsonWriter::new();
        let mut text = String::new();
        let mut ends = Vec::with_capacity(values.len());
        for row in 0..values.len() {
            if let Some(value) = values.value(row, &options).map_err(data_failure)? {
                writer
                    .write(value.as_variant(), &mut text)
                    .map_err(data_failure)?;
            }
            ends.push(text.len());
        }
        Ok(Self {
            text,
            ends,
            lost: writer.lost_types(),
        })
    }
}

impl Value for Variants {
    fn json(&self, row: usize, out: &mut String) {
        let end = |row: usize| self.ends.get(row).copied().unwrap_or_default();
        let start = row.checked_sub(1).map_or(0, end);
        out.push_str(self.text.get(start..end(row)).unwrap_or_default());
    }

    fn text(&self, row: usize, out: &mut String) {
        self.json(row, out);
    }

    fn lost(&self) -> LostTypes {
        self.lost
    }
}
