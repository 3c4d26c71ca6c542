//! Splits CSV into records according to RFC 4180. We keep a flag for quoted fields, since their
//! text has lost the quotes.

/// The error message for invalid UTF-8, with advice.
const NOT_UTF8: &str =
    "text that is not UTF-8; --csv-encoding latin1 reads the usual text of Windows";

/// The maximum number of buffered fields. The last record can overshoot it.
const MAX_FIELDS: usize = 1 << 20;

/// A line number, with an error message.
pub(super) type RecordError = (usize, String);

/// Advice for a record with too many or too few fields.
const WIDTH_ADVICE: &str = "; --skip-lines N leaves out lines before the names, --comment CHARACTER those that begin with it, and \
                            --on-error skip other lines";

type Result<T, E = RecordError> = std::result::Result<T, E>;

/// An incremental parser that splits text into records of `width` fields. You can feed it text in
/// pieces of any size.
///
/// Quotes are only special at the beginning of a field, and then the closing quote must be its end.
/// A line ends with CR LF, LF or CR.
pub(super) struct Records {
    pub(super) delimiter: u8,
    /// The number of fields in a record, or `None` until the first record is read.
    pub(super) width: Option<usize>,
    /// The maximum number of fields in a record (the limit `schema_nodes`).
    most_fields: usize,
    /// The number of the current line.
    pub(super) line: usize,
    /// The first line of each record.
    lines: Vec<usize>,
    /// True if a blank line is a record with one empty field. Otherwise, blank lines are skipped.
    pub(super) blanks: bool,
    /// The first character of comment lines, which are skipped.
    pub(super) comment: Option<u8>,
    /// True to drop records with too many or too few fields. Otherwise, they are errors.
    pub(super) drops_bad: bool,
    /// The dropped records.
    pub(super) dropped: Vec<RecordError>,
    state: State,
    /// The contiguous bytes of all fields, without their quotes.
    data: Vec<u8>,
    fields: Vec<Field>,
    /// The number of fields in the incomplete record.
    open: usize,
    quoted: bool,
}

struct Field {
    /// The field's end offset in `data`.
    end: usize,
    quoted: bool,
}

enum State {
    /// The parser is at the beginning of a record.
    Record,
    /// The parser is after a CR. An LF that follows belongs to this line end.
    Return,
    /// The parser is at the beginning of a field.
    Field,
    /// The parser is inside a field without quotes.
    Plain,
    /// The parser is inside quotes.
    Quoted,
    /// The parser is inside a comment line.
    Comment,
    /// The parser is after a quote inside quotes. This is either the first half of an escaped quote
    /// or the closing quote.
    Quote,
}

impl Records {
    pub(super) fn new(delimiter: u8, width: Option<usize>, most_fields: usize) -> Self {
        Self {
            delimiter,
            width,
            most_fields,
            line: 1,
            lines: Vec::new(),
            blanks: false,
            comment: None,
            drops_bad: false,
            dropped: Vec::new(),
            state: State::Record,
            data: Vec::new(),
            fields: Vec::new(),
            open: 0,
            quoted: false,
        }
    }

    /// Creates the parser for the records that follow a header in the same text.
    pub(super) fn after_header(&self) -> Self {
        let mut records = Self::new(self.delimiter, self.width, self.most_fields);
        records.blanks = self.width == Some(1);
        records.line = self.line;
        records.comment = self.comment;
        records.drops_bad = self.drops_bad;
        if self.len() > 0 && matches!(self.state, State::Return) {
            records.state = State::Return;
        }
        records
    }

    /// Returns the number of complete records.
    pub(super) fn len(&self) -> usize {
        self.lines.len() - usize::from(self.is_open())
    }

    /// Returns true if the text so far ends mid-record.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Record | State::Return | State::Comment)
    }

    /// Returns the number of bytes in all fields.
    pub(super) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Discards all records, which must be complete.
    pub(super) fn clear(&mut self) {
        self.data.clear();
        self.fields.clear();
        self.lines.clear();
        self.dropped.clear();
    }

    /// Discards all records, releasing memory beyond `bytes` bytes.
    pub(super) fn clear_to(&mut self, bytes: usize) {
        self.clear();
        self.data.shrink_to(bytes);
    }

    /// Reads text until there are `most` records (including dropped ones), `bytes` bytes of
    /// records, or [`MAX_FIELDS`] fields. Empty `text` marks the end. Returns the number of bytes
    /// read.
    ///
    /// # Errors
    /// Fails if a record has too many or too few fields, if quotes are not closed at the end, or if
    /// text follows closing quotes.
    pub(super) fn read(&mut self, text: &[u8], most: usize, bytes: usize) -> Result<usize> {
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
                State::Record
                    if self.lines.len() + self.dropped.len() >= most
                        || self.data.len() >= bytes
                        || self.fields.len() >= MAX_FIELDS =>
                {
                    break;
                }
                State::Record if matches!(byte, b'\r' | b'\n') => {
                    at += 1;
                    if self.blanks {
                        self.quoted = false;
                        self.lines.push(self.line);
                        if self.width != Some(0) {
                            self.end_field()?;
                        }
                        self.end_record()?;
                    }
                    self.end_line(byte);
                }
                State::Record if Some(byte) == self.comment => self.state = State::Comment,
                State::Record => {
                    self.lines.push(self.line);
                    self.state = State::Field;
                }
                State::Comment => at += self.comment_line(text.get(at..).unwrap_or_default()),
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
                    at += self.copy(text, at, [self.delimiter, b'\n', b'\r']);
                    let Some(&end) = text.get(at) else {
                        break;
                    };
                    at += 1;
                    self.end_field()?;
                    self.state = State::Field;
                    if end != self.delimiter {
                        self.end_record()?;
                        self.end_line(end);
                    }
                }
                State::Quoted => {
                    at += self.copy(text, at, [b'"'; 3]);
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
                    let text = "text after the closing quote of a field";
                    return Err((self.line, text.into()));
                }
            }
        }
        Ok(at)
    }

    /// Copies bytes up to the first one of `ends`. Returns the number of bytes copied.
    fn copy(&mut self, text: &[u8], at: usize, ends: [u8; 3]) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        let count = position(rest, ends);
        let run = count.and_then(|count| rest.get(..count)).unwrap_or(rest);
        self.data.extend_from_slice(run);
        if matches!(self.state, State::Quoted) {
            self.line += run.iter().filter(|byte| **byte == b'\n').count();
        }
        run.len()
    }

    /// Skips a comment line or a part of it. Returns the number of bytes skipped.
    fn comment_line(&mut self, text: &[u8]) -> usize {
        let Some(at) = memchr::memchr2(b'\r', b'\n', text) else {
            return text.len();
        };
        self.end_line(text.get(at).copied().unwrap_or_default());
        at + 1
    }

    fn end_field(&mut self) -> Result<()> {
        if self.open >= self.most_fields {
            let line = self.lines.last().copied().unwrap_or(self.line);
            let most = self.most_fields;
            let text = format!(
                "more than {most} fields, the limit `schema_nodes`; raise it with --max \
                 schema_nodes=N"
            );
            return Err((line, text));
        }
        self.open += 1;
        self.fields.push(Field {
            end: self.data.len(),
            quoted: self.quoted,
        });
        Ok(())
    }

    fn end_record(&mut self) -> Result<()> {
        let width = *self.width.get_or_insert(self.open);
        let found = std::mem::take(&mut self.open);
        if found == width {
            return Ok(());
        }
        let line = self.lines.last().copied().unwrap_or(self.line);
        let text = format!("expected {width} fields, found {found}");
        if !self.drops_bad {
            return Err((line, text + WIDTH_ADVICE));
        }
        self.drop_record(found);
        self.dropped.push((line, text));
        Ok(())
    }

    /// Drops the last record, which has this number of fields so far.
    fn drop_record(&mut self, fields: usize) {
        self.lines.pop();
        self.fields
            .truncate(self.fields.len().saturating_sub(fields));
        let end = self.fields.last().map_or(0, |field| field.end);
        self.data.truncate(end);
    }

    /// Moves past the end of a line.
    fn end_line(&mut self, end: u8) {
        self.line += 1;
        self.state = match end {
            b'\r' => State::Return,
            _ => State::Record,
        };
    }

    /// Ends the text. It's fine if the last line has no line end.
    fn end(&mut self) -> Result<()> {
        match self.state {
            State::Record | State::Return | State::Comment => return Ok(()),
            State::Quoted => {
                let line = self.lines.last().copied().unwrap_or(self.line);
                return Err((line, "quotes are not closed".into()));
            }
            State::Field => self.quoted = false,
            State::Plain | State::Quote => {}
        }
        self.end_field()?;
        self.state = State::Record;
        self.end_record()
    }

    /// Ends a text truncated at any place. An incomplete record is dropped, unless it is the first
    /// one, which is padded with empty fields.
    ///
    /// # Errors
    /// Fails if a record has too many fields.
    pub(super) fn end_truncated(&mut self, is_first: bool) -> Result<()> {
        if is_first && self.len() == 0 && self.is_open() {
            // The text might end inside a character, so we drop the partial character.
            if let Err(error) = str::from_utf8(&self.data)
                && error.error_len().is_none()
            {
                self.data.truncate(error.valid_up_to());
            }
            self.end_field()?;
            let width = self.width.unwrap_or(self.open);
            while self.open < width {
                self.quoted = false;
                self.end_field()?;
            }
            self.width = Some(width);
        } else if self.is_open() {
            self.drop_record(self.open);
        }
        self.open = 0;
        self.state = State::Record;
        Ok(())
    }

    /// Returns the text of all fields.
    ///
    /// # Errors
    /// Fails if some text is not UTF-8.
    pub(super) fn text(&self) -> Result<Fields<'_>> {
        match str::from_utf8(&self.data) {
            Ok(text) => Ok(Fields {
                records: self,
                text,
            }),
            Err(error) => {
                let at = error.valid_up_to();
                let field = self.fields.partition_point(|field| field.end <= at);
                Err(self.not_utf8(field))
            }
        }
    }

    fn not_utf8(&self, field: usize) -> RecordError {
        let record = field / self.width.unwrap_or(1).max(1);
        let line = self.line(record);
        (line, NOT_UTF8.into())
    }

    /// Returns a record's first line.
    pub(super) fn line(&self, record: usize) -> usize {
        self.lines.get(record).copied().unwrap_or(self.line)
    }
}

/// Returns the offset of the first byte among `ends`.
///
/// We search eight bytes at a time instead of using `memchr`, because this is faster for short
/// fields.
fn position(text: &[u8], ends: [u8; 3]) -> Option<usize> {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let [a, b, c] = ends.map(|byte| u64::from_ne_bytes([byte; 8]));
    // The lowest bit in the result marks the first zero byte. Higher bits can be false positives.
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ a) | zeros(word ^ b) | zeros(word ^ c);
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let in_rest = rest.iter().position(|byte| ends.contains(byte))?;
    Some(text.len() - rest.len() + in_rest)
}

/// The fields of some records, as text.
pub(super) struct Fields<'r> {
    records: &'r Records,
    text: &'r str,
}

impl<'r> Fields<'r> {
    /// Returns a field with a flag, true if it was quoted.
    ///
    /// # Errors
    /// Fails if some text is not UTF-8.
    pub(super) fn get(&self, record: usize, column: usize) -> Result<(&'r str, bool)> {
        let fields = &self.records.fields;
        let at = record * self.records.width.unwrap_or(0) + column;
        let start = at.checked_sub(1).and_then(|previous| fields.get(previous));
        let start = start.map_or(0, |field| field.end);
        let Some(field) = fields.get(at) else {
            return Ok(("", false));
        };
        // Malformed text can split a character between two fields.
        let text = self.text.get(start..field.end);
        let text = text.ok_or_else(|| self.records.not_utf8(at))?;
        Ok((text, field.quoted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each record in `text`, which arrives in pieces of `piece` bytes. Quoted fields are
    /// in «».
    fn records(text: &str, width: usize, blanks: bool, piece: usize) -> Result<String, String> {
        let mut records = Records::new(b',', Some(width), 99);
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
    fn fields_are_split_wherever_the_text_is_split() {
        for (text, width, blanks, expected) in [
            // These are the examples in RFC 4180, section 2.
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
            // Empty fields, with and without quotes.
            (",\n\"\",\n,\"\"", 2, false, "[][];[«»][];[][«»];"),
            ("\n\r\n\r\"\"\nx\n\n", 1, true, "[];[];[];[«»];[x];[];"),
            ("\n\r\n\r\"\"\nx\n\n", 1, false, "[«»];[x];"),
            ("\n\n1,2\r\r\n\n3,4", 2, false, "[1][2];[3][4];"),
            // Quotes inside fields.
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
    fn the_first_end_is_found() {
        // Neighbours of the end bytes, with and without the high bit, are no matches.
        let text = b"-\x09\x0b\x0c\x0e\x8a\x8d\xac+.\xffabcdefghijklm";
        for length in 0..text.len() {
            for (at, end) in (0..length).zip([b',', b'\n', b'\r'].into_iter().cycle()) {
                let mut text = text[..length].to_vec();
                assert_eq!(position(&text, [b',', b'\n', b'\r']), None);
                text[at] = end;
                text[length - 1] = if at + 1 == length { end } else { b',' };
                assert_eq!(position(&text, [b',', b'\n', b'\r']), Some(at));
            }
        }
    }

    #[test]
    fn errors_have_lines() {
        for (text, width, message) in [
            ("a\n\"b\n", 1, "2: quotes are not closed"),
            (
                "\r\n\r\n\"\n\n\"\r\rx,y\n",
                1,
                "7: expected 1 fields, found 2",
            ),
            ("a,b\n1,2\nc", 2, "3: expected 2 fields, found 1"),
            (
                "\"a\n\"b,\n",
                1,
                "2: text after the closing quote of a field",
            ),
        ] {
            for piece in [1, 2, 1000] {
                let error = records(text, width, true, piece).unwrap_err();
                assert_eq!(error.trim_end_matches(WIDTH_ADVICE), message, "{text:?}");
            }
        }
    }

    #[test]
    fn a_text_may_be_truncated() {
        for (text, expected) in [("a,b\nc,\"d", 1), ("a,\"b", 1), ("a,b\n", 1), ("", 0)] {
            let mut records = Records::new(b',', Some(2), 99);
            records
                .read(text.as_bytes(), usize::MAX, usize::MAX)
                .unwrap();
            records.end_truncated(true).unwrap();
            assert_eq!(records.len(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_truncated_record_counts_if_it_is_the_first() {
        let mut records = Records::new(b',', Some(3), 99);
        records.read(b"a,\"b", 9, 99).unwrap();
        records.end_truncated(false).unwrap();
        assert_eq!((records.len(), records.fields.len()), (0, 0));
    }

    #[test]
    fn a_record_has_a_limit_of_fields() {
        for text in ["a,b,c\n,,,\n", "a,b,c\n,,,"] {
            let mut records = Records::new(b',', None, 3);
            let read = records.read(text.as_bytes(), 9, 99);
            let (line, error) = read.and_then(|_| records.read(b"", 9, 99)).unwrap_err();
            assert_eq!(line, 2, "{text}");
            assert!(error.contains("the limit `schema_nodes`"), "{error}");
        }
        // Even if the line is long, we buffer no more fields than the limit allows.
        let mut records = Records::new(b',', None, 3);
        assert!(records.read(&[b','; 1 << 20], 1, usize::MAX).is_err());
        assert_eq!(records.fields.len(), 3);
    }

    #[test]
    fn records_without_fields_are_blank_lines() {
        let mut records = Records::new(b',', Some(0), 99);
        records.blanks = true;
        records.read(b"\n\r\n\n", 9, 99).unwrap();
        assert_eq!((records.len(), records.fields.len()), (3, 0));
        let (_, error) = records.read(b"x\n", 9, 99).unwrap_err();
        assert_eq!(
            error.trim_end_matches(WIDTH_ADVICE),
            "expected 0 fields, found 1"
        );
    }

    #[test]
    fn bad_records_are_dropped_on_request() {
        let mut records = Records::new(b',', Some(2), 99);
        records.drops_bad = true;
        records.read(b"a,b\nc\nd,e,f\ng,h\ni", 9, 99).unwrap();
        records.read(b"", 9, 99).unwrap();
        assert_eq!(records.len(), 2);
        let fields = records.text().unwrap();
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(record, column)| fields.get(record, column).unwrap().0);
        assert_eq!(all, ["a", "b", "g", "h"]);
        assert_eq!((records.line(0), records.line(1)), (1, 4));
        let dropped = records
            .dropped
            .iter()
            .map(|(line, text)| format!("{line}: {text}"));
        let expected = [
            "2: expected 2 fields, found 1",
            "3: expected 2 fields, found 3",
            "5: expected 2 fields, found 1",
        ];
        assert_eq!(dropped.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn no_more_is_taken_than_asked_for() {
        let mut records = Records::new(b',', Some(1), 99);
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
        let mut records = Records::new(b',', Some(2), 99);
        records.read(b"a,\xc3\xa9\n\xc3,\xa9\n", 2, 9).unwrap();
        let fields = records.text().unwrap();
        assert_eq!(fields.get(0, 1), Ok(("é", false)));
        for column in 0..2 {
            let error = (2, NOT_UTF8.to_owned());
            assert_eq!(fields.get(1, column), Err(error));
        }
        records.read(b"\n\n\xc3,a\n", 3, 99).unwrap();
        assert_eq!(records.text().err().unwrap().0, 5);
    }
}
