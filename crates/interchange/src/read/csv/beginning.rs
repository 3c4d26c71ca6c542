//! Samples a file's beginning to detect the delimiter and the columns' names and kinds.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, Fields, Schema, SchemaRef};

use super::delimiter::{advice, found, take_directive};
use super::dialect::Notation;
use super::hint::Hint;
use super::kind::Kind;
use super::look::Look;
use super::names::{distinct, similar};
use super::records::{RecordError, Records};
use crate::error::{Error, Result};
use crate::read::sample::Sample;
use crate::read::{Stream, TextOptions};

/// The sample size for delimiter detection, in bytes.
const PROBE: usize = 64 << 10;

/// The maximum length of a name in a note. Longer names are truncated.
const SHOWN: usize = 40;

/// A file's first rows and everything inferred from them.
pub(super) struct Beginning {
    pub(super) sample: Sample,
    pub(super) delimiter: u8,
    /// The sample's first line.
    pub(super) line: usize,
    /// The header's line.
    header_line: usize,
    pub(super) names: Vec<String>,
    pub(super) kinds: Vec<Kind>,
    /// The notation of each column.
    notations: Vec<Notation>,
    /// Descriptions of columns with dates in several formats.
    dates: Vec<String>,
    /// Per column, a hint if it's only text because of another country's notation.
    hints: Vec<Option<&'static str>>,
    /// True if quotes carry no meaning, because every field is quoted and the header is quoted
    /// needlessly.
    pub(super) all_quoted: bool,
    /// The first name that looks like a value, if the header fits the inferred types. In that case
    /// the file probably has no header.
    looks_like_a_row: Option<String>,
}

impl Beginning {
    /// Reads enough rows to infer types.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if the rows are not CSV, and with
    /// [System](crate::Error::System) if they cannot be read.
    pub(super) fn of(stream: Stream, options: &TextOptions<'_>) -> Result<Self> {
        let name = stream.name.clone();
        let mut sample = Sample::start(stream)?;
        let skipped = sample.skip_lines(options.skip_lines)?;
        let mut bytes = 0;
        sample.read(|line| {
            bytes += line.len();
            Ok(options.delimiter.is_some() || bytes >= PROBE)
        })?;
        let directive = take_directive(&mut sample);
        let line = 1 + skipped + usize::from(directive.is_some());
        let delimiter = options.delimiter.or(directive);
        let delimiter = delimiter.unwrap_or_else(|| found(&sample, options));
        if options.delimiter.is_none() && delimiter != b',' {
            let shown = char::from(delimiter).escape_default();
            (options.note)(&format!(
                "{name}: the separator is `{shown}`; use --delimiter to set another"
            ));
        }
        let mut parser = Parser::new(options, delimiter, line);
        let words = |(line, text): RecordError| format!("line {line}: {text}");
        let advice = advice(&sample, delimiter, options.comment);
        let refused = |wrong| Error::Data(format!("{name}: {}{advice}", words(wrong)));
        if !parser.read(&sample.text).map_err(refused)? && !sample.is_whole {
            sample.read(|text| parser.read(text).map_err(words))?;
        }
        parser.end(sample.is_whole).map_err(refused)?;
        parser.beginning(sample, delimiter, line).map_err(refused)
    }

    /// Returns the inferred schema.
    ///
    /// # Errors
    /// Fails if there are no rows.
    pub(super) fn schema(&self, options: &TextOptions<'_>) -> Result<SchemaRef, String> {
        if self.names.is_empty() {
            return Err(
                "there is no row to infer a schema from; supply one with --schema FILE".into(),
            );
        }
        let field = |(name, kind): (&String, &Kind)| {
            let chosen = options.types.iter().find(|type_| type_.name() == name);
            let inferred = || Field::new(name, kind.data_type(), true);
            chosen.cloned().unwrap_or_else(inferred)
        };
        let fields = self.names.iter().zip(&self.kinds).map(field);
        Ok(Arc::new(Schema::new(fields.collect::<Fields>())))
    }

    /// Emits notes about parts of the file that are easy to misread.
    pub(super) fn notes(&self, file: &str, options: &TextOptions<'_>) {
        let note = |text: &str| (options.note)(&format!("{file}: {text}"));
        if let Some(value) = &self.looks_like_a_row {
            let line = self.header_line;
            let shown: String = value.chars().take(SHOWN).collect();
            note(&format!(
                "line {line} is read as the column names, but `{shown}` looks like a value; \
                 --no-header reads it as a row"
            ));
        }
        if let Some((first, second)) = similar(&self.names) {
            note(&format!(
                "the columns `{first}` and `{second}` differ only in case, and many programs \
                 confuse them"
            ));
        }
        self.note_dates(file, options);
        let mut columns = self.names.iter().zip(&self.kinds);
        let is_inferred = |name: &str| !options.types.iter().any(|type_| type_.name() == name);
        for (name, hint) in self.names.iter().zip(&self.hints) {
            if let Some(hint) = hint.filter(|_| is_inferred(name)) {
                note(&format!("column `{name}` {hint}"));
            }
        }
        let shifted = columns.find(|(name, kind)| kind.is_shifted() && is_inferred(name));
        if let Some((name, _)) = shifted {
            note(&format!(
                "column `{name}`: timestamps become instants in UTC, without their offsets; --type \
                 '{name}=Utf8' keeps the text"
            ));
        }
    }
}

impl Beginning {
    /// Returns the notation of a column's values.
    pub(super) fn notation(&self, column: usize) -> Notation {
        self.notations.get(column).cloned().unwrap_or_default()
    }

    /// Emits notes about columns with dates in several formats.
    pub(super) fn note_dates(&self, file: &str, options: &TextOptions<'_>) {
        for text in &self.dates {
            (options.note)(&format!("{file}: {text}"));
        }
    }
}

/// A parser that infers the types of columns, record by record.
struct Parser<'o> {
    options: &'o TextOptions<'o>,
    header: Records,
    rows: Records,
    in_rows: bool,
    /// The number of rows to inspect.
    wanted: usize,
    /// The number of rows inspected so far.
    done: usize,
    /// The candidate notations for columns.
    notations: Vec<Notation>,
    /// The columns' kinds, assuming that quotes turn a field into text.
    looks: Vec<Look>,
    /// The columns' kinds, assuming that quotes carry no meaning. We track both, since we only know
    /// at the end if all fields are quoted.
    looks_in_quotes: Vec<Look>,
    /// Per column, the other countries' notations that fit all values so far.
    hints: Vec<Hint>,
    /// True if every field so far is quoted or null.
    all_quoted: bool,
}

impl<'o> Parser<'o> {
    fn new(options: &'o TextOptions<'o>, delimiter: u8, line: usize) -> Self {
        let notations = options.dialect.notations();
        let wanted = match options.schema {
            // With a given schema, we only need rows to detect date formats.
            Some(_) if notations.len() > 1 => options.infer_rows,
            Some(_) => 0,
            // Without a header, we need at least one row to count the columns.
            None => options.infer_rows.max(usize::from(!options.header)),
        };
        let given = options.schema.as_ref().map(|schema| schema.fields().len());
        let records = |width| {
            let mut records = Records::new(delimiter, width, options.limits.schema_nodes);
            records.line = line;
            records.comment = options.comment;
            records.drops_bad = options.lenient.is_some();
            records.blanks = width == Some(0);
            records
        };
        Self {
            options,
            header: records(given.filter(|width| *width == 0)),
            rows: records(given),
            in_rows: !options.header,
            wanted,
            done: 0,
            notations,
            looks: Vec::new(),
            looks_in_quotes: Vec::new(),
            hints: Vec::new(),
            all_quoted: options.header,
        }
    }

    /// Reads more of the text. Returns true once there are enough rows.
    fn read(&mut self, mut text: &[u8]) -> Result<bool, RecordError> {
        if !self.in_rows {
            if text.is_empty() {
                return Ok(false);
            }
            let taken = self.header.read(text, 1, usize::MAX)?;
            text = text.get(taken..).unwrap_or_default();
            self.in_rows = self.header.len() > 0;
            if !self.in_rows {
                return Ok(false);
            }
            self.rows = self.header.after_header();
        }
        while !text.is_empty() && self.done < self.wanted {
            let taken = self.rows.read(text, self.wanted - self.done, usize::MAX)?;
            text = text.get(taken..).unwrap_or_default();
            if !self.rows.is_open() {
                self.look()?;
            }
        }
        Ok(self.done >= self.wanted)
    }

    /// Ends the sample. An incomplete last record only counts if the sample is the whole text.
    fn end(&mut self, is_whole: bool) -> Result<(), RecordError> {
        let end = |records: &mut Records, is_first| match is_whole {
            true => records.read(b"", 1, usize::MAX).map(|_| ()),
            false => records.end_truncated(is_first),
        };
        if !self.in_rows {
            end(&mut self.header, true)?;
            self.rows = self.header.after_header();
        }
        if self.done < self.wanted {
            end(&mut self.rows, self.done == 0)?;
            self.look()?;
        }
        Ok(())
    }

    /// Inspects the fields of complete records, then drops the records.
    fn look(&mut self) -> Result<(), RecordError> {
        let width = self.rows.width.unwrap_or(0);
        let null = &self.options.null;
        let notations = &self.notations;
        self.looks.resize(width, Look::new(notations));
        self.looks_in_quotes.resize(width, Look::new(notations));
        self.hints.resize(width, Hint::default());
        let dialect = &self.options.dialect;
        let fields = self.rows.text()?;
        for record in 0..self.rows.len() {
            let looks = self.looks.iter_mut().zip(&mut self.looks_in_quotes);
            let looks = looks.zip(&mut self.hints);
            for (column, ((look, in_quotes), hint)) in looks.enumerate() {
                let (text, quoted) = fields.get(record, column)?;
                let is_null = !quoted && (text.is_empty() || text == null);
                self.all_quoted &= quoted || is_null;
                if !is_null {
                    hint.add(text);
                }
                match dialect.is_text((text, quoted), self.rows.delimiter) {
                    _ if is_null => {}
                    true => look.text(),
                    false => look.add(text, notations),
                }
                if self.all_quoted && !text.is_empty() && !is_null {
                    in_quotes.add(text, notations);
                }
            }
        }
        self.done += self.rows.len();
        self.rows.clear();
        Ok(())
    }

    /// Returns the inferred types.
    fn beginning(
        mut self,
        sample: Sample,
        delimiter: u8,
        line: usize,
    ) -> Result<Beginning, RecordError> {
        let width = self.rows.width.unwrap_or(0);
        self.looks.resize(width, Look::new(&self.notations));
        let in_quotes = Look::new(&self.notations);
        self.looks_in_quotes.resize(width, in_quotes);
        let fields = self.header.text()?;
        let names = if self.options.header { 0..width } else { 0..0 };
        let header = names.map(|column| fields.get(0, column));
        let header: Vec<(&str, bool)> = header.collect::<Result<_, _>>()?;
        let special = ['"', '\r', '\n', char::from(delimiter)];
        let is_needless = |name: &str| !name.is_empty() && !name.contains(special);
        let all_quoted = self.all_quoted
            && header.iter().all(|(_, quoted)| *quoted)
            && header.iter().any(|(name, _)| is_needless(name));
        let looks = match all_quoted {
            true => self.looks_in_quotes,
            false => self.looks,
        };
        let mut kinds: Vec<Kind> = looks.iter().map(Look::kind).collect();
        let chosen = looks.iter().map(Look::notation);
        let notations: Vec<Notation> = chosen
            .filter_map(|at| self.notations.get(at).cloned())
            .collect();
        if self.options.infer_rows == 0 {
            kinds.fill(Kind::Text);
        }
        let looks_like_a_row = looks_like_a_row(&header, &kinds, all_quoted, &notations);
        let mut names: Vec<String> = match self.options.header {
            true => header.iter().map(|(name, _)| (*name).to_owned()).collect(),
            false => (1..=width)
                .map(|column| format!("column_{column}"))
                .collect(),
        };
        if self.options.schema.is_none() {
            let (different, changes) = distinct(names);
            names = different;
            if let Some(changes) = changes {
                (self.options.note)(&format!("{}: {changes}", sample.name()));
            }
        }
        let columns = names.iter().zip(&looks);
        let dates = columns.filter_map(|(name, look)| {
            let note = look.note(&self.notations)?;
            Some(format!("column `{name}` {note}"))
        });
        let dates = match self.options.infer_rows {
            0 => Vec::new(),
            _ => dates.collect(),
        };
        let hints = kinds.iter().zip(&self.hints).map(|(kind, hint)| {
            let is_text = *kind == Kind::Text && self.options.infer_rows > 0;
            hint.note().filter(|_| is_text)
        });
        Ok(Beginning {
            hints: hints.collect(),
            notations,
            dates,
            sample,
            delimiter,
            line,
            header_line: self.header.line(0),
            names,
            kinds,
            all_quoted,
            looks_like_a_row,
        })
    }
}

/// Returns the first name that looks like a value. Returns `None` unless all names have the types
/// of their columns.
///
/// Text columns prove nothing, since any text could be a name.
fn looks_like_a_row(
    header: &[(&str, bool)],
    kinds: &[Kind],
    all_quoted: bool,
    notations: &[Notation],
) -> Option<String> {
    let mut found = None;
    let columns = kinds.iter().zip(notations);
    for ((name, quoted), (kind, notation)) in header.iter().zip(columns) {
        let is_value = match quoted {
            true if !all_quoted => false,
            _ => notation.kind(name).data_type() != DataType::Utf8,
        };
        let fits = is_value && kind.with(notation.kind(name)).data_type() != DataType::Utf8;
        match kind {
            Kind::Text => {}
            Kind::Nothing if !is_value => {}
            _ if !fits => return None,
            _ => found = found.or(Some(*name)),
        }
    }
    found.map(str::to_owned)
}
