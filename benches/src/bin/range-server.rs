//! Serves a folder's files over HTTP for `remote.py`, one range per request, as slowly as an object
//! store.
//!
//! ```text
//! range-server FOLDER MILLISECONDS BYTES_PER_SECOND
//! out: the port, when it listens
//! GET /stats returns "requests bytes" since the last such request
//! ```
//!
//! Each answer is delayed by MILLISECONDS, and its body is sent at BYTES_PER_SECOND, or at any rate
//! if that is 0.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use herringbone_benches::Result;

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The length of the pieces that a body is sent in, if its rate is limited.
const PIECE: usize = 64 << 10;

#[derive(Clone)]
struct Settings {
    folder: PathBuf,
    delay: Duration,
    bytes_per_second: f64,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let mut next = || {
        args.next()
            .ok_or("range-server FOLDER MILLISECONDS BYTES_PER_SECOND")
    };
    let settings = Settings {
        folder: next()?.into(),
        delay: Duration::from_millis(next()?.parse()?),
        bytes_per_second: next()?.parse()?,
    };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    for stream in listener.incoming() {
        let (stream, settings) = (stream?, settings.clone());
        thread::spawn(move || {
            // If a client closes its connection, this thread ends, and nothing else does.
            serve(&stream, &settings).ok();
        });
    }
    Ok(())
}

/// Answers a connection's requests, one after the other.
fn serve(stream: &TcpStream, settings: &Settings) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream).lines();
    while let Some(line) = lines.next() {
        let line = line?;
        let mut words = line.split(' ');
        let (method, path) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut range = None;
        for line in lines.by_ref() {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("range: bytes=") {
                range = Some(value.to_owned());
            }
        }
        if path == "/stats" {
            let counts = [
                REQUESTS.swap(0, Ordering::Relaxed),
                BYTES.swap(0, Ordering::Relaxed),
            ];
            let body = format!("{} {}", counts[0], counts[1]);
            write!(
                &*stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )?;
            continue;
        }
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        thread::sleep(settings.delay);
        match File::open(settings.folder.join(path.trim_start_matches('/'))) {
            Ok(file) => answer(stream, file, &method, range.as_deref(), settings)?,
            Err(_) => write!(
                &*stream,
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
            )?,
        }
    }
    Ok(())
}

/// Sends a file or a range of it.
fn answer(
    mut stream: &TcpStream,
    mut file: File,
    method: &str,
    range: Option<&str>,
    settings: &Settings,
) -> Result<()> {
    let length = file.metadata()?.len();
    let (begin, end) = match range.and_then(|range| range.split_once('-')) {
        Some(("", last)) => (length.saturating_sub(last.parse()?), length),
        Some((first, "")) => (first.parse()?, length),
        Some((first, last)) => (first.parse()?, length.min(last.parse::<u64>()? + 1)),
        None => (0, length),
    };
    let status = match range {
        Some(_) => format!(
            "206 Partial Content\r\nContent-Range: bytes {begin}-{}/{length}",
            end.saturating_sub(1)
        ),
        None => "200 OK".to_owned(),
    };
    let bytes = end.saturating_sub(begin);
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {bytes}\r\nAccept-Ranges: bytes\r\nETag: \"1\"\r\n\
         Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n"
    )?;
    if method == "HEAD" {
        return Ok(());
    }
    BYTES.fetch_add(bytes, Ordering::Relaxed);
    file.seek(SeekFrom::Start(begin))?;
    let mut body = file.take(bytes);
    let start = Instant::now();
    let mut sent = 0;
    let mut piece = vec![0; PIECE];
    loop {
        let read = body.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(piece.get(..read).unwrap_or_default())?;
        sent += read;
        if settings.bytes_per_second > 0.0 {
            let due = Duration::from_secs_f64(sent as f64 / settings.bytes_per_second);
            thread::sleep(due.saturating_sub(start.elapsed()));
        }
    }
}
