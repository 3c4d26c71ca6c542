//! Records of CSV, after RFC 4180, with what nobody knows once the quotes are gone: whether there
//! were any.

use herringbone_arrow::schema::ArrowError;

/// Splits text, which may come in pieces, into records of so many fields.
///
/// Quotes count at the beginning of a field; what follows the closing one belongs to the field. A
/// line ends with CR LF, LF or CR.
pub(super) struct Records {
    delimiter: u8,
    /// Fields of a record.
    width: usize,
    /// Whether a blank line is a record with one empty field; otherwise it is nothing.
    pub(super) blanks: bool,
    state: State,
    /// The fields without quotes, one after the other.
    data: Vec<u8>,
    fields: Vec<Field>,
    /// How many of the fields belong to the record that is not complete.
    open: usize,
    quoted: bool,
}

struct Field {
    /// Where it ends in the data.
    end: usize,
    quoted: bool,
}

enum State {
    /// Where a record begins.
    Record,
    /// Behind a CR; an LF would belong to it.
    Return,
    /// Where a field begins.
    Field,
    /// In a field, outside of quotes.
    Plain,
    /// Inside of quotes.
    Quoted,
    /// Behind a quote inside of quotes: the first of two, or the end.
    Quote,
}

impl Records {
    pub(super) fn new(delimiter: u8, width: usize) -> Self {
        Self {
            delimiter,
            width,
            blanks: false,
            state: State::Record,
            data: Vec::new(),
            fields: Vec::new(),
            open: 0,
            quoted: false,
        }
    }

    /// The number of complete records.
    pub(super) fn len(&self) -> usize {
        self.fields
            .len()
            .saturating_sub(self.open)
            .checked_div(self.width)
            .unwrap_or(0)
    }

    /// Bytes of all fields.
    pub(super) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Forgets the records, all of which must be complete.
    pub(super) fn clear(&mut self) {
        self.data.clear();
        self.fields.clear();
    }

    /// Takes text until there are `most` records; without text, the end. Returns the bytes taken.
    ///
    /// # Errors
    /// A record with more or fewer fields, quotes that are open at the end.
    pub(super) fn read(&mut self, text: &[u8], most: usize) -> Result<usize, ArrowError> {
        if text.is_empty() {
            return self.end().map(|()| 0);
        }
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            match self.state {
                State::Return => {
                    at += usize::from(byte == b'\n');
                    self.state = State::Record;
                }
                State::Record if self.len() >= most => break,
                State::Record if matches!(byte, b'\r' | b'\n') => {
                    at += 1;
                    if self.blanks {
                        self.quoted = false;
                        self.end_field();
                        self.end_record()?;
                    }
                    self.state = behind(byte);
                }
                State::Record => self.state = State::Field,
                State::Field => {
                    self.quoted = byte == b'"';
                    at += usize::from(self.quoted);
                    self.state = if self.quoted {
                        State::Quoted
                    } else {
                        State::Plain
                    };
                }
                State::Plain => {
                    let delimiter = self.delimiter;
                    at += self.copy(text, at, |it| it == delimiter || it == b'\n' || it == b'\r');
                    let Some(&end) = text.get(at) else {
                        break;
                    };
                    at += 1;
                    self.end_field();
                    self.state = State::Field;
                    if end != delimiter {
                        self.end_record()?;
                        self.state = behind(end);
                    }
                }
                State::Quoted => {
                    at += self.copy(text, at, |it| it == b'"');
                    if at < text.len() {
                        at += 1;
                        self.state = State::Quote;
                    }
                }
                State::Quote if byte == b'"' => {
                    at += 1;
                    self.data.push(b'"');
                    self.state = State::Quoted;
                }
                State::Quote => self.state = State::Plain,
            }
        }
        Ok(at)
    }

    /// Copies what lies before the byte that `ends` is true of; returns how much that was.
    fn copy(&mut self, text: &[u8], at: usize, ends: impl Fn(u8) -> bool) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        let count = rest.iter().position(|byte| ends(*byte));
        let run = count.and_then(|count| rest.get(..count)).unwrap_or(rest);
        self.data.extend_from_slice(run);
        run.len()
    }

    fn end_field(&mut self) {
        self.open += 1;
        self.fields.push(Field {
            end: self.data.len(),
            quoted: self.quoted,
        });
    }

    fn end_record(&mut self) -> Result<(), ArrowError> {
        if self.open != self.width {
            return Err(ArrowError::CsvError(format!(
                "incorrect number of fields: expected {} got {}",
                self.width, self.open
            )));
        }
        self.open = 0;
        Ok(())
    }

    /// The last line may have no end.
    fn end(&mut self) -> Result<(), ArrowError> {
        match self.state {
            State::Record | State::Return => return Ok(()),
            State::Quoted => {
                return Err(ArrowError::CsvError("quotes that are not closed".into()));
            }
            State::Field => self.quoted = false,
            State::Plain | State::Quote => {}
        }
        self.end_field();
        self.state = State::Record;
        self.end_record()
    }

    /// The fields of a column in all complete records, and whether they were quoted.
    ///
    /// # Errors
    /// What is not UTF-8.
    pub(super) fn column(
        &self,
        at: usize,
    ) -> impl Iterator<Item = Result<(&str, bool), ArrowError>> {
        (0..self.len()).map(move |record| {
            let field = record * self.width + at;
            let start = field.checked_sub(1).and_then(|it| self.fields.get(it));
            let start = start.map_or(0, |field| field.end);
            let (end, quoted) = match self.fields.get(field) {
                Some(field) => (field.end, field.quoted),
                None => (start, false),
            };
            let text = std::str::from_utf8(self.data.get(start..end).unwrap_or_default())
                .map_err(|_| ArrowError::CsvError("text that is not UTF-8".into()))?;
            Ok((text, quoted))
        })
    }
}

fn behind(end: u8) -> State {
    match end {
        b'\r' => State::Return,
        _ => State::Record,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each record of `text`, which comes in pieces of so many bytes; quoted fields in «».
    fn records(text: &str, width: usize, blanks: bool, piece: usize) -> Result<String, String> {
        let mut records = Records::new(b',', width);
        records.blanks = blanks;
        let pieces = text.as_bytes().chunks(piece);
        for bytes in pieces.chain([b"".as_slice()]) {
            let taken = records.read(bytes, usize::MAX);
            let taken = taken.map_err(|error| error.to_string())?;
            assert_eq!(taken, bytes.len());
        }
        let columns: Vec<Vec<_>> = (0..width).map(|at| records.column(at).collect()).collect();
        let mut out = String::new();
        for record in 0..records.len() {
            for column in &columns {
                match column[record].as_ref().unwrap() {
                    (text, true) => out += &format!("[«{text}»]"),
                    (text, false) => out += &format!("[{text}]"),
                }
            }
            out.push(';');
        }
        Ok(out)
    }

    #[test]
    fn fields_are_split_wherever_the_text_is_cut() {
        for (text, width, blanks, expected) in [
            // The examples of RFC 4180, section 2.
            (
                "aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n",
                3,
                false,
                "[aaa][bbb][ccc];[zzz][yyy][xxx];",
            ),
            (
                "aaa,bbb,ccc\r\nzzz,yyy,xxx",
                3,
                false,
                "[aaa][bbb][ccc];[zzz][yyy][xxx];",
            ),
            (
                "\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx",
                3,
                false,
                "[«aaa»][«b\r\nbb»][«ccc»];[zzz][yyy][xxx];",
            ),
            (
                "\"aaa\",\"b\"\"bb\",\"ccc\"",
                3,
                false,
                "[«aaa»][«b\"bb»][«ccc»];",
            ),
            // Empty, and empty in quotes.
            (",\n\"\",\n,\"\"", 2, false, "[][];[«»][];[][«»];"),
            ("\n\r\n\r\"\"\nx\n\n", 1, true, "[];[];[];[«»];[x];[];"),
            ("\n\r\n\r\"\"\nx\n\n", 1, false, "[«»];[x];"),
            ("\n\n1,2\r\r\n\n3,4", 2, false, "[1][2];[3][4];"),
            // Quotes inside of fields, and text behind quotes.
            ("a\"b\"\n\"a\"b\" ,\n", 1, false, ""),
            ("a\"b\",\"a\"b\" \n", 2, false, "[a\"b\"][«ab\" »];"),
            (" \"a\"\n", 1, true, "[ \"a\"];"),
        ] {
            for piece in [1, 2, 3, 1000] {
                let found = records(text, width, blanks, piece);
                let expected = match expected {
                    "" => Err("Csv error: incorrect number of fields: expected 1 got 2".into()),
                    expected => Ok(expected.into()),
                };
                assert_eq!(found, expected, "{text:?} {piece}");
            }
        }
    }

    #[test]
    fn open_quotes_are_an_error() {
        let error = records("a\n\"b\n", 1, true, 4).unwrap_err();
        assert_eq!(error, "Csv error: quotes that are not closed");
    }

    #[test]
    fn no_more_is_taken_than_asked_for() {
        let mut records = Records::new(b',', 1);
        records.blanks = true;
        assert_eq!(records.read(b"a\r\nb\r\nc", 1).unwrap(), 3);
        assert_eq!((records.len(), records.bytes()), (1, 1));
        assert_eq!(records.read(b"b\r\nc", 1).unwrap(), 0);
        records.clear();
        assert_eq!(records.read(b"\n\nb", 2).unwrap(), 2);
        assert_eq!((records.len(), records.bytes()), (2, 0));
    }

    #[test]
    fn a_character_does_not_reach_over_two_fields() {
        let mut records = Records::new(b',', 2);
        records.read(b"\xc3,\xa9\n", 1).unwrap();
        assert!(records.column(0).all(|field| field.is_err()));
        assert!(records.column(1).all(|field| field.is_err()));
    }
}
