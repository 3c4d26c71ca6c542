//! Summarizes a file's encryption, for people and for programs.

use herringbone::encryption::Algorithm;
use herringbone::encryption::crypto_metadata::ColumnCryptoMetadata;
use herringbone::source::Source;
use herringbone::{Limits, ParquetFile, Result};
use herringbone_rewrite::encryption::InTheClear;
use serde_json::Value;

use crate::describe::{Object, list};

/// The kind of key that encrypts a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKey {
    /// The column is not encrypted.
    Plaintext,
    /// The footer key.
    Footer,
    /// A key of the column's own.
    Own,
    /// Different keys in different row groups.
    Several,
}

impl ColumnKey {
    /// Returns the text for people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Plaintext => "plaintext",
            Self::Footer => "footer key",
            Self::Own => "own key",
            Self::Several => "several",
        }
    }

    /// Returns the name for programs.
    fn name(self) -> &'static str {
        match self {
            Self::Plaintext => "plaintext",
            Self::Footer => "footer_key",
            Self::Own => "own_key",
            Self::Several => "several",
        }
    }
}

/// Returns the paths of a file's encrypted leaves.
///
/// # Errors
/// Fails if metadata cannot be decoded.
pub(crate) fn encrypted_leaves(file: &ParquetFile) -> Result<Vec<Vec<String>>> {
    let Some(summary) = Summary::of(file)? else {
        return Ok(Vec::new());
    };
    let schema = file.parquet_schema();
    let keys = summary.columns.iter().enumerate();
    let encrypted = keys.filter(|(_, key)| **key != ColumnKey::Plaintext);
    let path = |leaf: usize| schema.path(leaf).into_iter().map(str::to_owned).collect();
    Ok(encrypted.map(|(leaf, _)| path(leaf)).collect())
}

/// A summary of a file's encryption.
pub(crate) struct Summary {
    algorithm: Algorithm,
    plaintext_footer: bool,
    aad_prefix: &'static str,
    is_duckdb_dialect: bool,
    /// The key of each leaf. This is empty if the footer could not be read.
    pub(crate) columns: Vec<ColumnKey>,
}

impl Summary {
    /// Summarizes a file, or returns `None` if it isn't encrypted.
    pub(crate) fn of(file: &ParquetFile) -> Result<Option<Self>> {
        let Some(clear) = InTheClear::of(file)? else {
            return Ok(None);
        };
        let mut summary = Self::new(&clear);
        let metadata = file.metadata();
        for leaf in 0..file.parquet_schema().leaves().len() {
            let mut key = None;
            for row_group in 0..metadata.num_row_groups() {
                if leaf >= metadata.num_columns(row_group) {
                    continue;
                }
                let chunk = metadata.column_chunk(row_group, leaf)?;
                let here = match chunk.crypto_metadata {
                    None if summary.is_duckdb_dialect => ColumnKey::Footer,
                    None => ColumnKey::Plaintext,
                    Some(bytes) => match ColumnCryptoMetadata::decode(&bytes.0)? {
                        ColumnCryptoMetadata::FooterKey => ColumnKey::Footer,
                        ColumnCryptoMetadata::ColumnKey { .. } => ColumnKey::Own,
                    },
                };
                key = match key {
                    Some(key) if key != here => Some(ColumnKey::Several),
                    _ => Some(here),
                };
            }
            summary.columns.push(key.unwrap_or(ColumnKey::Plaintext));
        }
        Ok(Some(summary))
    }

    /// Summarizes a file without decrypting its footer. Returns `None` if the footer isn't
    /// encrypted.
    pub(crate) fn of_encrypted_footer(
        source: &dyn Source,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let clear = InTheClear::of_encrypted_footer(source, limits)?;
        Ok(clear.map(|clear| Self::new(&clear)))
    }

    fn new(clear: &InTheClear) -> Self {
        let algorithm = &clear.crypto.encryption_algorithm;
        let has_stored = algorithm
            .aad_prefix
            .as_ref()
            .is_some_and(|aad_prefix| !aad_prefix.is_empty());
        Self {
            algorithm: algorithm.algorithm,
            plaintext_footer: clear.plaintext_footer,
            aad_prefix: match (has_stored, algorithm.supply_aad_prefix) {
                (true, _) => "stored",
                (false, true) => "supplied",
                (false, false) => "none",
            },
            is_duckdb_dialect: clear.is_duckdb_dialect(),
            columns: Vec::new(),
        }
    }

    /// Returns the summary as lines. Each line is a name and a text.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("encryption", self.algorithm.to_string())];
        lines.extend(self.caution().map(|caution| ("", caution.to_owned())));
        if self.is_duckdb_dialect {
            lines.push((
                "",
                "in DuckDB's dialect: modules are not tied to their places".into(),
            ));
        }
        let footer = match self.plaintext_footer {
            true => "readable, signed",
            false => "encrypted",
        };
        lines.push(("footer", footer.into()));
        match self.aad_prefix {
            "stored" => lines.push(("AAD prefix", "stored in the file".into())),
            "supplied" => lines.push(("AAD prefix", "not stored; readers must supply it".into())),
            _ => {}
        }
        lines
    }

    /// Returns a warning about the algorithm, if there is a reason for one.
    pub(crate) fn caution(&self) -> Option<&'static str> {
        match self.algorithm {
            Algorithm::AesGcmV1 => None,
            Algorithm::AesGcmCtrV1 => {
                Some("bodies of pages are not authenticated: changes to them are not detected")
            }
        }
    }

    /// Returns the summary as one line. `names` are the columns' names.
    pub(crate) fn sentence(&self, names: &[String]) -> String {
        let footer = match self.plaintext_footer {
            true => "the footer is readable and signed",
            false => "the footer is encrypted",
        };
        let mut text = format!("encrypted by {}; {footer}", self.algorithm);
        for key in [
            ColumnKey::Footer,
            ColumnKey::Own,
            ColumnKey::Several,
            ColumnKey::Plaintext,
        ] {
            let key_columns = names
                .iter()
                .zip(&self.columns)
                .filter(|(_, other)| **other == key);
            let key_columns: Vec<&str> = key_columns.map(|(name, _)| name.as_str()).collect();
            if !key_columns.is_empty() {
                text += &format!("; {}: {}", key.text(), key_columns.join(", "));
            }
        }
        if let Some(caution) = self.caution() {
            text += &format!("; {caution}");
        }
        text
    }

    /// Returns the summary as JSON. `names` are the columns' names.
    pub(crate) fn json(&self, names: &[String]) -> Value {
        let column = |(name, key): (&String, &ColumnKey)| {
            Object::new()
                .with("path", name.as_str())
                .with("key", key.name())
        };
        Object::new()
            .name("algorithm", self.algorithm)
            .with("plaintext_footer", self.plaintext_footer)
            .with("aad_prefix", self.aad_prefix)
            .with("pages_authenticated", self.algorithm == Algorithm::AesGcmV1)
            .with("columns", list(names.iter().zip(&self.columns), column))
            .into()
    }
}
