//! Tests servers that fail, or that do not answer as requested.

use std::time::{Duration, Instant};

use super::{Answer, EXAMPLE, Folder, Server, example, file, herringbone, large, ranges, run};

/// The beginning of a message that names the requested bytes.
const END: &str = "the server, the last 262144 bytes: ";

#[test]
fn failures_of_the_network_end_with_4() {
    for (status, message) in [
        (403, "HTTP status 403"),
        (404, "HTTP status 404"),
        (401, "HTTP status 401"),
    ] {
        let server = Server::new(move |_, _| Answer::status(status));
        let run = run(&["count", &server.url("a.parquet")], &[]);
        run.fails(
            4,
            &format!("{}: I/O: {END}{message}", server.url("a.parquet")),
        );
        assert_eq!(server.take().len(), 1, "{status}");
    }
    // Nothing listens at this port any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.parquet", listener.local_addr().unwrap());
    drop(listener);
    run(&["count", &url], &[]).fails(4, "Connection refused");
    let unknown = run(&["count", "http://host.invalid/a.parquet"], &[]);
    unknown.fails(4, "host.invalid/a.parquet: I/O: the server, ");
}

#[test]
fn server_errors_are_retried() {
    let bytes = example();
    let server = Server::new(move |request, before| match before < 2 {
        true => Answer::status(503),
        false => file(&bytes, "\"a\"", request),
    });
    run(&["count", &server.url("a.parquet")], &[]).ok("24\n");
    assert_eq!(server.take().len(), 3);
    let server = Server::new(|_, _| Answer::of(503, b"SlowDown".to_vec()));
    let start = Instant::now();
    let run = run(&["count", &server.url("a.parquet")], &[]);
    run.fails(4, "HTTP status 503 Service Unavailable, after 5 retries");
    assert_eq!(server.take().len(), 6);
    // There are five waits of at least 0.4 s.
    assert!(
        start.elapsed() >= Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_wait_that_the_server_asks_for_is_heeded() {
    let bytes = example();
    let server = Server::new(move |request, before| match before {
        0 => Answer::status(503).with("Retry-After", "2"),
        _ => file(&bytes, "\"a\"", request),
    });
    let start = Instant::now();
    run(&["count", &server.url("a.parquet")], &[]).ok("24\n");
    assert!(
        start.elapsed() >= Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}

/// No header of a request may contain a line end.
#[test]
fn credentials_with_a_line_end_are_errors() {
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_REGION"] {
        let variables = [
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
            ("AWS_ACCESS_KEY_ID", "key-id"),
            ("AWS_SECRET_ACCESS_KEY", "secret-1"),
            (name, "secret-2\n"),
        ];
        let run = run(&["count", "s3://b/a.parquet"], &variables);
        run.fails(2, "contains a line end");
        assert!(!run.stderr.contains("secret-"), "{}", run.stderr);
    }
}

#[test]
fn a_replaced_file_is_an_error() {
    let folder = Folder::new();
    let bytes = large(&folder);
    let server = Server::new(move |request, before| match before {
        0 => file(&bytes, "\"a\"", request),
        _ => file(&bytes, "\"b\"", request),
    });
    let replaced = run(&["cat", &server.url("a.parquet")], &[]);
    replaced.fails(4, "HTTP status 412");
    assert_eq!(replaced.stdout, "");
    // This server ignores the precondition.
    let bytes = std::fs::read(folder.file("large.parquet")).unwrap();
    let server = Server::new(move |request, before| {
        let tag = if before == 0 { "\"a\"" } else { "\"b\"" };
        let mut request = request.clone();
        request.headers.retain(|(name, _)| name != "if-match");
        file(&bytes, tag, &request)
    });
    let replaced = run(&["cat", &server.url("a.parquet")], &[]);
    replaced.fails(4, "ETag \"a\" when it was opened");
    assert_eq!(replaced.stdout, "");
}

#[test]
fn wrong_answers_are_errors_and_not_rows() {
    let folder = Folder::new();
    large(&folder);
    let local = folder.file("large.parquet");
    type Change = fn(Answer) -> Answer;
    let changes: [(&str, Change, &str); 4] = [
        ("short", |answer| cut(answer, 10), "the server, bytes "),
        (
            "another range",
            |answer| ranged(answer, 5),
            "the server, bytes ",
        ),
        (
            "no range",
            |answer| Answer {
                headers: Vec::new(),
                ..answer
            },
            "the server, bytes ",
        ),
        (
            "another length",
            |answer| lengthened(answer),
            "the server, bytes ",
        ),
    ];
    for (name, change, message) in changes {
        let bytes = std::fs::read(&local).unwrap();
        let server = Server::new(move |request, before| {
            let answer = file(&bytes, "\"a\"", request);
            if before == 0 { answer } else { change(answer) }
        });
        let run = run(&["cat", "--columns", "c0", &server.url("a.parquet")], &[]);
        run.fails(4, message);
        assert_eq!(run.stdout, "", "{name}");
    }
}

/// Returns an answer whose connection is cut this many bytes before its end.
fn cut(answer: Answer, bytes: usize) -> Answer {
    Answer {
        sent: answer.body.len() - bytes,
        headers: answer
            .headers
            .into_iter()
            .filter(|(name, _)| *name != "ETag")
            .collect(),
        ..answer
    }
}

/// Returns an answer whose range is moved by some bytes.
fn ranged(mut answer: Answer, by: usize) -> Answer {
    let (_, range) = answer
        .headers
        .iter_mut()
        .find(|(name, _)| *name == "Content-Range")
        .unwrap();
    let (start, rest) = range["bytes ".len()..].split_once('-').unwrap();
    let (end, all) = rest.split_once('/').unwrap();
    let moved = |text: &str| text.parse::<usize>().unwrap() + by;
    *range = format!("bytes {}-{}/{all}", moved(start), moved(end));
    answer
}

/// Returns an answer that claims that the file is longer.
fn lengthened(mut answer: Answer) -> Answer {
    let (_, range) = answer
        .headers
        .iter_mut()
        .find(|(name, _)| *name == "Content-Range")
        .unwrap();
    range.push('0');
    answer
}

#[test]
fn servers_without_ranges_are_read_at_once() {
    let bytes = example();
    let server = Server::new(move |request, _| {
        let mut request = request.clone();
        request.headers.retain(|(name, _)| name != "range");
        file(&bytes, "\"a\"", &request)
    });
    let url = server.url("a.parquet");
    let local = herringbone(&["cat", EXAMPLE]).stdout;
    run(&["cat", &url], &[]).ok(&local);
    let requests = server.take();
    assert_eq!(requests.last().unwrap().header("range"), None);
    assert!(requests.len() <= 5, "{:?}", ranges(&requests));
}

/// No range satisfies a request for an empty object (RFC 9110, section 14.1.2).
#[test]
fn an_empty_object_is_not_a_failure_of_the_network() {
    let server = Server::new(|request, _| match request.header("range") {
        Some(_) => Answer::status(416).with("Content-Range", "bytes */0"),
        None => Answer::of(200, Vec::new()),
    });
    run(&["count", &server.url("a.parquet")], &[]).fails(3, "its size is 0 bytes");
}

#[test]
fn buckets_without_ranges_are_read_at_once() {
    for (bytes, code, expected) in [(example(), 0, ""), (Vec::new(), 3, "its size is 0 bytes")] {
        let modified = "Tue, 02 Jan 2024 00:00:00 GMT";
        let server = Server::new(move |_, _| {
            let whole = Answer::of(200, bytes.clone());
            whole.with("ETag", "\"a\"").with("Last-Modified", modified)
        });
        let endpoint = format!("http://127.0.0.1:{}", server.port);
        let variables = [
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_SKIP_SIGNATURE", "true"),
        ];
        let run = run(&["count", "s3://b/a.parquet"], &variables);
        run.fails(code, expected);
        assert_eq!(run.stdout, if code == 0 { "24\n" } else { "" });
    }
}

#[test]
fn a_large_file_without_ranges_is_an_error() {
    let server = Server::new(|_, _| Answer {
        // The header is sent, but the body is not.
        sent: 0,
        ..Answer::of(200, vec![0; 300_000_000])
    });
    let run = run(&["count", &server.url("a.parquet")], &[]);
    run.fails(4, "the file has 300000000 bytes, more than the 268435456");
}

/// Servers might support neither requests for the end of a file nor HEAD requests.
#[test]
fn servers_without_suffixes_are_asked_for_the_length() {
    for status in [400, 416, 501] {
        let bytes = example();
        let server = Server::new(move |request, _| {
            let is_suffix = request
                .header("range")
                .is_none_or(|header| header.starts_with("bytes=-"));
            match is_suffix || request.method == "HEAD" {
                true => Answer::status(status),
                false => file(&bytes, "\"a\"", request),
            }
        });
        run(&["count", &server.url("a.parquet")], &[]).ok("24\n");
        let ranges = ranges(&server.take());
        let end = format!("bytes=0-{}", example().len() - 1);
        assert_eq!(
            ranges[ranges.len() - 2..],
            ["bytes=0-0".to_owned(), end],
            "{status}"
        );
    }
}

/// After a lost connection, a request continues if the answer had an ETag, because the file is then
/// known to be the same.
#[test]
fn cut_connections_are_continued() {
    let bytes = example();
    let server = Server::new(move |request, before| {
        let answer = file(&bytes, "\"a\"", request);
        let sent = if before == 0 { 1000 } else { answer.body.len() };
        Answer { sent, ..answer }
    });
    let run = run(&["count", &server.url("a.parquet")], &[]);
    run.ok("24\n");
    let ranges = ranges(&server.take());
    assert_eq!(ranges.len(), 2);
    assert!(ranges[1].starts_with("bytes=1000-"), "{ranges:?}");
}

#[test]
fn other_formats_are_named() {
    let server = Server::of_file(b"a,b\n1,2\n".to_vec());
    let run = run(&["count", &server.url("a.parquet")], &[]);
    run.fails(3, "expected Parquet, but this is text");
    let server = Server::of_file(example()[..1000].to_vec());
    super::run(&["count", &server.url("a.parquet")], &[]).fails(3, "corrupt file");
}
