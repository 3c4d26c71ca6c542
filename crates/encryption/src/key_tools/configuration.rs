//! What of a file is encrypted with keys that which master keys wrap.

use crate::{
    Algorithm, Error, KeyLength, Result,
    properties::{ColumnPath, OtherColumns},
};

/// How the files of a data set are encrypted. The fields have the defaults of the other libraries, but for
/// [`other_columns`](Self::other_columns).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EncryptionConfiguration {
    /// The master key that wraps the key of the footer.
    pub footer_key: String,
    /// For master keys, the columns whose keys they wrap. Each path gets a key of its own, also for columns below a group;
    /// paths are parts. None: all columns are encrypted with the key of the footer ("uniform encryption").
    pub column_keys: Vec<(String, Vec<ColumnPath>)>,
    /// What becomes of columns that are not in `column_keys`. They are encrypted with the key of the footer unless this says
    /// otherwise; other libraries leave them in plaintext.
    pub other_columns: OtherColumns,
    /// The algorithm: AES_GCM_V1 unless this says otherwise.
    pub algorithm: Algorithm,
    /// Whether the footer is signed in place of encrypted; false unless this says otherwise.
    pub plaintext_footer: bool,
    /// Whether keys are wrapped by key encryption keys, which takes fewer calls of the KMS; true unless this says otherwise.
    pub double_wrapping: bool,
    /// The length of data keys: 128 bits unless this says otherwise.
    pub data_key_length: KeyLength,
    /// The length of key encryption keys: 128 bits unless this says otherwise.
    pub kek_length: KeyLength,
    /// What identifies the files, if anything does.
    pub aad_prefix: Option<Vec<u8>>,
    /// Whether the prefix is stored in the files; true unless this says otherwise.
    pub store_aad_prefix: bool,
}

impl EncryptionConfiguration {
    /// All columns and the footer with one key, which this master key wraps.
    #[must_use]
    pub fn new(footer_key: impl Into<String>) -> Self {
        Self {
            footer_key: footer_key.into(),
            column_keys: Vec::new(),
            other_columns: OtherColumns::default(),
            algorithm: Algorithm::default(),
            plaintext_footer: false,
            double_wrapping: true,
            data_key_length: KeyLength::default(),
            kek_length: KeyLength::default(),
            aad_prefix: None,
            store_aad_prefix: true,
        }
    }

    /// With keys for columns.
    #[must_use]
    pub fn with_column_keys(mut self, column_keys: Vec<(String, Vec<ColumnPath>)>) -> Self {
        self.column_keys = column_keys;
        self
    }
}

/// Reads the text that parquet-java takes as `parquet.encryption.column.keys`: `masterKey:column,column;masterKey:column`.
/// The parts of a column's path are joined by dots in it, so that names with `.`, `,`, `;` or `:` cannot be expressed.
///
/// **Errors**: argument if a master key has no columns, a name is empty, or a column is there twice.
pub fn parse_column_keys(text: &str) -> Result<Vec<(String, Vec<ColumnPath>)>> {
    let mut keys = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for group in text
        .split(';')
        .map(str::trim)
        .filter(|group| !group.is_empty())
    {
        let refuse = |why: &str| Err(Error::argument(format!("column keys: {why} in {group:?}")));
        let Some((master_key, columns)) = group.split_once(':') else {
            return refuse("no colon behind the master key");
        };
        let master_key = master_key.trim();
        if master_key.is_empty() {
            return refuse("no master key");
        }
        if columns.contains(':') {
            return refuse("a second colon");
        }
        let mut paths = Vec::new();
        for column in columns.split(',').map(str::trim) {
            let path: ColumnPath = column.split('.').map(Into::into).collect();
            if path.iter().any(String::is_empty) {
                return refuse("an empty name");
            }
            if !seen.insert(path.clone()) {
                return refuse(&format!("column {column} for the second time"));
            }
            paths.push(path);
        }
        keys.push((master_key.to_owned(), paths));
    }
    Ok(keys)
}
