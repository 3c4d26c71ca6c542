//! Rephrases library errors for the command line. The library suggests a remedy, and we name the
//! matching option.

use std::fmt;

use herringbone::{Error, Location, Remedy};

/// A library error with advice that names this command's options.
pub(crate) struct Advised<'a> {
    pub(crate) error: &'a Error,
    /// The current command's option to ignore checksums, if it has one.
    pub(crate) ignores_checksums: Option<&'static str>,
    /// The directory to suggest instead of the `_metadata` file inside it.
    pub(crate) directory: Option<String>,
}

impl fmt::Display for Advised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error.kind(), self.without_kind())
    }
}

impl<'a> Advised<'a> {
    /// Wraps an error with advice that applies to every command and file.
    pub(crate) fn new(error: &'a Error) -> Self {
        Self {
            error,
            ignores_checksums: None,
            directory: None,
        }
    }

    /// Returns the error without its kind, for messages that already name the files.
    pub(crate) fn without_kind(&self) -> String {
        let error = self.error;
        let mut text = error.message().to_owned();
        let advice = error
            .remedy()
            .and_then(|remedy| match (remedy, &self.directory) {
                (Remedy::OpenChunkFiles, Some(directory)) => Some(format!(
                    "name the directory {directory} to read the files that `_metadata` lists"
                )),
                _ => advice(remedy, error.location(), self.ignores_checksums),
            });
        if let Some(advice) = advice {
            text += &format!("; {advice}");
        }
        match error.location() {
            nowhere if *nowhere == Location::default() => text,
            place => text + &format!(" ({place})"),
        }
    }
}

/// Returns advice that names the option for a remedy, or `None` if the command does not have such
/// an option. `ignores_checksums` is the option that ignores checksums.
pub(crate) fn advice(
    remedy: Remedy,
    location: &Location,
    ignores_checksums: Option<&'static str>,
) -> Option<String> {
    Some(match remedy {
        Remedy::RaiseLimit(limit) => format!("raise it with --max {limit}=N"),
        Remedy::IgnoreChecksums => format!("{} ignores it", ignores_checksums?),
        Remedy::IgnoreArrowSchema => "--no-arrow-schema ignores that schema".into(),
        Remedy::IgnoreAnnotations => {
            "--ignore-annotations COLUMN reads it as stored: a map as a list of structs".into()
        }
        Remedy::LenientVariants => "--lenient-variants uses the shredded columns".into(),
        Remedy::ChooseInt96Unit => {
            "a coarser --int96-unit may hold it, or --int96-overflow null makes it null".into()
        }
        Remedy::GiveSchema => "supply it with --schema FILE".into(),
        Remedy::GiveRowGroupRows => "supply their number with --input-row-group-rows N".into(),
        Remedy::GiveKeys => "supply them with --keys FILE".into(),
        Remedy::AllowPlaintext if location.column.is_some() => {
            "to read it anyway, remove its key from \"column_keys\" in the keys file".into()
        }
        Remedy::AllowPlaintext => "to read it anyway, omit --keys and HERRINGBONE_KEYS".into(),
        Remedy::AllowAlgorithm => {
            "\"algorithms\": [\"AES_GCM_V1\", \"AES_GCM_CTR_V1\"] in the keys file allow it".into()
        }
        Remedy::SupplyAadPrefix => "supply it with \"aad_prefix\" in the keys file".into(),
        Remedy::ChooseSortFolder => {
            "use another folder with --sort-folder FOLDER, or sort more rows in memory with \
             --sort-memory SIZE"
                .into()
        }
        Remedy::RaiseSortMemory => {
            "raise --sort-memory SIZE, or sort the values of a Parquet file without dictionaries \
             with --no-arrow-schema"
                .into()
        }
        Remedy::LeaveOutColumn => "leave it out with --columns".into(),
        Remedy::MergeByName => {
            "--by-name finds columns by name, and fills those missing in a file with nulls".into()
        }
        Remedy::MergeCasting => "--cast reads both as a type that holds all values".into(),
        Remedy::MergeByNameCasting => {
            "--by-name --cast finds columns by name, and reads them as a type that holds all values"
                .into()
        }
        Remedy::DecryptFirst => "`decrypt` each file, then `encrypt` the new one".into(),
        Remedy::AllowOutOfRange => "--allow-out-of-range writes it as it is".into(),
        Remedy::UseOwnFooters => {
            "without --use-metadata-file, files are read by their own footers".into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(error: &Error, ignores_checksums: Option<&'static str>) -> String {
        Advised {
            ignores_checksums,
            ..Advised::new(error)
        }
        .to_string()
    }

    #[test]
    fn options_are_those_of_the_command() {
        let error = Error::limit("page_bytes", 9, 8).in_row_group(3);
        assert_eq!(
            advised(&error, None),
            "limit exceeded: 9 is more than the limit `page_bytes` of 8; raise it with --max \
             page_bytes=N (row group 3)"
        );
        let error = Error::corrupt("x").with_remedy(Remedy::IgnoreChecksums);
        assert_eq!(
            advised(&error, Some("--ignore-crc")),
            "corrupt file: x; --ignore-crc ignores it"
        );
        assert_eq!(advised(&error, None), "corrupt file: x");
        let error = Error::argument("x").with_remedy(Remedy::AllowOutOfRange);
        assert!(advised(&error, None).contains("--allow-out-of-range"));
        let error = Error::argument("x").with_remedy(Remedy::ChooseLeaves);
        assert_eq!(advised(&error, None), "invalid argument: x");
    }
}
