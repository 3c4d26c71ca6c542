//! An HTTP client for `object_store`'s stores, bounding the costs that a server can cause.
//!
//! By itself, `object_store` reads an error's whole body, keeps waiting as long as a server sends a
//! byte now and then, and needs each answer's length. All of this is up to the server. [`Bounded`]
//! wraps the client, so that all stores get the same bounds.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use object_store_014::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService, ReqwestConnector,
};
use object_store_014::{ClientOptions, HeaderMap, HeaderValue, Result};

mod listing;
mod shared;

pub use listing::LeftOut;

use crate::request::MAX_WHOLE_BYTES;
use listing::is_listing;

/// The most bytes to read of an error's body. This is enough, because the store's code and message
/// are at the beginning.
pub const MAX_ERROR_BYTES: usize = 64 << 10;
/// The longest wait allowed in an answer's `Retry-After` before the request is sent again.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(20);
/// The slowest allowed answer in bytes per second. Anything slower is an error.
pub const MIN_BYTES_PER_SECOND: u64 = 512;
/// The time over which an answer's speed is measured.
const SPEED_WINDOW: Duration = Duration::from_secs(30);

const CONTENT_ENCODING: &str = "content-encoding";
const CONTENT_LENGTH: &str = "content-length";
const CONTENT_RANGE: &str = "content-range";
const RANGE: &str = "range";
const LAST_MODIFIED: &str = "last-modified";
const RETRY_AFTER: &str = "retry-after";

/// The names of HTTP's compressions. Any other name, such as `aws-chunked`, is only a label
/// repeated by the store.
const COMPRESSIONS: [&str; 6] = ["gzip", "x-gzip", "deflate", "compress", "br", "zstd"];

/// A connector with bounded answers, for `with_http_connector` of `object_store`'s builders.
///
/// - An error's body is cut after [`MAX_ERROR_BYTES`].
/// - An answer with `Retry-After` is only returned after that time, but at the latest after
///   [`MAX_RETRY_AFTER`].
/// - An answer slower than [`MIN_BYTES_PER_SECOND`] is an error.
/// - If a part has no `Content-Length`, its length is taken from its `Content-Range`. A whole
///   object without a length is read up to [`MAX_WHOLE_BYTES`] to find out.
/// - An invalid `Last-Modified` date is dropped.
/// - A whole object compressed by the server is an error, because the bytes are not the object's.
/// - Keys that `object_store` cannot represent are left out of listings, and [reported](Self::left_out).
#[derive(Debug, Default, Clone)]
pub struct Bounded {
    left_out: LeftOut,
    is_shared: bool,
}

impl Bounded {
    /// Creates a connector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects whether stores with the same settings share a client and its connections. If so, all
    /// their requests must run on the same runtime.
    #[must_use]
    pub fn share_connections(self, is_shared: bool) -> Self {
        Self { is_shared, ..self }
    }

    /// Returns the keys left out of listings so far. A connector's clones share these.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

impl HttpConnector for Bounded {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let inner = match self.is_shared {
            true => shared::connect(options)?,
            false => ReqwestConnector::default().connect(options)?,
        };
        let left_out = self.left_out.clone();
        Ok(HttpClient::new(BoundedClient { inner, left_out }))
    }
}

#[derive(Debug)]
struct BoundedClient {
    inner: HttpClient,
    left_out: LeftOut,
}

#[async_trait::async_trait]
impl HttpService for BoundedClient {
    async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let is_head = request.method().as_str() == "HEAD";
        let is_read = request.method().as_str() == "GET";
        let has_range = request.headers().contains_key(RANGE);
        let is_listing = is_read && request.uri().query().is_some_and(is_listing);
        let mut response = self.inner.execute(request).await?;
        if is_read || is_head {
            leave_out_odd_date(response.headers_mut());
        }
        let response = match response.status().is_success() {
            true if is_read => answered(response, has_range).await?,
            true => response,
            false => failed(response).await?,
        };
        match is_listing && response.status().is_success() {
            true => self.listed(response).await,
            false => Ok(response),
        }
    }
}

impl BoundedClient {
    /// Removes unrepresentable keys from a listing.
    async fn listed(&self, response: HttpResponse) -> std::result::Result<HttpResponse, HttpError> {
        let (mut parts, body) = response.into_parts();
        let (bytes, is_all) = beginning(body, MAX_WHOLE_BYTES).await?;
        if !is_all {
            let message = format!("the server sent a listing of more than {MAX_WHOLE_BYTES} bytes");
            return Err(error(HttpErrorKind::Decode, message));
        }
        let bytes = self.left_out.without_unusual(bytes);
        let length = HeaderValue::from(bytes.len() as u64);
        parts.headers.insert(CONTENT_LENGTH, length);
        Ok(HttpResponse::from_parts(parts, bytes.into()))
    }
}

/// Waits if an answer asks for it and cuts an error's body.
async fn failed(response: HttpResponse) -> std::result::Result<HttpResponse, HttpError> {
    let (parts, body) = response.into_parts();
    let is_busy = matches!(parts.status.as_u16(), 429 | 503);
    if let Some(wait) = retry_after(&parts.headers).filter(|_| is_busy) {
        tokio::time::sleep(wait).await;
    }
    let body = HttpResponseBody::new(Measured::new(body));
    // If the body breaks off, we still return the status.
    let mut start = BytesMut::new();
    beginning_of(body, MAX_ERROR_BYTES as u64, &mut start)
        .await
        .ok();
    start.truncate(MAX_ERROR_BYTES);
    Ok(HttpResponse::from_parts(parts, start.freeze().into()))
}

/// Completes an answer's headers and starts measuring its speed.
async fn answered(
    response: HttpResponse,
    has_range: bool,
) -> std::result::Result<HttpResponse, HttpError> {
    let (mut parts, body) = response.into_parts();
    let is_part = parts.status.as_u16() == 206;
    let encoding = text(&parts.headers, CONTENT_ENCODING).unwrap_or_default();
    if !is_part && COMPRESSIONS.contains(&encoding.to_ascii_lowercase().as_str()) {
        let message = format!(
            "the server compressed the file for the transfer (`Content-Encoding: {encoding}`)"
        );
        return Err(error(HttpErrorKind::Decode, message));
    }
    lower_unit(&mut parts.headers);
    let range = text(&parts.headers, CONTENT_RANGE).filter(|_| is_part);
    let range_header = range.map(|range| {
        let invalid = || {
            let message = format!("the server sent an invalid `Content-Range: {range}`");
            error(HttpErrorKind::Decode, message)
        };
        length_of(range).ok_or_else(invalid)
    });
    let range_header = range_header.transpose()?;
    let mut body = HttpResponseBody::new(Measured::new(body));
    if text(&parts.headers, CONTENT_LENGTH).is_none() {
        let length = match range_header {
            Some(length) => length,
            // `object_store` refuses a whole object as the answer to a range request, but only
            // after asking for its length, so any length will do.
            None if has_range => 0,
            None => {
                let (bytes, is_all) = beginning(body, MAX_WHOLE_BYTES).await?;
                if !is_all {
                    let message = format!(
                        "the server sends no length of the file, which has more than {MAX_WHOLE_BYTES} bytes; download it"
                    );
                    return Err(error(HttpErrorKind::Decode, message));
                }
                let length = bytes.len() as u64;
                body = bytes.into();
                length
            }
        };
        let length = HeaderValue::from(length);
        parts.headers.insert(CONTENT_LENGTH, length);
    }
    Ok(HttpResponse::from_parts(parts, body))
}

/// Lowercases the unit of a `Content-Range`. RFC 9110 allows both cases, but `object_store` only
/// accepts lowercase.
fn lower_unit(headers: &mut HeaderMap) {
    let lower = text(headers, CONTENT_RANGE).map(str::to_ascii_lowercase);
    if let Some(Ok(lower)) = lower.map(|text| HeaderValue::from_str(&text)) {
        headers.insert(CONTENT_RANGE, lower);
    }
}

/// Removes an invalid `Last-Modified` date.
fn leave_out_odd_date(headers: &mut HeaderMap) {
    let is_date = |text: &str| chrono::DateTime::parse_from_rfc2822(text).is_ok();
    if !text(headers, LAST_MODIFIED).is_some_and(is_date) {
        headers.remove(LAST_MODIFIED);
    }
}

fn error(kind: HttpErrorKind, message: String) -> HttpError {
    HttpError::new(kind, std::io::Error::other(message))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the wait that an answer asks for, within the limit. Only seconds are supported, but not
/// dates.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = text(headers, RETRY_AFTER)?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// Returns the length of a `Content-Range` such as `bytes 10-19/100`.
fn length_of(range: &str) -> Option<u64> {
    let (first, last) = range
        .strip_prefix("bytes ")?
        .split_once('/')?
        .0
        .split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

/// Reads a body until it has more than `most` bytes. Returns true if that was the whole body.
async fn beginning(
    body: HttpResponseBody,
    most: u64,
) -> std::result::Result<(Bytes, bool), HttpError> {
    let mut start = BytesMut::new();
    let is_all = beginning_of(body, most, &mut start).await?;
    Ok((start.freeze(), is_all))
}

/// Appends a body until there are more than `most` bytes. Returns true if that was the whole body.
async fn beginning_of(
    mut body: HttpResponseBody,
    most: u64,
    start: &mut BytesMut,
) -> std::result::Result<bool, HttpError> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            start.extend_from_slice(&data);
        }
        if start.len() as u64 > most {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A body with a minimum speed. The time between reads does not count, since that is not the
/// server's fault.
#[derive(Debug)]
struct Measured {
    body: HttpResponseBody,
    waiting_since: Option<Instant>,
    waited: Duration,
    bytes: u64,
}

impl Measured {
    fn new(body: HttpResponseBody) -> Self {
        Self {
            body,
            waiting_since: None,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Counts bytes arriving after a wait.
    fn count(&mut self, bytes: u64, wait: Duration) -> std::result::Result<(), HttpError> {
        self.bytes += bytes;
        self.waited += wait;
        if self.waited < SPEED_WINDOW {
            return Ok(());
        }
        let seconds = self.waited.as_secs();
        if self.bytes < MIN_BYTES_PER_SECOND * seconds {
            let message = format!(
                "the server sent {} bytes in {seconds} s, less than {MIN_BYTES_PER_SECOND} a second",
                self.bytes
            );
            return Err(error(HttpErrorKind::Interrupted, message));
        }
        (self.waited, self.bytes) = (Duration::ZERO, 0);
        Ok(())
    }
}

impl Body for Measured {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, HttpError>>> {
        let frame = match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => {
                self.waiting_since.get_or_insert_with(Instant::now);
                return Poll::Pending;
            }
            Poll::Ready(Some(Ok(frame))) => frame,
            end => return end,
        };
        let wait = self.waiting_since.take();
        let wait = wait.map_or(Duration::ZERO, |since| since.elapsed());
        let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
        Poll::Ready(Some(self.count(bytes, wait).map(|()| frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use object_store_014::client::HttpResponse;

    use super::*;

    fn response(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> HttpResponse {
        let mut response = HttpResponse::new(Bytes::copy_from_slice(body).into());
        *response.status_mut() = status.try_into().unwrap();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            response.headers_mut().insert(*name, value);
        }
        response
    }

    fn body(response: HttpResponse) -> Bytes {
        block_on(response.into_body().bytes()).unwrap()
    }

    #[test]
    fn the_body_of_an_error_is_cut() {
        for (length, expected) in [(10, 10), (MAX_ERROR_BYTES + 1, MAX_ERROR_BYTES)] {
            let answer = block_on(failed(response(404, &[], &vec![b'x'; length]))).unwrap();
            assert_eq!(answer.status(), 404);
            assert_eq!(body(answer).len(), expected);
        }
    }

    #[test]
    fn a_wait_is_limited() {
        for (value, expected) in [
            ("2", Some(2)),
            ("100000", Some(MAX_RETRY_AFTER.as_secs())),
            ("Wed, 21 Oct 2015 07:28:00 GMT", None),
            ("-1", None),
        ] {
            let answer = response(503, &[(RETRY_AFTER, value)], b"");
            let expected = expected.map(Duration::from_secs);
            assert_eq!(retry_after(answer.headers()), expected, "{value}");
        }
    }

    #[test]
    fn a_part_has_the_length_of_its_range() {
        for (range, expected) in [
            ("bytes 10-19/100", Some("10")),
            ("bytes 0-0/*", Some("1")),
            ("Bytes 10-19/100", Some("10")),
            ("bytes 19-10/100", None),
            ("bytes 0-18446744073709551615/1", None),
            ("items 0-1/2", None),
        ] {
            let answer = response(206, &[(CONTENT_RANGE, range)], b"0123456789");
            let Some(expected) = expected else {
                let error = block_on(answered(answer, false)).unwrap_err();
                let message = std::error::Error::source(&error).unwrap().to_string();
                assert!(message.contains(range), "{message}");
                continue;
            };
            let answer = block_on(answered(answer, false)).unwrap();
            assert_eq!(text(answer.headers(), CONTENT_LENGTH), Some(expected));
            let unit = text(answer.headers(), CONTENT_RANGE).unwrap();
            assert!(unit.starts_with("bytes "), "{unit}");
            assert_eq!(body(answer), "0123456789");
        }
    }

    #[test]
    fn an_object_without_a_length_is_read_for_it() {
        let answer = block_on(answered(response(200, &[], b"0123456789"), false)).unwrap();
        assert_eq!(text(answer.headers(), CONTENT_LENGTH), Some("10"));
        assert_eq!(body(answer), "0123456789");
        // If a range was requested, we don't read the object, because it could be endless.
        let whole = response(200, &[], b"0123456789");
        let answer = block_on(answered(whole, true)).unwrap();
        assert_eq!(text(answer.headers(), CONTENT_LENGTH), Some("0"));
    }

    #[test]
    fn a_date_that_is_none_is_left_out() {
        for (date, is_kept) in [
            ("Wed, 21 Oct 2015 07:28:00 GMT", true),
            ("yesterday", false),
            ("2015-10-21", false),
        ] {
            let mut answer = response(200, &[(LAST_MODIFIED, date)], b"1");
            leave_out_odd_date(answer.headers_mut());
            assert_eq!(text(answer.headers(), LAST_MODIFIED).is_some(), is_kept);
        }
    }

    #[test]
    fn a_compressed_answer_is_an_error() {
        let headers = [(CONTENT_ENCODING, "gzip")];
        let error = block_on(answered(response(200, &headers, b"1"), false)).unwrap_err();
        let message = std::error::Error::source(&error).unwrap().to_string();
        assert!(message.contains("`Content-Encoding: gzip`"), "{message}");
        // A part has the stored bytes, so this encoding is only the label that the object was
        // uploaded with.
        block_on(answered(response(206, &headers, b"1"), false)).unwrap();
        for encoding in ["identity", "aws-chunked"] {
            let headers = [(CONTENT_ENCODING, encoding)];
            block_on(answered(response(200, &headers, b"1"), false)).unwrap();
        }
    }

    #[test]
    fn slow_answers_are_errors() {
        let body = || Measured::new(Bytes::new().into());
        let (second, long) = (Duration::from_secs(1), SPEED_WINDOW);
        let slow = MIN_BYTES_PER_SECOND * long.as_secs();
        // The bound is 512 bytes per second for 30 seconds.
        assert_eq!(slow, 15_360);
        body().count(slow, long).unwrap();
        body().count(slow - 1, long).unwrap_err();
        let mut pauses = body();
        pauses.count(1, long - second).unwrap();
        pauses.count(slow - 1, second).unwrap();
        // The next window starts at zero.
        pauses.count(1, long - second).unwrap();
        pauses.count(1, second).unwrap_err();
    }
}
