//! Errors for JavaScript.

use herringbone::{Error, ErrorKind, Location, Remedy};
use serde_json::json;
use wasm_bindgen::JsValue;

/// The result of a function that JavaScript calls. The error is a text in JSON, of which `package/errors.js` makes an `Error`.
pub(crate) type Result<T, E = JsValue> = std::result::Result<T, E>;

/// Returns an error of the library for JavaScript.
pub(crate) fn thrown(error: &Error) -> JsValue {
    let kind = match error.kind() {
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Limit => "limit",
        ErrorKind::Feature => "feature",
        ErrorKind::Argument => "argument",
        ErrorKind::Key => "key",
        ErrorKind::Replaced => "replaced",
        _ => "io",
    };
    let location = error.location();
    let mut message = error.message().to_owned();
    if let Some(remedy) = error.remedy() {
        message = format!("{message}; try {}", option_of(remedy));
    }
    if *location != Location::default() {
        message = format!("{message} ({location})");
    }
    let value = json!({
        "kind": kind,
        "message": message,
        "column": location.column,
        "rowGroup": location.row_group,
        "page": location.page,
        "offset": location.offset,
    });
    JsValue::from_str(&value.to_string())
}

/// Returns the error for a wrong argument.
pub(crate) fn argument(message: impl Into<String>) -> JsValue {
    thrown(&Error::argument(message))
}

/// Returns the option that helps, as it is written in JavaScript.
fn option_of(remedy: Remedy) -> String {
    match remedy {
        Remedy::RaiseLimit("memory_bytes") => {
            "the option `memoryBytes` with a higher number".into()
        }
        Remedy::ChooseLeaves | Remedy::LeaveOutColumn => {
            "the option `columns` without this column".into()
        }
        Remedy::GiveKeys => "the option `keys`".into(),
        Remedy::ChooseInt96Unit => "the option `int96Unit` with `us`".into(),
        other => other.to_string(),
    }
}
