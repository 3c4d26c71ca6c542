//! Records of CSV, after RFC 4180, with what nobody knows once the quotes are gone: whether there
//! were any.

/// What is wrong, and in which line.
pub(super) type Wrong = (usize, String);

/// Splits text, which may come in pieces, into records of so many fields.
///
/// Quotes count at the beginning of a field, which then ends with them. A line ends with CR LF, LF or CR.
pub(super) struct Records {
    delimiter: u8,
    /// Fields of a record; none until the first record has shown it.
    pub(super) width: Option<usize>,
    /// The number of the current line.
    line: usize,
    /// The line that each record begins in.
    lines: Vec<usize>,
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
    pub(super) fn new(delimiter: u8, width: Option<usize>) -> Self {
        Self {
            delimiter,
            width,
            line: 1,
            lines: Vec::new(),
            blanks: false,
            state: State::Record,
            data: Vec::new(),
            fields: Vec::new(),
            open: 0,
            quoted: false,
        }
    }

    /// Of a record with names, those that follow in the same text.
    pub(super) fn behind_header(&self) -> Self {
        let mut records = Self::new(self.delimiter, self.width);
        records.blanks = self.width == Some(1);
        records.line = self.line;
        if self.len() > 0 && matches!(self.state, State::Return) {
            records.state = State::Return;
        }
        records
    }

    /// The number of complete records.
    pub(super) fn len(&self) -> usize {
        self.lines.len() - usize::from(self.is_open())
    }

    /// Whether the text so far ends within a record.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Record | State::Return)
    }

    /// Bytes of all fields.
    pub(super) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Forgets the records, all of which must be complete.
    pub(super) fn clear(&mut self) {
        self.data.clear();
        self.fields.clear();
        self.lines.clear();
    }

    /// As well, and gives back memory beyond so many bytes.
    pub(super) fn clear_to(&mut self, bytes: usize) {
        self.clear();
        self.data.shrink_to(bytes);
    }

    /// Takes text until there are `most` records, or records of `bytes`; without text, the end. Returns
    /// the bytes taken.
    ///
    /// # Errors
    /// A record with more or fewer fields, quotes that are open at the end, text behind quotes.
    pub(super) fn read(&mut self, text: &[u8], most: usize, bytes: usize) -> Result<usize, Wrong> {
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
                State::Record if self.lines.len() >= most || self.data.len() >= bytes => break,
                State::Record if matches!(byte, b'\r' | b'\n') => {
                    at += 1;
                    if self.blanks {
                        self.quoted = false;
                        self.lines.push(self.line);
                        self.end_field();
                        self.end_record()?;
                    }
                    self.behind(byte);
                }
                State::Record => {
                    self.lines.push(self.line);
                    self.state = State::Field;
                }
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
                        self.behind(end);
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
                State::Quote if matches!(byte, b'\r' | b'\n') || byte == self.delimiter => {
                    self.state = State::Plain;
                }
                State::Quote => {
                    let text = "text behind the closing quote of a field";
                    return Err((self.line, text.into()));
                }
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
        if matches!(self.state, State::Quoted) {
            self.line += run.iter().filter(|byte| **byte == b'\n').count();
        }
        run.len()
    }

    fn end_field(&mut self) {
        self.open += 1;
        self.fields.push(Field {
            end: self.data.len(),
            quoted: self.quoted,
        });
    }

    fn end_record(&mut self) -> Result<(), Wrong> {
        let width = *self.width.get_or_insert(self.open);
        if self.open != width {
            let line = self.lines.last().copied().unwrap_or(self.line);
            let text = format!("expected {width} fields, got {}", self.open);
            return Err((line, text));
        }
        self.open = 0;
        Ok(())
    }

    /// Behind the end of a line.
    fn behind(&mut self, end: u8) {
        self.line += 1;
        self.state = match end {
            b'\r' => State::Return,
            _ => State::Record,
        };
    }

    /// The last line may have no end.
    fn end(&mut self) -> Result<(), Wrong> {
        match self.state {
            State::Record | State::Return => return Ok(()),
            State::Quoted => {
                let line = self.lines.last().copied().unwrap_or(self.line);
                return Err((line, "quotes that are not closed".into()));
            }
            State::Field => self.quoted = false,
            State::Plain | State::Quote => {}
        }
        self.end_field();
        self.state = State::Record;
        self.end_record()
    }

    /// Ends a text that was cut anywhere: what there is of a record is a record, filled up with
    /// nothing, if it is the only one.
    pub(super) fn cut(&mut self) {
        if self.len() == 0 && self.is_open() {
            self.end_field();
            let width = self.width.unwrap_or(self.open);
            while self.open < width {
                self.quoted = false;
                self.end_field();
            }
            self.width = Some(width);
            self.open = 0;
        } else if self.is_open() {
            self.lines.pop();
        }
        self.state = State::Record;
    }

    /// The text of all fields.
    ///
    /// # Errors
    /// What is not UTF-8.
    pub(super) fn text(&self) -> Result<Fields<'_>, Wrong> {
        match str::from_utf8(&self.data) {
            Ok(text) => Ok(Fields {
                records: self,
                text,
            }),
            Err(error) => {
                let at = error.valid_up_to();
                let field = self.fields.partition_point(|field| field.end <= at);
                Err(self.no_text(field))
            }
        }
    }

    fn no_text(&self, field: usize) -> Wrong {
        let record = field / self.width.unwrap_or(1).max(1);
        let line = self.line(record);
        (line, "text that is not UTF-8".into())
    }

    /// The line that a record begins in.
    pub(super) fn line(&self, record: usize) -> usize {
        self.lines.get(record).copied().unwrap_or(self.line)
    }
}

/// The fields of some records, as text.
pub(super) struct Fields<'r> {
    records: &'r Records,
    text: &'r str,
}

impl<'r> Fields<'r> {
    /// A field, and whether it was quoted.
    ///
    /// # Errors
    /// What is not UTF-8.
    pub(super) fn get(&self, record: usize, column: usize) -> Result<(&'r str, bool), Wrong> {
        let fields = &self.records.fields;
        let at = record * self.records.width.unwrap_or(0) + column;
        let start = at.checked_sub(1).and_then(|it| fields.get(it));
        let start = start.map_or(0, |field| field.end);
        let Some(field) = fields.get(at) else {
            return Ok(("", false));
        };
        // A character may lie in two fields by mistake.
        let text = self.text.get(start..field.end);
        let text = text.ok_or_else(|| self.records.no_text(at))?;
        Ok((text, field.quoted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each record of `text`, which comes in pieces of so many bytes; quoted fields in «».
    fn records(text: &str, width: usize, blanks: bool, piece: usize) -> Result<String, String> {
        let mut records = Records::new(b',', Some(width));
        records.blanks = blanks;
        let pieces = text.as_bytes().chunks(piece);
        for bytes in pieces.chain([b"".as_slice()]) {
            let taken = records.read(bytes, usize::MAX, usize::MAX);
            let taken = taken.map_err(|(line, text)| format!("{line}: {text}"))?;
            assert_eq!(taken, bytes.len());
        }
        let fields = records.text().unwrap();
        let mut out = String::new();
        for record in 0..records.len() {
            for column in 0..width {
                match fields.get(record, column).unwrap() {
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
            // Quotes inside of fields.
            ("a\"b\",\"a\"\"\"\n", 2, false, "[a\"b\"][«a\"»];"),
            (" \"a\"\n", 1, true, "[ \"a\"];"),
        ] {
            for piece in [1, 2, 3, 1000] {
                let found = records(text, width, blanks, piece);
                assert_eq!(found, Ok(expected.into()), "{text:?} {piece}");
            }
        }
    }

    #[test]
    fn errors_have_lines() {
        for (text, width, message) in [
            ("a\n\"b\n", 1, "2: quotes that are not closed"),
            (
                "\r\n\r\n\"\n\n\"\r\rx,y\n",
                1,
                "7: expected 1 fields, got 2",
            ),
            ("a,b\n1,2\nc", 2, "3: expected 2 fields, got 1"),
            (
                "\"a\n\"b,\n",
                1,
                "2: text behind the closing quote of a field",
            ),
        ] {
            for piece in [1, 2, 1000] {
                assert_eq!(
                    records(text, width, true, piece),
                    Err(message.into()),
                    "{text:?}"
                );
            }
        }
    }

    #[test]
    fn a_text_may_be_cut() {
        for (text, expected) in [("a,b\nc,\"d", 1), ("a,\"b", 1), ("a,b\n", 1), ("", 0)] {
            let mut records = Records::new(b',', Some(2));
            records
                .read(text.as_bytes(), usize::MAX, usize::MAX)
                .unwrap();
            records.cut();
            assert_eq!(records.len(), expected, "{text:?}");
        }
    }

    #[test]
    fn no_more_is_taken_than_asked_for() {
        let mut records = Records::new(b',', Some(1));
        records.blanks = true;
        assert_eq!(records.read(b"a\r\nb\r\nc", 1, 9).unwrap(), 3);
        assert_eq!((records.len(), records.bytes()), (1, 1));
        assert_eq!(records.read(b"b\r\nc", 1, 9).unwrap(), 0);
        records.clear();
        assert_eq!(records.read(b"abc\nb\nc\n", 9, 3).unwrap(), 4);
        records.clear();
        assert_eq!(records.read(b"\n\nb", 2, 9).unwrap(), 2);
        assert_eq!((records.len(), records.bytes()), (2, 0));
    }

    #[test]
    fn a_character_does_not_reach_over_two_fields() {
        let mut records = Records::new(b',', Some(2));
        records.read(b"a,\xc3\xa9\n\xc3,\xa9\n", 2, 9).unwrap();
        let fields = records.text().unwrap();
        assert_eq!(fields.get(0, 1), Ok(("é", false)));
        for column in 0..2 {
            let error = (2, "text that is not UTF-8".to_owned());
            assert_eq!(fields.get(1, column), Err(error));
        }
        records.read(b"\n\n\xc3,a\n", 3, 99).unwrap();
        assert_eq!(records.text().err().unwrap().0, 5);
    }
}
