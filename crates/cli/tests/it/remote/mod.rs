//! Tests files at URLs, with web servers that the tests start.

mod faults;
mod folders;
mod server;
mod uploads;

use crate::common::{EXAMPLE, Folder, Run, command, herringbone, path};
use server::{Answer, Request, Server, file};

fn example() -> Vec<u8> {
    std::fs::read(path(EXAMPLE)).unwrap()
}

/// Runs the command without proxies, and with these variables.
fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = command(arguments);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command.output().unwrap().into()
}

/// Returns the ranges that requests ask for.
fn ranges(requests: &[Request]) -> Vec<String> {
    let range = |request: &Request| request.header("range").unwrap_or("all").to_owned();
    requests.iter().map(range).collect()
}

/// Returns a file with three row groups of 10,000 rows and 12 columns. It is larger than the first
/// request.
fn large(folder: &Folder) -> Vec<u8> {
    let mut csv = (0..12)
        .map(|i| format!("c{i}"))
        .collect::<Vec<_>>()
        .join(",")
        + "\n";
    let mut value = 1_u64;
    for row in 0..30_000 {
        csv += &format!("{row}");
        for _ in 1..12 {
            value = value
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            csv += &format!(",{}", value >> 20);
        }
        csv.push('\n');
    }
    let (csv, out) = (folder.with("large.csv", csv), folder.file("large.parquet"));
    herringbone(&["convert", "-q", &csv, &out, "--row-group-rows", "10000"]).ok("");
    std::fs::read(out).unwrap()
}

#[test]
fn a_small_file_takes_one_request_for_any_command() {
    let server = Server::of_file(example());
    let url = server.url("a/example.parquet");
    for arguments in [
        &["cat", "--columns", "id,name,tags"][..],
        &["cat", "--where", "id >= 20"],
        &["head", "-n", "3"],
        &["count"],
        &["count", "--where", "id >= 20"],
        &["schema"],
        &["schema", "--format", "arrow"],
        &["pages", "--columns", "id"],
        &["pages", "--bounds"],
        &["stats"],
    ] {
        let local = herringbone(&[arguments, &[EXAMPLE]].concat());
        let remote = run(&[arguments, &[&url]].concat(), &[]);
        assert_eq!(
            (remote.code, remote.stderr.as_str()),
            (0, ""),
            "{arguments:?}"
        );
        assert_eq!(
            remote.stdout.replace(&url, EXAMPLE),
            local.stdout,
            "{arguments:?}"
        );
        assert_eq!(ranges(&server.take()), ["bytes=-262144"], "{arguments:?}");
    }
    for command in ["info", "meta", "verify"] {
        let local = herringbone(&[command, EXAMPLE]);
        let remote = run(&[command, &url], &[]);
        assert_eq!(
            remote.stdout.replace(&url, EXAMPLE),
            local.stdout,
            "{command}"
        );
        assert_eq!(server.take().len(), 1, "{command}");
    }
}

#[test]
fn a_large_file_takes_few_requests() {
    let folder = Folder::new();
    let bytes = large(&folder);
    let length = bytes.len();
    assert!(length > 1 << 20, "{length}");
    let server = Server::of_file(bytes);
    let url = server.url("large.parquet");
    let local = folder.file("large.parquet");
    for (arguments, most) in [
        // The command requests the file's end, and then each run of columns in each row group.
        (&["cat", "--columns", "c0,c1,c2"][..], 4),
        (&["head", "-n", "5", "--columns", "c0,c1,c2"], 2),
        (&["cat", "--columns", "c0,c5", "--where", "c0 = 15000"], 3),
        (&["count"], 1),
        (&["schema"], 1),
    ] {
        let expected = herringbone(&[arguments, &[&local]].concat());
        let remote = run(&[arguments, &[&url]].concat(), &[]);
        assert_eq!(
            (remote.code, remote.stderr.as_str()),
            (0, ""),
            "{arguments:?}"
        );
        assert!(remote.stdout == expected.stdout, "{arguments:?}");
        let requests = server.take();
        assert!(
            requests.len() <= most,
            "{arguments:?}: {:?}",
            ranges(&requests)
        );
        // Each request after the first one names the file's identity, so that a replaced file is
        // noticed.
        let tags: Vec<_> = requests
            .iter()
            .map(|request| request.header("if-match"))
            .collect();
        assert_eq!(tags[0], None);
        assert!(
            tags[1..].iter().all(|tag| *tag == Some("\"a\"")),
            "{tags:?}"
        );
    }
    let copies = ["rewrite", "concat", "convert", "encrypt"];
    let keys = folder.with(
        "keys.json",
        "{\"footer_key\": \"MDEyMzQ1Njc4OTAxMjM0NQ==\"}",
    );
    for command in copies {
        let out = folder.file(&format!("{command}.parquet"));
        let arguments = match command {
            "rewrite" | "convert" => vec![command, "-q", &url, &out],
            "concat" => vec![command, "-q", &url, "-o", &out],
            _ => vec![command, "-q", "--keys", &keys, &url, "-o", &out],
        };
        run(&arguments, &[]).ok("");
        let requests = server.take().len();
        assert!(requests <= 4, "{command}: {requests}");
        let mut cat = vec!["cat", &out];
        if command == "encrypt" {
            cat.extend(["--keys", &keys]);
        }
        let rows = herringbone(&cat);
        assert!(
            rows.stdout == herringbone(&["cat", &local]).stdout,
            "{command}"
        );
    }
}

#[test]
fn several_urls_are_read_as_several_files() {
    let server = Server::of_file(example());
    let (first, second) = (server.url("1.parquet"), server.url("2.parquet"));
    let run = run(&["count", &first, &second, EXAMPLE], &[]);
    run.ok(&format!(
        "24\t{first}\n24\t{second}\n24\t{EXAMPLE}\n72\ttotal\n"
    ));
    assert_eq!(server.take().len(), 2);
}

#[test]
fn text_and_arrow_are_read_from_urls_too() {
    let folder = Folder::new();
    let arrow = folder.file("a.arrow");
    herringbone(&["convert", "-q", EXAMPLE, &arrow]).ok("");
    let arrow = std::fs::read(arrow).unwrap();
    let server = Server::new(move |request, _| match request.target.as_str() {
        "/a.csv?x=1" => file(b"id,name\n1,a\n2,b\n", "\"a\"", request),
        "/a.jsonl" => file(b"{\"id\":1}\n", "\"a\"", request),
        "/schema.txt" => file(b"id: Int16\nname: Utf8\n", "\"a\"", request),
        "/a.arrow" => file(&arrow, "\"a\"", request),
        _ => Answer::status(404),
    });
    let out = folder.file("out.parquet");
    let convert = |target: &str, more: &[&str]| {
        let url = server.url(target);
        let arguments = [&["convert", "-q", "--force", &url, &out], more].concat();
        run(&arguments, &[]).ok("");
    };
    convert("a.csv?x=1", &["--schema", &server.url("schema.txt")]);
    herringbone(&["cat", &out]).ok("{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n");
    let schema = herringbone(&["schema", "--format", "arrow", &out]).stdout;
    assert!(schema.contains("id: Int16"), "{schema}");
    convert("a.jsonl", &[]);
    herringbone(&["cat", &out]).ok("{\"id\":1}\n");
    convert("a.arrow", &[]);
    herringbone(&["cat", &out]).ok(&herringbone(&["cat", EXAMPLE]).stdout);
}

#[test]
fn file_urls_are_local_files() {
    let folder = Folder::new();
    let copy = folder.with("a b.parquet", example());
    let url = format!("file://{}", copy.replace(' ', "%20"));
    run(&["count", &url], &[]).ok("24\n");
    let out = folder.file("c.parquet");
    run(&["rewrite", "-q", &url, &format!("file://{out}")], &[]).ok("");
    assert_eq!(folder.names(), ["a b.parquet", "c.parquet"]);
    run(&["count", "file://host/a"], &[]).fails(2, "file:///PATH");
}

#[test]
fn passwords_and_signatures_are_sent_and_never_printed() {
    let bytes = example();
    let server = Server::new(move |request, _| match request.target.contains("missing") {
        true => Answer::of(403, b"<Code>AccessDenied</Code> sig-1".to_vec()),
        false => file(&bytes, "\"a\"", request),
    });
    let url = |path: &str| format!("http://me:p%40w@127.0.0.1:{}/{path}?sig=sig-1", server.port);
    for command in ["info", "meta", "stats", "verify", "pages"] {
        let run = run(&[command, &url("a.parquet")], &[]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        for secret in ["sig-1", "p%40w", "p@w", "me:"] {
            assert!(!run.stdout.contains(secret), "{command}: {}", run.stdout);
        }
        for request in server.take() {
            assert_eq!(request.target, "/a.parquet?sig=sig-1");
            // RFC 7617 asks for the base64 of `me:p@w`.
            assert_eq!(request.header("authorization"), Some("Basic bWU6cEB3"));
        }
    }
    let denied = run(&["count", &url("missing")], &[]);
    denied.fails(4, "HTTP status 403 Forbidden: AccessDenied\n");
    for secret in ["sig-1", "p%40w", "p@w", "me:"] {
        assert!(!denied.stderr.contains(secret), "{}", denied.stderr);
    }
    let keys = run(&["count", EXAMPLE, "--keys", &url("keys.json")], &[]);
    keys.fails(2, "keys.json?…: keys are read from local files only");
}

#[test]
fn unknown_schemes_are_refused_with_the_known_ones() {
    let run = run(&["count", "hdfs://me:pw@host/a"], &[]);
    run.fails(
        2,
        "hdfs://host/a: URLs of `hdfs` are not supported; use one of: s3, ",
    );
}

/// An S3 endpoint on loopback needs no permission for HTTP. Requests are signed if there are keys,
/// and unsigned otherwise.
#[test]
fn s3_requests_are_signed_only_with_keys() {
    let bytes = example();
    let server = Server::new(move |request, _| {
        file(&bytes, "\"a\"", request).with("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
    });
    let endpoint = format!("http://localhost:{}", server.port);
    let base = [("AWS_ENDPOINT_URL", endpoint.as_str())];
    let unsigned = [base[0], ("AWS_EC2_METADATA_DISABLED", "true")];
    run(&["count", "s3://bucket/a%20b/c.parquet"], &unsigned).ok("24\n");
    let requests = server.take();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].target, "/bucket/a%20b/c.parquet");
    assert_eq!(requests[0].header("authorization"), None);
    let signed = [
        base[0],
        ("AWS_ACCESS_KEY_ID", "key-id"),
        ("AWS_SECRET_ACCESS_KEY", "secret-1"),
    ];
    run(&["count", "s3://bucket/c.parquet"], &signed).ok("24\n");
    let requests = server.take();
    let authorization = requests[0].header("authorization").unwrap();
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=key-id/"));
    let skipped = [&signed[..], &[("AWS_SKIP_SIGNATURE", "true")]].concat();
    run(&["count", "s3://bucket/c.parquet"], &skipped).ok("24\n");
    assert_eq!(server.take()[0].header("authorization"), None);
}

#[test]
fn endpoints_are_urls_and_those_without_tls_are_allowed() {
    for (prefix, variable, url) in [
        ("AWS", "AWS_ENDPOINT_URL", "s3://b/k"),
        ("GOOGLE", "GOOGLE_BASE_URL", "gs://b/k"),
        ("AZURE", "AZURE_STORAGE_ENDPOINT", "az://c/k"),
    ] {
        let count = |endpoint| {
            let account = ("AZURE_STORAGE_ACCOUNT_NAME", "account");
            run(&["count", url], &[(variable, endpoint), account])
        };
        for endpoint in ["127.0.0.1:1", "localhost:1", "server.invalid", ""] {
            count(endpoint).fails(2, &format!("the endpoint `{endpoint}` is not a URL"));
        }
        let without = count("http://server.invalid");
        without.fails(2, &format!("needs {prefix}_ALLOW_HTTP=true"));
        for endpoint in [
            "me:secret-1@server.invalid?x=secret-1",
            "http://me:secret-1@a.invalid",
        ] {
            let failure = count(endpoint);
            failure.fails(2, "the endpoint `");
            assert!(!failure.stderr.contains("secret-1"), "{}", failure.stderr);
        }
    }
}

#[test]
fn proxies_of_the_environment_are_used() {
    let proxy = Server::of_file(example());
    let variable = format!("http://127.0.0.1:{}", proxy.port);
    let run = run(
        &["count", "http://example.invalid/a.parquet"],
        &[("http_proxy", &variable)],
    );
    run.ok("24\n");
    assert_eq!(proxy.take()[0].target, "http://example.invalid/a.parquet");
}

#[test]
fn redirects_are_followed() {
    let bytes = example();
    let server = Server::new(move |request, _| match request.target.as_str() {
        "/old" => Answer::status(302).with("Location", "/new"),
        _ => file(&bytes, "\"a\"", request),
    });
    run(&["count", &server.url("old")], &[]).ok("24\n");
    assert_eq!(server.take().len(), 2);
}

#[test]
fn explain_counts_the_requests() {
    let server = Server::of_file(example());
    let url = server.url("a.parquet");
    let local = herringbone(&["cat", EXAMPLE, "--where", "id >= 20", "--explain"]).stdout;
    let length = example().len();
    let expected = local.replace(EXAMPLE, &url)
        + &format!("  sent so far      1 request in 1 round, {length} bytes\n");
    run(&["cat", &url, "--where", "id >= 20", "--explain"], &[]).ok(&expected);
}
