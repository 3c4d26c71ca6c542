//! Store errors in plain words.

use std::error::Error as StdError;
use std::io;

use herringbone::Error;

use crate::secrets::without_secrets;

/// The text before a message's request part.
const REQUEST: &str = "Error performing ";
/// The text between a message's request part and its reason.
const REASON: &str = " - ";
/// The possible texts before an answer's status.
const STATUS: [&str; 2] = [
    "Server returned non-2xx status code: ",
    "Server returned error response: ",
];

/// The most characters to keep of a reason.
const MAX_CHARACTERS: usize = 300;

/// Returns a store error's reason, without the request's address, which might contain a signature,
/// and without the answer's body.
pub(crate) fn plain(error: &(dyn StdError + 'static)) -> String {
    let mut text = reason(&error.to_string());
    if let Some(cause) = deepest(error)
        && !text.contains(&cause)
    {
        text += &format!(": {cause}");
    }
    text
}

/// Converts a store error to a library error, leaving out the causes because their texts contain
/// addresses.
pub(crate) fn io_error(kind: io::ErrorKind, error: &(dyn StdError + 'static)) -> Error {
    io::Error::new(kind, plain(error)).into()
}

/// Returns the HTTP status in a store error's message.
pub(crate) fn status(message: &str) -> Option<u16> {
    let rest = STATUS.iter().find_map(|it| message.split_once(it));
    rest?.1.get(..3)?.parse().ok()
}

/// Returns the innermost cause's message.
fn deepest(error: &(dyn StdError + 'static)) -> Option<String> {
    let mut cause = error.source()?;
    while let Some(next) = cause.source() {
        cause = next;
    }
    Some(reason(&cause.to_string()))
}

/// Returns the reason in a store error's message, without the request's address and the answer's
/// body.
fn reason(message: &str) -> String {
    let request = message.split_once(REQUEST).map(|(_, it)| it);
    let (retries, text) = match request.and_then(|request| request.split_once(REASON)) {
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

/// Returns the part about retries in a request's description, or an empty text.
fn retries(request: &str) -> &str {
    let rest = request.rsplit_once(", after ").map_or("", |(_, it)| it);
    let (count, _) = rest.split_once(" retries").unwrap_or_default();
    count
}

/// Returns the code and message in the body of a store's answer. All other parts are left out,
/// because they might contain secrets.
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
}
