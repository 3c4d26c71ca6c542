//! Tests prefixes and patterns in a store as tables.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{Answer, Request, Run, Server, file, herringbone, path, run};

/// Returns the files below a folder of the workspace, with their keys.
fn objects(folder: &str) -> Vec<(String, Vec<u8>)> {
    fn add(folder: &Path, prefix: &str, all: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let key = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
            match entry.path().is_dir() {
                true => add(&entry.path(), &key, all),
                false => all.push((key, fs::read(entry.path()).unwrap())),
            }
        }
    }
    let mut all = Vec::new();
    add(&path(folder), "data", &mut all);
    all.sort();
    all
}

fn escaped(key: &str) -> String {
    key.replace('&', "&amp;")
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = || u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        match (first, hex()) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Lists one level below a prefix, as S3 does.
fn list(objects: &[(String, Vec<u8>)], prefix: &str) -> Answer {
    let (mut files, mut folders) = (String::new(), BTreeSet::new());
    for (key, bytes) in objects {
        let Some(rest) = key.strip_prefix(prefix) else {
            continue;
        };
        match rest.split_once('/') {
            Some((folder, _)) => drop(folders.insert(format!("{prefix}{folder}/"))),
            None => {
                files += &format!(
                    "<Contents><Key>{}</Key><LastModified>2024-01-02T00:00:00.000Z</LastModified>\
                     <ETag>\"a\"</ETag><Size>{}</Size></Contents>",
                    escaped(key),
                    bytes.len()
                );
            }
        }
    }
    let folders: String = folders
        .iter()
        .map(|folder| {
            format!(
                "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>",
                escaped(folder)
            )
        })
        .collect();
    let body = format!(
        "<ListBucketResult><IsTruncated>false</IsTruncated>{files}{folders}</ListBucketResult>"
    );
    Answer::of(200, body.into())
}

/// Starts a bucket that contains these objects.
fn bucket(objects: Vec<(String, Vec<u8>)>) -> Server {
    Server::new(move |request, _| {
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let prefix = query
            .split('&')
            .find_map(|part| part.strip_prefix("prefix="));
        if query.contains("list-type=2") {
            return list(&objects, &decoded(prefix.unwrap_or_default()));
        }
        let key = decoded(path.strip_prefix("/b/").unwrap_or_default());
        match objects.iter().find(|object| object.0 == key) {
            Some((_, bytes)) => {
                let answer = file(bytes, "\"a\"", request);
                answer.with("Last-Modified", "Tue, 02 Jan 2024 00:00:00 GMT")
            }
            None => Answer::status(404),
        }
    })
}

fn s3(server: &Server, arguments: &[&str]) -> Run {
    let endpoint = format!("http://127.0.0.1:{}", server.port);
    let variables = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "key-id"),
        ("AWS_SECRET_ACCESS_KEY", "secret-1"),
    ];
    run(arguments, &variables)
}

/// Returns the number of listings, and of other requests.
fn counts(requests: &[Request]) -> (usize, usize) {
    let is_listing = |request: &&Request| request.target.contains("list-type=2");
    let listings = requests.iter().filter(is_listing).count();
    (listings, requests.len() - listings)
}

#[test]
fn a_prefix_takes_a_request_per_folder_and_file() {
    let server = bucket(objects("testdata/datasets/codes"));
    let local = "testdata/datasets/codes";
    let url = "s3://b/data/";
    // There are two years of four codes each.
    for (arguments, expected) in [
        (&["cat"][..], (11, 8)),
        (&["count"], (11, 8)),
        (&["cat", "-w", "year = 2024"], (6, 4)),
        (&["cat", "-w", "year = 2024 and code = 'a/b'"], (3, 1)),
        (&["count", "-w", "code = '01001'"], (5, 2)),
        (&["head", "-n", "1"], (11, 1)),
        (&["schema", "--format", "arrow"], (11, 1)),
        (&["tail", "-1"], (11, 8)),
        (&["stats"], (11, 8)),
        (&["cat", "--by-name", "-c", "id"], (11, 8)),
    ] {
        let remote = s3(&server, &[arguments, &[url]].concat());
        let local = herringbone(&[arguments, &[local]].concat());
        assert_eq!(
            (remote.code, remote.stderr.as_str()),
            (0, ""),
            "{arguments:?}"
        );
        let (remote, local) = (
            remote.stdout.replace("s3://b/data/", "FOLDER"),
            local.stdout.replace("testdata/datasets/codes", "FOLDER"),
        );
        assert_eq!(remote, local, "{arguments:?}");
        assert_eq!(counts(&server.take()), expected, "{arguments:?}");
    }
}

/// Stores' consoles and some programs put an empty object in place of each folder.
#[test]
fn objects_in_place_of_folders_are_not_files() {
    let mut all = objects("testdata/datasets/codes");
    for key in ["data/", "data/year=2023/", "data/year=2023/code=01001/"] {
        all.push((key.to_owned(), Vec::new()));
    }
    let server = bucket(all);
    let local = herringbone(&["cat", "testdata/datasets/codes"]);
    s3(&server, &["cat", "s3://b/data/"]).ok(&local.stdout);
    let local = herringbone(&["count", "testdata/datasets/codes/year=2023"]);
    s3(&server, &["count", "s3://b/data/year=2023/"]).ok(&local.stdout);
}

#[test]
fn patterns_and_whole_buckets_are_listed() {
    let server = bucket(objects("testdata/datasets/codes"));
    for (url, rows) in [
        ("s3://b/data/*/code=01001/*.parquet", "2\n"),
        ("s3://b/data/*/code=01001/", "2\n"),
        ("s3://b/data/year=2023/", "4\n"),
        ("s3://b/", "8\n"),
        ("s3://b/data/year=2023/code=a%252Fb/part.parquet", "1\n"),
    ] {
        s3(&server, &["count", url]).ok(rows);
    }
    let mut mixed = objects("testdata/datasets/codes");
    mixed.push(("data/a.parquet".to_owned(), mixed[0].1.clone()));
    // Like pyarrow, we read the file next to the folders, which has one row.
    s3(&bucket(mixed), &["count", "s3://b/data/"]).ok("9\n");
    for url in ["s3://b/nothing/", "s3://b/data/*/code=01001/*/"] {
        s3(&server, &["count", url]).fails(2, "no files were found");
    }
    s3(&server, &["count", "s3://b/data"]).fails(4, "ends with `/`");
    s3(&server, &["pages", "s3://b/data/"]).fails(2, "the command is about single files");
}

/// In a URL, a percent sign begins an escape, and `?` begins a query.
#[test]
fn paths_of_files_are_urls_that_lead_to_them() {
    let mut all = objects("testdata/datasets/codes");
    let bytes = all[0].1.clone();
    for name in ["100%25", "a?b#c", "[a]*", "é f+&g"] {
        all.push((format!("data/year=2024/code=01001/{name}"), bytes.clone()));
    }
    let server = bucket(all);
    let paths = s3(
        &server,
        &["cat", "--path-column", "p", "-c", "p", "s3://b/data/"],
    );
    let mut rows = 0;
    for line in paths.stdout.lines().collect::<BTreeSet<_>>() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let count = s3(&server, &["count", row["p"].as_str().unwrap()]);
        assert_eq!(count.code, 0, "{line}: {}", count.stderr);
        rows += count.stdout.trim().parse::<usize>().unwrap();
    }
    assert_eq!(rows, paths.stdout.lines().count());
}

#[test]
fn explanations_have_all_requests() {
    let server = bucket(objects("testdata/datasets/codes"));
    let run = s3(
        &server,
        &["cat", "--explain", "-w", "id > 3", "s3://b/data/"],
    );
    assert!(
        run.stdout
            .contains("listing          8 files in 11 folders\n"),
        "{}",
        run.stdout
    );
    // Footers are requested side by side: 1, 1, 2 and 4.
    assert!(
        run.stdout
            .contains("sent so far      8 requests in 4 rounds, "),
        "{}",
        run.stdout
    );
    assert_eq!(counts(&server.take()), (11, 8));
}

#[test]
fn errors_name_the_file_and_no_secret() {
    let codes = objects("testdata/datasets/codes");
    let broken = "data/year=2024/code=01001/part.parquet";
    let server = Server::new(move |request, _| {
        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let prefix = query
            .split('&')
            .find_map(|part| part.strip_prefix("prefix="));
        if query.contains("list-type=2") {
            return list(&codes, &decoded(prefix.unwrap_or_default()));
        }
        let key = decoded(path.strip_prefix("/b/").unwrap_or_default());
        match codes.iter().find(|code| code.0 == key) {
            Some((key, _)) if key == broken => Answer::status(403),
            // This object was replaced since it was listed.
            Some((key, bytes)) if key.contains("2A001") => file(bytes, "\"b\"", request),
            Some((_, bytes)) => file(bytes, "\"a\"", request),
            None => Answer::status(404),
        }
    });
    let denied = s3(&server, &["cat", "s3://b/data/", "-w", "code = '01001'"]);
    denied.fails(4, "s3://b/data/year=2024/code=01001/part.parquet: ");
    assert!(
        denied.stderr.contains("403") && !denied.stderr.contains("secret-1"),
        "{}",
        denied.stderr
    );
    let replaced = s3(&server, &["cat", "s3://b/data/", "-w", "code = '2A001'"]);
    replaced.fails(4, "s3://b/data/year=2023/code=2A001/part.parquet: ");
}

/// S3 allows such keys, but no path can name them.
#[test]
fn keys_without_a_path_are_noted_and_others_are_read() {
    let mut all = objects("testdata/datasets/codes");
    let count = s3(&bucket(all.clone()), &["count", "s3://b/data/"]).stdout;
    for key in [
        "data//x.parquet",
        "data/./x.parquet",
        "data/../x",
        "data/\u{7f}x",
    ] {
        all.push((key.to_owned(), b"no Parquet".to_vec()));
    }
    let server = bucket(all);
    let run = s3(&server, &["count", "s3://b/data/"]);
    assert_eq!((run.code, &run.stdout), (0, &count), "{}", run.stderr);
    for text in ["4 keys were left out", "`data/../`", "`data/./`"] {
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
}

#[test]
fn keys_that_no_path_can_name_are_errors_and_not_other_objects() {
    let example = super::example();
    let server = bucket(vec![
        ("b.parquet".into(), example.clone()),
        ("a/b.parquet".into(), example),
    ]);
    for key in [
        "a/../b.parquet",
        "a/./b.parquet",
        "a/%2E%2e/b.parquet",
        "a/%2e/b.parquet",
        "a//b.parquet",
    ] {
        for command in [&["count"][..], &["rewrite", "-q", super::EXAMPLE]] {
            let url = format!("s3://b/{key}");
            s3(&server, &[command, &[&url]].concat()).fails(2, "can be neither read nor written");
        }
    }
    assert_eq!(server.take().len(), 0);
}

/// The README promises that a path that exists is never a pattern.
#[test]
fn an_existing_key_is_not_a_pattern() {
    let example = super::example();
    let keys = [
        "d/br[1].parquet",
        "d/br1.parquet",
        "d/a*?.parquet",
        "d/ab.parquet",
        "e?/x.parquet",
        "ee/x.parquet",
    ];
    let server = bucket(keys.map(|key| (key.to_owned(), example.clone())).into());
    for (url, files) in [
        ("s3://b/d/br[1].parquet", 1),
        ("s3://b/d/br%5B1%5D.parquet", 1),
        ("s3://b/d/a*%3F.parquet", 1),
        ("s3://b/d/br[12].parquet", 1),
        ("s3://b/d/*.parquet", 4),
        // An escaped character in a pattern stands for itself.
        ("s3://b/e%3F/*.parquet", 1),
        ("s3://b/d/br%5B*.parquet", 1),
    ] {
        let expected = format!("{}\n", 24 * files);
        let run = s3(&server, &["count", url]);
        assert_eq!(
            (run.code, run.stdout),
            (0, expected),
            "{url} {}",
            run.stderr
        );
    }
    let read = s3(
        &server,
        &[
            "cat",
            "--path-column",
            "p",
            "-c",
            "p",
            "-n",
            "1",
            "s3://b/d/br[1].parquet",
        ],
    );
    read.ok("{\"p\":\"s3://b/d/br%5B1].parquet\"}\n");
    s3(&server, &["count", "s3://b/day=1%3A2/x.parquet"])
        .fails(4, "`%` in a key is written as %25");
}
