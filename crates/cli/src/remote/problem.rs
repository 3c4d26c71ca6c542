//! Errors of stores in plain words, without secrets.

use std::error::Error as StdError;
use std::io;

use herringbone::{Error, ErrorKind};

use crate::url::without_secrets;

/// The name of every object in the errors of requests, because the command adds the name of the file.
pub(super) const SERVER: &str = "the server";

/// The start of the part of a message that names the request.
const REQUEST: &str = "Error performing ";
/// The text between the part about the request and the reason.
const REASON: &str = " - ";
/// The texts before the status of an answer.
const STATUS: [&str; 2] = [
    "Server returned non-2xx status code: ",
    "Server returned error response: ",
];

/// The maximum number of characters of a reason.
const MAX_CHARACTERS: usize = 300;

/// Returns the error of a request in plain words: neither its address nor the body of the answer. `unsigned` is the
/// variable for credentials, if none were found.
pub(super) fn plain(error: Error, unsigned: Option<&str>) -> Error {
    if !matches!(error.kind(), ErrorKind::Io | ErrorKind::Replaced) {
        return error;
    }
    let (request, message) = match error.message().split_once(": ") {
        Some((request, message)) if request.starts_with(SERVER) => (request, message),
        _ => ("", error.message()),
    };
    let mut text = reason(message);
    let kind = error.io_error().map(io::Error::kind);
    if let Some(cause) = error.io_error().and_then(|error| deepest(error))
        && !text.contains(&cause)
    {
        text += &format!(": {cause}");
    }
    if !request.is_empty() {
        text = format!("{request}: {text}");
    }
    let is_denied = kind == Some(io::ErrorKind::PermissionDenied);
    if let (true, Some(variable)) = (is_denied, unsigned) {
        text += &format!(
            "; the request was not signed, because no credentials such as {variable} were found"
        );
    }
    let offset = error.location().offset;
    let plain = match kind {
        Some(kind) => io::Error::new(kind, text).into(),
        None => Error::new(error.kind(), text),
    };
    match offset {
        Some(offset) => plain.at_offset(offset),
        None => plain,
    }
}

/// Returns an error of a store in plain words.
pub(super) fn of_store(error: &object_store::Error, unsigned: Option<&str>) -> Error {
    let kind = match error {
        object_store::Error::PermissionDenied { .. }
        | object_store::Error::Unauthenticated { .. } => io::ErrorKind::PermissionDenied,
        object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
            io::ErrorKind::AlreadyExists
        }
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    let mut text = error.to_string();
    if let Some(cause) = deepest(error) {
        text += &format!(": {cause}");
    }
    plain(io::Error::new(kind, text).into(), unsigned)
}

/// Returns the message of the innermost cause.
fn deepest(error: &(dyn StdError + 'static)) -> Option<String> {
    let mut cause = error.source()?;
    while let Some(next) = cause.source() {
        cause = next;
    }
    Some(reason(&cause.to_string()))
}

/// Returns the reason in the message of a store: neither the address of the request nor the body of the answer.
fn reason(message: &str) -> String {
    let request = message.split_once(REQUEST).map(|(_, it)| it);
    let (retries, text) = match request.and_then(|it| it.split_once(REASON)) {
        Some((request, reason)) => (retries(request), reason),
        None => ("", message),
    };
    let status = STATUS.iter().find_map(|it| text.split_once(it));
    let mut text = match status {
        Some((_, answer)) => {
            let (status, body) = answer.split_once(": ").unwrap_or((answer, ""));
            format!("HTTP status {}{}", status.trim(), details(body))
        }
        None => without_secrets(text),
    };
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARACTERS) {
        text.truncate(end);
    }
    match retries {
        "" => text,
        retries => format!("{text}, after {retries} retries"),
    }
}

/// Returns the number of retries in the description of a request, or nothing.
fn retries(request: &str) -> &str {
    let rest = request.rsplit_once(", after ").map_or("", |(_, it)| it);
    let (count, _) = rest.split_once(" retries").unwrap_or_default();
    count
}

/// Returns the code and message in the body of an answer of a store. Other parts of a body may have secrets.
fn details(body: &str) -> String {
    let element = |name: &str| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        let (text, _) = rest.split_once(&format!("</{name}>"))?;
        Some(without_secrets(text.lines().next()?.trim()))
    };
    let details = ["Code", "Message"].map(element).into_iter().flatten();
    details.map(|text| format!(": {text}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(kind: io::ErrorKind, text: &str) -> Error {
        io::Error::new(kind, text.to_owned()).into()
    }

    #[test]
    fn messages_have_a_reason_without_secrets() {
        let request = "Error performing GET https://u:p@h/a?Signature=x in 1s";
        for (message, expected) in [
            (
                format!(
                    "Generic S3 error: {request}, after 5 retries, max_retries: 5, retry_timeout: 180s  - Server returned non-2xx status code: 503 Service Unavailable: "
                ),
                "HTTP status 503 Service Unavailable, after 5 retries",
            ),
            (
                format!(
                    "x: {request} - Server returned non-2xx status code: 403 Forbidden: <?xml?><Error><Code>AccessDenied</Code><Message>No https://h/?k=s\nmore</Message><StringToSign>secret</StringToSign>"
                ),
                "HTTP status 403 Forbidden: AccessDenied: No https://h/?…",
            ),
            (
                format!("x: {request} - HTTP error: error sending request"),
                "HTTP error: error sending request",
            ),
            (
                "bytes 1..2: the answer ends after 1 of 3 bytes".to_owned(),
                "bytes 1..2: the answer ends after 1 of 3 bytes",
            ),
        ] {
            assert_eq!(reason(&message), expected);
        }
        let long = "x".repeat(MAX_CHARACTERS + 1);
        assert_eq!(reason(&long).len(), MAX_CHARACTERS);
    }

    #[test]
    fn a_denied_request_without_credentials_names_them() {
        let denied = || io(io::ErrorKind::PermissionDenied, "x");
        let hint = plain(denied(), Some("KEY"));
        assert!(hint.message().contains("such as KEY were found"), "{hint}");
        assert_eq!(plain(denied(), None).message(), "x");
        let other = plain(io(io::ErrorKind::Other, "x"), Some("KEY"));
        assert_eq!(other.message(), "x");
        assert_eq!(plain(Error::corrupt("x://a?b"), None).message(), "x://a?b");
    }
}
