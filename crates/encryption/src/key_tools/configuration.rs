//! Configures a file's encryption: how its parts are encrypted, with which data keys, and which master keys wrap these.

use crate::{
    Algorithm, Error, KeyLength, Result,
    properties::{ColumnPath, OtherColumns},
};

/// The encryption of a data set's files. The defaults match the other libraries, except for
/// [`other_columns`](Self::other_columns).
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::encryption::Key;
/// use herringbone::encryption::key_tools::{
///     EncryptionConfiguration, InMemoryKms, KeyTools, KmsClient, KmsConnection,
/// };
///
/// // The column `salary` has a master key of its own.
/// let configuration = EncryptionConfiguration::new("staff")
///     .column_keys([("pay", vec![vec!["salary".to_owned()]])])
///     .plaintext_footer(true);
/// # let keys = [("staff", Key::new(b"0123456789012345")?), ("pay", Key::new(b"1234567890123450")?)];
/// # let kms: Arc<dyn KmsClient> = Arc::new(InMemoryKms::new(keys));
/// # let tools = KeyTools::new(Arc::new(move |_: &KmsConnection| Ok(kms.clone())));
/// // `tools` are for the KMS with the two master keys.
/// let connection = KmsConnection::default();
/// assert!(tools.encryption_properties(&connection, &configuration, None).is_ok());
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EncryptionConfiguration {
    /// The master key wrapping the footer key.
    pub footer_key: String,
    /// The master keys, each with the columns whose keys it wraps. Each path gets its own key. If a path leads to a
    /// group, its key serves all columns below. Paths are lists of parts. If this is empty, all columns are encrypted
    /// with the footer key ("uniform encryption").
    pub column_keys: Vec<(String, Vec<ColumnPath>)>,
    /// The protection of columns missing from `column_keys`. The default is encryption with the footer key. Note that
    /// other libraries leave such columns in plaintext.
    pub other_columns: OtherColumns,
    /// The algorithm. The default is AES_GCM_V1.
    pub algorithm: Algorithm,
    /// True if the footer is signed instead of encrypted. The default is false.
    pub plaintext_footer: bool,
    /// True if keys are wrapped with key encryption keys, which saves KMS calls. The default is true.
    pub double_wrapping: bool,
    /// The length of data keys. The default is 128 bits.
    pub data_key_length: KeyLength,
    /// The length of key encryption keys. The default is 128 bits.
    pub kek_length: KeyLength,
    /// The AAD prefix identifying the files.
    pub aad_prefix: Option<Vec<u8>>,
    /// True if the files store the prefix. The default is true.
    pub store_aad_prefix: bool,
}

impl EncryptionConfiguration {
    /// Creates a configuration that encrypts the footer and all columns with one key, wrapped with this master key.
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
}

herringbone_format::setters! { EncryptionConfiguration {
    /// Sets the protection of columns without keys of their own.
    other_columns: OtherColumns;
    /// Sets the algorithm.
    algorithm: Algorithm;
    /// Selects whether the footer is signed instead of encrypted.
    plaintext_footer: bool;
    /// Selects whether keys are wrapped with key encryption keys.
    double_wrapping: bool;
    /// Sets the length of data keys.
    data_key_length: KeyLength;
    /// Sets the length of key encryption keys.
    kek_length: KeyLength;
    /// Sets the AAD prefix identifying the files.
    aad_prefix: impl Into<Vec<u8>> => |prefix| Some(Into::into(prefix));
    /// Selects whether the files store the prefix.
    store_aad_prefix: bool;
}}

impl EncryptionConfiguration {
    /// Sets the master keys for columns, each with the paths of the columns whose keys it wraps.
    #[must_use]
    pub fn column_keys<S: Into<String>>(
        mut self,
        keys: impl IntoIterator<Item = (S, Vec<ColumnPath>)>,
    ) -> Self {
        let owned = keys.into_iter().map(|(key, columns)| (key.into(), columns));
        self.column_keys = owned.collect();
        self
    }
}

/// Parses the format of parquet-java's `parquet.encryption.column.keys`, for example
/// `masterKey:column,column;masterKey:column`. Dots separate the parts of a column's path, so this format cannot
/// express names containing `.`, `,`, `;` or `:`.
///
/// # Errors
/// Fails with [Argument](crate::ErrorKind::Argument) if a master key has no columns, if a name is
/// empty, or if a column occurs twice.
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
            return refuse("no colon after the master key");
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
