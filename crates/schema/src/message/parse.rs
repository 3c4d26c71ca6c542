//! Reading a schema from its text.
//!
//! The parser keeps open groups in a list instead of recursing, so that deeply nested text cannot
//! overflow the stack. It checks the node count and depth against [`Limits`] before adding a node.

use std::str::FromStr;

use herringbone_format::{Error, Limits, Repetition, Result, SchemaElement, Type};

use super::annotation::annotation;
use super::cursor::{Cursor, Expected};
use crate::ParquetSchema;

impl FromStr for ParquetSchema {
    type Err = Error;

    /// Reads a schema from its `Display` text, within the default [`Limits`]. If you need other
    /// limits, use [`from_message`](Self::from_message). See there for a description of the syntax.
    ///
    /// ```
    /// use herringbone::schema::ParquetSchema;
    ///
    /// let schema: ParquetSchema = "message m {
    ///     required int64 id (INTEGER(64, true)) = 1;
    ///     optional group tags (LIST) {
    ///         repeated group list { optional binary element (STRING); }
    ///     }
    /// }"
    /// .parse()?;
    /// assert_eq!(schema.path(1), ["tags", "list", "element"]);
    ///
    /// let error = "message m { required int id; }".parse::<ParquetSchema>().unwrap_err();
    /// assert!(error.message().starts_with("schema, line 1, column 22: found `int`, expected a type"));
    /// # Ok::<(), herringbone_format::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        Self::from_message(text, &Limits::default())
    }
}

impl ParquetSchema {
    /// Reads a schema from text in the message syntax, such as its `Display` form.
    ///
    /// Keywords, types and annotations can be in upper or lower case. Names with spaces or
    /// punctuation must be in double quotes. Inside quotes, a backslash starts one of Rust's
    /// escapes, such as `\"` or `\u{2028}`. You can write the annotations of `LogicalType`, with
    /// arguments by position, or of `ConvertedType`:
    ///
    /// | annotation | meaning |
    /// |---|---|
    /// | `STRING`, `ENUM`, `JSON`, `BSON`, `UUID`, `FLOAT16`, `DATE`, `UNKNOWN` | without arguments |
    /// | `LIST`, `MAP`, `FILE` | without arguments, on groups |
    /// | `DECIMAL(9, 2)`, `DECIMAL(9)` | precision and scale; the scale is 0 if absent |
    /// | `TIME(MILLIS, true)`, `TIMESTAMP(NANOS, false)` | unit, and whether values are in UTC |
    /// | `INTEGER(16, false)` | bit width, and whether values are signed |
    /// | `VARIANT`, `VARIANT(1)` | version of the specification |
    /// | `GEOMETRY`, `GEOMETRY(srid:4326)` | coordinate reference system |
    /// | `GEOGRAPHY`, `GEOGRAPHY(srid:4326, KARNEY)` | coordinate reference system and algorithm for edges |
    /// | `UTF8`, `INT_8`, `UINT_64`, `TIMESTAMP_MILLIS`, `INTERVAL`, `MAP_KEY_VALUE`, … | the older names |
    /// | `UNRECOGNIZED(99)`, `UNRECOGNIZED(99, 0x1500)` | an annotation of a later version, with its bytes |
    ///
    /// If a `LogicalType` has an older counterpart, both annotations are set, because old readers
    /// only know the latter. Older names only set `converted_type`.
    ///
    /// A printed schema is read back as it was, with a few exceptions. If an annotation has the
    /// same name in both footer fields, the text does not show which field contained it.
    /// Meaningless numbers, such as an INT32's length, are omitted, and so is everything about the
    /// root except its name. A missing repetition becomes REQUIRED. If a GEOGRAPHY has an
    /// algorithm, its default coordinate reference system becomes explicit.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the text is not a message.
    /// The error names the line and column, and the text expected there. Fails with
    /// [Limit](herringbone_format::ErrorKind::Limit) if the schema has more nodes than
    /// [`Limits::schema_nodes`], is deeper than [`Limits::schema_depth`], or has a level above 255.
    ///
    /// ```
    /// use herringbone::Limits;
    /// use herringbone::schema::ParquetSchema;
    ///
    /// let text = "message m {\n  optional int64 \"time of day\" (TIME(MICROS,true));\n}\n";
    /// let mut limits = Limits::default();
    /// limits.schema_nodes = 100;
    /// let schema = ParquetSchema::from_message(text, &limits)?;
    /// assert_eq!(schema.to_string(), text);
    /// # Ok::<(), herringbone_format::Error>(())
    /// ```
    pub fn from_message(text: &str, limits: &Limits) -> Result<Self> {
        let mut parser = Parser {
            cursor: Cursor::new(text),
            limits,
            field: 0,
            elements: Vec::new(),
            open: Vec::new(),
        };
        parser.message()?;
        Self::from_elements(parser.elements, limits)
    }
}

const MESSAGE: Expected = Expected {
    noun: "`message`",
    advice: "the schema as `message NAME { required int64 id; }`",
};
const NAME: Expected = Expected {
    noun: "a name",
    advice: "the name after the type, in double quotes if it has spaces or punctuation",
};
const REPETITION: Expected = Expected {
    noun: "a field or `}`",
    advice: "`required`, `optional` or `repeated` before the type of each field, or `}` \
             after the last field",
};
const TYPE: Expected = Expected {
    noun: "a type",
    advice: "`boolean`, `int32`, `int64`, `int96`, `float`, `double`, `binary`, \
             `fixed_len_byte_array(LENGTH)` or `group`",
};
const TEXT: Expected = Expected {
    noun: "a type",
    advice: "`binary NAME (STRING)` for text",
};
const LENGTH: Expected = Expected {
    noun: "the length in bytes",
    advice: "`fixed_len_byte_array(16)` for values of 16 bytes",
};
const FIELDS: Expected = Expected {
    noun: "`{`",
    advice: "the fields of the group in braces, after its name, annotation and id",
};
const ANNOTATION_END: Expected = Expected {
    noun: "`)`",
    advice: "one annotation in parentheses, as in `(STRING)` or `(DECIMAL(9, 2))`",
};
const FIELD_ID: Expected = Expected {
    noun: "a field id",
    advice: "an integer of 32 bits after `=`",
};
const SEMICOLON: Expected = Expected {
    noun: "`;`",
    advice: "a column as `required binary NAME (STRING) = 1;`, where annotation and id may be \
             absent",
};
const END: Expected = Expected {
    noun: "the end of the text",
    advice: "one message only",
};

struct Parser<'a> {
    cursor: Cursor<'a>,
    limits: &'a Limits,
    /// The current field's offset, for errors.
    field: usize,
    /// The nodes read so far, depth first.
    elements: Vec<SchemaElement>,
    /// The ordinals of the open groups, outermost first.
    open: Vec<usize>,
}

impl Parser<'_> {
    fn message(&mut self) -> Result<()> {
        let start = self.cursor.offset();
        if !self.cursor.bare(MESSAGE)?.eq_ignore_ascii_case("message") {
            return Err(self.cursor.unexpected_at(start, MESSAGE));
        }
        let name = self.cursor.word(NAME)?;
        self.group(SchemaElement::new(name.into_owned()))?;
        while !self.open.is_empty() {
            if self.cursor.take('}') {
                self.open.pop();
            } else {
                self.field()?;
            }
        }
        match self.cursor.is_at_end() {
            true => Ok(()),
            false => Err(self.cursor.unexpected(END)),
        }
    }

    /// Reads a primitive field, or a group up to its fields.
    fn field(&mut self) -> Result<()> {
        self.field = self.cursor.offset();
        let repetition = self.repetition()?;
        let mut element = self.physical_type()?.repetition_type(repetition);
        element.name = self.cursor.word(NAME)?.into_owned();
        if self.cursor.take('(') {
            annotation(&mut self.cursor, &mut element)?;
            self.cursor.expect(')', ANNOTATION_END)?;
        }
        if self.cursor.take('=') {
            element.field_id = Some(self.cursor.number(FIELD_ID)?);
        }
        if element.type_.is_none() {
            return self.group(element);
        }
        self.cursor.expect(';', SEMICOLON)?;
        self.push(element)
    }

    fn repetition(&mut self) -> Result<Repetition> {
        let start = self.cursor.offset();
        let word = self.cursor.bare(REPETITION)?;
        [
            ("required", Repetition::Required),
            ("optional", Repetition::Optional),
            ("repeated", Repetition::Repeated),
        ]
        .into_iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, repetition)| repetition)
        .ok_or_else(|| self.cursor.unexpected_at(start, REPETITION))
    }

    /// Reads a field's type into a new element without a name.
    fn physical_type(&mut self) -> Result<SchemaElement> {
        let start = self.cursor.offset();
        let word = self.cursor.bare(TYPE)?.to_ascii_lowercase();
        let physical_type = match word.as_str() {
            "group" => return Ok(SchemaElement::default()),
            "boolean" => Type::Boolean,
            "int32" => Type::Int32,
            "int64" => Type::Int64,
            "int96" => Type::Int96,
            "float" => Type::Float,
            "double" => Type::Double,
            "binary" | "byte_array" => Type::ByteArray,
            "fixed_len_byte_array" => Type::FixedLenByteArray,
            "string" | "utf8" | "text" | "varchar" => {
                return Err(self.cursor.unexpected_at(start, TEXT));
            }
            _ => return Err(self.cursor.unexpected_at(start, TYPE)),
        };
        let mut element = SchemaElement::default().type_(physical_type);
        if physical_type == Type::FixedLenByteArray {
            self.cursor.expect('(', LENGTH)?;
            element.type_length = Some(self.length()?);
            self.cursor.expect(')', LENGTH)?;
        }
        Ok(element)
    }

    /// Reads a non-negative value length.
    fn length(&mut self) -> Result<i32> {
        let start = self.cursor.offset();
        let length: u32 = self.cursor.number(LENGTH)?;
        i32::try_from(length).map_err(|_| self.cursor.unexpected_at(start, LENGTH))
    }

    /// Adds a group and opens it.
    fn group(&mut self, element: SchemaElement) -> Result<()> {
        self.cursor.expect('{', FIELDS)?;
        let ordinal = self.elements.len();
        self.push(element.num_children(0))?;
        self.open.push(ordinal);
        Ok(())
    }

    /// Adds a node to the innermost open group.
    fn push(&mut self, element: SchemaElement) -> Result<()> {
        let &Limits {
            schema_depth,
            schema_nodes,
            ..
        } = self.limits;
        if self.elements.len() >= schema_nodes {
            return Err(self.cursor.limit(self.field, "schema_nodes", schema_nodes));
        }
        if self.open.len() > schema_depth {
            return Err(self.cursor.limit(self.field, "schema_depth", schema_depth));
        }
        let parent = self
            .open
            .last()
            .and_then(|&group| self.elements.get_mut(group));
        if let Some(num_children) = parent.and_then(|parent| parent.num_children.as_mut()) {
            *num_children = num_children.saturating_add(1);
        }
        self.elements.push(element);
        Ok(())
    }
}
