//! A test-only parser for the message syntax. It panics on unknown input.
//!
//! An annotation in upper case is a LogicalType. A ConvertedType is either an older name that no
//! LogicalType has (`UTF8`, `INT_8`, `TIMESTAMP_MILLIS`, …), or it follows `converted:`.

use herringbone_format::{
    ConvertedType, EdgeInterpolationAlgorithm, LogicalType, Repetition, SchemaElement, TimeUnit,
    Type,
};

/// Returns the elements of a schema, depth first.
pub(crate) fn elements(text: &str) -> Vec<SchemaElement> {
    let mut tokens = tokens(text);
    tokens.reverse();
    let mut elements = Vec::new();
    assert_eq!(tokens.pop().unwrap(), "message");
    let name = tokens.pop().unwrap();
    group(&mut tokens, &mut elements, SchemaElement::new(name));
    assert!(tokens.is_empty(), "text behind the message: {tokens:?}");
    elements
}

/// Splits the text into words, and into punctuation other than `:_.`. A word may be in backquotes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '`' {
            tokens.push(chars.by_ref().take_while(|&c| c != '`').collect());
        } else if "{}(),;=".contains(c) {
            tokens.push(c.to_string());
        } else if !c.is_whitespace() {
            let mut word = c.to_string();
            while let Some(&c) = chars.peek() {
                if c.is_whitespace() || "{}(),;=`".contains(c) {
                    break;
                }
                word.push(c);
                chars.next();
            }
            tokens.push(word);
        }
    }
    tokens
}

fn group(tokens: &mut Vec<String>, elements: &mut Vec<SchemaElement>, element: SchemaElement) {
    let this = elements.len();
    elements.push(element);
    assert_eq!(tokens.pop().unwrap(), "{");
    let mut num_children = 0;
    while tokens.last().unwrap() != "}" {
        field(tokens, elements);
        num_children += 1;
    }
    tokens.pop();
    elements[this].num_children = Some(num_children);
}

fn field(tokens: &mut Vec<String>, elements: &mut Vec<SchemaElement>) {
    let mut element =
        SchemaElement::default().repetition_type(match tokens.pop().unwrap().as_str() {
            "required" => Repetition::Required,
            "optional" => Repetition::Optional,
            "repeated" => Repetition::Repeated,
            other => panic!("{other} is no repetition"),
        });
    element.type_ = match tokens.pop().unwrap().as_str() {
        "group" => None,
        "boolean" => Some(Type::Boolean),
        "int32" => Some(Type::Int32),
        "int64" => Some(Type::Int64),
        "int96" => Some(Type::Int96),
        "float" => Some(Type::Float),
        "double" => Some(Type::Double),
        "binary" => Some(Type::ByteArray),
        "fixed_len_byte_array" => {
            element.type_length = Some(arguments(tokens)[0].parse().unwrap());
            Some(Type::FixedLenByteArray)
        }
        other => panic!("{other} is no type"),
    };
    element.name = tokens.pop().unwrap();
    if tokens.last().unwrap() == "(" {
        tokens.pop();
        let name = tokens.pop().unwrap();
        let arguments = match tokens.last().unwrap().as_str() {
            "(" => arguments(tokens),
            _ => Vec::new(),
        };
        assert_eq!(tokens.pop().unwrap(), ")");
        annotate(&mut element, &name, &arguments);
    }
    if tokens.last().unwrap() == "=" {
        tokens.pop();
        element.field_id = Some(tokens.pop().unwrap().parse().unwrap());
    }
    if element.type_.is_none() {
        group(tokens, elements, element);
    } else {
        assert_eq!(tokens.pop().unwrap(), ";");
        elements.push(element);
    }
}

fn arguments(tokens: &mut Vec<String>) -> Vec<String> {
    assert_eq!(tokens.pop().unwrap(), "(");
    let mut arguments = Vec::new();
    loop {
        match tokens.pop().unwrap().as_str() {
            ")" => return arguments,
            "," => {}
            argument => arguments.push(argument.to_owned()),
        }
    }
}

fn annotate(element: &mut SchemaElement, name: &str, arguments: &[String]) {
    let number = |i: usize| -> i32 { arguments[i].parse().unwrap() };
    let unit = |name: &str| match name {
        "MILLIS" => TimeUnit::Millis,
        "MICROS" => TimeUnit::Micros,
        "NANOS" => TimeUnit::Nanos,
        other => panic!("{other} is no unit"),
    };
    let crs = arguments.first().cloned();
    element.logical_type = Some(match name {
        "STRING" => LogicalType::String,
        "MAP" => LogicalType::Map,
        "LIST" => LogicalType::List,
        "ENUM" => LogicalType::Enum,
        "DECIMAL" => LogicalType::Decimal {
            precision: number(0),
            scale: number(1),
        },
        "DATE" => LogicalType::Date,
        "TIME" => LogicalType::Time {
            unit: unit(&arguments[0]),
            is_adjusted_to_utc: arguments[1] == "true",
        },
        "TIMESTAMP" => LogicalType::Timestamp {
            unit: unit(&arguments[0]),
            is_adjusted_to_utc: arguments[1] == "true",
        },
        "INTEGER" => LogicalType::Integer {
            bit_width: arguments[0].parse().unwrap(),
            is_signed: arguments[1] == "true",
        },
        "UNKNOWN" => LogicalType::Unknown,
        "JSON" => LogicalType::Json,
        "BSON" => LogicalType::Bson,
        "UUID" => LogicalType::Uuid,
        "FLOAT16" => LogicalType::Float16,
        "VARIANT" => LogicalType::Variant {
            specification_version: arguments.first().map(|version| version.parse().unwrap()),
        },
        "GEOMETRY" => LogicalType::Geometry { crs },
        "GEOGRAPHY" => LogicalType::Geography {
            crs,
            algorithm: arguments.get(1).map(|name| {
                assert_eq!(name, "KARNEY");
                EdgeInterpolationAlgorithm::Karney
            }),
        },
        "FILE" => LogicalType::File,
        "UNRECOGNIZED" => LogicalType::Unrecognized {
            field_id: arguments[0].parse().unwrap(),
            parameters: vec![0],
        },
        older => return convert(element, older, arguments),
    });
}

fn convert(element: &mut SchemaElement, name: &str, arguments: &[String]) {
    let name = name.strip_prefix("converted:").unwrap_or(name);
    let converted = (0..=21)
        .map(ConvertedType::from_id)
        .find(|converted| converted.to_string() == name)
        .unwrap_or_else(|| panic!("{name} is no annotation"));
    element.converted_type = Some(converted);
    element.precision = arguments.first().map(|text| text.parse().unwrap());
    element.scale = arguments.get(1).map(|text| text.parse().unwrap());
}
