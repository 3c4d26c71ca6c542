//! Tests files that are written to URLs.

use std::sync::Mutex;

use super::{Answer, EXAMPLE, Folder, Request, Server, herringbone, run};

/// Starts a bucket of one object, which takes uploads in one request and in parts.
fn bucket(fails: fn(&Request) -> bool) -> Server {
    Server::new(
        move |request, _| match (request.method.as_str(), request.target.as_str()) {
            _ if fails(request) => Answer::status(403),
            ("HEAD", _) => Answer::status(404),
            ("POST", target) if target.ends_with("?uploads=") || target.ends_with("?uploads") => {
                let body = "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>";
                Answer::of(200, body.into())
            }
            ("POST", _) => {
                let body = "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>";
                Answer::of(200, body.into())
            }
            ("DELETE", _) => Answer::status(204),
            _ => Answer::status(200).with("ETag", "\"e\""),
        },
    )
}

/// Runs the command with an S3 endpoint.
fn s3(server: &Server, arguments: &[&str]) -> super::Run {
    let endpoint = format!("http://127.0.0.1:{}", server.port);
    let variables = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "key-id"),
        ("AWS_SECRET_ACCESS_KEY", "secret-1"),
    ];
    run(arguments, &variables)
}

/// Returns the methods and targets of requests.
fn seen(requests: &[Request]) -> Vec<String> {
    let text = |request: &Request| format!("{} {}", request.method, request.target);
    requests.iter().map(text).collect()
}

#[test]
fn a_small_file_is_one_conditional_request() {
    let server = bucket(|_| false);
    s3(&server, &["rewrite", "-q", EXAMPLE, "s3://b/a.parquet"]).ok("");
    let requests = server.take();
    assert_eq!(seen(&requests), ["HEAD /b/a.parquet", "PUT /b/a.parquet"]);
    assert_eq!(requests[1].header("if-none-match"), Some("*"));
    let folder = Folder::new();
    let copy = folder.with("copy.parquet", &requests[1].body);
    herringbone(&["cat", &copy]).ok(&herringbone(&["cat", EXAMPLE]).stdout);
    s3(
        &server,
        &["rewrite", "-q", "--force", EXAMPLE, "s3://b/a.parquet"],
    )
    .ok("");
    let requests = server.take();
    assert_eq!(seen(&requests), ["PUT /b/a.parquet"]);
    assert_eq!(requests[0].header("if-none-match"), None);
}

/// An object in place of a folder would hide the folder from some readers.
#[test]
fn a_file_is_not_written_to_a_folder() {
    let server = bucket(|_| false);
    let run = s3(&server, &["rewrite", EXAMPLE, "s3://b/out/"]);
    run.fails(2, "s3://b/out/: the URL ends with `/`");
    assert_eq!(seen(&server.take()), Vec::<String>::new());
}

#[test]
fn an_existing_object_is_not_replaced() {
    let server = Server::new(|_, _| {
        Answer::status(200)
            .with("ETag", "\"e\"")
            .with("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
    });
    let run = s3(&server, &["rewrite", EXAMPLE, "s3://b/a.parquet"]);
    run.fails(
        2,
        "s3://b/a.parquet: the file already exists; --force replaces it",
    );
    assert_eq!(seen(&server.take()), ["HEAD /b/a.parquet"]);
    // Here, another writer was faster.
    let server = Server::new(|request, _| match request.method.as_str() {
        "HEAD" => Answer::status(404),
        _ => Answer::status(412),
    });
    let run = s3(&server, &["rewrite", EXAMPLE, "s3://b/a.parquet"]);
    run.fails(
        2,
        "s3://b/a.parquet: the file already exists; --force replaces it",
    );
}

/// Returns a file whose rows take more than one part of 16 MiB, and less than two. It has few long
/// rows, because these are converted quickly. The last line is neither among the 10,000 from which
/// types are inferred, nor in the batches of the first part.
fn lines(folder: &Folder, last: &str) -> String {
    let filler = "x".repeat(1100);
    let lines = (0..25_000).map(|row| format!("{{\"a\":{row},\"b\":\"{row}{filler}\"}}\n"));
    folder.with("lines.jsonl", lines.collect::<String>() + last)
}

#[test]
fn a_large_file_is_sent_in_parts_that_appear_together() {
    let folder = Folder::new();
    let lines = lines(&folder, "");
    let convert = ["convert", "-q", &lines, "s3://b/a.jsonl"];
    let server = bucket(|_| false);
    s3(&server, &convert).ok("");
    let requests = server.take();
    let parts = requests
        .iter()
        .filter(|request| request.method == "PUT")
        .count();
    assert_eq!(parts, 2);
    let mut parts: Vec<_> = requests
        .iter()
        .filter(|request| request.method == "PUT")
        .collect();
    parts.sort_by_key(|part| part.target.clone());
    let joined: Vec<u8> = parts.iter().flat_map(|part| part.body.clone()).collect();
    assert!(joined == std::fs::read(&lines).unwrap());
    let (first, last) = (&requests[0], &requests[requests.len() - 1]);
    assert_eq!(
        (first.method.as_str(), last.method.as_str()),
        ("HEAD", "POST")
    );

    // A part is refused, so the upload is aborted and never completed.
    let server =
        bucket(|request| request.method == "PUT" && request.target.contains("partNumber=2"));
    s3(&server, &convert).fails(4, "s3://b/a.jsonl: the server, part 2, bytes 16777216..");
    aborted(&server.take());
    // The request that completes the upload is refused.
    let server = bucket(|request| request.method == "POST" && request.target.contains("uploadId"));
    s3(&server, &convert).fails(4, "HTTP status 403");
    let requests = server.take();
    assert_eq!(requests.last().unwrap().method, "DELETE");
}

fn aborted(requests: &[Request]) {
    let completed =
        |request: &&Request| request.method == "POST" && request.target.contains("uploadId");
    assert_eq!(
        requests
            .iter()
            .find(completed)
            .map(|request| &request.target),
        None
    );
    assert_eq!(requests.last().unwrap().method, "DELETE");
}

#[test]
fn an_error_in_the_rows_aborts_the_upload() {
    let folder = Folder::new();
    let lines = lines(&folder, "{\"a\":\"text\"}\n");
    let server = bucket(|_| false);
    let run = s3(&server, &["convert", "-q", &lines, "s3://b/a.jsonl"]);
    run.fails(3, "lines.jsonl");
    aborted(&server.take());
    // Before the first part is sent, there is nothing to abort.
    let short = folder.with("short.csv", "a\n1\n");
    let run = s3(
        &server,
        &[
            "convert",
            "-q",
            "--type",
            "b=Int8",
            &short,
            "s3://b/a.parquet",
        ],
    );
    run.fails(2, "does not have a column `b`");
    assert_eq!(seen(&server.take()), Vec::<String>::new());
}

#[test]
fn web_servers_take_a_file_in_one_request() {
    let object = std::sync::Arc::new(Mutex::new(None::<Vec<u8>>));
    let kept = object.clone();
    let server = Server::new(move |request, _| match request.method.as_str() {
        "PUT" => {
            *kept.lock().unwrap() = Some(request.body.clone());
            Answer::status(201)
        }
        _ => Answer::status(404),
    });
    run(
        &["rewrite", "-q", EXAMPLE, &server.url("a.parquet?sig=1")],
        &[],
    )
    .ok("");
    let requests = server.take();
    assert_eq!(seen(&requests)[1], "PUT /a.parquet?sig=1");
    let folder = Folder::new();
    let bytes = object.lock().unwrap().take().unwrap();
    let copy = folder.with("copy.parquet", bytes);
    herringbone(&["count", &copy]).ok("24\n");
}

/// The parts of `split` appear together, as local files do.
#[test]
fn parts_appear_after_all_of_them_are_complete() {
    let split = [
        "split",
        "-q",
        EXAMPLE,
        "-o",
        "s3://b/{}.parquet",
        "--part-rows",
        "10",
    ];
    let server = bucket(|_| false);
    s3(&server, &split).ok("");
    let requests = server.take();
    let names = ["00000", "00001", "00002"];
    let of = |method: &str| names.map(|name| format!("{method} /b/{name}.parquet"));
    assert_eq!(seen(&requests), [of("HEAD"), of("PUT")].concat());
    let new = |request: &Request| request.header("if-none-match") == Some("*");
    assert!(requests[3..].iter().all(new));

    // One object already exists, so none appears.
    let server = Server::new(|request, _| match request.target.contains("00002") {
        true => Answer::status(200)
            .with("ETag", "\"e\"")
            .with("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT"),
        false => Answer::status(404),
    });
    s3(&server, &split).fails(2, "s3://b/00002.parquet: the file already exists");
    assert_eq!(seen(&server.take()), of("HEAD"));
    // The last object is refused. The others are removed, unless they may have replaced an object.
    for force in [false, true] {
        let server = bucket(|request| request.method == "PUT" && request.target.contains("00002"));
        let mut arguments = split.to_vec();
        arguments.extend(force.then_some("--force"));
        s3(&server, &arguments).fails(4, "s3://b/00002.parquet: the server, ");
        let requests = server.take();
        let removals = requests
            .iter()
            .filter(|request| request.method == "POST" && request.target.contains("?delete"));
        let removals: String = removals
            .map(|removals| String::from_utf8_lossy(&removals.body))
            .collect();
        let removed = |name: &str| removals.contains(&format!("<Key>{name}.parquet</Key>"));
        assert_eq!(names.map(removed), [!force, !force, false], "{removals}");
    }
}

/// A large part waits in the store, and small parts wait in memory.
#[test]
fn large_parts_are_uploaded_before_they_appear() {
    let folder = Folder::new();
    let lines = lines(&folder, "");
    let all = format!("{lines}.parquet");
    herringbone(&["convert", "-q", "--compression", "none", &lines, &all]).ok("");
    let split = [
        "split",
        "-q",
        &all,
        "-o",
        "s3://b/{}.parquet",
        "--part-rows",
        "20000",
        "--compression",
        "none",
    ];
    let server = bucket(|_| false);
    s3(&server, &split).ok("");
    let requests = seen(&server.take());
    let completed = |request: &String| request.starts_with("POST") && request.contains("uploadId");
    let completed = requests.iter().position(completed).unwrap();
    let sent = requests
        .iter()
        .rposition(|request| request.contains("partNumber=2"))
        .unwrap();
    let second = requests
        .iter()
        .position(|request| request == "HEAD /b/00001.parquet")
        .unwrap();
    assert!(sent < second && second < completed, "{requests:?}");
    assert_eq!(requests.last().unwrap(), "PUT /b/00001.parquet");
    // The second part is refused before the first one is completed.
    let server = bucket(|request| request.method == "HEAD" && request.target.contains("00001"));
    s3(&server, &split).fails(4, "HTTP status 403");
    aborted(&server.take());
}
