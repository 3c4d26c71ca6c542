//! Detects files in foreign formats by their magic numbers, so that the error can include advice on
//! how to convert them.

/// A format that the command can't read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    /// The format's name.
    name: &'static str,
    /// Advice for the user, in which `FILE` stands for the file's name.
    advice: &'static str,
}

/// The maximum size of a magic number in bytes.
pub const LONGEST_MARK: u64 = 16;

/// Magic numbers, each with the format's name and advice.
const FORMATS: &[(&[u8], &str, &str)] = &[
    (
        b"\x1f\x8b",
        "gzip",
        "`herringbone convert --from FORMAT FILE OUT` reads text in it, and `gunzip -c FILE` unpacks it",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "Zstandard",
        "`herringbone convert --from FORMAT FILE OUT` reads text in it, and `zstd -dc FILE` unpacks it",
    ),
    (
        b"BZh",
        "bzip2",
        "`bunzip2 -c FILE` unpacks it, also into `herringbone convert --from FORMAT - OUT`",
    ),
    (
        b"\xfd7zXZ\0",
        "xz",
        "`xz -dc FILE` unpacks it, also into `herringbone convert --from FORMAT - OUT`",
    ),
    (
        b"PK\x03\x04",
        "a ZIP archive, as .xlsx files are",
        "save a workbook as CSV; `unzip -p FILE` unpacks other archives, also into `herringbone \
         convert --from FORMAT - OUT`",
    ),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Office document, as .xls files are",
        "save it as CSV",
    ),
    (
        b"FEA1",
        "Feather version 1, which is not Arrow IPC",
        "write it as version 2 first: `pyarrow.feather.write_feather(pyarrow.feather.read_table('FILE'), \
         'NEW.feather')`",
    ),
    (
        b"ARROW1",
        "an Arrow IPC file",
        "`herringbone convert --from arrow FILE OUT` reads it",
    ),
    (
        b"\xff\xff\xff\xff",
        "an Arrow IPC stream",
        "`herringbone convert --from arrow-stream FILE OUT` reads it",
    ),
    (
        b"PAR1",
        "Parquet",
        "`herringbone convert --from parquet FILE OUT` reads it",
    ),
    (
        b"PARE",
        "encrypted Parquet",
        "`herringbone convert --from parquet --keys KEYS FILE OUT` reads it",
    ),
    (b"ORC", "Apache ORC", "pyarrow.orc and duckdb read it"),
    (b"Obj\x01", "Apache Avro", "duckdb and polars read it"),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "duckdb and sqlite3 read it",
    ),
    (b"\x89HDF\r\n\x1a\n", "HDF5", "pandas and h5py read it"),
    (
        b"\xff\xfe",
        "text in UTF-16",
        "`herringbone convert --csv-encoding utf-16le FILE OUT` reads CSV in it",
    ),
    (
        b"\xfe\xff",
        "text in UTF-16",
        "`herringbone convert --csv-encoding utf-16be FILE OUT` reads CSV in it",
    ),
];

/// The error message for invalid UTF-8, with advice.
pub(super) const NOT_UTF8: &str = "text that is not UTF-8; `iconv -f WINDOWS-1252 -t UTF-8` makes UTF-8 \
                                   of the usual text of Windows";

/// Returns the format of a file with a known magic number.
pub fn foreign(beginning: &[u8]) -> Option<Foreign> {
    let mut formats = FORMATS.iter();
    let found = formats.find(|(mark, ..)| beginning.starts_with(mark));
    found.map(|&(_, name, advice)| Foreign { name, advice })
}

/// A kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// JSON.
    Json,
    /// Text in any other form.
    Other,
}

/// Guesses the kind of text from the first bytes of a file without a magic number.
pub fn text_kind(beginning: &[u8]) -> Option<TextKind> {
    let beginning = beginning
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(beginning);
    let text = match str::from_utf8(beginning) {
        Ok(text) => text,
        // The sample can end inside a character.
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(beginning.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let is_text =
        |character: char| !character.is_control() || matches!(character, '\t' | '\r' | '\n');
    if text.trim().is_empty() || !text.chars().all(is_text) {
        return None;
    }
    let mut characters = text.chars().filter(|character| !character.is_whitespace());
    let (first, second) = (characters.next(), characters.next());
    let is_json = match first {
        Some('{') => matches!(second, Some('"' | '}')),
        Some('[') => matches!(second, Some('{' | '[' | ']' | '"')),
        _ => false,
    };
    Some(match is_json {
        true => TextKind::Json,
        false => TextKind::Other,
    })
}

/// Returns the format of a text, by its first bytes.
pub fn text_format(beginning: &[u8]) -> Option<Foreign> {
    Some(match text_kind(beginning)? {
        TextKind::Json => Foreign {
            name: "JSON",
            advice: "`herringbone convert --from jsonl FILE OUT.parquet` makes Parquet of JSON lines",
        },
        TextKind::Other => Foreign {
            name: "text",
            advice: "`herringbone convert --from csv FILE OUT.parquet` makes Parquet of CSV",
        },
    })
}

impl Foreign {
    /// Returns the error for a file in this format instead of the expected one.
    pub fn instead_of(&self, expected: &str, file: &str) -> String {
        let Self { name, advice } = self;
        let advice = advice.replace("FILE", file);
        format!("{file}: expected {expected}, but this is {name}: {advice}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_marks() {
        for (beginning, name) in [
            // RFC 1952, APPNOTE.TXT 4.3.7 and RFC 8878 define these marks, or `file` knows them.
            (&b"\x1f\x8b\x08\0"[..], "gzip"),
            (b"PK\x03\x04\x14", "a ZIP archive, as .xlsx files are"),
            (b"\x28\xb5\x2f\xfd\x04", "Zstandard"),
            (b"FEA1\0\0", "Feather version 1, which is not Arrow IPC"),
            (b"ARROW1\0\0", "an Arrow IPC file"),
            (b"\xff\xfea\0", "text in UTF-16"),
        ] {
            assert_eq!(foreign(beginning).unwrap().name, name);
        }
        for beginning in [&b""[..], b"a,b", b"\x1f", b"PK,x", b"{}"] {
            assert_eq!(foreign(beginning), None);
        }
        let words = foreign(b"\x1f\x8b").unwrap().instead_of("CSV", "x.csv.gz");
        assert_eq!(
            words,
            "x.csv.gz: expected CSV, but this is gzip: `herringbone convert --from FORMAT x.csv.gz \
             OUT` reads text in it, and `gunzip -c x.csv.gz` unpacks it"
        );
    }

    #[test]
    fn text_is_known_by_its_characters() {
        let name = |text: &[u8]| text_format(text).map(|format| format.name);
        assert_eq!(name(b"a,b\r\n1,2\n"), Some("text"));
        assert_eq!(name(b" {\"a\":1}"), Some("JSON"));
        assert_eq!(name("\u{feff}[ {\"a\":".as_bytes()), Some("JSON"));
        assert_eq!(name(b"[section]\nkey=1\n"), Some("text"));
        assert_eq!(name(&"é".as_bytes()[..1]), None);
        assert_eq!(name(b"a\xc3"), Some("text"));
        assert_eq!(name(b"a\xe4\n"), None);
        assert_eq!(name(b"a\0b"), None);
        assert_eq!(name(b"\n \n"), None);
    }
}
