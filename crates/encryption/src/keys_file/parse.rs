//! Converts JSON to typed members.

use std::collections::{HashMap, HashSet};

use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use super::{KeysFile, KeysFileKms};
use crate::{
    Algorithm, Error, Key, Result,
    json::{self, Json, Member, Value},
    properties::ColumnPath,
};

/// The prefix of base64 values, for bytes other than text.
const BASE64: &str = "base64:";
/// The size limit of names that messages can repeat, in bytes. Every key is longer or contains
/// other characters.
const LONGEST_NAME: usize = 24;

/// A parser for column names.
type Columns<'a> = &'a dyn Fn(&str) -> Result<Vec<ColumnPath>, String>;

pub(super) fn parse(text: &str, columns: Columns<'_>) -> Result<KeysFile> {
    let json = json::parse(text).map_err(|error| at(error.line, error.message))?;
    let mut file = KeysFile::default();
    let mut kms_line = None;
    for member in object(json, "the keys file")? {
        let Member { name, value } = member;
        let line = value.line;
        match name.as_str() {
            "footer_key" => file.footer_key = Some(key(value, "\"footer_key\"")?),
            "column_keys" => file.column_keys = column_keys(value, columns)?,
            "by_metadata" => {
                for member in object(value, "\"by_metadata\"")? {
                    let metadata = bytes(&member.name, member.value.line, "\"by_metadata\"")?;
                    let key = key(member.value, "\"by_metadata\"")?;
                    file.by_metadata.insert(metadata, key);
                }
            }
            "master_keys" => {
                for member in object(value, "\"master_keys\"")? {
                    let key = key(member.value, "\"master_keys\"")?;
                    file.master_keys.insert(member.name.to_string(), key);
                }
            }
            "kms" => {
                file.kms = Some(kms(&value)?);
                kms_line = Some(line);
            }
            "aad_prefix" => file.aad_prefix = Some(text_or_bytes(&value, "\"aad_prefix\"")?),
            "algorithms" => file.algorithms = Some(algorithms(value)?),
            "algorithm" => file.algorithm = Some(algorithm(&value, "\"algorithm\"")?),
            "duckdb" => file.duckdb = Some(boolean(&value, "\"duckdb\"")?),
            "plaintext_footer" => {
                file.plaintext_footer = Some(boolean(&value, "\"plaintext_footer\"")?);
            }
            "store_aad_prefix" => {
                file.store_aad_prefix = Some(boolean(&value, "\"store_aad_prefix\"")?);
            }
            "key_metadata" => key_metadata(value, columns, &mut file)?,
            name => return Err(unknown(name, line, "")),
        }
    }
    match (kms_line, file.master_keys.is_empty()) {
        (Some(line), true) => Err(at(line, "\"kms\" without \"master_keys\"")),
        (None, false) => Err(at(
            1,
            "\"master_keys\" without \"kms\", which is \"test\" or \"local\"",
        )),
        _ => Ok(file),
    }
}

fn column_keys(value: Json, columns: Columns<'_>) -> Result<Vec<(ColumnPath, Key)>> {
    const NAME: &str = "\"column_keys\"";
    let mut keys = Vec::new();
    let mut seen = HashSet::new();
    for member in object(value, NAME)? {
        let line = member.value.line;
        let paths = paths(&member.name, line, NAME, columns)?;
        let key = key(member.value, NAME)?;
        for path in paths {
            if !seen.insert(path.clone()) {
                return Err(at(line, format!("{NAME} has a column twice")));
            }
            keys.push((path, key.clone()));
        }
    }
    Ok(keys)
}

fn key_metadata(value: Json, columns: Columns<'_>, file: &mut KeysFile) -> Result<()> {
    const NAME: &str = "\"key_metadata\"";
    if matches!(value.value, Value::Text(_)) {
        file.footer_key_metadata = Some(text_or_bytes(&value, NAME)?);
        return Ok(());
    }
    for member in object(value, NAME)? {
        let Member { name, value } = member;
        match name.as_str() {
            "footer_key" => file.footer_key_metadata = Some(text_or_bytes(&value, NAME)?),
            "column_keys" => file.column_key_metadata = column_metadata(value, columns)?,
            name => return Err(unknown(name, value.line, NAME)),
        }
    }
    Ok(())
}

fn column_metadata(value: Json, columns: Columns<'_>) -> Result<HashMap<ColumnPath, Vec<u8>>> {
    const NAME: &str = "\"key_metadata\", \"column_keys\"";
    let mut metadata = HashMap::new();
    for member in object(value, NAME)? {
        let line = member.value.line;
        let bytes = text_or_bytes(&member.value, NAME)?;
        for path in paths(&member.name, line, NAME, columns)? {
            if metadata.insert(path, bytes.clone()).is_some() {
                return Err(at(line, format!("{NAME} has a column twice")));
            }
        }
    }
    Ok(metadata)
}

fn paths(name: &str, line: usize, of: &str, columns: Columns<'_>) -> Result<Vec<ColumnPath>> {
    // We drop the error's message, since it might repeat the name, and that could be a misplaced
    // key.
    columns(name).map_err(|_| at(line, format!("{of} has a name that is not a column path")))
}

fn object(value: Json, name: &str) -> Result<Vec<Member>> {
    match value.value {
        Value::Object(members) => Ok(members),
        _ => Err(mismatch(&value, name, "an object")),
    }
}

fn text<'a>(value: &'a Json, name: &str) -> Result<&'a str> {
    match &value.value {
        Value::Text(text) => Ok(text.as_str()),
        _ => Err(mismatch(value, name, "text")),
    }
}

fn boolean(value: &Json, name: &str) -> Result<bool> {
    match value.value {
        Value::Boolean(value) => Ok(value),
        _ => Err(mismatch(value, name, "true or false")),
    }
}

fn key(value: Json, name: &str) -> Result<Key> {
    let decoded = STANDARD.decode(text(&value, name)?).map(Zeroizing::new);
    let decoded =
        decoded.map_err(|_| at(value.line, format!("{name} has a key that is not base64")))?;
    Key::new(&decoded).map_err(|error| at(value.line, format!("{name}: {}", error.message())))
}

fn text_or_bytes(value: &Json, name: &str) -> Result<Vec<u8>> {
    bytes(text(value, name)?, value.line, name)
}

fn bytes(text: &str, line: usize, name: &str) -> Result<Vec<u8>> {
    let Some(encoded) = text.strip_prefix(BASE64) else {
        return Ok(text.as_bytes().to_vec());
    };
    let decoded = STANDARD.decode(encoded);
    decoded.map_err(|_| at(line, format!("{name} is not base64 after \"{BASE64}\"")))
}

fn kms(value: &Json) -> Result<KeysFileKms> {
    match text(value, "\"kms\"")? {
        "test" => Ok(KeysFileKms::Test),
        "local" => Ok(KeysFileKms::Local),
        _ => Err(at(value.line, "\"kms\" is neither \"test\" nor \"local\"")),
    }
}

fn algorithms(value: Json) -> Result<Vec<Algorithm>> {
    const NAME: &str = "\"algorithms\"";
    match &value.value {
        Value::Array(names) if !names.is_empty() => {
            names.iter().map(|value| algorithm(value, NAME)).collect()
        }
        Value::Array(_) => Err(at(
            value.line,
            format!("{NAME} is empty, so no file could be read"),
        )),
        _ => Err(mismatch(&value, NAME, "an array")),
    }
}

fn algorithm(value: &Json, name: &str) -> Result<Algorithm> {
    let algorithm = Algorithm::from_name(text(value, name)?);
    algorithm.ok_or_else(|| {
        let message = format!("{name} must be \"AES_GCM_V1\" or \"AES_GCM_CTR_V1\"");
        at(value.line, message)
    })
}

#[cold]
fn mismatch(value: &Json, name: &str, expected: &str) -> Error {
    at(
        value.line,
        format!("{name} must be {expected}, not {}", value.kind()),
    )
}

/// Returns an error for an unknown member, repeating its name only if that can't be a key.
#[cold]
fn unknown(name: &str, line: usize, of: &str) -> Error {
    let harmless = name.len() <= LONGEST_NAME
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let name = if harmless {
        format!("\"{name}\" ")
    } else {
        String::new()
    };
    let of = if of.is_empty() {
        String::new()
    } else {
        format!(" of {of}")
    };
    at(line, format!("unknown member {name}{of}").trim_end())
}

/// Returns an error about a line in the keys file.
#[cold]
fn at(line: usize, message: impl AsRef<str>) -> Error {
    let message = message.as_ref();
    Error::argument(format!("keys file, line {line}: {message}"))
}
